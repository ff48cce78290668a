/** Writes the inputs of a run into its folder: stored files, fetched web pages, and bytes and text of the request. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import type { CapabilityModality, InputMember } from "#shared/calls/capabilities/entry.ts";
import { findReadable } from "#shared/database/files.ts";
import { anyMember } from "#shared/database/viewer.ts";
import { ApiError } from "#shared/base/errors.ts";
import { isFileId } from "#shared/files/id.ts";
import { settleMediaType } from "#shared/files/media-type.ts";
import { readFile } from "#shared/files/read.ts";
import { sniffMediaType, SNIFF_BYTES } from "#shared/media/sniff.ts";
import { sampleFile } from "#shared/calls/capabilities/samples.ts";
import type { StoredInputs } from "#shared/calls/kinds/input-media.ts";
import { fetchPublic } from "#shared/net/fetch.ts";
import { readCallMedia } from "#shared/storage/call-media.ts";

import type { RunFiles } from "../../capabilities/child.ts";
import type { InputFile, InputPage } from "../../capabilities/define.ts";
import { WEB_PAGE_BYTES_MAX, WEB_REDIRECTS_MAX } from "../../capabilities/limits.ts";
import type { WorkerContext } from "../../context.ts";
import { bringPage, type PageParams, type PageRun } from "./pages.ts";
import { fetchFault, openFile, tooLarge } from "./taken.ts";

/** Maximum size of one input in bytes, by the kind of input that the capability declares. */
const CAPABILITY_INPUT_BYTES_MAX: Readonly<Record<CapabilityModality, number>> = {
  image: 50 * 1_048_576,
  video: 2_048 * 1_048_576,
  audio: 500 * 1_048_576,
  document: 100 * 1_048_576,
  archive: 500 * 1_048_576,
  text: 2 * 1_048_576,
  any: 500 * 1_048_576,
};

/** Timeout of fetching one input from its address, in milliseconds. */
const CAPABILITY_FETCH_MS = 120_000;

type Context = Pick<WorkerContext, "database" | "storage">;

/** An input in the admitted request. Bytes that the request contained in base64 may have been moved to the object store. */
interface RequestedInput {
  readonly file_id?: string;
  readonly url?: string;
  readonly base64?: string;
  readonly mime_type?: string;
  readonly text?: string;
  /** Name under which the input is listed in `RunInputs.stored`, if its bytes were moved to the object store. */
  readonly stored?: string;
}

export interface RunInputs extends PageRun {
  readonly context: Context;
  readonly workspaceId: string;
  readonly members: Readonly<Record<string, InputMember>>;
  readonly input: Readonly<Record<string, unknown>>;
  readonly stored: StoredInputs;
}

/**
 * Writes all inputs of a run into its folder and returns the descriptions of these files, by input name.
 * @throws ApiError that names the invalid parameter
 */
export async function readInputs(run: RunInputs): Promise<Record<string, RunFiles>> {
  const files: Record<string, RunFiles> = {};
  for (const [name, member] of Object.entries(run.members)) {
    const requested = run.input[name] as RequestedInput | readonly RequestedInput[] | undefined;
    if (requested === undefined) continue;
    if (member.isAddress === true) {
      files[name] = await bringAddress(run, run.input[name], join(run.folder, `in-${name}`), `input.${name}`);
      continue;
    }
    if (member.named !== undefined) {
      const all: Record<string, InputFile> = {};
      for (const [own, one] of Object.entries(requested as Readonly<Record<string, RequestedInput>>)) {
        all[own] = await readOne(run, member, `input.${name}.${own}`, `${name}-${own}`, one);
      }
      files[name] = all;
      continue;
    }
    if (!Array.isArray(requested)) {
      files[name] = await readOne(run, member, `input.${name}`, name, requested as RequestedInput);
      continue;
    }
    const list: InputFile[] = [];
    for (const [at, one] of (requested as readonly RequestedInput[]).entries()) {
      list.push(await readOne(run, member, `input.${name}[${at}]`, `${name}-${at}`, one));
    }
    files[name] = list;
  }
  return files;
}

