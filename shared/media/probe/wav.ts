/** Reads RIFF WAVE, and RF64 whose sizes may mean "until the end". */
import { MediaError } from "#shared/children/media-error.ts";

import { corrupt, createCursor, facts, type AudioFacts, type Cursor } from "./facts.ts";
import { probeFrames } from "./frames.ts";

interface WavLayout {
  readonly code: number;
  readonly channels: number;
  readonly sampleRate: number;
  readonly bits: number;
  readonly blockBytes: number;
  readonly dataStart: number;
  readonly dataEnd: number;
}

const EXTENSIBLE = 0xfffe;
/** Format codes with a constant sample size: PCM, floating point, A-law, µ-law. */
const PLAIN = new Set([1, 3, 6, 7]);

function readWav(cursor: Cursor): WavLayout {
  const { view } = cursor;
  let format: Omit<WavLayout, "dataStart" | "dataEnd"> | undefined;
  for (let at = 12; at + 8 <= cursor.length;) {
    cursor.step();
    const kind = cursor.ascii(at, 4);
    const size = view.getUint32(at + 4, true);
    const start = at + 8;
    if (kind === "fmt " && start + 16 <= cursor.length) {
      const code = view.getUint16(start, true);
      format = {
        code: code === EXTENSIBLE && start + 26 <= cursor.length ? view.getUint16(start + 24, true) : code,
        channels: view.getUint16(start + 2, true),
        sampleRate: view.getUint32(start + 4, true),
        blockBytes: view.getUint16(start + 12, true),
        bits: view.getUint16(start + 14, true),
      };
    }
    if (kind === "data") {
      if (format === undefined) throw corrupt("has audio before its format");
      // A streaming writer leaves 0 or the maximum: the audio extends to the end.
      const isOpen = size === 0 || size >= 0xffff_ff00;
      return { ...format, dataStart: start, dataEnd: Math.min(cursor.length, isOpen ? cursor.length : start + size) };
    }
    at = start + size + (size & 1);
  }
  throw corrupt("has no data chunk");
}

export function probeWav(cursor: Cursor): AudioFacts {
  const wav = readWav(cursor);
  return facts("wav", secondsOf(cursor, wav), wav.sampleRate, wav.channels);
}

const MP3 = 0x55;

/** Returns the duration of a WAV file in seconds. Ignores the byte rate in the header, which is only a claim. */
function secondsOf({ bytes }: Cursor, wav: WavLayout): number {
  const { code, channels, bits, sampleRate, dataStart, dataEnd } = wav;
  const size = dataEnd - dataStart;
  if (PLAIN.has(code)) return size / ((channels * bits * sampleRate) / 8);
  if (code === MP3) return probeFrames(createCursor(bytes.subarray(dataStart, dataEnd)), "mp3").seconds;
  const { blockBytes, samplesOf } = BLOCKS[code]?.(wav) ?? {};
  if (samplesOf === undefined || blockBytes === undefined) {
    throw new MediaError("unsupported", "Expected PCM audio in the WAV file, got another codec.");
  }
  const samples = Math.floor(size / blockBytes) * samplesOf(blockBytes) + samplesOf(size % blockBytes);
  return samples / sampleRate;
}

interface Blocks {
  readonly blockBytes: number;
  readonly samplesOf: (bytes: number) => number;
}

/** Formats with a fixed compression ratio, by code. Both kinds of ADPCM have a header in each block and then four bits per sample. */
const BLOCKS: Readonly<Record<number, (wav: WavLayout) => Blocks>> = {
  0x02: (wav) => adpcm(wav, 7, 2),
  0x11: (wav) => adpcm(wav, 4, 1),
  // GSM 6.10 as packed by Windows.
  0x31: () => ({ blockBytes: 65, samplesOf: (bytes) => (320 * bytes) / 65 }),
};

function adpcm({ blockBytes, channels }: WavLayout, headBytes: number, headSamples: number): Blocks {
  const samplesOf = (bytes: number): number => {
    const dataBytes = bytes - headBytes * channels;
    return dataBytes < 0 ? 0 : headSamples + (2 * dataBytes) / channels;
  };
  return { blockBytes, samplesOf };
}
