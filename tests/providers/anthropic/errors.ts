/** Anthropic's error bodies, as its API sends them. Source: platform.claude.com/docs/en/api/errors. */
import type { ReplyBehaviour } from "./behaviour.ts";

/** Marker in every vendor message: a client of ours must never see it. */
export const VENDOR_MARK = "vendor-internal-detail";

const ERRORS = {
  "context-length": row(400, "invalid_request_error", "prompt is too long: 208310 tokens > 200000 maximum"),
  "context-limit": row(
    400,
    "invalid_request_error",
    "input length and `max_tokens` exceed context limit: 199000 + 21333 > 200000",
  ),
  "bad-request": row(400, "invalid_request_error", "tools.0.custom.input_schema: JSON schema is invalid"),
  "content-policy": row(400, "invalid_request_error", "Output blocked by content filtering policy"),
  "credit-balance": row(400, "invalid_request_error", "Your credit balance is too low to access the Anthropic API"),
  "usage-limit": row(400, "invalid_request_error", "You have reached your specified API usage limits"),
  disabled: row(400, "invalid_request_error", "This organization has been disabled."),
  "bad-image": row(400, "invalid_request_error", "messages.0.content.1.image.source.base64: Could not process image"),
  unauthorized: row(401, "authentication_error", "invalid x-api-key"),
  billing: row(402, "billing_error", "There is an issue with your billing or payment information"),
  forbidden: row(403, "permission_error", "Your API key does not have permission to use the specified resource"),
  "not-found": row(404, "not_found_error", "model: claude-nothing"),
  "too-large": row(413, "request_too_large", "Request exceeds the maximum size"),
  "rate-limit": row(429, "rate_limit_error", "This request would exceed your organization's rate limit"),
  "server-error": row(500, "api_error", "Internal server error"),
  timeout: row(504, "timeout_error", "The request timed out while processing"),
  overloaded: row(529, "overloaded_error", "Overloaded"),
} as const satisfies Record<string, VendorError>;

interface VendorError {
  readonly status: number;
  readonly type: string;
  readonly message: string;
}

export type ErrorName = keyof typeof ERRORS;

export const ERROR_NAMES = Object.keys(ERRORS) as ErrorName[];

/** The whole HTTP answer of a named error; `headers` adds hints such as retry-after. */
export function errorReply(name: ErrorName, headers: Readonly<Record<string, string>> = {}): ReplyBehaviour {
  const { status } = ERRORS[name];
  return { kind: "reply", status, headers: { "content-type": "application/json", ...headers }, body: errorBody(name) };
}

/** Only the JSON body: in a stream it is the data of an `error` event. */
export function errorBody(name: ErrorName): string {
  const { type, message } = ERRORS[name];
  return vendorError(type, `${message} (${VENDOR_MARK})`);
}

export function vendorError(type: string, message: string): string {
  return JSON.stringify({
    type: "error",
    error: { details: null, type, message },
    request_id: "req_011CSHoEeqs5C35K2UUqR7Fy",
  });
}

function row(status: number, type: string, message: string): VendorError {
  return { status, type, message };
}
