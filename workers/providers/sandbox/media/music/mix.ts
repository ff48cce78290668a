/** Notes as sound: every player at its place. */
import type { DrumEvent, NoteEvent, Player } from "./events.ts";
import { DRUM_SEATS, renderDrum } from "./drums.ts";
import { instrument, type InstrumentName } from "./instruments.ts";
import type { Drum } from "./patterns.ts";
import type { Score } from "./score.ts";
import type { Style } from "./style.ts";
import { hertz } from "./theory.ts";
import { renderTone, SAMPLE_RATE } from "./tones.ts";

/** Two channels and what of them goes into the room. */
export interface Bus {
  readonly left: Float32Array;
  readonly right: Float32Array;
  readonly room: Float32Array;
}

interface Seat {
  readonly gain: number;
  /** -1 left, 1 right. */
  readonly pan: number;
  /** Share that goes into the room. */
  readonly room: number;
  /** Seconds by which the right ear hears it later: a section of many is wide. */
  readonly width: number;
}

const SEATS: Readonly<Record<Player, Seat>> = {
  lead: { gain: 0.32, pan: 0.12, room: 0.8, width: 0 },
  chords: { gain: 0.24, pan: -0.2, room: 0.6, width: 0.009 },
  bass: { gain: 0.3, pan: 0, room: 0.08, width: 0 },
  pad: { gain: 0.13, pan: 0.14, room: 1, width: 0.014 },
};

/** The kit against the others: about as loud as the lead. */
const KIT_GAIN = 0.6;

/** @param beatSeconds of the piece */
export function mixScore(score: Score, style: Style, beatSeconds: number, seconds: number): Bus {
  const length = Math.round(seconds * SAMPLE_RATE);
  const bus = { left: new Float32Array(length), right: new Float32Array(length), room: new Float32Array(length) };
  const play = createPlayer(beatSeconds);
  for (const note of score.notes) {
    const name = style.players[note.player];
    if (name === null) continue;
    const seat = SEATS[note.player];
    const { sound, gain } = play(name, note);
    add(bus, sound, note.beat * beatSeconds, gain * seat.gain, seat);
  }
  if (style.pumping > 0) pump(bus, score.drums, style.pumping, beatSeconds);
  const kit = new Map<Drum, Float32Array>();
  for (const { drum, beat, velocity } of score.drums) {
    const sound = kit.get(drum) ?? renderDrum(drum);
    kit.set(drum, sound);
    const { gain, pan } = DRUM_SEATS[drum];
    add(bus, sound, beat * beatSeconds, KIT_GAIN * gain * velocity, {
      pan,
      room: drum === "kick" ? 0.03 : 0.25,
      width: 0,
    });
  }
  return bus;
}

/** Lengths and strengths of notes are rounded a little, so that most are rendered once. */
const LENGTH_STEP_SECONDS = 0.02;
const VELOCITY_STEPS = 10;

type Play = (name: InstrumentName, note: NoteEvent) => { readonly sound: Float32Array; readonly gain: number };

function createPlayer(beatSeconds: number): Play {
  const known = new Map<string, Float32Array>();
  return (name, { player, pitch, beats, velocity }) => {
    const { tone, gain, octave } = instrument(name);
    const length = Math.max(1, Math.round((beats * beatSeconds) / LENGTH_STEP_SECONDS));
    const strength = Math.max(1, Math.min(VELOCITY_STEPS, Math.round(velocity * VELOCITY_STEPS)));
    // An instrument that plays chords or bass stays in their range.
    const played = player === "lead" ? pitch + 12 * octave : pitch;
    const key = `${name} ${played} ${length} ${strength}`;
    const sound =
      known.get(key) ??
      renderTone(tone, {
        hertz: hertz(played),
        seconds: length * LENGTH_STEP_SECONDS,
        velocity: strength / VELOCITY_STEPS,
      });
    known.set(key, sound);
    return { sound, gain };
  };
}

/** Adds a sound at a time; what does not fit any more is left out. */
export function add(
  { left, right, room }: Bus,
  sound: Float32Array,
  seconds: number,
  gain: number,
  { pan, room: send, width }: Omit<Seat, "gain">,
): void {
  const start = Math.round(seconds * SAMPLE_RATE);
  const late = Math.round(width * SAMPLE_RATE);
  // Equal power on both sides together.
  const angle = ((pan + 1) * Math.PI) / 4;
  addTo(left, sound, start, gain * Math.cos(angle) * Math.SQRT2);
  addTo(right, sound, start + late, gain * Math.sin(angle) * Math.SQRT2);
  addTo(room, sound, start, gain * send);
}

function addTo(to: Float32Array, sound: Float32Array, start: number, gain: number): void {
  const end = Math.min(sound.length, to.length - start);
  for (let at = Math.max(0, -start); at < end; at += 1)
    to[start + at] = (to[start + at] ?? 0) + (sound[at] ?? 0) * gain;
}

/** How fast the rest comes back after a kick. */
const PUMP_SECONDS = 0.13;

function pump({ left, right, room }: Bus, drums: readonly DrumEvent[], depth: number, beatSeconds: number): void {
  const kicks = drums
    .filter(({ drum }) => drum === "kick")
    .map(({ beat }) => Math.round(beat * beatSeconds * SAMPLE_RATE));
  const sorted = kicks.toSorted((one, other) => one - other);
  let next = 0;
  let give = 0;
  const fade = Math.exp(-1 / (PUMP_SECONDS * SAMPLE_RATE));
  for (let at = 0; at < left.length; at += 1) {
    if (next < sorted.length && at >= (sorted[next] ?? 0)) {
      give = depth;
      next += 1;
    }
    const gain = 1 - give;
    left[at] = (left[at] ?? 0) * gain;
    right[at] = (right[at] ?? 0) * gain;
    room[at] = (room[at] ?? 0) * gain;
    give *= fade;
  }
}
