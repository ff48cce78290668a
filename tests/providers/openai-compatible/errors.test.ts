import { describe, expect, test } from "bun:test";

import { classifyAnswer, classifyErrorMember } from "#workers/providers/openai-compatible/errors.ts";
import type { ProviderErrorClass } from "#workers/providers/provider.ts";
import { retryAfter } from "#workers/providers/retry-after.ts";
import { ERROR_NAMES, type ErrorName, ERRORS } from "./errors.ts";

const NONE = new Headers();

const body = (code: unknown, type: string = "invalid_request_error", message: string = "No."): string =>
  JSON.stringify({ error: { message, type, param: null, code } });

const xai = (code: string, error: string): string => JSON.stringify({ code, error });
const DENIED = "The caller does not have permission to execute the specified operation";

const moderated = (metadata: unknown): string =>
  JSON.stringify({ error: { code: 403, message: "Your input was flagged", metadata } });

describe("an error answer", () => {
  const named: Readonly<Record<ErrorName, ProviderErrorClass>> = {
    "context-length": "rejected",
    "bad-request": "rejected",
    "content-policy": "refused",
    unauthorized: "misconfigured",
    quota: "misconfigured",
    forbidden: "misconfigured",
    "model-not-found": "misconfigured",
    "too-large": "rejected",
    unprocessable: "rejected",
    "rate-limit": "busy",
    "server-error": "failed",
    "bad-gateway": "failed",
    overloaded: "busy",
    "overloaded-529": "busy",
  };

  test.each(ERROR_NAMES)("OpenAI's %s has its class", (name) => {
    const reply = ERRORS[name];
    const error = classifyAnswer(reply.status, new Headers(reply.headers), ERRORS[name].body);
    expect(error.kind).toBe(named[name]);
    expect(error.status).toBe(reply.status);
  });

  test.each<[number, ProviderErrorClass]>([
    [302, "failed"],
    [400, "rejected"],
    [401, "misconfigured"],
    [402, "misconfigured"],
    [403, "failed"],
    [404, "failed"],
    [405, "rejected"],
    [408, "timeout"],
    [409, "rejected"],
    [410, "rejected"],
    [413, "rejected"],
    [415, "rejected"],
    [422, "rejected"],
    [429, "busy"],
    [499, "rejected"],
    [500, "failed"],
    [502, "failed"],
    [503, "busy"],
    [504, "timeout"],
    [520, "failed"],
    [529, "busy"],
  ])("status %i alone is %s", (status, kind) => {
    for (const text of ["", "{}", "null", '{"error":null}', '{"error":[]}', "<html>no</html>", '"text"', "[1]"]) {
      expect(classifyAnswer(status, NONE, text).kind).toBe(kind);
    }
  });

  test.each<[string, number, string, ProviderErrorClass]>([
    ["a quota of ours that is used up", 429, body("insufficient_quota", "insufficient_quota"), "misconfigured"],
    ["a quota named as type only", 403, body(null, "insufficient_quota"), "misconfigured"],
    ["a missing model told as 400", 400, body("model_not_found"), "misconfigured"],
    ["a spent account told as 400", 400, body("billing_hard_limit_reached"), "misconfigured"],
    ["a refusal told as 400", 400, body("content_policy_violation"), "refused"],
    ["a refusal told as 500", 500, body("content_filter"), "refused"],
    ["a blocked moderation", 400, body("moderation_blocked"), "refused"],
    ["Azure's refusal", 400, body("responsible_ai_policy_violation"), "refused"],
    ["a rate limit told as 413", 413, body("rate_limit_exceeded", "tokens"), "busy"],
    ["an overload told as 500", 500, body(null, "overloaded_error"), "busy"],
    ["a prompt OpenAI flagged", 400, body("invalid_prompt"), "refused"],
    ["a policy named in other words", 403, body("content_policy_blocked"), "refused"],
    ["a policy named as type only", 400, body(null, "content_policy_error"), "refused"],
    ["an input OpenRouter flagged", 403, moderated({ flagged_input: "…", reasons: ["violence"] }), "refused"],
    ["an input flagged without a quotation", 403, moderated({ reasons: [] }), "refused"],
    ["a 403 of another kind", 403, moderated({ provider_name: "x" }), "failed"],
    ["a 403 with odd metadata", 403, moderated("reasons"), "failed"],
    ["a 400 that says what was odd in it", 400, moderated({ reasons: ["x"] }), "rejected"],
    ["no host for such a call", 404, body(404, "", "No endpoints found that support tool use. To learn"), "failed"],
    ["a model that quotes those words", 404, body(404, "", "no such model: No endpoints found"), "misconfigured"],
    ["a context that is too long, told as 500", 500, body("context_length_exceeded"), "rejected"],
    ["a call the model of Groq wrote wrongly", 400, body("tool_use_failed"), "failed"],
    ["an object the model of Groq wrote wrongly", 400, body("json_validate_failed"), "failed"],
    ["DeepSeek's refusal", 400, body("invalid_request_error", "x", "Content Exists Risk"), "refused"],
    ["DeepSeek's refusal under another status", 500, body(null, "x", "Content Exists Risk"), "refused"],
    [
      "words that only mention risk",
      400,
      body(null, "x", "Expected a text; such content exists risk-free."),
      "rejected",
    ],
    ["xAI's refusal", 403, xai(DENIED, "Content violates usage guidelines. Team: t, API key ID: k"), "refused"],
    [
      "xAI's account without credits",
      403,
      xai(DENIED, "Your newly created team doesn't have any credits."),
      "misconfigured",
    ],
    ["xAI's key without rights", 403, xai("permission-denied", "Access is denied."), "misconfigured"],
    ["a field that xAI took out", 410, xai("", "Live search is deprecated. Please switch to Tools."), "rejected"],
    [
      "a field that xAI took out, without a code",
      410,
      JSON.stringify({ error: "Live search is deprecated." }),
      "rejected",
    ],
    [
      "a model that is no more",
      410,
      JSON.stringify({ detail: "The model 'a/b' has reached its end of life" }),
      "misconfigured",
    ],
    ["older vLLM's missing model", 404, JSON.stringify({ message: "The model `a` does not exist." }), "misconfigured"],
    ["a key that is refused, in words alone", 403, body(null, "x", "Incorrect API key provided."), "misconfigured"],
    ["words about a key in a page of a firewall", 403, "<p>Your API key was blocked</p>", "failed"],
    ["what a call named that is not there", 404, body(null, "x", "No response 'model not found' is stored."), "failed"],
  ])("the body decides before the status: %s", (_name, status, text, kind) => {
    expect(classifyAnswer(status, NONE, text).kind).toBe(kind);
  });

  test.each([
    ["its code", 400, body("context_length_exceeded")],
    ["OpenAI's words", 400, body(null, "x", "This model's maximum context length is 8192 tokens.")],
    ["Anthropic's words", 400, body(null, "x", "prompt is too long: 300000 tokens > 200000 maximum")],
    ["words in a 413", 413, body(null, "x", "This model's maximum context length is 8192 tokens.")],
  ])("a context that is too long is recognised by %s", (_name, status, text) => {
    expect(classifyAnswer(status, NONE, text).code).toBe("context_length_exceeded");
  });

  test("text about the context in another class changes nothing", () => {
    expect(classifyAnswer(500, NONE, body(null, "x", "maximum context length")).code).toBeUndefined();
  });

  test.each(["unsupported_value", "unsupported_parameter"])("%s becomes unsupported_value for the client", (code) => {
    // The shape is OpenAI's answer to `max_tokens` on a reasoning model.
    const text = JSON.stringify({
      error: { message: "No.", type: "invalid_request_error", param: "max_tokens", code },
    });
    expect(classifyAnswer(400, NONE, text)).toMatchObject({
      kind: "rejected",
      code: "unsupported_value",
      param: "max_tokens",
    });
  });

  test("names a parameter only if it has the form of one", () => {
    const paramOf = (param: unknown): string | null =>
      classifyAnswer(400, NONE, JSON.stringify({ error: { message: "No.", param } })).param;
    expect(paramOf("messages[0].content")).toBe("messages[0].content");
    expect(paramOf("messages.[1].tool_calls")).toBe("messages.[1].tool_calls");
    for (const odd of ["", 7, null, {}, "http://10.0.0.7/v1", "the prompt was: hello", "x".repeat(200)]) {
      expect(paramOf(odd)).toBeNull();
    }
  });

  test("keeps at most 1,000 characters for the log", () => {
    expect(classifyAnswer(500, NONE, "x".repeat(10_000)).detail).toHaveLength(1_000);
    expect(classifyAnswer(500, NONE, body(null, "x", "y".repeat(10_000))).detail).toHaveLength(1_000);
  });

  test("accepts an error in plain text", () => {
    expect(classifyAnswer(429, NONE, '{"error":"slow down"}')).toMatchObject({ kind: "busy", detail: "slow down" });
  });
});

