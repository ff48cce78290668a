/** OpenAI's error bodies, as its API sends them: status, type, code and hint headers. */
import { jsonReply, type TextReply, VENDOR_MARK } from "../engine/behaviour.ts";

/** Makes the error of its API for a parameter, or for none. */
export function openAiError(
  status: number,
  message: string,
  {
    type = "invalid_request_error",
    param = null,
    code = null,
  }: Partial<Record<"type" | "param" | "code", string | null>> = {},
): TextReply {
  return jsonReply(status, { error: { message: `${message} (${VENDOR_MARK})`, type, param, code } });
}

export const ERRORS = {
  "context-length": openAiError(400, "maximum context length is 8192 tokens", {
    param: "messages",
    code: "context_length_exceeded",
  }),
  "bad-request": openAiError(400, "temperature does not support 2.5", {
    param: "temperature",
    code: "unsupported_value",
  }),
  "content-policy": openAiError(400, "rejected by the safety system", { code: "content_policy_violation" }),
  unauthorized: openAiError(401, "Incorrect API key provided", { code: "invalid_api_key" }),
  quota: openAiError(429, "You exceeded your current quota", {
    type: "insufficient_quota",
    code: "insufficient_quota",
  }),
  forbidden: openAiError(403, "Country not supported", { code: "unsupported_country_region_territory" }),
  "model-not-found": openAiError(404, "The model does not exist", { code: "model_not_found" }),
  "too-large": openAiError(413, "Request too large"),
  unprocessable: openAiError(422, "Unprocessable entity", { param: "messages" }),
  "rate-limit": openAiError(429, "Rate limit reached", { type: "requests", code: "rate_limit_exceeded" }),
  "server-error": openAiError(500, "The server had an error while processing your request", { type: "server_error" }),
  "bad-gateway": openAiError(502, "Bad gateway", { type: "server_error" }),
  overloaded: openAiError(503, "The engine is currently overloaded", { type: "server_error" }),
  "overloaded-529": openAiError(529, "Overloaded", { type: "overloaded_error" }),
} as const satisfies Record<string, TextReply>;

export type ErrorName = keyof typeof ERRORS;

export const ERROR_NAMES = Object.keys(ERRORS) as ErrorName[];
