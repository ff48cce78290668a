/** Parts of Markdown, counted before it is read: its reader takes much longer for many of them in one place. */
import { LIMITS } from "#shared/limits.ts";
import { MediaError } from "#shared/children/media-error.ts";

/** Places where another paragraph may begin within lines that stand together. */
const BLOCK = /^\s*(?:[-+*>|]|#{1,6}\s|\d{1,9}[.)]\s|$)/;
/** Below the head of a table. */
const COLUMNS = /^[ \t>]*\|?(?:[ \t]*:?-+:?[ \t]*\|)+(?:[ \t]*:?-+:?[ \t]*)?$/;
/** So much deeper than quotes may be that it is no line of code either. */
const QUOTE_MARKS_MAX = 10 * LIMITS.documentDepthMax;

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
    if (cells > LIMITS.markdownCellsMax) throw tooMany("table cells", LIMITS.markdownCellsMax, cells);
    emphasis = (BLOCK.test(line) ? 0 : emphasis) + countOf(line, /\*+|_+|~+/g);
    if (emphasis > LIMITS.markdownEmphasisMax) {
      throw tooMany("marks of emphasis in a paragraph", LIMITS.markdownEmphasisMax, emphasis);
    }
  }
}

export function tooDeep(cause?: unknown): MediaError {
  const { documentDepthMax: max } = LIMITS;
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
