/** GET /v1/files/{file_id}/content: returns the file or a range of its bytes, which are verified before they are sent. */
import { type FileRow, findBlocks } from "#shared/database/files.ts";
import { ApiError } from "#shared/base/errors.ts";
import { readFile } from "#shared/files/read.ts";
import { StorageError } from "#shared/storage/objects.ts";

import type { IngressContext } from "../../context.ts";

import { attachment } from "./filename.ts";
import { streamOf } from "../../core/response-body.ts";

/** Headers that prevent browsers from running or displaying a user's file within the service's origin. */
const SAFETY = {
  "x-content-type-options": "nosniff",
  "content-security-policy": "sandbox; default-src 'none'",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "private, no-cache",
} as const;

/** File to send: a workspace's file, or a sample file of the service. A sample includes its bytes in `content`. */
export interface ServedFile extends Pick<FileRow, "id" | "bytes" | "filename" | "media_type" | "sha256"> {
  readonly content?: Uint8Array<ArrayBuffer>;
}

/**
 * Returns the response with the file's content. @throws ApiError `range_not_satisfiable`, `service_unavailable`, `internal_error` for
 * damaged bytes
 */
export async function fileContent(
  context: IngressContext,
  file: ServedFile,
  request: Request,
  further: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const bytes = Number(file.bytes);
  const etag = `"${Buffer.from(file.sha256).toString("hex")}"`;
  const headers: Record<string, string> = { ...SAFETY, ...further, etag, "accept-ranges": "bytes" };
  if (isKnown(request.headers.get("if-none-match"), etag)) return new Response(null, { status: 304, headers });
  const range = rangeOf(request.headers.get("range"), request.headers.get("if-range"), etag, bytes);
  if (range.kind === "none") {
    throw new ApiError("range_not_satisfiable", `Expected a range within the ${bytes} bytes of the file.`, {
      headers: { "content-range": `bytes */${bytes}` },
    });
  }
  const { from, to } = range.kind === "part" ? range : { from: 0, to: bytes };
  const status = range.kind === "part" ? 206 : 200;
  if (status === 206) headers["content-range"] = `bytes ${from}-${to - 1}/${bytes}`;
  headers["content-type"] = file.media_type;
  headers["content-disposition"] = attachment(file.filename);
  if (request.method === "HEAD") {
    return new Response(null, { status, headers: { ...headers, "content-length": String(to - from) } });
  }
  return new Response(await bodyOf(context, file, from, to), { status, headers });
}

/**
 * Returns the response body. The first block is read and verified before the status is sent. A small file is sent as a whole, with its
 * length.
 */
async function bodyOf(
  context: IngressContext,
  file: ServedFile,
  from: number,
  to: number,
): Promise<Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>> {
  if (file.content) return file.content.subarray(from, to);
  const fail = (error: unknown): unknown => {
    context.log.error({ err: error, file_id: file.id }, "a file's content could not be read");
    return error;
  };
  try {
    const blocks = await findBlocks(context.database, file.id);
    if (!blocks) throw new ApiError("file_not_found", "There is no such file in this workspace.");
    // Outputs of runs may be empty, such as the CSV of a sheet without rows.
    if (from === to) return new Uint8Array(0);
    const pieces = readFile(context.storage, blocks, from, to);
    const first = await pieces.next();
    if (first.done === true) throw new StorageError("damaged", `${file.id} has no bytes`);
    if (first.value.length === to - from) return first.value as Uint8Array<ArrayBuffer>;
    return streamOf(first.value, pieces, (error) => void fail(error));
  } catch (error) {
    if (error instanceof ApiError) throw error;
    fail(error);
    if (error instanceof StorageError && error.fault === "damaged") {
      throw new ApiError("internal_error", "The stored bytes of this file are damaged and cannot be served.", {
        shouldRetry: false,
        cause: error,
      });
    }
    throw new ApiError("service_unavailable", "The file cannot be read right now; try again shortly.", {
      cause: error,
    });
  }
}

function isKnown(ifNoneMatch: string | null, etag: string): boolean {
  return (ifNoneMatch ?? "").split(",").some((part) => part.trim() === "*" || part.trim().replace(/^W\//, "") === etag);
}

// Byte range of a request (RFC 9110, part 14). Several ranges, or an invalid one, select the whole file.

type Ranged =
  | { readonly kind: "whole" }
  /** Range of bytes to send. `from` is inclusive, `to` is exclusive. */
  | { readonly kind: "part"; readonly from: number; readonly to: number }
  | { readonly kind: "none" };

/**
 * Returns the bytes that a request asks for: all, a range, or none if the range cannot be satisfied.
 * @param header value of `Range`
 * @param ifRange value of `If-Range`; if it names another version of the file, the range is ignored
 */
export function rangeOf(header: string | null, ifRange: string | null, etag: string, bytes: number): Ranged {
  const [, first = "", last = ""] = /^bytes=\s*(\d{0,16})-(\d{0,16})\s*$/i.exec(header ?? "") ?? [];
  if (first === "" && last === "") return { kind: "whole" };
  if (ifRange !== null && ifRange.trim() !== etag) return { kind: "whole" };
  if (first === "") {
    const wanted = Math.min(Number(last), bytes);
    return wanted === 0 ? { kind: "none" } : { kind: "part", from: bytes - wanted, to: bytes };
  }
  const from = Number(first);
  if (last !== "" && Number(last) < from) return { kind: "whole" };
  if (from >= bytes) return { kind: "none" };
  return { kind: "part", from, to: last === "" ? bytes : Math.min(bytes, Number(last) + 1) };
}
