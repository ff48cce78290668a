/** Pagination of settings lists. Lists are sorted newest first, and `after` is the last id of the previous page. */
import { arrived } from "#shared/json/contract-fault.ts";
import { ApiError } from "#shared/base/errors.ts";
import { isUuid } from "#shared/base/ids.ts";

import { json } from "./answers.ts";
import type { RequestFacts } from "./call.ts";
import type { Route } from "./route.ts";

export const SETTINGS_PAGE_DEFAULT = 20;
export const SETTINGS_PAGE_MAX = 100;

export const LIST_QUERY: NonNullable<Route["query"]> = [
  {
    name: "after",
    description: "Id of the entry after which the page starts, usually `last_id` of the previous page.",
    schema: { type: "string" },
  },
  {
    name: "limit",
    description: "Number of entries per page.",
    schema: {
      type: "integer",
      minimum: 1,
      maximum: SETTINGS_PAGE_MAX,
      default: SETTINGS_PAGE_DEFAULT,
    },
  },
];

const TIME = { type: "string", format: "date-time" } as const;

/** Query parameters `start_time` and `end_time`, which limit a list to a period. */
export const SPAN_QUERY: NonNullable<Route["query"]> = [
  { name: "start_time", description: "Start of the period, inclusive. Default: no limit.", schema: TIME },
  { name: "end_time", description: "End of the period, exclusive. Default: no limit.", schema: TIME },
];

export const queryOf = ({ request }: RequestFacts): URLSearchParams => new URL(request.url).searchParams;

export interface Page {
  readonly after: string | null;
  readonly limit: number;
}

/** Reads the pagination parameters of a list whose ids are UUIDs. @throws ApiError `unsupported_value` */
export function pageOf(call: RequestFacts): Page {
  return { after: idIn(call, "after"), limit: limitIn(call) };
}

/**
 * Reads the pagination parameters of a list whose ids are numbers, such as the ledger and the audit log. @throws ApiError
 * `unsupported_value`
 */
export function numberedPageOf(call: RequestFacts): { readonly after: bigint | null; readonly limit: number } {
  const after = queryOf(call).get("after") || null;
  if (after !== null && !/^\d{1,18}$/.test(after)) throw unsupported("after", "the id of an entry", after);
  return { after: after === null ? null : BigInt(after), limit: limitIn(call) };
}

/** Reads an id from the query string; null if absent or empty. @throws ApiError `unsupported_value` */
export function idIn(call: RequestFacts, name: string): string | null {
  const id = queryOf(call).get(name)?.toLowerCase() || null;
  if (id !== null && !isUuid(id)) throw unsupported(name, "an id", id);
  return id;
}

/** Reads a time from the query string; null if absent or empty. @throws ApiError `unsupported_value` */
export function timeIn(call: RequestFacts, name: string): Date | null {
  const text = queryOf(call).get(name) || null;
  if (text === null) return null;
  const time = timeOf(text);
  if (time === undefined) throw unsupported(name, "a time such as 2026-11-24T08:00:00Z", text);
  return time;
}

/** Parses an ISO 8601 time with time zone, or a date, which means midnight UTC. Undefined for other texts. */
export function timeOf(text: string): Date | undefined {
  if (!/^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d))?$/.test(text)) return undefined;
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? undefined : time;
}

/** Reads a query parameter that allows only certain values; null if absent or empty. @throws ApiError `unsupported_value` */
export function oneOf<T extends string>(call: RequestFacts, name: string, values: readonly T[]): T | null {
  const text = queryOf(call).get(name) || null;
  const value = values.find((known) => known === text);
  if (text !== null && value === undefined) throw unsupported(name, `one of ${values.join(", ")}`, text);
  return value ?? null;
}

/** Schema of a boolean query parameter. It accepts `true`, `false`, `1` and `0`, in upper or lower case. */
export const BOOLEAN_QUERY = { type: "boolean" } as const;

/** Reads a boolean from the query string; null if absent or empty. @throws ApiError `unsupported_value` for any other text */
export function booleanIn(call: RequestFacts, name: string): boolean | null {
  const text = queryOf(call).get(name) || null;
  if (text === null) return null;
  const value = booleanOf(text);
  if (value === undefined) throw unsupported(name, "true, false, 1 or 0", text);
  return value;
}

/** Parses a boolean query value; undefined for other texts. */
export function booleanOf(text: string): boolean | undefined {
  if (/^(?:true|1)$/i.test(text)) return true;
  return /^(?:false|0)$/i.test(text) ? false : undefined;
}

/**
 * Reads a text from the query string; null if absent or empty. Texts that Postgres would reject are refused. @throws ApiError
 * `unsupported_value`
 */
export function textIn(call: RequestFacts, name: string): string | null {
  const text = queryOf(call).get(name) || null;
  if (text !== null && (text.length > TEXT_CHARS_MAX || text.includes("\u0000"))) {
    throw unsupported(name, `at most ${TEXT_CHARS_MAX} characters`, text);
  }
  return text;
}

const TEXT_CHARS_MAX = 200;

/** Reads the page size `limit` from the query string. @throws ApiError `unsupported_value` */
export function limitIn(call: RequestFacts): number {
  return numberIn(call, "limit", SETTINGS_PAGE_MAX) ?? SETTINGS_PAGE_DEFAULT;
}

/** Returns a parameter that is a whole number from 1 to `max`; undefined if it is absent. @throws ApiError `unsupported_value` */
export function numberIn(call: RequestFacts, name: string, max: number): number | undefined {
  const text = queryOf(call).get(name);
  if (!text) return undefined;
  const number = Number(text);
  if (/^\d{1,6}$/.test(text) && number >= 1 && number <= max) return number;
  throw unsupported(name, `a whole number from 1 to ${max}`, text);
}

export function unsupported(param: string, expected: string, got: string): ApiError {
  return new ApiError("unsupported_value", `Expected ${param} to be ${expected}, got ${arrived("enum", got)}.`, {
    param,
  });
}

/**
 * Builds the response with a page of rows. It calls `find` with a limit increased by one, so that the additional row shows whether more
 * rows exist.
 */
export async function pageAnswer<P extends { readonly limit: number }, Row>(
  page: P,
  find: (page: P) => Promise<readonly Row[]>,
  present: (row: Row) => { readonly id: string },
): Promise<Response> {
  const rows = await find({ ...page, limit: page.limit + 1 });
  const data = rows.slice(0, page.limit).map(present);
  return json({
    object: "list",
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: rows.length > page.limit,
  });
}
