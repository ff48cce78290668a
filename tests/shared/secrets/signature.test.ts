import { describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";

import { Webhook } from "standardwebhooks";

import { newSigningSecret, signatureHeaders } from "#shared/secrets/signature.ts";

const KEY = "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const PUBLISHED = { id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: 1_614_265_330, body: '{"test": 2432232314}' };

const now = (): number => Math.floor(Date.now() / 1_000);

describe("a signing secret", () => {
  test("is whsec_ and the base64 of 32 bytes, and unique", () => {
    const secrets = Array.from({ length: 100 }, newSigningSecret);
    expect(new Set(secrets).size).toBe(100);
    for (const secret of secrets) {
      expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
      expect(Buffer.from(secret.slice(6), "base64")).toHaveLength(32);
    }
  });
});

describe("webhook-signature", () => {
  test.each([KEY, `whsec_${KEY}`])("equals the published one, with the secret %s", (secret) => {
    expect(signatureHeaders({ secret, ...PUBLISHED })).toMatchObject({
      "webhook-id": PUBLISHED.id,
      "webhook-timestamp": "1614265330",
      "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    });
  });

  test("is accepted by the library of Standard Webhooks, and not for another body", () => {
    const secret = newSigningSecret();
    const body = '{"event":"run.succeeded","name":"Zürich 🙂"}';
    const headers = signatureHeaders({ secret, id: "msg_1", timestamp: now(), body });
    expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
    expect(() => new Webhook(secret).verify(body.replace("run", "Run"), headers)).toThrow();
    expect(() => new Webhook(newSigningSecret()).verify(body, headers)).toThrow();
  });

  test("lists both secrets after a rotation, the new one first, so that receivers with either accept it", () => {
    const [secret, previousSecret] = [newSigningSecret(), newSigningSecret()];
    const signed = { id: "msg_1", timestamp: now(), body: "{}" };
    const headers = signatureHeaders({ secret, previousSecret, ...signed });
    const alone = (each: string): string | undefined =>
      signatureHeaders({ secret: each, ...signed })["webhook-signature"];
    expect(headers["webhook-signature"]).toBe(`${alone(secret)} ${alone(previousSecret)}`);
    for (const each of [secret, previousSecret]) expect(new Webhook(each).verify("{}", headers)).toEqual({});
  });

  test("has one signature without a previous secret", () => {
    const signed = { secret: newSigningSecret(), id: "msg_1", timestamp: 1, body: "{}" };
    for (const previousSecret of [undefined, ""]) {
      expect(signatureHeaders({ ...signed, previousSecret })["webhook-signature"]).not.toContain(" ");
    }
  });
});

describe("x-webhook-signature", () => {
  test("is the hex HMAC of RFC 4231, test case 2", () => {
    const { "x-webhook-signature": signature } = signatureHeaders({
      secret: "Jefe",
      id: "x",
      timestamp: 1,
      body: "what do ya want for nothing?",
    });
    expect(signature).toBe("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  });

  test("uses the complete displayed secret as its key, over the exact bytes, with the new secret only", () => {
    const secret = newSigningSecret();
    const body = '{"name":"Zürich"}';
    const signed = { secret, previousSecret: newSigningSecret(), id: "msg_1", timestamp: 1 };
    const expected = createHmac("sha256", Buffer.from(secret, "utf8")).update(Buffer.from(body, "utf8")).digest("hex");
    expect(signatureHeaders({ ...signed, body })["x-webhook-signature"]).toBe(expected);
    expect(signatureHeaders({ ...signed, body: Buffer.from(body) })["x-webhook-signature"]).toBe(expected);
  });
});
