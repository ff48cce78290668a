/** The contract of all resources that are made by one description: each question is asked of every row of resource-table.ts. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { routesOf } from "#ingress/app.ts";
import { SETTINGS_PAGE_DEFAULT } from "#ingress/core/page.ts";
import type { Preset } from "#shared/access/authenticate.ts";
import type { SqlValue } from "#shared/database/client.ts";
import { newId } from "#shared/base/ids.ts";
import { hashKey } from "#shared/secrets/api-keys.ts";

import { fakeContext } from "../../fake-context.ts";
import { openBed, type OperatorBed } from "../operator/bed.ts";
import { OURS, type Place, RESOURCES, type Row, type Values } from "./resource-table.ts";
import { type AuditLine, BAD_BODIES, BAD_IDS, BAD_NAMES, expectDeclared, putChannel, walk } from "./settings-bed.ts";
import { openSpendBed, type SpendBed } from "./spend-bed.ts";

let bed: SpendBed;
let operators: OperatorBed;
beforeAll(async () => {
  [bed, operators] = await Promise.all([openSpendBed(), openBed()]);
  const presets = bed.fake.context.catalogue.current().presets as Map<string, Preset>;
  presets.set("narrow", { name: "narrow", requests_per_minute: 60, daily_tokens: 1_000 });
});
afterAll(() => Promise.all([bed.close(), operators.close()]));

const fake = fakeContext();
const ROUTES = routesOf(fake.context);
fake.close();
/** Requests that come at once. */
const TIMES = 6;
const NO_IDS = ["x", `urn:uuid:${newId()}`, `{${newId()}}`, 7];
const NIL = "00000000-0000-0000-0000-000000000000";
const BAD_PAGES = [
  ...["0", "101", "x", "1e1", "-1"].map((limit) => `limit=${limit}`),
  ...["x", `urn:uuid:${newId()}`].map((after) => `after=${after}`),
];
const has = (method: string, { path }: Row): boolean =>
  ROUTES.some((route) => route.method === method && route.path === path);

/** A place where rows of a resource are made, in a workspace or the installation. */
interface Scene {
  readonly row: Row;
  readonly place: Place;
  /** Path of all. */
  readonly path: string;
  /** Owner of the workspace, who sends. */
  readonly makerId: string | undefined;
  /** @param isOther by a second one who may */
  send(method: string, path: string, body?: unknown, isOther?: boolean): Promise<Response>;
  /** Returns what the audit log tells of the place. */
  audit(): Promise<AuditLine[]>;
  /** Author of a request in the audit log. */
  actor(requestId: string | null): unknown;
  query<T extends object>(text: string, values?: readonly SqlValue[]): Promise<T[]>;
}

const LOG = "select action, subject, actor, before, after from audit_log";

async function openScene(row: Row): Promise<Scene> {
  const all = row.path.slice(0, row.path.lastIndexOf("/"));
  if (row.column === undefined) return openInstallation(row, all);
  const team = await bed.team(0n);
  const channelId = row.column === "channel_id" ? await putChannel(bed, team, team.owner) : "";
  const { id, keyId } = team.owner;
  return {
    row,
    place: { workspaceId: team.id, channelId, memberId: team.developer.id },
    path: all.replace("{workspaceId}", team.id).replace("{channelId}", channelId),
    makerId: id,
    send: (method, path, body, isOther = false) => bed.send(method, path, team[isOther ? "admin" : "owner"].key, body),
    audit: () => bed.db.query(`${LOG} where workspace_id = $1 order by id`, [team.id]),
    actor: (requestId) => ({ type: "member", id, key_id: keyId, request_id: requestId }),
    query: (text, values) => bed.db.query(text, values),
  };
}

async function openInstallation(row: Row, path: string): Promise<Scene> {
  const { db } = operators;
  operators.pass(60_000);
  // Whatever an earlier question made.
  await db.query("delete from operator_token where name !~ '^(read|write|money) '");
  const [last] = await db.query<{ id: bigint }>("select coalesce(max(id), 0) as id from audit_log");
  return {
    row,
    place: { workspaceId: "", channelId: "", memberId: "" },
    path,
    makerId: undefined,
    send: (method, at, body) => operators.send(method, at, { body }),
    audit: () => db.query(`${LOG} where id > $1 order by id`, [last?.id ?? 0n]),
    actor: (requestId) => ({ type: "operator", id: expect.stringContaining("money "), request_id: requestId }),
    query: (text, values) => db.query(text, values),
  };
}

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly value: Values;
  readonly headers: Headers;
}

