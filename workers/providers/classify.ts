/** OpenAI-shaped error answers → error class, decided once (providers paper, part 2). The body decides before the status. */
import { ProviderError, type ProviderErrorClass } from "./provider.ts";

interface ErrorBody {
  readonly message: string;
  readonly code: string;
  readonly type: string;
  readonly param: string | null;
}

const REFUSED_CODES = new Set([
  "content_policy_violation",
  "content_filter",
  "moderation_blocked",
  "responsible_ai_policy_violation",
]);
const MISCONFIGURED_CODES = new Set([
  "insufficient_quota",
  "model_not_found",
  "invalid_api_key",
  "billing_hard_limit_reached",
]);

/** @param text the body as it came; it goes to the log only, cut */
export function classifyAnswer(status: number, headers: Headers, text: string): ProviderError {
  const body = readErrorBody(text);
  const kind = classOf(status, body);
  const isTooLong =
    kind === "rejected" &&
    (body.code === "context_length_exceeded" || /maximum context length|prompt is too long/i.test(body.message));
  const retryAfterMs = retryAfter(headers);
  return new ProviderError(kind, body.message || `status ${status}`, {
    status,
    param: body.param,
    ...(isTooLong ? { code: "context_length_exceeded" as const } : {}),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

/** An `error` member inside a 200 answer or stream. */
export function classifyErrorMember(error: unknown): ProviderError {
  const body = readErrorMember(error);
  const status = Number((error as { status?: unknown; code?: unknown } | null)?.code);
  return new ProviderError(
    classOf(Number.isInteger(status) && status >= 400 ? status : 500, body),
    body.message || "error event",
    {
      param: body.param,
    },
  );
}

function classOf(status: number, body: ErrorBody): ProviderErrorClass {
  if (REFUSED_CODES.has(body.code) || REFUSED_CODES.has(body.type)) return "refused";
  if (MISCONFIGURED_CODES.has(body.code) || MISCONFIGURED_CODES.has(body.type)) return "misconfigured";
  if (status === 429 || status === 503 || status === 529) return "busy";
  if (status === 401 || status === 402 || status === 403 || status === 404 || status === 410) return "misconfigured";
  if (status === 408 || status === 504) return "timeout";
  if (status >= 400 && status < 500) return "rejected";
  return "failed";
}

function readErrorBody(text: string): ErrorBody {
  try {
    return readErrorMember((JSON.parse(text) as { error?: unknown } | null)?.error);
  } catch {
    return { message: text.slice(0, 500), code: "", type: "", param: null };
  }
}

function readErrorMember(value: unknown): ErrorBody {
  if (typeof value === "string") return { message: value, code: "", type: "", param: null };
  const error = (value ?? {}) as Record<string, unknown>;
  const text = (member: unknown): string => (typeof member === "string" ? member : "");
  return {
    message: text(error["message"]),
    code: text(error["code"]),
    type: text(error["type"]),
    param: text(error["param"]) || null,
  };
}

/** Seconds, a date, or `retry-after-ms`; undefined when absent or unreadable. */
export function retryAfter(headers: Headers, now: number = Date.now()): number | undefined {
  const ms = Number(headers.get("retry-after-ms") ?? Number.NaN);
  if (Number.isFinite(ms) && ms >= 0) return ms;
  const value = headers.get("retry-after");
  if (value === null) return undefined;
  const seconds = Number(value);
  if (Number.isFinite(seconds) && seconds >= 0) return seconds * 1_000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}
