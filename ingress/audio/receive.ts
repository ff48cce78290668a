/**
 * The audio of a transcription call, from a form, from base64 or from the file store: on this process' disk until it is
 * looked at (look.ts), never whole in its memory unless it came in JSON.
 */
import { statSync } from "node:fs";

import type { TranscriptionRequest } from "#schemas/generated/types.ts";
import { inlineInput } from "#shared/kinds/input-media.ts";
import type { Caller } from "#shared/admission/authenticate.ts";
import { checkMayReadFiles } from "#shared/admission/may-read-files.ts";
import { withoutNulls } from "#shared/kinds/media-check.ts";
import { audioOf } from "#shared/kinds/transcription.ts";
import { parse } from "#shared/contracts.ts";
import type { Queryable } from "#shared/database/client.ts";
import { findBlocks, findFiles } from "#shared/database/files.ts";
import { ApiError } from "#shared/errors.ts";
import { isFileId } from "#shared/files/id.ts";
import { readFile } from "#shared/files/read.ts";
import { openSpoolFile, type SpoolFile } from "#shared/files/spool-file.ts";
import { unavailable } from "#shared/files/unavailable.ts";
import { readJson } from "#shared/json.ts";
import { INPUT_BYTES_MAX, LIMITS } from "#shared/limits.ts";
import type { MediaSource } from "#shared/media/media-probes.ts";

import { readJsonBody } from "../body.ts";
import type { IngressContext } from "../context.ts";
import { KeyedSemaphore } from "../keyed-semaphore.ts";
import { cleanFilename } from "../files/filename.ts";
import { openIncoming } from "../files/incoming.ts";
import { boundaryOf, MultipartReader, readField } from "../files/multipart.ts";
import { callerOf, type RouteCall } from "../serve.ts";

export interface ReceivedCall {
  readonly request: TranscriptionRequest;
  readonly audio: ReceivedAudio;
}

/** Audio of which only the size is known. */
export interface ReceivedAudio {
  readonly bytes: number;
  /** The member of the call that it came as. */
  readonly param: "file" | "audio_base64" | "file_id";
  /** The caller's word. */
  readonly claim: string | undefined;
  readonly filename: string;
  /** Where it is stored already; else its bytes are to be. */
  readonly fileId: string | undefined;
  readonly source: MediaSource;
  view(): Uint8Array;
  remove(): void;
}

/** The workspaces whose audio lies on this process' disk, and those that wait to put some there. */
const diskShare = new KeyedSemaphore({
  max: LIMITS.uploadsMax,
  perWorkspaceMax: LIMITS.uploadsPerWorkspaceMax,
  waitingMax: LIMITS.audioWaitingMax,
  waitMs: LIMITS.audioWaitMs,
  noun: "audio inputs",
});

type FileSource = Pick<IngressContext, "storage"> & { readonly database: Queryable };

/** Whose audio it is, and until when it is wanted. */
export interface Receiver {
  readonly caller: Caller;
  readonly signal: AbortSignal;
}

/** The caller must remove the audio that it gets. @throws ApiError */
export async function receiveTranscription(context: IngressContext, call: RouteCall): Promise<ReceivedCall> {
  const isForm = /^multipart\/form-data\b/i.test(call.request.headers.get("content-type") ?? "");
  const receiver = { caller: callerOf(call), signal: call.request.signal };
  return isForm ? receiveForm(call, receiver) : receiveJson(context, call, receiver);
}

async function receiveJson(context: IngressContext, call: RouteCall, receiver: Receiver): Promise<ReceivedCall> {
  const bytes = await readJsonBody(call.request, context.config.bodyBytesMax);
  const body = withoutNulls(readJson(bytes).value);
  const request = parse("TranscriptionRequest", body);
  const { audio_base64: _audio, mime_type: _type, file_id: _file, ...rest } = request;
  return { request: rest, audio: await audioOfBody(context, receiver, request) };
}