/** Sends, and expects what is not refused to be as the route declares it. Nobody is told what is hidden. */
async function ask(scene: Scene, method: string, rest = "", body?: unknown, isOther = false): Promise<Answer> {
  const path = `${scene.path}${rest}`;
  const response = await scene.send(method, path, body, isOther);
  const text = await response.text();
  const value = JSON.parse(text) as Values;
  if (response.ok) expectDeclared(bed, method, path, response.status, value);
  const { secret = "" } = scene.row;
  const { [secret]: _shown, ...told } = value;
  expect(JSON.stringify(told)).not.toMatch(scene.row.hidden ?? /(?!)/);
  return { status: response.status, text, value, headers: response.headers };
}

/** Sends what is to be done, and expects it to be. */
async function done(scene: Scene, status: number, ...sent: SentParts): Promise<Values> {
  const answer = await ask(scene, ...sent);
  expect([sent, answer.status, answer.text]).toEqual([sent, status, answer.text]);
  return answer.value;
}

type SentParts = [method: string, rest?: string, body?: unknown, isOther?: boolean];

/** Expects a refusal of a member of the body. */
async function refusedBy(scene: Scene, param: string, method: string, rest: string, body: Values): Promise<void> {
  const refused = await refusal(scene, 400, method, rest, body);
  const isMissing = method === "POST" && param in body && body[param] === undefined;
  const codes = isMissing ? ["missing_required_parameter"] : ["invalid_request", "unsupported_value"];
  expect([body, refused.param, codes]).toEqual([
    body,
    param,
    expect.arrayContaining([refused.code]) as unknown as string[],
  ]);
}

/** Expects a refusal of a member that the body must not have. The member is sent as JSON text, since it may be `__proto__`. */
async function unknownBy(scene: Scene, name: string, method: string, rest: string, body: Values): Promise<void> {
  const text = JSON.stringify({ ...body, replaced: 1 }).replace('"replaced"', JSON.stringify(name));
  expect([name, await refusal(scene, 400, method, rest, text)]).toEqual([
    name,
    { code: "unknown_parameter", param: name },
  ]);
}

async function refusal(scene: Scene, status: number, ...sent: SentParts): Promise<{ code: string; param: unknown }> {
  const { code, param } = (await done(scene, status, ...sent))["error"] as { code: string; param: unknown };
  return { code, param };
}

/** Makes one, and returns what its first answer shows as later ones do. */
async function make(scene: Scene, n = 0, values: Values = {}): Promise<Values & { readonly id: string }> {
  const body = { ...scene.row.body(n, scene.place), ...values };
  const { [scene.row.secret ?? ""]: _shown, ...made } = await done(scene, 201, "POST", "", body);
  return { ...made, id: String(made["id"]) };
}

/** Returns one as it is read alone, or in the list where a resource has no such route. */
async function read(scene: Scene, id: string): Promise<unknown> {
  if (has("GET", scene.row)) return done(scene, 200, "GET", `/${id}`);
  const { data } = (await done(scene, 200, "GET", "?limit=100")) as unknown as { data: { readonly id: string }[] };
  return data.find((one) => one.id === id);
}

/** Sends a change, and returns the one line that the audit log has of it. */
async function audited(scene: Scene, status: number, ...sent: SentParts): Promise<AuditLine & { answer: Values }> {
  const earlier = await scene.audit();
  const { headers, ...answer } = await ask(scene, ...sent);
  expect([sent, answer.status, answer.text]).toEqual([sent, status, answer.text]);
  const [line, ...more] = (await scene.audit()).slice(earlier.length);
  expect(more).toEqual([]);
  if (line === undefined) throw new Error(`${sent.slice(0, 2).join(" ")}: the audit log does not tell of it`);
  expect(line.actor).toEqual(scene.actor(headers.get("x-request-id")) as AuditLine["actor"]);
  expect(JSON.stringify(line)).not.toMatch(scene.row.hidden ?? /(?!)/);
  return { ...line, answer: answer.value };
}

/** Rows of the place, the newest first. */
async function idsOf(scene: Scene, condition = "true"): Promise<string[]> {
  const { row, place } = scene;
  const within = row.column === "channel_id" ? place.channelId : place.workspaceId;
  const rows = await scene.query<{ id: string }>(
    `select id from ${row.table} where ${row.column ?? "''"}::text = $1 and ${condition} order by created_at desc, id desc`,
    [within],
  );
  return rows.map(({ id }) => id);
}

