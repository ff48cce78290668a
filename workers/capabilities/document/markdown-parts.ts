/** Parts of Markdown, counted before it is read: its reader takes much longer for many of them in one place. */
import { MediaError } from "#shared/children/media-error.ts";

/** Lists in lists and quotes in quotes of Markdown. */
export const DOCUMENT_DEPTH_MAX = 30;

/** Cells of Markdown tables, which are filled up to their heads: to set as many takes 2 s. */
export const MARKDOWN_CELLS_MAX = 20_000;

/** Stars, underscores and tildes in one paragraph of Markdown: 40,000 take its reader 34 s, these 0.5 to 1.5 s. */
export const MARKDOWN_EMPHASIS_MAX = 5_000;

/** Places where another paragraph may begin within lines that stand together. */
const BLOCK = /^\s*(?:[-+*>|]|#{1,6}\s|\d{1,9}[.)]\s|$)/;
/** Below the head of a table. */
const COLUMNS = /^[ \t>]*\|?(?:[ \t]*:?-+:?[ \t]*\|)+(?:[ \t]*:?-+:?[ \t]*)?$/;
/** So much deeper than quotes may be that it is no line of code either. */
const QUOTE_MARKS_MAX = 10 * DOCUMENT_DEPTH_MAX;

/** @throws MediaError too_large */
export function checkMarkdown(markdown: string): void {
  let [emphasis, columns, cells] = [0, 0, 0];
  for (const line of markdown.split("\n")) {
    const quotes = countOf(/^(?:[ \t]*>)+/.exec(line)?.[0] ?? "", />/g);
    if (quotes > QUOTE_MARKS_MAX) throw tooDeep();
    if (line.trim() === "") columns = 0;
    else if (COLUMNS.test(line)) columns = countOf(line, /-+/g);
    // A row is filled up to as many cells as the table has columns.
    cells += columns;
    if (cells > MARKDOWN_CELLS_MAX) throw tooMany("table cells", MARKDOWN_CELLS_MAX, cells);
    emphasis = (BLOCK.test(line) ? 0 : emphasis) + countOf(line, /\*+|_+|~+/g);
    if (emphasis > MARKDOWN_EMPHASIS_MAX) {
      throw tooMany("marks of emphasis in a paragraph", MARKDOWN_EMPHASIS_MAX, emphasis);
    }
  }
}

export function tooDeep(cause?: unknown): MediaError {
  const max = DOCUMENT_DEPTH_MAX;
  return new MediaError("too_large", `Expected lists and quotes nested at most ${max} deep.`, { cause });
}

function countOf(text: string, pattern: RegExp): number {
  let count = 0;
  for (const _ of text.matchAll(pattern)) count++;
  return count;
}

function tooMany(what: string, max: number, got: number): MediaError {
  return new MediaError("too_large", `Expected at most ${max} ${what}, got ${got}.`);
}
