/** WAV files of known samples, for tests. */

/** In 16 bits, of these samples from -1 to 1, the same in each channel. */
export function wavOf(seconds: number, sample: (at: number) => number, { rate = 8_000, channels = 1 } = {}): Buffer {
  const count = Math.round(seconds * rate);
  const wav = Buffer.alloc(44 + count * channels * 2);
  wav.write("RIFF", 0);
  wav.writeUInt32LE(36 + count * channels * 2, 4);
  wav.write("WAVEfmt ", 8);
  wav.writeUInt32LE(16, 16);
  wav.writeUInt16LE(1, 20);
  wav.writeUInt16LE(channels, 22);
  wav.writeUInt32LE(rate, 24);
  wav.writeUInt32LE(rate * channels * 2, 28);
  wav.writeUInt16LE(channels * 2, 32);
  wav.writeUInt16LE(16, 34);
  wav.write("data", 36);
  wav.writeUInt32LE(count * channels * 2, 40);
  for (let at = 0; at < count * channels; at++) {
    wav.writeInt16LE(Math.round(sample(Math.floor(at / channels) / rate) * 32_767), 44 + at * 2);
  }
  return wav;
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
