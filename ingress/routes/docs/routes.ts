/** Serves the documentation pages below /docs, and /llms.txt. */
import { ApiError } from "#shared/base/errors.ts";

import { JSON_TYPE } from "../../core/answers.ts";
import { siteAsset } from "./assets.ts";
import { withBase } from "./links.ts";
import type { Renderer } from "./renderer.ts";
import { createGzipResponder } from "../../gzip.ts";
import { htmlPage, PAGE_HEADERS } from "../../core/html-page.ts";
import { explorerAsset, explorerPage } from "./api-page.ts";
import type { IngressContext } from "../../context.ts";
import type { RequestFacts } from "../../core/call.ts";
import type { OpenRoute } from "../../core/route.ts";

/** Content security policy: scripts, styles, images and the search index are loaded only from the own origin. */
const LOADS = ["script-src 'self'", "style-src 'self'", "img-src 'self'", "connect-src 'self'"];

const PAGE_CACHE = "public, max-age=300";
/** Cache header of pages that contain the host of their request: no cache may return them to other clients. */
const OWN_CACHE = "private, max-age=300";
const MARKDOWN_TYPE = "text/markdown; charset=utf-8";
const PLAIN_TYPE = "text/plain; charset=utf-8";

const NOT_MODIFIED = { description: "The client has the current version." };
const PAGE_RESPONSES = {
  200: { description: "HTML, or Markdown if the path ends in `.md`", texts: ["text/html", "text/markdown"] },
  304: NOT_MODIFIED,
};

type Config = Pick<IngressContext["config"], "publicUrl">;

export function docsPages(renderer: Renderer, config: Config): readonly OpenRoute[] {
  const common = { method: "GET", tags: ["Documentation"], auth: "none" } as const;
  const respond = { index: createGzipResponder(), llms: createGzipResponder() };
  /** Returns the response with the search index or with /llms.txt, including its ETag. */
  const rendered = async ({ request }: RequestFacts, kind: "index" | "llms", type: string): Promise<Response> => {
    const { text } = await renderer.render({ kind });
    return withEtag(request, text, (etag) => respond[kind](request, text, textHeaders(type, etag)));
  };
  return [
    {
      ...common,
      path: "/docs",
      operationId: "getDocs",
      summary: "Retrieve documentation",
      responses: { 200: { description: "The page", texts: ["text/html"] }, 304: NOT_MODIFIED },
      errors: ["overloaded"],
      handle: (call) => renderedPage({ renderer, config }, call, ""),
    },
    {
      ...common,
      path: "/docs/{section}",
      operationId: "getDocsPage",
      summary: "Retrieve documentation section",
      description: "With `.md` at its end the path returns the page's Markdown.",
      responses: PAGE_RESPONSES,
      errors: ["not_found", "overloaded"],
      handle: (call) => renderedPage({ renderer, config }, call, call.params["section"] ?? ""),
    },
    {
      ...common,
      path: "/docs/{section}/{page}",
      operationId: "getDocsSectionPage",
      summary: "Retrieve documentation page",
      description: "With `.md` at its end the path returns the page's Markdown.",
      responses: PAGE_RESPONSES,
      errors: ["not_found", "overloaded"],
      handle: (call) => renderedPage({ renderer, config }, call, `${call.params["section"]}/${call.params["page"]}`),
    },
    {
      ...common,
      path: "/docs/search",
      operationId: "searchDocs",
      summary: "Search documentation",
      query: [
        {
          name: "q",
          description: "Words to search for. Characters after the first 200 are ignored.",
          schema: { type: "string" },
        },
      ],
      responses: { 200: { description: "The best sections, as a page", texts: ["text/html"] } },
      errors: ["overloaded"],
      async handle({ request }) {
        const query = new URL(request.url).searchParams.get("q") ?? "";
        const { text } = await renderer.render({ kind: "search", query: query.slice(0, 1_000) });
        return htmlPage(text, { loads: LOADS, formAction: "'self'" }, { "cache-control": "no-cache" });
      },
    },
    {
      ...common,
      path: "/docs/search.json",
      operationId: "getDocsSearchIndex",
      // The script of the pages reads it.
      isHidden: true,
      summary: "Retrieve search index",
      responses: { 200: { description: "Index of MiniSearch", isAnyJson: true }, 304: NOT_MODIFIED },
      errors: ["overloaded"],
      handle: (call) => rendered(call, "index", JSON_TYPE),
    },
    {
      ...common,
      path: "/docs/explorer",
      operationId: "getApiExplorer",
      summary: "Retrieve API explorer",
      responses: { 200: { description: "The page", texts: ["text/html"] } },
      errors: [],
      handle: () => explorerPage(),
    },
    {
      ...common,
      path: "/docs/assets/{name}",
      operationId: "getDocsAsset",
      summary: "Retrieve documentation asset",
      responses: { 200: { description: "The asset", bytes: ["*/*"] } },
      errors: ["not_found"],
      handle({ params }) {
        const name = params["name"] ?? "";
        const asset = siteAsset(name) ?? explorerAsset(name);
        if (!asset) throw new ApiError("not_found", "There is no such asset.");
        return asset;
      },
    },
    {
      ...common,
      path: "/llms.txt",
      operationId: "getLlmsText",
      // No operation of the API: crawlers and assistants read it.
      isHidden: true,
      summary: "Retrieve list of pages",
      responses: {
        200: { description: "Markdown as llmstxt.org describes it", texts: ["text/plain"] },
        304: NOT_MODIFIED,
      },
      errors: ["overloaded"],
      handle: (call) => rendered(call, "llms", PLAIN_TYPE),
    },
  ];
}

