/**
 * Converts `usageMetadata` to our token buckets. The prompt count contains cached tokens; the candidates' count excludes thoughts. Details
 * split both counts by modality. Source: ai.google.dev/api/generate-content#UsageMetadata.
 */
import { NO_USAGE } from "#shared/calls/pricing/usage.ts";

import { isMembers, type Members } from "../json.ts";
import type { ChatUsage } from "../provider.ts";

/** Maximum plausible token count. A larger count is a fault of the report and must never reach the ledger. */
const TOKENS_MAX = 100_000_000;

/**
 * Reads a usage report. Returns null for a report without counts, as in the first events of some streams. Returns "impossible" for counts
 * that cannot be true.
 */
export function readUsage(value: unknown): ChatUsage {
  if (value === undefined || value === null) return null;
  if (!isMembers(value)) return "impossible";
  const faults = { found: false };
  const count = (tokens: unknown): number => {
    if (tokens === undefined || tokens === null) return 0;
    if (typeof tokens === "number" && Number.isInteger(tokens) && tokens >= 0 && tokens <= TOKENS_MAX) return tokens;
    faults.found = true;
    return 0;
  };
  const of = (details: string, modality: string): number => sum(value, details, modality, count);
  const prompt = count(value["promptTokenCount"]) + count(value["toolUsePromptTokenCount"]);
  const candidates = count(value["candidatesTokenCount"]);
  const thoughts = count(value["thoughtsTokenCount"]);
  const cached = count(value["cachedContentTokenCount"]);
  const total = count(value["totalTokenCount"]);
  const audioIn = of("promptTokensDetails", "AUDIO") - of("cacheTokensDetails", "AUDIO");
  const imageIn = of("promptTokensDetails", "IMAGE") - of("cacheTokensDetails", "IMAGE");
  const audioOut = of("candidatesTokensDetails", "AUDIO");
  const imageOut = of("candidatesTokensDetails", "IMAGE");
  if (faults.found) return "impossible";
  if (prompt === 0 && candidates === 0 && thoughts === 0) return null;
  // Some compatible servers include thoughts in the candidates' count, recognized by the total.
  const isWithin = thoughts > 0 && total === prompt + candidates && thoughts <= candidates;
  const input = shares(prompt);
  const output = shares(candidates + (isWithin ? 0 : thoughts));
  return {
    ...NO_USAGE,
    cachedInput: input.take(cached),
    audioInput: input.take(audioIn),
    imageInput: input.take(imageIn),
    input: input.remaining(),
    audioOutput: output.take(audioOut),
    imageOutput: output.take(imageOut),
    output: output.remaining(),
    reasoning: thoughts,
  };
}

/** Returns the token count of one modality from a list of `{modality, tokenCount}`. */
function sum(report: Members, details: string, modality: string, count: (tokens: unknown) => number): number {
  const list = report[details];
  if (!Array.isArray(list)) return 0;
  let tokens = 0;
  for (const entry of list)
    if (isMembers(entry) && entry["modality"] === modality) tokens += count(entry["tokenCount"]);
  return tokens;
}

/**
 * Splits a total count into parts. Each part is limited to the remaining count, so that the parts never exceed the total, even if the
 * provider's counts do.
 */
function shares(total: number): { take(part: number): number; remaining(): number } {
  let remaining = total;
  return {
    take(part) {
      const taken = Math.max(0, Math.min(part, remaining));
      remaining -= taken;
      return taken;
    },
    remaining: () => remaining,
  };
}
