/** What can be said of sound whose words are not known: how loud it is, and whether it is silence, a tone or noise. */

export interface Heard {
  readonly kind: "silence" | "tone" | "noise" | "sound";
  /** Root mean square against full scale; -Infinity never occurs, silence ends at -120. */
  readonly loudnessDb: number;
  /** Of a tone only. */
  readonly hertz?: number;
}

const WINDOW = 4_096;
/** Spectra looked at, spread over the recording. */
const WINDOWS_MAX = 400;
const SILENCE_DB = -60;
const FLOOR_DB = -120;
/** Share of the energy in the strongest line and its neighbours, from which on it may be a tone. */
const TONE_SHARE = 0.8;
/** A tone is as loud at its softest as at its loudest, nearly; a voice pauses. Of energies, 6 dB. */
const TONE_STEADINESS = 0.25;
/** Geometric against arithmetic mean of the spectrum: 0.56 for white noise, below 0.05 for speech and music. */
const NOISE_FLATNESS = 0.2;

/** @param samples one channel from -1 to 1 */
export function listen(samples: Float32Array, sampleRate: number): Heard {
  let energy = 0;
  for (const sample of samples) energy += sample * sample;
  const loudnessDb = Math.max(FLOOR_DB, round(10 * Math.log10(energy / Math.max(1, samples.length) + 1e-30), 1));
  if (loudnessDb <= SILENCE_DB) return { kind: "silence", loudnessDb };
  const { spectrum, energies } = meanSpectrum(samples);
  const total = spectrum.reduce((sum, power) => sum + power, 0);
  let peak = 0;
  spectrum.forEach((power, bin) => {
    if (power > (spectrum[peak] ?? 0)) peak = bin;
  });
  const near = spectrum.subarray(Math.max(0, peak - 3), peak + 4);
  const nearSum = near.reduce((sum, power) => sum + power, 0);
  const isSteady = Math.min(...energies) >= TONE_STEADINESS * Math.max(...energies);
  if (isSteady && nearSum / total >= TONE_SHARE) {
    // The centre of gravity of the line lies between two bins.
    const centre = near.reduce((sum, power, index) => sum + power * (Math.max(0, peak - 3) + index), 0) / nearSum;
    return { kind: "tone", loudnessDb, hertz: Math.round((centre * sampleRate) / WINDOW) };
  }
  const logMean = spectrum.reduce((sum, power) => sum + Math.log(power + 1e-20), 0) / spectrum.length;
  const flatness = Math.exp(logMean) / (total / spectrum.length);
  return { kind: flatness >= NOISE_FLATNESS ? "noise" : "sound", loudnessDb };
}

/** Lines from 0 Hz up, the constant part left out, and the energy of each window. */
function meanSpectrum(samples: Float32Array): {
  readonly spectrum: Float64Array;
  readonly energies: readonly number[];
} {
  const energies: number[] = [];
  const sum = new Float64Array(WINDOW / 2);
  const count = Math.max(1, Math.min(WINDOWS_MAX, Math.floor(samples.length / WINDOW)));
  const stride = Math.max(WINDOW, Math.floor(samples.length / count));
  for (let index = 0; index < count; index += 1) {
    const real = new Float64Array(WINDOW);
    const imaginary = new Float64Array(WINDOW);
    for (let at = 0; at < WINDOW; at += 1) {
      real[at] = (samples[index * stride + at] ?? 0) * (0.5 - 0.5 * Math.cos((2 * Math.PI * at) / WINDOW));
    }
    fourier(real, imaginary);
    let energy = 0;
    for (let bin = 1; bin < WINDOW / 2; bin += 1) {
      const power = (real[bin] ?? 0) ** 2 + (imaginary[bin] ?? 0) ** 2;
      sum[bin] = (sum[bin] ?? 0) + power;
      energy += power;
    }
    energies.push(energy);
  }
  return { spectrum: sum, energies };
}

/** Radix-2 transform in place. */
function fourier(real: Float64Array, imaginary: Float64Array): void {
  const length = real.length;
  for (let index = 1, mirror = 0; index < length; index += 1) {
    let bit = length >> 1;
    for (; (mirror & bit) !== 0; bit >>= 1) mirror ^= bit;
    mirror ^= bit;
    if (index < mirror) {
      [real[index], real[mirror]] = [real[mirror] ?? 0, real[index] ?? 0];
    }
  }
  for (let half = 1; half < length; half *= 2) {
    for (let offset = 0; offset < half; offset += 1) {
      const cosine = Math.cos((Math.PI * offset) / half);
      const sine = -Math.sin((Math.PI * offset) / half);
      for (let start = offset; start < length; start += 2 * half) {
        const other = start + half;
        const turnedReal = (real[other] ?? 0) * cosine - (imaginary[other] ?? 0) * sine;
        const turnedImaginary = (real[other] ?? 0) * sine + (imaginary[other] ?? 0) * cosine;
        real[other] = (real[start] ?? 0) - turnedReal;
        imaginary[other] = (imaginary[start] ?? 0) - turnedImaginary;
        real[start] = (real[start] ?? 0) + turnedReal;
        imaginary[start] = (imaginary[start] ?? 0) + turnedImaginary;
      }
    }
  }
}

function round(value: number, digits: number): number {
  return Math.round(value * 10 ** digits) / 10 ** digits;
}
