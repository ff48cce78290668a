/** How each thing moves: a table of ways, and who goes which. Lengths are in sizes of the thing itself. */

/** What a way of moving may depend on. */
export interface Moment {
  /** Since the film's beginning. */
  readonly seconds: number;
  /** 0 to 1, another for each thing, so that they do not move in step. */
  readonly phase: number;
}

export interface Pose {
  /** From where it was placed, in its own sizes; y goes down. */
  readonly x?: number;
  readonly y?: number;
  readonly scaleX?: number;
  readonly scaleY?: number;
  /** Radians. */
  readonly turn?: number;
  readonly lean?: number;
}

export interface Way {
  readonly pose: (moment: Moment) => Pose;
  /** Sizes a second through the picture, in at one side when it has left at the other. */
  readonly speed?: number;
  /** Sizes a second upwards. */
  readonly climb?: number;
}

const wave = (seconds: number, period: number, phase = 0): number => Math.sin(2 * Math.PI * (seconds / period + phase));
/** Up and down as by jumping: 0 on the ground, 1 at the top. */
const jump = (seconds: number, period: number, phase = 0): number => Math.abs(wave(seconds, 2 * period, phase));

const WAYS = {
  still: { pose: () => ({}) },
  sway: {
    pose: ({ seconds, phase }) => ({ lean: 0.045 * wave(seconds, 3.4, phase) + 0.02 * wave(seconds, 1.3, phase) }),
  },
  breathe: {
    pose: ({ seconds, phase }) => ({
      scaleX: 1 + 0.02 * wave(seconds, 3, phase),
      scaleY: 1 + 0.03 * wave(seconds, 3, phase + 0.2),
    }),
  },
  float: {
    pose: ({ seconds, phase }) => ({
      y: 0.05 * wave(seconds, 3.2, phase) - 0.06,
      turn: 0.08 * wave(seconds, 4.4, phase),
    }),
  },
  beat: {
    pose: ({ seconds, phase }) => {
      const scale = 1 + 0.1 * Math.max(0, wave(seconds, 0.9, phase)) ** 3;
      return { scaleX: scale, scaleY: scale };
    },
  },
  bounce: {
    pose: ({ seconds, phase }) => {
      const height = jump(seconds, 0.8, phase);
      const squash = 0.14 * Math.max(0, 1 - 6 * height);
      return { y: -0.85 * height, scaleX: 1 + squash, scaleY: 1 - squash, turn: 1.6 * seconds };
    },
  },
  spin: { pose: ({ seconds, phase }) => ({ turn: 0.22 * seconds, y: 0.02 * wave(seconds, 5, phase) }) },
  twinkle: {
    pose: ({ seconds, phase }) => {
      const scale = 1 + 0.12 * wave(seconds, 1.7, phase);
      return { scaleX: scale, scaleY: scale, turn: 0.25 * wave(seconds, 3.8, phase) };
    },
  },
  rise: { pose: ({ seconds, phase }) => ({ y: 0.02 * wave(seconds, 4, phase) }), climb: 0.025 },
  drift: { pose: ({ seconds, phase }) => ({ y: 0.02 * wave(seconds, 5, phase) }), speed: 0.12 },
  hover: {
    pose: ({ seconds, phase }) => ({
      x: 0.12 * wave(seconds, 7, phase),
      y: 0.06 * wave(seconds, 4, phase),
      turn: 0.04 * wave(seconds, 5, phase),
    }),
    climb: 0.045,
  },
  fly: {
    pose: ({ seconds, phase }) => ({
      y: 0.22 * wave(seconds, 2.7, phase),
      scaleY: 1 + 0.16 * wave(seconds, 0.42, phase),
      turn: 0.08 * wave(seconds, 2.7, phase + 0.25),
    }),
    speed: 0.75,
  },
  flutter: {
    pose: ({ seconds, phase }) => ({
      x: 0.5 * wave(seconds, 4.1, phase),
      y: 0.35 * wave(seconds, 2.3, phase) + 0.06 * wave(seconds, 0.3, phase),
      scaleX: 0.35 + 0.65 * jump(seconds, 0.2, phase),
      turn: 0.25 * wave(seconds, 4.1, phase),
    }),
  },
  soar: {
    pose: ({ seconds, phase }) => ({
      x: 0.25 * wave(seconds, 6, phase),
      y: 0.12 * wave(seconds, 3.1, phase),
      turn: 0.3 * wave(seconds, 3.7, phase),
    }),
  },
  cruise: {
    pose: ({ seconds, phase }) => ({ y: 0.03 * wave(seconds, 3, phase), turn: -0.05 }),
    speed: 0.55,
    climb: 0.02,
  },
  launch: {
    pose: ({ seconds, phase }) => ({ x: 0.006 * wave(seconds, 0.11, phase), turn: 0.03 * wave(seconds, 2.9, phase) }),
    climb: 0.09,
  },
  hop: {
    pose: ({ seconds, phase }) => {
      const height = jump(seconds, 0.55, phase) * (wave(seconds, 3.3, phase) > -0.2 ? 1 : 0.12);
      const squash = 0.07 * Math.max(0, 1 - 5 * height);
      return { y: -0.16 * height, scaleX: 1 + squash, scaleY: 1 - squash, turn: 0.04 * wave(seconds, 1.1, phase) };
    },
    speed: 0.09,
  },
  walk: {
    pose: ({ seconds, phase }) => ({
      y: -0.035 * jump(seconds, 0.36, phase),
      turn: 0.045 * wave(seconds, 0.72, phase),
    }),
    speed: 0.2,
  },
  drive: {
    pose: ({ seconds, phase }) => ({ y: -0.008 * jump(seconds, 0.21, phase), turn: 0.006 * wave(seconds, 0.5, phase) }),
    speed: 0.6,
  },
  bob: {
    pose: ({ seconds, phase }) => ({ y: 0.03 * wave(seconds, 3.1, phase), turn: 0.06 * wave(seconds, 4.3, phase) }),
    speed: 0.05,
  },
  swim: {
    pose: ({ seconds, phase }) => ({
      y: 0.1 * wave(seconds, 2.9, phase),
      scaleX: 1 + 0.05 * wave(seconds, 0.6, phase),
      turn: 0.07 * wave(seconds, 1.3, phase),
    }),
    speed: 0.3,
  },
} as const satisfies Record<string, Way>;

