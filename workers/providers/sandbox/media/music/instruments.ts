/** The band: what each instrument sounds like, where it sits and how loud it is. */
import type { Held, Tone } from "./tones.ts";

const saw = (number: number): number => 1 / number;
const hollow = (number: number): number => (number % 2 === 1 ? 1 / number : 0);
const sine = (number: number): number => (number === 1 ? 1 : number === 2 ? 0.12 : 0);
/** A throat or a wooden body: some frequencies stand out, whatever the pitch. */
const body =
  (tilt: number, ...peaks: readonly (readonly [hertz: number, width: number, gain: number])[]) =>
  (number: number, hertz: number): number =>
    number ** -tilt *
    (0.25 + peaks.reduce((sum, [peak, width, gain]) => sum + gain * Math.exp(-(((hertz - peak) / width) ** 2)), 0));

const held = (spec: Omit<Held, "kind">): Held => ({ kind: "held", ...spec });

const TONES = {
  piano: {
    kind: "struck",
    partials: [
      [1, 0.62, 1.5],
      [2, 0.42, 1],
      [3, 0.24, 0.75],
      [4, 0.17, 0.55],
      [5, 0.1, 0.42],
      [6, 0.08, 0.34],
      [7, 0.05, 0.26],
      [8, 0.035, 0.2],
      [10, 0.02, 0.14],
      [12, 0.012, 0.1],
    ],
    stiffness: 0.000_4,
    blow: 0.28,
    release: 0.25,
  },
  electricPiano: {
    kind: "struck",
    partials: [
      [1, 0.8, 1.5],
      [2, 0.18, 0.9],
      [3, 0.1, 0.5],
      [7.02, 0.1, 0.12],
      [14.1, 0.05, 0.05],
    ],
    blow: 0.06,
    release: 0.2,
  },
  vibraphone: {
    kind: "struck",
    partials: [
      [1, 0.8, 1.6],
      [3.98, 0.22, 0.5],
      [10.1, 0.05, 0.12],
    ],
    blow: 0.08,
    release: 0.5,
  },
  celesta: {
    kind: "struck",
    partials: [
      [1, 0.65, 0.9],
      [2, 0.2, 0.7],
      [4.02, 0.16, 0.3],
      [6.9, 0.06, 0.12],
    ],
    blow: 0.1,
    release: 0.6,
  },
  musicBox: {
    kind: "struck",
    partials: [
      [2, 0.6, 0.9],
      [4.1, 0.12, 0.35],
      [5.4, 0.16, 0.5],
      [12.3, 0.02, 0.08],
    ],
    blow: 0.08,
    release: 0.7,
  },
  bell: {
    kind: "struck",
    partials: [
      [0.5, 0.16, 2.2],
      [1, 0.55, 2.4],
      [1.19, 0.16, 1.6],
      [2, 0.22, 1.4],
      [2.74, 0.12, 0.8],
      [3.76, 0.06, 0.45],
    ],
    blow: 0.06,
    release: 1.6,
  },
  uprightBass: {
    kind: "struck",
    partials: [
      [1, 0.85, 0.9],
      [2, 0.4, 0.4],
      [3, 0.18, 0.22],
      [4, 0.08, 0.12],
    ],
    blow: 0.3,
    release: 0.12,
  },
  steelGuitar: { kind: "plucked", brightness: 0.75, ring: 2.6, release: 0.18 },
  nylon: { kind: "plucked", brightness: 0.4, ring: 2, release: 0.2 },
  harp: { kind: "plucked", brightness: 0.5, ring: 3, release: 0.9 },
  clavinet: { kind: "plucked", brightness: 0.95, ring: 0.9, release: 0.05 },
  pickBass: { kind: "plucked", brightness: 0.45, ring: 2.2, release: 0.08 },
  roundBass: held({
    partial: (number) => (number === 1 ? 1 : number === 2 ? 0.35 : 0.25 / number ** 2),
    darkness: 0.6,
    brightness: [0.9, 0.1, 0.12],
    voices: [0],
    envelope: [0.006, 0.5, 0.45, 0.08],
  }),
  subBass: held({
    partial: sine,
    darkness: 0.4,
    brightness: [0.6, 0.2, 0.2],
    voices: [0],
    envelope: [0.02, 1.2, 0.6, 0.2],
    drive: 1.2,
  }),
  sawBass: held({
    partial: saw,
    darkness: 0.35,
    brightness: [0.85, 0.08, 0.09],
    voices: [-4, 4],
    envelope: [0.004, 0.25, 0.5, 0.05],
  }),
  squareBass: held({
    partial: hollow,
    darkness: 0.15,
    brightness: [0.6, 0.5, 1],
    voices: [0],
    envelope: [0.002, 0.3, 0.6, 0.02],
  }),
  cello: held({
    partial: body(0.8, [220, 120, 0.9], [600, 250, 0.5], [1_400, 500, 0.25]),
    darkness: 0.18,
    brightness: [0.3, 0.7, 0.2],
    voices: [-5, 4],
    envelope: [0.09, 2, 0.85, 0.3],
    vibrato: { hertz: 5.1, cents: 9, afterSeconds: 0.3 },
    breath: 0.02,
  }),
  strings: held({
    partial: body(0.9, [400, 250, 0.5], [1_100, 500, 0.4], [2_600, 900, 0.25]),
    darkness: 0.12,
    brightness: [0.25, 0.6, 0.4],
    voices: [-9, 0, 8],
    envelope: [0.22, 2, 0.9, 0.5],
    vibrato: { hertz: 4.8, cents: 5, afterSeconds: 0.3 },
  }),
  violin: held({
    partial: body(0.75, [480, 200, 0.7], [1_000, 350, 0.6], [2_900, 900, 0.45]),
    darkness: 0.14,
    brightness: [0.35, 0.85, 0.15],
    voices: [0],
    envelope: [0.07, 2, 0.9, 0.16],
    vibrato: { hertz: 5.6, cents: 16, afterSeconds: 0.18 },
    breath: 0.025,
  }),
  choir: held({
    partial: body(0.6, [680, 160, 1.4], [1_150, 220, 0.8], [2_700, 500, 0.3]),
    darkness: 0.1,
    brightness: [0.4, 0.7, 0.6],
    voices: [-11, -2, 9],
    envelope: [0.3, 2, 0.95, 0.7],
    vibrato: { hertz: 4.7, cents: 9, afterSeconds: 0.4 },
    breath: 0.05,
  }),
  pad: held({
    partial: saw,
    darkness: 0.4,
    brightness: [0.1, 0.42, 1.2],
    voices: [-10, 1, 11],
    envelope: [0.35, 3, 0.9, 0.8],
  }),
  organ: held({
    partial: (number) => [1, 0.8, 0.5, 0.55, 0, 0.3, 0, 0.3][number - 1] ?? 0,
    darkness: 0.1,
    brightness: [0.7, 0.7, 1],
    voices: [-3, 3],
    envelope: [0.015, 1, 1, 0.08],
  }),
  accordion: held({
    partial: (number) => (number < 20 ? number ** -0.8 : 0),
    darkness: 0.15,
    brightness: [0.5, 0.75, 0.15],
    voices: [-7, 7],
    envelope: [0.045, 1, 0.95, 0.09],
  }),
  flute: held({
    partial: (number) => [1, 0.42, 0.2, 0.06, 0.03][number - 1] ?? 0,
    darkness: 0.5,
    brightness: [0.3, 0.8, 0.1],
    voices: [0],
    envelope: [0.06, 2, 0.9, 0.12],
    vibrato: { hertz: 5, cents: 10, afterSeconds: 0.25 },
    breath: 0.11,
  }),
  saxophone: held({
    partial: body(0.7, [520, 220, 0.9], [1_200, 400, 0.7], [2_400, 700, 0.3]),
    darkness: 0.22,
    brightness: [0.2, 0.8, 0.07],
    voices: [0],
    envelope: [0.045, 1.5, 0.85, 0.1],
    vibrato: { hertz: 5.2, cents: 14, afterSeconds: 0.28 },
    breath: 0.09,
  }),
  brass: held({
    partial: (number, hertz) => number ** -0.7 * Math.exp(-hertz / 3_600),
    darkness: 0.35,
    brightness: [0, 0.9, 0.09],
    voices: [-4, 5],
    envelope: [0.04, 1.2, 0.8, 0.12],
    vibrato: { hertz: 5, cents: 6, afterSeconds: 0.4 },
  }),
  sawLead: held({
    partial: saw,
    darkness: 0.22,
    brightness: [0.9, 0.45, 0.3],
    voices: [-8, 0, 8],
    envelope: [0.008, 0.6, 0.7, 0.18],
    vibrato: { hertz: 5.4, cents: 8, afterSeconds: 0.3 },
  }),
  mellowLead: held({
    partial: hollow,
    darkness: 0.4,
    brightness: [0.7, 0.3, 0.25],
    voices: [-4, 4],
    envelope: [0.015, 0.8, 0.65, 0.2],
    vibrato: { hertz: 5, cents: 9, afterSeconds: 0.25 },
  }),
  pluckSynth: held({
    partial: saw,
    darkness: 0.3,
    brightness: [1, 0.02, 0.13],
    voices: [-6, 6],
    envelope: [0.003, 0.28, 0.08, 0.25],
  }),
  stab: held({
    partial: saw,
    darkness: 0.3,
    brightness: [0.8, 0.12, 0.12],
    voices: [-9, 0, 9],
    envelope: [0.004, 0.3, 0.35, 0.16],
  }),
  square: held({
    partial: hollow,
    darkness: 0.08,
    brightness: [0.75, 0.75, 1],
    voices: [0],
    envelope: [0.002, 0.5, 0.6, 0.03],
    vibrato: { hertz: 6, cents: 14, afterSeconds: 0.2 },
  }),
  softSquare: held({
    partial: (number) => Math.sin(Math.PI * number * 0.25) / number,
    darkness: 0.08,
    brightness: [0.5, 0.4, 0.2],
    voices: [0],
    envelope: [0.002, 0.2, 0.35, 0.03],
  }),
  crunch: held({
    partial: (number, hertz) => saw(number) * Math.exp(-hertz / 4_500),
    darkness: 0.15,
    brightness: [0.8, 0.5, 0.4],
    voices: [-6, 6],
    envelope: [0.006, 1.4, 0.6, 0.1],
    drive: 2.4,
  }),
  overdrive: held({
    partial: (number, hertz) => saw(number) * Math.exp(-hertz / 4_000),
    darkness: 0.12,
    brightness: [0.7, 0.7, 1],
    voices: [0],
    envelope: [0.008, 2, 0.85, 0.14],
    vibrato: { hertz: 5.8, cents: 18, afterSeconds: 0.3 },
    drive: 3,
  }),
} as const satisfies Record<string, Tone>;