const ALL = RESOURCES.map((row) => [row.path, row] as const);
const CHANGED = ALL.filter(([, row]) => row.changes.length > 0);

test("every resource with a description is in the table", () => {
  const made = ROUTES.filter(
    ({ method, request, responses }) =>
      method === "POST" && request !== undefined && request.schema === `${responses[200]?.schema}CreateRequest`,
  );
  expect(made.map(({ path }) => path).toSorted()).toEqual(
    RESOURCES.map(({ path }) => path.slice(0, path.lastIndexOf("/"))).toSorted(),
  );
  for (const row of RESOURCES) expect([row.path, has("PATCH", row)]).toEqual([row.path, row.changes.length > 0]);
});

describe.each(ALL)("%s", (_path, row) => {
  test("is created as requested, returns its secret this once, and has an audit entry without it", async () => {
    const scene = await openScene(row);
    const body = row.body(0, scene.place);
    const { answer, ...line } = await audited(scene, 201, "POST", "", body);
    const { [row.secret ?? ""]: secret, ...made } = answer;
    const { member_id: _whose, ...asked } = body;
    expect(made).toMatchObject({ ...asked, ...row.shown?.(scene.place) });
    if ("createdByUserId" in made) expect(made["createdByUserId"]).toBe(scene.makerId);
    expect(line).toMatchObject({ action: row.create, subject: made["id"], before: null, after: row.told(made) });
    expect(await read(scene, String(made["id"]))).toEqual(made);
    const { data } = (await done(scene, 200, "GET", "?limit=1")) as unknown as { data: unknown };
    expect(data).toEqual([made]);
    if (row.secret === undefined) return;
    expect(secret).toMatch(/^\S{30}/);
    const kept = await scene.query(`select t::text from ${row.table} t where id = $1`, [String(made["id"])]);
    expect(JSON.stringify([line, kept])).not.toContain(String(secret));
    // Of some a hash is kept, which nobody is told either.
    const hash = Buffer.from(hashKey(String(secret)));
    for (const form of ["hex", "base64"] as const) expect(JSON.stringify(line)).not.toContain(hash.toString(form));
  });

  test("forbids caching of a response with a secret, and of no other", async () => {
    const scene = await openScene(row);
    const body = { ...row.body(0, scene.place), id: newId() };
    for (const kept of [row.secret === undefined ? null : "no-store", null]) {
      expect((await ask(scene, "POST", "", body)).headers.get("cache-control")).toBe(kept);
    }
  });

  test("is returned again under its id without its secret, and never created twice", async () => {
    const scene = await openScene(row);
    const id = newId();
    const body = { ...row.body(0, scene.place), id: id.toUpperCase() };
    const made = await make(scene, 0, { id: body.id });
    expect(made.id).toBe(id);
    const [rows, log] = [await idsOf(scene), await scene.audit()];
    for (const isOther of [false, true]) expect(await done(scene, 200, "POST", "", body, isOther)).toEqual(made);
    const reused = { code: "idempotency_key_reused", param: "id" };
    for (const other of row.others) {
      expect([other, await refusal(scene, 422, "POST", "", { ...body, ...other })]).toEqual([other, reused]);
    }
    expect([await read(scene, id), await idsOf(scene), await scene.audit()]).toEqual([made, rows, log]);
  });

  test("requested concurrently is created once, and every answer refers to it", async () => {
    const scene = await openScene(row);
    const body = { ...row.body(0, scene.place), id: newId() };
    const answers = await Promise.all(Array.from({ length: TIMES }, () => ask(scene, "POST", "", body)));
    expect(answers.map(({ status, value }) => `${status} ${String(value["id"])}`).toSorted()).toEqual([
      ...Array.from({ length: TIMES - 1 }, () => `200 ${body.id}`),
      `201 ${body.id}`,
    ]);
    expect((await scene.audit()).map(({ action }) => action)).toEqual([row.create]);
  });

  test("is created up to the limit, also concurrently; repeats are answered at the limit", async () => {
    const scene = await openScene(row);
    const there = await idsOf(scene, row.isCounted);
    await scene.query(row.fill(row.limit - there.length - 1, scene.place));
    const bodies = Array.from({ length: TIMES }, (_none, n) => ({ ...row.body(n, scene.place), id: newId() }));
    const answers = await Promise.all(bodies.map((body) => ask(scene, "POST", "", body)));
    expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([
      201,
      ...Array.from({ length: TIMES - 1 }, () => 409),
    ]);
    const last = bodies[answers.findIndex(({ status }) => status === 201)];
    for (const body of bodies.filter((one) => one !== last)) {
      expect(await refusal(scene, 409, "POST", "", body)).toEqual({ code: "conflict", param: null });
    }
    await done(scene, 200, "POST", "", last);
    const other = { ...last, ...row.others[0] };
    expect(await refusal(scene, 422, "POST", "", other)).toEqual({ code: "idempotency_key_reused", param: "id" });
    expect(await idsOf(scene, row.isCounted)).toHaveLength(row.limit);
  });

  test("is not created from an invalid body, which is neither repeated nor audited", async () => {
    const scene = await openScene(row);
    const [good, before] = [row.body(0, scene.place), await idsOf(scene)];
    const names = "name" in good ? [...BAD_NAMES, undefined].map((name) => [{ name }, "name"] as const) : [];
    const ids = [...NO_IDS, NIL].map((id) => [{ id }, "id"] as const);
    for (const [values, param] of [...names, ...ids, ...row.refused]) {
      await refusedBy(scene, param, "POST", "", { ...good, ...values });
    }
    for (const [body, status, code] of BAD_BODIES)
      expect((await refusal(scene, status, "POST", "", body)).code).toBe(code);
    expect([await idsOf(scene), await scene.audit()]).toEqual([before, []]);
  });

  test("refuses read-only and unknown members, and names each", async () => {
    const scene = await openScene(row);
    const good = row.body(0, scene.place);
    for (const name of Object.keys({ ...OURS, ...row.ours, limit: 7 })) {
      await unknownBy(scene, name, "POST", "", good);
    }
    expect(await scene.audit()).toEqual([]);
    const answer = await done(scene, 201, "POST", "", good);
    expect(answer).toMatchObject(row.shown?.(scene.place) ?? {});
    expect(Date.parse(String(answer["created_at"] ?? answer["createdAt"]))).toBeGreaterThan(Date.parse("2001-01-01"));
    if ("createdByUserId" in answer) expect(answer["createdByUserId"]).toBe(scene.makerId);
    const { [row.secret ?? ""]: _shown, ...made } = answer;
    expect(await read(scene, String(made["id"]))).toEqual(made);
  });
});

