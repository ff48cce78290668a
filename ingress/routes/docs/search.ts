/** Search index over the headings and text of all pages. Both the browser and the server use it. */
import MiniSearch from "minisearch";

import { type Found, OPTIONS, type Piece } from "./assets/search.js";
import { escapeHtml } from "./highlight.ts";
import { addressOf } from "./links.ts";
import { textParts } from "./markdown.ts";
import type { Page } from "./pages.ts";

/** Section of a page, as an entry of the index. */
interface Entry {
  /** Address of the section, with its fragment. */
  readonly id: string;
  readonly page: string;
  readonly heading: string;
  /** Prose of the section. Results show an excerpt of it. */
  readonly text: string;
  /** Code and table headings of the section, which are searched but not shown. */
  readonly hidden: string;
  /** Factor by which the search score is multiplied. */
  readonly weight: number;
}

/**
 * Maximum number of characters of a section in the search index, separately for its prose and its code. Only sections of the changelog are
 * longer.
 */
const TEXT_CHARS_MAX = 10_000;
/**
 * Maximum number of characters of a changelog section in the search index, separately for prose and code. Changelog sections have up to
 * 70,000 characters.
 */
const CHANGELOG_CHARS_MAX = 3_000;
const CHANGELOG = "reference/changelog";
/** Maximum number of results on a search page. */
export const RESULTS_MAX = 20;

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
  const parts =
    searchText === undefined ? textParts(page.body) : [{ heading: "", id: "", text: `· ${searchText}`, hidden: "" }];
  const [first] = parts;
  const all = first?.heading === "" ? parts : [{ heading: "", id: "", text: "", hidden: "" }, ...parts];
  const charsMax = page.path === CHANGELOG ? CHANGELOG_CHARS_MAX : TEXT_CHARS_MAX;
  return all.map(({ heading, id, text, hidden }) => {
    const prose = (id === "" ? `${summary} ${text}` : text).replaceAll("`", "").replaceAll(/\s+/g, " ").trim();
    return {
      id: addressOf(page) + (id === "" ? "" : `#${id}`),
      page: title,
      heading,
      text: prose.slice(0, charsMax),
      hidden: hidden.slice(0, charsMax),
      weight: weightOf(page),
    };
  });
}

/** Returns the weight of a page in the search. Explanatory pages rank before pages that list things. */
function weightOf({ section, parent, path }: Page): number {
  if (path === CHANGELOG) return 0.3;
  if (parent !== undefined) return 0.5;
  return section === "Reference" ? 0.7 : 1;
}

/** Returns search results as HTML. */
export function resultsHtml(
  query: string,
  { total, results }: { readonly total: number; readonly results: readonly Found[] },
): string {
  if (query.trim() === "") return "<p>Enter a word to search for in the field above.</p>";
  if (results.length === 0) {
    return `<p>No page contains “${escapeHtml(query)}”. Try fewer or shorter words, or open the <a href="/docs/api">API reference</a>.</p>`;
  }
  const items = results.map(
    ({ address, page, heading, snippet }) =>
      `<li><a href="${escapeHtml(address)}">${escapeHtml(page)}${heading === "" ? "" : ` › ${escapeHtml(heading)}`}</a><p>${snippet.map(pieceHtml).join("")}</p></li>`,
  );
  return `<p class="count">${countOf(total, results.length)}</p><ol class="results">${items.join("")}</ol>`;
}

function countOf(total: number, listed: number): string {
  if (total === 1) return "1 result";
  return total > listed ? `${total} results. The first ${listed} are listed.` : `${total} results`;
}

function pieceHtml({ text, isMatch }: Piece): string {
  return isMatch ? `<mark>${escapeHtml(text)}</mark>` : escapeHtml(text);
}
