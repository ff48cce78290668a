/** Text as a file of speech. */
import { openAudioEncoder, type AudioFileFormat } from "#workers/children/audio-encoder.ts";

import type { Flite } from "./flite.ts";
import { apeTag, encodePacket, markerTags, writeLowBits } from "./marker.ts";
import { cutIntoPieces } from "./pieces.ts";
import { SAMPLE_RATE, synthesise } from "./synthesise.ts";
import { chooseVoice } from "./voices.ts";

export type SpeechFormat = AudioFileFormat;

export interface SpeechParams {
  readonly text: string;
  /** OpenAI's names are known; any other name always sounds the same. */
  readonly voice?: string | undefined;
  /** 1 is the voice's own. */
  readonly speed: number;
  readonly instructions?: string | undefined;
  readonly format: SpeechFormat;
}

/** Formats that leave sentence by sentence. Their tags cannot stand at the front, where the words' times are not known. */
const STREAMED: ReadonlySet<SpeechFormat> = new Set(["mp3", "wav", "pcm"]);

/** Hands the file to `emit`, in parts where the format allows it. @returns seconds of speech */
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

/** Spoken lazily, so that the first piece can leave before the last is made. */
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
