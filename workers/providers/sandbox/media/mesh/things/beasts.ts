/** Animals on four legs, all of one build: how long, how thick, which ears, which tail. */
import { darker, lighter, mix, type Colour } from "../../images/colours.ts";
import type { Lump } from "../kit/blob.ts";
import { ball, curve, lathe, rod, surface, tube } from "../kit/surface.ts";
import { moved, rotated, tinted, twice, type Shape } from "../kit/shape.ts";
import { add, step, type Vec3 } from "../kit/vector.ts";
import { body, coat, eyes, marked, pair, type Coat } from "./coat.ts";
import { part, type Look, type Part, type Thing } from "./thing.ts";

interface Beast {
  readonly metres: number;
  readonly colour: Colour;
  readonly belly?: Colour;
  readonly paws?: Colour;
  readonly finish?: "fur" | "skin" | "plush" | "scales";
  /** Of the trunk: half its length, its radius, its height above the ground. */
  readonly trunk: readonly [half: number, radius: number, height: number];
  readonly leg: readonly [radius: number, spread: number];
  /** Where the head is, seen from the shoulders: up and ahead; and its radius. */
  readonly head: readonly [up: number, ahead: number, radius: number];
  readonly neck: number;
  /** How far the muzzle reaches ahead, its radius, and how far it sinks. */
  readonly muzzle: readonly [reach: number, radius: number, drop: number];
  readonly ears: "pointed" | "floppy" | "round" | "long" | "fan" | "none";
  /** From the rump: up and back by turns; its radius at the root and at the end. */
  readonly tail: readonly Vec3[];
  readonly tailRadius: readonly [number, number];
  readonly tailTip?: Colour;
  readonly nose: Colour;
  /** A flat disc with two nostrils instead of a nose. */
  readonly snout?: boolean;
  /** Of the head, where it is not that of the body. */
  readonly face?: Colour;
  readonly eye?: Colour;
  readonly marks?: (look: Look, point: Vec3) => number;
  readonly more?: (look: Look, coat: Coat, head: Vec3, radius: number) => { readonly lumps?: readonly Lump[]; readonly parts?: readonly Part[] };
}

const tabby = ({ noise }: Look, [x, y, z]: Vec3): number => 1 - 0.42 * step(0.25, 0.6, Math.sin(26 * (z + 0.25 * y) + 2.5 * noise.solid(x * 3, y * 4, z * 3, 2))) * step(0.3, 0.5, y) * (1 - step(0.38, 0.44, z));

