/** Reads the labels of a call from its body and the header `x-tags`. */
import { type CallLabels, labelsInHeader, labelsOf, TAGS_HEADER } from "#shared/calls/labels.ts";

import type { RouteCall } from "./call.ts";

/** Request header `x-tags`, accepted by every paid call. */
export const TAGS_REQUEST = {
  name: TAGS_HEADER,
  description:
    "End user and tags of the call, such as `user=alice, project=alpha`, with percent-encoded values. Tags are named in the " +
    "workspace's settings. `user` and `metadata` of the body take precedence.",
  schema: { type: "string" },
} as const;

/**
 * Returns the labels of a call; undefined if it has none.
 * @param body request body; undefined if the call has none that can contain labels
 * @throws ApiError `unsupported_value` for an invalid header
 */
export function readLabels(
  call: Pick<RouteCall, "caller" | "labels" | "request">,
  body?: unknown,
): CallLabels | undefined {
  const outer = call.labels ?? labelsInHeader(call.caller, call.request.headers.get(TAGS_HEADER));
  return labelsOf(call.caller, body, outer);
}