/**
 * Returns a documentation page as HTML or Markdown. @throws ApiError `not_found` for clients that accept no HTML; the message names the
 * nearest page
 */
async function renderedPage(
  { renderer, config: { publicUrl } }: { readonly renderer: Renderer; readonly config: Config },
  { request }: RequestFacts,
  asked: string,
): Promise<Response> {
  const isMarkdown = asked.endsWith(".md");
  const path = asked.replace(/\.md$/, "").replace(/^index$/, "");
  const { text, nearest } = await renderer.render({ kind: isMarkdown ? "markdown" : "page", path });
  if (nearest === undefined) {
    // Replaced in each response, because the renderer caches one text for all hosts.
    const base = publicUrl ?? new URL(request.url).origin;
    const own = withBase(text, path, isMarkdown ? base : Bun.escapeHTML(base), publicUrl !== undefined);
    const cache = publicUrl === undefined ? OWN_CACHE : PAGE_CACHE;
    const respond = (etag: string): Response => {
      if (isMarkdown) return new Response(own, { headers: textHeaders(MARKDOWN_TYPE, etag, cache) });
      return withHeader(htmlPage(own, { loads: LOADS, formAction: "'self'" }, { "cache-control": cache }), etag);
    };
    return withEtag(request, own, respond, cache);
  }
  if (isMarkdown || request.headers.get("accept")?.includes("text/html") !== true) {
    throw new ApiError(
      "not_found",
      `The documentation has no such page; the nearest is ${nearest.address} (${nearest.title}).`,
    );
  }
  const response = htmlPage(text, { loads: LOADS, formAction: "'self'" }, { "cache-control": "no-cache" });
  return new Response(response.body, { status: 404, headers: response.headers });
}

function withEtag(
  request: Request,
  text: string,
  respond: (etag: string) => Response | Promise<Response>,
  cache = PAGE_CACHE,
): Response | Promise<Response> {
  const etag = `"${Bun.hash(text).toString(36)}"`;
  const known = (request.headers.get("if-none-match") ?? "").split(",").map((one) => one.trim().replace(/^W\//, ""));
  if (!known.includes(etag)) return respond(etag);
  return new Response(null, { status: 304, headers: { etag, "cache-control": cache } });
}

function textHeaders(type: string, etag: string, cache = PAGE_CACHE): Readonly<Record<string, string>> {
  return { ...PAGE_HEADERS, "content-type": type, "cache-control": cache, etag };
}

function withHeader(response: Response, etag: string): Response {
  response.headers.set("etag", etag);
  return response;
}
