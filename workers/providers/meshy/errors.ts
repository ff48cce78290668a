/**
 * Maps Meshy's errors to error classes: `{message}` of a request, `task_error {type, code, message}` of a failed task. Sources:
 * docs.meshy.ai/en/api/errors, …/api/task-lifecycle, …/api/rate-limits.
 */
import { parseObject } from "../json.ts";
import { ProviderError, type ProviderErrorClass } from "../provider.ts";
import { retryAfter } from "../retry-after.ts";

import { type MeshInputName, rejectedPrompt, unusable } from "../mesh-inputs.ts";

/** Classes by code, or by type if the code is unknown. Other values blame the input. */
const CLASS_OF_WORD: Readonly<Record<string, ProviderErrorClass>> = {
  moderation_blocked: "refused",
  format_conversion_failed: "failed",
  timeout: "timeout",
  service_unavailable: "busy",
  server_error: "failed",
};

/** Codes about one input. */
const INPUT_OF_CODE: Readonly<Record<string, MeshInputName>> = {
  image_too_complex: "image",
  model_missing_uv: "mesh",
  model_insufficient_uv: "mesh",
};

/**
 * Classifies a rejected task; start.ts decides the statuses with an unknown outcome.
 * @param given the caller's inputs in the task; empty for a task that we composed, whose rejection is never the caller's error
 */
export function classifyStart(
  status: number,
  headers: Headers,
  text: string,
  given: readonly MeshInputName[],
): ProviderError {
  const { message, code } = parseObject(text) ?? {};
  const detail = [code, message].filter((part) => typeof part === "string" && part !== "").join(": ");
  const said = detail || text.slice(0, 500) || `status ${status}`;
  const retryAfterMs = retryAfter(headers);
  const facts = { status, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
  if (status === 429 || status === 503) return new ProviderError("busy", said, facts);
  if (status < 400 || status > 499 || status === 408 || status === 409) return new ProviderError("failed", said, facts);
  if ([401, 402, 403, 404, 410].includes(status)) return new ProviderError("misconfigured", said, facts);
  if (/\bmoderation/i.test(said)) return new ProviderError("refused", said, facts);
  if (given.length === 0) return new ProviderError("misconfigured", said, facts);
  return blame(said, given, status);
}

/** Returns the error of a failed task, which is definite for every message. */
export function classifyTaskError(error: unknown, given: readonly MeshInputName[]): ProviderError {
  const { type, code, message } = (error ?? {}) as Readonly<Record<string, unknown>>;
  const detail = [type, code, message].filter((part) => typeof part === "string" && part !== "").join(" ");
  const said = detail || "the task failed without a reason";
  for (const word of [code, type]) {
    if (typeof word !== "string") continue;
    const known = Object.hasOwn(CLASS_OF_WORD, word) ? CLASS_OF_WORD[word] : undefined;
    if (known) return new ProviderError(known, said);
    const ours = Object.hasOwn(INPUT_OF_CODE, word) ? INPUT_OF_CODE[word] : undefined;
    if (ours) return unusable(said, given.includes(ours) ? [ours] : given);
  }
  return type === "invalid_input" ? unusable(said, given) : new ProviderError("failed", said);
}

/** Returns the input to blame. 422: valid input that cannot be processed. 400 names its member only in the message. */
function blame(said: string, given: readonly MeshInputName[], status: number): ProviderError {
  const media = given.filter((name) => name !== "prompt");
  if (status === 413 || status === 422) return unusable(said, given, status);
  if (/prompt/i.test(said) && given.includes("prompt")) return rejectedPrompt(said, undefined, status);
  if (/(?:image|model|texture|style)[ _]?url|download|unreachable|\bfile/i.test(said) && media.length > 0) {
    return unusable(said, media, status);
  }
  // A model that no longer exists is an error of the catalogue.
  if (/ai[ _]?model/i.test(said)) return new ProviderError("misconfigured", said, { status });
  return new ProviderError("rejected", said, { status, code: "invalid_request", param: null });
}
