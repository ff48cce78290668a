/**
 * Reads the media inputs of a call, and converts them to the form that the source accepts. Files, URLs and claim checks are read only now.
 */
import { type InputMedia, INPUT_TYPES } from "#shared/calls/kinds/input-media.ts";
import { findReadable } from "#shared/database/files.ts";
import { anyMember } from "#shared/database/viewer.ts";
import { ApiError } from "#shared/base/errors.ts";
import { settleMediaType } from "#shared/files/media-type.ts";
import { readFile } from "#shared/files/read.ts";
import type { Lease } from "#shared/limits/fair-limit.ts";
import { addressFault, fetchPublic, OutboundError } from "#shared/net/fetch.ts";
import { mediaSize, readCallMedia } from "#shared/storage/call-media.ts";

import type { WorkerContext } from "../../context.ts";
import { openByteBudget } from "../../providers/byte-budget.ts";
import { SENTENCES } from "../../providers/inline-media.ts";
import type { MediaInput, Media } from "../../providers/media.ts";
import { ProviderError, type RejectedCode } from "../../providers/provider.ts";

/**
 * Maximum bytes of the media inputs of all media jobs in a worker. A job that would exceed this limit waits. Each input counts three times,
 * because copies are in memory while it is sent: the input, the surrounding form or text, and the socket's buffer. Measured: 53 MB for an
 * input of 18 MB.
 */
export const INPUT_PROCESS_BYTES_MAX = 512 * 1_048_576;
const GIVEN_COPIES = 3;

/** Timeout for fetching one input, in milliseconds. A slow server of the caller does not count as a provider failure. */
const GIVEN_FETCH_MS = 120_000;

type Context = Pick<WorkerContext, "database" | "storage" | "log">;

/** Media inputs by name, such as `image`. */
export type ReadInputs = Readonly<Record<string, MediaInput>>;

/** Reads the media inputs of one job. `release` frees their memory; `read` then reads them again. */
export interface InputReader {
  /**
   * Reads all inputs.
   * @param takesUrls true if the source fetches URLs itself, so that they are passed on
   * @throws ProviderError `rejected` that names the input which cannot be read; `aborted`
   */
  read(takesUrls: boolean, signal: AbortSignal): Promise<ReadInputs>;
  release(): void;
}

const budget = openByteBudget(INPUT_PROCESS_BYTES_MAX);

export function createInputReader(
  context: Context,
  workspaceId: string,
  media: readonly InputMedia[],
  bytesMax: (one: InputMedia) => number,
): InputReader {
  const read = new Map<string, Media>();
  let lease: Lease | undefined;
  const release = (): void => {
    lease?.release();
    lease = undefined;
    read.clear();
  };

  const bytesOf = async (one: InputMedia, signal: AbortSignal): Promise<Media> => {
    if ("bytes" in one) return { bytes: one.bytes, contentType: one.contentType };
    const media = await mediaOf(context, workspaceId, one, bytesMax(one), signal);
    read.set(one.name, media);
    return media;
  };

  return {
    async read(takesUrls, signal) {
      const isPassed = (one: InputMedia): boolean => takesUrls && "url" in one;
      const wanted = media.filter((one) => !isPassed(one) && !("bytes" in one));
      if (wanted.some(({ name }) => !read.has(name))) {
        // Reserves all at once: two calls that each hold one input and wait for the next would block each other.
        release();
        // Inputs of unknown size reserve their maximum once, so that a caller's slow server does not block all other jobs.
        const most = wanted.reduce(
          (sum, one) => sum + ("kept" in one ? inMemory(mediaSize(one.kept.reference)) : bytesMax(one)),
          0,
        );
        lease = await budget.take({ amount: Math.min(most, INPUT_PROCESS_BYTES_MAX) }, signal);
      }
      const inputs: Record<string, MediaInput> = {};
      for (const one of media) {
        inputs[one.name] =
          isPassed(one) && "url" in one ? { url: one.url } : (read.get(one.name) ?? (await bytesOf(one, signal)));
      }
      lease?.shrink(inMemory([...read.values()].reduce((sum, { bytes }) => sum + bytes.length, 0)));
      return inputs;
    },
    release,
  };
}

function inMemory(bytes: number): number {
  return Math.min(bytes * GIVEN_COPIES, INPUT_PROCESS_BYTES_MAX);
}

async function mediaOf(
  context: Context,
  workspaceId: string,
  one: Exclude<InputMedia, { readonly bytes: Uint8Array }>,
  bytesMax: number,
  signal: AbortSignal,
): Promise<Media> {
  if ("url" in one) return fetched(one, bytesMax, signal);
  if ("fileId" in one) return readStored(context, workspaceId, one, signal);
  try {
    const bytes = await readCallMedia(context.storage, one.kept.reference, signal);
    return { bytes, contentType: one.kept.content_type };
  } catch (error) {
    if (signal.aborted) throw new ProviderError("aborted", "the call was aborted", { cause: signal.reason });
    throw error;
  }
}

async function fetched(
  one: InputMedia & { readonly url: string },
  bytesMax: number,
  signal: AbortSignal,
): Promise<Media> {
  try {
    const accept = INPUT_TYPES[one.kind].join(",");
    const request = { signal, bytesMax, timeoutMs: GIVEN_FETCH_MS, accept };
    return await typed(one, (await fetchPublic(one.url, request)).bytes);
  } catch (error) {
    if (signal.aborted) throw new ProviderError("aborted", "the call was aborted", { cause: signal.reason });
    if (!(error instanceof OutboundError)) throw error;
    if (error.fault === "too_large") throw rejected(one, `Expected at most ${bytesMax} bytes at this address.`);
    throw rejected(one, SENTENCES[error.fault], addressFault(error));
  }
}

async function readStored(
  { database, storage }: Context,
  workspaceId: string,
  one: InputMedia & { readonly fileId: string },
  signal: AbortSignal,
): Promise<Media> {
  const stored = await findReadable(database, anyMember(workspaceId), one.fileId);
  if (!stored) throw rejected(one, "There is no such file in this workspace.", "file_not_found");
  const pieces: Uint8Array[] = [];
  for await (const piece of readFile(storage, stored.blocks)) {
    if (signal.aborted) throw new ProviderError("aborted", "the call was aborted", { cause: signal.reason });
    pieces.push(piece);
  }
  return typed(one, Buffer.concat(pieces));
}

/** Detects the media type of an input from its bytes. */
async function typed(one: InputMedia, bytes: Uint8Array): Promise<Media> {
  const types = INPUT_TYPES[one.kind];
  let contentType: string;
  try {
    contentType = await settleMediaType(bytes, undefined, "");
  } catch (error) {
    if (error instanceof ApiError) throw rejected(one, error.message);
    throw error;
  }
  if (types.includes(contentType)) return { bytes, contentType };
  throw rejected(one, `Expected one of ${types.join(", ")} at this address, got ${contentType}.`);
}

function rejected({ param }: InputMedia, say: string, code: RejectedCode = "unprocessable_input"): ProviderError {
  return new ProviderError("rejected", "media of the call cannot be used", { code, param, say, isUnsent: true });
}
