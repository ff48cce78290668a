/**
 * Background responses: durable jobs that produce stored responses. The response is stored before its job is admitted, and the job writes
 * the result in the transaction in which it ends. The response is therefore charged once, and continues when the caller disconnects.
 */
import type { ModelResponse, ResponsesItem } from "#schemas/generated/types.ts";
import { viewerOf } from "#shared/access/viewer.ts";
import { labelled, textCallOf } from "#shared/calls/read.ts";
import type { Caller } from "#shared/access/authenticate.ts";
import { ApiError, type Code, ERROR_CODES } from "#shared/base/errors.ts";
import { failpoint } from "#shared/base/failpoint.ts";
import { insistOn, ONCE } from "#shared/storage/outage.ts";
import { paced } from "#shared/config/pace.ts";
import { callOfResponse } from "#shared/responses/ids.ts";
import { FIRST_KEPT_EVENT, type KeptResponse, unanswered } from "#shared/responses/store.ts";
import { JOB_POLL_INTERVAL_MS } from "#ingress/wait/job-waiter.ts";

import { json } from "../../core/answers.ts";
import { withLoweredLimit } from "../calls/paid-call.ts";
import type { CheckedTranslation } from "../calls/translated-call.ts";
import type { IngressContext } from "../../context.ts";
import { cancelJob } from "../media/jobs.ts";
import { admitMediaJob } from "../media/media-job.ts";
import { streamOf } from "../../core/response-body.ts";
import type { RouteCall } from "../../core/call.ts";
import { DONE, KEEPALIVE, KEEPALIVE_MS, SSE_HEADERS } from "../../core/sse.ts";
import type { FollowedRun } from "../workflows/run-follower.ts";

import { failureEventsOf, responseEvent } from "../../core/response-object.ts";

interface Background {
  /** Response as it is stored before the job runs. */
  readonly response: ModelResponse;
  readonly input: readonly ResponsesItem[];
  readonly isStreamed: boolean;
  /** Name of the conversation that the response belongs to. */
  readonly affinity: string;
}

/** Stores the response, admits its job, and returns the stored response or a stream of its events. @throws ApiError for any refusal */
export async function runInBackground(
  context: IngressContext,
  call: RouteCall,
  paid: CheckedTranslation,
  background: Background,
): Promise<Response> {
  if (!background.isStreamed)
    return withLoweredLimit(context, paid, json(await begin(context, call, paid, background)));
  const { caller } = call;
  const { requestId: id } = call;
  // The limit of streams is checked before the work is charged: a client that retried later would pay twice.
  const followed = context.runs.follow(id, caller);
  try {
    await begin(context, call, paid, background);
  } catch (error) {
    followed.close();
    throw error;
  }
  const answer = streamBackground(context, { id, workspaceId: caller.workspaceId }, followed, -1);
  return withLoweredLimit(context, paid, answer);
}

/** Stores the response, admits its job and returns the queued response. */
async function begin(
  context: IngressContext,
  call: RouteCall,
  { kind, model, bound, route, labels, text }: CheckedTranslation,
  { response, input, isStreamed, affinity }: Background,
): Promise<ModelResponse> {
  const { caller } = call;
  const { workspaceId, keyId, preset } = caller;
  const { requestId: id } = call;
  // Checked first, so that nothing is stored for a refused call.
  await context.calls.check(workspaceId, preset.requests_per_minute, bound.holdNano);
  const queued: ModelResponse = { ...response, status: "queued" };
  try {
    const hours = context.config.responseRetentionHours;
    const kept = { call: { id, workspaceId, keyId }, response: queued, input, hours, keepsEvents: isStreamed };
    await context.responses.keep(kept, ONCE);
  } catch (error) {
    throw new ApiError("service_unavailable", "The response cannot be stored right now; try again shortly.", {
      cause: error,
    });
  }
  failpoint("response.kept");
  try {
    const read = labelled(textCallOf(kind, model, { bound, route }, text), labels);
    await admitMediaJob(context, call, read, { isBackground: true, affinity });
    call.capture?.release();
  } catch (error) {
    // After an uncertain admission, the response shows whether the job exists.
    const isRefused = error instanceof ApiError && error.code !== "service_unavailable";
    if (isRefused) await forget(context, caller, id);
    throw error;
  }
  return queued;
}

/** Deletes the response of a refused call. If the deletion fails, the response remains until it expires, and never starts. */
async function forget({ responses, log }: IngressContext, caller: Caller, id: string): Promise<void> {
  await responses
    .delete(viewerOf(caller), id)
    .catch((error: unknown) =>
      log.warn({ err: error, request_id: id }, "the stored response of a refused call was not deleted"),
    );
}

/** Maximum wait until the worker has ended a cancelled response, in milliseconds. */
const CANCEL_WAIT_MS = paced(5_000);

/**
 * Cancels the response's job and briefly waits for its end.
 * @throws ApiError `unsupported_value` if the response was not created with `background: true`
 */
export async function cancelBackground(
  context: IngressContext,
  { workspaceId }: Caller,
  found: KeptResponse,
): Promise<ModelResponse> {
  if (!found.isBackground) {
    throw new ApiError("unsupported_value", "Only a response created with background: true can be cancelled.", {
      param: "response_id",
    });
  }
  const id = callOfResponse(found.response.id) ?? "";
  if (!isUnderWay(found.response)) return found.response;
  const followed = context.runs.follow(id);
  const deadline = new AbortController();
  const late = setTimeout(() => deadline.abort(), CANCEL_WAIT_MS);
  try {
    await cancelJob(context, workspaceId, id);
    for (;;) {
      const state = await context.responses.readState(id);
      if (state?.isUnderWay !== true || deadline.signal.aborted) break;
      await followed.wait(JOB_POLL_INTERVAL_MS, deadline.signal);
    }
  } finally {
    clearTimeout(late);
    followed.close();
  }
  return ((await context.responses.read(id)) ?? found).response;
}

