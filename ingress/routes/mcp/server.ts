/**
 * Answers messages of the Model Context Protocol. The SDK implements the protocol, and the other files of this folder implement the tools.
 */
import {
  type CallToolRequest,
  createMcpHandler,
  isJSONRPCRequest,
  isSpecType,
  type ListResourcesResult,
  type McpRequestContext,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  type ResourceTemplateType,
  Server,
  type ServerContext,
  type StandardSchemaV1,
} from "@modelcontextprotocol/server";

import manifest from "../../../package.json" with { type: "json" };
import type { StoredFile, StoredFileList } from "#schemas/generated/types.ts";
import { ApiError } from "#shared/base/errors.ts";

import { streamOf } from "../../core/response-body.ts";
import { KEEPALIVE_MS } from "../../core/sse.ts";
import type { ApiClient } from "../../tools/api-client.ts";
import { errorBodyOf } from "../../tools/work.ts";
import { toolFailure } from "./results.ts";
import type { Client } from "./runs.ts";
import { findTask, type FoundTask } from "./tasks.ts";
import { findTool, listTools, type Surface } from "./tools.ts";

const SERVER = { name: "sluice", title: "Sluice", version: manifest.version };

const INSTRUCTIONS =
  "Tools accept files as {file_id} of a stored file or an earlier result, as {url} with a public address, or as {base64}. Send only small files as " +
  "base64. Results list the created files with links. Runs cost credits of the workspace.";

/**
 * Time for which clients may cache the list of tools, in milliseconds. The list changes only with the service, its prices or its engines.
 */
const LIST_TTL_MS = 300_000;

/**
 * Answers one MCP message.
 * @param message parsed single message, not a batch
 * @param open creates the MCP server for the message; the protocol's test suite passes a server of its own
 */
export async function answerMessage(
  api: ApiClient,
  surface: Surface,
  message: object,
  open: typeof serverOf = serverOf,
): Promise<Response> {
  const { request } = api.call;
  const { log } = api.context;
  const isCall = (message as { method?: unknown }).method === "tools/call";
  const handler = createMcpHandler((about) => open(api, surface, about), {
    // A call may be silent for minutes: an event stream with keepalives shows proxies that it continues.
    responseMode: isCall && request.headers.get("accept")?.includes("text/event-stream") === true ? "sse" : "auto",
    keepAliveMs: KEEPALIVE_MS,
    onerror: (error) => log.debug({ err: error, request_id: api.call.requestId }, "an MCP message was rejected"),
  });
  const { body, status, headers } = await handler.fetch(request, { parsedBody: message });
  return new Response(body && readByClient(body, api), { status, headers });
}

/** Relays a response body at the speed of the client. A client that stops reading is disconnected, which cancels its tool call. */
function readByClient(body: ReadableStream<Uint8Array>, { context, call }: ApiClient): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const fault = (error: unknown): void =>
    context.log.warn({ err: error, request_id: call.requestId }, "an MCP response failed before its end");
  return streamOf(new Uint8Array(), piecesOf(reader), fault, () => void reader.cancel().catch(fault));
}

async function* piecesOf(reader: PieceReader): AsyncGenerator<Uint8Array, void, void> {
  for (let read = await reader.read(); read.value; read = await reader.read()) yield read.value;
}

interface PieceReader {
  read(): Promise<{ readonly value?: Uint8Array | undefined }>;
}

/** Returns the tool call in a message; undefined for messages that the SDK answers or drops itself, such as a call without an id. */
export function readToolCall(message: object): CallToolRequest | undefined {
  return isJSONRPCRequest(message) && isSpecType.CallToolRequest(message) ? message : undefined;
}

const TASKS = "io.modelcontextprotocol/tasks";
const TASKS_DECLARED = { extensions: { [TASKS]: {} } };

