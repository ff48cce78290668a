/** Counts the elements of an HTML text before a parser builds a tree of them. */
import { MediaError } from "#shared/children/media-error.ts";

/** Maximum number of rows, and of cells, in all tables of HTML that is converted to Markdown. Larger tables are data rather than text. */
export const MARKDOWN_TABLE_ROWS_MAX = 2_000;
export const MARKDOWN_TABLE_CELLS_MAX = 12_000;

interface Part {
  readonly name: string;
  readonly pattern: RegExp;
  readonly max: number;
}

/** Limits on tables of HTML that is converted to Markdown. */
export const TABLE_PARTS: readonly Part[] = [
  { name: "table rows", pattern: /<tr[\s>]/gi, max: MARKDOWN_TABLE_ROWS_MAX },
  { name: "table cells", pattern: /<t[dh][\s>]/gi, max: MARKDOWN_TABLE_CELLS_MAX },
];

/** Checks the number of elements in HTML. @throws MediaError too_large */
export function checkParts(html: string, parts: readonly Part[]): void {
  for (const { name, pattern, max } of parts) {
    let count = 0;
    for (const _ of html.matchAll(pattern)) count++;
    if (count > max) throw new MediaError("too_large", `Expected at most ${max} ${name}, got ${count}.`);
  }
}
