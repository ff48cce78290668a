/** Scales, chords and their voicing. Pitches are MIDI numbers: 60 is the middle C, 12 are an octave. */

export type Mode = "major" | "minor" | "dorian" | "phrygian";

const SCALES: Readonly<Record<Mode, readonly number[]>> = {
  major: [0, 2, 4, 5, 7, 9, 11],
  minor: [0, 2, 3, 5, 7, 8, 10],
  dorian: [0, 2, 3, 5, 7, 9, 10],
  phrygian: [0, 1, 3, 5, 7, 8, 10],
};

export interface Key {
  /** 0 is C. */
  readonly tonic: number;
  readonly mode: Mode;
}

export interface Chord {
  /** Step of the scale, 0 to 6. */
  readonly degree: number;
  /** From 0 to 11: root, third, fifth, and a seventh where there is one. */
  readonly classes: readonly number[];
}

/** The pitch of a step of the scale; steps go on above 6 and below 0. */
export function pitchOf({ tonic, mode }: Key, step: number): number {
  const octave = Math.floor(step / 7);
  return tonic + 12 * octave + (SCALES[mode][step - 7 * octave] ?? 0);
}

/** Thirds piled on a step. In minor the fifth step has its leading note, without which nothing comes home. */
export function chordOn(key: Key, degree: number, hasSeventh: boolean): Chord {
  const steps = hasSeventh ? [0, 2, 4, 6] : [0, 2, 4];
  const classes = steps.map((step) => {
    const isLeading = key.mode === "minor" && degree === 4 && step === 2;
    return (pitchOf(key, degree + step) + (isLeading ? 1 : 0) + 120) % 12;
  });
  return { degree, classes };
}

/** The nearest pitch of one of the classes. */
export function nearest(classes: readonly number[], pitch: number): number {
  let best = pitch;
  let distance = Infinity;
  for (let candidate = Math.round(pitch) - 6; candidate <= Math.round(pitch) + 6; candidate += 1) {
    const away = Math.abs(candidate - pitch);
    if (away >= distance || !classes.includes(((candidate % 12) + 12) % 12)) continue;
    best = candidate;
    distance = away;
  }
  return best;
}

/** All notes of the chord close together, moving as little as they can from the chord before. */
export function voice({ classes }: Chord, before: readonly number[], centre: number): number[] {
  const candidates = classes.map((_, turn) => {
    const order = [...classes.slice(turn), ...classes.slice(0, turn)];
    const [first = 0, ...others] = order;
    const notes = [nearest([first], centre - 5)];
    for (const one of others) {
      let pitch = nearest([one], (notes.at(-1) ?? centre) + 4);
      while (pitch <= (notes.at(-1) ?? 0)) pitch += 12;
      notes.push(pitch);
    }
    return notes;
  });
  const cost = (notes: readonly number[]): number =>
    notes.reduce((sum, note, index) => sum + Math.abs(note - (before[index] ?? centre - 5 + 4 * index)), 0);
  return candidates.toSorted((one, other) => cost(one) - cost(other))[0] ?? [];
}

export function hertz(pitch: number): number {
  return 440 * 2 ** ((pitch - 69) / 12);
}

/** Steps of the scale, a bar each. What is asked for home in the end begins there. */
export const PROGRESSIONS: Readonly<Record<Mode, readonly [readonly number[], ...(readonly number[])[]]>> = {
  major: [
    [0, 4, 5, 3],
    [0, 5, 3, 4],
    [0, 3, 4, 3],
    [0, 2, 3, 4],
    [3, 4, 2, 5],
    [0, 3, 5, 4],
    [5, 3, 0, 4],
  ],
  minor: [
    [0, 5, 2, 6],
    [0, 3, 5, 4],
    [0, 6, 5, 4],
    [0, 5, 3, 4],
    [0, 2, 6, 3],
    [5, 6, 0, 0],
  ],
  dorian: [
    [0, 3, 0, 3],
    [0, 6, 3, 0],
    [0, 3, 6, 3],
    [0, 1, 3, 6],
  ],
  phrygian: [
    [0, 1, 0, 6],
    [0, 5, 1, 0],
    [0, 1, 5, 6],
  ],
};

/** The turns that jazz lives of. */
export const JAZZ_PROGRESSIONS: readonly [readonly number[], ...(readonly number[])[]] = [
  [1, 4, 0, 5],
  [0, 5, 1, 4],
  [2, 5, 1, 4],
  [0, 3, 1, 4],
];
