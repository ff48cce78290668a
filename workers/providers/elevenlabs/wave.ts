/** A RIFF WAVE head for samples that come without one. Source: Microsoft's "Multimedia Programming Interface", 1991. */

const HEAD_BYTES = 44;
const BYTES_PER_SAMPLE = 2;

/** @param samples of 16 bits, the lower byte first; a frame that is cut is left out */
export function waveOf(
  samples: Uint8Array,
  { rate, channels }: { readonly rate: number; readonly channels: number },
): Uint8Array {
  const frameBytes = channels * BYTES_PER_SAMPLE;
  const size = samples.length - (samples.length % frameBytes);
  const wave = Buffer.allocUnsafe(HEAD_BYTES + size);
  wave.write("RIFF", 0, "latin1");
  wave.writeUInt32LE(HEAD_BYTES - 8 + size, 4);
  wave.write("WAVEfmt ", 8, "latin1");
  wave.writeUInt32LE(16, 16);
  wave.writeUInt16LE(1, 20); // PCM
  wave.writeUInt16LE(channels, 22);
  wave.writeUInt32LE(rate, 24);
  wave.writeUInt32LE(rate * frameBytes, 28);
  wave.writeUInt16LE(frameBytes, 32);
  wave.writeUInt16LE(8 * BYTES_PER_SAMPLE, 34);
  wave.write("data", 36, "latin1");
  wave.writeUInt32LE(size, 40);
  wave.set(samples.subarray(0, size), HEAD_BYTES);
  return wave;
}
