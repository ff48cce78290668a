/** Request header `x-max-credits`: the maximum cost of a call whose body cannot contain `max_credits`, such as an MCP message. */
import { lowerMax, type OuterMax, readMaxCredits } from "#shared/calls/max-credits.ts";

import type { RouteCall } from "./call.ts";

export const MAX_CREDITS_HEADER = "x-max-credits";

/** Description of the header for the OpenAPI document. */
export const MAX_CREDITS_REQUEST = {
  name: MAX_CREDITS_HEADER,
  description: "Maximum cost in credits, like `max_credits` in the body. The lower of both applies.",
  schema: { type: "string" },
} as const;

/** Returns the maximum in the header, in nano-credits. @throws ApiError `unsupported_value` */
export function headerMax({ headers }: Pick<Request, "headers">): bigint | undefined {
  const text = headers.get(MAX_CREDITS_HEADER);
  return text === null ? undefined : readMaxCredits(text, MAX_CREDITS_HEADER);
}

/** Returns the maximum cost of a call that is not in its body. @throws ApiError `unsupported_value` for an invalid header */
export function outerMaxOf({ request, maxNano }: Pick<RouteCall, "maxNano" | "request">): OuterMax {
  return { nano: lowerMax(headerMax(request), maxNano) };
}
