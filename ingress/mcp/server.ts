/** A message of the Model Context Protocol to its answer. The SDK knows the protocol; what tools do lies beside this file. */
import {
  createMcpHandler,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
} from "@modelcontextprotocol/server";

import manifest from "../../package.json" with { type: "json" };
import { KEEPALIVE_MS } from "../sse.ts";
import type { Desk } from "./desk.ts";
import { toolFailure } from "./results.ts";
import type { Client } from "./runs.ts";
import { findTool, listTools, type Surface } from "./tools.ts";

const SERVER = { name: "sluice", title: "Sluice", version: manifest.version };

const INSTRUCTIONS =
  "Tools take files as {file_id} of a stored file or of an earlier result, {url} of a public address, or {base64}; give small ones alone as " +
  "base64. Results name the files that they made, with links. Runs cost credits of the workspace.";

/** The list changes only with the service, its prices or its engines. */
const LIST_TTL_MS = 300_000;

/** @param message parsed, and one alone */
export async function answerMessage(desk: Desk, surface: Surface, message: unknown): Promise<Response> {
  const { request } = desk.call;
  const { log } = desk.context;
  const isCall = (message as { method?: unknown } | null)?.method === "tools/call";
  const handler = createMcpHandler(() => serverOf(desk, surface), {
    // A call may be silent for minutes: proxies are shown that it goes on.
    responseMode: isCall && request.headers.get("accept")?.includes("text/event-stream") === true ? "sse" : "auto",
    keepAliveMs: KEEPALIVE_MS,
    onerror: (error) => log.debug({ err: error, request_id: desk.call.requestId }, "a message was refused"),
  });
  return handler.fetch(request, { parsedBody: message });
}

function serverOf(desk: Desk, surface: Surface): Server {
  const { context } = desk;
  const server = new Server(SERVER, {
    capabilities: { tools: {} },
    instructions: INSTRUCTIONS,
    cacheHints: { "tools/list": { ttlMs: LIST_TTL_MS, cacheScope: "private" } },
  });
  server.setRequestHandler("tools/list", () => ({ tools: [...listTools(context, surface)] }));
  server.setRequestHandler("tools/call", async ({ params: { name, arguments: given = {} } }, asking) => {
    const found = findTool(context, surface, name);
    if (!found) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${name.slice(0, 100)}`);
    try {
      return await found.call(desk, given, clientOf(asking));
    } catch (error) {
      // What was refused before its route was asked counts as well.
      return toolFailure(
        desk,
        await desk.count().then(
          () => error,
          (full: unknown) => full,
        ),
      );
    }
  });
  return server;
}

function clientOf({ mcpReq }: ServerContext): Client {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return { left: mcpReq.signal };
  return {
    left: mcpReq.signal,
    tell: (progress) => mcpReq.notify({ method: "notifications/progress", params: { progressToken, ...progress } }),
  };
}
