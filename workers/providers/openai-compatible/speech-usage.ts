/**
 * Token reports of speech and transcription → our buckets. Source: openai/openai-openapi, SpeechAudioDoneEvent,
 * TranscriptTextUsageTokens.
 */
import { NO_USAGE, type TokenUsage } from "#shared/calls/pricing/usage.ts";

import { objectOf } from "../json.ts";

/** Larger counts are no report of a call but a fault; they must never reach the ledger. */
const TOKENS_MAX = 100_000_000;

/** Usage of speech: input is text, output is audio. Undefined where there is no report, or it cannot be true. */
export function speechTokens(value: unknown): TokenUsage | undefined {
  const report = objectOf(value);
  const input = count(report["input_tokens"]);
  const audioOutput = count(report["output_tokens"]);
  return input && audioOutput ? { ...NO_USAGE, input, audioOutput } : undefined;
}

/**
 * Usage of a transcription: input is audio but for a prompt, output is text. Undefined where there is no report, or it cannot
 * be true. Without the split all input counts as audio, which it nearly always is.
 */
export function transcriptionTokens(value: unknown): TokenUsage | undefined {
  const report = objectOf(value);
  const total = count(report["input_tokens"]);
  const output = count(report["output_tokens"]);
  if (!total || output === undefined) return undefined;
  const split = objectOf(report["input_token_details"]);
  const audio = count(split["audio_tokens"]);
  const text = count(split["text_tokens"]) ?? (audio === undefined ? 0 : total - Math.min(audio, total));
  const input = Math.min(text, total);
  return { ...NO_USAGE, input, audioInput: total - input, output };
}

function count(value: unknown): number | undefined {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= TOKENS_MAX ? value : undefined;
}
