/**
 * Maps Anthropic's error bodies to error classes. The error type takes precedence over the HTTP status. Messages are matched only within
 * one type and only at their beginning, because the remainder may quote the caller. A caller must not be able to cause an error that
 * disables the provider. Source: platform.claude.com/docs/en/api/errors.
 */
import { isMembers, parseObject, textOf } from "../json.ts";
import { ProviderError, type ProviderErrorClass } from "../provider.ts";
import { retryAfter } from "../retry-after.ts";

const CLASS_OF_TYPE: Readonly<Record<string, ProviderErrorClass>> = {
  invalid_request_error: "rejected",
  request_too_large: "rejected",
  authentication_error: "misconfigured",
  billing_error: "misconfigured",
  permission_error: "misconfigured",
  not_found_error: "misconfigured",
  rate_limit_error: "busy",
  overloaded_error: "busy",
  timeout_error: "timeout",
  api_error: "failed",
};

/**
 * Patterns of messages of the type `invalid_request_error`. The first three (refused, spent, disabled) have other causes than an invalid
 * request.
 */
const REFUSED_MESSAGE = /^Output blocked by content filtering policy\b/;
const SPENT_MESSAGE = /^(Your credit balance is too low\b|You have reached your specified (API )?usage limits\b)/;
const DISABLED_MESSAGE = /^This organization has been disabled\b/;
const TOO_LONG_MESSAGE = /^(prompt is too long:|input length and `max_tokens` exceed context limit\b)/;
/** Pattern of errors about unreadable media. The message may begin with the position of the block in the body that we sent. */
const UNREADABLE_MESSAGE = /^([a-z0-9_.]{1,200}: )?Could not process (the )?(image|pdf|document)\b/i;
/** Pattern of `details.error_code` for exceeded spending limits. The member contains no text of a caller. */
const SPENT_CODE = /^([a-z]+_)?spend_limit(_[a-z]+)?$/;

/** Returns the error for a response with an error status. @param text body as received, which is only logged, and truncated */
export function classifyAnswer(status: number, headers: Headers, text: string): ProviderError {
  const reported = readError(parseObject(text)?.["error"]);
  const kind = classOf(status, reported);
  const retryAfterMs = retryAfter(headers);
  return new ProviderError(kind, detailOf(reported) || text || `status ${status}`, {
    ...(kind === "rejected" ? clientOptions(status, reported) : {}),
    status,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

/** Classifies an `error` member inside a 200 response or stream, by its type alone. */
export function classifyErrorMember(value: unknown): ProviderError {
  const reported = readError(value);
  const kind = classOf(500, reported);
  return new ProviderError(kind, detailOf(reported) || "error event", {
    ...(kind === "rejected" ? clientOptions(400, reported) : {}),
  });
}

interface ReportedError {
  readonly type: string;
  readonly code: string;
  readonly message: string;
}

function readError(value: unknown): ReportedError {
  if (!isMembers(value)) return { type: "", code: "", message: textOf(value) };
  const details = isMembers(value["details"]) ? value["details"] : {};
  return { type: textOf(value["type"]), code: textOf(details["error_code"]), message: textOf(value["message"]) };
}

function detailOf({ type, code, message }: ReportedError): string {
  return [type, code, message].filter((part) => part !== "").join(" ");
}

function classOf(status: number, { type, code, message }: ReportedError): ProviderErrorClass {
  const kind = (Object.hasOwn(CLASS_OF_TYPE, type) ? CLASS_OF_TYPE[type] : undefined) ?? classOfStatus(status);
  if (type === "rate_limit_error") return SPENT_CODE.test(code) || SPENT_MESSAGE.test(message) ? "misconfigured" : kind;
  if (type !== "invalid_request_error") return kind;
  if (REFUSED_MESSAGE.test(message)) return "refused";
  const isOurs = SPENT_CODE.test(code) || SPENT_MESSAGE.test(message) || DISABLED_MESSAGE.test(message);
  return isOurs ? "misconfigured" : kind;
}

function classOfStatus(status: number): ProviderErrorClass {
  if (status === 429 || status === 503 || status === 529) return "busy";
  if (status === 401 || status === 402 || status === 403 || status === 404 || status === 410) return "misconfigured";
  if (status === 408 || status === 504) return "timeout";
  return status >= 400 && status < 500 ? "rejected" : "failed";
}

type ClientOptions = Pick<NonNullable<ConstructorParameters<typeof ProviderError>[2]>, "code" | "param" | "say">;

/**
 * Returns the error code, parameter and message for the client. Anthropic's own message is omitted, because it names positions in our
 * request body instead of the client's.
 */
function clientOptions(status: number, { type, message }: ReportedError): ClientOptions {
  if (TOO_LONG_MESSAGE.test(message)) return { code: "context_length_exceeded", param: "messages" };
  if (status === 413 || type === "request_too_large") {
    return {
      code: "invalid_request",
      param: "messages",
      say: "The request exceeds the provider's limit of 32 MB, files included; send smaller files.",
    };
  }
  if (!UNREADABLE_MESSAGE.test(message)) return {};
  return {
    code: "unprocessable_input",
    param: "messages",
    say: "The model's provider could not read an image or file of the request; send another one.",
  };
}
