/** Anthropic's error bodies, as its API sends them. Source: platform.claude.com/docs/en/api/errors. */
import { jsonReply, type TextReply, VENDOR_MARK } from "../engine/behaviour.ts";

/** The whole HTTP answer; in a stream its body is the data of an `error` event. */
export function anthropicError(status: number, type: string, message: string): TextReply {
  return jsonReply(status, {
    type: "error",
    error: { details: null, type, message: `${message} (${VENDOR_MARK})` },
    request_id: "req_011CSHoEeqs5C35K2UUqR7Fy",
  });
}

export const invalid = (message: string): TextReply => anthropicError(400, "invalid_request_error", message);

export const ERRORS = {
  "context-length": invalid("prompt is too long: 208310 tokens > 200000 maximum"),
  "context-limit": invalid("input length and `max_tokens` exceed context limit: 199000 + 21333 > 200000"),
  "bad-request": invalid("tools.0.custom.input_schema: JSON schema is invalid"),
  "content-policy": invalid("Output blocked by content filtering policy"),
  "credit-balance": invalid("Your credit balance is too low to access the Anthropic API"),
  "usage-limit": invalid("You have reached your specified API usage limits"),
  disabled: invalid("This organization has been disabled."),
  "bad-image": invalid("messages.0.content.1.image.source.base64: Could not process image"),
  unauthorized: anthropicError(401, "authentication_error", "invalid x-api-key"),
  billing: anthropicError(402, "billing_error", "There is an issue with your billing or payment information"),
  forbidden: anthropicError(403, "permission_error", "Your API key does not have permission to use the resource"),
  "not-found": anthropicError(404, "not_found_error", "model: claude-nothing"),
  "too-large": anthropicError(413, "request_too_large", "Request exceeds the maximum size"),
  "rate-limit": anthropicError(429, "rate_limit_error", "This request would exceed your organization's rate limit"),
  "server-error": anthropicError(500, "api_error", "Internal server error"),
  timeout: anthropicError(504, "timeout_error", "The request timed out while processing"),
  overloaded: anthropicError(529, "overloaded_error", "Overloaded"),
} as const satisfies Record<string, TextReply>;

export type ErrorName = keyof typeof ERRORS;

export const ERROR_NAMES = Object.keys(ERRORS) as ErrorName[];
