/** Google's error bodies, as its API sends them: number, word and typed details. */
import type { ReplyBehaviour } from "../openai-compatible/behaviour.ts";

/** Marker in every vendor message: a client of ours must never see it (SEC, PRO-10). */
export const VENDOR_MARK = "vendor-internal-detail";

interface VendorError {
  readonly code: number;
  readonly status: string;
  readonly message: string;
  readonly details?: readonly Readonly<Record<string, unknown>>[];
}

const TYPE = "type.googleapis.com/google.rpc.";

export const ERRORS = {
  "invalid-argument": {
    code: 400,
    status: "INVALID_ARGUMENT",
    message: "Unable to submit request because it has a temperature value of 3",
  },
  "too-long": {
    code: 400,
    status: "INVALID_ARGUMENT",
    message: "The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).",
  },
  "key-invalid": {
    code: 400,
    status: "INVALID_ARGUMENT",
    message: "API key not valid. Please pass a valid API key.",
    details: [
      { "@type": `${TYPE}ErrorInfo`, reason: "API_KEY_INVALID", domain: "googleapis.com" },
      { "@type": `${TYPE}LocalizedMessage`, locale: "en-US", message: "API key not valid." },
    ],
  },
  precondition: {
    code: 400,
    status: "FAILED_PRECONDITION",
    message: "User location is not supported for the API use.",
  },
  unauthenticated: { code: 401, status: "UNAUTHENTICATED", message: "Request had invalid authentication credentials." },
  "permission-denied": { code: 403, status: "PERMISSION_DENIED", message: "Your API key was reported as leaked." },
  "not-found": {
    code: 404,
    status: "NOT_FOUND",
    message: "models/gemini-none is not found for API version v1beta",
  },
  "rate-limit": {
    code: 429,
    status: "RESOURCE_EXHAUSTED",
    message: "You exceeded your current quota, please check your plan.",
    details: [
      { "@type": `${TYPE}QuotaFailure`, violations: [{ quotaId: "GenerateRequestsPerMinutePerProjectPerModel" }] },
      { "@type": `${TYPE}RetryInfo`, retryDelay: "34.4s" },
    ],
  },
  "rate-limit-bare": { code: 429, status: "RESOURCE_EXHAUSTED", message: "Resource has been exhausted" },
  depleted: { code: 429, status: "RESOURCE_EXHAUSTED", message: "Your prepayment credits are depleted." },
  cancelled: { code: 499, status: "CANCELLED", message: "The operation was cancelled." },
  internal: { code: 500, status: "INTERNAL", message: "An internal error has occurred." },
  unavailable: {
    code: 503,
    status: "UNAVAILABLE",
    message: "This model is currently experiencing high demand.",
  },
  deadline: { code: 504, status: "DEADLINE_EXCEEDED", message: "The request timed out." },
} as const satisfies Record<string, VendorError>;

export type ErrorName = keyof typeof ERRORS;

export const ERROR_NAMES = Object.keys(ERRORS) as ErrorName[];

/** The whole HTTP answer of a named error. */
export function errorReply(name: ErrorName, headers: Readonly<Record<string, string>> = {}): ReplyBehaviour {
  return {
    kind: "reply",
    status: ERRORS[name].code,
    headers: { "content-type": "application/json; charset=UTF-8", ...headers },
    body: errorBody(name),
  };
}

/** Only the JSON body, for errors inside a stream. */
export function errorBody(name: ErrorName): string {
  const error: VendorError = ERRORS[name];
  return JSON.stringify({ error: { ...error, message: `${error.message} (${VENDOR_MARK})` } });
}

/** What Google says of a body it does not take. */
export function invalidArgument(message: string): ReplyBehaviour {
  const body = JSON.stringify({ error: { code: 400, message, status: "INVALID_ARGUMENT" } });
  return { kind: "reply", status: 400, headers: { "content-type": "application/json; charset=UTF-8" }, body };
}
