import { describe, expect, test } from "bun:test";

import { Call } from "#ingress/wait/call.ts";
import { validate } from "#shared/json/contracts.ts";
import type { Code } from "#shared/base/errors.ts";
import { newId } from "#shared/base/ids.ts";
import { UNMETERED } from "#ingress/core/call.ts";
import { NO_SPAN } from "#shared/tracing/tracing.ts";

const requestId = newId();

function open(): Call {
  return new Call(
    {
      jobId: newId(),
      workspaceId: newId(),
      requestId,
      startedAt: performance.now(),
      span: NO_SPAN,
      addCharge: UNMETERED.addCharge,
      waitMs: 600_000,
      queueMs: 60_000,
      requestBytes: 100,
      api: "anthropic",
      usageKind: "chat",
      pool: "chat",
    },
    { onEnd: () => Promise.resolve(true), onFirst: () => undefined, onSettlementPending: () => undefined },
  );
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const HEAD = { t: "head", n: 0, model: "m", upstream_ms: 1, nano: "0", tokens: 0 } as const;

describe("a stream for a client of Anthropic's API", () => {
  test.each<[Code, string]>([
    ["overloaded", "overloaded_error"],
    ["service_unavailable", "overloaded_error"],
    ["upstream_timeout", "timeout_error"],
    ["upstream_error", "api_error"],
    ["internal_error", "api_error"],
  ])("that fails with %s ends with an error event of type %s", async (code, type) => {
    const call = open();
    call.onFrame(HEAD, bytes("event: ping\ndata: {}\n\n"));
    call.onFrame({ t: "error", n: 1, code, message: "No more.", param: null, retry: false }, bytes(""));
    const text = await (await call.response).text();
    expect(text).toStartWith("event: ping\ndata: {}\n\nevent: error\ndata: ");
    const event: unknown = JSON.parse(text.slice(text.lastIndexOf("data: ") + "data: ".length));
    expect(event).toEqual({ type: "error", error: { type, message: "No more." }, request_id: requestId });
    expect(validate("MessageStreamEvent", event)).toBeNull();
  });

  test("that failed before its start has a status and no event", async () => {
    const call = open();
    call.onFrame({ t: "error", n: 0, code: "overloaded", message: "Busy.", param: null, retry: true }, bytes(""));
    expect(await call.response.catch((error: unknown) => error)).toMatchObject({ code: "overloaded" });
  });
});