const BEASTS: Readonly<Record<string, Beast>> = {
  cat: {
    metres: 0.35, colour: "#d98a3f", belly: "#f6e7d2", paws: "#f6e7d2", trunk: [0.25, 0.145, 0.4], leg: [0.055, 0.09], head: [0.2, 0.16, 0.185], neck: 0.11,
    muzzle: [0.11, 0.09, 0.05], ears: "pointed", tail: [[0, 0.1, -0.08], [0, 0.26, -0.16], [0, 0.42, -0.13], [0, 0.52, -0.2]], tailRadius: [0.042, 0.036], nose: "#d9736b", eye: "#9cc843", marks: tabby,
  },
  dog: {
    metres: 0.6, colour: "#b98149", belly: "#e8d0ae", paws: "#e8d0ae", trunk: [0.29, 0.165, 0.48], leg: [0.062, 0.1], head: [0.24, 0.2, 0.165], neck: 0.12,
    muzzle: [0.21, 0.085, 0.05], ears: "floppy", tail: [[0, 0.06, -0.06], [0, 0.2, -0.16], [0, 0.36, -0.18]], tailRadius: [0.042, 0.026], nose: "#1c1a1c",
    more: (look, _coat, head) => ({ parts: [part("Collar", look.second("#c9303a", "leather"), ringAround([0, head[1] - 0.17, head[2] - 0.09], 0.125, -48))] }),
  },
  fox: {
    metres: 0.45, colour: "#d8702a", belly: "#f5ead8", paws: "#3a2a22", trunk: [0.28, 0.135, 0.44], leg: [0.045, 0.085], head: [0.2, 0.18, 0.15], neck: 0.1,
    muzzle: [0.2, 0.06, 0.05], ears: "pointed", tail: [[0, -0.02, -0.12], [0, 0.02, -0.34], [0, 0.12, -0.54]], tailRadius: [0.05, 0.09], tailTip: "#f7f0e4", nose: "#1c1a1c",
  },
  wolf: {
    metres: 0.85, colour: "#7c828b", belly: "#d7d6d2", paws: "#d7d6d2", trunk: [0.31, 0.165, 0.52], leg: [0.055, 0.095], head: [0.22, 0.22, 0.155], neck: 0.14,
    muzzle: [0.22, 0.075, 0.05], ears: "pointed", tail: [[0, -0.04, -0.1], [0, -0.16, -0.2], [0, -0.3, -0.24]], tailRadius: [0.055, 0.05], nose: "#1c1a1c", eye: "#e0b040",
  },
  bear: {
    metres: 1.5, colour: "#6b4630", belly: "#8d6444", trunk: [0.28, 0.25, 0.48], leg: [0.1, 0.15], head: [0.16, 0.24, 0.19], neck: 0.17,
    muzzle: [0.18, 0.1, 0.05], ears: "round", tail: [[0, 0.04, -0.04]], tailRadius: [0.05, 0.05], nose: "#1c1a1c",
  },
  lion: {
    metres: 1.2, colour: "#d3a055", belly: "#ecd9ae", trunk: [0.33, 0.18, 0.52], leg: [0.068, 0.11], head: [0.22, 0.2, 0.17], neck: 0.15,
    muzzle: [0.16, 0.1, 0.05], ears: "round", tail: [[0, 0.0, -0.08], [0, -0.14, -0.2], [0, -0.2, -0.36], [0, -0.06, -0.44]], tailRadius: [0.03, 0.022], tailTip: "#6b3d1e", nose: "#5a3328",
    more: (_look, own, head) => ({
      lumps: Array.from({ length: 16 }, (_, index) => {
        const angle = (index * 2 * Math.PI) / 16;
        const drop = Math.cos(angle) < 0 ? 1.35 : 1;
        return { at: [head[0] + 0.2 * Math.sin(angle), head[1] + 0.19 * Math.cos(angle) * drop, head[2] - 0.09 + 0.02 * (index % 2)], radius: 0.085, colour: own.of("#7a4521"), blend: 0.04 } as const;
      }),
    }),
  },
  tiger: {
    metres: 1, colour: "#e08a2e", belly: "#f7efe0", paws: "#f0c48a", trunk: [0.34, 0.18, 0.52], leg: [0.07, 0.11], head: [0.2, 0.2, 0.175], neck: 0.15,
    muzzle: [0.15, 0.1, 0.05], ears: "round", tail: [[0, -0.02, -0.08], [0, -0.16, -0.22], [0, -0.18, -0.4], [0, -0.02, -0.5]], tailRadius: [0.036, 0.03], tailTip: "#2a2020", nose: "#c9766b", eye: "#d7c040",
    marks: ({ noise }, [x, y, z]) => 1 - 0.9 * step(0.42, 0.62, Math.sin(24 * (z + 0.2 * y) + 3 * noise.solid(x * 3, y * 4, z * 3, 2))) * step(0.34, 0.46, y) * (1 - step(0.44, 0.5, z)),
  },
  cow: {
    metres: 1.5, colour: "#f3f0ea", belly: "#f0dcd2", paws: "#4a3c36", trunk: [0.36, 0.22, 0.56], leg: [0.065, 0.13], head: [0.14, 0.26, 0.14], neck: 0.14,
    muzzle: [0.18, 0.1, 0.08], ears: "floppy", tail: [[0, 0.02, -0.05], [0, -0.2, -0.1], [0, -0.38, -0.09]], tailRadius: [0.022, 0.03], tailTip: "#3a302c", nose: "#e3b0a2",
    marks: ({ noise }, [x, y, z]) => 1 - 0.93 * step(0.08, 0.16, noise.solid(x * 3.4 + 3, y * 3.4, z * 3.4, 1)) * step(0.2, 0.3, y),
    more: (look, _coat, head) => ({ parts: [part("Horns", look.fixed("#e8dcc0", "ceramic"), twice(tube(curve([[head[0] + 0.08, head[1] + 0.1, head[2] - 0.03], [head[0] + 0.17, head[1] + 0.14, head[2] - 0.02], [head[0] + 0.19, head[1] + 0.24, head[2] + 0.02]], 6), (share) => 0.026 * (1 - 0.85 * share), { sides: 10 })))] }),
  },
  pig: {
    metres: 0.7, colour: "#eda7a2", belly: "#f5c4bd", paws: "#b97a72", finish: "skin", trunk: [0.27, 0.22, 0.4], leg: [0.065, 0.12], head: [0.06, 0.22, 0.19], neck: 0.16,
    muzzle: [0.21, 0.085, 0.03], snout: true, ears: "pointed", tail: [[0, 0.08, -0.04], [0.05, 0.12, -0.08], [0, 0.17, -0.08], [-0.04, 0.13, -0.1], [0, 0.09, -0.13]], tailRadius: [0.02, 0.012], nose: "#d57f7a",
  },
  sheep: {
    metres: 0.8, colour: "#f2ede2", belly: "#f2ede2", paws: "#3b3332", face: "#3b3332", trunk: [0.25, 0.23, 0.48], leg: [0.05, 0.11], head: [0.12, 0.24, 0.13], neck: 0.12,
    muzzle: [0.13, 0.075, 0.06], ears: "floppy", tail: [[0, 0.02, -0.04]], tailRadius: [0.06, 0.05], nose: "#2a2424",
    more: (_look, own, head) => ({ lumps: [...curls(own, head)] }),
  },
  horse: {
    metres: 1.7, colour: "#8a5a34", belly: "#9c6a42", paws: "#2f2622", trunk: [0.34, 0.19, 0.68], leg: [0.05, 0.1], head: [0.38, 0.27, 0.11], neck: 0.115,
    muzzle: [0.25, 0.075, 0.17], ears: "pointed", tail: [[0, 0.04, -0.06], [0, -0.08, -0.17], [0, -0.34, -0.2], [0, -0.5, -0.17]], tailRadius: [0.05, 0.035], tailTip: "#2c201a", nose: "#4a332a",
    more: (look, own, head) => horseParts(look, own, head),
  },
  elephant: {
    metres: 3, colour: "#8b8d94", belly: "#9a9ca2", finish: "skin", trunk: [0.3, 0.28, 0.58], leg: [0.105, 0.16], head: [0.16, 0.28, 0.21], neck: 0.19,
    muzzle: [0.12, 0.11, 0.08], ears: "fan", tail: [[0, 0.0, -0.05], [0, -0.16, -0.1], [0, -0.28, -0.08]], tailRadius: [0.024, 0.02], nose: "#8b8d94",
    more: (look, own, head) => ({
      lumps: [
        { at: add(head, [0, -0.08, 0.16]), to: add(head, [0, -0.3, 0.26]), radius: 0.085, radiusTo: 0.065, colour: own.plain, blend: 0.08 },
        { at: add(head, [0, -0.3, 0.26]), to: add(head, [0, -0.46, 0.27]), radius: 0.065, radiusTo: 0.052, colour: own.plain, blend: 0.05 },
        { at: add(head, [0, -0.46, 0.27]), to: add(head, [0, -0.52, 0.36]), radius: 0.052, radiusTo: 0.044, colour: own.dark, blend: 0.05 },
      ],
      parts: [part("Tusks", look.fixed("#f2ead6", "ceramic"), twice(tube(curve([add(head, [0.1, -0.14, 0.14]), add(head, [0.13, -0.28, 0.24]), add(head, [0.12, -0.26, 0.38])], 6), (share) => 0.03 * (1 - 0.75 * share), { sides: 12 })))],
    }),
  },
  rabbit: {
    metres: 0.3, colour: "#cfc3b4", belly: "#f5efe6", paws: "#f5efe6", trunk: [0.2, 0.17, 0.27], leg: [0.055, 0.09], head: [0.2, 0.14, 0.155], neck: 0.11,
    muzzle: [0.1, 0.075, 0.05], ears: "long", tail: [[0, 0.05, -0.02]], tailRadius: [0.07, 0.07], tailTip: "#fbf8f2", nose: "#e08c92",
  },
  dragon: {
    metres: 2, colour: "#3f8f5a", belly: "#e6cf8a", finish: "scales", trunk: [0.3, 0.2, 0.5], leg: [0.075, 0.14], head: [0.42, 0.24, 0.15], neck: 0.115,
    muzzle: [0.2, 0.09, 0.05], ears: "none", tail: [[0, -0.08, -0.16], [0.05, -0.24, -0.36], [0.16, -0.36, -0.56], [0.34, -0.4, -0.68]], tailRadius: [0.13, 0.025], nose: "#2a4a38", eye: "#f2c230",
    more: (look, own, head) => dragonParts(look, own, head),
  },
};

