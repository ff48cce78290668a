/** Builds speech responses: audio bytes sent while they are produced, or an event stream of them. */
import type { SpeechRequest } from "#schemas/generated/types.ts";
import { voiceOf } from "#shared/calls/kinds/speech.ts";
import { findBlocks } from "#shared/database/files.ts";
import type { EndedJob } from "#shared/database/jobs.ts";
import { findUsage } from "#shared/database/usage.ts";
import { ApiError } from "#shared/base/errors.ts";
import { readFile } from "#shared/files/read.ts";

import type { IngressContext } from "../../context.ts";
import { streamOf } from "../../core/response-body.ts";
import { LiveBody } from "../../wait/live-body.ts";
import { speechEvents } from "../../wait/speech-events.ts";
import { SSE_HEADERS } from "../../core/sse.ts";
import type { RouteCall } from "../../core/call.ts";

import { waitForJob } from "./media-job.ts";
import { outcomeOf, servedHeaders } from "./present.ts";

/**
 * Waits for the first bytes of admitted speech, and returns the response that contains the speech.
 * @param isNew see `waitForJob`.
 * @throws ApiError
 */
export async function answerSpeech(
  context: IngressContext,
  call: RouteCall,
  request: SpeechRequest,
  isNew: boolean,
): Promise<Response> {
  const live = new LiveBody();
  const ended = waitForJob(context, call, { isNew, onFrame: (frame, data) => live.onFrame(frame, data) });
  // Awaited below, perhaps after it has failed: until then, the rejection must not count as unhandled.
  ended.catch(() => undefined);
  const first = await Promise.race([live.begun, ended]);
  const spoken = "contentType" in first ? begun(context, call, live, ended, first) : await whole(context, first);
  return answer(context, call, request, spoken);
}

/** Generated speech whose first bytes have arrived; the following bytes may still be in production. */
interface Spoken {
  readonly contentType: string;
  /** Slug of the serving model. */
  readonly model: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Total length in bytes; undefined while the speech is still in production. */
  readonly bytes?: number;
  readonly first: Uint8Array;
  readonly rest: AsyncGenerator<Uint8Array, void>;
  readonly onFault: (error: unknown) => void;
}

function answer(context: IngressContext, call: RouteCall, request: SpeechRequest, spoken: Spoken): Response {
  const { first, rest, onFault } = spoken;
  const model = context.catalogue.current().models.get(spoken.model);
  const voice = model && voiceOf(request.voice, model.allowed_params);
  const headers = { ...spoken.headers, ...(voice === undefined ? {} : { "x-voice-used": voice }) };
  if (request.stream_format !== "sse") {
    const body = first.length === spoken.bytes ? (first as Uint8Array<ArrayBuffer>) : streamOf(first, rest, onFault);
    return new Response(body, { headers: { "content-type": spoken.contentType, ...headers } });
  }
  const record = async () => (await findUsage(context.database, call.caller.workspaceId, call.requestId)).at(-1);
  const events = speechEvents(joined(first, rest), record);
  return new Response(streamOf(new Uint8Array(), events, onFault), { headers: { ...SSE_HEADERS, ...headers } });
}

async function* joined(first: Uint8Array, rest: AsyncGenerator<Uint8Array, void>): AsyncGenerator<Uint8Array, void> {
  yield first;
  yield* rest;
}

/** Describes speech that is still in production. Its price is already known, and its bytes are relayed as they arrive. */
function begun(
  context: IngressContext,
  call: RouteCall,
  live: LiveBody,
  ended: Promise<EndedJob>,
  head: Awaited<LiveBody["begun"]>,
): Spoken {
  return {
    contentType: head.contentType,
    model: head.model,
    headers: servedHeaders(head, BigInt(head.nano)),
    first: new Uint8Array(),
    rest: live.bytes({ ended, read: (row, from) => readSpoken(context, row, from) }),
    onFault: (error) => context.log.warn({ err: error, request_id: call.requestId }, "speech output was cut off"),
  };
}

async function whole(context: IngressContext, row: EndedJob): Promise<Spoken> {
  const outcome = await outcomeOf(context, row);
  const [audio] = outcome.data;
  if (!audio) throw unreadable(row, new Error("speech without audio"));
  try {
    const pieces = (await readSpoken(context, row, 0)).bytes[Symbol.asyncIterator]() as AsyncGenerator<
      Uint8Array,
      void
    >;
    // The first block is read and verified before the status is sent.
    const first = await pieces.next();
    if (first.done === true) throw new Error("speech of no bytes");
    return {
      contentType: audio.content_type,
      model: outcome.model,
      headers: servedHeaders(outcome, row.credits ?? 0n),
      bytes: audio.bytes,
      first: first.value,
      rest: pieces,
      onFault: (error) =>
        context.log.error({ err: error, job_id: row.id }, "speech output could not be read to its end"),
    };
  } catch (error) {
    throw unreadable(row, error);
  }
}

async function readSpoken(context: IngressContext, row: EndedJob, from: number) {
  const [audio] = (await outcomeOf(context, row)).data;
  const blocks = audio && (await findBlocks(context.database, audio.file_id));
  if (!audio || !blocks) throw new Error("the file of a job is not there any more");
  return { size: audio.bytes, bytes: readFile(context.storage, blocks, from) };
}

/** Returns the error for speech that was generated and charged but cannot be read (spec "POST /v1/audio/speech"). */
function unreadable(row: EndedJob, cause: unknown): ApiError {
  return new ApiError(
    "artifact_unreadable",
    `The speech was generated but cannot be read right now; collect it as job ${row.id}.`,
    { shouldRetry: false, jobId: row.id, cause },
  );
}
