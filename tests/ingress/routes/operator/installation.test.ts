/** The catalogue, the books, the audit log and the status of an installation. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { parse as parseCsv } from "csv-parse/sync";

import { newId } from "#shared/base/ids.ts";
import { auditAlone } from "#shared/ledger/audit.ts";
import { recordAudit } from "#shared/database/audit-log.ts";
import { beatJobs } from "#shared/database/jobs.ts";
import { createWorkspace, CREDIT } from "#tests/shared/accounts.ts";
import { CATALOGUE_CHECK_BYTES_MAX } from "#ingress/routes/operator/catalogue.ts";

import manifest from "../../../../package.json" with { type: "json" };
import { INGRESSES } from "../../fake-context.ts";
import { addPerson } from "../managed-bed.ts";
import { openBed, type OperatorBed } from "./bed.ts";

let bed: OperatorBed;
beforeAll(async () => {
  bed = await openBed();
});
afterAll(() => bed.close());

describe("the catalogue", () => {
  const CHECK = "/operator/catalogue/check";
  const check = (...texts: readonly string[]) => {
    const files = texts.map((text, index) => ({ name: `${index}.yaml`, text }));
    return bed.ask("OperatorCatalogueCheck", "POST", CHECK, { body: { files } });
  };

  test("is listed with sources and prices, and with the reason for an unavailable model", async () => {
    const { data, version } = await bed.ask("OperatorCatalogue", "GET", "/operator/catalogue");
    expect(version).toBe(bed.context.catalogue.current().version);
    expect(data.find(({ model }) => model === "sandbox-chat")).toMatchObject({
      is_routable: true,
      reason: null,
      modality: "text",
      sources: [{ provider: "sandbox", model: expect.any(String) as string }],
      pricing: { currency: "credits", unit: "per_token" },
    });
    const missing = data.filter(({ is_routable }) => !is_routable);
    expect(missing.length).toBeGreaterThan(0);
    for (const { reason, sources } of missing) {
      expect(reason).toMatch(/_API_KEY is not set|no price/);
      expect(sources).toEqual([]);
    }
  });

  test("of other files is checked over ours, and not activated", async () => {
    const before = bed.context.catalogue.current();
    const verdict = await check("presets: [{ name: tiny, requests_per_minute: 1, daily_tokens: null }]");
    expect(verdict).toMatchObject({ is_valid: true, models: before.models.size, faults: [] });
    expect(verdict.version).not.toBe(before.version);
    expect(verdict.unroutable.length).toBe(before.unroutable.size);
    expect(bed.context.catalogue.current()).toBe(before);
  });

  test("with an error is reported with path and line", async () => {
    const { faults, ...verdict } = await check(
      "presets: []",
      "models:\n  - slug: sandbox-chat\n    pricing: { per_image: 0.1 }\n",
    );
    expect(verdict).toEqual({ is_valid: false, version: null, models: 0, unroutable: [] });
    expect(faults).toEqual([
      expect.objectContaining({ file: "1.yaml", line: 3, place: "models[0].pricing.per_image" }),
    ] as typeof faults);
    expect((await check("models: [")).faults).toMatchObject([
      { file: "0.yaml", message: expect.stringContaining("YAML") as string },
    ]);
    const bomb = Array.from({ length: 9 }, (_, n) => `a${n}: &a${n} [${n === 0 ? "x" : `*a${n - 1},`.repeat(9)}]`).join(
      "\n",
    );
    expect((await check(bomb)).is_valid).toBe(false);
  });

  test("is checked within bounds", async () => {
    const file = (name: string, text: string) => ({ name, text });
    const half = "#".repeat(CATALOGUE_CHECK_BYTES_MAX / 2 + 1);
    expect(await bed.refusal(413, "POST", CHECK, { files: [file("a", half), file("b", half)] })).toEqual({
      code: "request_too_large",
      param: "files",
    });
    const long = file("a", "#".repeat(CATALOGUE_CHECK_BYTES_MAX + 1));
    expect(await bed.refusal(400, "POST", CHECK, { files: [long] })).toMatchObject({ param: "files[0].text" });
    const many = Array.from({ length: 51 }, () => file("a", ""));
    expect(await bed.refusal(400, "POST", CHECK, { files: many })).toMatchObject({ param: "files" });
    expect(await bed.refusal(400, "POST", CHECK, { files: [] })).toMatchObject({ param: "files" });
    expect((await bed.send("POST", CHECK, { body: " ".repeat(2 * CATALOGUE_CHECK_BYTES_MAX + 1) })).status).toBe(413);
  });
});

describe("the books", () => {
  const AUDIT = "/operator/ledger/audit";

  test("are exact, or the differences are listed", async () => {
    const id = await createWorkspace(bed.db.database, 5n * CREDIT);
    expect(await bed.ask("OperatorLedgerAudit", "POST", AUDIT)).toEqual({ ok: true, faults: [] });
    await bed.db.query("update balance set amount = amount + 1 where workspace_id = $1", [id]);
    const { ok, faults } = await bed.ask("OperatorLedgerAudit", "POST", AUDIT);
    expect(ok).toBe(false);
    expect(faults).toEqual([
      { workspace_id: id, fault: expect.any(String) as string, expected: "5000000000", found: "5000000001" },
    ]);
    await bed.db.query("update balance set amount = amount - 1 where workspace_id = $1", [id]);
  });

  test("are not audited for longer than the caller's timeout", async () => {
    const [done, locked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    // The audit comes to no end while somebody keeps the balances.
    const other = bed.db.database.transaction(async (tx) => {
      await tx.query("lock table balance in access exclusive mode");
      locked.resolve();
      await done.promise;
    });
    await locked.promise;
    expect(await auditAlone(bed.db.database, 100)).toBe("late");
    done.resolve();
    await other;
    expect(await auditAlone(bed.db.database, 60_000)).toEqual([]);
  });

  test("are audited by one process at a time", async () => {
    const done = Promise.withResolvers<void>();
    const locked = Promise.withResolvers<void>();
    // Another ingress, which has begun.
    const other = bed.db.database.transaction(async (tx) => {
      await tx.query("select pg_advisory_xact_lock(7514200112)");
      locked.resolve();
      await done.promise;
    });
    await locked.promise;
    expect((await bed.refusal(409, "POST", AUDIT)).code).toBe("conflict");
    done.resolve();
    await other;
    expect((await bed.ask("OperatorLedgerAudit", "POST", AUDIT)).ok).toBe(true);
  });
});

describe("the audit log", () => {
  const LOG = "/operator/audit-log";

  test("is listed for all workspaces and the installation, by actor, action, subject and time, in pages", async () => {
    const [id, subject] = [await createWorkspace(bed.db.database, 0n), newId()];
    const actor = { type: "operator", id: `night ${subject}`, ip: "10.0.0.1", request_id: newId() } as const;
    const entry = { actor, subject, after: { a: 1 } };
    await recordAudit(bed.db.database, id, { ...entry, action: "test.one" });
    await recordAudit(bed.db.database, null, { ...entry, action: "test.two", before: { a: 0 } });
    const told = async (query: string) => (await bed.ask("OperatorAuditLogList", "GET", `${LOG}?${query}`)).data;
    expect(await told(`subject=${subject}`)).toMatchObject([
      { action: "test.two", workspace_id: null, before: { a: 0 } },
      {
        action: "test.one",
        workspace_id: id,
        before: null,
        ip: "10.0.0.1",
        request_id: actor.request_id,
        key_id: null,
      },
    ]);
    const actions = async (query: string) => (await told(`subject=${subject}&${query}`)).map(({ action }) => action);
    expect(await actions(`workspace_id=${id.toUpperCase()}`)).toEqual(["test.one"]);
    expect(await actions("action=test.two")).toEqual(["test.two"]);
    expect(await actions(`actor=${encodeURIComponent(actor.id)}`)).toEqual(["test.two", "test.one"]);
    expect(await actions("actor=nobody")).toEqual([]);
    expect(await actions("start_time=2999-01-01")).toEqual([]);
    expect(await actions("end_time=2999-01-01T00:00:00Z&start_time=2020-01-01")).toHaveLength(2);
    const page = await bed.ask("OperatorAuditLogList", "GET", `${LOG}?subject=${subject}&limit=1`);
    expect([page.data.length, page.has_more]).toEqual([1, true]);
    expect(await actions(`after=${page.last_id}`)).toEqual(["test.one"]);
  });

  test("names workspaces, members and keys, within the workspace of the entry", async () => {
    const [id, other] = [await createWorkspace(bed.db.database, 0n), await createWorkspace(bed.db.database, 0n)];
    const person = await addPerson(bed.db, id, "developer");
    const actor = { type: "operator", id: "names" } as const;
    const entries: readonly (readonly [workspace: string | null, action: string, subject: string])[] = [
      [id, "workspace.tag", id],
      [id, "member.limits", person.id],
      [id, "key.limits", person.keyId],
      [other, "key.limits", person.keyId],
      [id, "member.limits", "x"],
      [id, "credits.top_up", other],
      [null, "test.export", id],
      [id, "test.export", other],
    ];
    for (const [workspace, action, subject] of entries) {
      await recordAudit(bed.db.database, workspace, { actor, action, subject });
    }
    const { name } = await bed.ask("OperatorWorkspace", "GET", `/operator/workspaces/${id}`);
    const { data } = await bed.ask("OperatorAuditLogList", "GET", `${LOG}?actor=names`);
    expect(data.map(({ subject_name }) => subject_name).toReversed()).toEqual([
      name,
      `developer ${person.id}`,
      "test",
      null,
      null,
      name,
      name,
      null,
    ]);
  });

  test("its download has the addresses of operators and the workspaces, and is an entry of it", async () => {
    const [id, subject] = [await createWorkspace(bed.db.database, 0n), newId()];
    const actor = { type: "operator", id: "night", ip: "10.0.0.1" } as const;
    await recordAudit(bed.db.database, id, { actor, subject, action: "test.one" });
    await recordAudit(bed.db.database, null, { actor, subject, action: "test.two" });
    const download = async (query: string): Promise<Record<string, string>[]> => {
      const response = await bed.send("GET", `${LOG}?${query}`, { token: bed.tokens.read, accept: "text/csv" });
      expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/csv; charset=utf-8"]);
      return parseCsv(await response.text(), { columns: true });
    };
    expect(await download(`subject=${subject}`)).toMatchObject([
      { action: "test.two", workspace_id: "", ip: "10.0.0.1" },
      { action: "test.one", workspace_id: id, ip: "10.0.0.1" },
    ]);
    const nobody = newId();
    expect(await download(`workspace_id=${nobody}`)).toEqual([]);
    const { data } = await bed.ask("OperatorAuditLogList", "GET", `${LOG}?action=audit_log.export`);
    expect(data).toMatchObject([
      { workspace_id: null, subject: nobody, after: { rows: 0, filters: { workspace_id: nobody } } },
      { workspace_id: null, subject: "installation", after: { rows: 2, filters: { subject } } },
    ]);
  });

  test.each(["workspace_id=x", "after=x", "limit=1e1", "actor=%00", "start_time=now", "end_time=2020-13-01"])(
    "rejects %s by name",
    async (query) => {
      const param = query.split("=")[0] ?? "";
      expect(await bed.refusal(400, "GET", `${LOG}?${query}`)).toEqual({ code: "unsupported_value", param });
    },
  );
});

test("the status contains versions, dependencies and counts", async () => {
  const status = await bed.ask("OperatorStatus", "GET", "/operator/status");
  const [{ count } = { count: -1 }] = await bed.db.query<{ count: number }>(
    "select count(*)::int as count from workspace",
  );
  expect(status).toMatchObject({
    ok: true,
    versions: {
      schema: expect.stringMatching(/^\d{4}_[a-z0-9_]+$/) as string,
      postgres: expect.stringMatching(/^\d+/) as string,
    },
    counts: { workspaces: count, open_holds: 0, unknown_jobs: 0, dead_letters: 0, settle_faults: 0 },
  });
});

test("the status contains the version and the start of ingresses and of workers by pool", async () => {
  await bed.db.query("delete from worker_slots");
  const beat = (lane: "live" | "batch", slots: number) =>
    beatJobs(bed.db.database, { worker: newId(), pool: "chat", lane, slots, jobs: [], leaseMs: 1_000 });
  for (const lane of ["live", "batch"] as const) await beat(lane, 4);
  // Workers that run: two of another version. Workers that do not count: a stopping one, and one without heartbeats for 46 s.
  const insert = `insert into worker_slots (worker, pool, lane, slots, version, started_at, seen_at)
                  values ($1, 'chat', 'live', 4, $2, $3, clock_timestamp() - $4 * interval '1 second')`;
  for (const startedAt of [0, 60_000]) await bed.db.query(insert, [newId(), "0.0.9", new Date(startedAt), 0]);
  await bed.db.query(insert, [newId(), "0.0.8", new Date(0), 46]);
  await beat("live", 0);
  const { processes, versions } = await bed.ask("OperatorStatus", "GET", "/operator/status");
  expect(versions.sluice).toBe(manifest.version);
  const at = (time: number): string => new Date(time).toISOString();
  const [first, second] = INGRESSES.map(({ startedAt }) => startedAt ?? 0);
  expect(processes).toEqual([
    {
      role: "ingress",
      pool: null,
      version: "0.1.0",
      count: 2,
      first_started_at: at(second ?? 0),
      last_started_at: at(first ?? 0),
    },
    { role: "ingress", pool: null, version: null, count: 1, first_started_at: null, last_started_at: null },
    { role: "worker", pool: "chat", version: "0.0.9", count: 2, first_started_at: at(0), last_started_at: at(60_000) },
    {
      role: "worker",
      pool: "chat",
      version: manifest.version,
      count: 1,
      first_started_at: expect.any(String) as string,
      last_started_at: expect.any(String) as string,
    },
  ]);
});
