import { describe, expect, test } from "bun:test";

import { classifyAnswer } from "#workers/providers/deepgram/errors.ts";
import type { ProviderErrorClass } from "#workers/providers/provider.ts";
import { VENDOR_MARK } from "#tests/providers/engine/behaviour.ts";
import { ERROR_NAMES, type ErrorName, ERRORS } from "./errors.ts";

const LISTEN = { param: "file", hasLanguage: false } as const;
const SPEAK = { param: "input", hasLanguage: false } as const;

const MISCONFIGURED = { kind: "misconfigured", code: undefined, param: null };
const BUSY = { kind: "busy", code: undefined, param: null };
const FAILED = { kind: "failed", code: undefined, param: null };
const REJECTED = { kind: "rejected", code: undefined, param: null };
const UNREADABLE = { kind: "rejected", code: "unprocessable_input", param: "file" };

const EXPECTED: Readonly<Record<ErrorName, object>> = {
  "invalid-key": MISCONFIGURED,
  "invalid-key-newer": MISCONFIGURED,
  "no-credits": MISCONFIGURED,
  forbidden: MISCONFIGURED,
  "no-project": MISCONFIGURED,
  corrupt: UNREADABLE,
  "unknown-combination": MISCONFIGURED,
  "unknown-model": MISCONFIGURED,
  "bad-query": REJECTED,
  "bad-json": REJECTED,
  "too-long": { kind: "rejected", code: "invalid_request", param: "file" },
  "too-large": { kind: "rejected", code: "invalid_request", param: "file" },
  "slow-upload": FAILED,
  incomplete: FAILED,
  unprocessable: UNREADABLE,
  "wrong-type": UNREADABLE,
  "too-many": { ...BUSY, retryAfterMs: 3_000 },
  "too-many-newer": BUSY,
  "plain-text": REJECTED,
  "server-error": FAILED,
  unavailable: BUSY,
  timeout: { kind: "timeout", code: undefined, param: null },
};

describe("an error of Deepgram", () => {
  test.each(ERROR_NAMES)("%s has its class, and its public part", (name) => {
    const { status, headers, body } = ERRORS[name];
    const error = classifyAnswer(status, new Headers(headers), body, LISTEN);
    expect(error).toMatchObject({ ...EXPECTED[name], status });
    expect(error.say ?? "").not.toContain(VENDOR_MARK);
    if (body.includes(VENDOR_MARK)) expect(error.detail).toContain(VENDOR_MARK);
  });

  test("of speech refers to the text, never to a file", () => {
    for (const name of ERROR_NAMES) {
      const { status, headers, body } = ERRORS[name];
      expect(classifyAnswer(status, new Headers(headers), body, SPEAK)).not.toMatchObject({ param: "file" });
    }
    const { status, body } = ERRORS["too-long"];
    expect(classifyAnswer(status, new Headers(), body, SPEAK)).toMatchObject({
      kind: "rejected",
      code: "invalid_request",
      param: "input",
    });
  });

  test.each<[number, ProviderErrorClass]>([
    [302, "failed"],
    [400, "rejected"],
    [401, "misconfigured"],
    [402, "misconfigured"],
    [403, "misconfigured"],
    [404, "misconfigured"],
    [408, "timeout"],
    [410, "misconfigured"],
    [422, "rejected"],
    [429, "busy"],
    [500, "failed"],
    [502, "failed"],
    [503, "busy"],
    [504, "timeout"],
    [529, "busy"],
  ])("with status %i and no readable body is %s", (status, kind) => {
    for (const text of ["", "<html>", "null", "5", "[]", "{}", '{"err_code":null}', '{"category":{},"message":5}']) {
      expect(classifyAnswer(status, new Headers(), text, LISTEN).kind).toBe(kind);
    }
  });

  test("with a code named like an inherited member has its status' class", () => {
    expect(classifyAnswer(500, new Headers(), '{"err_code":"constructor"}', LISTEN).kind).toBe("failed");
  });

  test("truncates the text for the log", () => {
    expect(classifyAnswer(500, new Headers(), "x".repeat(9_999), LISTEN).detail).toHaveLength(500);
  });
});