const WAY_OF: Readonly<Record<string, keyof typeof WAYS>> = {
  sun: "spin",
  moon: "rise",
  star: "twinkle",
  cloud: "drift",
  rainbow: "still",
  balloon: "hover",
  bird: "fly",
  butterfly: "flutter",
  kite: "soar",
  plane: "cruise",
  rocket: "launch",
  heart: "beat",
  tree: "sway",
  pine: "sway",
  palm: "sway",
  flower: "sway",
  mushroom: "breathe",
  umbrella: "sway",
  house: "still",
  castle: "still",
  lighthouse: "still",
  tent: "still",
  cat: "hop",
  dog: "hop",
  rabbit: "hop",
  horse: "walk",
  person: "walk",
  robot: "walk",
  car: "drive",
  bicycle: "drive",
  boat: "bob",
  duck: "bob",
  whale: "bob",
  fish: "swim",
  ball: "bounce",
  cup: "breathe",
  cake: "breathe",
  book: "breathe",
  apple: "breathe",
  guitar: "sway",
};
const USUAL: keyof typeof WAYS = "float";

/** Who is drawn looking to the left. */
const LEFT: ReadonlySet<string> = new Set(["fish", "whale"]);

export function wayOf(thing: string): Way {
  return WAYS[WAY_OF[thing] ?? USUAL];
}

/** 1 for who is drawn looking to the right. */
export function facing(thing: string): 1 | -1 {
  return LEFT.has(thing) ? -1 : 1;
}