export type InstrumentName = keyof typeof TONES;

export interface Instrument {
  readonly tone: Tone;
  /** So that all are about equally loud. */
  readonly gain: number;
  /** Octaves from where a melody is written to where the instrument lives. */
  readonly octave: number;
}

/** Brings a note of each to about -10 LUFS where it plays, held ones to a little more than those that fade. */
const GAINS: Readonly<Record<InstrumentName, number>> = {
  piano: 0.68,
  electricPiano: 0.65,
  vibraphone: 0.65,
  celesta: 0.9,
  musicBox: 0.95,
  bell: 0.7,
  uprightBass: 0.65,
  steelGuitar: 2.5,
  nylon: 2.6,
  harp: 2.5,
  clavinet: 2.2,
  pickBass: 1.7,
  roundBass: 1.2,
  subBass: 0.95,
  sawBass: 2.1,
  squareBass: 1.1,
  cello: 0.65,
  strings: 0.86,
  violin: 0.82,
  choir: 0.95,
  pad: 1,
  organ: 0.8,
  accordion: 0.79,
  flute: 0.87,
  saxophone: 0.83,
  brass: 0.83,
  sawLead: 0.9,
  mellowLead: 0.95,
  pluckSynth: 1.4,
  stab: 1.05,
  square: 0.75,
  softSquare: 1.2,
  crunch: 0.5,
  overdrive: 0.42,
};
const OCTAVES: Readonly<Partial<Record<InstrumentName, number>>> = {
  flute: 1,
  celesta: 1,
  bell: 1,
  cello: -1,
};

export function instrument(name: InstrumentName): Instrument {
  return { tone: TONES[name], gain: GAINS[name], octave: OCTAVES[name] ?? 0 };
}
