/** Handles POST /v1/files. An upload is stored completely or not at all. */
import type { StoredFile } from "#schemas/generated/types.ts";
import { ApiError } from "#shared/base/errors.ts";
import type { Digested } from "#shared/files/digest.ts";
import { settleMediaType } from "#shared/files/media-type.ts";
import { unavailable } from "#shared/files/unavailable.ts";
import { type ByteSink, CountingSink, type Upload } from "#shared/files/upload.ts";
import { SNIFF_BYTES } from "#shared/media/sniff.ts";
import { checkSameRequest, fingerprintOfJson } from "#shared/json/same-request.ts";

import { JSON_TYPE } from "../../core/answers.ts";
import type { IngressContext } from "../../context.ts";
import type { RouteCall } from "../../core/call.ts";
import { idempotencyKeyOf } from "../../core/idempotency-key.ts";
import { cleanFilename } from "./filename.ts";
import { openIncoming } from "./incoming.ts";
import {
  boundaryOf,
  MULTIPART_FIELDS_BYTES_MAX,
  MULTIPART_HEADER_BYTES_MAX,
  MULTIPART_OUTSIDE_BYTES_MAX,
  MULTIPART_PARTS_MAX,
  MULTIPART_PASSED_BYTES_MAX,
  MultipartReader,
  type PartHead,
} from "./multipart.ts";
import { presentFile } from "./present.ts";

/**
 * Receives and stores an upload. After an error, the partial upload is deleted, at the latest by the janitor within a minute. @throws
 * ApiError
 */
export async function receiveUpload(context: IngressContext, call: RouteCall): Promise<Response> {
  const { request } = call;
  // The design fixes the order in which errors of a call are reported.
  checkDeclaredSize(request.headers, context.config.fileBytesMax);
  const boundary = boundaryOf(request.headers);
  const { workspaceId, memberId, keyId } = call.caller;
  const named = idempotencyKeyOf(request.headers);
  // Keys are per member, because some files are visible only to their member.
  const key = named === null ? null : `${memberId} ${named}`;
  const incoming = openIncoming(request);
  const reader = new MultipartReader(incoming, boundary);
  try {
    const text = await unavailable(
      "The file store cannot be reached right now; try again shortly.",
      context.uploads.run(workspaceId, key, async (begun) => {
        if (begun.kind === "upload") return await store(begun.upload, reader, { hasKey: key !== null, keyId });
        const form = await readForm(reader, new CountingSink(context.config.fileBytesMax));
        checkSameRequest(begun, { fingerprint: form.fingerprint }, OTHER_UPLOAD);
        return begun.answer;
      }),
    );
    return new Response(text, { headers: { "content-type": JSON_TYPE } });
  } catch (error) {
    incoming.drop();
    if (error instanceof ApiError && error.status >= 500) {
      context.log.warn({ err: error, request_id: call.requestId }, "an upload failed");
    }
    throw error;
  }
}

const OTHER_UPLOAD = "This Idempotency-Key was used for another upload within the last day; use a new key.";

/** Purpose of files that belong to one member instead of the whole workspace, like the batches created from them. */
const OWNED_PURPOSE = "batch";

async function store(
  upload: Upload,
  reader: MultipartReader,
  { hasKey, keyId }: { readonly hasKey: boolean; readonly keyId: string },
): Promise<string> {
  const form = await readForm(reader, upload);
  const answer = JSON.stringify(describe(upload, form));
  const { purpose, filename, mediaType, expiresS } = form;
  const repeat = hasKey ? { fingerprint: form.fingerprint, answer } : null;
  const ownerKeyId = purpose === OWNED_PURPOSE ? keyId : null;
  await upload.finish({ purpose, filename, mediaType, expiresS, ownerKeyId, repeat });
  return answer;
}

function describe(upload: Upload, form: UploadForm): StoredFile {
  const { id, createdAt } = upload;
  const expiresAt = form.expiresS === null ? null : new Date(createdAt.getTime() + form.expiresS * 1_000);
  return presentFile({
    id,
    bytes: BigInt(form.bytes),
    filename: form.filename,
    purpose: form.purpose,
    created_at: createdAt,
    expires_at: expiresAt,
  });
}

/** Maximum size of a form without its file, in bytes. */
const OVERHEAD_BYTES_MAX =
  MULTIPART_PARTS_MAX * (MULTIPART_HEADER_BYTES_MAX + 256) +
  MULTIPART_FIELDS_BYTES_MAX +
  MULTIPART_PASSED_BYTES_MAX +
  MULTIPART_OUTSIDE_BYTES_MAX;

/** Rejects a body without reading it if its Content-Length exceeds the file limit plus the form overhead. */
function checkDeclaredSize(headers: Headers, fileBytesMax: number): void {
  const declared = Number(headers.get("content-length") ?? 0);
  if (declared <= fileBytesMax + OVERHEAD_BYTES_MAX) return;
  throw new ApiError("request_too_large", `Expected a file of at most ${fileBytesMax} bytes.`, { param: "file" });
}

// Form of an upload: `file` and other fields in any order. The file's bytes are passed on as they arrive.

/** Minimum and maximum lifetime that a client may request for a file, in seconds, as at OpenAI. */
const FILE_LIFE_SECONDS_MIN = 3_600;
const FILE_LIFE_SECONDS_MAX = 2_592_000;

