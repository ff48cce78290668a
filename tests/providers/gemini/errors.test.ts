import { describe, expect, test } from "bun:test";

import { ERROR_NAMES, type ErrorName, ERRORS } from "./errors.ts";
import { classifyAnswer, classifyErrorMember } from "#workers/providers/gemini/errors.ts";
import type { ProviderErrorClass } from "#workers/providers/provider.ts";

const NONE = new Headers();

interface Row {
  readonly kind: ProviderErrorClass;
  readonly code?: string;
  readonly param?: string;
  readonly retryAfterMs?: number;
}

const TABLE: Readonly<Record<ErrorName, Row>> = {
  "invalid-argument": { kind: "rejected" },
  "too-long": { kind: "rejected", code: "context_length_exceeded", param: "messages" },
  "key-invalid": { kind: "misconfigured" },
  precondition: { kind: "misconfigured" },
  unauthenticated: { kind: "misconfigured" },
  "permission-denied": { kind: "misconfigured" },
  "not-found": { kind: "misconfigured" },
  "rate-limit": { kind: "busy", retryAfterMs: 34_400 },
  "rate-limit-bare": { kind: "busy" },
  depleted: { kind: "misconfigured" },
  cancelled: { kind: "failed" },
  internal: { kind: "failed" },
  unavailable: { kind: "busy" },
  deadline: { kind: "timeout" },
};

describe("Google's errors", () => {
  test.each(ERROR_NAMES)("%s, as a status and inside a 200", (name) => {
    const { status, body } = ERRORS[name];
    const wanted = { code: undefined, param: null, retryAfterMs: undefined, ...TABLE[name], status };
    expect(classifyAnswer(status, NONE, body)).toMatchObject(wanted);
    const { error } = JSON.parse(body) as { error: unknown };
    expect(classifyErrorMember(error)).toMatchObject(wanted);
  });

  test("are read as the one element of a list, too", () => {
    const { status, body } = ERRORS["rate-limit"];
    expect(classifyAnswer(status, NONE, `[${body}]`)).toMatchObject(TABLE["rate-limit"]);
  });

  test.each<[number, ProviderErrorClass]>([
    [400, "rejected"],
    [401, "misconfigured"],
    [402, "misconfigured"],
    [403, "misconfigured"],
    [404, "misconfigured"],
    [408, "timeout"],
    [410, "misconfigured"],
    [413, "rejected"],
    [422, "rejected"],
    [429, "busy"],
    [499, "rejected"],
    [500, "failed"],
    [502, "failed"],
    [503, "busy"],
    [504, "timeout"],
    [529, "busy"],
    [302, "failed"],
  ])("a %i without details is %s", (status, kind) => {
    for (const text of ["", "<html>", "{}", "null", "[]", '{"error":null}', '{"error":{"status":"NEW_WORD"}}']) {
      expect(classifyAnswer(status, NONE, text).kind).toBe(kind);
    }
  });

  test("the status name takes precedence over the number", () => {
    const text = '{"error":{"code":400,"message":"m","status":"UNAVAILABLE"}}';
    expect(classifyAnswer(400, NONE, text).kind).toBe("busy");
    expect(classifyAnswer(500, NONE, '{"error":{"status":"toString"}}').kind).toBe("failed");
  });

  const rejection = (message: string, details: readonly object[] = []): string =>
    JSON.stringify({ error: { code: 400, status: "INVALID_ARGUMENT", message, details } });
  const violation = {
    "@type": "type.googleapis.com/google.rpc.BadRequest",
    fieldViolations: [{ field: "contents[0].parts[0].inline_data.data", description: "Base64 decoding failed" }],
  };

  test.each([
    ["quoted further in", 'Base64 decoding failed for "API key not valid"', []],
    ["quoted at the start, of a field", "API key not valid is no base64", [violation]],
    ["as part of a longer word", "API key not validated", []],
  ])("a caller's own text never makes our key look rejected: %s", (_name, message, details) => {
    expect(classifyAnswer(400, NONE, rejection(message, details)).kind).toBe("rejected");
  });

  test.each<[string, number, string]>([
    ["its words", 400, rejection("API key expired. Please renew the API key.")],
    ["the reason in its details", 400, rejection("No.", [violation, { reason: "API_KEY_INVALID" }])],
    ["a 401, whatever its word", 401, rejection("No.")],
    ["a 403, whatever its word", 403, rejection("No.")],
  ])("our rejected key is recognised by %s", (_name, status, text) => {
    expect(classifyAnswer(status, NONE, text).kind).toBe("misconfigured");
  });

  test("inside a 200, without name and number, is a failure", () => {
    for (const error of [true, "it broke", {}, { code: 7 }, { code: "429" }, []]) {
      expect(classifyErrorMember(error).kind).toBe("failed");
    }
    expect(classifyErrorMember({ code: 429 }).kind).toBe("busy");
  });

  test("text about length in another class changes nothing", () => {
    const text = '{"error":{"code":500,"message":"The input token count exceeds it","status":"INTERNAL"}}';
    expect(classifyAnswer(500, NONE, text).code).toBeUndefined();
  });

  test("keep at most 1,000 characters for the log", () => {
    expect(classifyAnswer(500, NONE, "x".repeat(10_000)).detail).toHaveLength(1_000);
  });
});

describe("the retry time", () => {
  const delay = (retryDelay: unknown): string =>
    JSON.stringify({ error: { status: "RESOURCE_EXHAUSTED", details: [{ retryDelay }] } });

  test.each<[unknown, number | undefined]>([
    ["34.4s", 34_400],
    ["0s", 0],
    ["0.847655010s", 848],
    ["9999999s", 3_600_000],
    ["soon", undefined],
    ["-5s", undefined],
    ["s", undefined],
    ["5", undefined],
    [5, undefined],
    [null, undefined],
  ])("retryDelay %j", (given, expected) => {
    expect(classifyAnswer(429, NONE, delay(given)).retryAfterMs).toBe(expected);
  });

  test("in the headers counts if the details have none", () => {
    const headers = new Headers({ "retry-after": "7" });
    expect(classifyAnswer(429, headers, "").retryAfterMs).toBe(7_000);
    expect(classifyAnswer(429, headers, delay("1s")).retryAfterMs).toBe(1_000);
  });
});
