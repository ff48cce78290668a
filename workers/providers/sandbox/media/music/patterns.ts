/** What hands and feet play in a bar, as steps of a sixteenth: 16 of them in four-four time, 12 in three-four. */

/** `x` is loud, `o` usual, `-` soft, `.` nothing. */
type Steps = string;

export type Drum =
  | "kick"
  | "snare"
  | "clap"
  | "hat"
  | "open"
  | "ride"
  | "crash"
  | "tom"
  | "rim"
  | "shaker"
  | "brush"
  | "timpani";

export type Groove = Readonly<Partial<Record<Drum, Steps>>>;

/** Grooves without three beats of their own are played in four. */
export const GROOVES = {
  pop: { kick: "x.....o.x.......", snare: "....x.......x...", hat: "o.-.o.-.o.-.o.-." },
  rock: { kick: "x.....o.x.x.....", snare: "....x.......x...", hat: "x.o.x.o.x.o.x.o." },
  house: { kick: "x...x...x...x...", clap: "....x.......x...", open: "..o...o...o...o.", shaker: "--.---.---.---.-" },
  techno: {
    kick: "x...x...x...x...",
    clap: "....o.......o...",
    hat: "..x.-.x.-.x.-.x.",
    rim: "...-..-....-..-.",
    tom: "..............-.",
  },
  boombap: { kick: "x......o..x.....", snare: "....x.......x...", hat: "o.-.o.-.o.-.o--." },
  trap: { kick: "x.....x....x....", clap: "........x.......", hat: "o-o-o-o-o-ooo-o-", open: "..............-." },
  swing: { ride: "x...o.o.x...o.o.", hat: "....-.......-...", kick: "-.......-.......", brush: "......-.....-..." },
  funk: { kick: "x..x......x..o..", snare: "....x..-.-..x..-", hat: "o-o-o-o-o-o-o-o-" },
  reggae: { kick: "........x.......", rim: "........x.....-.", hat: "o.-.o.-.o.-.o.-." },
  bossa: { kick: "o..-o..-o..-o..-", rim: "x..x..x...x..x..", shaker: "o---o---o---o---" },
  march: { kick: "x.......x.......", snare: "o..-o.--o..-o-o-", crash: "" },
  epic: { timpani: "x.....o.x...o...", tom: "..o.o...o.o...oo", kick: "o.......o......." },
  brushes: { kick: "-.......-.......", brush: "..-.o.-...-.o.-.", shaker: "-.-.-.-.-.-.-.-." },
  chip: { kick: "x...o...x...o...", snare: "....x.......x..-", hat: "o.o.o.o.o.o.o.o." },
  waltz: { kick: "-...........", brush: "....o...o...", ride: "..........-." },
} as const satisfies Record<string, Groove>;

export type GrooveName = keyof typeof GROOVES;

/** How loud a step is, 0 for nothing. */
export function loudness(step: string | undefined): number {
  return step === "x" ? 1 : step === "o" ? 0.7 : step === "-" ? 0.4 : 0;
}

/** How the chords of a bar are played. */
export type Comping = "hold" | "pulse" | "offbeats" | "stabs" | "arpeggio" | "ripple" | "oompah" | "strum" | "comp";

/** For all but those that hold or go through the chord note by note: where it sounds. */
export const COMPING_STEPS: Readonly<Record<Exclude<Comping, "hold" | "arpeggio" | "ripple">, Steps>> = {
  pulse: "o...-...o...-...",
  offbeats: "....o.......o...",
  stabs: "x..o..-...x..o..",
  oompah: "....o...-...",
  strum: "x...o.-..-o.o.-.",
  comp: "o.....-...-.....",
};

/** What the bass plays: the chord's root, its fifth, the octave, or steps towards the next root. */
export type Bassline = "root" | "fifths" | "eighths" | "offbeats" | "octaves" | "walk" | "syncopated" | "rolling";

/** `1` root, `5` fifth, `8` octave, `w` a step of a walk. A note lasts until the next one. */
export const BASS_STEPS: Readonly<Record<Bassline, Steps>> = {
  root: "1...............",
  fifths: "1.......5.......",
  eighths: "1.1.1.1.1.1.1.1.",
  offbeats: "..1...1...1...1.",
  octaves: "1...8...1...8.8.",
  walk: "w...w...w...w...",
  syncopated: "1..1..8...1.5...",
  rolling: ".111.111.111.118",
};

/** Lengths of a melody's notes in eighths, adding up to a bar; below 0 is a rest. */
export const RHYTHMS = {
  4: {
    calm: [[4, 4], [6, 2], [-2, 2, 4], [4, 2, 2], [8], [-4, 4]],
    lively: [
      [2, 2, 2, 2],
      [3, 1, 2, 2],
      [3, 3, 2],
      [1, 1, 2, 4],
      [2, 1, 1, 4],
      [-1, 1, 2, 2, 2],
      [4, 2, 2],
      [-2, 1, 1, 2, 2],
    ],
    ending: [[4, -4], [8], [2, 6], [3, 5]],
  },
  3: {
    calm: [[6], [4, 2], [2, 4], [-2, 4]],
    lively: [
      [2, 2, 2],
      [3, 1, 2],
      [2, 1, 1, 2],
      [4, 2],
      [1, 1, 2, 2],
    ],
    ending: [[6], [4, -2]],
  },
} as const;
