/**
 * Finds the stored files that a chat call references by `file_id`. They are looked up in the caller's workspace before credits are held.
 */
import type { Caller } from "#shared/access/authenticate.ts";
import type { Queryable } from "#shared/database/client.ts";
import { findFiles } from "#shared/database/files.ts";
import { ApiError } from "#shared/base/errors.ts";
import { isFileId } from "#shared/files/id.ts";
import { expiredLink, linkedFile } from "#shared/files/links.ts";
import { unavailable } from "#shared/files/unavailable.ts";

import { checkMayReadFiles } from "#shared/access/may-read-files.ts";
import { viewerOf } from "#shared/access/viewer.ts";

/** Maximum size of one image or file, in bytes, that we download for an API that accepts only bytes. Providers reject larger ones. */
export const INLINE_ITEM_BYTES_MAX = 20 * 1_048_576;

/**
 * Maximum total size of the downloaded media of one call, in bytes, each counted as often as it is sent. The request grows by this much in
 * memory.
 */
export const INLINE_BYTES_MAX = 50 * 1_048_576;

/** Maximum number of different URLs in one call. The limit prevents callers from flooding other servers. */
export const INLINE_ADDRESSES_MAX = 100;

export interface StoredFile {
  readonly bytes: number;
  readonly mediaType: string;
  readonly filename: string;
}

/** Stored files by id. A missing id does not exist or belongs to another workspace; the caller cannot see the difference. */
export type StoredFiles = ReadonlyMap<string, StoredFile>;

export const NO_FILES: StoredFiles = new Map();

/** Location of a content block that references a stored file. */
export interface FilePlace {
  readonly message: number;
  readonly part: number;
  readonly fileId: string;
  readonly param: string;
  /** True if the block contains a link to a file of this service, and the link has expired. */
  readonly isExpired: boolean;
}

/** Returns the blocks that reference stored files, by id or by a link of this service. Accepts bodies that were not validated. */
export function filePlaces(request: unknown): FilePlace[] {
  return listOf(member(request, "messages")).flatMap((one, message) =>
    listOf(member(one, "content")).flatMap((block, part) => {
      const named = namedFile(block);
      return named ? [{ ...named, message, part, param: `messages[${message}].content[${part}].${named.param}` }] : [];
    }),
  );
}

/** @returns the file that a content block references, undefined if none; `param` is relative to the block */
export function namedFile(block: unknown): Pick<FilePlace, "fileId" | "isExpired" | "param"> | undefined {
  const type = member(block, "type");
  if (type !== "file" && type !== "image_url") return undefined;
  const holder = member(block, type);
  const fileId = type === "file" ? member(holder, "file_id") : undefined;
  if (typeof fileId === "string") return { fileId, isExpired: false, param: "file.file_id" };
  for (const name of type === "file" ? ["file_data", "file_url"] : ["url"]) {
    const address = member(holder, name);
    const linked = typeof address === "string" ? linkedFile(address) : undefined;
    if (linked) return { ...linked, param: `${type}.${name}` };
  }
  return undefined;
}

/**
 * Looks up all files of a call in one query, and makes no query for a call without files.
 * @throws ApiError `unsupported_value` for too many, `permission_denied` for a role without access to files, `file_not_found` for an
 * expired link, `service_unavailable`
 */
export async function findStoredFiles(
  database: Queryable,
  caller: Pick<Caller, "workspaceId" | "memberId" | "role">,
  request: unknown,
): Promise<StoredFiles> {
  const places = filePlaces(request);
  const [first] = places;
  if (!first) return NO_FILES;
  checkMayReadFiles(caller, first.param);
  const expired = places.find(({ isExpired }) => isExpired);
  if (expired) throw expiredLink(expired.param);
  const ids = [...new Set(places.map(({ fileId }) => fileId))].filter(isFileId);
  if (ids.length > INLINE_ADDRESSES_MAX) {
    throw new ApiError("unsupported_value", `Expected at most ${INLINE_ADDRESSES_MAX} different files in one call.`, {
      param: "messages",
    });
  }
  const rows =
    ids.length === 0
      ? []
      : await unavailable(
          "The files of this call cannot be looked up right now; try again shortly.",
          findFiles(database, viewerOf(caller), ids),
        );
  return new Map(
    rows.map((row) => [row.id, { bytes: Number(row.bytes), mediaType: row.media_type, filename: row.filename }]),
  );
}

/** Returns the kind of content block for a file of this type; undefined if models do not support the type. */
export function blockKind(mediaType: string): "image" | "audio" | "file" | undefined {
  if (["image/png", "image/jpeg", "image/gif", "image/webp"].includes(mediaType)) return "image";
  if (audioFormat(mediaType) !== undefined) return "audio";
  return /^(image|audio|video|model)\/|^application\/(octet-stream|zip|gzip|x-7z-compressed|x-gtar)$/.test(mediaType)
    ? undefined
    : "file";
}

/** Returns the `format` of an `input_audio` block for a media type; undefined for other types than WAV and MP3. */
export function audioFormat(mediaType: string): "wav" | "mp3" | undefined {
  return mediaType === "audio/wav" ? "wav" : mediaType === "audio/mpeg" ? "mp3" : undefined;
}

function member(holder: unknown, name: string): unknown {
  return typeof holder === "object" && holder !== null
    ? (holder as Readonly<Record<string, unknown>>)[name]
    : undefined;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns the id of the stored file that a content block references; "" if there is none. */
export function fileIdOf(part: unknown): string {
  return namedFile(part)?.fileId ?? "";
}
