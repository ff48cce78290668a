/** A transcript that comes as events. Source: openai/openai-openapi, TranscriptTextDeltaEvent and TranscriptTextDoneEvent. */
import { LIMITS } from "#shared/limits.ts";

import { connectionError } from "../http.ts";
import { parseObject } from "../json.ts";
import { ProviderError } from "../provider.ts";
import { type SseEvent, SseParser } from "../sse.ts";
import { classifyErrorMember } from "./errors.ts";

/** The text as the last event tells it, and the report of what was billed as it came. */
export interface StreamedText {
  readonly text: string;
  readonly usage: unknown;
}

/**
 * Reads events until the one that ends the text.
 * @throws ProviderError `failed` for a stream that ends before it, or breaks; what an error event says; `aborted`
 */
export async function readTextEvents(
  body: ReadableStream<Uint8Array>,
  onText: (piece: string) => void,
  signal: AbortSignal,
): Promise<StreamedText> {
  const parser = new SseParser();
  let bytes = 0;
  try {
    for await (const piece of body) {
      bytes += piece.length;
      if (bytes > LIMITS.providerBytesMax) throw new ProviderError("failed", "the transcript is too large");
      for (const event of parser.push(piece)) {
        const done = read(event, onText);
        if (done) return done;
      }
    }
    const done = parser.end().flatMap((event) => read(event, onText) ?? [])[0];
    if (done) return done;
  } catch (error) {
    throw error instanceof ProviderError ? error : connectionError(error, signal);
  }
  throw new ProviderError("failed", "the stream ended before the text did");
}

function read({ data }: SseEvent, onText: (piece: string) => void): StreamedText | undefined {
  const event = parseObject(data);
  if (!event) return undefined;
  if (event["error"]) throw classifyErrorMember(event["error"]);
  const { type, delta, text, usage } = event;
  if (type === "transcript.text.delta" && typeof delta === "string") onText(delta);
  return type === "transcript.text.done" && typeof text === "string" ? { text, usage } : undefined;
}
