/** Pagination of items: the input of a stored response, or the items of a conversation. */
import type { ResponsesItem } from "#schemas/generated/types.ts";

import type { RouteCall } from "../../core/call.ts";
import type { Route } from "../../core/route.ts";
import { limitIn, LIST_QUERY, oneOf, queryOf, unsupported } from "../../core/page.ts";

export const ITEMS_QUERY: NonNullable<Route["query"]> = [
  ...LIST_QUERY,
  {
    name: "order",
    description: "Order of the items: `desc` returns the last item first.",
    schema: { type: "string", enum: ["asc", "desc"], default: "desc" },
  },
];

interface ItemsPage {
  readonly after: string | null;
  readonly limit: number;
  readonly order: "asc" | "desc";
}

/** Reads the pagination parameters of a request's query. @throws ApiError `unsupported_value` */
export function itemsPageOf(call: RouteCall): ItemsPage {
  const order = oneOf(call, "order", ["asc", "desc"]) ?? "desc";
  return { after: queryOf(call).get("after") || null, limit: limitIn(call), order };
}

/**
 * Returns one page of items. @throws ApiError `unsupported_value` if the id in `after` is unknown, because a page from the start would
 * return items twice
 */
export function pageOfItems({ after, limit, order }: ItemsPage, items: readonly ResponsesItem[]) {
  const ordered = order === "asc" ? items : items.toReversed();
  const place = after === null ? -1 : ordered.findIndex(({ id }) => id === after);
  if (after !== null && place < 0) throw unsupported("after", "the id of one of the items", after);
  return listOfItems(ordered.slice(place + 1, place + 1 + limit), ordered.length > place + 1 + limit);
}

export function listOfItems(data: readonly ResponsesItem[], hasMore = false) {
  const [first, last] = [data[0]?.id ?? null, data.at(-1)?.id ?? null];
  return { object: "list", data, first_id: first, last_id: last, has_more: hasMore };
}
