/** Text as a file of sound: pieces are spoken one after the other, marked, encoded, put into their container. */
import { openAudioEncoder, type AudioPacket } from "#workers/children/audio-encoder.ts";

import { writeLowBits } from "../marker/low-bits.ts";
import { encodePacket, type MarkedPiece } from "../marker/payload.ts";
import { adtsFile, apeTag, flacFile, opusFile, pcmBytes, wavHeader } from "./containers.ts";
import type { Flite } from "./flite.ts";
import { cutIntoPieces } from "./pieces.ts";
import { SAMPLE_RATE, synthesise, wordsOf } from "./synthesise.ts";
import { chooseVoice } from "./voices.ts";

export const SPEECH_FORMATS = ["mp3", "opus", "aac", "flac", "wav", "pcm"] as const;
export type SpeechFormat = (typeof SPEECH_FORMATS)[number];

export interface SpeechCall {
  readonly text: string;
  readonly voice: string | undefined;
  /** 1 is the voice's own. */
  readonly speed: number;
  readonly instructions: string | undefined;
  readonly format: SpeechFormat;
  /** Bytes are emitted as they come. Formats whose head must know the end emit all of it at the end. */
  readonly isStreamed: boolean;
}

interface MarkedSound {
  readonly samples: Int16Array;
  readonly packet: Uint8Array;
}

/** @returns seconds of sound */
export async function speakText(
  flite: Flite,
  call: SpeechCall,
  emit: (bytes: Uint8Array) => void,
): Promise<{ readonly seconds: number }> {
  const pieces = speakPieces(flite, call);
  const samples = await WRITERS[call.format](pieces, emit, call.isStreamed);
  return { seconds: samples / SAMPLE_RATE };
}

/** Spoken lazily, so that the first piece can leave before the last is made. */
function* speakPieces(flite: Flite, call: SpeechCall): Generator<MarkedSound, void, void> {
  const { voice, pace } = chooseVoice(call.voice, call.instructions);
  let position = 0;
  for (const [index, text] of cutIntoPieces(call.text).entries()) {
    const { samples, words } = synthesise(flite, text, voice, call.speed * pace);
    const startMs = Math.round((position / SAMPLE_RATE) * 1_000);
    const named = wordsOf(text);
    const piece: MarkedPiece = {
      index,
      startMs,
      endMs: startMs + Math.round((samples.length / SAMPLE_RATE) * 1_000),
      text,
      words: words.map(({ startMs, endMs }, word) => ({ word: named[word] ?? "", startMs, endMs })),
    };
    const packet = encodePacket(piece);
    const marked = writeLowBits(samples, packet);
    position += marked.length;
    yield { samples: marked, packet };
  }
}

type Writer = (
  pieces: Iterable<MarkedSound>,
  emit: (bytes: Uint8Array) => void,
  isStreamed: boolean,
) => Promise<number> | number;

const WRITERS: Readonly<Record<SpeechFormat, Writer>> = {
  pcm: (pieces, emit) => {
    let samples = 0;
    for (const piece of pieces) {
      emit(pcmBytes(piece.samples));
      samples += piece.samples.length;
    }
    return samples;
  },
  wav: (pieces, emit, isStreamed) => {
    if (isStreamed) {
      emit(wavHeader(null));
      return WRITERS.pcm(pieces, emit, true);
    }
    const { samples } = whole(pieces);
    emit(wavHeader(2 * samples.length));
    emit(pcmBytes(samples));
    return samples.length;
  },
  mp3: async (pieces, emit) => {
    const encoder = await openAudioEncoder("mp3", SAMPLE_RATE);
    const packets: Uint8Array[] = [];
    let samples = 0;
    for (const piece of pieces) {
      emit(joined(encoder.push(piece.samples)));
      packets.push(piece.packet);
      samples += piece.samples.length;
    }
    emit(joined(encoder.end()));
    emit(apeTag(new Uint8Array(Buffer.concat(packets))));
    return samples;
  },
  aac: async (pieces, emit) => {
    const { samples, marker } = whole(pieces);
    const encoder = await openAudioEncoder("aac", SAMPLE_RATE);
    emit(adtsFile([...encoder.push(samples), ...encoder.end()], marker));
    return samples.length;
  },
  flac: async (pieces, emit) => {
    const { samples } = whole(pieces);
    const encoder = await openAudioEncoder("flac", SAMPLE_RATE);
    emit(flacFile(encoder.setup, [...encoder.push(samples), ...encoder.end()], samples));
    return samples.length;
  },
  opus: async (pieces, emit) => {
    const { samples, marker } = whole(pieces);
    const encoder = await openAudioEncoder("opus", SAMPLE_RATE);
    const packets = [...encoder.push(samples), ...encoder.end()];
    emit(opusFile(encoder.setup, packets, samples.length, Buffer.from(marker).toString("base64")));
    return samples.length;
  },
};

function whole(pieces: Iterable<MarkedSound>): { readonly samples: Int16Array; readonly marker: Uint8Array } {
  const all = [...pieces];
  const samples = new Int16Array(all.reduce((sum, piece) => sum + piece.samples.length, 0));
  let at = 0;
  for (const piece of all) {
    samples.set(piece.samples, at);
    at += piece.samples.length;
  }
  return { samples, marker: new Uint8Array(Buffer.concat(all.map(({ packet }) => packet))) };
}

function joined(packets: readonly AudioPacket[]): Uint8Array {
  return new Uint8Array(Buffer.concat(packets.map(({ bytes }) => bytes)));
}