describe.each(ALL)("%s in lists", (_path, row) => {
  test("is paged from the newest without gaps or repeats, for every source of its id", async () => {
    const [scene, foreign] = [await openScene(row), await openScene(row)];
    await scene.query(row.fill(40, scene.place));
    const ids = await idsOf(scene);
    const page = (query: string) =>
      done(scene, 200, "GET", `?${query}`) as unknown as ReturnType<Parameters<typeof walk>[0]>;
    for (const limit of [1, 7, 20, ids.length, 100]) expect(await walk(page, limit)).toEqual(ids);
    expect((await page("")).data.map(({ id }) => id)).toEqual(ids.slice(0, SETTINGS_PAGE_DEFAULT));
    expect((await page(`after=${ids[2]?.toUpperCase()}&limit=1`)).data.map(({ id }) => id)).toEqual(ids.slice(3, 4));
    const elsewhere = row.column === undefined ? newId() : (await make(foreign)).id;
    for (const after of [ids.at(-1), newId(), elsewhere]) expect((await page(`after=${after}`)).data).toEqual([]);
    for (const query of BAD_PAGES) {
      const refused = { code: "unsupported_value", param: query.split("=")[0] };
      expect([query, await refusal(scene, 400, "GET", `?${query}`)]).toEqual([query, refused]);
    }
  });

  test("is unknown by another workspace's id, and by an invalid id, on every path", async () => {
    const [scene, foreign] = [await openScene(row), await openScene(row)];
    const theirs = row.column === undefined ? undefined : await make(foreign);
    const log = await foreign.audit();
    for (const { method, path } of ROUTES.filter(({ path: one }) => `${one}/`.startsWith(`${row.path}/`))) {
      const rest = path.slice(row.path.length).replaceAll(/\{\w+\}/g, newId());
      const told = async (id: string): Promise<unknown> => {
        const { status, text } = await ask(scene, method, `/${id}${rest}`);
        return [status, text];
      };
      const unknown = await told(newId());
      expect(unknown).toEqual([404, expect.stringContaining(`"${row.unknown}"`) as unknown]);
      for (const id of [...(theirs ? [theirs.id] : []), ...BAD_IDS]) {
        expect([method, path, id, await told(id)]).toEqual([method, path, id, unknown]);
      }
    }
    if (theirs === undefined) return;
    expect([await read(foreign, theirs.id), await foreign.audit()]).toEqual([theirs, log]);
    // Nor is it made again, under its id, in another place.
    const taken = { ...row.body(0, scene.place), id: theirs.id };
    expect(await refusal(scene, 422, "POST", "", taken)).toEqual({ code: "idempotency_key_reused", param: "id" });
    expect([await read(foreign, theirs.id), await foreign.audit()]).toEqual([theirs, log]);
  });
});

