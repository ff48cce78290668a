/** Channels against a real receiver: the rules of the specification, one by one. */
import { beforeAll, describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";

import { Webhook } from "standardwebhooks";

import type { Channel } from "#schemas/generated/types.ts";
import { validate } from "#shared/json/contracts.ts";
import { newId } from "#shared/base/ids.ts";

import { type SharedBench, sharedBench } from "./shared-bench.ts";

let bench: SharedBench;
let receiver: SharedBench["receiver"];
beforeAll(async () => {
  bench = await sharedBench();
  ({ receiver } = bench);
}, 120_000);

/** Sends a test to the channel; returns the delivery and the request it arrives as. */
async function next(channelId: string) {
  const delivery = await bench.sendTest(channelId);
  const got = await receiver.wait(({ headers }) => headers["webhook-id"] === delivery.id);
  return { delivery, ...got };
}

const patch = (id: string, body: object, key?: string) =>
  bench.call<Channel & { error?: { code: string; param: string } }>("PATCH", `/notification-channels/${id}`, body, key);

describe("a webhook", () => {
  test("is signed over its exact bytes, in both ways, and its envelope has five members in their order", async () => {
    const { id, signingSecret } = await bench.channel(`${receiver.url}/signed`);
    expect(signingSecret).toStartWith("whsec_");
    const { headers, body, delivery } = await next(id);
    expect(Object.keys(JSON.parse(body) as object)).toEqual([
      "event",
      "deliveryId",
      "workspaceId",
      "occurredAt",
      "metadata",
    ]);
    expect(JSON.parse(body)).toMatchObject({ event: "test", deliveryId: delivery.id, workspaceId: bench.workspaceId });
    expect(headers["x-webhook-signature"]).toBe(createHmac("sha256", signingSecret).update(body).digest("hex"));
    expect(new Webhook(signingSecret).verify(body, headers as Record<string, string>)).toBeDefined();
    expect(headers["content-type"]).toBe("application/json");
    expect(delivery).toMatchObject({ status: "succeeded", attemptCount: 1, nextAttemptAt: null });
    expect(delivery.attempts).toMatchObject([{ number: 1, status: 200, error: null, responseStart: "ok" }]);
    expect(validate("Delivery", delivery)).toBeNull();
  });

  test("returns its secret once, at its creation; a repeat returns the same channel without it", async () => {
    const asked = { id: newId(), type: "webhook", name: `once ${newId()}`, config: { url: `${receiver.url}/once` } };
    const first = await bench.call<Channel>("POST", "/notification-channels", asked);
    const again = await bench.call<Channel>("POST", "/notification-channels", asked);
    expect([first.status, again.status]).toEqual([201, 200]);
    expect(first.body).toHaveProperty("signingSecret");
    const { signingSecret: _once, ...rest } = first.body;
    expect(again.body).toEqual(rest);
    const other = await bench.call("POST", "/notification-channels", { ...asked, name: `other ${newId()}` });
    expect(other).toMatchObject({ status: 422, body: { error: { code: "idempotency_key_reused" } } });
    expect((await bench.call("GET", `/notification-channels/${asked.id}`)).body).toEqual(rest);
  });

  test("without a secret is sent unsigned, until one is created", async () => {
    const { id } = await bench.channel(`${receiver.url}/legacy`);
    await bench.stack.query("update notification_channel set sealed = sealed - 'signingSecret' where id = $1", [id]);
    const plain = await next(id);
    expect(plain.headers).not.toHaveProperty("x-webhook-signature");
    expect(plain.headers).not.toHaveProperty("webhook-signature");
    expect((await bench.call("POST", `/notification-channels/${id}/signing-secret/reveal`)).status).toBe(409);
    const made = await bench.call<{ signingSecret: string }>(
      "POST",
      `/notification-channels/${id}/signing-secret/rotate`,
    );
    expect(made.body).not.toHaveProperty("previousUntil");
    const signed = await next(id);
    const hmac = createHmac("sha256", made.body.signingSecret).update(signed.body).digest("hex");
    expect(signed.headers["x-webhook-signature"]).toBe(hmac);
  });

  test("whose secret is replaced signs with the new one immediately, and in the standard's header with both", async () => {
    const { id, signingSecret: old } = await bench.channel(`${receiver.url}/rotated`);
    const path = `/notification-channels/${id}/signing-secret`;
    const { body } = await bench.call<{ signingSecret: string; previousUntil: string }>("POST", `${path}/rotate`);
    expect(Date.parse(body.previousUntil)).toBeGreaterThan(Date.now());
    const got = await next(id);
    expect(got.headers["x-webhook-signature"]).toBe(
      createHmac("sha256", body.signingSecret).update(got.body).digest("hex"),
    );
    for (const secret of [old, body.signingSecret]) {
      expect(new Webhook(secret).verify(got.body, got.headers as Record<string, string>)).toBeDefined();
    }
    expect((await bench.call("POST", `${path}/reveal`)).body).toEqual({ signingSecret: body.signingSecret });
    const actions = await bench.stack.query<{ action: string }>(
      "select action from audit_log where subject = $1 order by id",
      [id],
    );
    expect(actions.map(({ action }) => action)).toEqual([
      "channel.create",
      "channel.rotate_secret",
      "channel.reveal_secret",
    ]);
    await bench.stack.query("update notification_channel set previous_secret_until = now() where id = $1", [id]);
    const later = await next(id);
    expect(() => new Webhook(old).verify(later.body, later.headers as Record<string, string>)).toThrow();
  });
});

describe("an updated config", () => {
  const bearer = { authType: "bearer", authToken: "canary-token-1" };

  test("keeps omitted credentials and the omitted URL", async () => {
    const { id } = await bench.channel(`${receiver.url}/kept`, { config: { url: `${receiver.url}/kept`, ...bearer } });
    expect((await next(id)).headers.authorization).toBe("Bearer canary-token-1");
    const { status, body } = await patch(id, { config: { authType: "bearer" } });
    expect([status, body.credentials]).toEqual([200, ["authToken"]]);
    const got = await next(id);
    expect([got.path, got.headers.authorization]).toEqual(["/kept", "Bearer canary-token-1"]);
  });

  test("with the URL alone keeps the token and drops authType: no Authorization header follows", async () => {
    const { id } = await bench.channel(receiver.url, { config: { url: `${receiver.url}/one`, ...bearer } });
    const { body } = await patch(id, { config: { url: `${receiver.url}/two` } });
    expect(body.config).not.toHaveProperty("authType");
    expect(body.credentials).toEqual(["authToken"]);
    const got = await next(id);
    expect(got.path).toBe("/two");
    expect(got.headers).not.toHaveProperty("authorization");
    await patch(id, { config: { authType: "bearer" } });
    expect((await next(id)).headers.authorization).toBe("Bearer canary-token-1");
  });

  test("clears a credential that is empty, unless it is needed", async () => {
    const { id } = await bench.channel(receiver.url, { config: { url: `${receiver.url}/cleared`, ...bearer } });
    const needed = await patch(id, { config: { authType: "bearer", authToken: "" } });
    expect(needed).toMatchObject({
      status: 400,
      body: { error: { code: "missing_required_parameter", param: "config.authToken" } },
    });
    expect((await patch(id, { config: { authToken: "" } })).body.credentials).toEqual([]);
    expect((await next(id)).headers).not.toHaveProperty("authorization");
  });

  test("accepts the masked URL as the stored one, and rejects a similar one", async () => {
    const { id, config } = await bench.channel(`${receiver.url}/hidden/path/abcd`);
    expect(config["url"]).toBe(`${receiver.url}/…abcd`);
    expect((await patch(id, { config: { url: config["url"] } })).status).toBe(200);
    expect((await next(id)).path).toBe("/hidden/path/abcd");
    for (const url of [`${receiver.url}/…wxyz`, `${receiver.url}/%E2%80%A6abcd`, "https://elsewhere.example/…abcd"]) {
      const refused = await patch(id, { config: { url } });
      expect([url, refused.status, refused.body.error?.param]).toEqual([url, 400, "config.url"]);
    }
    expect((await next(id)).path).toBe("/hidden/path/abcd");
  });

  test.each<[string, Record<string, string>, Record<string, string>]>([
    [
      "basic",
      { authUsername: "ada", authPassword: "canary-pass" },
      { authorization: `Basic ${btoa("ada:canary-pass")}` },
    ],
    ["api_key", { authApiKey: "canary-key" }, { "x-api-key": "canary-key" }],
    ["api_key", { authApiKey: "canary-key", authHeaderName: "X-Own" }, { "x-own": "canary-key" }],
    ["custom_header", { authHeaderName: "X-Team", authHeaderValue: "canary-value" }, { "x-team": "canary-value" }],
  ])("authenticates by %s with %p", async (authType, members, headers) => {
    const { id, config } = await bench.channel(receiver.url, {
      config: { url: `${receiver.url}/auth`, authType, ...members },
    });
    expect(JSON.stringify(config)).not.toContain("canary");
    const got = await next(id);
    expect(got.headers).toMatchObject(headers);
    expect(got.headers["x-webhook-signature"]).toBeString();
  });
});

describe("a disabled channel", () => {
  test("is skipped immediately, keeps subscriptions and history, and none of its deliveries can be repeated", async () => {
    const { id } = await bench.channel(`${receiver.url}/off`);
    await bench.subscribe(id, "run.failed");
    const before = await bench.sendTest(id);
    expect((await patch(id, { enabled: false })).body.enabled).toBe(false);
    for (const path of [`/deliveries/${before.id}/retry`, `/notification-channels/${id}/test`]) {
      expect(await bench.call("POST", path)).toMatchObject({ status: 409, body: { error: { code: "conflict" } } });
    }
    const kept = await bench.call<{ data: unknown[] }>("GET", `/notification-channels/${id}/subscriptions`);
    expect(kept.body.data).toHaveLength(1);
    const history = await bench.call<{ data: { id: string }[] }>("GET", `/deliveries?channelId=${id}`);
    expect(history.body.data.map((one) => one.id)).toEqual([before.id]);
    await patch(id, { enabled: true });
    expect((await bench.call("POST", `/deliveries/${before.id}/retry`)).status).toBe(202);
    await receiver.wait(
      () => receiver.received.filter(({ headers }) => headers["webhook-id"] === before.id).length === 2,
    );
  });
});