export const FOUR_LEGGED: Readonly<Record<string, Thing>> = Object.fromEntries(
  Object.entries(BEASTS).map(([name, beast]) => [name, { metres: beast.metres, isAlive: true, build: (look: Look) => build(look, beast) }]),
);

function build(look: Look, beast: Beast): readonly Part[] {
  const own = coat(look, beast.colour, beast.finish ?? "fur");
  const belly = beast.belly === undefined || own.colour !== beast.colour ? own.light : own.of(beast.belly);
  const paws = beast.paws === undefined ? own.plain : own.colour === beast.colour ? own.of(beast.paws) : own.dark;
  const [half, radius, height] = beast.trunk;
  const [up, ahead, size] = beast.head;
  const shoulder: Vec3 = [0, height + radius * 0.2, half * 0.85];
  const head: Vec3 = add(shoulder, [0, up, ahead]);
  const more = beast.more?.(look, own, head, size) ?? {};
  const [reach, thick, drop] = beast.muzzle;
  const snout: Vec3 = add(head, [0, -drop, reach]);
  const face = beast.face === undefined ? own.plain : own.of(beast.face);
  const lumps: Lump[] = [
    { at: [0, height, -half], to: [0, height + 0.02, half], radius: radius * 0.96, radiusTo: radius, colour: own.plain },
    { at: [0, height - radius * 0.35, -half * 0.2], radius: [radius * 0.78, radius * 0.8, half * 1.05], colour: belly, blend: 0.05 },
    { at: shoulder, to: add(head, [0, -size * 0.2, -size * 0.3]), radius: beast.neck * 1.25, radiusTo: beast.neck, colour: own.plain, blend: 0.12 },
    { at: head, radius: [size * 1.02, size * 0.95, size], colour: face, blend: 0.08 },
    { at: add(head, [0, -drop * 0.7, size * 0.4]), to: snout, radius: thick * 1.1, radiusTo: thick * 0.85, colour: beast.face !== undefined ? face : beast.finish === "skin" ? own.plain : belly, blend: 0.06 },
    ...legs(beast, own, paws),
    ...ears(beast, own, head),
    ...tail(beast, own, [0, height + radius * 0.35, -half - radius * 0.75]),
    ...(more.lumps ?? []),
  ];
  const cell = Math.max(0.016, (height + up + 2 * half) * 0.0128);
  const marks = own.isPainted ? beast.marks : undefined;
  const main = body("Body", own, lumps, { cell, fade: 0.045 }, marks === undefined ? undefined : (shape) => marked(shape, (point) => marks(look, point)));
  const eyeSize = Math.max(0.026, size * (beast.eye === undefined ? 0.165 : 0.2));
  const isElephant = beast.ears === "fan";
  const nose = rotated(lathe([[0.001, -thick * 0.3], [thick * 0.42, -thick * 0.16], [thick * 0.46, 0], [thick * 0.36, thick * 0.2], [0.001, thick * 0.3]], 16), [1, 0, 0], 90);
  return [
    main,
    ...eyes(look, [size * (isElephant ? 0.68 : 0.5), head[1] + size * 0.2, head[2] + size * (isElephant ? 0.66 : 0.8)], eyeSize, beast.eye ?? null),
    ...(isElephant ? [] : beast.snout === true ? pigSnout(look, beast.nose, snout, thick) : [part("Nose", look.fixed(beast.nose, "skin"), moved(nose, add(snout, [0, thick * 0.35, thick * 0.66])))]),
    ...(more.parts ?? []),
  ];
}

