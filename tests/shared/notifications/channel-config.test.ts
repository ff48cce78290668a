/** Settings of a channel. Their effect at a receiver: tests/e2e/notifications. */
import { describe, expect, test } from "bun:test";

import { ApiError } from "#shared/base/errors.ts";
import {
  type ChannelType,
  isRedacted,
  mergeChannelConfig,
  newChannelConfig,
  redactUrl,
  CREDENTIAL_CHARACTERS_MIN,
} from "#shared/notifications/channel-config.ts";

const URL = "https://hooks.example.com/services/T000/B000/abcdEFGH";

function refusal(work: () => unknown): { code: string; param: string | null; message: string } {
  try {
    work();
  } catch (error) {
    if (error instanceof ApiError) return { code: error.code, param: error.param, message: error.message };
    throw error;
  }
  throw new Error("nothing was refused");
}

describe("a URL that is a secret", () => {
  test("is masked to its origin and its last four characters", () => {
    expect(redactUrl(URL)).toBe("https://hooks.example.com/…EFGH");
    expect(redactUrl("https://a.example:8443/x?key=1234567")).toBe("https://a.example:8443/…4567");
  });

  test.each([
    "https://hooks.example.com/…EFGH",
    "https://x.example/%E2%80%A6EFGH",
    "…",
    "https://x.example/%e2%80%a6abcd",
  ])("%s is recognised as masked", (text) => expect(isRedacted(text)).toBe(true));

  test.each([URL, "https://x.example/", "https://x.example/a/%E2%80%A6"])("%s is not recognised as masked", (text) =>
    expect(isRedacted(text)).toBe(false),
  );
});