function isUnderWay({ status }: ModelResponse): boolean {
  return status === "queued" || status === "in_progress";
}

/**
 * Resumes the event stream of a background response, see `streamBackground`.
 * @param after sequence number of the last event that the client has received
 * @throws ApiError `overloaded`; `unsupported_value` if the events were not stored or have expired
 */
export function resumeBackground(
  context: IngressContext,
  caller: Caller,
  found: KeptResponse,
  after: number,
): Response {
  const { keepsEvents, response, lastEvent } = found;
  const isOver = response.output.length > 0 && lastEvent < OPENING.length;
  if (!keepsEvents || isOver) {
    const kept = isOver
      ? "whose events are still stored; events are deleted an hour after its end"
      : "created with background: true and stream: true";
    throw new ApiError("unsupported_value", `Expected a response ${kept}.`, { param: "stream" });
  }
  const id = callOfResponse(response.id) ?? "";
  const followed = context.runs.follow(id, caller);
  return streamBackground(context, { id, workspaceId: caller.workspaceId }, followed, after);
}

interface StreamedCall {
  readonly id: string;
  readonly workspaceId: string;
}

function streamBackground(context: IngressContext, call: StreamedCall, followed: FollowedRun, after: number): Response {
  const clientAbort = new AbortController();
  const onFault = (error: unknown): void =>
    context.log.warn({ err: error, request_id: call.id }, "the stream of a background response failed");
  const onDisconnect = (): void => {
    clientAbort.abort();
    followed.close();
  };
  const events = eventsOf(context, call, followed, after, clientAbort.signal);
  return new Response(streamOf(KEEPALIVE, events, onFault, onDisconnect), { headers: SSE_HEADERS });
}

/** Names of the events that precede the worker's events. The first and last events are built from the stored response. */
const OPENING = ["response.created", "response.queued"] as const;

async function* eventsOf(
  { responses, closing, log }: IngressContext,
  call: StreamedCall,
  followed: FollowedRun,
  after: number,
  clientSignal: AbortSignal,
): AsyncGenerator<Uint8Array, void, void> {
  const over = AbortSignal.any([clientSignal, closing]);
  const insist = insistOn({ log, about: { request_id: call.id }, signal: over });
  /** Reads the whole response with its request, which may be megabytes. It is therefore used only for the first and last events. */
  const whole = async (): Promise<ModelResponse> => {
    const kept = await insist(() => responses.read(call.id));
    if (!kept) throw deleted();
    return kept.response;
  };
  let last = after;
  let lastSentAt = performance.now();
  try {
    while (!clientSignal.aborted) {
      // The state is read before the events: when it has ended, all events exist.
      const state = await insist(() => responses.readState(call.id));
      if (!state) throw deleted();
      if (last < OPENING.length - 1) {
        const queued = { ...unanswered(await whole()), status: "queued" } as const;
        for (const [number, type] of OPENING.entries()) {
          if (number <= last) continue;
          last = number;
          yield ENCODER.encode(responseEvent(type, number, queued));
        }
      }
      const from = last;
      for (const piece of await insist(() => responses.readEvents(call, from))) {
        yield* framesBehind(piece.text, from);
        last = piece.last;
      }
      if (last > from) {
        lastSentAt = performance.now();
        continue;
      }
      if (!state.isUnderWay) {
        // After the events were deleted, only the client knows the number of the last one.
        const isGone = state.lastEvent < FIRST_KEPT_EVENT;
        const before = isGone ? Math.max(state.lastEvent, after) : state.lastEvent;
        yield* framesBehind(endOf(await whole(), before), after);
        yield DONE;
        return;
      }
      // No [DONE]: a client that reconnects receives more.
      if (closing.aborted) throw new Error("the service is restarting");
      await followed.wait(Math.min(JOB_POLL_INTERVAL_MS, KEEPALIVE_MS), over);
      if (performance.now() - lastSentAt < KEEPALIVE_MS) continue;
      lastSentAt = performance.now();
      yield KEEPALIVE;
    }
  } finally {
    followed.close();
  }
}

function deleted(): Error {
  return new Error("the response was deleted while it was read");
}

const ENCODER = new TextEncoder();

function* framesBehind(text: string, after: number): Generator<Uint8Array> {
  for (const frame of text.split("\n\n")) {
    const number = /^event: \S+\ndata: \{"type":"[^"]+","sequence_number":(\d+)/.exec(frame)?.[1];
    if (number !== undefined && Number(number) > after) yield ENCODER.encode(`${frame}\n\n`);
  }
}

/** Returns the last events of a stream, built from the stored response. @param before sequence number of the preceding event */
function endOf(response: ModelResponse, before: number): string {
  const { status, error } = response;
  if (status !== "failed" || !error) {
    // OpenAI has no event for a cancelled response.
    return responseEvent(`response.${status === "cancelled" ? "failed" : status}`, before + 1, response);
  }
  const known = error.code in ERROR_CODES ? (error.code as Code) : "internal_error";
  return failureEventsOf(response)(new ApiError(known, error.message), response.model, before + 1);
}
