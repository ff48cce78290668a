/** Spectrogram: level of each frequency over time. */

/** Highest and lowest drawn level, in dB relative to a full-scale sine. */
const [LOUD_DB, QUIET_DB] = [0, -90];
const WINDOW_MIN = 512;
/** Most spectra per column. Several are needed so that short sounds are not missed. */
const SPECTRA_MAX = 4;

/**
 * Returns levels from 0 to 1, row by row from half the sample rate down to 0 Hz.
 * @param progress receives the completed fraction, from 0 to 1
 */
export function spectrogram(
  samples: Int16Array,
  { width, height }: { readonly width: number; readonly height: number },
  progress: (share: number) => void,
): Float32Array {
  let size = WINDOW_MIN;
  while (size < height * 2) size *= 2;
  const transform = createTransform(size);
  const levels = new Float32Array(width * height);
  const step = samples.length / width;
  const spectra = Math.max(1, Math.min(SPECTRA_MAX, Math.ceil(step / size)));
  const bins = size / 2;
  const power = new Float64Array(bins);
  for (let x = 0; x < width; x++) {
    power.fill(0);
    for (let at = 0; at < spectra; at++) {
      const middle = Math.floor((x + (at + 0.5) / spectra) * step);
      transform(samples, middle - bins, power);
    }
    for (let row = 0; row < height; row++) {
      const from = Math.floor((row * bins) / height);
      const to = Math.max(from + 1, Math.floor(((row + 1) * bins) / height));
      let most = 0;
      for (let bin = from; bin < to; bin++) most = Math.max(most, power[bin] ?? 0);
      const decibels = 10 * Math.log10(most + 1e-12);
      const level = (decibels - QUIET_DB) / (LOUD_DB - QUIET_DB);
      levels[(height - 1 - row) * width + x] = Math.min(1, Math.max(0, level));
    }
    progress((x + 1) / width);
  }
  return levels;
}

/** @returns a function that raises `power` to the spectrum of the window at `start`. Outside of the samples is silence */
function createTransform(size: number): (samples: Int16Array, start: number, power: Float64Array) => void {
  const window = Float64Array.from({ length: size }, (_, at) => 0.5 - 0.5 * Math.cos((2 * Math.PI * at) / size));
  const [cos, sin] = [Math.cos, Math.sin].map((wave) =>
    Float64Array.from({ length: size / 2 }, (_, at) => wave((-2 * Math.PI * at) / size)),
  ) as [Float64Array, Float64Array];
  const bits = Math.log2(size);
  const places = Uint32Array.from({ length: size }, (_, at) => {
    let place = 0;
    for (let bit = 0; bit < bits; bit++) place |= ((at >> bit) & 1) << (bits - 1 - bit);
    return place;
  });
  const [real, imaginary] = [new Float64Array(size), new Float64Array(size)];
  // Power of a full-scale sine under this window.
  const full = (size / 4) ** 2;
  return (samples, start, power) => {
    imaginary.fill(0);
    for (let at = 0; at < size; at++) {
      real[places[at] ?? 0] = ((samples[start + at] ?? 0) / 32_768) * (window[at] ?? 0);
    }
    for (let half = 1; half < size; half *= 2) {
      const stride = size / (half * 2);
      for (let base = 0; base < size; base += half * 2) {
        for (let at = 0; at < half; at++) {
          const [low, high] = [base + at, base + at + half];
          const [c, s] = [cos[at * stride] ?? 0, sin[at * stride] ?? 0];
          const [r, i] = [real[high] ?? 0, imaginary[high] ?? 0];
          const [turnedReal, turnedImaginary] = [r * c - i * s, r * s + i * c];
          const [lowReal, lowImaginary] = [real[low] ?? 0, imaginary[low] ?? 0];
          real[high] = lowReal - turnedReal;
          imaginary[high] = lowImaginary - turnedImaginary;
          real[low] = lowReal + turnedReal;
          imaginary[low] = lowImaginary + turnedImaginary;
        }
      }
    }
    for (let bin = 0; bin < size / 2; bin++) {
      const value = ((real[bin] ?? 0) ** 2 + (imaginary[bin] ?? 0) ** 2) / full;
      if (value > (power[bin] ?? 0)) power[bin] = value;
    }
  };
}
