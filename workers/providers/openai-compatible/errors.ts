/** Maps OpenAI-shaped error responses to error classes. The body takes precedence over the HTTP status. */
import { textOf } from "../json.ts";
import { ProviderError, type ProviderErrorClass } from "../provider.ts";
import { retryAfter } from "../retry-after.ts";

interface ErrorBody {
  readonly message: string;
  readonly code: string;
  readonly type: string;
  readonly param: string | null;
  /** True when OpenRouter's moderation reports content as flagged, with a reason. */
  readonly isFlagged: boolean;
  /** False for a body that is not JSON, such as the page of a firewall. Such an error says nothing about our key or the model. */
  readonly isVendors: boolean;
}

const REFUSED_CODES = new Set([
  "content_policy_violation",
  "content_filter",
  "moderation_blocked",
  "responsible_ai_policy_violation",
  "invalid_prompt",
]);
/** Matches refusal messages of DeepSeek and xAI. Their error codes do not identify refusals. */
const REFUSED_MESSAGE =
  /^content exists risk\b|\b(?:content|prompt|input|request|output)s? violates? (?:(?:our|the|xai's) )?(?:usage|content) (?:guidelines|polic(?:y|ies))\b/i;
/**
 * Matches OpenRouter's message that no host of the model can serve a call, for example a call with tools. The source is not misconfigured
 * then.
 */
const NO_HOST = /^No endpoints found\b/;
const MISCONFIGURED_CODES = new Set([
  "insufficient_quota",
  "model_not_found",
  "invalid_api_key",
  "billing_hard_limit_reached",
]);
/** Groq's codes for an invalid tool call or object from the model. Another model may succeed. */
const FAILED_CODES = new Set(["tool_use_failed", "json_validate_failed"]);
const BUSY_CODES = new Set(["rate_limit_exceeded", "rate_limit_error", "overloaded_error"]);
const UNSUPPORTED_CODES = new Set(["unsupported_value", "unsupported_parameter"]);
const REJECTED_CODES = new Set([...UNSUPPORTED_CODES, "context_length_exceeded"]);
/** Error types that blame the request. They decide only for errors without a status. */
const REQUEST_TYPES = new Set(["invalid_request_error", "BadRequestError"]);

/**
 * Returns the error for a response with an error status.
 * @param text body as received; only logged, and truncated
 */
export function classifyAnswer(status: number, headers: Headers, text: string): ProviderError {
  const body = readErrorBody(text);
  const retryAfterMs = retryAfter(headers);
  return new ProviderError(classOf(status, body), body.message || `status ${status}`, {
    ...clientOptions(status, body),
    status,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

/** Classifies an `error` member inside a 200 response or stream. A numeric `code` is used as the HTTP status. */
export function classifyErrorMember(error: unknown): ProviderError {
  const body = readErrorMember(error);
  const code = Number((error as { code?: unknown } | null)?.code ?? Number.NaN);
  const isStatus = Number.isInteger(code) && code >= 400 && code <= 599;
  const status = isStatus ? code : REQUEST_TYPES.has(body.type) ? 400 : 500;
  return new ProviderError(classOf(status, body), body.message || "error event", clientOptions(status, body));
}

/** Returns the error members for the client: our error code and the parameter. */
function clientOptions(
  status: number,
  body: ErrorBody,
): { param: string | null; code?: "context_length_exceeded" | "unsupported_value" } {
  if (classOf(status, body) !== "rejected") return { param: body.param };
  const isTooLong =
    body.code === "context_length_exceeded" || /maximum context length|prompt is too long/i.test(body.message);
  if (isTooLong) return { param: body.param, code: "context_length_exceeded" };
  return UNSUPPORTED_CODES.has(body.code) ? { param: body.param, code: "unsupported_value" } : { param: body.param };
}

function classOf(status: number, body: ErrorBody): ProviderErrorClass {
  const says = (codes: ReadonlySet<string>): boolean => codes.has(body.code) || codes.has(body.type);
  const isPolicy = body.code.startsWith("content_policy") || body.type.startsWith("content_policy");
  if (isPolicy || says(REFUSED_CODES) || (status === 403 && body.isFlagged)) return "refused";
  if (REFUSED_MESSAGE.test(body.message)) return "refused";
  if (says(MISCONFIGURED_CODES)) return "misconfigured";
  if (says(FAILED_CODES)) return "failed";
  if (says(BUSY_CODES)) return "busy";
  if (says(REJECTED_CODES)) return "rejected";
  if (status === 404 && NO_HOST.test(body.message)) return "failed";
  // 498: Groq has no capacity.
  if (status === 429 || status === 498 || status === 503 || status === 529) return "busy";
  if (status === 401 || status === 402) return "misconfigured";
  if (status === 403 || status === 404 || status === 410) return classOfAbsence(status, body);
  if (status === 408 || status === 504) return "timeout";
  if (status >= 400 && status < 500) return "rejected";
  return "failed";
}

/**
 * Returns the error class of a 403, 404 or 410 response. The source is disabled only if the message blames our setup. Other causes, such as
 * xAI's 410 for a removed field, can come from a single call.
 */
function classOfAbsence(status: number, body: ErrorBody): ProviderErrorClass {
  if (body.isVendors && namesOurFault(body)) return "misconfigured";
  return status === 410 ? "rejected" : "failed";
}

const NOTHING_MORE = { code: "", type: "", param: null, isFlagged: false, isVendors: true } as const;

function readErrorBody(text: string): ErrorBody {
  try {
    const body = JSON.parse(text) as Record<string, unknown> | null;
    const error = body?.["error"];
    // xAI sends the code next to the text; older vLLM and NVIDIA send the error without an enclosing member.
    if (typeof error === "string") return { ...readErrorMember(error), code: textOf(body?.["code"]) };
    return readErrorMember(error ?? body);
  } catch {
    return { message: text.slice(0, 1_000), ...NOTHING_MORE, isVendors: false };
  }
}

function readErrorMember(value: unknown): ErrorBody {
  if (typeof value === "string") return { message: value, ...NOTHING_MORE };
  const error = (value ?? {}) as Record<string, unknown>;
  return {
    message: textOf(error["message"]) || textOf(error["detail"]),
    code: textOf(error["code"]),
    type: textOf(error["type"]),
    param: parameterName(textOf(error["param"])),
    isFlagged: isModeration(error["metadata"]),
    isVendors: true,
  };
}

function isModeration(value: unknown): boolean {
  const metadata = (typeof value === "object" && value !== null ? value : {}) as Record<string, unknown>;
  return typeof metadata["flagged_input"] === "string" || Array.isArray(metadata["reasons"]);
}

/**
 * Returns a parameter path such as `messages[0].content`. Returns null for any other text, because clients must not receive other provider
 * texts.
 */
function parameterName(text: string): string | null {
  return /^[A-Za-z0-9_.[\]-]{1,100}$/.test(text) ? text : null;
}

// Recognizes errors about our own setup: key, permissions, model, account or region. Such an error disables the source for all calls, so
// neither a status alone nor a caller's own text may be sufficient.

interface ReportedError {
  readonly code: string;
  readonly type: string;
  readonly message: string;
}

export function namesOurFault({ code, type, message }: ReportedError): boolean {
  const said = withoutQuotations(message);
  if (CALLERS_OWN.test(said)) return false;
  return CODE.test(code) || CODE.test(type) || MESSAGES.some((pattern) => pattern.test(said));
}

/**
 * Matches error codes and messages that concern our access to the provider: `permission-denied`, Azure's `DeploymentNotFound`, xAI's "The
 * caller does not have permission …".
 */
const CODE =
  /api_?key|permission|access_?denied|model|deployment|account|organi[sz]ation|project|billing|country|region/i;

/**
 * Matches names of objects that belong to a call, such as files. An error about a missing object or missing rights to it concerns only that
 * call.
 */
const CALLERS_OWN =
  /\b(?:files?|images?|images?|audio|videos?|documents?|attachments?|uploads?|urls?)\b(?!\s+(?:model|generation))/i;

/**
 * Messages that mean a fault in our setup. Deliberately narrow, because an unmatched message is an ordinary failure, which the circuit
 * breaker counts.
 */
const MESSAGES: readonly RegExp[] = [
  /\bapi[ _-]?keys?\b|\bcredentials\b/i,
  /\b(?:have|lacks?|no|insufficient|missing) (?:the |any |required |necessary |sufficient )*permissions?\b/i,
  /\bpermissions? (?:(?:is|was) )?(?:denied|required|missing)\b|\bnot authori[sz]ed to\b/i,
  // Only a name may occur in between: "the model cannot call a tool that was not found" is the caller's error.
  /\b(?:model|deployment)s?\b[:,]?(?:\s+(?:id|name))?(?:\s+[\w./:@-]+)?(?:\s+(?:is|are|was|has|have|been|currently))*\s+(?:not found|(?:does not|doesn't|do not) exist|not (?:available|accessible|deployed|active|enabled)|inaccessible|unavailable|deprecated|decommissioned|retired|removed|disabled|blocked|no longer|reached its end)\b/i,
  /\b(?:no such|unknown|invalid|unsupported|not a valid|access(?: to)?|sample from) (?:(?:the|this|that|requested) )*(?:model|deployment)\b/i,
  /(?<!\b(?:in|of|from) (?:your|this|the) )\b(?:account|organi[sz]ation|project|team)s?\b(?:\s+[\w./:@-]+)?\s+(?:not found\b|must\b|(?:does|do|is|has|was)(?:n't| not)\b|has (?:either|used|run|reached|exceeded)\b|(?:is|was|has been) (?:disabled|deactivated|suspended|blocked|terminated|restricted|deleted|archived)\b)/i,
  /\b(?:no such|invalid|member of an) (?:account|organi[sz]ation|project|team)\b/i,
  /\bbilling\b|\bpayment (?:required|method)\b|\bspending limit\b|\bcredit balance\b/i,
  /\b(?:no|any|insufficient|out of|enough|available) (?:credits|balance|funds)\b/i,
  /\b(?:country|region|territory|location)\b(?:\s+is)?\s+(?:not |un)(?:supported|available|allowed|permitted)\b/i,
  /\b(?:not |un)(?:supported|available|allowed|permitted) in (?:your|this) (?:country|region|territory|location)\b/i,
];

/** Removes links and quotations from a message, because they may come from the call. An apostrophe inside a word begins no quotation. */
function withoutQuotations(message: string): string {
  return message
    .slice(0, MESSAGE_MAX)
    .replaceAll(/https?:\/\/\S+/g, "")
    .replaceAll(/`[^`]*`|"[^"]*"|“[^”]*”|‘[^’]*’|(?<!\w)'[^']*'(?!\w)/g, "")
    .replaceAll(/\s+/g, " ");
}

/** Maximum number of characters of a message that are searched. Vendors' own messages are shorter. A longer message may echo a prompt. */
const MESSAGE_MAX = 2_000;