function pigSnout(look: Look, colour: Colour, at: Vec3, thick: number): readonly Part[] {
  const front = at[2] + thick * 0.55;
  const disc = rotated(lathe([[0.001, -0.03], [thick * 0.92, -0.03], [thick * 1.02, 0], [thick * 0.95, 0.045], [thick * 0.8, 0.055], [0.001, 0.05]], 32), [1, 0, 0], 90);
  const holes = twice(ball([thick * 0.36, at[1], front + 0.05], [thick * 0.17, thick * 0.28, 0.02], 12));
  return [part("Snout", look.fixed(colour, "skin"), moved(disc, [0, at[1], front])), part("Nostrils", look.fixed(darker(colour, 0.5), "skin"), holes)];
}

function legs({ trunk: [half, radius, height], leg: [thick, spread] }: Beast, own: Coat, paws: Vec3): Lump[] {
  return [1, -1].flatMap((end) => {
    const z = end * half * 0.92;
    const hip: Vec3 = [spread, height - radius * 0.25, z];
    const knee: Vec3 = [spread * 1.05, height * 0.42, z + (end > 0 ? 0.005 : -0.03)];
    const foot: Vec3 = [spread * 1.05, thick * 0.9, z + (end > 0 ? 0.01 : 0.0)];
    return [
      ...pair({ at: hip, to: knee, radius: thick * (end > 0 ? 1.45 : 1.75), radiusTo: thick * 1.05, colour: own.plain, blend: 0.08 }),
      ...pair({ at: knee, to: foot, radius: thick * 1.05, radiusTo: thick * 0.9, colour: own.plain, blend: 0.04 }),
      ...pair({ at: add(foot, [0, 0, thick * 0.45]), radius: [thick * 1.12, thick * 0.92, thick * 1.35], colour: paws, blend: 0.03 }),
    ];
  });
}

