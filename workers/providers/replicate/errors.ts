/**
 * Maps Replicate's errors to error classes. The response to a rejected prediction request is `{title, detail, status, invalid_fields?}`; a
 * failed prediction has an error message. Sources: replicate.com/docs/reference/http, …/topics/predictions/rate-limits and …/lifecycle.
 * `invalid_fields` and refusal messages are known from responses that users have published.
 */
import { clientParam, type Fields, inputOf } from "../fields.ts";
import { isMembers, type Members, parseObject, textOf } from "../json.ts";
import type { MediaKind } from "../media.ts";
import { ProviderError, type ProviderErrorOptions } from "../provider.ts";
import { retryAfter } from "../retry-after.ts";

/** Kind of a prediction, and the fields of its inputs. */
export interface PredictionRequest {
  readonly kind: MediaKind;
  readonly fields: Fields;
}

/**
 * Matches messages of refusals: "The input or output was flagged as sensitive. (E005)", "NSFW content detected", and messages of individual
 * models.
 */
const REFUSED =
  /\bnsfw\b|\bE005\b|flagged|\bsensitive\b|\bsafety\b|moderat(?:ed|ion)|content polic|prohibited content|inappropriate/i;

/** Maximum accepted delay before a retry, in milliseconds, as in retry-after.ts. */
const HINT_MAX_MS = 3_600_000;

/**
 * Returns the error for a rejected request that should start a prediction. Statuses that leave the outcome unknown are handled in start.ts.
 */
export function classifyStart(status: number, headers: Headers, text: string, asked: PredictionRequest): ProviderError {
  const body = parseObject(text) ?? {};
  const detail = [textOf(body["title"]), textOf(body["detail"]), textOf(body["error"])].filter(Boolean).join(": ");
  const errorText = detail || text.slice(0, 500) || `status ${status}`;
  const retryAfterMs = retryAfter(headers) ?? hintOf(errorText);
  const facts = { status, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
  if (status === 429 || status === 503) return new ProviderError("busy", errorText, facts);
  if (status >= 500 || status < 400 || status === 408) return new ProviderError("failed", errorText, facts);
  // The other statuses concern our account or a missing model.
  if (status !== 400 && status !== 413 && status !== 422) return new ProviderError("misconfigured", errorText, facts);
  // A list of invalid fields takes precedence, because the name of a field may match a refusal.
  if (!Array.isArray(body["invalid_fields"]) && REFUSED.test(errorText))
    return new ProviderError("refused", errorText, facts);
  return rejected(body, errorText, facts, asked);
}

/** Returns the error of a failed prediction. */
export function classifyFailure(errorText: string): ProviderError {
  return new ProviderError(
    REFUSED.test(errorText) ? "refused" : "failed",
    errorText || "the prediction failed without a word",
  );
}

function rejected(
  body: Members,
  errorText: string,
  facts: ProviderErrorOptions,
  { fields, kind }: PredictionRequest,
): ProviderError {
  const faulty = faultyOf(body, errorText);
  // An invalid version or envelope is our error.
  if (faulty === undefined && /\bversion\b/i.test(errorText))
    return new ProviderError("misconfigured", errorText, facts);
  if (faulty === undefined) return new ProviderError("rejected", errorText, { ...facts, code: "invalid_request" });
  const ours = inputOf(faulty, fields);
  // The catalogue set a field without an input, so another source may be correct.
  if (ours === undefined) return new ProviderError("misconfigured", errorText, facts);
  return new ProviderError("rejected", errorText, {
    ...facts,
    code: ours === "prompt" ? "invalid_request" : "unsupported_value",
    param: clientParam(ours, kind),
  });
}

/** Returns Replicate's name of the first invalid input; undefined for an error outside the input. */
function faultyOf(body: Members, errorText: string): string | undefined {
  const { invalid_fields: list } = body;
  const [first] = Array.isArray(list) ? list.filter(isMembers) : [];
  if (first) {
    const missing = /^([A-Za-z]\w*) is required/.exec(textOf(first["description"]))?.[1];
    const [holder, name] = textOf(first["field"]).split(".");
    return holder === "input" ? (name ?? missing ?? "") : "";
  }
  return /(?:^|\s)input\.([A-Za-z]\w*)/.exec(errorText)?.[1];
}

/** Parses the delay in a text such as "Your rate limit resets in ~30s." and returns milliseconds. */
function hintOf(errorText: string): number | undefined {
  const [, seconds] = /resets in ~?(\d{1,6})s\b/i.exec(errorText) ?? [];
  return seconds === undefined ? undefined : Math.min(HINT_MAX_MS, Number(seconds) * 1_000);
}