const PURPOSES = ["assistants", "batch", "fine-tune", "vision", "user_data", "evals"] as const;
type Purpose = (typeof PURPOSES)[number];

/** Form fields that are read. Other fields are ignored. */
const FIELDS: ReadonlySet<string> = new Set(["purpose", "expires_after[anchor]", "expires_after[seconds]"]);

interface UploadForm {
  readonly purpose: Purpose;
  readonly filename: string;
  readonly mediaType: string;
  readonly expiresS: number | null;
  readonly bytes: number;
  /** Hash that identifies a repeated upload. It is equal for equal forms, whatever their multipart boundary. */
  readonly fingerprint: string;
}

interface ReceivedFile {
  readonly filename: string;
  readonly contentType: string | undefined;
  readonly mediaType: string;
  readonly digested: Digested;
}

/** Reads the form to its end and writes the file to `sink`. Afterwards the caller can still discard the written file. @throws ApiError */
export async function readForm(reader: MultipartReader, sink: ByteSink): Promise<UploadForm> {
  const fields = new Map<string, string>();
  let file: ReceivedFile | undefined;
  for (let head = await reader.nextPart(); head !== undefined; head = await reader.nextPart()) {
    if (head.name === "file") {
      if (file) throw new ApiError("invalid_request", "Expected one file, got several.", { param: "file" });
      file = await receiveFile(reader, head, sink);
    } else if (FIELDS.has(head.name)) {
      fields.set(head.name, await reader.readField(head.name));
      // Checked before the file is read, if the order of the form allows it.
      if (head.name === "purpose") readPurpose(fields);
    }
  }
  if (!file) {
    throw new ApiError("missing_required_parameter", "Missing required form part `file`.", { param: "file" });
  }
  return {
    purpose: readPurpose(fields),
    filename: file.filename,
    mediaType: file.mediaType,
    expiresS: readExpiry(fields),
    bytes: file.digested.bytes,
    fingerprint: await fingerprintOfForm(fields, file),
  };
}

async function receiveFile(reader: MultipartReader, head: PartHead, sink: ByteSink): Promise<ReceivedFile> {
  if (head.filename === undefined) {
    throw new ApiError("invalid_request", "Expected `file` to be a file with a filename, got a text field.", {
      param: "file",
    });
  }
  const filename = cleanFilename(head.filename);
  const { start, hasMore } = await readStart(reader);
  if (start.length === 0) {
    throw new ApiError("invalid_request", "Expected a file with content, got an empty one.", { param: "file" });
  }
  // Before any byte is stored.
  const mediaType = await settleMediaType(start, head.contentType, filename);
  await sink.write(start);
  for (
    let piece = hasMore ? await reader.nextBytes() : undefined;
    piece !== undefined;
    piece = await reader.nextBytes()
  ) {
    await sink.write(piece);
  }
  return { filename, contentType: head.contentType, mediaType, digested: await sink.end() };
}

/** Reads the first bytes of the uploaded file, enough to detect its type. `hasMore` is true if the file may have more bytes. */
async function readStart(reader: MultipartReader): Promise<{ start: Buffer; hasMore: boolean }> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  while (size < SNIFF_BYTES) {
    const piece = await reader.nextBytes();
    if (piece === undefined) return { start: Buffer.concat(pieces, size), hasMore: false };
    pieces.push(new Uint8Array(piece));
    size += piece.length;
  }
  return { start: Buffer.concat(pieces, size), hasMore: true };
}

function readPurpose(fields: ReadonlyMap<string, string>): Purpose {
  const sent = fields.get("purpose");
  // Clients of Anthropic's API send no purpose.
  if (sent === undefined || sent === "") return "user_data";
  const purpose = PURPOSES.find((known) => known === sent);
  if (purpose) return purpose;
  throw new ApiError("unsupported_value", `Expected purpose to be one of ${PURPOSES.join(", ")}.`, {
    param: "purpose",
  });
}

/** Returns the seconds of OpenAI's `expires_after`, which its SDKs send as form fields such as `expires_after[seconds]`; null if absent. */
function readExpiry(fields: ReadonlyMap<string, string>): number | null {
  const anchor = fields.get("expires_after[anchor]");
  const seconds = fields.get("expires_after[seconds]");
  if (anchor === undefined && seconds === undefined) return null;
  if (anchor !== "created_at") {
    throw new ApiError("unsupported_value", "Expected expires_after.anchor to be created_at.", {
      param: "expires_after[anchor]",
    });
  }
  const min = FILE_LIFE_SECONDS_MIN;
  const max = FILE_LIFE_SECONDS_MAX;
  if (seconds !== undefined && /^\d{1,10}$/.test(seconds) && Number(seconds) >= min && Number(seconds) <= max) {
    return Number(seconds);
  }
  throw new ApiError(
    "unsupported_value",
    `Expected expires_after.seconds to be a whole number from ${min} to ${max}.`,
    {
      param: "expires_after[seconds]",
    },
  );
}

function fingerprintOfForm(fields: ReadonlyMap<string, string>, file: ReceivedFile): Promise<string> {
  return fingerprintOfJson([
    [...fields].toSorted(([a], [b]) => (a < b ? -1 : 1)),
    file.filename,
    file.contentType ?? "",
    file.digested.bytes,
    file.digested.sha256.toString("hex"),
  ]);
}