/**
 * Writes the content of an address into a file. For a link to one of our stored files, reads the bytes from the store, because a request
 * would return the same bytes.
 */
async function bringAddress(run: RunInputs, requested: unknown, path: string, param: string): Promise<InputPage> {
  if (typeof requested === "string") return bringPage(run, requested, path, param);
  const { file_id: id, url } = requested as { readonly file_id: string; readonly url: string };
  const { method, max_bytes: bytesMax = WEB_PAGE_BYTES_MAX } = run.params as PageParams;
  const { bytes, mediaType = "" } = await bringFile(run, id, path, bytesMax, param);
  const headers = { "content-type": mediaType, "content-length": String(bytes) };
  if (method === "HEAD") await writeFile(path, "");
  return {
    path,
    bytes: method === "HEAD" ? 0 : bytes,
    name: "page",
    mediaType,
    address: url,
    status: 200,
    contentType: mediaType,
    headers,
  };
}

async function readOne(
  run: RunInputs,
  { kind }: InputMember,
  param: string,
  name: string,
  requested: RequestedInput,
): Promise<InputFile> {
  const path = join(run.folder, `in-${name}`);
  const bytesMax = CAPABILITY_INPUT_BYTES_MAX[kind];
  const found = await bring(run, requested, path, bytesMax, param);
  const mediaType = found.mediaType ?? (await typeOf(path, requested.mime_type, found.name ?? "", param));
  if (!isOfKind(kind, mediaType)) throw await ofOtherKind(kind, mediaType, path, param);
  const charset = /;\s*charset\s*=\s*"?([\w:.+-]{1,40})/i.exec(found.contentType ?? requested.mime_type ?? "")?.[1];
  return {
    path,
    mediaType,
    bytes: found.bytes,
    name: found.name ?? name,
    ...(found.address === undefined ? {} : { address: found.address }),
    ...(charset === undefined ? {} : { charset }),
  };
}

interface Brought {
  readonly bytes: number;
  /** Media type of a stored file. If absent, it is detected from the bytes. */
  readonly mediaType?: string;
  readonly name?: string;
  readonly address?: string;
  /** Content type that the server sent, with its parameters. */
  readonly contentType?: string;
}

async function bring(
  run: RunInputs,
  requested: RequestedInput,
  path: string,
  bytesMax: number,
  param: string,
): Promise<Brought> {
  if (requested.file_id !== undefined) return bringFile(run, requested.file_id, path, bytesMax, `${param}.file_id`);
  if (requested.url !== undefined) return bringUrl(run, requested.url, path, bytesMax, `${param}.url`);
  const bytes = await bytesOf(run, requested, param);
  if (bytes.length > bytesMax) throw tooLarge(param, bytesMax, bytes.length);
  await run.reserveBytes(bytes.length);
  await writeFile(path, bytes);
  return { bytes: bytes.length };
}

async function bytesOf(
  { context, stored, signal }: RunInputs,
  requested: RequestedInput,
  param: string,
): Promise<Uint8Array> {
  if (requested.text !== undefined) return Buffer.from(requested.text);
  const kept = requested.stored === undefined ? undefined : stored[requested.stored];
  if (kept) return readCallMedia(context.storage, kept.reference, signal);
  try {
    return Uint8Array.fromBase64(requested.base64 ?? "");
  } catch (error) {
    throw new ApiError("unprocessable_input", "Expected base64, or a base64 data URL.", {
      param: `${param}.base64`,
      cause: error,
    });
  }
}

async function bringFile(run: RunInputs, id: string, path: string, bytesMax: number, param: string): Promise<Brought> {
  const sample = sampleFile(id);
  if (sample) {
    await writeFile(path, sample.read());
    return { bytes: sample.bytes, mediaType: sample.mediaType, name: sample.name };
  }
  const { database, storage } = run.context;
  const stored = isFileId(id) ? await findReadable(database, anyMember(run.workspaceId), id) : undefined;
  if (!stored) throw new ApiError("file_not_found", "There is no such file in this workspace.", { param });
  const { filename: name, mediaType, blocks } = stored;
  if (blocks.bytes > bytesMax) throw tooLarge(param, bytesMax, blocks.bytes);
  await run.reserveBytes(blocks.bytes);
  const file = openFile(path);
  try {
    for await (const piece of readFile(storage, blocks)) {
      run.signal.throwIfAborted();
      await file.write(piece);
    }
  } finally {
    await file.end();
  }
  return { bytes: blocks.bytes, mediaType, name };
}

