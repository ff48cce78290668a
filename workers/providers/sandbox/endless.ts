/** Streams that a client should not wait for: one without end, and one with a frame that is larger than all others. */
import type { ChatDelta } from "../provider.ts";
import { type Clock, pause } from "./faults.ts";

/** Characters of each piece, so that the limit on a stream's length is reached within moments. */
const PIECE_CHARACTERS = 1_024;
/** Between pieces, so that other calls get their turn. */
const PIECE_MS = 1;
/** More than most line buffers are made for, less than a queue message or a reader's buffer takes. */
const PADDING_CHARACTERS = 1_000_000;

/** The text again and again, without a finish reason. @throws ProviderError aborted, when the caller gives up */
export async function* streamWithoutEnd(
  text: string,
  clock: Clock,
  signal: AbortSignal,
): AsyncGenerator<ChatDelta, never, void> {
  const line = text === "" ? "and so on\n" : `${text}\n`;
  const content = line.repeat(Math.ceil(PIECE_CHARACTERS / line.length));
  yield { choices: [{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: null }] };
  for (;;) {
    yield { choices: [{ index: 0, delta: { content }, finish_reason: null }] };
    await pause(PIECE_MS, clock, signal);
  }
}

/** A frame without content that is a megabyte long; OpenAI pads its own frames by the same member. */
export function hugeDelta(): ChatDelta {
  return { choices: [{ index: 0, delta: {}, finish_reason: null }], extra: hugeExtra() };
}

export function hugeExtra(): Readonly<Record<string, unknown>> {
  return { obfuscation: "-".repeat(PADDING_CHARACTERS) };
}
