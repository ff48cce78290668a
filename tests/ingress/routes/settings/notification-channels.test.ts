/** /workspaces/{workspaceId}/notification-channels, beside the contract of resources: types and their settings. Changes: channel-changes.test.ts; against receivers: tests/e2e/notifications. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { createApp } from "#ingress/app.ts";
import { newId } from "#shared/base/ids.ts";

import { audited, auditOf, putChannel, putDelivery } from "./settings-bed.ts";
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

describe("creating a channel", () => {
  test("of each type returns its public settings, and has an audit entry with them", async () => {
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

  test("of e-mail is rejected if the installation sends none, and otherwise created", async () => {
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

  test("is rejected for settings that its type does not have, without repeating the sent values", async () => {
    const bad: [object, string][] = [
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
  });

  test("accepts no signing secret among its settings", async () => {
    for (const name of ["signingSecret", "previousSigningSecret"]) {
      const body = hook({ config: { url: URL_OF, [name]: "whsec_mine" } });
      expect(await bed.refusal(400, "POST", at(team), team.owner.key, body)).toEqual({
        code: "unknown_parameter",
        param: `config.${name}`,
      });
    }
  });
});

describe("deleting a channel", () => {
  test("deletes its subscriptions, cancels pending deliveries and keeps the history", async () => {
    const own = await bed.team(0n);
    const id = await putChannel(bed, own, own.developer);
    await bed.ask("Subscription", "POST", at(own, `/${id}/subscriptions`), own.owner.key, {
      body: { event: "run.failed" },
      status: 201,
    });
    const waiting = await putDelivery(bed, own, id, { status: "pending" });
    await bed.ask("Deleted", "DELETE", at(own, `/${id}`), own.admin.key);
    expect(await bed.db.query("select 1 from subscription where channel_id = $1", [id])).toEqual([]);
    const kept = await bed.ask("Delivery", "GET", `/workspaces/${own.id}/deliveries/${waiting}`, own.owner.key);
    expect([kept.status, kept.channelId]).toEqual(["cancelled", id]);
  });
});
