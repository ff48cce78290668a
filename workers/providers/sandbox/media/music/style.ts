/** What a prompt's words say of the music: time, tempo, key, who plays and how. What they leave open the seed decides. */
import type { Random } from "../../random.ts";
import { CALM, GENRES, POP } from "./genres.ts";
import type { InstrumentName } from "./instruments.ts";
import type { Bassline, Comping, GrooveName } from "./patterns.ts";
import type { Key, Mode } from "./theory.ts";

export interface Style {
  readonly beatsPerBar: 3 | 4;
  /** Beats a minute, before the piece is fitted to its length. */
  readonly tempo: number;
  readonly key: Key;
  readonly groove: GrooveName | null;
  readonly comping: Comping;
  readonly bassline: Bassline | null;
  readonly players: {
    readonly lead: InstrumentName;
    readonly chords: InstrumentName;
    readonly bass: InstrumentName;
    /** Holds the chords behind all. */
    readonly pad: InstrumentName | null;
  };
  /** Every second eighth comes later by this share of it. */
  readonly swing: number;
  readonly hasSevenths: boolean;
  readonly isJazz: boolean;
  /** Of melodies: 0 long notes, 1 many. */
  readonly liveliness: number;
  /** How far the rest gives way to the kick, 0 to 1. */
  readonly pumping: number;
  /** 0 dry, 1 a cathedral. */
  readonly hall: number;
}

interface Mood {
  readonly words: RegExp;
  readonly tempo: number;
  readonly modes?: readonly [Mode, ...Mode[]];
  readonly liveliness?: number;
}

/** All that the prompt names. */
const MOODS: readonly Mood[] = [
  {
    words: /\b(sad\w*|melanchol\w*|lonely|tragic|heartbreak|sorrow\w*|mourn\w*|tears)\b/,
    tempo: 0.9,
    modes: ["minor"],
    liveliness: -0.15,
  },
  {
    words: /\b(dark|scary|horror|ominous|tense|sinister|creepy|mysterious|villain|halloween)\b/,
    tempo: 0.95,
    modes: ["minor", "phrygian"],
  },
  {
    words: /\b(happy|joyful|cheerful|upbeat|bright|sunny|uplifting|playful|fun|funny|christmas|birthday|summer)\b/,
    tempo: 1.06,
    modes: ["major"],
    liveliness: 0.15,
  },
  { words: /\b(calm\w*|slow\w*|gentle|peaceful|sleepy|soothing|tender|soft\w*)\b/, tempo: 0.9, liveliness: -0.2 },
  {
    words: /\b(fast|energetic|driving|intense|powerful|aggressive|exciting|workout|chase|hype)\b/,
    tempo: 1.12,
    liveliness: 0.2,
  },
];

const INSTRUMENTS: readonly (readonly [RegExp, InstrumentName])[] = [
  [/\bpiano\b/, "piano"],
  [/\b(electric|distorted) guitar\b|\bguitar solo\b/, "overdrive"],
  [/\b(guitar|ukulele|banjo|lute)\b/, "nylon"],
  [/\b(violin|fiddle)\b/, "violin"],
  [/\bcello\b/, "cello"],
  [/\b(strings?|orchestra\w*)\b/, "strings"],
  [/\b(flute|whistle|recorder|ocarina|pan ?pipes?)\b/, "flute"],
  [/\bmusic ?box\b/, "musicBox"],
  [/\b(bells?|chimes?)\b/, "bell"],
  [/\b(celesta|glockenspiel|xylophone|kalimba)\b/, "celesta"],
  [/\b(marimba|vibraphone|vibes)\b/, "vibraphone"],
  [/\b(organ|church)\b/, "organ"],
  [/\b(accordion|harmonica)\b/, "accordion"],
  [/\b(trumpet|brass|horns?|trombone|fanfare)\b/, "brass"],
  [/\b(sax|saxophone|clarinet)\b/, "saxophone"],
  [/\bharp\b/, "harp"],
  [/\b(choir|vocals?|voices|chant)\b/, "choir"],
  [/\bsynth\w*\b/, "sawLead"],
];

const NOTES: Readonly<Record<string, number>> = { c: 0, d: 2, e: 4, f: 5, g: 7, a: 9, b: 11 };
const TEMPO_MIN = 50;
const TEMPO_MAX = 180;

/** Without one of them a house or a rock in the prompt of a video is no kind of music. */
const MUSICAL = /\b(music\w*|song|soundtrack|melody|tune|beats?|band|orchestra|concert)\b/;

/** @param text in small letters. @param purpose music is listened to; a soundtrack is calm unless the text speaks of music */
export function chooseStyle(text: string, random: Random, purpose: "music" | "soundtrack"): Style {
  const isMusic = purpose === "music" || MUSICAL.test(text);
  const named = isMusic ? GENRES.find(({ words }) => words.test(text)) : undefined;
  const genre = named ?? (isMusic ? POP : CALM);
  const moods = MOODS.filter(({ words }) => words.test(text));
  const modes = moods.find(({ modes }) => modes !== undefined)?.modes ?? genre.modes;
  const [slowest, fastest] = genre.tempo;
  const drawn = slowest + random.below(fastest - slowest + 1);
  const moved = moods.reduce((tempo, mood) => tempo * mood.tempo, drawn);
  const told = Number(/\b(\d{2,3}) ?bpm\b/.exec(text)?.[1] ?? moved);
  const lead = INSTRUMENTS.find(([words]) => words.test(text))?.[1] ?? random.pick(genre.leads);
  const isSolo = /\b(solo|a ?cappella|unaccompanied)\b/.test(text);
  const hasDrums = !isSolo && !/\b(no|without) (drums?|beat|percussion)\b|\bdrumless\b/.test(text);
  return {
    beatsPerBar: genre.beats ?? 4,
    tempo: Math.max(TEMPO_MIN, Math.min(TEMPO_MAX, told)),
    key: readKey(text) ?? { tonic: random.below(12), mode: random.pick(modes) },
    groove: hasDrums ? genre.groove : null,
    comping: random.pick(genre.comping),
    bassline: genre.bassline,
    players: {
      lead,
      chords: isSolo ? lead : random.pick(genre.chords),
      bass: isSolo ? lead : genre.bass,
      pad: isSolo ? null : genre.pad,
    },
    swing: genre.swing ?? 0,
    hasSevenths: genre.hasSevenths === true,
    isJazz: genre.isJazz === true,
    liveliness: Math.max(
      0,
      Math.min(
        1,
        moods.reduce((sum, mood) => sum + (mood.liveliness ?? 0), genre.liveliness),
      ),
    ),
    pumping: genre.pumping ?? 0,
    hall: genre.hall,
  };
}

/** Such as "in F sharp minor". */
function readKey(text: string): Key | null {
  const [, note, sign = "", mode] = /\b([a-g])[ -]?(#|♯|sharp|b|♭|flat)? (major|minor)\b/.exec(text) ?? [];
  const natural = NOTES[note ?? ""];
  if (natural === undefined || (mode !== "major" && mode !== "minor")) return null;
  const shift = /[#♯]|sharp/.test(sign) ? 1 : sign === "" ? 0 : -1;
  return { tonic: (natural + shift + 12) % 12, mode };
}
