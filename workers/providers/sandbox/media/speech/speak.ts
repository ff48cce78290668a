/** Converts text to an audio file of speech. */
import { openAudioEncoder, type AudioFileFormat } from "#workers/children/audio-encoder.ts";

import type { Flite } from "./flite.ts";
import { apeTag, encodePacket, markerTags, writeLowBits } from "./marker.ts";
import { cutIntoPieces } from "./pieces.ts";
import { SAMPLE_RATE, synthesise } from "./synthesise.ts";
import { chooseVoice } from "./voices.ts";

export type SpeechFormat = AudioFileFormat;

export interface SpeechParams {
  readonly text: string;
  /** Name of the voice. OpenAI's names are known. Any other name always selects the same voice. */
  readonly voice?: string | undefined;
  /** Speed of the speech; 1 is the voice's own speed. */
  readonly speed: number;
  readonly instructions?: string | undefined;
  readonly format: SpeechFormat;
}

/** Formats that are streamed by sentence. Their tags cannot be at the beginning, because the times of the words are not yet known there. */
const STREAMED: ReadonlySet<SpeechFormat> = new Set(["mp3", "wav", "pcm"]);

/** Converts a text to an audio file and passes the file to `emit`, in chunks if the format allows it. @returns seconds of speech */
export async function speakText(
  flite: Flite,
  params: SpeechParams,
  emit: (bytes: Uint8Array) => void,
): Promise<{ readonly seconds: number }> {
  const { format } = params;
  const isStreamed = STREAMED.has(format);
  const pieces = isStreamed ? speakPieces(flite, params) : [...speakPieces(flite, params)];
  const tags = Array.isArray(pieces) ? markerTags(pieces.map(({ packet }) => packet)) : {};
  const encoder = await openAudioEncoder(format, { sampleRate: SAMPLE_RATE, channels: 1, tags, isStreamed });
  const packets: Uint8Array[] = [];
  let length = 0;
  for (const { samples, packet } of pieces) {
    emit(encoder.push(samples));
    packets.push(packet);
    length += samples.length;
  }
  emit(encoder.end());
  if (format === "mp3") emit(apeTag(markerTags(packets)));
  return { seconds: length / SAMPLE_RATE };
}

interface MarkedSamples {
  readonly samples: Int16Array;
  readonly packet: Uint8Array;
}

/**
 * Yields the audio of a text piece by piece. Each piece is synthesised only on demand, so that the first is sent before the last is ready.
 */
function* speakPieces(
  flite: Flite,
  { text, voice, instructions, speed }: SpeechParams,
): Generator<MarkedSamples, void, void> {
  const chosen = chooseVoice(voice, instructions);
  for (const piece of cutIntoPieces(text.toWellFormed())) {
    const { samples, words } = synthesise(flite, piece, chosen, speed);
    const packet = encodePacket({ text: piece, words, durationMs: Math.round((1_000 * samples.length) / SAMPLE_RATE) });
    yield { samples: writeLowBits(samples, packet), packet };
  }
}