describe("a new channel", () => {
  test.each<[ChannelType, Record<string, string>, Record<string, string>, Record<string, string>]>([
    ["webhook", { url: URL }, { url: redactUrl(URL) }, { url: URL }],
    [
      "webhook",
      { url: URL, authType: "basic", authUsername: "ada", authPassword: "password" },
      { url: redactUrl(URL), authType: "basic", authUsername: "ada" },
      { url: URL, authPassword: "password" },
    ],
    ["slack", { url: URL }, { url: redactUrl(URL) }, { url: URL }],
    [
      "telegram",
      { botToken: "1234567:abcdefghijklmnopqrstuv", chatId: "-1001234567890" },
      { chatId: "-1001234567890" },
      { botToken: "1234567:abcdefghijklmnopqrstuv" },
    ],
    ["email", { recipient: "ada@example.com" }, { recipient: "ada@example.com" }, {}],
  ])("of type %s with %p stores its secrets separately", (type, sent, config, secrets) => {
    expect(newChannelConfig(type, sent)).toEqual({ config, secrets });
  });

  test.each<[string, ChannelType, Record<string, string>, string, string]>([
    ["nothing", "webhook", {}, "missing_required_parameter", "config.url"],
    ["no token", "webhook", { url: URL, authType: "bearer" }, "missing_required_parameter", "config.authToken"],
    [
      "no name of its header",
      "webhook",
      { url: URL, authType: "custom_header", authHeaderValue: "a-value!" },
      "missing_required_parameter",
      "config.authHeaderName",
    ],
    ["an address inside", "webhook", { url: "http://169.254.169.254/" }, "unsafe_url", "config.url"],
    ["an address inside", "slack", { url: "http://10.0.0.1/x" }, "unsafe_url", "config.url"],
    ["a URL as one is shown", "webhook", { url: redactUrl(URL) }, "unsupported_value", "config.url"],
    [
      "our signature's header",
      "webhook",
      { url: URL, authType: "custom_header", authHeaderName: "X-Webhook-Signature", authHeaderValue: "a-value!" },
      "unsupported_value",
      "config.authHeaderName",
    ],
    [
      "Content-Type",
      "webhook",
      { url: URL, authType: "custom_header", authHeaderName: "content-type", authHeaderValue: "a-value!" },
      "unsupported_value",
      "config.authHeaderName",
    ],
    [
      "a header's name with a space",
      "webhook",
      { url: URL, authHeaderName: "X Own" },
      "unsupported_value",
      "config.authHeaderName",
    ],
    [
      "a header's name with a colon",
      "webhook",
      { url: URL, authHeaderName: "X:Own" },
      "unsupported_value",
      "config.authHeaderName",
    ],
    [
      "a header's name with a line break",
      "webhook",
      { url: URL, authHeaderName: "X\r\nOwn" },
      "unsupported_value",
      "config.authHeaderName",
    ],
    [
      "a control character in a credential",
      "webhook",
      { url: URL, authToken: "a-token\nb" },
      "unsupported_value",
      "config.authToken",
    ],
    [
      "another type's member",
      "webhook",
      { url: URL, botToken: "1234567:abcdefghijklmnopqrstuv" },
      "unsupported_value",
      "config.botToken",
    ],
    ...["Host", "Content-Length", "transfer-encoding", "Connection", "Accept-Encoding", "TE", "Upgrade", "Expect"]
      .concat("Keep-Alive", "Trailer", "Proxy-Authorization", "webhook-id", "Webhook-Timestamp", "Webhook-Signature")
      .map((authHeaderName): [string, ChannelType, Record<string, string>, string, string] => [
        `the header ${authHeaderName}`,
        "webhook",
        { url: URL, authType: "custom_header", authHeaderName, authHeaderValue: "a-value!" },
        "unsupported_value",
        "config.authHeaderName",
      ]),
    ...["authToken", "authPassword", "authApiKey", "authHeaderValue"].map(
      (name): [string, ChannelType, Record<string, string>, string, string] => [
        `a short ${name}`,
        "webhook",
        { url: URL, [name]: "x".repeat(CREDENTIAL_CHARACTERS_MIN - 1) },
        "unsupported_value",
        `config.${name}`,
      ],
    ),
    ["two recipients", "email", { recipient: "a@example.com, b@example.com" }, "unsupported_value", "config.recipient"],
    [
      "a header in the recipient",
      "email",
      { recipient: "a@example.com\r\nBcc: b@example.com" },
      "unsupported_value",
      "config.recipient",
    ],
    [
      "no chat",
      "telegram",
      { botToken: "1234567:abcdefghijklmnopqrstuv" },
      "missing_required_parameter",
      "config.chatId",
    ],
    [
      "an odd chat",
      "telegram",
      { botToken: "1234567:abcdefghijklmnopqrstuv", chatId: "a b" },
      "unsupported_value",
      "config.chatId",
    ],
  ])("with %s is rejected (%s)", (_what, type, sent, code, param) => {
    const refused = refusal(() => newChannelConfig(type, sent));
    expect({ code: refused.code, param: refused.param }).toEqual({ code, param });
    // A value may be a secret.
    for (const value of Object.values(sent)) if (value.length > 6) expect(refused.message).not.toContain(value);
  });

  test("accepts credentials of the minimum length that is redacted in responses, and its own headers", () => {
    const authToken = "x".repeat(CREDENTIAL_CHARACTERS_MIN);
    expect(newChannelConfig("webhook", { url: URL, authToken }).secrets).toEqual({ url: URL, authToken });
    for (const authHeaderName of ["Authorization", "Cookie", "X-Webhook-Key", "User-Agent", "X-Host"]) {
      expect(newChannelConfig("webhook", { url: URL, authHeaderName }).config).toMatchObject({ authHeaderName });
    }
  });

  test("ignores unknown members", () => {
    expect(newChannelConfig("slack", { url: URL, colour: "red" }).config).toEqual({ url: redactUrl(URL) });
  });
});