async function bringUrl(run: RunInputs, url: string, path: string, bytesMax: number, param: string): Promise<Brought> {
  const file = openFile(path);
  let [bytes, address, contentType] = [0, url, ""];
  const onBytes = async (piece: Uint8Array): Promise<void> => {
    bytes += piece.length;
    await run.reserveBytes(piece.length);
    await file.write(piece);
  };
  try {
    const answer = await fetchPublic(url, {
      signal: run.signal,
      bytesMax,
      timeoutMs: CAPABILITY_FETCH_MS,
      redirectsMax: WEB_REDIRECTS_MAX,
      onBytes,
    });
    address = answer.url;
    contentType = answer.headers.get("content-type") ?? "";
  } catch (error) {
    throw fetchFault(error, param, bytesMax);
  } finally {
    await file.end();
  }
  if (bytes === 0) throw new ApiError("unprocessable_input", "The file at this address is empty.", { param });
  return { bytes, address, contentType };
}

async function typeOf(path: string, claim: string | undefined, name: string, param: string): Promise<string> {
  const head = await Bun.file(path).slice(0, SNIFF_BYTES).bytes();
  try {
    return await settleMediaType(head, claim, name);
  } catch (error) {
    if (error instanceof ApiError) throw new ApiError(error.code, error.message, { param, cause: error });
    throw error;
  }
}

const TYPES: Readonly<Record<Exclude<CapabilityModality, "any">, RegExp>> = {
  image: /^image\//,
  video: /^(?:video\/|image\/gif$)/,
  audio: /^(?:audio\/|video\/|application\/ogg$)/,
  // Office documents are ZIP archives: without a file name, the bytes do not show the format.
  document: /^(?:text\/|application\/(?!gzip$|x-xz$|x-bzip2$|x-7z|octet-stream$)|image\/svg)/,
  // Tar and Zstandard are stored as octet streams; the engine that opens a file rejects it if it is no archive.
  archive: /^application\/(?!pdf$)/,
  text: /^(?:text\/|application\/(?:json|jsonl|xml|yaml|x-subrip)$|image\/svg\+xml$)/,
};

/**
 * Descriptions of the formats that each kind of input may have, for error messages. A capability that accepts fewer formats reports an
 * unaccepted format in its own error.
 */
const TAKEN: Readonly<Record<Exclude<CapabilityModality, "any">, string>> = {
  image: "an image in jpeg, png, webp, avif, gif, tiff or bmp",
  video: "a video in mp4, mov, webm, mkv, avi, flv, ts or gif",
  audio:
    "audio in mp3, m4a, aac, ogg, opus, flac, wav, aiff, caf, ac3, eac3, or the sound of mp4, mov, webm, mkv, avi, flv or ts",
  document: "a document in pdf, an office format, html, markdown or text",
  archive: "an archive in zip, tar, tar.gz, tar.xz, tar.bz2, tar.zst or 7z",
  text: "text",
};

function isOfKind(kind: CapabilityModality, mediaType: string): boolean {
  return kind === "any" || TYPES[kind].test(mediaType);
}

/** Returns the error for a file of another kind. Unknown types are stored as octet streams, so that the bytes must be inspected again. */
async function ofOtherKind(
  kind: CapabilityModality,
  mediaType: string,
  path: string,
  param: string,
): Promise<ApiError> {
  const head = await Bun.file(path).slice(0, SNIFF_BYTES).bytes();
  const got = (await sniffMediaType(head)) ?? mediaType;
  const taken = kind === "any" ? kind : TAKEN[kind];
  return new ApiError("unprocessable_input", `Expected ${param} to be ${taken}, got ${got}.`, { param });
}
