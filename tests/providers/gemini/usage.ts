/** `usageMetadata`, right and wrong. */
import type { UsageReport } from "./behaviour.ts";

export interface TokenCounts {
  readonly prompt: number;
  readonly candidates: number;
  readonly thoughts: number;
}

/** The member as it stands in one event or answer, or undefined when there is none. */
export function usageMetadata(report: UsageReport, counts: TokenCounts): unknown {
  const { prompt, candidates, thoughts } = counts;
  if (typeof report === "object") return report;
  switch (report) {
    case "missing":
      return undefined;
    case "empty":
      // Seen of provisioned throughput: until the last event nothing but this.
      return { trafficType: "ON_DEMAND" };
    case "zero":
      return { promptTokenCount: 0, candidatesTokenCount: 0, totalTokenCount: 0 };
    case "negative":
      return { promptTokenCount: prompt, candidatesTokenCount: -candidates - 1, totalTokenCount: prompt };
    case "fractional":
      return { promptTokenCount: prompt + 0.5, candidatesTokenCount: candidates, totalTokenCount: prompt };
    case "huge":
      return { promptTokenCount: 1e18, candidatesTokenCount: 1e18, totalTokenCount: 2e18 };
    case "text":
      return { promptTokenCount: "NaN", candidatesTokenCount: "NaN", totalTokenCount: "NaN" };
    default:
      return {
        promptTokenCount: prompt,
        ...(candidates > 0 ? { candidatesTokenCount: candidates } : {}),
        totalTokenCount: prompt + candidates + thoughts,
        promptTokensDetails: [{ modality: "TEXT", tokenCount: prompt }],
        ...(thoughts > 0 ? { thoughtsTokenCount: thoughts } : {}),
      };
  }
}

/** A stand-in for a tokenizer that a test can compute in its head: four characters are a token. */
export function countTokens(text: string): number {
  return Math.ceil(text.length / 4);
}