function ears({ ears: kind, head: [, , size] }: Beast, own: Coat, head: Vec3): readonly Lump[] {
  const at = (x: number, y: number, z: number): Vec3 => add(head, [x * size, y * size, z * size]);
  switch (kind) {
    case "pointed":
      return pair({ at: at(0.5, 0.55, -0.1), to: at(0.72, 1.32, -0.05), radius: size * 0.34, radiusTo: size * 0.05, colour: own.dark, blend: 0.04 });
    case "floppy":
      return [
        ...pair({ at: at(0.75, 0.5, -0.15), to: at(1.15, 0.05, -0.05), radius: size * 0.24, radiusTo: size * 0.24, colour: own.dark, blend: 0.03 }),
        ...pair({ at: at(1.15, 0.05, -0.05), to: at(1.12, -0.5, 0.05), radius: size * 0.24, radiusTo: size * 0.18, colour: own.dark, blend: 0.03 }),
      ];
    case "round":
      return pair({ at: at(0.72, 0.8, -0.1), radius: [size * 0.34, size * 0.34, size * 0.2], colour: own.dark, blend: 0.03 });
    case "long":
      return pair({ at: at(0.36, 1.4, -0.25), radius: [size * 0.24, size * 0.85, size * 0.15], along: [0.16, 1, -0.22], colour: own.dark, blend: 0.04 });
    case "fan":
      return pair({ at: at(1.35, 0.05, -0.35), radius: [size * 0.75, size * 0.95, size * 0.13], along: [0.12, 1, 0], colour: own.dark, blend: 0.03 });
    default:
      return [];
  }
}

function tail({ tail: points, tailRadius: [from, to], tailTip }: Beast, own: Coat, root: Vec3): Lump[] {
  const way = curve([[0, 0, 0] as const, ...points], 4).map((point) => add(root, point));
  const radius = (index: number): number => from + ((to - from) * index) / Math.max(1, way.length - 1);
  return way.slice(1).map((point, index) => ({
    at: way[index] ?? root,
    to: point,
    radius: radius(index),
    radiusTo: radius(index + 1),
    colour: tailTip !== undefined && index >= way.length * 0.72 ? own.of(tailTip) : own.plain,
    blend: index === 0 ? 0.05 : 0.02,
  }));
}

function ringAround(at: Vec3, radius: number, tilt: number): Shape {
  const band = lathe([[radius, -0.025], [radius + 0.014, -0.02], [radius + 0.014, 0.02], [radius, 0.025]], 36);
  return moved(rotated(band, [1, 0, 0], tilt), at);
}

/** Wool: balls all over the back. */
function curls(own: Coat, head: Vec3): Lump[] {
  const lumps: Lump[] = [];
  for (let index = 0; index < 62; index += 1) {
    const share = (index + 0.5) / 62;
    const [rise, turn] = [1 - 1.75 * share, index * 2.39996];
    const ring = Math.sqrt(1 - Math.min(1, rise * rise));
    lumps.push({ at: [0.235 * ring * Math.sin(turn), 0.49 + 0.225 * rise, 0.42 * ring * Math.cos(turn)], radius: 0.072, colour: own.plain, blend: 0.025 });
  }
  for (let index = 0; index < 7; index += 1) {
    const turn = index * 0.9;
    lumps.push({ at: add(head, [0.07 * Math.sin(turn), 0.11 + 0.02 * Math.cos(turn * 2), -0.03 + 0.06 * Math.cos(turn)]), radius: 0.055, colour: own.plain, blend: 0.02 });
  }
  return lumps;
}

