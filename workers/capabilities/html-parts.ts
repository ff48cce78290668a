/** Parts of HTML, counted before there is a tree of them. */
import { LIMITS } from "#shared/limits.ts";
import { MediaError } from "#shared/children/media-error.ts";

interface Part {
  readonly name: string;
  readonly pattern: RegExp;
  readonly max: number;
}

/** Limits on the tables of HTML that becomes Markdown. */
export const TABLE_PARTS: readonly Part[] = [
  { name: "table rows", pattern: /<tr[\s>]/gi, max: LIMITS.markdownTableRowsMax },
  { name: "table cells", pattern: /<t[dh][\s>]/gi, max: LIMITS.markdownTableCellsMax },
];

/** @throws MediaError too_large */
export function checkParts(html: string, parts: readonly Part[]): void {
  for (const { name, pattern, max } of parts) {
    let count = 0;
    for (const _ of html.matchAll(pattern)) count++;
    if (count > max) throw new MediaError("too_large", `Expected at most ${max} ${name}, got ${count}.`);
  }
}
