/**
 * Maps Deepgram's error bodies to error classes. Older services return `{err_code, err_msg}`; newer services return `{category, message,
 * details}`. Source: developers.deepgram.com/docs/errors.
 */
import { ProviderError, type ProviderErrorClass } from "../provider.ts";
import { retryAfter } from "../retry-after.ts";
import { unreadable } from "../transcription.ts";

const CLASS_OF_CODE: Readonly<Record<string, ProviderErrorClass>> = {
  INVALID_AUTH: "misconfigured",
  INSUFFICIENT_PERMISSIONS: "misconfigured",
  FORBIDDEN: "misconfigured",
  ACCESS_DENIED: "misconfigured",
  ASR_PAYMENT_REQUIRED: "misconfigured",
  TTS_PAYMENT_REQUIRED: "misconfigured",
  PROJECT_NOT_FOUND: "misconfigured",
  TOO_MANY_REQUESTS: "busy",
  RATE_LIMIT_EXCEEDED: "busy",
  // The upload was incomplete; a retry may succeed.
  SLOW_UPLOAD: "failed",
  PAYLOAD_ERROR: "failed",
};

const UNREADABLE = /corrupt or unsupported data|failed to (?:process|decode) audio|unable to (?:read|decode)|no audio/i;
/** Deepgram's message for a wrong model, language or tier. The message does not say which of the three is wrong. */
const UNKNOWN_COMBINATION = /no such model\/language/i;
const UNKNOWN_MODEL = /\b(?:no such|unknown|invalid) model\b|\bmodel\b.*\b(?:not found|does not exist)\b/i;
const TOO_LONG = /character limit|\btoo long\b|exceeded? .*\b(?:characters|limit)\b/i;

/** Facts of a call from which the parameter in its error message is chosen. */
interface Subject {
  readonly param: "file" | "input";
  /** True if the caller set a language. */
  readonly hasLanguage: boolean;
}

/**
 * Returns the error for a response with an error status.
 * @param text body as received; only logged, and truncated
 */
export function classifyAnswer(status: number, headers: Headers, text: string, subject: Subject): ProviderError {
  const { code, message } = readErrorBody(text);
  const detail = [code, message].filter(Boolean).join(": ") || `status ${status}`;
  const kind = (Object.hasOwn(CLASS_OF_CODE, code) ? CLASS_OF_CODE[code] : undefined) ?? classOfStatus(status);
  if (kind !== "rejected") {
    const retryAfterMs = retryAfter(headers);
    return new ProviderError(kind, detail, { status, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) });
  }
  if (UNKNOWN_COMBINATION.test(message)) return unknownCombination(detail, status, subject);
  if (UNKNOWN_MODEL.test(message)) return new ProviderError("misconfigured", detail, { status });
  const { param } = subject;
  if (param === "file" && (UNREADABLE.test(message) || status === 415 || status === 422))
    return unreadable(detail, status);
  if (status !== 413 && !TOO_LONG.test(message)) return new ProviderError("rejected", detail, { status });
  const say =
    param === "file"
      ? "The audio is larger or longer than this model accepts."
      : "The text is longer than this model accepts in one call.";
  return new ProviderError("rejected", detail, { code: "invalid_request", param, say, status });
}

function unknownCombination(detail: string, status: number, { hasLanguage }: Subject): ProviderError {
  if (!hasLanguage) return new ProviderError("misconfigured", detail, { status });
  const say = "The model does not support this language.";
  return new ProviderError("rejected", detail, { code: "unsupported_value", param: "language", say, status });
}

function classOfStatus(status: number): ProviderErrorClass {
  if (status === 429 || status === 503 || status === 529) return "busy";
  if (status === 401 || status === 402 || status === 403 || status === 404 || status === 410) return "misconfigured";
  if (status === 408 || status === 504) return "timeout";
  return status >= 400 && status < 500 ? "rejected" : "failed";
}

function readErrorBody(text: string): { code: string; message: string } {
  let body: Readonly<Record<string, unknown>>;
  try {
    body = (JSON.parse(text) ?? {}) as Readonly<Record<string, unknown>>;
  } catch {
    return { code: "", message: text.slice(0, 500) };
  }
  const said = (...names: readonly string[]): string =>
    names
      .map((name) => body[name])
      .filter((value) => typeof value === "string" && value !== "")
      .join(" ")
      .slice(0, 500);
  return { code: said("err_code") || said("category"), message: said("err_msg", "message", "details", "reason") };
}
