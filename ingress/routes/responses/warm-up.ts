/**
 * Handles a `response.create` message with `generate: false`. The connection keeps the message's items for the next message. No model is
 * called, and nothing is charged.
 */
import type { ModelResponse } from "#schemas/generated/types.ts";
import { ApiError } from "#shared/base/errors.ts";

import { DONE, SSE_HEADERS } from "../../core/sse.ts";

import { responseEvent } from "../../core/response-object.ts";

const NO_TOKENS = {
  input_tokens: 0,
  input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
  output_tokens: 0,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 0,
  credits: 0,
};

/**
 * Returns the events of a completed, empty response.
 * @param isKept true if the connection keeps the items; other storage is not offered, because the response is free
 * @throws ApiError `unsupported_value` if `isKept` is false
 */
export function warmUpAnswer(response: ModelResponse, isKept: boolean): Response {
  if (!isKept) {
    throw refuse("generate", "Expected generate to be true or absent: false works only over a WebSocket.");
  }
  if (response.conversation != null) {
    throw refuse(
      "conversation",
      "A message with generate false does not support conversation; use previous_response_id.",
    );
  }
  const whole: ModelResponse = {
    ...response,
    status: "completed",
    completed_at: response.created_at,
    usage: NO_TOKENS,
  };
  const events = [
    responseEvent("response.created", 0, response),
    responseEvent("response.in_progress", 1, response),
    responseEvent("response.completed", 2, whole),
  ];
  return new Response(`${events.join("")}${DONE.toString()}`, { headers: SSE_HEADERS });
}

function refuse(param: string, message: string): ApiError {
  return new ApiError("unsupported_value", message, { param });
}
