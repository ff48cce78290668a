/** POST /v1/audio/transcriptions. */
import { checkBudget } from "#shared/calls/admit.ts";
import { tooExpensive } from "#shared/ledger/call-admission.ts";
import { TRANSCRIPTION } from "#shared/calls/kinds/transcription.ts";
import { discardInputs, offloadInputs } from "#shared/calls/offload-inputs.ts";
import { readTranscription } from "#shared/calls/read.ts";

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
  const { requestId } = call;
  const look = (): Promise<bigint> => context.calls.look(caller.workspaceId, caller.preset.requests_per_minute);
  const freeNano = await look();
  const { request, audio } = await receiveTranscription(context, call);
  try {
    const read = readTranscription(context, caller, {
      request,
      known: audio,
      receive: () => Promise.resolve(audio),
      tries: 1,
      signal: call.request.signal,
    });
    const { model, leastNano } = read;
    checkBudget(caller, leastNano);
    // Asked anew before it is refused: the upload may have taken minutes.
    if (leastNano > freeNano && leastNano > (await look())) throw tooExpensive(leastNano);
    const { inline, text: textOf, ...checked } = await read.load();
    // Bytes have no business on the queue.
    const stored = await offloadInputs(context, requestId, inline);
    const text = textOf(stored);
    return {
      kind: TRANSCRIPTION,
      api: "openai",
      model,
      ...checked,
      text,
      textBytes: Buffer.byteLength(text),
      onRefused: () => discardInputs(context, requestId, stored),
    };
  } finally {
    audio.remove();
  }
}