describe("an updated config", () => {
  const stored = newChannelConfig("webhook", {
    url: URL,
    authType: "custom_header",
    authHeaderName: "X-Own",
    authHeaderValue: "a-value!",
    authToken: "a-token!",
  });

  test("keeps omitted credentials and the omitted URL, and nothing else", () => {
    expect(mergeChannelConfig("webhook", stored, {})).toEqual({
      config: { url: redactUrl(URL) },
      secrets: stored.secrets,
    });
  });

  test("clears empty credentials, and replaces others", () => {
    const { secrets } = mergeChannelConfig("webhook", stored, { authToken: "", authHeaderValue: "another!" });
    expect(secrets).toEqual({ url: URL, authHeaderValue: "another!" });
  });

  test("cannot clear required members", () => {
    expect(refusal(() => mergeChannelConfig("webhook", stored, { url: "" })).param).toBe("config.url");
    const telegram = newChannelConfig("telegram", { botToken: "1234567:abcdefghijklmnopqrstuv", chatId: "1" });
    expect(refusal(() => mergeChannelConfig("telegram", telegram, { botToken: "", chatId: "1" })).param).toBe(
      "config.botToken",
    );
    // The chat is no credential: it is what was sent, and nothing was.
    expect(refusal(() => mergeChannelConfig("telegram", telegram, {})).param).toBe("config.chatId");
  });

  describe("that moves the channel to another origin", () => {
    const moved = "https://elsewhere.example.com/services/T000";
    const bearer = newChannelConfig("webhook", { url: URL, authType: "bearer", authToken: "first-token" });
    const missing = { code: "missing_required_parameter", param: "config.authToken" };

    test("keeps the token unused, and requires it again for its use", () => {
      expect(refusal(() => mergeChannelConfig("webhook", bearer, { url: moved, authType: "bearer" }))).toMatchObject(
        missing,
      );
      const unused = mergeChannelConfig("webhook", bearer, { url: moved });
      expect(unused.config).toEqual({ url: redactUrl(moved) });
      expect(unused.secrets).toMatchObject({ url: moved, authToken: "first-token" });
      // By a second change it is not used either, nor by a third that moves on.
      expect(refusal(() => mergeChannelConfig("webhook", unused, { authType: "bearer" }))).toMatchObject(missing);
      const further = mergeChannelConfig("webhook", unused, { url: "https://third.example.com/" });
      expect(refusal(() => mergeChannelConfig("webhook", further, { authType: "bearer" }))).toMatchObject(missing);
      expect(refusal(() => mergeChannelConfig("webhook", unused, { authType: "bearer", authToken: "" }))).toMatchObject(
        missing,
      );
    });

    test("accepts a new token with it, which is stored normally", () => {
      const sent = { url: moved, authType: "bearer", authToken: "second-token" };
      const changed = mergeChannelConfig("webhook", bearer, sent);
      expect(changed).toEqual(newChannelConfig("webhook", sent));
      expect(
        mergeChannelConfig("webhook", changed, { url: `${moved}/more`, authType: "bearer" }).secrets,
      ).toMatchObject({
        authToken: "second-token",
      });
    });

    test("binds each credential to its original origin", () => {
      const both = mergeChannelConfig("webhook", bearer, { url: moved, authType: "api_key", authApiKey: "an-api-key" });
      expect(refusal(() => mergeChannelConfig("webhook", both, { authType: "bearer" }))).toMatchObject(missing);
      expect(mergeChannelConfig("webhook", both, { authType: "api_key" }).secrets).toMatchObject({
        authApiKey: "an-api-key",
      });
      // Back at its own, the first is used again, and the other is not.
      const back = mergeChannelConfig("webhook", both, { url: URL, authType: "bearer" });
      expect(refusal(() => mergeChannelConfig("webhook", back, { authType: "api_key" })).param).toBe(
        "config.authApiKey",
      );
    });

    test("includes another scheme or port, and excludes another path", () => {
      for (const url of ["http://hooks.example.com/services", "https://hooks.example.com:8443/services"]) {
        expect(refusal(() => mergeChannelConfig("webhook", bearer, { url, authType: "bearer" }))).toMatchObject(
          missing,
        );
      }
      for (const url of ["https://HOOKS.example.com:443/else", redactUrl(URL)]) {
        const { secrets } = mergeChannelConfig("webhook", bearer, { url, authType: "bearer" });
        expect(Object.keys(secrets).toSorted()).toEqual(["authToken", "url"]);
      }
    });
  });
});
