/**
 * Documentation site as a function from a request to text. It runs in its own thread (thread.ts), because rendering takes up to a second.
 */
import type { OperationFacts } from "./api/operation.ts";
import { apiPages, type OpenApiDocument } from "./api/pages.ts";
import { createHighlight, escapeHtml } from "./highlight.ts";
import { pageHtml } from "./layout.ts";
import { addressOf, linkAddress, markdownAddressOf } from "./links.ts";
import { renderMarkdown } from "./markdown.ts";
import { nearestPage, type Page, readPages, SECTIONS, sortPages } from "./pages.ts";
import { QUERY_CHARS_MAX, search } from "./assets/search.js";
import { buildIndex, RESULTS_MAX, resultsHtml, type SearchIndex } from "./search.ts";

export type Asked =
  | { readonly kind: "page" | "markdown"; readonly path: string }
  | { readonly kind: "search"; readonly query: string }
  | { readonly kind: "index" | "llms" };

export interface Answered {
  readonly text: string;
  /** Address and title of the most similar page, if the requested page does not exist. Absent when the page exists. */
  readonly nearest?: { readonly address: string; readonly title: string };
}

export interface Site {
  /** All pages in the order of the navigation. */
  readonly pages: readonly Page[];
  answer(asked: Asked): Promise<Answered>;
}

/** OpenAPI document, and facts about its operations by operationId. */
export interface ApiSource {
  readonly document: OpenApiDocument;
  readonly facts: Readonly<Record<string, OperationFacts>>;
}

/** Opens the documentation site: reads its pages and builds the API reference from the OpenAPI document. */
export async function openSite({ document, facts }: ApiSource, root?: string): Promise<Site> {
  const pages = sortPages([...(await readPages(root)), ...apiPages(document, facts)]);
  return siteOf(pages);
}

function siteOf(pages: readonly Page[]): Site {
  const byPath = new Map(pages.map((page) => [page.path, page]));
  const byFile = new Map(pages.map((page) => [page.file, page]));
  const highlight = createHighlight();
  let built: SearchIndex | undefined;
  const index = (): SearchIndex => (built ??= buildIndex(pages));

  const missing = (path: string): Answered => {
    const nearest = nearestPage(path, pages) ?? { path: "", title: "Home" };
    const html = `<p>The documentation has no page <code>/docs/${escapeHtml(path)}</code>.</p>
<p>The nearest page is <a href="${addressOf(nearest)}">${escapeHtml(nearest.title)}</a>. The search field above searches all pages.</p>`;
    return {
      text: pageHtml({ title: "Page not found", html }, pages),
      nearest: { address: addressOf(nearest), title: nearest.title },
    };
  };

  return {
    pages,
    async answer(asked) {
      switch (asked.kind) {
        case "page": {
          const page = byPath.get(asked.path);
          if (!page) return missing(asked.path);
          const linkOf = (href: string): string | undefined => linkAddress(page, href, byFile);
          const { html, headings } = await renderMarkdown(page.body, { linkOf, highlight });
          const { title, summary } = page;
          return { text: pageHtml({ page, title, summary, html, headings }, pages) };
        }
        case "markdown": {
          const page = byPath.get(asked.path);
          return page ? { text: markdownOf(page) } : missing(asked.path);
        }
        case "search": {
          const query = asked.query.slice(0, QUERY_CHARS_MAX);
          const html = resultsHtml(query, search(index(), query, RESULTS_MAX));
          return { text: pageHtml({ title: "Search", html, query }, pages) };
        }
        case "index":
          return { text: JSON.stringify(index()) };
        case "llms":
          break;
      }
      return { text: llmsText(pages) };
    },
  };
}

const LLMS_HEAD = `# Sluice

> Self-hosted AI gateway: any model and media tools behind the OpenAI API, with exact prepaid billing.

Each page is Markdown. Addresses are relative to the installation. The OpenAPI document is at /openapi.json.
`;

/** Text of /llms.txt (llmstxt.org): the name, a summary and a list of the pages as Markdown. */
function llmsText(pages: readonly Page[]): string {
  const parts = SECTIONS.map((section) => {
    const own = pages.filter((page) => page.section === section && page.parent === undefined);
    return own.length === 0 ? "" : `\n## ${section}\n\n${own.map(lineOf).join("\n")}\n`;
  });
  const operations = pages.filter(({ parent }) => parent !== undefined);
  const more = operations.length === 0 ? "" : `\n## Optional\n\n${operations.map(lineOf).join("\n")}\n`;
  return `${LLMS_HEAD}${parts.join("")}${more}`;
}

function lineOf(page: Page): string {
  return `- [${page.title}](${markdownAddressOf(page)}): ${page.summary}`;
}

/** Returns a page as a complete Markdown document: title as first heading, summary, then body. */
function markdownOf({ title, summary, body }: Page): string {
  return `# ${title}\n\n${summary}\n\n${body.trim()}\n`;
}
