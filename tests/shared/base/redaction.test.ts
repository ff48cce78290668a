import { describe, expect, test } from "bun:test";

import type { Logger } from "#shared/base/logger.ts";
import { CONTENT_MEMBERS, createRedactor, SECRET_ENDINGS, SECRET_MEMBERS } from "#shared/base/redaction.ts";
import { logged, one } from "#tests/support/log-lines.ts";

describe("redaction", () => {
  test("covers exactly these member names", () => {
    expect({ SECRET_MEMBERS, SECRET_ENDINGS, CONTENT_MEMBERS }).toMatchInlineSnapshot(`
      {
        "CONTENT_MEMBERS": [
          "arguments",
          "body",
          "choices",
          "content",
          "delta",
          "input",
          "messages",
          "output",
          "payload",
          "prompt",
        ],
        "SECRET_ENDINGS": [
          "accesskey",
          "accesskeyid",
          "apikey",
          "authorization",
          "bootstrapkey",
          "cookie",
          "credentials",
          "encryptionkey",
          "masterkey",
          "passphrase",
          "passwd",
          "password",
          "privatekey",
          "secret",
          "secretkey",
          "signingkey",
          "token",
        ],
        "SECRET_MEMBERS": [
          "bearer",
          "key",
          "keyhash",
          "signature",
        ],
      }
    `);
  });

  const CANARY = "cAnArY7f3e9d1b5a2c8e6f";

  test.each([
    "authorization",
    "Authorization",
    "x-api-key",
    "api_key",
    "apiKey",
    "openai_api_key",
    "OPENAI_API_KEY",
    "key",
    "signing_secret",
    "signingSecret",
    "AWS_SECRET_ACCESS_KEY",
    "access_token",
    "password",
    "cookie",
    "Set-Cookie",
    "SLUICE_BOOTSTRAP_KEY",
    "bootstrap_key",
    "master_key",
  ])("a member called %s is blanked at any depth, in lists and in bindings", (name) => {
    const lines = logged((log) => {
      log.info({ [name]: CANARY }, "flat");
      log.info({ a: { b: [{ [name]: CANARY }, { [name]: { deep: CANARY } }] } }, "nested");
      log.child({ [name]: CANARY }).info("bound");
      log
        .child({ plain: 1 })
        .child({ nested: { [name]: [CANARY] } })
        .info("bound twice");
    });
    expect(lines).toHaveLength(4);
    expect(JSON.stringify(lines)).not.toContain(CANARY);
  });

  test("names similar to secrets stay readable", () => {
    const shown = { key_id: "0190", max_tokens: 5, monkey: "george", token_count: 3, keys: 2, secretary: "ann" };
    expect(one((log) => log.info(shown, "x"))).toMatchObject(shown);
  });

  const SHAPES: readonly (readonly [what: string, text: string])[] = [
    ["our key", `slk_${CANARY}0123456789`],
    ["an operator's token", `slo_${CANARY}0123456789`],
    ["a provider key", `sk-proj-${CANARY}`],
    ["a bearer header", `Authorization: Bearer ${CANARY}`],
    ["a bare bearer", `bearer ${CANARY} was refused`],
    ["a basic header", `basic ${CANARY}==`],
    ["a database URL", `postgres://sluice:${CANARY}@db:5432/sluice`],
    ["a database URL with odd characters", `postgres://sluice:p@ss/${CANARY}@db:5432/sluice`],
    ["a queue URL", `cannot reach nats://worker:${CANARY}@queue:4222`],
    ["a query parameter", `https://api.example/v1?alt=sse&key=${CANARY}&x=1`],
    ["a signed URL", `https://s3.example/b/k?X-Amz-Signature=${CANARY}&X-Amz-Credential=${CANARY}`],
    ["a bot path", `https://chat.example/bot123456:${CANARY}/send`],
    ["an incoming hook", `https://hooks.example/services/T0001/B0002/${CANARY}`],
    ["a signing secret", `whsec_${CANARY}`],
    ["an access key id", `AKIA${CANARY.toUpperCase()}`],
    ["a JSON web token", `eyJhbGciOi.eyJ${CANARY}.${CANARY}`],
    ["JSON", JSON.stringify({ api_key: CANARY, nested: { password: CANARY } })],
    ["JSON inside JSON", JSON.stringify(JSON.stringify({ signing_secret: CANARY }))],
    ["cut JSON", `{"model":"m","authorization":"${CANARY}`],
    ["an assignment", `OPENAI_API_KEY=${CANARY}`],
    ["a header list", `x-api-key: ${CANARY}, accept: */*`],
    ["prompts in JSON", JSON.stringify({ model: "m", messages: [{ role: "user", content: CANARY }] })],
    ["a cut prompt", `400: {"model":"m","prompt":"${CANARY} and so`],
    ["an escaped prompt", JSON.stringify({ body: JSON.stringify({ input: [CANARY] }) })],
  ];

  test.each(SHAPES)("%s is redacted at every position of text", (_what, text) => {
    const lines = logged((log) => {
      log.info(text);
      log.info("said %s", text);
      log.info({ note: text, list: [text], deep: { er: { still: text } } }, text);
      log.info({ [text]: 1 }, "as a name");
      log.error(new Error(text));
      log.error({ err: new Error("outer", { cause: new Error(text) }) }, "x");
      log.error({ err: new Error("outer", { cause: { text } }) }, "x");
      log.error({ err: new AggregateError([new Error(text)], text) }, "x");
      log.child({ note: text }).info("x");
      log.info({ url: URL.canParse(text) ? new URL(text) : text }, "x");
    });
    expect(lines).toHaveLength(10);
    expect(JSON.stringify(lines).toLowerCase()).not.toContain(CANARY.toLowerCase());
  });

  test("headers are recognised by name", () => {
    const headers = new Headers({ authorization: CANARY, "x-api-key": CANARY, accept: "text/plain" });
    const line = one((log) => log.info({ headers }, "x"));
    expect(line["headers"]).toEqual({ accept: "text/plain", authorization: "[redacted]", "x-api-key": "[redacted]" });
  });

  test("known secrets are redacted in any form, complete or inside a word", () => {
    const secret = "plain.looking/value";
    const lines = logged(
      (log) => {
        log.info({ a: `x${secret}y` }, secret);
        log.error(new Error(`refused: ${secret}`));
      },
      [secret, "short"],
    );
    expect(JSON.stringify(lines)).not.toContain(secret);
    expect(lines[0]).toMatchObject({ a: "x[redacted]y", msg: "[redacted]" });
  });

  test("a secret at a truncation is still found", () => {
    const text = `${"a".repeat(490)} slk_${CANARY}${CANARY}`;
    expect(createRedactor().text(text)).not.toContain("cAnAr");
  });

  test("the start of a known secret at the end of a truncated text is redacted", () => {
    const redactor = createRedactor(["plain.looking/value", "short"]);
    expect(redactor.text("Wrong key: plain.looking/v")).toBe("Wrong key: [redacted]");
    expect(redactor.text("Wrong key: plain.looking/v.")).toBe("Wrong key: plain.looking/v.");
    expect(redactor.text("Wrong key: plain")).toBe("Wrong key: plain");
  });

  test.each(CONTENT_MEMBERS)("content of %s is never written, except numbers", (name) => {
    const lines = logged((log) => {
      log.info({ [name]: CANARY }, "x");
      log.info({ call: { [name]: [{ role: "user", text: CANARY }] } }, "x");
    });
    expect(JSON.stringify(lines)).not.toContain(CANARY);
    expect(one((log) => log.info({ usage: { [name]: 12 } }, "x"))).toMatchObject({ usage: { [name]: 12 } });
  });

  test.each(["zanzibarquokka", '{"a": zanzibarquokka}', '{"zanzibarquokka" 1}'])(
    "text that a parser rejected is not quoted by its error: %s",
    (unreadable) => {
      let fault: unknown;
      try {
        JSON.parse(unreadable);
      } catch (error) {
        fault = error;
      }
      for (const act of [
        (log: Logger) => log.warn(fault),
        (log: Logger) => log.warn({ err: new Error("no answer", { cause: fault }) }, "failed"),
      ]) {
        const line = JSON.stringify(one(act));
        expect(line).toContain("SyntaxError");
        expect(line).not.toContain("zanzibarquokka");
      }
    },
  );

  test("ordinary text passes unchanged", () => {
    for (const text of [
      "request served",
      "/v1/chat/completions",
      'expected step "outline", got "outlnie"',
      "nats://queue:4222 cannot be reached",
      "risk-assessment of the task-force",
      "0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4051",
      "https://example.com/path?page=2&limit=5",
      "max_tokens: 5 is above the model's 4",
    ]) {
      expect(createRedactor().text(text)).toBe(text);
    }
  });

  test("hostile text is read in a bounded number of steps", () => {
    const redactor = createRedactor();
    for (const seed of ["://", "key=", '"messages"', "bearer ", "eyJ", "sk-", "?key", "authorization: "]) {
      const text = seed.repeat(200_000);
      expect(redactor.text(text).length).toBeLessThan(600);
    }
  });
});
