/**
 * Event stream of a media call's states: `queued`, `processing`, then `completed` with the results, or `failed`, and `[DONE]` (spec
 * "Streamed image generation frames"). Closing the connection cancels the job.
 */
import type { EndedJob } from "#shared/database/jobs.ts";
import { requestCancel } from "#shared/database/jobs.ts";
import { ApiError, errorEnvelope } from "#shared/base/errors.ts";
import { MEDIA_JOB_LIFE_MS } from "#shared/queue/job-life.ts";

import type { IngressContext } from "../../context.ts";
import { streamOf } from "../../core/response-body.ts";
import { DONE, silence, SSE_HEADERS, sseEvent } from "../../core/sse.ts";
import type { RouteCall } from "../../core/call.ts";

import { failureOf } from "./media-job.ts";
import { inlineMediaPieces, outcomeOf, servedHeaders, withLinks } from "./present.ts";

/**
 * Returns a stream of the states of an admitted media call. If the job fails, the stream contains the error as an event.
 * @param model slug of the model
 */
export function streamMediaJob(context: IngressContext, call: RouteCall, model: string, isInline: boolean): Response {
  const clientAbort = new AbortController();
  const { requestId: id, caller } = call;
  const onDisconnect = (): void => {
    clientAbort.abort();
    context.cancel(id);
    requestCancel(context.database, caller.workspaceId, id, { hidden: true }).catch((error: unknown) =>
      context.log.warn({ err: error, job_id: id }, "a streamed call whose client disconnected could not be cancelled"),
    );
  };
  const frames = framesOf(context, call, isInline, clientAbort.signal);
  // A body that ended normally would pass for complete, so a failure aborts the connection.
  const onFault = (error: unknown): void =>
    context.log.error({ err: error, request_id: id }, "a streamed media call failed before its end");
  // A streamed job has no fallback, so the serving model is known from the start.
  const headers = { ...SSE_HEADERS, ...servedHeaders({ model }) };
  return new Response(streamOf(sseEvent({ status: "queued" }), frames, onFault, onDisconnect), { headers });
}

async function* framesOf(
  context: IngressContext,
  call: RouteCall,
  isInline: boolean,
  clientSignal: AbortSignal,
): AsyncGenerator<Uint8Array, void, void> {
  const begun = Promise.withResolvers<void>();
  const ended = context.waiter.wait({
    workspaceId: call.caller.workspaceId,
    jobId: call.requestId,
    ms: STREAM_MS,
    clientSignal,
    onFrame: ({ t }) => {
      if (t === "begun") begun.resolve();
    },
  });
  yield* silence(Promise.race([begun.promise, ended]));
  yield sseEvent({ status: "processing" });
  yield* silence(ended);
  if (clientSignal.aborted) return;
  try {
    yield* completed(context, call, await ended, isInline);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    yield sseEvent({ status: "failed", ...errorEnvelope(error.code, error.message, error.param) });
  }
  yield DONE;
}

/** Yields the last event, which contains the results. @throws ApiError if the job did not complete or its result cannot be read */
async function* completed(
  context: IngressContext,
  call: RouteCall,
  row: EndedJob | undefined,
  isInline: boolean,
): AsyncGenerator<Uint8Array, void, void> {
  if (!row || row.is_unknown) throw new ApiError("upstream_timeout", "The model's provider did not respond in time.");
  if (row.state !== "completed") throw failureOf(row);
  const outcome = await outcomeOf(context, row);
  const { created, data } = outcome;
  if (isInline) {
    // After the frame's first byte, a failure cannot be a frame and aborts the connection.
    yield* inlineMediaPieces(
      context,
      data,
      `data: {"status":"completed","created":${created},"data":[`,
      "]}\n\n",
      false,
    );
    return;
  }
  const links = withLinks(context, row, outcome, call.request);
  yield sseEvent({ status: "completed", created, data: links.map(({ file_id: _kept, ...listed }) => listed) });
}

/** Maximum duration of a stream, in milliseconds: longer than any job can live. */
const STREAM_MS = 2 * MEDIA_JOB_LIFE_MS;