describe("an error inside a 200", () => {
  test.each<[string, unknown, ProviderErrorClass]>([
    ["OpenAI's", { message: "m", type: "server_error", code: null }, "failed"],
    ["a number as code", { message: "m", code: 429 }, "busy"],
    ["a number as text", { message: "m", code: "503" }, "busy"],
    ["vLLM's", { object: "error", message: "m", type: "BadRequestError", code: 400 }, "rejected"],
    ["a request at fault, without a number", { message: "m", type: "invalid_request_error" }, "rejected"],
    ["a refusal", { message: "m", code: "content_filter" }, "refused"],
    ["a flagged input", { message: "m", code: 403, metadata: { flagged_input: "x" } }, "refused"],
    ["a call without a host", { message: "No endpoints found that support image input", code: 404 }, "failed"],
    [
      "a call Groq's model wrote wrongly",
      { message: "m", type: "invalid_request_error", code: "tool_use_failed" },
      "failed",
    ],
    ["a refusal in words", { message: "Content Exists Risk", type: "invalid_request_error" }, "refused"],
    ["something that is not there", { message: "m", code: 404 }, "failed"],
    ["a spent quota", { message: "m", code: "insufficient_quota" }, "misconfigured"],
    ["a rate limit", { message: "m", code: "rate_limit_exceeded", type: "tokens" }, "busy"],
    ["an overload", { message: "m", type: "overloaded_error" }, "busy"],
    ["a number that is no status", { message: "m", code: 7 }, "failed"],
    ["a text", "it broke", "failed"],
    ["an empty object", {}, "failed"],
    ["true", true, "failed"],
  ])("%s has its class", (_name, error, kind) => {
    expect(classifyErrorMember(error).kind).toBe(kind);
  });

  test("a context that is too long is recognised there too", () => {
    const words = {
      message: "This model's maximum context length is 4096 tokens.",
      type: "BadRequestError",
      code: 400,
    };
    expect(classifyErrorMember(words).code).toBe("context_length_exceeded");
    expect(classifyErrorMember({ code: "context_length_exceeded" }).code).toBe("context_length_exceeded");
  });
});

