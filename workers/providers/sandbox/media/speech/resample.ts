/** Windowed-sinc resampling of one channel. */

/** Taps each side, before the filter is widened for going down in rate. */
const REACH = 16;
const PHASES = 512;

/** Samples at `ratio` times their rate; above 1 makes more of them. Ends are taken for silence. */
export function resample(samples: Float32Array, ratio: number): Float32Array {
  const cutoff = Math.min(1, ratio) * 0.95;
  const reach = Math.ceil(REACH / cutoff);
  const kernel = sincKernel(cutoff, reach);
  const output = new Float32Array(Math.round(samples.length * ratio));
  for (let index = 0; index < output.length; index += 1) {
    const at = index / ratio;
    const base = Math.floor(at);
    const row = Math.round((at - base) * PHASES) * 2 * reach;
    let sum = 0;
    const from = Math.max(0, base - reach + 1);
    const to = Math.min(samples.length - 1, base + reach);
    for (let source = from; source <= to; source += 1) {
      sum += (samples[source] ?? 0) * (kernel[row + source - base + reach - 1] ?? 0);
    }
    output[index] = sum;
  }
  return output;
}

/** A row of taps for each position between two samples, each row adding up to 1. */
function sincKernel(cutoff: number, reach: number): Float32Array {
  const width = 2 * reach;
  const kernel = new Float32Array((PHASES + 1) * width);
  for (let phase = 0; phase <= PHASES; phase += 1) {
    let sum = 0;
    for (let tap = 0; tap < width; tap += 1) {
      const distance = tap - reach + 1 - phase / PHASES;
      const x = Math.PI * distance * cutoff;
      const window = 0.5 + 0.5 * Math.cos((Math.PI * distance) / (reach + 1));
      const value = (x === 0 ? 1 : Math.sin(x) / x) * window;
      kernel[phase * width + tap] = value;
      sum += value;
    }
    for (let tap = 0; tap < width; tap += 1) kernel[phase * width + tap] = (kernel[phase * width + tap] ?? 0) / sum;
  }
  return kernel;
}
