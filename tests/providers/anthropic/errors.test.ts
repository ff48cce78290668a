import { describe, expect, test } from "bun:test";

import { classifyAnswer, classifyErrorMember } from "#workers/providers/anthropic/errors.ts";
import type { ProviderErrorClass } from "#workers/providers/provider.ts";
import { VENDOR_MARK } from "#tests/providers/engine/behaviour.ts";
import { ERROR_NAMES, type ErrorName, ERRORS } from "./errors.ts";

const NONE = new Headers();

/** Error → class, and the code a client may see. */
const ROWS: Readonly<Record<ErrorName, readonly [ProviderErrorClass, string?]>> = {
  "context-length": ["rejected", "context_length_exceeded"],
  "context-limit": ["rejected", "context_length_exceeded"],
  "bad-request": ["rejected"],
  "content-policy": ["refused"],
  "credit-balance": ["misconfigured"],
  "usage-limit": ["misconfigured"],
  disabled: ["misconfigured"],
  "bad-image": ["rejected", "unprocessable_input"],
  unauthorized: ["misconfigured"],
  billing: ["misconfigured"],
  forbidden: ["misconfigured"],
  "not-found": ["misconfigured"],
  "too-large": ["rejected", "invalid_request"],
  "rate-limit": ["busy"],
  "server-error": ["failed"],
  timeout: ["timeout"],
  overloaded: ["busy"],
};

describe("an error answer", () => {
  test.each(ERROR_NAMES)("%s has its class and its code", (name) => {
    const { status } = ERRORS[name];
    const error = classifyAnswer(status, NONE, ERRORS[name].body);
    const [kind, code] = ROWS[name];
    expect([error.kind, error.code, error.status]).toEqual([kind, code as typeof error.code, status]);
    expect(error.detail).toContain(VENDOR_MARK);
    expect(error.say ?? "").not.toContain(VENDOR_MARK);
    expect(error.param).toBe(code === undefined ? null : "messages");
  });

  test.each<[number, ProviderErrorClass]>([
    [302, "failed"],
    [400, "rejected"],
    [401, "misconfigured"],
    [402, "misconfigured"],
    [403, "misconfigured"],
    [404, "misconfigured"],
    [405, "rejected"],
    [408, "timeout"],
    [409, "rejected"],
    [410, "misconfigured"],
    [413, "rejected"],
    [422, "rejected"],
    [429, "busy"],
    [500, "failed"],
    [502, "failed"],
    [503, "busy"],
    [504, "timeout"],
    [520, "failed"],
    [529, "busy"],
  ])("status %i alone is %s", (status, kind) => {
    const texts = ["", "{}", "null", '{"error":null}', '{"error":[]}', "<html>no</html>", '"text"', "[1]"];
    for (const text of [...texts, '{"type":"error","error":{"type":"toString","message":"m"}}']) {
      expect(classifyAnswer(status, NONE, text).kind).toBe(kind);
    }
  });

  test("is classified by its type before its status", () => {
    expect(classifyAnswer(500, NONE, ERRORS.overloaded.body).kind).toBe("busy");
    expect(classifyAnswer(400, NONE, ERRORS.forbidden.body).kind).toBe("misconfigured");
  });

  test("about our own limit is an internal error, by its text or its code", () => {
    const details = { error_code: "contract_spend_limit_reached" };
    for (const [status, type] of [
      [400, "invalid_request_error"],
      [429, "rate_limit_error"],
    ] as const) {
      const text = JSON.stringify({ type: "error", error: { type, message: "No.", details } });
      expect(classifyAnswer(status, NONE, text).kind).toBe("misconfigured");
    }
  });

  const SAID = [
    "Your credit balance is too low to access the Anthropic API",
    "You have reached your specified API usage limits.",
    "This organization has been disabled.",
    "contract_spend_limit_reached",
    "Output blocked by content filtering policy",
    "prompt is too long: 2 tokens > 1 maximum",
    "Could not process image",
  ];

  test.each(SAID)("with the caller's own text is not classified by it: %s", (said) => {
    for (const message of [`tools.0.custom.name: got '${said}'`, `unknown value ${said}`, `x\n${said}`]) {
      const bodyOf = (type: string): string => JSON.stringify({ type: "error", error: { type, message } });
      const rejected = classifyAnswer(400, NONE, bodyOf("invalid_request_error"));
      expect([rejected.kind, rejected.code]).toEqual(["rejected", undefined]);
      expect(classifyErrorMember({ type: "invalid_request_error", message })).toMatchObject({ kind: "rejected" });
      expect(classifyAnswer(429, NONE, bodyOf("rate_limit_error")).kind).toBe("busy");
      // Nor where nothing tells that the words are the vendor's own.
      expect(classifyAnswer(400, NONE, JSON.stringify({ error: { message: said } })).kind).toBe("rejected");
    }
  });

  test("about a context that is too long in another class changes nothing", () => {
    const text = JSON.stringify({ type: "error", error: { type: "api_error", message: "prompt is too long" } });
    expect(classifyAnswer(500, NONE, text)).toMatchObject({ kind: "failed", code: undefined });
  });

  test("contains the retry time, and at most 1,000 characters for the log", () => {
    const headers = new Headers({ "retry-after": "7" });
    expect(classifyAnswer(429, headers, ERRORS["rate-limit"].body).retryAfterMs).toBe(7_000);
    expect(classifyAnswer(529, NONE, ERRORS.overloaded.body).retryAfterMs).toBeUndefined();
    expect(classifyAnswer(500, NONE, "x".repeat(10_000)).detail).toHaveLength(1_000);
  });
});

describe("an error event", () => {
  const eventOf = (name: ErrorName): unknown => (JSON.parse(ERRORS[name].body) as { error: unknown }).error;

  test.each(ERROR_NAMES)("%s has its class and its code", (name) => {
    const error = classifyErrorMember(eventOf(name));
    const [kind, code] = ROWS[name];
    expect([error.kind, error.code]).toEqual([kind, code as typeof error.code]);
  });

  test.each<[string, unknown]>([
    ["of a type nobody knows", { type: "error", message: "test error" }],
    ["that is a text", "it broke"],
    ["that is empty", {}],
    ["that is nothing", undefined],
  ])("%s is a failure", (_name, value) => {
    expect(classifyErrorMember(value).kind).toBe("failed");
  });
});
