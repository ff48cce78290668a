import { expect, test } from "bun:test";

import { failureEventsOf, responseOf } from "#ingress/core/response-object.ts";
import { Call } from "#ingress/wait/call.ts";
import { newId } from "#shared/base/ids.ts";
import { eventsOf } from "#tests/workers/calls/chat/responses-stream-grammar.ts";
import { createResponsesRendering } from "#workers/calls/chat/responses-render.ts";
import { UNMETERED } from "#ingress/core/call.ts";
import { NO_SPAN } from "#shared/tracing/tracing.ts";

const requestId = newId();

test("a failed Responses stream ends with both forms of its error, the failed response and [DONE], in sequence", async () => {
  const response = responseOf({ model: "asked", input: "hi" }, requestId, 1_000);
  const call = new Call(
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
      api: "responses",
      usageKind: "chat",
      failureEvents: failureEventsOf(response),
      pool: "chat",
    },
    { onEnd: () => Promise.resolve(true), onFirst: () => undefined, onSettlementPending: () => undefined },
  );
  const rendering = createResponsesRendering({ response, model: "m", logprobs: false });
  const choices = (content: string) => [{ index: 0, delta: { content } }];
  const bytes = Buffer.from(
    rendering.chunk({ choices: choices("One\n") }) + rendering.chunk({ choices: choices("two") }),
  );
  // Frames are cut anywhere.
  call.onFrame({ t: "head", n: 0, model: "m", upstream_ms: 1, nano: "0", tokens: 0 }, bytes.subarray(0, 100));
  call.onFrame({ t: "delta", n: 1, nano: "0", tokens: 0 }, bytes.subarray(100));
  call.onFrame({ t: "error", n: 2, code: "upstream_error", message: "No more.", param: null, retry: false }, bytes.subarray(0, 0)); // prettier-ignore
  const events = eventsOf(await (await call.response).text());
  const [error, failed] = events.slice(-2);
  const fault = { code: "upstream_error", message: "No more.", param: null };
  expect(error).toEqual({ type: "error", sequence_number: 6, ...fault, error: { type: "server_error", ...fault } });
  expect(failed).toMatchObject({
    type: "response.failed",
    sequence_number: 7,
    response: { id: response.id, model: "m", status: "failed", error: { code: "upstream_error" } },
  });
});
