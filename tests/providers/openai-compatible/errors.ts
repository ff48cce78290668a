/** OpenAI's error bodies, as its API sends them: status, type, code and hint headers. */
import type { ReplyBehaviour } from "./behaviour.ts";

interface VendorError {
  readonly status: number;
  readonly type: string;
  readonly code: string | null;
  readonly param: string | null;
  readonly message: string;
}

/** Marker in every vendor message: a client of ours must never see it (SEC, PRO-10). */
export const VENDOR_MARK = "vendor-internal-detail";

const ERRORS = {
  "context-length": row(
    400,
    "invalid_request_error",
    "context_length_exceeded",
    "messages",
    "maximum context length is 8192 tokens",
  ),
  "bad-request": row(
    400,
    "invalid_request_error",
    "unsupported_value",
    "temperature",
    "temperature does not support 2.5",
  ),
  "content-policy": row(
    400,
    "invalid_request_error",
    "content_policy_violation",
    null,
    "rejected by the safety system",
  ),
  unauthorized: row(401, "invalid_request_error", "invalid_api_key", null, "Incorrect API key provided"),
  quota: row(429, "insufficient_quota", "insufficient_quota", null, "You exceeded your current quota"),
  forbidden: row(403, "invalid_request_error", "unsupported_country_region_territory", null, "Country not supported"),
  "model-not-found": row(404, "invalid_request_error", "model_not_found", null, "The model does not exist"),
  "too-large": row(413, "invalid_request_error", null, null, "Request too large"),
  unprocessable: row(422, "invalid_request_error", null, "messages", "Unprocessable entity"),
  "rate-limit": row(429, "requests", "rate_limit_exceeded", null, "Rate limit reached"),
  "server-error": row(500, "server_error", null, null, "The server had an error while processing your request"),
  "bad-gateway": row(502, "server_error", null, null, "Bad gateway"),
  overloaded: row(503, "server_error", null, null, "The engine is currently overloaded"),
  "overloaded-529": row(529, "overloaded_error", null, null, "Overloaded"),
} as const satisfies Record<string, VendorError>;

export type ErrorName = keyof typeof ERRORS;

export const ERROR_NAMES = Object.keys(ERRORS) as ErrorName[];

/** The whole HTTP answer of a named error; `headers` adds hints such as retry-after. */
export function errorReply(name: ErrorName, headers: Readonly<Record<string, string>> = {}): ReplyBehaviour {
  const { status } = ERRORS[name];
  return { kind: "reply", status, headers: { "content-type": "application/json", ...headers }, body: errorBody(name) };
}

/** Only the JSON body, for errors inside a stream. */
export function errorBody(name: ErrorName): string {
  const { type, code, param, message } = ERRORS[name];
  return JSON.stringify({ error: { message: `${message} (${VENDOR_MARK})`, type, param, code } });
}

function row(status: number, type: string, code: string | null, param: string | null, message: string): VendorError {
  return { status, type, code, param, message };
}
