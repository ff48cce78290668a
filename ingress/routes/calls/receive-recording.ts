/** Transcription call over HTTP, as a form or as JSON. */
import type { TranscriptionRequest } from "#schemas/generated/types.ts";
import { audioOfBody, type ReceivedAudio, type Receiver, spooled, tooLarge } from "#shared/calls/audio/receive.ts";
import { type StoredInputs, INPUT_BYTES_MAX } from "#shared/calls/kinds/input-media.ts";
import { TRANSCRIPTION, TRANSCRIPTION_FORM } from "#shared/calls/kinds/transcription.ts";
import { discardInputs, offloadInputs } from "#shared/calls/offload-inputs.ts";
import { chooseModels } from "#shared/calls/model-choice.ts";
import { readTranscription } from "#shared/calls/read.ts";
import { type CostMax, costMaxOf, takeMaxCredits } from "#shared/calls/max-credits.ts";
import { parse } from "#shared/json/contracts.ts";
import { ApiError } from "#shared/base/errors.ts";

import { readBody } from "../../core/body.ts";
import { readLabels } from "../../core/labels.ts";
import { outerMaxOf } from "../../core/max-credits.ts";
import type { PaidCall } from "./paid-call.ts";
import type { IngressContext } from "../../context.ts";
import { cleanFilename } from "../files/filename.ts";
import { filePieces, isForm, readFormBody } from "../files/form-body.ts";
import type { MultipartReader, PartHead } from "../files/multipart.ts";
import { drawOf, type RouteCall } from "../../core/call.ts";

interface ReceivedCall {
  readonly request: TranscriptionRequest;
  readonly audio: ReceivedAudio;
  readonly max: CostMax | undefined;
}

/** Receives the audio and options of a transcription call. The caller of this function must delete the received audio. @throws ApiError */
async function receiveTranscription(context: IngressContext, call: RouteCall): Promise<ReceivedCall> {
  const receiver = { caller: call.caller, signal: call.request.signal };
  return isForm(call.request) ? receiveForm(call, receiver) : receiveJson(context, call, receiver);
}

async function receiveJson(context: IngressContext, call: RouteCall, receiver: Receiver): Promise<ReceivedCall> {
  const { value, pause } = await readBody(context, call);
  await pause();
  const { request, maxNano } = takeMaxCredits(parse("TranscriptionRequest", value));
  const max = costMaxOf(maxNano, outerMaxOf(call));
  await pause();
  const { audio_base64: _audio, mime_type: _type, file_id: _file, ...rest } = request;
  return { request: rest, audio: await audioOfBody(context, receiver, request), max };
}

async function receiveForm(call: RouteCall, receiver: Receiver): Promise<ReceivedCall> {
  let audio: ReceivedAudio | undefined;
  const file = async (head: PartHead, reader: MultipartReader): Promise<void> => {
    audio = await receiveFile(receiver, reader, head);
  };
  try {
    const members = await readFormBody(call.request, { members: TRANSCRIPTION_FORM.members, files: { file } });
    if (!audio) {
      throw new ApiError("missing_required_parameter", "Missing required form part `file`.", { param: "file" });
    }
    const { request, maxNano } = takeMaxCredits(parse("TranscriptionRequest", members));
    return { request, audio, max: costMaxOf(maxNano, outerMaxOf(call)) };
  } catch (error) {
    audio?.remove();
    throw error;
  }
}

function receiveFile(receiver: Receiver, reader: MultipartReader, head: PartHead): Promise<ReceivedAudio> {
  return spooled(receiver, async (file) => {
    for await (const piece of filePieces(head, reader, INPUT_BYTES_MAX.audio, () => tooLarge("file"))) {
      // A copy, because the reader reuses the buffer for the next piece.
      await file.write(new Uint8Array(piece));
    }
    return { claim: head.contentType, filename: cleanFilename(head.filename ?? ""), param: "file", fileId: undefined };
  });
}

/**
 * Prepares a transcription call. The audio is received only if the rate-limit window has capacity. It is inspected only if the credits
 * cover the shortest possible audio. Slow steps follow later, after the audio has left this process.
 */
export async function prepareTranscription(context: IngressContext, call: RouteCall): Promise<PaidCall> {
  const { caller } = call;
  const { requestId } = call;
  const labels = readLabels(call);
  const checkAdmission = (leastNano?: bigint): Promise<void> =>
    context.calls.check(caller.workspaceId, caller.preset.requests_per_minute, leastNano);
  await checkAdmission();
  const { request, audio, max } = await receiveTranscription(context, call);
  try {
    const { model } = request;
    const choice = chooseModels(TRANSCRIPTION, context.catalogue.current(), caller, { model }, drawOf(call));
    const read = readTranscription(context, caller, {
      request,
      choice,
      known: audio,
      // Removed below, after its bytes are stored: until then, the file counts against this disk's limit.
      receive: () => Promise.resolve({ ...audio, remove: () => undefined }),
      tries: 1,
      max,
      signal: call.request.signal,
    });
    // Checked again, because the upload may have taken minutes.
    await checkAdmission(read.leastNano);
    const { inline, text: textOf, ...checked } = await read.load();
    // Audio bytes do not travel on the queue.
    const stored = await offloadInputs(context, requestId, inline);
    const text = textOf(stored);
    return {
      kind: TRANSCRIPTION,
      api: "openai",
      model: read.model,
      ...checked,
      labels,
      text,
      textBytes: Buffer.byteLength(text),
      onRefused: discarding(context, requestId, stored),
    };
  } finally {
    audio.remove();
  }
}

/**
 * Returns a function that deletes the stored inputs of a call. Its closure must not refer to the audio, because the function is kept longer
 * than the audio.
 */
function discarding(context: IngressContext, requestId: string, stored: StoredInputs): () => void {
  return () => discardInputs(context, requestId, stored);
}
