/** Score of a piece of music: tempo, key, chords and melody, from a prompt and a seed. */
import type { Random } from "../../random.ts";

import { chooseStyle, type Style } from "./styles.ts";

export interface Score {
  readonly style: Style;
  readonly beatSeconds: number;
  /** MIDI numbers of the scale's seven notes. */
  readonly scale: readonly number[];
  /** Verse and chorus: a chord for each of four bars, and a melody of two bars that follows the chords. */
  readonly parts: readonly { readonly chords: readonly number[]; readonly melody: readonly MelodyNote[] }[];
}

export interface MelodyNote {
  /** Beat within the two bars, 0 to 8. */
  readonly beat: number;
  readonly beats: number;
  /** Steps of the scale above the chord's root. */
  readonly step: number;
}

type Choice = readonly [readonly number[], ...(readonly number[])[]];

const MAJOR = [0, 2, 4, 5, 7, 9, 11];
const MINOR = [0, 2, 3, 5, 7, 8, 10];
/** Progressions of chord roots, as steps of the scale. */
const PROGRESSIONS: Choice = [
  [0, 4, 5, 3],
  [5, 3, 0, 4],
  [0, 5, 3, 4],
  [0, 3, 1, 4],
  [3, 4, 2, 5],
];
/** Rhythms, as beats of a bar. */
const RHYTHMS: Choice = [
  [0, 1, 2, 3],
  [0, 1.5, 2, 3],
  [0, 0.5, 1, 2, 3.5],
  [0, 1, 1.5, 2.5],
  [0, 2, 2.5, 3],
];

/** @param text in lower case */
export function writeScore(text: string, random: Random): Score {
  const style = chooseStyle(text, random);
  const [slowest, fastest] = style.tempo;
  const tempo = Number(/\b(\d{2,3}) ?bpm\b/.exec(text)?.[1] ?? slowest + random.below(fastest - slowest + 1));
  const minorPercent = /\b(sad|dark|minor|melancholic)\b/.test(text) ? 100 : style.minorPercent;
  const isMinor = random.below(100) < (/\b(happy|cheerful|major|bright)\b/.test(text) ? 0 : minorPercent);
  const tonic = 52 + random.below(9);
  return {
    style,
    beatSeconds: 60 / Math.max(40, Math.min(220, tempo)),
    scale: (isMinor ? MINOR : MAJOR).map((interval) => tonic + interval),
    parts: [0, 1].map(() => ({ chords: random.pick(PROGRESSIONS), melody: writeMelody(random) })),
  };
}

/** Writes a melody: notes of the chord on the first and third beat, with steps up or down between them. */
function writeMelody(random: Random): MelodyNote[] {
  const starts = [0, 4].flatMap((bar) => random.pick(RHYTHMS).map((beat) => bar + beat));
  let step = 0;
  return starts.map((beat, index) => {
    step = beat % 2 === 0 ? random.pick([0, 2, 4, 7]) : step + random.pick([-1, 1]);
    return { beat, beats: (starts[index + 1] ?? 8) - beat, step };
  });
}