/** The audio that a body of JSON brings. @throws ApiError */
export async function audioOfBody(
  context: FileSource,
  receiver: Receiver,
  request: TranscriptionRequest,
): Promise<ReceivedAudio> {
  const named = audioOf(request);
  if ("fileId" in named) return stored(context, receiver, named.fileId);
  const given = await inlineInput({ ...request }, "audio", INPUT_BYTES_MAX.audio, {
    typeParam: "mime_type",
    fileParam: "file_id",
    usualType: "",
  });
  if (!given || !("bytes" in given)) throw new Error("audio in base64 that is none");
  const { bytes, contentType: claim } = given;
  const told = { bytes: bytes.length, param: "audio_base64", claim, filename: "audio", fileId: undefined } as const;
  return { ...told, source: { bytes }, view: () => bytes, remove: () => undefined };
}

async function stored({ database, storage }: FileSource, receiver: Receiver, fileId: string): Promise<ReceivedAudio> {
  const param = "file_id";
  const { caller } = receiver;
  checkMayReadFiles(caller, param);
  const [row] = isFileId(fileId)
    ? await unavailable(
        "The file of this call cannot be looked up right now; try again shortly.",
        findFiles(database, caller.workspaceId, [fileId]),
      )
    : [];
  if (!row) throw new ApiError("file_not_found", "There is no such file in this workspace.", { param });
  if (Number(row.bytes) > INPUT_BYTES_MAX.audio) throw tooLarge(param);
  return spooled(receiver, async (file) => {
    const copying = async (): Promise<void> => {
      const blocks = await findBlocks(database, row.id);
      if (!blocks) throw new Error("the file has no blocks any more");
      for await (const piece of readFile(storage, blocks)) await file.write(Uint8Array.from(piece));
    };
    await unavailable("The file of this call cannot be read right now; try again shortly.", copying());
    return { claim: row.media_type, filename: row.filename, param, fileId: row.id };
  });
}

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
      } else if (name.endsWith("[]")) {
        const list = name.slice(0, -2);
        lists.set(list, [...(lists.get(list) ?? []), await readField(reader, name)]);
      } else fields.set(name, typed(name, await readField(reader, name)));
    }
    if (!audio) {
      throw new ApiError("missing_required_parameter", "Expected the form to have a part `file`.", { param: "file" });
    }
    // Audio in the form is the audio: what JSON would name it by has no place there.
    const {
      audio_base64: _text,
      mime_type: _type,
      file_id: _file,
      ...rest
    } = Object.fromEntries([...fields, ...lists]);
    return { request: parse("TranscriptionRequest", rest), audio };
  } catch (error) {
    audio?.remove();
    incoming.drop();
    throw error;
  }
}

function typed(name: string, text: string): unknown {
  if (AS_NUMBER.has(name) && text.trim() !== "") return Number(text);
  if (AS_FLAG.has(name) && (text === "true" || text === "false")) return text === "true";
  return text;
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
      await file.write(Uint8Array.from(piece));
    }
    if (size === 0) {
      throw new ApiError("invalid_request", "Expected a file with content, got an empty one.", { param: "file" });
    }
    return { claim: contentType, filename: cleanFilename(name), param: "file", fileId: undefined };
  });
}

const NO_BYTES = new Uint8Array();

async function spooled(
  { caller, signal }: Receiver,
  fill: (file: SpoolFile) => Promise<Pick<ReceivedAudio, "param" | "claim" | "filename" | "fileId">>,
): Promise<ReceivedAudio> {
  const free = await diskShare.take(caller.workspaceId, 1, signal);
  let file: SpoolFile | undefined;
  const remove = (): void => {
    file?.remove();
    free();
  };
  try {
    file = openSpoolFile();
    const opened = file;
    const told = await fill(opened);
    await opened.end();
    const bytes = statSync(opened.path).size;
    // An empty file cannot be mapped.
    if (bytes === 0) return { ...told, bytes, source: { bytes: NO_BYTES }, view: () => NO_BYTES, remove };
    return { ...told, bytes, source: { path: opened.path }, view: () => opened.view(), remove };
  } catch (error) {
    remove();
    throw error;
  }
}

function tooLarge(param: string): ApiError {
  return new ApiError("request_too_large", `Expected audio of at most ${INPUT_BYTES_MAX.audio} bytes.`, {
    param,
  });
}
