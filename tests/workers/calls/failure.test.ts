import { describe, expect, test } from "bun:test";

import { VENDOR_MARK } from "#tests/providers/engine/behaviour.ts";
import { type AbortReason, jobAbort } from "#workers/job.ts";
import { type ChatFailure, explainFailure, tooLongMessage } from "#workers/calls/failure.ts";
import { ProviderError, type ProviderErrorClass } from "#workers/providers/provider.ts";

const failure = (kind: ProviderErrorClass, options: ConstructorParameters<typeof ProviderError>[2] = {}): ChatFailure =>
  explainFailure(new ProviderError(kind, VENDOR_MARK, options), undefined);

describe("a provider's error for a client", () => {
  test.each<[ProviderErrorClass, Partial<ChatFailure>]>([
    ["rejected", { code: "invalid_request", kind: "rejected" }],
    ["refused", { code: "upstream_refused", kind: "refused" }],
    ["misconfigured", { code: "model_unavailable", kind: "misconfigured" }],
    ["busy", { code: "overloaded", kind: "busy" }],
    ["failed", { code: "upstream_error", kind: "failed" }],
    ["timeout", { code: "upstream_timeout", kind: "timeout" }],
    ["aborted", { code: "upstream_error", kind: "failed" }],
  ])("of class %s", (kind, expected) => {
    // A provider that ran out of time may have done the work, and a setup is not repaired within seconds.
    const retry = kind !== "timeout" && kind !== "misconfigured";
    expect(failure(kind)).toMatchObject({ ...expected, status: "failed", retry, param: null });
  });

  test.each(["context_length_exceeded", "unsupported_value"] as const)("of code %s is that code", (code) => {
    expect(failure("rejected", { code, param: "messages" })).toMatchObject({ code, param: "messages" });
    expect(failure("failed", { code, param: "messages" })).toMatchObject({ code: "upstream_error", param: null });
  });

  test("never contains the vendor's own text", () => {
    for (const kind of ["rejected", "refused", "misconfigured", "busy", "failed", "timeout", "aborted"] as const) {
      expect(JSON.stringify(failure(kind))).not.toContain(VENDOR_MARK);
    }
  });

  test("is one plain sentence", () => {
    for (const kind of ["rejected", "refused", "misconfigured", "busy", "failed", "timeout"] as const) {
      expect(failure(kind).message).toMatch(/^[A-Z][^.\n{]*\.$/);
    }
  });

  test("contains the retry time, in whole seconds", () => {
    expect(failure("busy", { retryAfterMs: 7_000 }).retryAfterS).toBe(7);
    expect(failure("busy", { retryAfterMs: 1 }).retryAfterS).toBe(1);
    expect(failure("busy", { retryAfterMs: 0 }).retryAfterS).toBe(0);
    expect(failure("busy")).not.toHaveProperty("retryAfterS");
  });
});

describe("a conversation that is too long, for clients of Anthropic's API", () => {
  test.each<[string, string]>([
    ["prompt is too long: 208310 tokens > 200000 maximum", "208310 tokens > 200000"],
    ["input length and `max_tokens` exceed context limit: 199000 + 21333 > 200000, decrease", "220333 tokens > 200000"],
    [
      "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
      "9000 tokens > 8192",
    ],
    [
      "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4000 in the messages)",
      "5000 tokens > 4096",
    ],
    [
      "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000 tokens.",
      "300000 tokens > 272000",
    ],
    [
      "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
      "1200000 tokens > 1048576",
    ],
  ])("has both numbers of its provider: %s", (detail, numbers) => {
    expect(tooLongMessage(detail, 5)).toBe(`prompt is too long: ${numbers} maximum`);
  });

  test("starts equally if its provider names no numbers", () => {
    expect(tooLongMessage(`no numbers ${VENDOR_MARK}`, 5)).toBe(
      "prompt is too long: the messages are longer than the model's context of 5 tokens",
    );
    expect(tooLongMessage("", undefined)).toMatch(/^prompt is too long: [^0-9]*$/);
  });
});

describe("an ended job for a client", () => {
  test.each<[AbortReason, Partial<ChatFailure>]>([
    ["deadline", { code: "upstream_timeout", status: "failed", retry: false }],
    ["shutdown", { code: "service_unavailable", status: "failed", retry: true }],
    ["caller_left", { code: "service_unavailable", status: "cancelled", retry: false }],
    ["caller_gone", { code: "service_unavailable", status: "cancelled", retry: false }],
  ])("%s", (reason, expected) => {
    const thrown = new ProviderError("aborted", "the call was aborted");
    expect(explainFailure(thrown, jobAbort(reason))).toMatchObject({ ...expected, kind: reason, param: null });
  });

  test("the end of the job explains every error caused by it", () => {
    for (const thrown of [new Error("socket"), new TypeError("fetch failed"), "text"]) {
      expect(explainFailure(thrown, jobAbort("deadline"))).toMatchObject({ code: "upstream_timeout" });
    }
  });
});

test("an internal error is no provider failure: it is rethrown", () => {
  const bug = new TypeError("undefined is not a function");
  expect(() => explainFailure(bug, undefined)).toThrow(bug);
});
