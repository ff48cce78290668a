/** WAV files of known samples, for tests. */
import { wav } from "#tests/support/hostile-files/sounds.ts";

/** In 16 bits, of these samples from -1 to 1, the same in each channel. */
export function wavOf(seconds: number, sample: (at: number) => number, { rate = 8_000, channels = 1 } = {}): Buffer {
  const sound = Buffer.alloc(Math.round(seconds * rate) * channels * 2);
  for (let at = 0; at < sound.length / 2; at++) {
    sound.writeInt16LE(Math.round(sample(Math.floor(at / channels) / rate) * 32_767), at * 2);
  }
  return wav({ rate, channels }, sound);
}

export const tone =
  (hertz: number, loud = 0.5) =>
  (at: number): number =>
    loud * Math.sin(2 * Math.PI * hertz * at);

/** Samples of a WAV in one channel. */
export function samplesOf(wav: Uint8Array): Float64Array {
  const bytes = Buffer.from(wav);
  const at = bytes.indexOf("data") + 8;
  return Float64Array.from({ length: (bytes.length - at) >> 1 }, (_, i) => bytes.readInt16LE(at + i * 2) / 32_768);
}
