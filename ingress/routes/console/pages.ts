/** Serves the built console: one page for every path below /console, and its files with hashed names. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { ApiError } from "#shared/base/errors.ts";

import { acceptsGzip } from "../../gzip.ts";
import { htmlPage, PAGE_HEADERS } from "../../core/html-page.ts";
import type { OpenRoute } from "../../core/route.ts";

const BUILT = fileURLToPath(new URL("../../console/built", import.meta.url));

/** The console loads everything from the service itself, shows generated media from memory, and opens 3D files in a frame. */
const LOADS = [
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob: data:",
  "media-src 'self' blob:",
  "connect-src 'self' blob:",
  "frame-src 'self'",
];

const TYPES: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
};

/** Paths of pages. Other paths of four parts belong to sign-in. */
const PAGE_PATHS = [
  "/console",
  "/console/{page}",
  "/console/{page}/{id}",
  "/console/{page}/{id}/{part}",
  "/console/notifications/{channel}/deliveries/{delivery}",
];

export function consolePages(): readonly OpenRoute[] {
  const common = { method: "GET", tags: ["Console sessions"], auth: "none", isHidden: true } as const;
  return [
    ...PAGE_PATHS.map((path, index): OpenRoute => ({
      ...common,
      path,
      operationId: `getConsole${index}`,
      summary: "Open console",
      responses: { 200: { description: "The page", texts: ["text/html"] } },
      errors: ["service_unavailable"],
      handle: () => page(),
    })),
    {
      ...common,
      path: "/console/assets/{name}",
      operationId: "getConsoleAsset",
      summary: "Load file of console",
      responses: { 200: { description: "The file", bytes: ["*/*"] } },
      errors: ["not_found"],
      handle: ({ request, params }) => asset(request, params["name"] ?? ""),
    },
  ];
}

/** Returns true for a browser that opens an address at or below /console. @param asked URL or path as the client sent it */
export function opensConsole({ method, headers }: Request, asked: string): boolean {
  const isBelow = /^(https?:\/\/[^/]*)?\/console(\/|\?|$)/.test(asked);
  return isBelow && (method === "GET" || method === "HEAD") && headers.get("accept")?.includes("text/html") === true;
}

/** Returns the page for an address at which the console has none. */
export function consoleFault({ code, message, status }: ApiError): Response {
  const reason = code === "not_found" ? "The console has no page at this address." : message;
  const html = `<!doctype html>
<html lang="en">
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>Sluice: address not found</title>
<h1>This address cannot be opened</h1>
<p>${reason} Check the address, or <a href="/console">open the console</a> and find the page there.</p>
`;
  return htmlPage(html, { loads: [], formAction: "'none'" }, { "cache-control": "no-store" }, status);
}

function page(): Response {
  const html = read("index.html");
  if (html === undefined) {
    throw new ApiError(
      "service_unavailable",
      "The console is not built. Run `npm start`, or `node deploy/bun.mjs deploy/build-console.ts`.",
    );
  }
  return htmlPage(
    new TextDecoder().decode(html),
    { loads: LOADS, formAction: "'self'" },
    { "cache-control": "no-cache" },
  );
}

/** Returns a file of the current or an earlier build. Its name contains its hash, so that browsers keep it. @throws ApiError `not_found` */
function asset(request: Request, name: string): Response {
  const type = /^[\w-]+\.(\w+)$/.exec(name)?.[1];
  const isZipped = acceptsGzip(request.headers.get("accept-encoding") ?? "");
  const bytes =
    type === undefined || TYPES[type] === undefined ? undefined : read(`assets/${name}${isZipped ? ".gz" : ""}`);
  if (bytes === undefined) throw new ApiError("not_found", "There is no such file; reload the console.");
  return new Response(bytes, {
    headers: {
      ...PAGE_HEADERS,
      "content-type": TYPES[type ?? ""] ?? "",
      "cache-control": "public, max-age=31536000, immutable",
      vary: "accept-encoding",
      ...(isZipped ? { "content-encoding": "gzip" } : {}),
    },
  });
}

/** Returns a file of the build; undefined if it does not exist. */
function read(path: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return new Uint8Array(readFileSync(join(BUILT, path)));
  } catch {
    return undefined;
  }
}
