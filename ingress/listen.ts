/**
 * HTTP listener. It selects a route by the path exactly as sent, because proxies in front apply their rules to that path. Handlers receive
 * a URL without dot segments, with a host of at least four characters, because Elysia's path search requires it.
 */
import type { BunRequest, Server } from "bun";

import { ApiError } from "#shared/base/errors.ts";

import { createApp, failing, partsOf, patternOf, peerOf } from "./app.ts";
import type { IngressContext } from "./context.ts";
import { RESPONSES_PATH } from "./routes/responses/responses.ts";
import { type Connection, openResponseSockets } from "./routes/responses/socket.ts";
import { unknownPath } from "./core/unknown-path.ts";

export interface Listening {
  readonly port: number;
  /** Returns the performance.now() time of the last request; 0 before the first. */
  askedAt(): number;
  /** @param isAbrupt true closes all connections, including active ones */
  stop(isAbrupt?: boolean): Promise<void>;
}

/** Handles a request. Returns undefined if the request became a WebSocket. */
type Handler = (
  request: BunRequest,
  server: Server<Connection>,
) => Response | undefined | Promise<Response | undefined>;

export function listen(context: IngressContext, at: { readonly hostname: string; readonly port: number }): Listening {
  const parts = partsOf(context);
  const { routes, serve } = parts;
  const app = createApp(context, parts);
  const refuse = (request: Request, server: Server<Connection>, error: ApiError): Promise<Response> =>
    serve(failing("unmatched", error, request.url), request, {}, () => peerOf(server, request));
  let askedAt = 0;
  const checked =
    (handler: Handler): Handler =>
    (request, server) => {
      askedAt = performance.now();
      const fault = faultOf(request);
      if (fault !== undefined) return refuse(request, server, new ApiError("invalid_request", fault));
      makeWhole(request);
      return handler(request, server);
    };
  const lost = (request: Request, server: Server<Connection>): Promise<Response> =>
    refuse(request, server, unknownPath(request.url));

  const table: Record<string, Record<string, Handler>> = {};
  for (const route of routes) {
    const handler = checked((request, server) => serve(route, request, request.params, () => peerOf(server, request)));
    // With a trailing slash too: Elysia would answer HEAD by reading the whole response of GET, and a stream may last an hour.
    const pattern = patternOf(route);
    for (const one of pattern === "/" ? [pattern] : [pattern, `${pattern}/`])
      (table[one] ??= {})[route.method] = handler;
  }
  // Patterns for other methods and unknown paths, for every number of segments as sent; no segment is empty.
  const others = checked((request) => app.fetch(request));
  const depthMax = Math.max(...routes.map(({ path }) => path.split("/").length - 1));
  const sockets = openResponseSockets(context, serve);
  for (const path of [RESPONSES_PATH, `${RESPONSES_PATH}/`]) {
    (table[path] ??= {})["GET"] = checked((request, opened) =>
      request.headers.get("upgrade")?.toLowerCase() === "websocket"
        ? sockets.upgrade(request, opened, () => peerOf(opened, request))
        : others(request, opened),
    );
  }
  const server = Bun.serve({
    ...at,
    // Refuse to share the port: a second service on it would silently get a part of the calls.
    reusePort: false,
    development: false,
    // 0 = no idle timeout: a response may be silent for minutes.
    idleTimeout: 0,
    // Above every limit of the service, so that Bun never answers with a bare 413.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    routes: { ...Object.fromEntries(patternsTo(depthMax).map((pattern) => [pattern, others])), ...table, "/*": lost },
    fetch: lost,
    websocket: sockets.handler,
  });
  app.server = server;
  return {
    port: server.port ?? at.port,
    askedAt: () => askedAt,
    stop: (isAbrupt = false) => {
      sockets.endAll();
      return server.stop(isAbrupt);
    },
  };
}

/** Returns the route patterns `/`, `/:s1`, `/:s1/`, `/:s1/:s2` and so on, up to the given depth. */
function patternsTo(depthMax: number): readonly string[] {
  const whole = Array.from({ length: depthMax }, (_, at) =>
    Array.from({ length: at + 1 }, (_segment, index) => `/:s${index + 1}`).join(""),
  );
  return ["/", ...whole.flatMap((pattern) => [pattern, `${pattern}/`])];
}

const PLAIN_HOST = /^([\w.-]{1,255}|\[[\da-f:.]{2,45}\])(:\d{1,5})?$/i;

function faultOf({ headers, params, url }: BunRequest): string | undefined {
  const host = headers.get("host");
  if (host !== null && !(PLAIN_HOST.test(host) && URL.canParse(url))) {
    return "Expected one host name, which may have a port, in the host header.";
  }
  if (url.includes("%") && !isDecodable(url)) return "Expected a path of percent-encoded UTF-8.";
  if (!Object.values<string>(params).some(isMisread)) return undefined;
  return "Expected a path without the segments . and .. and without backslashes, also percent-encoded.";
}

/** False if the path has an invalid percent-encoding, which Bun decodes as U+FFFD. The query is not checked. */
function isDecodable(url: string): boolean {
  try {
    decodeURIComponent(url.split("?", 1)[0] ?? "");
    return true;
  } catch (error) {
    if (error instanceof URIError) return false;
    throw error;
  }
}

/**
 * True if proxies may interpret the segment as a different URL path, because it contains a backslash or dot segments. @param segment
 * percent-decoded
 */
function isMisread(segment: string): boolean {
  return segment.includes("\\") || segment.split("/").some((part) => part === "." || part === "..");
}

/** Index in a URL from which Elysia searches for the path: 11, after `http://` and four characters of host. */
const PATH_AT_LEAST = 11;

/** Replaces the request's URL by an equivalent one that Elysia parses correctly. */
function makeWhole(request: Request): void {
  const { url } = request;
  // A client of HTTP/1.0 may send no host; Bun's URL is then the path alone.
  if (request.headers.get("host") === null) define(request, `http://localhost${url}`);
  else if (url.indexOf("/", "http://".length) < PATH_AT_LEAST) define(request, longer(url));
}

/** Returns the URL with a port padded with zeros, so that host and port are long enough for Elysia's path search. */
function longer(url: string): string {
  const { hostname, port, pathname, search } = new URL(url);
  return `http://${hostname}:${(port || "80").padStart(3, "0")}${pathname}${search}`;
}

function define(request: Request, url: string): void {
  Object.defineProperty(request, "url", { value: url });
}
