/** /v1/files: lists, returns, uploads and deletes files of a workspace. */
import { createHash } from "node:crypto";

import type { FileDeleted, StoredFileList } from "#schemas/generated/types.ts";
import { isSampleFile, sampleFile, type SampleFile, SAMPLES_CREATED } from "#shared/calls/capabilities/samples.ts";
import { viewerOf } from "#shared/access/viewer.ts";
import { arrived } from "#shared/json/contract-fault.ts";
import { endFile, findFile, type FileRow, listFiles, storedBytes } from "#shared/database/files.ts";
import { ApiError } from "#shared/base/errors.ts";
import { eraseBytes } from "#shared/files/erase.ts";
import { isFileId } from "#shared/files/id.ts";
import { unavailable } from "#shared/files/unavailable.ts";

import { json } from "../../core/answers.ts";
import type { IngressContext } from "../../context.ts";
import { fileContent, type ServedFile } from "./content.ts";
import { presentFile } from "./present.ts";
import { receiveUpload } from "./receive.ts";
import { IDEMPOTENCY_KEY } from "../../core/idempotency-key.ts";
import { allowRoles } from "../../core/roles.ts";
import type { RouteCall } from "../../core/call.ts";
import type { KeyRoute, RouteResponse } from "../../core/route.ts";

/** Maximum number of files per page; the same as at OpenAI. */
const FILES_PAGE_MAX = 10_000;

const LIST = "/v1/files";
const ONE = `${LIST}/{file_id}`;

type ListQuery = Parameters<typeof listFiles>[2];

export function files(context: IngressContext): readonly KeyRoute[] {
  const common = {
    tags: ["Files"],
    auth: "key",
    authorize: allowRoles("owner", "admin", "developer"),
    extraHeaders: (caller) => storageHeaders(context, caller.workspaceId),
  } as const satisfies Partial<KeyRoute>;
  const storage = {
    headers: ["x-storage-used-bytes", "x-storage-limit-bytes"],
  } as const satisfies Partial<RouteResponse>;
  return [
    {
      ...common,
      method: "POST",
      path: LIST,
      operationId: "createFile",
      summary: "Upload file",
      description:
        "Stores a file. The type is detected from the bytes; a file that contradicts its content type or name is " +
        "rejected. All members see the file; files with the purpose `batch` are visible to their member, owners " +
        "and admins. A repeat by the same member with the same `Idempotency-Key` and form within a day returns the " +
        "first response.",
      request: { schema: "FileUpload", mediaType: "multipart/form-data" },
      requestHeaders: [IDEMPOTENCY_KEY],
      responses: { 200: { description: "The stored file", schema: "StoredFile", ...storage } },
      errors: [
        "invalid_request",
        "missing_required_parameter",
        "unsupported_value",
        "storage_limit_exceeded",
        "request_timeout",
        "upload_in_progress",
        "request_too_large",
        "unsupported_media_type",
        "idempotency_key_reused",
        "unprocessable_input",
      ],
      handle: (call) => receiveUpload(context, call),
    },
    {
      ...common,
      method: "GET",
      path: LIST,
      operationId: "listFiles",
      summary: "List files",
      query: [
        { name: "after", description: "Id of the file after which the page starts.", schema: { type: "string" } },
        {
          name: "limit",
          description: "Number of files per page.",
          schema: { type: "integer", minimum: 1, maximum: FILES_PAGE_MAX, default: FILES_PAGE_MAX },
        },
        {
          name: "order",
          description: "Order by creation time.",
          schema: { type: "string", enum: ["asc", "desc"], default: "desc" },
        },
        { name: "purpose", description: "Purpose of the files. Default: all.", schema: { type: "string" } },
      ],
      responses: { 200: { description: "A page of files", schema: "StoredFileList", ...storage } },
      errors: ["unsupported_value"],
      handle: (call) => list(context, call),
    },
    {
      ...common,
      method: "GET",
      path: ONE,
      operationId: "getFile",
      summary: "Retrieve file",
      description:
        "Returns a stored file. Samples of the service, such as `file-sample-photo`, can be retrieved and " +
        "downloaded like files of the workspace.",
      responses: { 200: { description: "The file", schema: "StoredFile", ...storage } },
      errors: ["file_not_found"],
      handle: async (call) => json(presentFile(await find(context, call))),
    },
    {
      ...common,
      method: "DELETE",
      path: ONE,
      operationId: "deleteFile",
      summary: "Delete file",
      responses: { 200: { description: "The confirmation", schema: "FileDeleted", ...storage } },
      errors: ["file_not_found", "permission_denied"],
      handle: (call) => remove(context, call),
    },
    {
      ...common,
      method: "GET",
      path: `${ONE}/content`,
      operationId: "getFileContent",
      summary: "Download file",
      description:
        "Supports one range per request with `Range` and `If-Range`, and `If-None-Match`. The ETag is the SHA-256 " +
        "of the file. The connection is closed when the stored bytes are corrupt.",
      responses: {
        200: { description: "The content", bytes: ["*/*"], ...storage },
        206: { description: "The requested range", bytes: ["*/*"], ...storage },
        304: { description: "The client's copy is current", ...storage },
      },
      errors: ["file_not_found", "range_not_satisfiable"],
      handle: async (call) => fileContent(context, await find(context, call), call.request),
    },
  ];
}

