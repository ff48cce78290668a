/**
 * The recording of a transcription call, from a form, from base64 or from the file store: on this process' disk while it is
 * looked at, never whole in its memory. What is found out about it is ours, not the caller's word.
 */
import type { TranscriptionRequest } from "#schemas/generated/types.ts";
import { GIVEN_TYPES, givenInline } from "#shared/admission/given-media.ts";
import { checkMayReadFiles } from "#shared/admission/may-read-files.ts";
import { withoutNulls } from "#shared/admission/media-check.ts";
import { type Recording, soundOf } from "#shared/admission/transcription-constraints.ts";
import { parse } from "#shared/contracts.ts";
import { findBlocks, findFiles } from "#shared/database/files.ts";
import { ApiError } from "#shared/errors.ts";
import { isFileId } from "#shared/files/id.ts";
import { settleMediaType } from "#shared/files/media-type.ts";
import { readFile } from "#shared/files/read.ts";
import { openSpoolFile, type SpoolFile } from "#shared/files/spool-file.ts";
import { unavailable } from "#shared/files/unavailable.ts";
import { readJson } from "#shared/json.ts";
import { GIVEN_BYTES_MAX, LIMITS } from "#shared/limits.ts";
import { MediaError } from "#shared/media/media-error.ts";
import { probeAudio } from "#shared/media/probe/probe.ts";

import { readJsonBody } from "../body.ts";
import type { IngressContext } from "../context.ts";
import { FairShare } from "../fair-share.ts";
import { cleanFilename } from "../files/filename.ts";
import { openIncoming } from "../files/incoming.ts";
import { boundaryOf, MultipartReader, readField } from "../files/multipart.ts";
import { callerOf } from "../roles.ts";
import type { RouteCall } from "../serve.ts";

export interface ReceivedCall {
  readonly request: TranscriptionRequest;
  readonly sound: ReceivedSound;
}

/** A recording that was looked at. */
export interface ReceivedSound {
  readonly facts: Recording & { readonly contentType: string; readonly filename: string };
  /** Where it is stored already; else its bytes are to be. */
  readonly fileId: string | undefined;
  view(): Uint8Array;
  remove(): void;
}

/** Whose recordings lie on this process' disk, and who waits to put one there. */
const diskShare = new FairShare({
  max: LIMITS.uploadsMax,
  perWorkspaceMax: LIMITS.uploadsPerWorkspaceMax,
  waitingMax: LIMITS.recordingsWaitingMax,
  waitMs: LIMITS.recordingWaitMs,
  noun: "recordings",
});

/** Whoever gets it removes the sound. @throws ApiError */
export async function receiveTranscription(context: IngressContext, call: RouteCall): Promise<ReceivedCall> {
  const isForm = /^multipart\/form-data\b/i.test(call.request.headers.get("content-type") ?? "");
  return isForm ? receiveForm(call) : receiveJson(context, call);
}

async function receiveJson(context: IngressContext, call: RouteCall): Promise<ReceivedCall> {
  const bytes = await readJsonBody(call.request, context.config.bodyBytesMax);
  const body = withoutNulls(readJson(bytes).value);
  const request = parse("TranscriptionRequest", body);
  const { audio_base64: _sound, mime_type: _type, file_id: _file, ...rest } = request;
  return { request: rest, sound: await soundOfBody(context, call, request) };
}

/** The recording that a body of JSON brings. @throws ApiError */
export async function soundOfBody(
  context: Pick<IngressContext, "database" | "storage">,
  call: RouteCall,
  request: TranscriptionRequest,
): Promise<ReceivedSound> {
  const named = soundOf(request);
  if ("fileId" in named) return stored(context, call, named.fileId);
  const given = await givenInline({ ...request }, "audio", GIVEN_BYTES_MAX.audio, {
    typeParam: "mime_type",
    fileParam: "file_id",
    usualType: "",
  });
  if (!given || !("bytes" in given)) throw new Error("a sound in base64 that is none");
  const { bytes, contentType } = given;
  const facts = await look(bytes, contentType, "audio", "audio_base64");
  return { facts, fileId: undefined, view: () => bytes, remove: () => undefined };
}

async function stored(
  { database, storage }: Pick<IngressContext, "database" | "storage">,
  call: RouteCall,
  fileId: string,
): Promise<ReceivedSound> {
  const param = "file_id";
  const caller = callerOf(call);
  checkMayReadFiles(caller, param);
  const [row] = isFileId(fileId)
    ? await unavailable("The file of this call cannot be looked up right now; try again shortly.", () =>
        findFiles(database, caller.workspaceId, [fileId]),
      )
    : [];
  if (!row) throw new ApiError("file_not_found", "There is no such file in this workspace.", { param });
  if (Number(row.bytes) > GIVEN_BYTES_MAX.audio) throw tooLarge(param);
  const sound = await spooled(call, async (file) => {
    await unavailable("The file of this call cannot be read right now; try again shortly.", async () => {
      const blocks = await findBlocks(database, row.id);
      if (!blocks) throw new Error("the file has no blocks any more");
      for await (const piece of readFile(storage, blocks)) await file.write(Uint8Array.from(piece));
    });
    return { contentType: row.media_type, filename: row.filename, param };
  });
  return { ...sound, fileId: row.id };
}

