/** POST /v1/audio/transcriptions. */
import { checkBudget } from "#shared/calls/budget-stop.ts";
import { tooExpensive } from "#shared/ledger/call-admission.ts";
import { checkTranscription, TRANSCRIPTION } from "#shared/calls/kinds/transcription.ts";
import { ApiError } from "#shared/errors.ts";
import { deleteCallMedia, storeCallMedia } from "#shared/storage/call-media.ts";
import { modelOf } from "#shared/calls/kinds/models.ts";

import { lookAt } from "#shared/calls/audio/look.ts";
import type { ReceivedAudio } from "#shared/calls/audio/receive.ts";
import { receiveTranscription } from "../audio/receive-call.ts";
import { type PaidCall, runPaidCall } from "../calls/paid-call.ts";
import type { IngressContext } from "../context.ts";
import { errorsOf } from "../route-errors.ts";
import { callerOf, type Route, type RouteCall } from "../serve.ts";

export function transcriptions(context: IngressContext): Route {
  return {
    method: "POST",
    path: "/v1/audio/transcriptions",
    operationId: "createTranscription",
    summary: "Write down what is said",
    description:
      "A form with the part `file`, or JSON with `audio_base64` or `file_id`. Answers with JSON, plain text or subtitles, as " +
      "`response_format` says. With `stream: true` the answer is an event stream that ends with `[DONE]`.",
    tags: ["Audio"],
    auth: "key",
    countsItself: true,
    request: { schema: "TranscriptionRequest", formFile: "file" },
    responses: {
      200: {
        description: "What is said",
        schema: "Transcription",
        texts: ["text/plain", "application/x-subrip", "text/vtt"],
        stream: ["TranscriptionEvent", "ErrorEnvelope"],
        headers: ["x-credits-used", "x-model-used", "x-fallback-from", "x-fallback-depth"],
      },
    },
    errors: errorsOf(["reads_json", "resolves_model", "reads_files", "holds", "asks_provider"]),
    handle: (call) => handle(context, call),
  };
}

async function handle(context: IngressContext, call: RouteCall): Promise<Response> {
  const paid = await prepare(context, call);
  return runPaidCall(context, call, paid);
}

/**
 * Whatever takes long comes after it: the audio has left this process by then. The bytes are read once the window has
 * room, and looked at once the funds cover the shortest audio there is.
 */
async function prepare(context: IngressContext, call: RouteCall): Promise<PaidCall> {
  const caller = callerOf(call);
  const look = (): Promise<bigint> => context.calls.look(caller.workspaceId, caller.preset.requests_per_minute);
  const freeNano = await look();
  const { request, audio } = await receiveTranscription(context, call);
  try {
    const model = modelOf(TRANSCRIPTION, context.catalogue.current(), request.model);
    const { bytes, param } = audio;
    const least = checkTranscription(request, model, { bytes, param, seconds: SECONDS_MIN });
    const leastNano = least.bound.holdNano;
    checkBudget(caller, leastNano);
    // Asked anew before it is refused: the upload may have taken minutes.
    if (leastNano > freeNano && leastNano > (await look())) throw tooExpensive(leastNano);
    const facts = await lookAt(context.probes, caller.workspaceId, audio, call.request.signal);
    const { bound, price } = checkTranscription(request, model, facts);
    const place = await keep(context, call.requestId, audio);
    const text = JSON.stringify({ ...request, recording: { ...facts, ...place } });
    return {
      kind: TRANSCRIPTION,
      api: "openai",
      model,
      bound,
      price,
      text,
      textBytes: Buffer.byteLength(text),
      onRefused: () => discard(context, call.requestId, place),
    };
  } finally {
    audio.remove();
  }
}

const SECONDS_MIN = 0.001;

type Place = { readonly fileId: string } | { readonly reference: string };

/** Bytes have no business on the queue. */
async function keep({ storage }: Pick<IngressContext, "storage">, id: string, audio: ReceivedAudio): Promise<Place> {
  if (audio.fileId !== undefined) return { fileId: audio.fileId };
  try {
    return { reference: await storeCallMedia(storage, id, "audio", audio.view()) };
  } catch (error) {
    throw new ApiError("service_unavailable", "Audio cannot be stored right now; try again shortly.", {
      cause: error,
    });
  }
}

/** Of a call that was refused: no worker will read it. The janitor deletes what stays. */
function discard({ storage, log }: Pick<IngressContext, "storage" | "log">, id: string, place: Place): void {
  if (!("reference" in place)) return;
  deleteCallMedia(storage, place.reference).catch((error: unknown) =>
    log.warn({ err: error, request_id: id }, "the audio of a refused call was not deleted"),
  );
}
