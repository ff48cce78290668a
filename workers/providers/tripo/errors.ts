/**
 * Maps Tripo's errors to error classes: `{code, message, suggestion}`, where a code other than 0 is an error for every status. Source:
 * developers.tripo3d.ai/en/docs/errors.
 */
import { isMembers, type Members, parseObject } from "../json.ts";
import { type MeshInputName, rejectedPrompt, unusable } from "../mesh-inputs.ts";
import { ProviderError, type ProviderErrorClass } from "../provider.ts";
import { retryAfter } from "../retry-after.ts";

const CLASS_OF_CODE: Readonly<Record<string, ProviderErrorClass>> = {
  // Keys and permissions
  1000: "misconfigured",
  1001: "misconfigured",
  1002: "misconfigured",
  1005: "misconfigured",
  // Invalid body, which we composed
  1003: "misconfigured",
  1007: "busy",
  2000: "busy",
  2008: "refused",
  2010: "misconfigured",
  2014: "failed",
  2015: "misconfigured",
  2016: "misconfigured",
  2017: "misconfigured",
  2019: "failed",
};

/** The file is empty, of an unknown type, or too complex for the model. */
const UNUSABLE: ReadonlySet<string> = new Set(["2003", "2004", "2018"]);
const BAD_PROMPT = "2009";
/** An invalid or unsupported parameter, which only the message names. */
const BAD_PARAMETER: ReadonlySet<string> = new Set(["1004", "2002"]);

export type Answer =
  /** `data` is undefined for a response that is not in Tripo's format, for any status. */
  | { readonly state: "taken"; readonly data: Members | undefined }
  | { readonly state: "refused"; readonly code: string; readonly message: string };

export function readAnswer(status: number, text: string): Answer {
  const body = parseObject(text);
  const code = wordOf(body?.["code"]);
  if (status >= 200 && status <= 299 && (code === "0" || code === "")) {
    const data = body?.["data"];
    return { state: "taken", data: code === "0" && isMembers(data) ? data : undefined };
  }
  return { state: "refused", code, message: wordOf(body?.["message"]) || text.slice(0, 500) };
}

/**
 * Classifies a rejected request; start.ts decides the statuses of a start with an unknown outcome.
 * @param given the caller's inputs in the request
 */
export function classifyRefusal(
  status: number,
  headers: Headers,
  { code, message }: Extract<Answer, { readonly state: "refused" }>,
  given: readonly MeshInputName[],
): ProviderError {
  const said = [code, message].filter((part) => part !== "").join(": ") || `status ${status}`;
  const retryAfterMs = retryAfter(headers);
  const facts = { status, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
  const known = errorOf(code, said, given, status);
  if (known) return known.kind === "busy" ? new ProviderError("busy", said, facts) : known;
  if (status === 429 || status === 503) return new ProviderError("busy", said, facts);
  if (status < 400 || status > 499 || status === 408) return new ProviderError("failed", said, facts);
  if ([401, 402, 403, 404, 410].includes(status)) return new ProviderError("misconfigured", said, facts);
  return new ProviderError("rejected", said, { ...facts, code: "invalid_request", param: null });
}

/** Returns the error of a failed task, which is definite for every message. */
export function classifyTaskError(
  { error_code: code, error_message: message }: Members,
  given: readonly MeshInputName[],
): ProviderError {
  const said = [wordOf(code), wordOf(message)].filter((part) => part !== "").join(": ");
  const detail = said || "the task failed without a reason";
  return errorOf(wordOf(code), detail, given) ?? new ProviderError("failed", detail);
}

function errorOf(
  code: string,
  said: string,
  given: readonly MeshInputName[],
  status?: number,
): ProviderError | undefined {
  const facts = status === undefined ? {} : { status };
  const known = Object.hasOwn(CLASS_OF_CODE, code) ? CLASS_OF_CODE[code] : undefined;
  if (known) return new ProviderError(known, said, facts);
  if (UNUSABLE.has(code)) return unusable(said, given, status);
  if (code === BAD_PROMPT)
    return rejectedPrompt(said, "The prompt contains characters that this model does not accept.", status);
  return BAD_PARAMETER.has(code) ? badParameter(said, given, facts) : undefined;
}

function badParameter(
  said: string,
  given: readonly MeshInputName[],
  facts: { readonly status?: number },
): ProviderError {
  if (/prompt/i.test(said) && given.includes("prompt")) return rejectedPrompt(said, undefined, facts.status);
  if (/seed/i.test(said)) {
    return new ProviderError("rejected", said, { ...facts, code: "unsupported_value", param: "seed" });
  }
  if (/\b(?:input|file|image|url)/i.test(said)) return unusable(said, given, facts.status);
  // The catalogue set the rest of the body, so another source may be correct.
  return new ProviderError("misconfigured", said, facts);
}

function wordOf(value: unknown): string {
  return typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
}
