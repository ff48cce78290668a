/**
 * Token usage in counts that never overlap; their sum is the total. Each adapter maps the report of its provider's family to these counts.
 * All values are non-negative integers.
 */
export interface TokenUsage {
  readonly input: number;
  readonly cachedInput: number;
  readonly cacheWrite5m: number;
  readonly cacheWrite1h: number;
  readonly audioInput: number;
  readonly imageInput: number;
  /** Number of text output tokens, including reasoning. */
  readonly output: number;
  readonly audioOutput: number;
  readonly imageOutput: number;
  /** Number of reasoning tokens in `output`. They are reported to clients but not priced separately. */
  readonly reasoning: number;
  /** True if the provider reported no usable usage and the service counted the tokens itself. */
  readonly estimated: boolean;
}

export const NO_USAGE: TokenUsage = Object.freeze({
  input: 0,
  cachedInput: 0,
  cacheWrite5m: 0,
  cacheWrite1h: 0,
  audioInput: 0,
  imageInput: 0,
  output: 0,
  audioOutput: 0,
  imageOutput: 0,
  reasoning: 0,
  estimated: false,
});

/** Returns the total number of input tokens, as in OpenAI's `prompt_tokens`. */
export function promptTokens(usage: TokenUsage): number {
  return (
    usage.input + usage.cachedInput + usage.cacheWrite5m + usage.cacheWrite1h + usage.audioInput + usage.imageInput
  );
}

/** Returns the total number of output tokens, as in OpenAI's `completion_tokens`. */
export function completionTokens(usage: TokenUsage): number {
  return usage.output + usage.audioOutput + usage.imageOutput;
}

/** Returns the token counts for the usage record, without zeros. */
export function usageUnits(usage: TokenUsage): Record<string, number> {
  const units: Record<string, number> = {};
  for (const [name, value] of Object.entries(usage)) {
    if (typeof value === "number" && value !== 0) units[UNIT_NAMES[name as keyof TokenUsage] ?? name] = value;
  }
  return units;
}

const UNIT_NAMES: Readonly<Partial<Record<keyof TokenUsage, string>>> = {
  input: "input_tokens",
  cachedInput: "cached_input_tokens",
  cacheWrite5m: "cache_write_5m_tokens",
  cacheWrite1h: "cache_write_1h_tokens",
  audioInput: "audio_input_tokens",
  imageInput: "image_input_tokens",
  output: "output_tokens",
  audioOutput: "audio_output_tokens",
  imageOutput: "image_output_tokens",
  reasoning: "reasoning_tokens",
};
