/** A room of combs and all-passes, after Schroeder and Moorer; another one for each ear. */
import type { Bus } from "./mix.ts";
import { SAMPLE_RATE } from "./tones.ts";

/** Milliseconds, without common factors; the right ear's are a little longer. */
const COMBS_MS = [29.7, 37.1, 41.1, 43.7, 31.9, 47.3];
const PASSES_MS = [5, 1.7, 12.6];
const RIGHT_LONGER = 1.017;
/** From the sound to its first echo. */
const BEFORE_SECONDS = 0.018;
/** Of high tones, what is lost at each turn. */
const DAMPING = 0.32;

/** Adds what the room makes of what was sent into it. @param hall 0 a chamber, 1 a cathedral */
export function reverberate({ left, right, room }: Bus, hall: number): void {
  const seconds = 0.5 + 3.2 * hall;
  const level = 0.05 + 0.3 * hall;
  addRoom(left, room, seconds, level, 1);
  addRoom(right, room, seconds, level, RIGHT_LONGER);
}

function addRoom(to: Float32Array, room: Float32Array, seconds: number, level: number, longer: number): void {
  const wet = new Float32Array(room.length);
  const before = Math.round(BEFORE_SECONDS * SAMPLE_RATE);
  for (const ms of COMBS_MS) {
    const length = Math.round((ms * longer * SAMPLE_RATE) / 1_000);
    const line = new Float32Array(length);
    const feedback = 10 ** ((-3 * ms) / 1_000 / seconds);
    let where = 0;
    let dull = 0;
    for (let at = before; at < wet.length; at += 1) {
      const value = line[where] ?? 0;
      dull = value + (dull - value) * DAMPING;
      line[where] = (room[at - before] ?? 0) + dull * feedback;
      where += 1;
      if (where === length) where = 0;
      wet[at] = (wet[at] ?? 0) + value;
    }
  }
  for (const ms of PASSES_MS) {
    const length = Math.round((ms * longer * SAMPLE_RATE) / 1_000);
    const line = new Float32Array(length);
    let where = 0;
    for (let at = before; at < wet.length; at += 1) {
      const value = line[where] ?? 0;
      const input = wet[at] ?? 0;
      line[where] = input + value * 0.5;
      where += 1;
      if (where === length) where = 0;
      wet[at] = value - input * 0.5;
    }
  }
  for (let at = before; at < to.length; at += 1) to[at] = (to[at] ?? 0) + (wet[at] ?? 0) * level * 0.4;
}
