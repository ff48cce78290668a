/**
 * Converts OpenAI's usage report to our token buckets. `prompt_tokens` contains cached, cache-write, audio and image tokens.
 * `completion_tokens` contains reasoning and audio tokens. Source: platform.openai.com/docs/api-reference/chat/object.
 */
import { NO_USAGE, type TokenUsage } from "#shared/calls/pricing/usage.ts";

/** Maximum plausible token count. A larger count is a fault of the report and must never reach the ledger. */
const TOKENS_MAX = 100_000_000;

/**
 * Reads a usage report. Returns null for a missing report or one with only zeros. Returns "impossible" if a count is negative, fractional,
 * not a number or absurdly large.
 * @param isHour true if the request asked for cache writes that last an hour; the report does not contain it
 */
export function readOpenAiUsage(value: unknown, isHour = false): TokenUsage | null | "impossible" {
  if (value === null || value === undefined) return null;
  if (typeof value !== "object") return "impossible";
  const report = value as Record<string, unknown>;
  const details = (report["prompt_tokens_details"] ?? {}) as Record<string, unknown>;
  const outputDetails = (report["completion_tokens_details"] ?? {}) as Record<string, unknown>;
  const prompt = count(report["prompt_tokens"]);
  const completion = count(report["completion_tokens"]);
  const cached = count(details["cached_tokens"] ?? report["prompt_cache_hit_tokens"]);
  const written = count(details["cache_write_tokens"]);
  const audioIn = count(details["audio_tokens"]);
  const imageIn = count(details["image_tokens"]);
  const audioOut = count(outputDetails["audio_tokens"]);
  const imageOut = count(outputDetails["image_tokens"]);
  const reasoning = count(outputDetails["reasoning_tokens"]);
  const all = [prompt, completion, cached, written, audioIn, imageIn, audioOut, imageOut, reasoning];
  if (all.includes(undefined)) return "impossible";
  if (prompt === 0 && completion === 0) return null;
  // xAI adds reasoning to the completion: recognized by its total, or by a part that exceeds its whole.
  const isBeside = reasoning! > completion! || count(report["total_tokens"]) === prompt! + completion! + reasoning!;
  const input = shares(prompt!);
  const output = shares(completion! + (isBeside ? reasoning! : 0));
  return {
    ...NO_USAGE,
    cachedInput: input.take(cached!),
    [isHour ? "cacheWrite1h" : "cacheWrite5m"]: input.take(written!),
    audioInput: input.take(audioIn!),
    imageInput: input.take(imageIn!),
    input: input.remaining(),
    audioOutput: output.take(audioOut!),
    imageOutput: output.take(imageOut!),
    output: output.remaining(),
    reasoning: reasoning!,
  };
}

/**
 * Splits a total count into parts. Each part is limited to the remaining count, so that the parts never exceed the total, even if the
 * provider's counts do.
 */
function shares(total: number): { take(part: number): number; remaining(): number } {
  let remaining = total;
  return {
    take(part) {
      const taken = Math.min(part, remaining);
      remaining -= taken;
      return taken;
    },
    remaining: () => remaining,
  };
}

/** Reads a token count. Returns zero for an absent or null member, and undefined for an impossible value. */
function count(value: unknown): number | undefined {
  if (value === undefined || value === null) return 0;
  if (typeof value !== "number" || !Number.isInteger(value) || value < 0 || value > TOKENS_MAX) return undefined;
  return value;
}
