/** What a scene sounds like by itself: surf, rain, wind, birds, crickets, a street. */
import { createRandom } from "../../random.ts";
import type { Motif } from "../images/prompt.ts";
import type { Bus } from "../music/mix.ts";
import { createNoise, SAMPLE_RATE } from "../music/tones.ts";

/** Noise between two frequencies that comes and goes. */
interface Wash {
  readonly from: number;
  readonly to: number;
  readonly level: number;
  /** Seconds of a swell, and how much of the level comes and goes with it. */
  readonly swell: number;
  readonly depth: number;
}

const SURF: readonly Wash[] = [
  { from: 120, to: 900, level: 0.5, swell: 6.1, depth: 0.8 },
  { from: 900, to: 5_000, level: 0.28, swell: 6.1, depth: 0.95 },
];
const RAIN: readonly Wash[] = [
  { from: 900, to: 7_000, level: 0.4, swell: 9, depth: 0.15 },
  { from: 150, to: 600, level: 0.12, swell: 7, depth: 0.3 },
];
const WIND: readonly Wash[] = [{ from: 180, to: 700, level: 0.34, swell: 4.7, depth: 0.8 }];
const STREET: readonly Wash[] = [
  { from: 50, to: 260, level: 0.5, swell: 5.3, depth: 0.4 },
  { from: 400, to: 1_600, level: 0.08, swell: 3.1, depth: 0.8 },
];
const VOID: readonly Wash[] = [{ from: 40, to: 150, level: 0.5, swell: 8, depth: 0.6 }];

/** Adds to both channels; about as loud as soft music. Nothing for scenes that have no sound of their own. */
export function addAmbience(
  { left, right }: Pick<Bus, "left" | "right">,
  { scenery, light, weather }: Motif,
  seed: number,
): void {
  const washes: Wash[] = [];
  if (weather === "rain") washes.push(...RAIN);
  else if (weather === "snow") washes.push(...WIND);
  if (scenery === "sea") washes.push(...SURF);
  if (scenery === "mountains" || scenery === "desert") washes.push(...WIND);
  if (scenery === "city") washes.push(...STREET);
  if (scenery === "space") washes.push(...VOID);
  washes.forEach((wash, index) => {
    addWash(left, wash, 2 * index + 1);
    addWash(right, wash, 2 * index + 2);
  });
  if (weather !== "clear" || (scenery !== "hills" && scenery !== "forest")) return;
  if (light === "night") addCrickets(left, right, seed);
  else addBirds(left, right, seed);
}

const WASH_GAIN = 0.16;

function addWash(channel: Float32Array, { from, to, level, swell, depth }: Wash, seed: number): void {
  const noise = createNoise(seed);
  const [open, close] = [to, from].map((hertz) => 1 - Math.exp((-2 * Math.PI * hertz) / SAMPLE_RATE)) as [
    number,
    number,
  ];
  const step = (2 * Math.PI) / (swell * SAMPLE_RATE);
  let [high, higher, low] = [0, 0, 0];
  for (let at = 0; at < channel.length; at += 1) {
    high += open * (noise() - high);
    higher += open * (high - higher);
    low += close * (higher - low);
    // Both ears hear the same wave, the right a little later.
    const swelling = 1 - depth * (0.5 + 0.5 * Math.cos(step * at - (seed % 2) * 0.5));
    channel[at] = (channel[at] ?? 0) + (higher - low) * level * swelling * WASH_GAIN * Math.sqrt(2_000 / to);
  }
}

/** Short whistles that glide, a few at a time, from here and there. */
function addBirds(left: Float32Array, right: Float32Array, seed: number): void {
  const random = createRandom(seed);
  const seconds = left.length / SAMPLE_RATE;
  for (let at = 0.4 + random.below(60) / 100; at < seconds - 0.5; at += 0.9 + random.below(160) / 100) {
    const [base, pan] = [2_400 + random.below(1_600), random.below(100) / 100];
    const notes = 2 + random.below(4);
    const bend = random.below(2) === 0 ? 1.25 : 0.8;
    for (let note = 0; note < notes; note += 1) {
      const start = Math.round((at + note * 0.14) * SAMPLE_RATE);
      addWhistle(left, right, start, base * (1 + 0.06 * note), bend, 0.035 * (1 - 0.12 * note), pan);
    }
  }
}

const WHISTLE_SECONDS = 0.1;

function addWhistle(
  left: Float32Array,
  right: Float32Array,
  start: number,
  hertz: number,
  bend: number,
  level: number,
  pan: number,
): void {
  const length = Math.min(Math.round(WHISTLE_SECONDS * SAMPLE_RATE), left.length - start);
  let phase = 0;
  for (let index = 0; index < length; index += 1) {
    const share = index / (WHISTLE_SECONDS * SAMPLE_RATE);
    phase += (2 * Math.PI * hertz * (1 + (bend - 1) * share)) / SAMPLE_RATE;
    const value = Math.sin(phase) * Math.sin(Math.PI * share) ** 2 * level;
    left[start + index] = (left[start + index] ?? 0) + value * (1 - pan);
    right[start + index] = (right[start + index] ?? 0) + value * pan;
  }
}

/** Two of them, each on its own note and in its own time. */
function addCrickets(left: Float32Array, right: Float32Array, seed: number): void {
  const random = createRandom(seed);
  for (const [index, channel] of [left, right].entries()) {
    const [hertz, rate] = [4_100 + 500 * index + random.below(200), 1.9 + 0.35 * index];
    for (let at = 0; at < channel.length; at += 1) {
      const time = at / SAMPLE_RATE;
      const chirp = (time * rate) % 1;
      if (chirp > 0.45) continue;
      const pulse = Math.max(0, Math.sin(2 * Math.PI * 34 * time)) * Math.sin((Math.PI * chirp) / 0.45);
      channel[at] = (channel[at] ?? 0) + 0.016 * pulse * Math.sin(2 * Math.PI * hertz * time);
    }
  }
}
