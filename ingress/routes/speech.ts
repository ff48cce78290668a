/** POST /v1/audio/speech. */
import type { SpeechRequest } from "#schemas/generated/types.ts";
import { SPEECH, voiceOf } from "#shared/calls/kinds/speech.ts";
import { findBlocks } from "#shared/database/files.ts";
import type { JobRow } from "#shared/database/jobs.ts";
import { findUsage } from "#shared/database/usage.ts";
import { ApiError } from "#shared/errors.ts";
import { readFile } from "#shared/files/read.ts";

import type { IngressContext } from "../context.ts";
import { streamOf } from "../files/stream.ts";
import { LiveBody } from "../wait/live-body.ts";
import { admitMediaJob, waitForJob } from "../media/media-job.ts";
import { prepareMedia } from "../media/prepare.ts";
import { outcomeOf, servedHeaders } from "../media/present.ts";
import { speechEvents } from "../wait/speech-events.ts";
import { SSE_HEADERS } from "../wait/call.ts";
import { errorsOf, MEDIA_CALL } from "../route-errors.ts";
import { callerOf, type Route, type RouteCall } from "../serve.ts";

export function speech(context: IngressContext): Route {
  return {
    method: "POST",
    path: "/v1/audio/speech",
    operationId: "createSpeech",
    summary: "Speak a text",
    description:
      "Answers with the audio itself: `audio/mpeg`, `audio/ogg` (opus), `audio/aac`, `audio/flac`, `audio/wav` or `audio/pcm`. " +
      "Where the price is known ahead the bytes come while they are made. The audio is kept as a file under the job " +
      "that `x-request-id` names. With `stream_format: sse` the answer is an event stream of pieces in base64 that ends with " +
      "`speech.audio.done`. A voice that the model has not gives way to its usual one; `x-voice-used` tells which one speaks.",
    tags: ["Audio"],
    auth: "key",
    countsItself: true,
    request: { schema: "SpeechRequest", example: { model: "sandbox-tts", input: "It works." } },
    responses: {
      200: {
        description: "The audio",
        bytes: ["audio/mpeg", "audio/ogg", "audio/aac", "audio/flac", "audio/wav", "audio/pcm"],
        stream: "SpeechEvent",
        headers: ["x-credits-used", "x-model-used", "x-fallback-from", "x-fallback-depth", "x-voice-used"],
      },
    },
    errors: errorsOf(MEDIA_CALL, "artifact_unreadable"),
    handle: (call) => handle(context, call),
  };
}

async function handle(context: IngressContext, call: RouteCall): Promise<Response> {
  const { request, call: read } = await prepareMedia(context, call, SPEECH);
  const caller = callerOf(call);
  await admitMediaJob(context, call, caller, read);
  const live = new LiveBody();
  const ended = waitForJob(context, call, caller, (frame, data) => live.onFrame(frame, data));
  // Awaited below, when it may have failed already: until then its failure must not count as unhandled.
  ended.catch(() => undefined);
  const first = await Promise.race([live.begun, ended]);
  const spoken = "contentType" in first ? begun(context, call, live, ended, first) : await whole(context, first);
  return answer(context, call, request, spoken);
}

/** Speech whose first bytes are there, or will be. */
interface Spoken {
  readonly contentType: string;
  /** Slug of the model that served. */
  readonly model: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Length of the whole in bytes, once that is known. */
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
  const units = async () =>
    (await findUsage(context.database, callerOf(call).workspaceId, call.requestId)).at(-1)?.units ?? {};
  const events = speechEvents(joined(first, rest), units);
  return new Response(streamOf(new Uint8Array(), events, onFault), { headers: { ...SSE_HEADERS, ...headers } });
}

async function* joined(first: Uint8Array, rest: AsyncGenerator<Uint8Array, void>): AsyncGenerator<Uint8Array, void> {
  yield first;
  yield* rest;
}

/** It is being made, and its price is known: what comes goes out. */
function begun(
  context: IngressContext,
  call: RouteCall,
  live: LiveBody,
  ended: Promise<JobRow>,
  head: Awaited<LiveBody["begun"]>,
): Spoken {
  return {
    contentType: head.contentType,
    model: head.model,
    headers: servedHeaders(head, BigInt(head.nano)),
    first: new Uint8Array(),
    rest: live.bytes({ ended, read: (row, from) => readSpoken(context, row, from) }),
    onFault: (error) => context.log.warn({ err: error, request_id: call.requestId }, "speech that had begun was cut"),
  };
}

async function whole(context: IngressContext, row: JobRow): Promise<Spoken> {
  const outcome = await outcomeOf(context, row);
  const [made] = outcome.data;
  if (!made) throw unreadable(row, new Error("speech without audio"));
  try {
    const pieces = (await readSpoken(context, row, 0)).bytes[Symbol.asyncIterator]() as AsyncGenerator<
      Uint8Array,
      void
    >;
    // The first block is there, and right, before a status is told.
    const first = await pieces.next();
    if (first.done === true) throw new Error("speech of no bytes");
    return {
      contentType: made.content_type,
      model: outcome.model,
      headers: servedHeaders(outcome, row.credits ?? 0n),
      bytes: made.bytes,
      first: first.value,
      rest: pieces,
      onFault: (error) => context.log.error({ err: error, job_id: row.id }, "speech could not be read on"),
    };
  } catch (error) {
    throw unreadable(row, error);
  }
}

async function readSpoken(context: IngressContext, row: JobRow, from: number) {
  const [made] = (await outcomeOf(context, row)).data;
  const blocks = made && (await findBlocks(context.database, made.file_id));
  if (!made || !blocks) throw new Error("the file of a job is not there any more");
  return { size: made.bytes, bytes: readFile(context.storage, blocks, from) };
}

/** Spec "POST /v1/audio/speech": generated, paid for, and not to be read back. */
function unreadable(row: JobRow, cause: unknown): ApiError {
  return new ApiError(
    "artifact_unreadable",
    `The speech was made and cannot be read right now; collect it as job ${row.id}.`,
    { shouldRetry: false, jobId: row.id, cause },
  );
}
