/**
 * Stores the audio of a call on this process' disk for probing (probe-recording.ts). The audio comes from base64, the file store, or a
 * form. Only audio in JSON is ever completely in memory.
 */
import { statSync } from "node:fs";

import type { TranscriptionRequest } from "#schemas/generated/types.ts";
import type { Caller } from "#shared/access/authenticate.ts";
import { checkMayReadFiles } from "#shared/access/may-read-files.ts";
import { viewerOf } from "#shared/access/viewer.ts";
import type { Queryable } from "#shared/database/client.ts";
import { findReadable } from "#shared/database/files.ts";
import { ApiError } from "#shared/base/errors.ts";
import { isFileId } from "#shared/files/id.ts";
import { readFile } from "#shared/files/read.ts";
import { openSpoolFile, type SpoolFile } from "#shared/files/spool-file.ts";
import { unavailable } from "#shared/files/unavailable.ts";
import { inlineInput, INPUT_BYTES_MAX } from "#shared/calls/kinds/input-media.ts";
import { audioOf } from "#shared/calls/kinds/transcription.ts";
import type { MediaSource } from "#shared/media/media-probes.ts";
import { openRequestLimit } from "#shared/limits/request-limit.ts";
import type { Storage } from "#shared/storage/client.ts";
import { UPLOADS_MAX, UPLOADS_PER_WORKSPACE_MAX } from "#shared/files/uploads.ts";
import { paced } from "#shared/config/pace.ts";

/** Maximum number of calls that wait for disk space, and their longest wait in milliseconds. Audio shares the disk with uploads. */
export const AUDIO_WAITING_MAX = 96;
export const AUDIO_WAIT_MS = paced(10_000);

/** Audio of known size, not yet probed. */
export interface ReceivedAudio {
  readonly bytes: number;
  /** Member of the request that contained the audio. */
  readonly param: "file" | "audio_base64" | "file_id";
  /** Media type that the caller claims. */
  readonly claim: string | undefined;
  readonly filename: string;
  /** Id of the file if the audio is already stored; undefined if its bytes are still to be stored. */
  readonly fileId: string | undefined;
  readonly source: MediaSource;
  view(): Uint8Array;
  remove(): void;
}

/** Limits the calls that have audio on this process' disk, per process and per workspace, and those that wait for disk space. */
const diskShare = openRequestLimit({
  max: UPLOADS_MAX,
  perWorkspaceMax: UPLOADS_PER_WORKSPACE_MAX,
  waitingMax: AUDIO_WAITING_MAX,
  waitMs: AUDIO_WAIT_MS,
  noun: "audio inputs",
});

interface FileSource {
  readonly storage: Storage;
  readonly database: Queryable;
}

/** Caller that sent the audio, and a signal that aborts when the audio is no longer needed. */
export interface Receiver {
  readonly caller: Caller;
  readonly signal: AbortSignal;
}

/** Reads the audio of a JSON body from base64 or the file store, and writes it to disk. @throws ApiError */
export async function audioOfBody(
  context: FileSource,
  receiver: Receiver,
  request: TranscriptionRequest,
): Promise<ReceivedAudio> {
  const named = audioOf(request);
  if ("fileId" in named) return stored(context, receiver, named.fileId);
  const inlineAudio = await inlineInput({ ...request }, "audio", INPUT_BYTES_MAX.audio, {
    typeParam: "mime_type",
    fileParam: "file_id",
  });
  if (!inlineAudio || !("bytes" in inlineAudio)) throw new Error("audio in base64 that is none");
  const { bytes, contentType: claim } = inlineAudio;
  const metadata = { bytes: bytes.length, param: "audio_base64", claim, filename: "audio", fileId: undefined } as const;
  return { ...metadata, source: { bytes }, view: () => bytes, remove: () => undefined };
}

async function stored({ database, storage }: FileSource, receiver: Receiver, fileId: string): Promise<ReceivedAudio> {
  const param = "file_id";
  const { caller } = receiver;
  checkMayReadFiles(caller, param);
  const found = isFileId(fileId)
    ? await unavailable(
        "The file of this call cannot be looked up right now; try again shortly.",
        findReadable(database, viewerOf(caller), fileId),
      )
    : undefined;
  if (!found) throw new ApiError("file_not_found", "There is no such file in this workspace.", { param });
  const { blocks, mediaType: claim, filename } = found;
  if (blocks.bytes > INPUT_BYTES_MAX.audio) throw tooLarge(param);
  return spooled(receiver, async (file) => {
    const copying = async (): Promise<void> => {
      for await (const piece of readFile(storage, blocks)) await file.write(new Uint8Array(piece));
    };
    await unavailable("The file of this call cannot be read right now; try again shortly.", copying());
    return { claim, filename, param, fileId };
  });
}

const NO_BYTES = new Uint8Array();

/**
 * Creates a file on disk for received audio and fills it.
 * @param fill writes the bytes, and returns the known properties of the audio
 * @throws ApiError `overloaded`, and the errors of `fill`
 */
export async function spooled(
  { caller, signal }: Receiver,
  fill: (file: SpoolFile) => Promise<Pick<ReceivedAudio, "param" | "claim" | "filename" | "fileId">>,
): Promise<ReceivedAudio> {
  const { release: free } = await diskShare.take({ owner: caller.workspaceId }, signal);
  let file: SpoolFile | undefined;
  const remove = (): void => {
    file?.remove();
    free();
  };
  try {
    file = openSpoolFile();
    const opened = file;
    const metadata = await fill(opened);
    await opened.end();
    const bytes = statSync(opened.path).size;
    // An empty file cannot be mapped.
    if (bytes === 0) return { ...metadata, bytes, source: { bytes: NO_BYTES }, view: () => NO_BYTES, remove };
    return { ...metadata, bytes, source: { path: opened.path }, view: () => opened.view(), remove };
  } catch (error) {
    remove();
    throw error;
  }
}

export function tooLarge(param: string): ApiError {
  return new ApiError("request_too_large", `Expected audio of at most ${INPUT_BYTES_MAX.audio} bytes.`, {
    param,
  });
}
