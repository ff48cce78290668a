/** Parses page ranges in the caller's syntax, such as `1-3,7,-1`. */
import { MediaError } from "#shared/children/media-error.ts";

import { text } from "../params.ts";
import { DOCUMENT_PAGES_MAX } from "./pdf.ts";

const PART = "-?[0-9]{1,5}(?:-(?:-?[0-9]{1,5})?)?";
export const PAGES_PATTERN = `^${PART}(?:,${PART})*$`;
const HINT = "Page numbers and ranges, such as 1-3,7,-1. -1 is the last page; 5- means from page 5 to the end.";

export const pagesParam = (description: string) =>
  text(`${description} ${HINT}`, { max: 2_000, pattern: PAGES_PATTERN });

export const requiredPages = (description: string) =>
  text(`${description} ${HINT}`, { max: 2_000, pattern: PAGES_PATTERN, required: true });

/**
 * Returns the selected page numbers, from 1 and in the caller's order. A page may occur more than once.
 * @throws MediaError invalid, too_large
 */
export function pagesOf(spec: string | undefined, count: number, param = "params.pages"): number[] {
  if (spec === undefined) return Array.from({ length: count }, (_, at) => at + 1);
  const pages: number[] = [];
  for (const part of spec.split(",")) {
    const [, first = "", dash, last] = /^(-?\d+)(-)?(-?\d+)?$/.exec(part) ?? [];
    const from = numberOf(first, count, param);
    const to = dash === undefined ? from : last === undefined ? count : numberOf(last, count, param);
    if (to < from) throw new MediaError("invalid", `Expected ${param} to have ascending ranges, got ${part}.`);
    for (let page = from; page <= to; page += 1) pages.push(page);
    if (pages.length > DOCUMENT_PAGES_MAX) {
      throw new MediaError("too_large", `Expected ${param} to name at most ${DOCUMENT_PAGES_MAX} pages.`);
    }
  }
  return pages;
}

function numberOf(selector: string, count: number, param: string): number {
  const parsed = Number(selector);
  const page = parsed < 0 ? count + 1 + parsed : parsed;
  if (selector !== "" && page >= 1 && page <= count) return page;
  throw new MediaError("invalid", `Expected ${param} to name pages of 1 to ${count}, got ${selector}.`);
}
