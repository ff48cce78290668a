/**
 * OpenAI's usage report → our buckets. `prompt_tokens` contains cached, cache-write, audio and image tokens;
 * `completion_tokens` contains reasoning and audio tokens (platform.openai.com/docs/api-reference/chat/object).
 */
import { NO_USAGE, type TokenUsage } from "#shared/calls/pricing/usage.ts";

/** Larger counts are no report of a chat call but a fault; they must never reach the ledger. */
const TOKENS_MAX = 100_000_000;

/**
 * null = no report (or one that says zero of everything); "impossible" = negative, fractional, not a number or absurd.
 * @param isHour what was written to a cache is kept for an hour, as the request asked; the report does not tell
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
  // xAI counts reasoning beside the completion: its total tells, and so does a part that is larger than its whole.
  const isBeside = reasoning! > completion! || count(report["total_tokens"]) === prompt! + completion! + reasoning!;
  const input = shares(prompt!);
  const output = shares(completion! + (isBeside ? reasoning! : 0));
  return {
    ...NO_USAGE,
    cachedInput: input.take(cached!),
    [isHour ? "cacheWrite1h" : "cacheWrite5m"]: input.take(written!),
    audioInput: input.take(audioIn!),
    imageInput: input.take(imageIn!),
    input: input.rest(),
    audioOutput: output.take(audioOut!),
    imageOutput: output.take(imageOut!),
    output: output.rest(),
    reasoning: reasoning!,
  };
}

/** Parts of a total: they never exceed it together, so that the total holds even where a provider's parts do not. */
function shares(total: number): { take(part: number): number; rest(): number } {
  let left = total;
  return {
    take(part) {
      const taken = Math.min(part, left);
      left -= taken;
      return taken;
    },
    rest: () => left,
  };
}

/** A member that is absent or null counts as zero; undefined marks a value that no provider can mean. */
function count(value: unknown): number | undefined {
  if (value === undefined || value === null) return 0;
  if (typeof value !== "number" || !Number.isInteger(value) || value < 0 || value > TOKENS_MAX) return undefined;
  return value;
}
