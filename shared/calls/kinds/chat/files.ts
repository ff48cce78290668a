/** Stored files that a chat call names by `file_id`: found in the caller's workspace before anything is held. */
import type { Caller } from "#shared/access/authenticate.ts";
import type { Queryable } from "#shared/database/client.ts";
import { findFiles } from "#shared/database/files.ts";
import { ApiError } from "#shared/errors.ts";
import { isFileId } from "#shared/files/id.ts";
import { expiredLink, linkedFile } from "#shared/files/links.ts";
import { unavailable } from "#shared/files/unavailable.ts";

import { checkMayReadFiles } from "#shared/access/may-read-files.ts";
import { viewerOf } from "#shared/access/viewer.ts";

/** One image or file that we fetch for a dialect that takes bytes only; providers refuse larger ones. */
export const INLINE_ITEM_BYTES_MAX = 20 * 1_048_576;

/** All of one call, each counted as often as it is sent: a request grows by this much in memory. */
export const INLINE_BYTES_MAX = 50 * 1_048_576;

/** Different addresses of one call: it is no tool to flood others with. */
export const INLINE_ADDRESSES_MAX = 100;

export interface StoredFile {
  readonly bytes: number;
  readonly mediaType: string;
  readonly filename: string;
}

/** By id. What is not in it does not exist, or is another workspace's, which is the same. */
export type StoredFiles = ReadonlyMap<string, StoredFile>;

export const NO_FILES: StoredFiles = new Map();

/** A block that names a stored file. */
export interface FilePlace {
  readonly message: number;
  readonly part: number;
  readonly fileId: string;
  readonly param: string;
  /** True for an own link that has expired. */
  readonly isExpired: boolean;
}

/** Finds the blocks that name stored files, by id or by an own link. Accepts bodies that have not been checked. */
export function filePlaces(request: unknown): FilePlace[] {
  return listOf(member(request, "messages")).flatMap((one, message) =>
    listOf(member(one, "content")).flatMap((block, part) => {
      const named = namedFile(block);
      return named ? [{ ...named, message, part, param: `messages[${message}].content[${part}].${named.param}` }] : [];
    }),
  );
}

/** @returns the file that a content block names; `param` is counted from the block */
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
 * One query; none for a call that names no files.
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

/** Returns the kind of block that shows a file of this type to models; undefined: it cannot be shown. */
export function blockKind(mediaType: string): "image" | "audio" | "file" | undefined {
  if (["image/png", "image/jpeg", "image/gif", "image/webp"].includes(mediaType)) return "image";
  if (audioFormat(mediaType) !== undefined) return "audio";
  return /^(image|audio|video|model)\/|^application\/(octet-stream|zip|gzip|x-7z-compressed|x-gtar)$/.test(mediaType)
    ? undefined
    : "file";
}

/** `format` of an `input_audio` block. */
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

/** The stored file that a content block names; empty when it names none. */
export function fileIdOf(part: unknown): string {
  return namedFile(part)?.fileId ?? "";
}
