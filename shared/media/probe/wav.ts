/** RIFF WAVE (and RF64 in so far as its sizes are "until the end"). */
import { corrupt, facts, type AudioFacts, type Cursor } from "./facts.ts";

export interface WavLayout {
  readonly code: number;
  readonly channels: number;
  readonly sampleRate: number;
  readonly bits: number;
  readonly byteRate: number;
  readonly dataStart: number;
  readonly dataEnd: number;
}

const EXTENSIBLE = 0xfffe;
/** Codes whose samples have the same size throughout: PCM, floating point, A-law, µ-law. */
const PLAIN = new Set([1, 3, 6, 7]);

export function readWav(cursor: Cursor): WavLayout {
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
        byteRate: view.getUint32(start + 8, true),
        bits: view.getUint16(start + 14, true),
      };
    }
    if (kind === "data") {
      if (format === undefined) throw corrupt("has sound before its format");
      // A writer that could not go back left 0 or the largest number: the sound goes on to the end.
      const isOpen = size === 0 || size >= 0xffff_ff00;
      return { ...format, dataStart: start, dataEnd: Math.min(cursor.length, isOpen ? cursor.length : start + size) };
    }
    at = start + size + (size & 1);
  }
  throw corrupt("has no data chunk");
}

export function probeWav(cursor: Cursor): AudioFacts {
  const wav = readWav(cursor);
  const own = PLAIN.has(wav.code) ? (wav.channels * wav.bits * wav.sampleRate) / 8 : wav.byteRate;
  return facts("wav", (wav.dataEnd - wav.dataStart) / own, wav.sampleRate, wav.channels);
}
