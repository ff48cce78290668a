/** Google's error bodies, as its API sends them: number, word and typed details. */
import { jsonReply, type Members, type TextReply, VENDOR_MARK } from "../engine/behaviour.ts";

const TYPE = "type.googleapis.com/google.rpc.";

function row(code: number, status: string, message: string, ...details: readonly Members[]): TextReply {
  const more = details.length > 0 ? { details } : {};
  return jsonReply(code, { error: { code, status, message: `${message} (${VENDOR_MARK})`, ...more } });
}

/** Makes Google's answer to a body it does not take. */
export const invalidArgument = (message: string): TextReply => row(400, "INVALID_ARGUMENT", message);

export const ERRORS = {
  "invalid-argument": invalidArgument("Unable to submit request because it has a temperature value of 3"),
  "too-long": invalidArgument(
    "The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).",
  ),
  "key-invalid": row(
    400,
    "INVALID_ARGUMENT",
    "API key not valid. Please pass a valid API key.",
    { "@type": `${TYPE}ErrorInfo`, reason: "API_KEY_INVALID", domain: "googleapis.com" },
    { "@type": `${TYPE}LocalizedMessage`, locale: "en-US", message: "API key not valid." },
  ),
  precondition: row(400, "FAILED_PRECONDITION", "User location is not supported for the API use."),
  unauthenticated: row(401, "UNAUTHENTICATED", "Request had invalid authentication credentials."),
  "permission-denied": row(403, "PERMISSION_DENIED", "Your API key was reported as leaked."),
  "not-found": row(404, "NOT_FOUND", "models/gemini-none is not found for API version v1beta"),
  "rate-limit": row(
    429,
    "RESOURCE_EXHAUSTED",
    "You exceeded your current quota, please check your plan.",
    { "@type": `${TYPE}QuotaFailure`, violations: [{ quotaId: "GenerateRequestsPerMinutePerProjectPerModel" }] },
    { "@type": `${TYPE}RetryInfo`, retryDelay: "34.4s" },
  ),
  "rate-limit-bare": row(429, "RESOURCE_EXHAUSTED", "Resource has been exhausted"),
  depleted: row(429, "RESOURCE_EXHAUSTED", "Your prepayment credits are depleted."),
  cancelled: row(499, "CANCELLED", "The operation was cancelled."),
  internal: row(500, "INTERNAL", "An internal error has occurred."),
  unavailable: row(503, "UNAVAILABLE", "This model is currently experiencing high demand."),
  deadline: row(504, "DEADLINE_EXCEEDED", "The request timed out."),
} as const satisfies Record<string, TextReply>;

export type ErrorName = keyof typeof ERRORS;

export const ERROR_NAMES = Object.keys(ERRORS) as ErrorName[];
