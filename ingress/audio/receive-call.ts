/** A transcription call over HTTP, as a form or as JSON. */
import type { TranscriptionRequest } from "#schemas/generated/types.ts";
import { audioOfBody, type ReceivedAudio, type Receiver, spooled, tooLarge } from "#shared/calls/audio/receive.ts";
import { type StoredInputs, INPUT_BYTES_MAX } from "#shared/calls/kinds/input-media.ts";
import { modelOf } from "#shared/calls/kinds/models.ts";
import { TRANSCRIPTION } from "#shared/calls/kinds/transcription.ts";
import { discardInputs, offloadInputs } from "#shared/calls/offload-inputs.ts";
import { readTranscription } from "#shared/calls/read.ts";
import { parse } from "#shared/contracts.ts";
import { ApiError } from "#shared/errors.ts";

import { readBody } from "../body.ts";
import type { PaidCall } from "../calls/paid-call.ts";
import type { IngressContext } from "../context.ts";
import { cleanFilename } from "../files/filename.ts";
import { openIncoming } from "../files/incoming.ts";
import { boundaryOf, MultipartReader } from "../files/multipart.ts";
import { callerOf, type RouteCall } from "../serve.ts";
import { booleanOf } from "../settings/page.ts";

interface ReceivedCall {
  readonly request: TranscriptionRequest;
  readonly audio: ReceivedAudio;
}

/** The caller must remove the audio that it gets. @throws ApiError */
async function receiveTranscription(context: IngressContext, call: RouteCall): Promise<ReceivedCall> {
  const isForm = /^multipart\/form-data\b/i.test(call.request.headers.get("content-type") ?? "");
  const receiver = { caller: callerOf(call), signal: call.request.signal };
  return isForm ? receiveForm(call, receiver) : receiveJson(context, call, receiver);
}

async function receiveJson(context: IngressContext, call: RouteCall, receiver: Receiver): Promise<ReceivedCall> {
  const { value, pause } = await readBody(context, call);
  await pause();
  const request = parse("TranscriptionRequest", value);
  await pause();
  const { audio_base64: _audio, mime_type: _type, file_id: _file, ...rest } = request;
  return { request: rest, audio: await audioOfBody(context, receiver, request) };
}

/** Any other is passed over, and so are lists of others. Audio in the form is the audio: what JSON would name it by has no place there. */
const FIELDS: ReadonlySet<string> = new Set([
  "model",
  "language",
  "prompt",
  "response_format",
  "temperature",
  "timestamp_granularities",
  "stream",
] satisfies (keyof TranscriptionRequest)[]);
/** Members that a form can only write as text. */
const AS_NUMBER: ReadonlySet<string> = new Set(["temperature"]);
const AS_FLAG: ReadonlySet<string> = new Set(["stream"]);

async function receiveForm(call: RouteCall, receiver: Receiver): Promise<ReceivedCall> {
  const incoming = openIncoming(call.request);
  const reader = new MultipartReader(incoming, boundaryOf(call.request.headers));
  // Maps, since a part may be called `constructor[]`.
  const fields = new Map<string, unknown>();
  const lists = new Map<string, string[]>();
  let audio: ReceivedAudio | undefined;
  try {
    for (let head = await reader.nextPart(); head !== undefined; head = await reader.nextPart()) {
      const { name } = head;
      if (name === "file") {
        if (audio) throw new ApiError("invalid_request", "Expected one file, got several.", { param: "file" });
        audio = await receiveFile(receiver, reader, head.filename, head.contentType);
      } else if (name.endsWith("[]") && FIELDS.has(name.slice(0, -2))) {
        const list = name.slice(0, -2);
        lists.set(list, [...(lists.get(list) ?? []), await reader.readField(name)]);
      } else if (FIELDS.has(name)) fields.set(name, typed(name, await reader.readField(name)));
    }
    if (!audio) {
      throw new ApiError("missing_required_parameter", "Expected the form to have a part `file`.", { param: "file" });
    }
    return { request: parse("TranscriptionRequest", Object.fromEntries([...fields, ...lists])), audio };
  } catch (error) {
    audio?.remove();
    incoming.drop();
    throw error;
  }
}

function typed(name: string, text: string): unknown {
  if (AS_NUMBER.has(name) && text.trim() !== "") return Number(text);
  return AS_FLAG.has(name) ? (booleanOf(text) ?? text) : text;
}

async function receiveFile(
  receiver: Receiver,
  reader: MultipartReader,
  name: string | undefined,
  contentType: string | undefined,
): Promise<ReceivedAudio> {
  if (name === undefined) {
    throw new ApiError("invalid_request", "Expected `file` to be a file with a filename, got a plain field.", {
      param: "file",
    });
  }
  return spooled(receiver, async (file) => {
    let size = 0;
    for (let piece = await reader.nextBytes(); piece !== undefined; piece = await reader.nextBytes()) {
      size += piece.length;
      if (size > INPUT_BYTES_MAX.audio) throw tooLarge("file");
      // What is read next takes the place of this one.
      await file.write(new Uint8Array(piece));
    }
    if (size === 0) {
      throw new ApiError("invalid_request", "Expected a file with content, got an empty one.", { param: "file" });
    }
    return { claim: contentType, filename: cleanFilename(name), param: "file", fileId: undefined };
  });
}

/**
 * Whatever takes long comes after it: the audio has left this process by then. The bytes are read once the window has
 * room, and looked at once the funds cover the shortest audio there is.
 */
export async function prepareTranscription(context: IngressContext, call: RouteCall): Promise<PaidCall> {
  const caller = callerOf(call);
  const { requestId } = call;
  const look = (leastNano?: bigint): Promise<void> =>
    context.calls.look(caller.workspaceId, caller.preset.requests_per_minute, leastNano);
  await look();
  const { request, audio } = await receiveTranscription(context, call);
  try {
    const model = modelOf(TRANSCRIPTION, context.catalogue.current(), request.model);
    const read = readTranscription(context, caller, {
      request,
      model,
      known: audio,
      // Removed here, when its bytes are stored: until then it keeps its turn on this disk.
      receive: () => Promise.resolve({ ...audio, remove: () => undefined }),
      tries: 1,
      signal: call.request.signal,
    });
    // Asked anew: the upload may have taken minutes.
    await look(read.leastNano);
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
      onRefused: discarding(context, requestId, stored),
    };
  } finally {
    audio.remove();
  }
}

/** Kept for as long as the call waits, so it must not keep the audio: it is made where no audio is in sight. */
function discarding(context: IngressContext, requestId: string, stored: StoredInputs): () => void {
  return () => discardInputs(context, requestId, stored);
}
