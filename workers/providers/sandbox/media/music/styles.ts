/** Styles of music, chosen by words of the prompt or else by the seed. */
import type { Random } from "../../random.ts";
import type { DrumName, ToneName } from "./synth.ts";

export interface Style {
  readonly keywords: RegExp;
  /** Range of the tempo, in beats per minute. */
  readonly tempo: readonly [min: number, max: number];
  /** Percentage of pieces of this style that are in a minor key. */
  readonly minorPercent: number;
  readonly tones: Readonly<Record<"lead" | "chords" | "bass", ToneName>>;
  /** Beats of a bar on which a chord or a bass note begins. */
  readonly beats: Readonly<Record<"chords" | "bass", readonly number[]>>;
  /** Notes of a chord, as steps of the scale above its root. */
  readonly chord: readonly number[];
  /** Drum pattern of a bar in sixteenths. `X` is a loud beat, `x` a soft one. */
  readonly drums: Partial<Readonly<Record<DrumName, string>>>;
}

const STYLES: readonly [Style, ...Style[]] = [
  {
    keywords: /\b(calm|ambient|soft|gentle|lullaby|relax\w*|meditat\w*|sleep\w*|piano|acoustic|folk|waltz|slow|sad)\b/,
    tempo: [64, 84],
    minorPercent: 40,
    tones: { lead: "piano", chords: "pad", bass: "pad" },
    beats: { chords: [0], bass: [0, 2] },
    chord: [0, 2, 4],
    drums: {},
  },
  {
    keywords: /\b(rock|metal|punk|guitar|pop|blues|country|indie|energetic|drums)\b/,
    tempo: [104, 140],
    minorPercent: 40,
    tones: { lead: "pluck", chords: "organ", bass: "bass" },
    beats: { chords: [0, 1.5, 2, 3.5], bass: [0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5] },
    chord: [0, 2, 4],
    drums: { kick: "X.......X.X.....", snare: "....X.......X...", hat: "x.x.x.x.x.x.x.x." },
  },
  {
    keywords: /\b(electronic\w*|techno|house|trance|synth\w*|edm|dance|club|beat|8-bit|chiptune|trap|hip[- ]?hop)\b/,
    tempo: [118, 132],
    minorPercent: 75,
    tones: { lead: "synth", chords: "organ", bass: "bass" },
    beats: { chords: [0.5, 1.5, 2.5, 3.5], bass: [0.5, 1, 1.5, 2.5, 3, 3.5] },
    chord: [0, 2, 4],
    drums: { kick: "X...X...X...X...", snare: "....x.......x...", hat: "..X...X...X...Xx" },
  },
  {
    keywords: /\b(jazz\w*|swing|bossa|blue|lounge|saxophone|trumpet|funk|soul|reggae)\b/,
    tempo: [92, 132],
    minorPercent: 30,
    tones: { lead: "brass", chords: "piano", bass: "pluck" },
    beats: { chords: [0.5, 2.5], bass: [0, 1, 2, 3] },
    chord: [0, 2, 4, 6],
    drums: { kick: "x.........x.....", snare: "......x.......x.", hat: "X...x.x.X...x.x." },
  },
  {
    keywords: /\b(orchestr\w*|symphon\w*|classical|cinematic|epic|film|strings|violin|dramatic|score|march|choir)\b/,
    tempo: [72, 104],
    minorPercent: 60,
    tones: { lead: "strings", chords: "strings", bass: "strings" },
    beats: { chords: [0, 2], bass: [0, 2] },
    chord: [0, 2, 4],
    drums: { kick: "X.............x." },
  },
];

/**
 * Returns the style that the prompt names, or else a style chosen by the seed.
 * @param text prompt in lower case
 */
export function chooseStyle(text: string, random: Random): Style {
  const usual = random.pick(STYLES);
  return STYLES.find(({ keywords }) => keywords.test(text)) ?? usual;
}
