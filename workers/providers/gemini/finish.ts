/** Maps Gemini's finish reasons to OpenAI's. Source: ai.google.dev/api/generate-content#FinishReason. */
import { textIn, isMembers, type Members } from "../json.ts";
import { ProviderError } from "../provider.ts";

const FILTERED: ReadonlySet<string> = new Set([
  "SAFETY",
  "RECITATION",
  "LANGUAGE",
  "BLOCKLIST",
  "PROHIBITED_CONTENT",
  "SPII",
  "IMAGE_SAFETY",
  "IMAGE_PROHIBITED_CONTENT",
  "IMAGE_RECITATION",
  "MODEL_ARMOR",
]);

export type FinishReason = "stop" | "length" | "content_filter";

/**
 * Returns OpenAI's finish reason, or undefined while the candidate has not ended.
 * @throws ProviderError `failed` for a reason without a usable answer. This includes unknown reasons, because a cut answer must not appear
 * complete.
 */
export function finishReason(candidate: Members): FinishReason | undefined {
  const reason = textIn(candidate["finishReason"]);
  if (reason === undefined || reason === "FINISH_REASON_UNSPECIFIED") return undefined;
  if (reason === "STOP") return "stop";
  if (reason === "MAX_TOKENS") return "length";
  if (FILTERED.has(reason)) return "content_filter";
  const why = textIn(candidate["finishMessage"]) ?? "";
  throw new ProviderError("failed", `the answer ended with finish reason ${reason} ${why}`.trim());
}

/** Checks for a blocked prompt, which has no candidates. @throws ProviderError `refused` */
export function checkPrompt(answer: Members): void {
  const feedback = answer["promptFeedback"];
  const reason = isMembers(feedback) ? textIn(feedback["blockReason"]) : undefined;
  const candidates = answer["candidates"];
  const hasCandidates = Array.isArray(candidates) && candidates.length > 0;
  if (reason === undefined || reason === "BLOCK_REASON_UNSPECIFIED" || hasCandidates) return;
  throw new ProviderError("refused", `the prompt was blocked: ${reason}`);
}

/** Returns the error of an answer that was filtered before any content was sent. After this error, another model may be called. */
export function refusedWhole(): ProviderError {
  return new ProviderError("refused", "the answer was filtered before it began");
}
