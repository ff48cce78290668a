/** What a channel can be set to. What comes of it against a receiver: tests/e2e/notifications. */
import { describe, expect, test } from "bun:test";

import { ApiError } from "#shared/errors.ts";
import { type ChannelType, mergeChannelConfig, newChannelConfig } from "#shared/notifications/channel-config.ts";
import { looksRedacted, redactUrl } from "#shared/notifications/redacted-url.ts";

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
  test("is shown as its origin and its last four characters", () => {
    expect(redactUrl(URL)).toBe("https://hooks.example.com/…EFGH");
    expect(redactUrl("https://a.example:8443/x?key=1234567")).toBe("https://a.example:8443/…4567");
  });

  test.each([
    "https://hooks.example.com/…EFGH",
    "https://x.example/%E2%80%A6EFGH",
    "…",
    "https://x.example/%e2%80%a6abcd",
  ])("%s looks like one that is shown", (text) => expect(looksRedacted(text)).toBe(true));

  test.each([URL, "https://x.example/", "https://x.example/a/%E2%80%A6"])("%s does not", (text) =>
    expect(looksRedacted(text)).toBe(false),
  );
});

describe("a new channel", () => {
  test.each<[ChannelType, Record<string, string>, Record<string, string>, Record<string, string>]>([
    ["webhook", { url: URL }, { url: redactUrl(URL) }, { url: URL }],
    [
      "webhook",
      { url: URL, authType: "basic", authUsername: "ada", authPassword: "p" },
      { url: redactUrl(URL), authType: "basic", authUsername: "ada" },
      { url: URL, authPassword: "p" },
    ],
    ["slack", { url: URL }, { url: redactUrl(URL) }, { url: URL }],
    [
      "telegram",
      { botToken: "1234567:abcdefghijklmnopqrstuv", chatId: "-1001234567890" },
      { chatId: "-1001234567890" },
      { botToken: "1234567:abcdefghijklmnopqrstuv" },
    ],
    ["email", { recipient: "ada@example.com" }, { recipient: "ada@example.com" }, {}],
  ])("of type %s with %p keeps its secrets apart", (type, sent, config, secrets) => {
    expect(newChannelConfig(type, sent)).toEqual({ config, secrets });
  });

  test.each<[string, ChannelType, Record<string, string>, string, string]>([
    ["nothing", "webhook", {}, "missing_required_parameter", "config.url"],
    ["no token", "webhook", { url: URL, authType: "bearer" }, "missing_required_parameter", "config.authToken"],
    [
      "no name of its header",
      "webhook",
      { url: URL, authType: "custom_header", authHeaderValue: "v" },
      "missing_required_parameter",
      "config.authHeaderName",
    ],
    ["an address inside", "webhook", { url: "http://169.254.169.254/" }, "unsafe_url", "config.url"],
    ["an address inside", "slack", { url: "http://10.0.0.1/x" }, "unsafe_url", "config.url"],
    ["a URL as one is shown", "webhook", { url: redactUrl(URL) }, "unsupported_value", "config.url"],
    [
      "our signature's header",
      "webhook",
      { url: URL, authType: "custom_header", authHeaderName: "X-Webhook-Signature", authHeaderValue: "v" },
      "unsupported_value",
      "config.authHeaderName",
    ],
    [
      "Content-Type",
      "webhook",
      { url: URL, authType: "custom_header", authHeaderName: "content-type", authHeaderValue: "v" },
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
      { url: URL, authToken: "a\nb" },
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
  ])("with %s is refused (%s)", (_what, type, sent, code, param) => {
    const refused = refusal(() => newChannelConfig(type, sent));
    expect({ code: refused.code, param: refused.param }).toEqual({ code, param });
    // A value may be a secret.
    for (const value of Object.values(sent)) if (value.length > 6) expect(refused.message).not.toContain(value);
  });

  test("passes over members that we do not know", () => {
    expect(newChannelConfig("slack", { url: URL, colour: "red" }).config).toEqual({ url: redactUrl(URL) });
  });
});

describe("a config that is sent later", () => {
  const stored = newChannelConfig("webhook", {
    url: URL,
    authType: "custom_header",
    authHeaderName: "X-Own",
    authHeaderValue: "v",
    authToken: "t",
  });

  test("keeps credentials and the URL, and nothing else, of what it leaves out", () => {
    expect(mergeChannelConfig("webhook", stored, {})).toEqual({
      config: { url: redactUrl(URL) },
      secrets: stored.secrets,
    });
  });

  test("clears credentials that are empty, replaces those that are not", () => {
    const { secrets } = mergeChannelConfig("webhook", stored, { authToken: "", authHeaderValue: "w" });
    expect(secrets).toEqual({ url: URL, authHeaderValue: "w" });
  });

  test("cannot clear what the channel needs", () => {
    expect(refusal(() => mergeChannelConfig("webhook", stored, { url: "" })).param).toBe("config.url");
    const telegram = newChannelConfig("telegram", { botToken: "1234567:abcdefghijklmnopqrstuv", chatId: "1" });
    expect(refusal(() => mergeChannelConfig("telegram", telegram, { botToken: "", chatId: "1" })).param).toBe(
      "config.botToken",
    );
    // The chat is no credential: it is what was sent, and nothing was.
    expect(refusal(() => mergeChannelConfig("telegram", telegram, {})).param).toBe("config.chatId");
  });
});
