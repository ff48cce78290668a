/** POST /v1/files: an upload, stored completely or not at all. */
import type { StoredFile } from "#schemas/generated/types.ts";
import { ApiError } from "#shared/errors.ts";
import { unavailable } from "#shared/files/unavailable.ts";
import { CountingSink, type Upload } from "#shared/files/upload.ts";
import { checkSameRequest } from "#shared/same-request.ts";

import { JSON_TYPE } from "../answers.ts";
import type { IngressContext } from "../context.ts";
import type { RouteCall } from "../core/call.ts";

import { readForm, type UploadForm } from "./form.ts";
import { openIncoming } from "./incoming.ts";
import {
  boundaryOf,
  MultipartReader,
  MULTIPART_PARTS_MAX,
  MULTIPART_HEADER_BYTES_MAX,
  MULTIPART_FIELDS_BYTES_MAX,
  MULTIPART_PASSED_BYTES_MAX,
  MULTIPART_OUTSIDE_BYTES_MAX,
} from "./multipart.ts";
import { idempotencyKeyOf } from "../idempotency-key.ts";

import { presentFile } from "./present.ts";

/** Receives an upload. @throws ApiError; the upload is then deleted, at the latest by the janitor within a minute */
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

/** Purpose of files that belong to their member, like the batches made from them. */
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

/** Most bytes of a form beyond its file. */
const OVERHEAD_BYTES_MAX =
  MULTIPART_PARTS_MAX * (MULTIPART_HEADER_BYTES_MAX + 256) +
  MULTIPART_FIELDS_BYTES_MAX +
  MULTIPART_PASSED_BYTES_MAX +
  MULTIPART_OUTSIDE_BYTES_MAX;

/** Refuses a body whose declared size is certainly too large, without reading it. */
function checkDeclaredSize(headers: Headers, fileBytesMax: number): void {
  const declared = Number(headers.get("content-length") ?? 0);
  if (declared <= fileBytesMax + OVERHEAD_BYTES_MAX) return;
  throw new ApiError("request_too_large", `Expected a file of at most ${fileBytesMax} bytes.`, { param: "file" });
}
