/** Streams speech in OpenAI's event format: events with base64 chunks of the audio, then one event with the usage. */
import type { SpeechEvent } from "#schemas/generated/types.ts";
import type { UsageRow } from "#shared/database/usage.ts";
import { creditsNumber } from "#shared/base/money.ts";
import { ApiError, type ErrorEnvelope, errorEnvelope } from "#shared/base/errors.ts";
import { FILE_PIECE_BYTES } from "#ingress/core/response-body.ts";

import { sseEvent } from "../core/sse.ts";

/**
 * Yields audio as encoded events. Failed speech ends with an error event and without `speech.audio.done`. Any other error is thrown, and
 * the connection must then be aborted.
 * @param record called when the audio has ended; returns its usage record
 */
export async function* speechEvents(
  audio: AsyncIterable<Uint8Array>,
  record: () => Promise<SpeechUsage | undefined>,
): AsyncGenerator<Uint8Array, void, void> {
  try {
    for await (const bytes of audio) {
      for (let from = 0; from < bytes.length; from += FILE_PIECE_BYTES) {
        const audio = Buffer.from(bytes.subarray(from, from + FILE_PIECE_BYTES)).toString("base64");
        yield event({ type: "speech.audio.delta", audio });
      }
    }
    yield event({ type: "speech.audio.done", usage: usageOf(await record()) });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    yield event(errorEnvelope(error.code, error.message, error.param));
  }
}

/** Usage record of speech. */
type SpeechUsage = Pick<UsageRow, "units" | "settled">;

const event: (members: SpeechEvent | ErrorEnvelope) => Uint8Array = sseEvent;

/**
 * Converts usage units into OpenAI's token counts, which are 0 if the provider reports no tokens. If characters are billed, their number is
 * added. The charge is omitted if there is no record.
 */
function usageOf(record: SpeechUsage | undefined): NonNullable<SpeechEvent["usage"]> {
  const { input_tokens: input = 0, audio_output_tokens: output = 0, characters } = record?.units ?? {};
  return {
    input_tokens: input,
    output_tokens: output,
    total_tokens: input + output,
    ...(characters === undefined ? {} : { characters }),
    ...(record === undefined ? {} : { credits: creditsNumber(record.settled) }),
  };
}