/** Members that a form can only write as text. */
const AS_NUMBER: ReadonlySet<string> = new Set(["temperature"]);
const AS_FLAG: ReadonlySet<string> = new Set(["stream"]);

async function receiveForm(call: RouteCall): Promise<ReceivedCall> {
  const incoming = openIncoming(call.request);
  const reader = new MultipartReader(incoming, boundaryOf(call.request.headers));
  // Maps, since a part may be called `constructor[]`.
  const fields = new Map<string, unknown>();
  const lists = new Map<string, string[]>();
  let sound: ReceivedSound | undefined;
  try {
    for (let head = await reader.nextPart(); head !== undefined; head = await reader.nextPart()) {
      const { name } = head;
      if (name === "file") {
        if (sound) throw new ApiError("invalid_request", "Expected one file, got several.", { param: "file" });
        sound = await receiveFile(call, reader, head.filename, head.contentType);
      } else if (name.endsWith("[]")) {
        const list = name.slice(0, -2);
        lists.set(list, [...(lists.get(list) ?? []), await readField(reader, name)]);
      } else fields.set(name, typed(name, await readField(reader, name)));
    }
    if (!sound) {
      throw new ApiError("missing_required_parameter", "Expected the form to have a part `file`.", { param: "file" });
    }
    // A sound in the form is the sound: what JSON would name it by has no place there.
    const {
      audio_base64: _text,
      mime_type: _type,
      file_id: _file,
      ...rest
    } = Object.fromEntries([...fields, ...lists]);
    return { request: parse("TranscriptionRequest", rest), sound };
  } catch (error) {
    sound?.remove();
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
  call: RouteCall,
  reader: MultipartReader,
  name: string | undefined,
  contentType: string | undefined,
): Promise<ReceivedSound> {
  if (name === undefined) {
    throw new ApiError("invalid_request", "Expected `file` to be a file with a filename, got a plain field.", {
      param: "file",
    });
  }
  return spooled(call, async (file) => {
    let size = 0;
    for (let piece = await reader.nextBytes(); piece !== undefined; piece = await reader.nextBytes()) {
      size += piece.length;
      if (size > GIVEN_BYTES_MAX.audio) throw tooLarge("file");
      // What is read next takes the place of this one.
      await file.write(Uint8Array.from(piece));
    }
    if (size === 0) {
      throw new ApiError("invalid_request", "Expected a file with content, got an empty one.", { param: "file" });
    }
    return { contentType, filename: cleanFilename(name), param: "file" };
  });
}

async function spooled(
  call: RouteCall,
  fill: (
    file: SpoolFile,
  ) => Promise<Pick<Recording, "param"> & { readonly contentType: string | undefined; readonly filename: string }>,
): Promise<ReceivedSound> {
  const free = await diskShare.take(callerOf(call).workspaceId, 1, call.request.signal);
  let file: SpoolFile | undefined;
  const remove = (): void => {
    file?.remove();
    free();
  };
  try {
    file = openSpoolFile();
    const opened = file;
    const { contentType, filename, param } = await fill(opened);
    await opened.end();
    return {
      facts: await look(opened.view(), contentType, filename, param),
      fileId: undefined,
      view: () => opened.view(),
      remove,
    };
  } catch (error) {
    remove();
    throw error;
  }
}

/** What it is and how long it lasts. @throws ApiError `unprocessable_input` */
async function look(
  bytes: Uint8Array,
  claim: string | undefined,
  filename: string,
  param: Recording["param"],
): Promise<ReceivedSound["facts"]> {
  let contentType: string;
  try {
    contentType = await settleMediaType(bytes, claim, filename);
  } catch (error) {
    // Clients guess the type of a recording by its name; what the bytes are is what counts.
    if (!(error instanceof ApiError)) throw error;
    contentType = await settleMediaType(bytes, undefined, "");
  }
  try {
    const { seconds } = probeAudio(bytes);
    if (!GIVEN_TYPES.audio.includes(contentType)) contentType = "application/octet-stream";
    return { bytes: bytes.length, seconds, param, contentType, filename };
  } catch (error) {
    if (!(error instanceof MediaError)) throw error;
    throw new ApiError("unprocessable_input", error.message, { param, cause: error });
  }
}

function tooLarge(param: string): ApiError {
  return new ApiError("request_too_large", `Expected a recording of at most ${GIVEN_BYTES_MAX.audio} bytes.`, {
    param,
  });
}