describe("the retry time", () => {
  const now = Date.parse("2026-11-20T12:00:00Z");
  const hour = 3_600_000;

  test.each<[string, Record<string, string>, number | undefined]>([
    ["seconds", { "retry-after": "7" }, 7_000],
    ["no time at all", { "retry-after": "0" }, 0],
    ["fractions of seconds", { "retry-after": "1.5" }, 1_500],
    ["milliseconds", { "retry-after-ms": "150" }, 150],
    ["milliseconds before seconds", { "retry-after-ms": "150", "retry-after": "9" }, 150],
    ["a date", { "retry-after": "Fri, 20 Nov 2026 12:00:30 GMT" }, 30_000],
    ["a date that has passed", { "retry-after": "Fri, 20 Nov 2026 11:00:00 GMT" }, 0],
    ["a date far away is capped", { "retry-after": "Wed, 21 Oct 2065 07:28:00 GMT" }, hour],
    ["seconds beyond reason are capped", { "retry-after": "99999999" }, hour],
    ["seconds beyond numbers are capped", { "retry-after": "9".repeat(400) }, hour],
    ["milliseconds beyond reason are capped", { "retry-after-ms": "99999999999" }, hour],
    ["nothing", {}, undefined],
    ["an empty value", { "retry-after": "" }, undefined],
    ["empty milliseconds", { "retry-after-ms": "" }, undefined],
    ["a negative number", { "retry-after": "-5" }, undefined],
    ["negative milliseconds", { "retry-after-ms": "-5" }, undefined],
    ["words", { "retry-after": "soon" }, undefined],
    ["odd milliseconds, good seconds", { "retry-after-ms": "soon", "retry-after": "3" }, 3_000],
    ["hexadecimal", { "retry-after": "0x10" }, undefined],
    ["infinity", { "retry-after": "Infinity" }, undefined],
  ])("%s", (_name, headers, expected) => {
    expect(retryAfter(new Headers(headers), now)).toBe(expected);
  });

  test("travels with the error", () => {
    expect(classifyAnswer(429, new Headers({ "retry-after": "7" }), "").retryAfterMs).toBe(7_000);
    expect(classifyAnswer(429, NONE, "").retryAfterMs).toBeUndefined();
  });
});