describe.each(ALL.filter(([, { once }]) => once !== undefined))("%s with a taken name", (_path, row) => {
  test("is not created, with an id or without, nor renamed to it; another workspace has its own names", async () => {
    const [scene, foreign] = [await openScene(row), await openScene(row)];
    const { once = "" } = row;
    const first = await make(scene);
    const taken = { [once]: first[once] };
    for (const id of [undefined, newId()]) {
      const body = { ...row.body(1, scene.place), ...taken, id };
      expect(await refusal(scene, 409, "POST", "", body)).toEqual({ code: "conflict", param: once });
    }
    if (row.column !== undefined) await make(foreign);
    if (!has("PATCH", row)) return;
    const second = await make(scene, 1);
    expect(await refusal(scene, 409, "PATCH", `/${second.id}`, taken)).toEqual({ code: "conflict", param: once });
    expect(await read(scene, second.id)).toEqual(second);
  });
});

describe.each(CHANGED)("a changed %s", (_path, row) => {
  test("has an audit entry with old and new values, and keeps the change; an empty change has none", async () => {
    const scene = await openScene(row);
    const { id, ...made } = await make(scene);
    let is: Values = made;
    for (const [values, action] of row.changes) {
      const line = await audited(scene, 200, "PATCH", `/${id.toUpperCase()}`, values);
      const next = { ...is, ...values };
      expect(line).toMatchObject({ action, subject: id, before: row.told(is), after: row.told(next), answer: values });
      expect(row.told(line.answer)).toEqual(row.told(next));
      expect(await read(scene, id)).toEqual(line.answer);
      is = line.answer;
      const log = await scene.audit();
      for (const same of [{}, values]) expect(await done(scene, 200, "PATCH", `/${id}`, same)).toEqual(is);
      expect(await scene.audit()).toEqual(log);
    }
  });

  test("rejects invalid values, has read-only fields, and audits neither", async () => {
    const scene = await openScene(row);
    const made = await make(scene);
    const log = await scene.audit();
    const names =
      "name" in made ? BAD_NAMES.filter((name) => name !== null).map((name) => [{ name }, "name"] as const) : [];
    for (const [values, param] of [...names, ...(row.refusedChanges ?? [])]) {
      await refusedBy(scene, param, "PATCH", `/${made.id}`, values);
    }
    for (const [body, status, code] of BAD_BODIES) {
      expect((await refusal(scene, status, "PATCH", `/${made.id}`, body)).code).toBe(code);
    }
    const absent = "name" in made ? { name: null } : {};
    expect(await done(scene, 200, "PATCH", `/${made.id}`, absent)).toEqual(made);
    for (const name of Object.keys({ ...OURS, ...row.fixed, limit: 7, id: made.id })) {
      await unknownBy(scene, name, "PATCH", `/${made.id}`, absent);
    }
    expect([await read(scene, made.id), await scene.audit()]).toEqual([made, log]);
  });
});

test.each(ALL)("%s is ended once, with an audit entry", async (_path, row) => {
  const scene = await openScene(row);
  const made = await make(scene);
  const line = await audited(scene, 200, "DELETE", `/${made.id.toUpperCase()}`);
  const { action, after, kept } = row.end;
  const before = row.end.told?.(made) ?? row.told(made);
  expect(line).toMatchObject({ action, subject: made.id, before, answer: { id: made.id, deleted: true } });
  if (after === undefined) expect(line.after).toBeNull();
  else expect(line.after).toMatchObject(after);
  const log = await scene.audit();
  const is = kept === undefined ? undefined : await read(scene, made.id);
  if (kept !== undefined) {
    expect(is).toEqual({ ...made, ...kept });
    expect(await done(scene, 200, "DELETE", `/${made.id}`)).toEqual(line.answer);
    expect(await read(scene, made.id)).toEqual(is);
  } else {
    for (const method of ["GET", "PATCH", "DELETE"].filter((one) => has(one, row))) {
      expect((await refusal(scene, 404, method, `/${made.id}`, method === "PATCH" ? {} : undefined)).code).toBe(
        row.unknown,
      );
    }
    expect(await idsOf(scene)).not.toContain(made.id);
  }
  expect(await scene.audit()).toEqual(log);
});
