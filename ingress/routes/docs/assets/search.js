/** Ranking and snippets of the search. The server and the browser run this file, so both list the same sections in the same order. */

/** Longest text that is searched for, in characters. */
export const QUERY_CHARS_MAX = 200;
/** Words of a query that are searched for; further words are ignored. */
const QUERY_WORDS_MAX = 12;
/** Sections with misspelt words are listed only if fewer sections than this contain the words themselves. */
const EXACT_RESULTS_MIN = 3;

/** Base forms that the endings do not show. */
const IRREGULAR = new Map([
  ["spent", "spend"],
  ["sent", "send"],
  ["paid", "pay"],
  ["built", "build"],
  ["written", "write"],
  ["ran", "run"],
]);

/** @param {string} term @returns {string} The base form in small letters: `retry` of `Retries`. */
function baseOf(term) {
  const word = term.toLowerCase();
  const known = IRREGULAR.get(word);
  if (known !== undefined) return known;
  if (/..i(?:es|ed)$/.test(word)) return `${word.slice(0, -3)}y`;
  return /..[^sui]s$/.test(word) ? word.slice(0, -1) : word;
}

/** @param {string} term @returns {string | string[]} The word as it is written, and its base form if that differs. */
function formsOf(term) {
  const [word, base] = [term.toLowerCase(), baseOf(term)];
  return word === base ? word : [word, base];
}

/** Options of the index. `hidden` is text that is searched but never shown: code and table heads. */
export const OPTIONS = {
  fields: ["page", "heading", "text", "hidden"],
  storeFields: ["page", "heading", "text", "weight"],
  processTerm: formsOf,
};

/** @type {import("minisearch").SearchOptions} */
const EXACT = {
  prefix: true,
  combineWith: "AND",
  boost: { page: 4, heading: 3, hidden: 0.5 },
  processTerm: baseOf,
  boostDocument: (_id, _term, stored) => Number(stored?.["weight"] ?? 1),
};

/**
 * @typedef {{ readonly text: string, readonly isMatch: boolean }} Piece Part of a snippet; true when it is a word of the query.
 * @typedef {{ readonly address: string, readonly page: string, readonly heading: string, readonly snippet: readonly Piece[] }} Found
 */

/**
 * Returns all sections for a query, the best first. Sections with the words, or words that begin with them, come before
 * sections with misspelt words; a title that equals the query comes first. All words must occur, or else any of them.
 * @param {import("minisearch").default} index
 * @param {string} query
 * @param {number} resultsMax number of sections that `results` contains at most
 * @returns {{ readonly total: number, readonly results: readonly Found[] }}
 */
export function search(index, query, resultsMax) {
  const words = query.slice(0, QUERY_CHARS_MAX).split(/\s+/).filter(Boolean).slice(0, QUERY_WORDS_MAX).join(" ");
  if (words === "") return { total: 0, results: [] };
  let found = withMisspelt(index, words, EXACT);
  if (found.length === 0) found = withMisspelt(index, words, { ...EXACT, combineWith: "OR" });
  const title = words.toLowerCase();
  const named = found.filter(({ page, heading }) => String(heading || page).toLowerCase() === title);
  if (named.length > 0) found = [...named, ...found.filter((one) => !named.includes(one))];
  const results = found.slice(0, resultsMax).map(({ id, page, heading, text, terms }) => ({
    address: String(id),
    page: String(page),
    heading: String(heading),
    snippet: snippetOf(String(text), terms),
  }));
  return { total: found.length, results };
}

/**
 * @param {import("minisearch").default} index
 * @param {string} words
 * @param {import("minisearch").SearchOptions} options
 */
function withMisspelt(index, words, options) {
  const exact = index.search(words, options);
  if (exact.length >= EXACT_RESULTS_MIN) return exact;
  const known = new Set(exact.map(({ id }) => id));
  const misspelt = index.search(words, { ...options, fuzzy: 0.2 }).filter(({ id }) => !known.has(id));
  return [...exact, ...misspelt];
}

/** Length of a snippet in characters. */
const SNIPPET_CHARS = 170;
/** Text before the first word of the query in a snippet, in characters. */
const LEAD_CHARS = 70;

/**
 * Returns the part of a text that contains the most words of the query, cut between words.
 * @param {string} text
 * @param {readonly string[]} terms words of the index that the query has matched
 * @returns {readonly Piece[]}
 */
export function snippetOf(text, terms) {
  const known = new Set(terms);
  // The index separates words at the same characters.
  const hits = [...text.matchAll(/[^\n\r\p{Z}\p{P}]+/gu)]
    .filter(([word]) => known.has(word.toLowerCase()) || known.has(baseOf(word)))
    .map(({ 0: word, index }) => ({ start: index, end: index + word.length, word: baseOf(word) }));
  const start = startOf(text, hits);
  const end = wordEnd(text, start + SNIPPET_CHARS);
  const pieces = [];
  let at = start;
  for (const hit of hits) {
    if (hit.start < start || hit.end > end) continue;
    if (hit.start > at) pieces.push({ text: text.slice(at, hit.start), isMatch: false });
    pieces.push({ text: text.slice(hit.start, hit.end), isMatch: true });
    at = hit.end;
  }
  if (at < end) pieces.push({ text: text.slice(at, end), isMatch: false });
  if (start > 0) pieces.unshift({ text: "… ", isMatch: false });
  if (end < text.length) pieces.push({ text: " …", isMatch: false });
  return pieces;
}

/**
 * @param {string} text
 * @param {readonly { readonly start: number, readonly word: string }[]} hits
 * @returns {number} Start of the snippet: of a sentence or cell shortly before the best hit, else of a word.
 */
function startOf(text, hits) {
  let best = 0;
  let most = 0;
  for (const { start } of hits) {
    const near = hits.filter((other) => other.start >= start && other.start < start + SNIPPET_CHARS - LEAD_CHARS);
    const count = new Set(near.map(({ word }) => word)).size;
    if (count > most) [best, most] = [start, count];
  }
  if (best <= LEAD_CHARS) return 0;
  const from = best - LEAD_CHARS;
  const lead = text.slice(from, best);
  const sentences = [...lead.matchAll(/[.!?:]\s+(?:·\s+)?|\s·\s/g)];
  const cut = sentences.at(-1) ?? /\s/.exec(lead);
  return cut ? from + cut.index + cut[0].length : from;
}

/** @param {string} text @param {number} limit @returns {number} End of the last whole word before the limit. */
function wordEnd(text, limit) {
  if (limit >= text.length) return text.length;
  const space = text.lastIndexOf(" ", limit);
  return space > limit - SNIPPET_CHARS / 2 ? space : limit;
}
