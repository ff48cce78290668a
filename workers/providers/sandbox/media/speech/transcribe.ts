/** Sound as text: what the sandbox has spoken comes back word for word; of anything else it says that it is unknown. */
import { decodeAudio, type AudioContainer } from "#workers/children/audio-decoder.ts";

import { MEDIA_LIMITS } from "#workers/providers/sandbox/media/limits.ts";
import { findMarker } from "../marker/find.ts";
import type { MarkedPiece } from "../marker/payload.ts";
import type { AudioFacts, AudioFormat } from "#shared/media/probe/facts.ts";
import { probeSandboxAudio } from "../own-sound.ts";
import { listen, type Heard } from "./listen.ts";

export interface TimedWord {
  readonly word: string;
  readonly start: number;
  readonly end: number;
}

export interface Segment {
  readonly id: number;
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Times in seconds, none beyond the duration. */
export interface Transcript {
  readonly text: string;
  /** The language asked for, or English, which is what the sandbox's voices speak. */
  readonly language: string;
  readonly facts: AudioFacts;
  readonly words: readonly TimedWord[];
  readonly segments: readonly Segment[];
  /** null for the sandbox's own speech. */
  readonly heard: Heard | null;
}

/** @throws MediaError unsupported, corrupt, too_large */
export async function transcribeSound(bytes: Uint8Array, language: string | undefined): Promise<Transcript> {
  const facts = probeSandboxAudio(bytes);
  const pieces = await findMarker(bytes, facts, async () => {
    const { samples } = await decode(bytes, facts, MEDIA_LIMITS.markedSecondsMax);
    return Int16Array.from(samples, (sample) => Math.round(sample * 32_768));
  });
  if (pieces.length > 0) return { ...spoken(pieces, facts), language: language ?? "en", facts, heard: null };
  const { samples, sampleRate } = await decode(bytes, facts, MEDIA_LIMITS.listenSeconds);
  const heard = listen(samples, sampleRate);
  const text = describe(heard, facts);
  const segments = [{ id: 0, start: 0, end: seconds(facts.seconds), text }];
  return { text, language: language ?? "en", facts, words: [], segments, heard };
}

const CONTAINERS: Readonly<Record<AudioFormat, AudioContainer>> = {
  pcm: "wav",
  wav: "wav",
  mp3: "mp3",
  aac: "aac",
  flac: "flac",
  ogg: "ogg",
  mp4: "mov",
  webm: "matroska",
};

function decode(bytes: Uint8Array, { format }: AudioFacts, secondsMax: number): ReturnType<typeof decodeAudio> {
  return decodeAudio(bytes, CONTAINERS[format], secondsMax);
}

/** A recording that was cut begins with a later piece: its time is then the beginning. */
function spoken(pieces: readonly MarkedPiece[], facts: AudioFacts): Pick<Transcript, "text" | "words" | "segments"> {
  const shift = pieces[0]?.startMs ?? 0;
  const at = (ms: number): number => seconds(Math.min(facts.seconds, Math.max(0, ms - shift) / 1_000));
  return {
    text: pieces.map(({ text }) => text).join(""),
    words: pieces.flatMap(({ words }) =>
      words.map(({ word, startMs, endMs }) => ({ word, start: at(startMs), end: at(endMs) })),
    ),
    segments: pieces.map(({ text, startMs, endMs }, id) => ({ id, start: at(startMs), end: at(endMs), text })),
  };
}

function describe(heard: Heard, facts: AudioFacts): string {
  const what = {
    silence: "silence",
    tone: `a steady tone of ${heard.hertz} Hz at ${heard.loudnessDb} dBFS`,
    noise: `noise at ${heard.loudnessDb} dBFS`,
    sound: `sound the sandbox cannot put into words, at ${heard.loudnessDb} dBFS`,
  }[heard.kind];
  return `[${seconds(facts.seconds)} seconds of ${what}]`;
}

function seconds(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}
