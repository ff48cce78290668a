/** The finished sound: as loud as others, never too loud, and gone at the end. */
import { SAMPLE_RATE } from "./tones.ts";

/** What streaming services play at is -14 to -16 (EBU R 128, ITU-R BS.1770). */
const LOUDNESS_LUFS = -16;
/** Lossy codecs overshoot by half a decibel or so. */
const PEAK = 10 ** (-1.5 / 20);
const GAIN_MAX = 24;
/** Gone within this long, or this share of a short piece. */
const FADE_SECONDS = 2.2;
const FADE_SHARE = 0.2;
/** Against a click at the start. */
const START_SAMPLES = 96;

/** Changes both channels in place. @param loudness in LUFS */
export function master(left: Float32Array, right: Float32Array, loudness = LOUDNESS_LUFS): void {
  fade(left);
  fade(right);
  const now = measureLoudness(left, right);
  const gain = Number.isFinite(now) ? Math.min(GAIN_MAX, 10 ** ((loudness - now) / 20)) : 1;
  limit(left, right, gain);
}

/** Left and right in turn, 16 bits. */
export function interleave(left: Float32Array, right: Float32Array): Int16Array {
  const samples = new Int16Array(2 * left.length);
  for (let at = 0; at < left.length; at += 1) {
    samples[2 * at] = Math.round(32_767 * Math.max(-1, Math.min(1, left[at] ?? 0)));
    samples[2 * at + 1] = Math.round(32_767 * Math.max(-1, Math.min(1, right[at] ?? 0)));
  }
  return samples;
}

function fade(channel: Float32Array): void {
  const length = Math.round(Math.min(FADE_SECONDS * SAMPLE_RATE, FADE_SHARE * channel.length));
  for (let at = 0; at < length; at += 1) {
    const index = channel.length - length + at;
    channel[index] = (channel[index] ?? 0) * (0.5 + 0.5 * Math.cos((Math.PI * at) / (length - 1)));
  }
  for (let at = 0; at < Math.min(START_SAMPLES, channel.length); at += 1) {
    channel[at] = ((channel[at] ?? 0) * at) / START_SAMPLES;
  }
}

const BLOCK_SECONDS = 0.1;
const BLOCKS_PER_WINDOW = 4;
const ABSOLUTE_GATE_LUFS = -70;
const RELATIVE_GATE_LU = -10;

/** Integrated loudness in LUFS after BS.1770-4; -Infinity for silence. */
export function measureLoudness(left: Float32Array, right: Float32Array): number {
  const blockLength = Math.round(BLOCK_SECONDS * SAMPLE_RATE);
  const blocks = new Float64Array(Math.floor(left.length / blockLength));
  for (const channel of [left, right]) {
    const filter = createWeighting();
    for (let block = 0; block < blocks.length; block += 1) {
      let sum = 0;
      for (let at = block * blockLength; at < (block + 1) * blockLength; at += 1) {
        const value = filter(channel[at] ?? 0);
        sum += value * value;
      }
      blocks[block] = (blocks[block] ?? 0) + sum / blockLength;
    }
  }
  const windows: number[] = [];
  for (let start = 0; start + BLOCKS_PER_WINDOW <= blocks.length; start += 1) {
    const powers = blocks.subarray(start, start + BLOCKS_PER_WINDOW);
    windows.push(powers.reduce((sum, power) => sum + power, 0) / BLOCKS_PER_WINDOW);
  }
  const heard = windows.filter((power) => lufs(power) > ABSOLUTE_GATE_LUFS);
  const gate = lufs(mean(heard)) + RELATIVE_GATE_LU;
  return lufs(mean(heard.filter((power) => lufs(power) > gate)));
}

function lufs(power: number): number {
  return -0.691 + 10 * Math.log10(power);
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The two filters of BS.1770, table 1 and 2, which stand there for 48 kHz. */
function createWeighting(): (sample: number) => number {
  let [shelf1, shelf2, high1, high2] = [0, 0, 0, 0];
  return (sample) => {
    const shelf = sample + 1.690_659_293_182_41 * shelf1 - 0.732_480_774_215_85 * shelf2;
    const shelved = 1.535_124_859_586_97 * shelf - 2.691_696_189_406_38 * shelf1 + 1.198_392_810_852_85 * shelf2;
    shelf2 = shelf1;
    shelf1 = shelf;
    const high = shelved + 1.990_047_454_833_98 * high1 - 0.990_072_250_366_21 * high2;
    const value = high - 2 * high1 + high2;
    high2 = high1;
    high1 = high;
    return value;
  };
}

const AHEAD_SECONDS = 0.004;
const RELEASE_SECONDS = 0.12;

/** Turns both channels down together a moment before a peak would pass the limit. */
function limit(left: Float32Array, right: Float32Array, gain: number): void {
  const ahead = Math.round(AHEAD_SECONDS * SAMPLE_RATE);
  const allowed = new Float32Array(left.length);
  for (let at = 0; at < left.length; at += 1) {
    const peak = gain * Math.max(Math.abs(left[at] ?? 0), Math.abs(right[at] ?? 0));
    allowed[at] = peak > PEAK ? PEAK / peak : 1;
  }
  // Backwards, so that the way down to a peak is a straight line that begins before it.
  for (let at = left.length - 2; at >= 0; at -= 1) {
    allowed[at] = Math.min(allowed[at] ?? 1, (allowed[at + 1] ?? 1) + 1 / ahead);
  }
  const rise = 1 / (RELEASE_SECONDS * SAMPLE_RATE);
  let now = 1;
  for (let at = 0; at < left.length; at += 1) {
    now = Math.min(allowed[at] ?? 1, now + (1 - now) * 8 * rise + rise * 0.1);
    left[at] = (left[at] ?? 0) * gain * now;
    right[at] = (right[at] ?? 0) * gain * now;
  }
}
