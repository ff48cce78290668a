/** Search index over headings and text of all pages, for the browser and for the server. */
import MiniSearch from "minisearch";

import { escapeHtml } from "./highlight.ts";
import { addressOf } from "./links.ts";
import { textParts } from "./markdown.ts";
import type { Page } from "./pages.ts";

/** A section of a page. */
interface Entry {
  /** Address with its fragment. */
  readonly id: string;
  readonly page: string;
  readonly heading: string;
  readonly text: string;
  /** First words of the text, for the list of results. */
  readonly excerpt: string;
}

export interface Found {
  readonly address: string;
  readonly page: string;
  readonly heading: string;
  readonly excerpt: string;
}

/** Characters of a section that the index holds. */
const TEXT_CHARS_MAX = 3_000;
const EXCERPT_CHARS = 140;
const RESULTS_MAX = 20;
/** Longest text that is searched for, in characters. */
export const QUERY_CHARS_MAX = 200;
/** Words of a query that are searched for; further words are ignored. */
const QUERY_WORDS_MAX = 12;

/** The browser opens the index with the same options (assets/site.js). */
const OPTIONS = { fields: ["page", "heading", "text"], storeFields: ["page", "heading", "excerpt"] };
const RANKING = { prefix: true, fuzzy: 0.15, combineWith: "AND", boost: { page: 3, heading: 2 } } as const;

export type SearchIndex = MiniSearch<Entry>;

export function buildIndex(pages: readonly Page[]): SearchIndex {
  const index = new MiniSearch<Entry>(OPTIONS);
  const seen = new Set<string>();
  for (const entry of pages.flatMap(entriesOf)) {
    if (seen.has(entry.id)) continue;
    seen.add(entry.id);
    index.add(entry);
  }
  return index;
}

function entriesOf(page: Page): readonly Entry[] {
  const { title, summary, searchText } = page;
  const parts = searchText === undefined ? textParts(page.body) : [{ heading: "", id: "", text: searchText }];
  const [first] = parts;
  const all = first?.heading === "" ? parts : [{ heading: "", id: "", text: "" }, ...parts];
  return all.map(({ heading, id, text }) => {
    const said = (id === "" ? `${summary} ${text}` : text).replaceAll("`", "").replaceAll(/\s+/g, " ").trim();
    const excerpt = said.length > EXCERPT_CHARS ? `${said.slice(0, EXCERPT_CHARS)}…` : said;
    const address = addressOf(page) + (id === "" ? "" : `#${id}`);
    return { id: address, page: title, heading, text: said.slice(0, TEXT_CHARS_MAX), excerpt };
  });
}

/** Returns the best sections for a query; all words must occur, or else any of them. */
export function search(index: SearchIndex, query: string): readonly Found[] {
  const words = query.slice(0, QUERY_CHARS_MAX).split(/\s+/).filter(Boolean).slice(0, QUERY_WORDS_MAX).join(" ");
  if (words === "") return [];
  const strict = index.search(words, RANKING);
  const found = strict.length > 0 ? strict : index.search(words, { ...RANKING, combineWith: "OR" });
  return found.slice(0, RESULTS_MAX).map(({ id, page, heading, excerpt }) => ({
    address: String(id),
    page: String(page),
    heading: String(heading),
    excerpt: String(excerpt),
  }));
}

/** The results as HTML. */
export function resultsHtml(query: string, found: readonly Found[]): string {
  if (query.trim() === "") return "<p>Enter a word to search for in the field above.</p>";
  if (found.length === 0) {
    return `<p>No page contains “${escapeHtml(query)}”. Try fewer or shorter words, or open the <a href="/docs/api">API reference</a>.</p>`;
  }
  const items = found.map(
    ({ address, page, heading, excerpt }) =>
      `<li><a href="${escapeHtml(address)}">${escapeHtml(page)}${heading === "" ? "" : ` › ${escapeHtml(heading)}`}</a><p>${escapeHtml(excerpt)}</p></li>`,
  );
  return `<ol class="results">${items.join("")}</ol>`;
}
