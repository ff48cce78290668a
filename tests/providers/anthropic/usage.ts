/** Usage reports, right and wrong, as members of `usage`. */
import type { UsageReport } from "./behaviour.ts";

type Members = Readonly<Record<string, unknown>>;

/** What a message's `usage` says at its end; undefined when it is left out. */
export function usageMembers(report: UsageReport, input: number, output: number): Members | undefined {
  if (typeof report === "object") return report;
  const honest = {
    input_tokens: input,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: output,
  };
  switch (report) {
    case "missing":
      return undefined;
    case "cached":
      return { ...honest, ...CACHED };
    case "zero":
      return { ...honest, input_tokens: 0, output_tokens: 0 };
    case "negative":
      return { ...honest, output_tokens: -output };
    case "fractional":
      return { ...honest, input_tokens: input + 0.5 };
    case "huge":
      return { ...honest, output_tokens: 1e18 };
    case "nan":
      return { ...honest, input_tokens: "NaN" };
    default:
      return honest;
  }
}

const CACHED = { cache_creation_input_tokens: 300, cache_read_input_tokens: 2_000 };

/** What `message_start` knows of it: no output yet, but how long cache entries live, which no later event repeats. */
export function startUsage(report: UsageReport, input: number): Members {
  const cached = report === "cached";
  return {
    input_tokens: input,
    cache_creation_input_tokens: cached ? CACHED.cache_creation_input_tokens : 0,
    cache_read_input_tokens: cached ? CACHED.cache_read_input_tokens : 0,
    cache_creation: split(report),
    output_tokens: 1,
    service_tier: "standard",
    inference_geo: "not_available",
  };
}

export function split(report: UsageReport): Members {
  return {
    ephemeral_5m_input_tokens: report === "cached" ? 100 : 0,
    ephemeral_1h_input_tokens: report === "cached" ? 200 : 0,
  };
}
