import { describe, expect, test } from "bun:test";

import { classifyAnswer } from "#workers/providers/elevenlabs/errors.ts";
import type { ProviderErrorClass } from "#workers/providers/provider.ts";
import { VENDOR_MARK } from "#tests/providers/engine/behaviour.ts";
import { ERROR_NAMES, type ErrorName, ERRORS } from "./errors.ts";

const MISCONFIGURED = { kind: "misconfigured", code: undefined, param: null };
const BUSY = { kind: "busy", code: undefined, param: null };
const FAILED = { kind: "failed", code: undefined, param: null };
const VOICE = { kind: "rejected", code: "unsupported_value", param: "voice" };
const REJECTED = { kind: "rejected", code: undefined, param: null };

const EXPECTED: Readonly<Record<ErrorName, object>> = {
  "invalid-key": MISCONFIGURED,
  quota: MISCONFIGURED,
  "missing-permissions": MISCONFIGURED,
  "unusual-activity": MISCONFIGURED,
  "payment-required": MISCONFIGURED,
  "format-not-allowed": MISCONFIGURED,
  "voice-not-found": VOICE,
  "voice-not-found-400": VOICE,
  "voice-malformed": VOICE,
  "too-long": { kind: "rejected", code: "invalid_request", param: "input" },
  "model-not-found": MISCONFIGURED,
  "unknown-model": MISCONFIGURED,
  "against-policy": { kind: "refused", code: undefined, param: null },
  "bad-audio": { kind: "rejected", code: "unprocessable_input", param: "file" },
  "too-large": { kind: "rejected", code: "invalid_request", param: "file" },
  "too-many": { ...BUSY, retryAfterMs: 3_000 },
  "too-many-newer": BUSY,
  busy: BUSY,
  "fault-speed": { kind: "rejected", code: "unsupported_value", param: "speed" },
  "fault-text": { kind: "rejected", code: "unsupported_value", param: "input" },
  "fault-model": MISCONFIGURED,
  "fault-format": MISCONFIGURED,
  "fault-body": REJECTED,
  "plain-detail": MISCONFIGURED,
  "plain-detail-405": REJECTED,
  "server-error": FAILED,
  unavailable: BUSY,
};

describe("an error of ElevenLabs", () => {
  test.each(ERROR_NAMES)("%s has its class, and its public part", (name) => {
    const { status, headers, body } = ERRORS[name];
    const error = classifyAnswer(status, new Headers(headers), body);
    expect(error).toMatchObject({ ...EXPECTED[name], status });
    expect(error.say ?? "").not.toContain(VENDOR_MARK);
    if (body.includes(VENDOR_MARK)) expect(error.detail).toContain(VENDOR_MARK);
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
    for (const text of [
      "",
      "<html>",
      "null",
      "5",
      "[]",
      '{"detail":null}',
      '{"detail":[]}',
      '{"detail":[null]}',
      '{"detail":{}}',
    ]) {
      expect(classifyAnswer(status, new Headers(), text).kind).toBe(kind);
    }
  });

  test("with a code named like an inherited member has its status' class", () => {
    const body = JSON.stringify({ detail: { status: "constructor", message: "?" } });
    expect(classifyAnswer(500, new Headers(), body).kind).toBe("failed");
    const fault = JSON.stringify({ detail: [{ loc: ["body", "toString"], msg: "?" }] });
    expect(classifyAnswer(422, new Headers(), fault)).toMatchObject({ kind: "misconfigured", param: null });
  });

  test("truncates the text for the log", () => {
    expect(classifyAnswer(500, new Headers(), "x".repeat(9_999)).detail).toHaveLength(500);
  });
});
