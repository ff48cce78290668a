/** Files of the workspace as resources. */
import type { ListResourcesResult, ReadResourceResult, ResourceTemplateType } from "@modelcontextprotocol/server";

import type { StoredFile, StoredFileList } from "#schemas/generated/types.ts";
import { ApiError } from "#shared/errors.ts";

import type { ApiClient } from "../tools/api-client.ts";

const PREFIX = "sluice://files/";
const PAGE = 100;

/** Largest resource, in bytes: it is sent whole, in one message. */
export const RESOURCE_BYTES_MAX = 1_048_576;

export const TEMPLATES: readonly ResourceTemplateType[] = [
  { uriTemplate: `${PREFIX}{file_id}`, name: "file", title: "A file of the workspace, or a sample of the service" },
];

/** Lists files, newest first. @param cursor id of the last file of the previous page. @throws ApiError */
export async function listResources(api: ApiClient, cursor: string | undefined): Promise<ListResourcesResult> {
  const query = { limit: String(PAGE), ...(cursor === undefined ? {} : { after: cursor }) };
  const page = (await (await api.ask("listFiles", { query })).json()) as StoredFileList;
  return {
    resources: page.data.map(({ id, filename, bytes }) => ({ uri: PREFIX + id, name: filename, size: bytes })),
    ...(page.has_more && page.last_id !== null ? { nextCursor: page.last_id } : {}),
  };
}

/** Reads a file. @param uri of a listed resource or a link. @throws ApiError `file_not_found`; `unprocessable_input` above the limit */
export async function readResource(api: ApiClient, uri: string): Promise<ReadResourceResult> {
  const params = { file_id: fileOf(api, uri) };
  const file = (await (await api.ask("getFile", { params })).json()) as StoredFile;
  if (file.bytes > RESOURCE_BYTES_MAX) {
    const message = `Expected a file of at most ${RESOURCE_BYTES_MAX} bytes, got ${file.bytes}; get_file_link gives a link to it.`;
    throw new ApiError("unprocessable_input", message, { param: "uri" });
  }
  const content = await api.ask("getFileContent", { params });
  const mimeType = content.headers.get("content-type") ?? "application/octet-stream";
  const bytes = new Uint8Array(await content.arrayBuffer());
  const text = mimeType.startsWith("text/") || mimeType.startsWith("application/json") ? textOf(bytes) : undefined;
  return { contents: [text === undefined ? { uri, mimeType, blob: bytes.toBase64() } : { uri, mimeType, text }] };
}

function fileOf({ context, caller }: ApiClient, uri: string): string {
  if (uri.startsWith(PREFIX)) return uri.slice(PREFIX.length);
  const token = /^https?:\/\/[^/]+\/v1\/media\/content\/([^/]+)$/.exec(uri)?.[1];
  const link = token === undefined ? undefined : context.links.read(token);
  if (link?.workspaceId === caller.workspaceId) return link.fileId;
  throw new ApiError("file_not_found", "There is no such resource.", { param: "uri" });
}

/** Decodes text; undefined for other bytes. */
function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
