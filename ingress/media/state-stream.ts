/**
 * A media call that shows its states as they come: `queued`, `processing`, then `completed` with what was made or `failed`,
 * each a frame of an event stream that ends with `[DONE]` (spec "Streamed image generation frames"). Who leaves ends it.
 */
import type { Caller } from "#shared/access/authenticate.ts";
import type { ReadCall } from "#shared/calls/read.ts";
import type { EndedJob } from "#shared/database/jobs.ts";
import { requestCancel } from "#shared/database/jobs.ts";
import { ApiError, errorEnvelope } from "#shared/errors.ts";
import { MEDIA_JOB_LIFE_MS } from "#shared/queue/job-life.ts";

import type { IngressContext } from "../context.ts";
import { streamOf } from "../response-body.ts";
import { DONE, silence, SSE_HEADERS, sseEvent } from "../sse.ts";
import type { RouteCall } from "../serve.ts";

import { admitMediaJob, failureOf } from "./media-job.ts";
import { inlined, outcomeOf, servedHeaders, withLinks } from "./present.ts";

/** @throws ApiError of whatever refuses it; what fails afterwards is a frame */
export async function streamMediaJob(
  context: IngressContext,
  call: RouteCall,
  caller: Caller,
  read: ReadCall,
  isInline: boolean,
): Promise<Response> {
  await admitMediaJob(context, call, caller, read, { isStreamed: true });
  const left = new AbortController();
  const { requestId: id } = call;
  const leave = (): void => {
    left.abort();
    context.cancel(id);
    requestCancel(context.database, caller.workspaceId, id, { hidden: true }).catch((error: unknown) =>
      context.log.warn({ err: error, job_id: id }, "a streamed call that its caller left could not be ended"),
    );
  };
  const rest = framesOf(context, call, caller, isInline, left.signal);
  // A body that ended well would pass for the whole: what breaks cuts the connection.
  const onFault = (error: unknown): void =>
    context.log.error({ err: error, request_id: id }, "a streamed media call broke off");
  // No fallback stands in for a streamed job, so it is known from the beginning who serves.
  const headers = { ...SSE_HEADERS, ...servedHeaders({ model: read.model.slug }) };
  return new Response(streamOf(sseEvent({ status: "queued" }), rest, onFault, leave), { headers });
}

async function* framesOf(
  context: IngressContext,
  call: RouteCall,
  caller: Caller,
  isInline: boolean,
  left: AbortSignal,
): AsyncGenerator<Uint8Array, void, void> {
  const begun = Promise.withResolvers<void>();
  const ended = context.waiter.wait({
    workspaceId: caller.workspaceId,
    jobId: call.requestId,
    ms: STREAM_MS,
    left,
    onFrame: ({ t }) => {
      if (t === "begun") begun.resolve();
    },
  });
  yield* silence(Promise.race([begun.promise, ended]));
  yield sseEvent({ status: "processing" });
  yield* silence(ended);
  if (left.aborted) return;
  try {
    yield* completed(context, call, await ended, isInline);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    yield sseEvent({ status: "failed", ...errorEnvelope(error.code, error.message, error.param) });
  }
  yield DONE;
}

/** @throws ApiError when nothing was made, or it cannot be read */
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
    // Behind its first byte there is no other frame to tell of a failure: the connection is cut then.
    yield* inlined(context, data, `data: {"status":"completed","created":${created},"data":[`, "]}\n\n", false);
    return;
  }
  const links = withLinks(context, row, outcome, call.request);
  yield sseEvent({ status: "completed", created, data: links.map(({ file_id: _kept, ...shown }) => shown) });
}

/** Longer than any job takes. */
const STREAM_MS = 2 * MEDIA_JOB_LIFE_MS;