function serverOf(api: ApiClient, surface: Surface, { era }: McpRequestContext): Server {
  const server = new Server(SERVER, {
    capabilities: { tools: {}, resources: {}, ...(era === "modern" ? TASKS_DECLARED : {}) },
    instructions: INSTRUCTIONS,
    cacheHints: { "tools/list": { ttlMs: LIST_TTL_MS, cacheScope: "private" } },
  });
  server.setRequestHandler("tools/list", () => ({ tools: [...listTools(api, surface)] }));
  server.setRequestHandler("tools/call", async ({ params: { name, arguments: args = {} } }, asking) => {
    const found = findTool(api, surface, name);
    if (!found) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${name.slice(0, 100)}`);
    try {
      return await found.call(api, args, clientOf(server, asking));
    } catch (error) {
      // A call that was refused before its route ran counts in the rate window too.
      return toolFailure(
        api,
        await api.count().then(
          () => error,
          (full: unknown) => full,
        ),
      );
    }
  });
  serveResources(server, api);
  if (era === "modern") serveTasks(server, api);
  return server;
}

function serveResources(server: Server, api: ApiClient): void {
  server.setRequestHandler("resources/list", ({ params }) =>
    withProtocolErrors(api, () => listResources(api, params?.cursor)),
  );
  server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: [...TEMPLATES] }));
  server.setRequestHandler("resources/read", ({ params }) =>
    withProtocolErrors(api, () => readResource(api, params.uri)),
  );
}

function serveTasks(server: Server, api: ApiClient): void {
  const serve = (method: string, answer: (found: FoundTask) => Promise<object> | object): void =>
    server.setRequestHandler(method, { params: TASK_PARAMS }, ({ taskId }) =>
      withProtocolErrors(api, async () => {
        if (!takesTasks(server))
          throw new MissingRequiredClientCapabilityError({ requiredCapabilities: TASKS_DECLARED });
        const found = await findTask(api, taskId);
        if (!found)
          throw new ProtocolError(ProtocolErrorCode.InvalidParams, "There is no such task in this workspace.");
        return { ...(await answer(found)) };
      }),
    );
  serve("tasks/get", ({ task, result }) => ({ ...task, ...(result ? { result } : {}) }));
  // No task requests input.
  serve("tasks/update", () => ({}));
  serve("tasks/cancel", async (found) => {
    await found.cancel();
    return {};
  });
}

const TASK_PARAMS: StandardSchemaV1<{ readonly taskId: string }> = {
  "~standard": {
    version: 1,
    vendor: "sluice",
    validate(value) {
      const taskId = typeof value === "object" && value !== null && "taskId" in value ? value.taskId : undefined;
      return typeof taskId === "string"
        ? { value: { taskId } }
        : { issues: [{ message: "Expected taskId to be a string." }] };
    },
  },
};

/** Runs `work` and converts its errors into errors of the protocol, with the HTTP API's error object as their data. */
async function withProtocolErrors<T>(api: ApiClient, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ProtocolError) throw error;
    const errorBody = await errorBodyOf(api, error);
    const isTheirs = error instanceof ApiError && error.status < 500;
    const code = isTheirs ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError;
    throw new ProtocolError(code, errorBody.message, errorBody);
  }
}

/** True if the client has declared the Tasks extension. Clients of the newest protocol revision declare it in each message. */
function takesTasks(server: Server): boolean {
  return server.getClientCapabilities()?.extensions?.[TASKS] !== undefined;
}

function clientOf(server: Server, { mcpReq }: ServerContext): Client {
  const progressToken = mcpReq._meta?.progressToken;
  const client = { signal: mcpReq.signal, takesTasks: takesTasks(server) };
  if (progressToken === undefined) return client;
  return {
    ...client,
    reportProgress: (progress) =>
      mcpReq.notify({ method: "notifications/progress", params: { progressToken, ...progress } }),
  };
}

// Files of the workspace as resources.

const PREFIX = "sluice://files/";
const PAGE = 100;

/** Maximum size of a resource, in bytes. A resource is sent completely in one message. */
export const RESOURCE_BYTES_MAX = 1_048_576;

const TEMPLATES: readonly ResourceTemplateType[] = [
  { uriTemplate: `${PREFIX}{file_id}`, name: "file", title: "A file of the workspace, or a sample of the service" },
];

/** Lists files, newest first. @param cursor id of the last file of the previous page. @throws ApiError */
async function listResources(api: ApiClient, cursor: string | undefined): Promise<ListResourcesResult> {
  const query = { limit: String(PAGE), ...(cursor === undefined ? {} : { after: cursor }) };
  const page = (await (await api.ask("listFiles", { query })).json()) as StoredFileList;
  return {
    resources: page.data.map(({ id, filename, bytes }) => ({ uri: PREFIX + id, name: filename, size: bytes })),
    ...(page.has_more && page.last_id !== null ? { nextCursor: page.last_id } : {}),
  };
}

/**
 * Reads a file as a resource. @param uri URI of a listed resource or a link to the file. @throws ApiError `file_not_found`;
 * `unprocessable_input` if the file exceeds RESOURCE_BYTES_MAX
 */
async function readResource(api: ApiClient, uri: string): Promise<ReadResourceResult> {
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

/** Decodes bytes as UTF-8 text; undefined if they are not valid UTF-8. */
function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