function horseParts(look: Look, own: Coat, head: Vec3): { lumps?: readonly Lump[]; parts?: readonly Part[] } {
  const isUnicorn = look.has("unicorn");
  const mane = isUnicorn ? "#e58fc0" : mix(own.colour, "#120c0a", 0.75);
  const lumps = Array.from({ length: 13 }, (_, index): Lump => {
    const share = index / 12;
    const at: Vec3 = [0.028 * (index % 2 === 0 ? 1 : -1), head[1] + 0.13 - 0.42 * share, head[2] - 0.02 - 0.2 * share - 0.045 * Math.sin(Math.PI * share)];
    return { at, to: add(at, [0.02, -0.07, -0.05]), radius: 0.05, radiusTo: 0.03, colour: own.of(mane), blend: 0.02 };
  });
  if (!isUnicorn) return { lumps };
  const horn = tinted(lathe(Array.from({ length: 22 }, (_, index) => [0.001 + 0.03 * (1 - index / 21) * (index % 3 === 0 ? 1 : 0.86), 0.26 * (index / 21)] as const), 14), () => [1, 1, 1]);
  return { lumps, parts: [part("Horn", look.fixed("#ffd76a", "gold"), moved(rotated(horn, [1, 0, 0], 32), add(head, [0, 0.08, 0.06])))] };
}

function dragonParts(look: Look, own: Coat, head: Vec3): { lumps?: readonly Lump[]; parts?: readonly Part[] } {
  const horn = look.fixed("#e8dcc0", "ceramic");
  const horns = twice(tube(curve([add(head, [0.07, 0.1, -0.06]), add(head, [0.11, 0.2, -0.16]), add(head, [0.1, 0.25, -0.3])], 6), (share) => 0.034 * (1 - 0.85 * share), { sides: 10 }));
  const spikes = Array.from({ length: 15 }, (_, index) => {
    const share = index / 14;
    const z = head[2] - 0.22 - share * 0.78;
    const y = share < 0.3 ? head[1] - 0.02 - share * 1.05 : 0.7 - 0.25 * Math.max(0, share - 0.75);
    const size = 0.045 + 0.03 * Math.sin(Math.PI * share);
    return rod([0, y - 0.02, z], [0, y + size * 1.3, z - 0.035], size * 0.5, 0.004, 8);
  });
  const wing = surface(12, 10, (u, v) => {
    // Fingers at whole twelfths of four, the skin hangs between them.
    const finger = Math.abs(Math.sin(Math.PI * 3 * u));
    const reach = v * (0.78 - 0.34 * u) * (1 - 0.16 * finger * v);
    const angle = 1.05 - 1.5 * u;
    return [0.1 + reach * Math.cos(angle * 0.72), 0.66 + reach * Math.sin(angle) * 0.95 - 0.05 * finger * v, 0.1 - 0.16 * v - 0.42 * u * v];
  });
  const bones = [0, 1 / 3, 2 / 3, 1].map((u) => {
    const path = Array.from({ length: 7 }, (_, index): Vec3 => {
      const v = index / 6;
      const [reach, angle] = [v * (0.78 - 0.34 * u), 1.05 - 1.5 * u];
      return [0.1 + reach * Math.cos(angle * 0.72), 0.66 + reach * Math.sin(angle) * 0.95, 0.1 - 0.16 * v - 0.42 * u * v];
    });
    return tube(path, (share) => 0.026 * (1 - 0.7 * share), { sides: 8 });
  });
  return {
    parts: [
      part("Horns", horn, horns, ...spikes),
      part("Wing bones", look.fixed(darker(own.colour, 0.25), "skin"), twice(bones[0] ?? wing), ...bones.slice(1).map(twice)),
      part("Wings", { ...look.second(lighter(mix(own.colour, "#d8532f", 0.6), 0.1), "leather"), isSheet: true }, twice(wing)),
    ],
  };
}
