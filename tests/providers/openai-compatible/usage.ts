/** Usage reports, right and wrong, as JSON text: some of them could not be written by JSON.stringify. */
import type { UsageReport } from "./behaviour.ts";

export interface TokenCounts {
  readonly prompt: number;
  readonly completion: number;
}

type Writer = (prompt: number, completion: number) => string | null;

const WRITERS: Readonly<Record<Extract<UsageReport, string>, Writer>> = {
  honest: (prompt, completion) => plain(prompt, completion, prompt + completion),
  details: detailed,
  missing: () => null,
  null: () => "null",
  zero: () => plain(0, 0, 0),
  negative: (prompt, completion) => plain(prompt, -completion - 1, prompt - completion - 1),
  fractional: (prompt, completion) => plain(prompt + 0.5, completion + 0.25, prompt + completion + 0.75),
  huge: () => '{"prompt_tokens":1e18,"completion_tokens":1000000000000000000,"total_tokens":2e18}',
  nan: () => '{"prompt_tokens":"NaN","completion_tokens":"NaN","total_tokens":"NaN"}',
  "bare-nan": () => '{"prompt_tokens":NaN,"completion_tokens":NaN,"total_tokens":NaN}',
  growing: (prompt, completion) => plain(prompt, completion, prompt + completion),
};

/** JSON text of the `usage` member, or null when the answer has none. */
export function usageText(report: UsageReport, { prompt, completion }: TokenCounts): string | null {
  return typeof report === "object" ? JSON.stringify(report) : WRITERS[report](prompt, completion);
}

/** Half of the prompt was cached, half of the answer was reasoning. */
function detailed(prompt: number, completion: number): string {
  return JSON.stringify({
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: Math.floor(prompt / 2), audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: Math.floor(completion / 2),
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  });
}

function plain(prompt: number, completion: number, total: number): string {
  return JSON.stringify({ prompt_tokens: prompt, completion_tokens: completion, total_tokens: total });
}

/** A stand-in for a tokenizer that a test can compute in its head: four characters are a token. */
export function countTokens(text: string): number {
  return Math.ceil(text.length / 4);
}
