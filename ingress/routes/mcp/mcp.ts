/**
 * POST /mcp, /mcp/all and /mcp/{categories}: offers a workspace's capabilities, workflows and files as tools of the Model Context Protocol.
 */
import { withoutAbsent } from "#shared/json/contracts.ts";
import { ApiError } from "#shared/base/errors.ts";
import { SMALL_BODY_BYTES_MAX } from "#shared/json/tokens.ts";

import { readBody } from "../../core/body.ts";
import { MAX_CREDITS_REQUEST } from "../../core/max-credits.ts";
import type { IngressContext } from "../../context.ts";
import { findTool, surfaceOf } from "./tools.ts";
import { errorsOf } from "../../core/route-errors.ts";
import type { RouteCall } from "../../core/call.ts";
import type { KeyRoute } from "../../core/route.ts";
import { openApiClient } from "../../tools/api-client.ts";

export function mcp(context: IngressContext): readonly KeyRoute[] {
  const handle = (call: RouteCall): Promise<Response> => answer(context, call);
  return [
    {
      ...COMMON,
      path: "/mcp",
      operationId: "callMcp",
      summary: "Call MCP server",
      description:
        "Implements revision 2026-07-28 of the Model Context Protocol, and earlier revisions. No session is needed. Its tools search, describe " +
        `and run capabilities and the caller's workflows, and list files. ${PROTOCOL}`,
      handle,
    },
    {
      ...COMMON,
      path: "/mcp/{tools}",
      operationId: "callMcpTools",
      summary: "Call MCP server with all tools",
      description: `Offers every capability of the selected categories as a separate tool. ${PROTOCOL}`,
      pathExamples: { tools: "all" },
      errors: [...COMMON.errors, "not_found"],
      handle,
    },
  ];
}

const PROTOCOL =
  "Responses are JSON or server-sent events: clients must accept both. Closing the connection cancels the request. Protocol errors are JSON-RPC errors " +
  "(400, 404, 406), errors of tools are results with `isError`. Requests that are rejected before the message is read return ErrorEnvelope.";

const HEADER = { schema: { type: "string" } } as const;

const COMMON = {
  method: "POST",
  tags: ["MCP"],
  auth: "key",
  countsItself: true,
  challenge: "Bearer",
  request: { schema: "McpMessage", example: { jsonrpc: "2.0", id: 1, method: "tools/list" } },
  requestHeaders: [
    MAX_CREDITS_REQUEST,
    {
      name: "Accept",
      description: "Must contain both `application/json` and `text/event-stream`.",
      ...HEADER,
      example: "application/json, text/event-stream",
    },
    {
      name: "MCP-Protocol-Version",
      description: "Protocol revision; `_meta` of the message contains the same value.",
      ...HEADER,
      example: "2025-06-18",
    },
    { name: "Mcp-Method", description: "`method` of the message; from revision 2026-07-28 on.", ...HEADER },
    { name: "Mcp-Name", description: "Name of the tool or resource; from revision 2026-07-28 on.", ...HEADER },
  ],
  responses: {
    200: { description: "The JSON-RPC response, or a stream of messages", schema: "McpMessage", stream: "McpMessage" },
    202: { description: "The notification was accepted" },
    406: {
      description: "JSON-RPC error: the client must accept both application/json and text/event-stream",
      schema: "McpMessage",
    },
  },
  errors: errorsOf(["reads_json"], "permission_denied"),
} as const satisfies Partial<KeyRoute>;

/** Maximum size of an MCP message, in bytes. Its memory is released when the response begins. Larger inputs are passed as files or URLs. */
export const MCP_BODY_BYTES_MAX = SMALL_BODY_BYTES_MAX;

async function answer(context: IngressContext, call: RouteCall): Promise<Response> {
  checkOrigin(context, call.request);
  const surface = surfaceOf(call.params["tools"]);
  const api = openApiClient(context, call);
  const bytesMax = Math.min(context.config.bodyBytesMax, MCP_BODY_BYTES_MAX);
  const { value: message } = await readBody({ config: { bodyBytesMax: bytesMax } }, call);
  if (typeof message !== "object" || message === null || Array.isArray(message)) {
    throw new ApiError("invalid_request", "Expected one message of JSON-RPC 2.0, which is an object.");
  }
  const value = withoutAbsent("McpMessage", boundedMessage(message));
  // Imported on demand: only processes with MCP clients load the SDK, some 40 MB.
  const { answerMessage, readToolCall } = await import("./server.ts");
  const asked = readToolCall(value);
  const tool = asked && findTool(api, surface, asked.params.name);
  // The route of the tool's work counts the call.
  const runs = tool?.isRun === true;
  if (!tool && isToolCall(value)) await api.count();
  else if (!runs) api.admitUncounted();
  const response = await answerMessage(api, surface, value);
  // The protocol refused the call, so no route has counted it.
  if (runs && !api.isCounted() && !response.ok) await api.count();
  return response;
}

/** True for a tool call, even if it is malformed. The rate-limit window counts refused calls too. */
function isToolCall(message: object): boolean {
  return "method" in message && message.method === "tools/call";
}

const LOOPBACK: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

/**
 * Checks that a browser's Origin and Host headers are known names of the service. Only browsers send an origin. An attacker's domain may
 * resolve to this service, so it is not enough that both headers agree.
 * @throws ApiError `permission_denied`
 */
function checkOrigin({ config }: Pick<IngressContext, "config">, { headers, url }: Request): void {
  const origin = headers.get("origin");
  if (origin === null) return;
  const own = config.publicUrl === undefined ? undefined : new URL(config.publicUrl).hostname;
  const isKnown = (address: string): boolean => {
    const name = URL.parse(address)?.hostname;
    return name !== undefined && (name === own || LOOPBACK.has(name));
  };
  if (isKnown(origin) && isKnown(url)) return;
  throw new ApiError("permission_denied", "Pages of this origin may not call the service.");
}

// Limits of a message before the SDK reads it: the SDK's schemas visit every value several times without a pause, on the thread of all
// calls. 70,000 members in 0.8 MB took 0.2 s.

/** Maximum number of values in an MCP message. Members of objects and elements of arrays count at every depth. */
export const MCP_VALUES_MAX = 10_000;

/** Names of `_meta` members that the protocol or its extensions define. Other members are removed. */
const META = /^(?:progressToken|traceparent|tracestate|baggage|io\.modelcontextprotocol\/.{1,64})$/;

/**
 * Returns the MCP message without unknown members of `params._meta`. @throws ApiError `invalid_request` if the message has too many values
 */
export function boundedMessage(message: object): object {
  checkValues(message);
  const params = objectOf((message as { readonly params?: unknown }).params);
  const meta = objectOf(params?.["_meta"]);
  if (!meta) return message;
  const known = Object.fromEntries(Object.entries(meta).filter(([name]) => META.test(name)));
  return { ...message, params: { ...params, _meta: known } };
}

function checkValues(message: object): void {
  let count = 0;
  const open: object[] = [message];
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    const values: readonly unknown[] = Object.values(one);
    count += values.length;
    if (count > MCP_VALUES_MAX) {
      throw new ApiError(
        "invalid_request",
        `Expected a message with at most ${MCP_VALUES_MAX} values; send larger inputs as text, or as files.`,
      );
    }
    for (const value of values) if (typeof value === "object" && value !== null) open.push(value);
  }
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject ? (value as Readonly<Record<string, unknown>>) : undefined;
}
