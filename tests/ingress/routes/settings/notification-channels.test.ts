/** /workspaces/{workspaceId}/notification-channels. Changes: channel-changes.test.ts; against receivers: tests/e2e/notifications. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";

import { createApp } from "#ingress/app.ts";
import { newId } from "#shared/ids.ts";
import { CHANNELS_PER_WORKSPACE_MAX } from "#shared/database/channels.ts";

import { audited, auditOf, BAD_BODIES, BAD_IDS, BAD_NAMES, putChannel, putDelivery, walk } from "./settings-bed.ts";
import { openSpendBed, type SpendBed, type Team } from "./spend-bed.ts";

let bed: SpendBed;
let team: Team;
beforeAll(async () => {
  bed = await openSpendBed();
  team = await bed.team(0n);
});
afterAll(() => bed.close());

const at = (of: Pick<Team, "id">, rest = ""): string => `/workspaces/${of.id}/notification-channels${rest}`;
const URL_OF = "https://hooks.example.com/canary-path/abcd";
const SHOWN = "https://hooks.example.com/…abcd";
const hook = (more: object = {}) => ({ type: "webhook", name: `hook ${newId()}`, config: { url: URL_OF }, ...more });

/** Checks that no secret stands in the audit log. */
async function expectSilence(own: Team): Promise<void> {
  expect(JSON.stringify(await auditOf(bed, own))).not.toMatch(/canary|whsec_/);
}