/** Returns response headers with the storage used by the workspace. It is read after the call has finished. */
async function storageHeaders(context: IngressContext, workspaceId: string): Promise<Record<string, string>> {
  return {
    "x-storage-used-bytes": String(await storedBytes(context.database, workspaceId)),
    "x-storage-limit-bytes": String(context.config.storageBytesMax),
  };
}

type FoundFile = ServedFile & Pick<FileRow, "purpose" | "created_at" | "expires_at">;

/** Finds the file named in the URL path. A file of another workspace counts as missing; sample files belong to every workspace. */
async function find(context: IngressContext, call: RouteCall): Promise<FoundFile> {
  const id = call.params["file_id"] ?? "";
  const sample = sampleFile(id);
  if (sample) return sampleRow(id, sample);
  const row = isFileId(id) ? await reachable(findFile(context.database, viewerOf(call.caller), id)) : undefined;
  if (!row) throw new ApiError("file_not_found", "There is no such file in this workspace.");
  return row;
}

function sampleRow(id: string, { name, mediaType, bytes, read }: SampleFile): FoundFile {
  const content = read();
  return {
    id,
    bytes: BigInt(bytes),
    filename: name,
    media_type: mediaType,
    sha256: createHash("sha256").update(content).digest(),
    purpose: "user_data",
    created_at: SAMPLES_CREATED,
    expires_at: null,
    content,
  };
}

async function list(context: IngressContext, call: RouteCall): Promise<Response> {
  const page = pageOf(new URL(call.request.url).searchParams);
  const rows = await reachable(listFiles(context.database, viewerOf(call.caller), page));
  const data = rows.slice(0, page.limit).map(presentFile);
  return json({
    object: "list",
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: rows.length > page.limit,
  } satisfies StoredFileList);
}

function pageOf(query: URLSearchParams): ListQuery {
  const after = query.get("after") || undefined;
  if (after !== undefined && !isFileId(after)) {
    throw new ApiError("unsupported_value", `Expected after to be the id of a file, got ${arrived("enum", after)}.`, {
      param: "after",
    });
  }
  const order = query.get("order") ?? "desc";
  if (order !== "asc" && order !== "desc") {
    throw new ApiError("unsupported_value", `Expected order to be asc or desc, got ${arrived("enum", order)}.`, {
      param: "order",
    });
  }
  const limit = query.get("limit") ?? String(FILES_PAGE_MAX);
  if (!/^\d{1,6}$/.test(limit) || Number(limit) < 1 || Number(limit) > FILES_PAGE_MAX) {
    throw new ApiError(
      "unsupported_value",
      `Expected limit to be a whole number from 1 to ${FILES_PAGE_MAX}, got ${arrived("enum", limit)}.`,
      {
        param: "limit",
      },
    );
  }
  const purpose = query.get("purpose") || undefined;
  // Postgres rejects a NUL, and no purpose contains one.
  if (purpose !== undefined && !/^[a-z_-]{1,64}$/.test(purpose)) {
    throw new ApiError(
      "unsupported_value",
      `Expected purpose to have 1 to 64 characters of a-z, _ and -, got ${arrived("enum", purpose)}.`,
      { param: "purpose" },
    );
  }
  return { after, limit: Number(limit), isDescending: order === "desc", purpose };
}

async function remove(context: IngressContext, call: RouteCall): Promise<Response> {
  const { id } = await find(context, call);
  if (isSampleFile(id)) {
    throw new ApiError(
      "permission_denied",
      `The file ${id} is a sample of the service, which no workspace can delete.`,
    );
  }
  const { database, storage, log } = context;
  const isEnded = await reachable(endFile(database, call.caller.workspaceId, id, "deleted"));
  if (!isEnded) throw new ApiError("file_not_found", "There is no such file in this workspace.");
  // The file is deleted already, even if its bytes remain for now.
  eraseBytes(storage, database, { id, upload_id: null }).catch((error: unknown) =>
    log.warn({ err: error, file_id: id }, "a deleted file's content could not be deleted; the janitor retries"),
  );
  return json({ id, object: "file", deleted: true } satisfies FileDeleted);
}

function reachable<T>(work: Promise<T>): Promise<T> {
  return unavailable("The file store cannot be reached right now; try again shortly.", work);
}
