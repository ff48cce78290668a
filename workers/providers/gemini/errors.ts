/**
 * Maps Google's error bodies to error classes. The details take precedence over the status name, and the status name over the number.
 * Sources: ai.google.dev/gemini-api/docs/troubleshooting, google/rpc/error_details.
 */
import { textIn, isMembers, type Members, membersOf } from "../json.ts";
import { ProviderError, type ProviderErrorClass } from "../provider.ts";
import { retryAfter } from "../retry-after.ts";

const CLASS_OF_RPC_STATUS: Readonly<Record<string, ProviderErrorClass>> = {
  INVALID_ARGUMENT: "rejected",
  OUT_OF_RANGE: "rejected",
  // Not offered in this country, or billing is disabled: an error of our account, not of the request.
  FAILED_PRECONDITION: "misconfigured",
  UNAUTHENTICATED: "misconfigured",
  PERMISSION_DENIED: "misconfigured",
  NOT_FOUND: "misconfigured",
  RESOURCE_EXHAUSTED: "busy",
  UNAVAILABLE: "busy",
  DEADLINE_EXCEEDED: "timeout",
  INTERNAL: "failed",
  UNKNOWN: "failed",
  ABORTED: "failed",
  CANCELLED: "failed",
  DATA_LOSS: "failed",
  UNIMPLEMENTED: "misconfigured",
};

/** Reasons of an INVALID_ARGUMENT error that mean that our key is invalid. */
const KEY_REASONS: ReadonlySet<string> = new Set(["API_KEY_INVALID", "API_KEY_EXPIRED", "API_KEY_SERVICE_BLOCKED"]);
/** Error messages about an invalid key. Matched only at the beginning, because later parts of a message may quote the caller. */
const KEY_WORDS = /^API key (not valid|expired|not found)\b/i;
/** Matches messages of RESOURCE_EXHAUSTED errors that a retry cannot fix, because our credits or budget are spent. */
const SPENT_WORDS = /\bcredits are depleted\b|\bspending cap\b|\bbilling account\b/i;
const TOO_LONG_WORDS =
  /\btoken count\b.*\bexceeds\b|\bexceeds the maximum number of tokens\b|\bmaximum context length\b/i;

interface ErrorBody {
  readonly message: string;
  readonly rpcStatus: string;
  readonly status: number | undefined;
  readonly details: readonly Members[];
}

/**
 * Returns the error for a response with an error status.
 * @param text body as received; only logged, and truncated
 */
export function classifyAnswer(status: number, headers: Headers, text: string): ProviderError {
  return toError(readErrorBody(text), status, headers);
}

/** Classifies an `error` member inside a 200 response or stream. The member's `code` is used as the HTTP status. */
export function classifyErrorMember(value: unknown): ProviderError {
  const body = readErrorMember(value);
  return toError(body, body.status ?? 500, new Headers());
}

function toError(body: ErrorBody, status: number, headers: Headers): ProviderError {
  const kind = classOf(status, body);
  const retryAfterMs = retryDelay(body.details) ?? retryAfter(headers);
  return new ProviderError(kind, body.message || `status ${status}`, {
    status,
    ...(kind === "rejected" && TOO_LONG_WORDS.test(body.message)
      ? { code: "context_length_exceeded" as const, param: "messages" }
      : {}),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

function classOf(status: number, body: ErrorBody): ProviderErrorClass {
  const { rpcStatus, message } = body;
  if (status === 401 || status === 403 || blamesKey(body)) return "misconfigured";
  const byRpcStatus = Object.hasOwn(CLASS_OF_RPC_STATUS, rpcStatus) ? CLASS_OF_RPC_STATUS[rpcStatus] : undefined;
  const kind = byRpcStatus ?? classOfStatus(status);
  return kind === "busy" && SPENT_WORDS.test(message) ? "misconfigured" : kind;
}

/**
 * Returns true if an error says that our key is invalid. Such an error disables the source for all calls. Texts that may quote the caller
 * are therefore not considered.
 */
function blamesKey({ message, details }: ErrorBody): boolean {
  if (details.some(({ reason }) => KEY_REASONS.has(String(reason)))) return true;
  return KEY_WORDS.test(message) && !details.some((detail) => detail["fieldViolations"] !== undefined);
}

function classOfStatus(status: number): ProviderErrorClass {
  if (status === 429 || status === 503 || status === 529) return "busy";
  if (status === 401 || status === 402 || status === 403 || status === 404 || status === 410) return "misconfigured";
  if (status === 408 || status === 504) return "timeout";
  return status >= 400 && status < 500 ? "rejected" : "failed";
}

/** Parses `RetryInfo.retryDelay`, a duration as text such as "34.4s", into milliseconds. */
function retryDelay(details: readonly Members[]): number | undefined {
  for (const { retryDelay: delay } of details) {
    if (typeof delay !== "string" || !delay.endsWith("s")) continue;
    const waitMs = retryAfter(new Headers({ "retry-after": delay.slice(0, -1) }));
    if (waitMs !== undefined) return Math.ceil(waitMs);
  }
  return undefined;
}

function readErrorBody(text: string): ErrorBody {
  try {
    const answer = JSON.parse(text) as unknown;
    // Some errors of streams are the single element of a list.
    const body: unknown = Array.isArray(answer) ? answer[0] : answer;
    return readErrorMember(isMembers(body) ? body["error"] : undefined);
  } catch {
    return { message: text.slice(0, 1_000), rpcStatus: "", status: undefined, details: [] };
  }
}

function readErrorMember(value: unknown): ErrorBody {
  if (!isMembers(value)) return { message: textIn(value) ?? "", rpcStatus: "", status: undefined, details: [] };
  const code = value["code"];
  const isStatus = typeof code === "number" && Number.isInteger(code) && code >= 400 && code <= 599;
  return {
    message: textIn(value["message"]) ?? "",
    rpcStatus: textIn(value["status"]) ?? "",
    status: isStatus ? code : undefined,
    details: membersOf(value["details"]),
  };
}