describe("making a channel", () => {
  test("of each type shows what may be shown, and stands on record by it", async () => {
    const own = await bed.team(0n);
    for (const [type, config, shown, credentials] of [
      ["webhook", { url: URL_OF }, { url: SHOWN }, []],
      [
        "webhook",
        { url: URL_OF, authType: "bearer", authToken: "canary-token" },
        { url: SHOWN, authType: "bearer" },
        ["authToken"],
      ],
      [
        "webhook",
        { url: URL_OF, authType: "basic", authUsername: "ada", authPassword: "canary-password" },
        { url: SHOWN, authType: "basic", authUsername: "ada" },
        ["authPassword"],
      ],
      ["slack", { url: URL_OF }, { url: SHOWN }, []],
      ["telegram", { botToken: "12345:canary-canary-canary-canary", chatId: "-100" }, { chatId: "-100" }, ["botToken"]],
    ] as const) {
      const name = `made ${newId()}`;
      const body = { type, name, config };
      const line = await audited(bed, own, own.admin, { method: "POST", path: at(own), body, status: 201 });
      const { signingSecret, ...rest } = line.answer;
      expect(line).toMatchObject({
        action: "channel.create",
        subject: rest["id"],
        before: null,
        after: { type, name, enabled: true, config: shown },
      });
      expect(typeof signingSecret).toBe(type === "webhook" ? "string" : "undefined");
      expect(rest).toMatchObject({ type, name, config: shown, credentials, createdByUserId: own.admin.id });
      const read = await bed.ask("Channel", "GET", at(own, `/${String(rest["id"])}`), own.developer.key);
      expect(read as unknown).toEqual(rest);
    }
    await expectSilence(own);
  });

  test("with a secret says that nobody is to keep the answer", async () => {
    const made = await bed.send("POST", at(team), team.owner.key, hook());
    expect([made.status, made.headers.get("cache-control")]).toEqual([201, "no-store"]);
  });

  test("of e-mail is refused where the installation sends none, and made where it does", async () => {
    const body = { type: "email", name: `mail ${newId()}`, config: { recipient: "ops@example.com" } };
    expect(await bed.refusal(400, "POST", at(team), team.owner.key, body)).toEqual({
      code: "unsupported_value",
      param: "type",
    });
    const { context } = bed.fake;
    const config = { ...context.config, smtpUrl: "smtp://mail.example.com" };
    const app = createApp({ ...context, config, authenticator: bed.authenticator, database: bed.db.database });
    const answer = await app.handle(
      new Request(`http://localhost${at(team)}`, {
        method: "POST",
        headers: { authorization: `Bearer ${team.owner.key}`, "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
    );
    expect(answer.status).toBe(201);
    expect(await answer.json()).toMatchObject({ config: body.config, credentials: [], hasSigningSecret: false });
  });

  test("repeats under an id of the caller's without the secret, and not under one that stands for something else", async () => {
    const id = randomUUID();
    const body = { ...hook(), id: id.toUpperCase() };
    const { signingSecret, ...made } = await bed.ask("Channel", "POST", at(team), team.owner.key, {
      body,
      status: 201,
    });
    expect([made.id, signingSecret]).toEqual([id, expect.stringContaining("whsec_") as unknown as string]);
    expect(await bed.ask("Channel", "POST", at(team), team.admin.key, { body })).toEqual(made);
    const reused = { code: "idempotency_key_reused", param: "id" } as const;
    for (const other of [
      { name: `other ${newId()}` },
      { type: "slack" },
      { enabled: false },
      { config: { url: "https://hooks.example.com/canary-other/abcd" } },
      { config: { url: URL_OF, authType: "none" } },
      { config: { url: URL_OF, authToken: "canary-token" } },
    ]) {
      expect(await bed.refusal(422, "POST", at(team), team.owner.key, { ...body, ...other })).toEqual(reused);
    }
    const foreign = await bed.team(0n);
    const taken = { ...hook(), id: await putChannel(bed, foreign, foreign.owner) };
    expect(await bed.refusal(422, "POST", at(team), team.owner.key, taken)).toEqual(reused);
    expect((await bed.ask("Channel", "GET", at(foreign, `/${taken.id}`), foreign.owner.key)).createdByUserId).toBe(
      foreign.owner.id,
    );
  });

  test("is refused for a name that is taken", async () => {
    const body = hook();
    await bed.ask("Channel", "POST", at(team), team.owner.key, { body, status: 201 });
    for (const id of [undefined, newId()]) {
      expect(await bed.refusal(409, "POST", at(team), team.owner.key, { ...body, id })).toEqual({
        code: "conflict",
        param: "name",
      });
    }
  });

  test("goes on up to the limit, where repeats are still answered", async () => {
    const own = await bed.team(0n);
    await bed.db.query(
      `insert into notification_channel (id, workspace_id, type, name, config)
       select gen_random_uuid(), $1, 'slack', 'c' || n, '{}' from generate_series(1, $2) n`,
      [own.id, CHANNELS_PER_WORKSPACE_MAX - 1],
    );
    const body = { ...hook(), id: newId() };
    const { signingSecret: _once, ...made } = await bed.ask("Channel", "POST", at(own), own.owner.key, {
      body,
      status: 201,
    });
    expect(await bed.refusal(409, "POST", at(own), own.owner.key, hook())).toEqual({ code: "conflict", param: null });
    expect(await bed.ask("Channel", "POST", at(own), own.owner.key, { body })).toEqual(made);
  });

  test("is refused for what is none, without a word of what was sent", async () => {
    const bad: [object, string][] = [
      ...BAD_NAMES.map((name): [object, string] => [hook({ name }), "name"]),
      ...["x", `urn:uuid:${newId()}`, 7].map((id): [object, string] => [hook({ id }), "id"]),
      [hook({ type: "pager" }), "type"],
      [hook({ type: undefined }), "type"],
      [hook({ config: undefined }), "config"],
      [hook({ config: [] }), "config"],
      [hook({ enabled: "yes" }), "enabled"],
      [hook({ config: {} }), "config.url"],
      [hook({ config: { url: 7 } }), "config.url"],
      [hook({ config: { url: SHOWN } }), "config.url"],
      [hook({ config: { url: "http://canary.internal/x" } }), "config.url"],
      [hook({ config: { url: "http://127.0.0.1/canary" } }), "config.url"],
      [hook({ config: { url: "https://ada:canary@hooks.example.com/" } }), "config.url"],
      [hook({ config: { url: "ftp://hooks.example.com/canary" } }), "config.url"],
      [hook({ config: { url: URL_OF, botToken: "12345:canary-canary-canary-canary" } }), "config.botToken"],
      [hook({ config: { url: URL_OF, authType: "digest" } }), "config.authType"],
      [hook({ config: { url: URL_OF, authType: "bearer" } }), "config.authToken"],
      [hook({ config: { url: URL_OF, authType: "basic", authUsername: "ada" } }), "config.authPassword"],
      [hook({ config: { url: URL_OF, authType: "basic", authPassword: "canary-password" } }), "config.authUsername"],
      [hook({ config: { url: URL_OF, authType: "api_key" } }), "config.authApiKey"],
      [hook({ config: { url: URL_OF, authType: "custom_header", authHeaderName: "X-A" } }), "config.authHeaderValue"],
      [hook({ config: { url: URL_OF, authToken: "canary\r\nx: y" } }), "config.authToken"],
      [hook({ config: { url: URL_OF, authToken: "canary\u0085" } }), "config.authToken"],
      [hook({ config: { url: URL_OF, authToken: "canary\ud800" } }), "config.authToken"],
      [hook({ config: { url: URL_OF, authHeaderName: "Content-Type" } }), "config.authHeaderName"],
      [hook({ config: { url: URL_OF, authHeaderName: "X-WEBHOOK-Signature" } }), "config.authHeaderName"],
      [hook({ config: { url: URL_OF, authHeaderName: "two words" } }), "config.authHeaderName"],
      [hook({ type: "telegram", config: { chatId: "7" } }), "config.botToken"],
      [hook({ type: "telegram", config: { botToken: "canary", chatId: "7" } }), "config.botToken"],
      [hook({ type: "telegram", config: { botToken: "12345:canary-canary-canary-canary" } }), "config.chatId"],
    ];
    for (const [body, param] of bad) {
      const answer = await bed.send("POST", at(team), team.owner.key, body);
      const text = await answer.text();
      expect([body, answer.status, (JSON.parse(text) as { error: { param: unknown } }).error.param]).toEqual([
        body,
        400,
        param,
      ]);
      expect(text).not.toContain("canary");
    }
    for (const [body, status, code] of BAD_BODIES) {
      expect((await bed.refusal(status, "POST", at(team), team.owner.key, body)).code).toBe(code);
    }
  });

  test("takes no fields that are ours", async () => {
    const foreign = await bed.team(0n);
    const body = hook({
      workspaceId: foreign.id,
      createdByUserId: foreign.owner.id,
      signingSecret: "whsec_mine",
      createdAt: "2000-01-01T00:00:00Z",
      disabledReason: "gone",
      failingSince: "2000-01-01T00:00:00Z",
      config: { url: URL_OF, signingSecret: "whsec_mine", previousSigningSecret: "whsec_mine", __proto__: { x: 1 } },
    });
    const made = await bed.ask("Channel", "POST", at(team), team.owner.key, { body, status: 201 });
    expect(made).toMatchObject({ createdByUserId: team.owner.id, disabledReason: null, failingSince: null });
    expect(made.config).toEqual({ url: SHOWN });
    expect(made.signingSecret).not.toBe("whsec_mine");
  });
});

describe("deleting a channel", () => {
  test("takes its subscriptions with it, cancels what is under way and keeps the history", async () => {
    const own = await bed.team(0n);
    const id = await putChannel(bed, own, own.developer);
    await bed.ask("Subscription", "POST", at(own, `/${id}/subscriptions`), own.owner.key, {
      body: { event: "run.failed" },
      status: 201,
    });
    const waiting = await putDelivery(bed, own, id, { status: "pending" });
    await bed.refusal(403, "DELETE", at(own, `/${id}`), own.developer.key);
    const line = await audited(bed, own, own.admin, { method: "DELETE", path: at(own, `/${id}`) });
    expect(line).toMatchObject({
      action: "channel.delete",
      subject: id,
      before: { type: "webhook", name: `hook ${id}`, config: { url: SHOWN } },
      after: null,
      answer: { id, deleted: true },
    });
    await expectSilence(own);
    expect(await bed.db.query("select 1 from subscription where channel_id = $1", [id])).toEqual([]);
    const kept = await bed.ask("Delivery", "GET", `/workspaces/${own.id}/deliveries/${waiting}`, own.owner.key);
    expect([kept.status, kept.channelId]).toEqual(["cancelled", id]);
    for (const method of ["GET", "DELETE"]) {
      expect((await bed.refusal(404, method, at(own, `/${id}`), own.owner.key)).code).toBe("channel_not_found");
    }
  });
});

describe("channels", () => {
  test("are paged from the newest without gaps or repeats", async () => {
    const own = await bed.team(0n);
    await bed.db.query(
      `insert into notification_channel (id, workspace_id, type, name, config, created_at)
       select gen_random_uuid(), $1, 'slack', 'c' || n, '{}', now() + (n / 3) * interval '1 second' from generate_series(1, 40) n`,
      [own.id],
    );
    const rows = await bed.db.query<{ id: string }>(
      "select id from notification_channel where workspace_id = $1 order by created_at desc, id desc",
      [own.id],
    );
    const read = (query: string) => bed.ask("ChannelList", "GET", at(own, `?${query}`), own.developer.key);
    for (const limit of [7, 20, 40, 100]) expect(await walk(read, limit)).toEqual(rows.map(({ id }) => id));
    expect((await read(`after=${await putChannel(bed, team, team.owner)}`)).data).toEqual([]);
    for (const query of ["limit=101", "after=x"]) {
      const { param } = await bed.refusal(400, "GET", at(own, `?${query}`), own.owner.key);
      expect(param).toBe(query.split("=")[0] ?? "");
    }
  });

  test("of another workspace are unknown ones, and so is what is no id", async () => {
    const foreign = await bed.team(0n);
    const theirs = await putChannel(bed, foreign, foreign.owner);
    for (const [method, rest, body] of [
      ["GET", ""],
      ["PATCH", "", { name: "x" }],
      ["DELETE", ""],
      ["POST", "/test"],
      ["POST", "/recover", { since: new Date().toISOString() }],
      ["POST", "/signing-secret/reveal"],
      ["POST", "/signing-secret/rotate"],
      ["GET", "/subscriptions"],
      ["POST", "/subscriptions", { event: "run.failed" }],
      ["DELETE", `/subscriptions/${newId()}`],
    ] as const) {
      const told = async (id: string): Promise<unknown> => {
        const answer = await bed.send(method, at(team, `/${id}${rest}`), team.owner.key, body);
        return [answer.status, await answer.text()];
      };
      const unknown = await told(newId());
      expect(unknown).toEqual([404, expect.stringContaining("channel_not_found") as unknown]);
      for (const id of [theirs, ...BAD_IDS])
        expect([method, rest, id, await told(id)]).toEqual([method, rest, id, unknown]);
    }
    expect(await auditOf(bed, foreign)).toEqual([]);
  });
});
