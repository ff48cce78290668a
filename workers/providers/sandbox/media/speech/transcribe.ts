/** Transcribes audio. Returns the exact text of the sandbox's own speech, and a description of any other audio. */
import { MediaError } from "#shared/children/media-error.ts";
import { facts, type AudioFacts, type AudioFormat } from "#shared/media/probe/facts.ts";
import { probeAudio } from "#shared/media/probe/probe.ts";
import { decodeAudio, type AudioContainer } from "#workers/children/audio-decoder.ts";
import { MEDIA_LIMITS } from "#workers/providers/sandbox/media/limits.ts";

import { readLowBits, readTag, type MarkedPiece } from "./marker.ts";
import { wordsOf } from "./pieces.ts";
import { SAMPLE_RATE } from "./synthesise.ts";

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

/** Transcript with times in seconds. No time is beyond the duration. */
export interface Transcript {
  readonly text: string;
  /** Language of the transcript, as requested. Default: English, the language of the sandbox's voices. */
  readonly language: string;
  readonly facts: AudioFacts;
  /** Words with their times; empty for audio that is not the sandbox's own speech. */
  readonly words: readonly TimedWord[];
  readonly segments: readonly Segment[];
}

/** Transcribes audio. @throws MediaError unsupported, corrupt, too_large */
export async function transcribeAudio(bytes: Uint8Array, language = "en"): Promise<Transcript> {
  const about = probeSandboxAudio(bytes);
  const tagged = readTag(bytes);
  if (tagged.length > 0) return { ...spoken(tagged, about), language, facts: about };
  const samples = await decode(bytes, about);
  const marked = mayBeMarked(about) ? readLowBits(samples) : [];
  return { ...(marked.length > 0 ? spoken(marked, about) : described(samples, about)), language, facts: about };
}

/**
 * Reads format and duration of audio as `probeAudio` does, and also recognizes raw pcm of the sandbox's own speech.
 * @throws MediaError unsupported (unknown format), corrupt, too_large
 */
export function probeSandboxAudio(bytes: Uint8Array): AudioFacts {
  try {
    return probeAudio(bytes);
  } catch (error) {
    const start = samplesOf(bytes.subarray(0, MEDIA_LIMITS.pcmProbeBytes));
    if (!(error instanceof MediaError) || error.fault === "too_large" || readLowBits(start).length === 0) throw error;
    return facts("pcm", bytes.byteLength / 2 / SAMPLE_RATE, SAMPLE_RATE, 1);
  }
}

const CONTAINERS: Readonly<Record<Exclude<AudioFormat, "pcm">, AudioContainer>> = {
  wav: "wav",
  mp3: "mp3",
  aac: "aac",
  flac: "flac",
  ogg: "ogg",
  mp4: "mov",
  webm: "matroska",
};

async function decode(bytes: Uint8Array, about: AudioFacts): Promise<Float32Array> {
  if (about.format === "pcm") return samplesOf(bytes);
  // Only possible speech of the sandbox is decoded completely: half a megabyte of other flac can be hours of silence.
  const secondsMax = mayBeMarked(about) ? MEDIA_LIMITS.markedSecondsMax : listenedSeconds(about);
  const { samples } = await decodeAudio(bytes, CONTAINERS[about.format], secondsMax);
  return samples;
}

function listenedSeconds({ sampleRate, channels }: AudioFacts): number {
  const { listenSeconds, listenSamplesMax } = MEDIA_LIMITS;
  return Math.min(listenSeconds, listenSamplesMax / (sampleRate * channels));
}

/** Formats that keep the lowest bits of the samples. */
const LOSSLESS: ReadonlySet<AudioFormat> = new Set(["pcm", "wav", "flac"]);

function mayBeMarked({ format, sampleRate, channels }: AudioFacts): boolean {
  return LOSSLESS.has(format) && sampleRate === SAMPLE_RATE && channels === 1;
}

/** Converts 16-bit little-endian bytes to samples from -1 to 1. An odd last byte is ignored. */
function samplesOf(bytes: Uint8Array): Float32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Float32Array.from({ length: bytes.byteLength >> 1 }, (_, index) => view.getInt16(2 * index, true) / 32_768);
}

type Content = Pick<Transcript, "text" | "words" | "segments">;

function spoken(pieces: readonly MarkedPiece[], about: AudioFacts): Content {
  const words: TimedWord[] = [];
  const segments: Segment[] = [];
  let passedMs = 0;
  for (const { text, durationMs, words: times } of pieces) {
    const at = (ms: number): number => rounded(Math.min(about.seconds, (passedMs + ms) / 1_000));
    wordsOf(text).forEach((word, index) => {
      words.push({ word, start: at(times[index]?.startMs ?? 0), end: at(times[index]?.endMs ?? 0) });
    });
    segments.push({ id: segments.length, start: at(0), end: at(durationMs), text });
    passedMs += durationMs;
  }
  return { text: pieces.map(({ text }) => text).join(""), words, segments };
}

const SILENCE_DB = -60;

function described(samples: Float32Array, { seconds }: AudioFacts): Content {
  let energy = 0;
  for (const sample of samples) energy += sample * sample;
  const loudnessDb = Math.round(100 * Math.log10(energy / samples.length)) / 10;
  const what = loudnessDb > SILENCE_DB ? `sound the sandbox cannot put into words, at ${loudnessDb} dBFS` : "silence";
  const text = `[${rounded(seconds)} seconds of ${what}]`;
  return { text, words: [], segments: [{ id: 0, start: 0, end: rounded(seconds), text }] };
}

function rounded(seconds: number): number {
  return Math.round(seconds * 1_000) / 1_000;
}
