/**
 * Converts token reports of speech and transcription to our token buckets. Source: openai/openai-openapi, SpeechAudioDoneEvent,
 * TranscriptTextUsageTokens.
 */
import { NO_USAGE, type TokenUsage } from "#shared/calls/pricing/usage.ts";

import { objectOf } from "../json.ts";

/** Maximum plausible token count. A larger count is a fault of the report and must never reach the ledger. */
const TOKENS_MAX = 100_000_000;

/** Returns the usage of a speech call, which has text input and audio output. Undefined for a missing or impossible report. */
export function speechTokens(value: unknown): TokenUsage | undefined {
  const report = objectOf(value);
  const input = count(report["input_tokens"]);
  const audioOutput = count(report["output_tokens"]);
  return input && audioOutput ? { ...NO_USAGE, input, audioOutput } : undefined;
}

/**
 * Returns the usage of a transcription. Its input is audio, except for the prompt; its output is text. Undefined for a missing or
 * impossible report. If the report does not split the input, all input counts as audio, which is nearly always true.
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
