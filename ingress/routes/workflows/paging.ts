/** Pagination by limit and offset. */
import { arrived } from "#shared/json/contract-fault.ts";
import { ApiError } from "#shared/base/errors.ts";

import type { Route } from "../../core/route.ts";

const WORKFLOWS_PAGE_DEFAULT = 20;
const WORKFLOWS_PAGE_MAX = 100;

export interface Page {
  readonly limit: number;
  readonly offset: number;
}

export const PAGE_QUERY: NonNullable<Route["query"]> = [
  {
    name: "limit",
    description: `Number of entries per page. Values above ${WORKFLOWS_PAGE_MAX} are reduced to ${WORKFLOWS_PAGE_MAX}.`,
    schema: { type: "integer", minimum: 1, default: WORKFLOWS_PAGE_DEFAULT },
  },
  { name: "offset", description: "Number of entries to skip.", schema: { type: "integer", minimum: 0, default: 0 } },
];

/** Reads limit and offset from the query string. @throws ApiError `unsupported_value` */
export function pageOf({ url }: Request): Page {
  const query = new URL(url).searchParams;
  const limit = wholeNumber("limit", query.get("limit"), WORKFLOWS_PAGE_DEFAULT, 1);
  return { limit: Math.min(limit, WORKFLOWS_PAGE_MAX), offset: wholeNumber("offset", query.get("offset"), 0, 0) };
}

export function wholeNumber(param: string, text: string | null, fallback: number, min: number): number {
  if (text === null || text === "") return fallback;
  if (/^\d{1,400}$/.test(text) && Number(text) >= min) return Math.min(Number(text), Number.MAX_SAFE_INTEGER);
  throw new ApiError(
    "unsupported_value",
    `Expected ${param} to be a whole number from ${min}, got ${arrived("enum", text)}.`,
    {
      param,
    },
  );
}
