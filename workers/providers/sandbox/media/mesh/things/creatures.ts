/** Animals that fly or swim, and those with two legs that do not. */
import { darker, lighter, mix, type Colour } from "../../images/colours.ts";
import type { Lump } from "../kit/blob.ts";
import { bent, merged, moved, rotated, scaled, tinted, twice, type Shape } from "../kit/shape.ts";
import { prism } from "../kit/solids.ts";
import { ball, curve, lathe, surface, tube } from "../kit/surface.ts";
import { add, step, type Vec2, type Vec3 } from "../kit/vector.ts";
import { body, coat, eyes, marked, pair, type Coat } from "./coat.ts";
import { part, type Look, type Part, type Thing } from "./thing.ts";

export const CREATURES: Readonly<Record<string, Thing>> = {
  bird: { metres: 0.2, isAlive: true, build: (look) => buildBird(look, "bird") },
  duck: { metres: 0.3, isAlive: true, build: (look) => buildBird(look, "duck") },
  owl: { metres: 0.3, isAlive: true, build: buildOwl },
  penguin: { metres: 0.8, isAlive: true, build: buildPenguin },
  fish: { metres: 0.3, isAlive: true, build: (look) => buildFish(look, FISH) },
  shark: { metres: 1.5, isAlive: true, build: (look) => buildFish(look, SHARK) },
  whale: { metres: 6, isAlive: true, build: (look) => buildFish(look, WHALE) },
  turtle: { metres: 0.4, isAlive: true, build: buildTurtle },
  butterfly: { metres: 0.15, isAlive: true, build: buildButterfly },
  snail: { metres: 0.1, isAlive: true, build: buildSnail },
};

function feet(look: Look, colour: Colour, x: number, z: number, size: number): Part {
  const toes = [-24, 0, 24].map((turn) => rotated(moved(ball([0, 0, 0], [size * 0.28, size * 0.2, size * 0.75], 12), [0, size * 0.2, size * 0.55]), [0, 1, 0], turn));
  const foot = moved(merged([...toes, ball([0, size * 0.22, 0], [size * 0.35, size * 0.24, size * 0.35], 12)]), [x, 0, z]);
  return part("Feet", look.fixed(colour, "skin"), twice(foot));
}

function beak(at: Vec3, reach: number, wide: number, drop: number): Shape {
  return surface(
    20,
    8,
    (u, v) => {
      const angle = 2 * Math.PI * u;
      const radius = (1 - v) ** 0.7;
      return [
        at[0] - wide * radius * Math.sin(angle),
        at[1] + wide * 0.6 * radius * Math.cos(angle) - drop * v * v,
        at[2] + reach * v,
      ];
    },
    { around: true },
  );
}

function buildBird(look: Look, kind: "bird" | "duck"): readonly Part[] {
  const isDuck = kind === "duck";
  const own = coat(look, isDuck ? "#f2c230" : "#3f86d0", isDuck ? "plush" : "fur");
  const belly = isDuck ? own.light : own.of(own.colour === "#3f86d0" ? "#f0a058" : lighter(own.colour, 0.6));
  const base = isDuck ? 0.17 : 0.24;
  const head: Vec3 = isDuck ? [0, base + 0.47, 0.2] : [0, base + 0.36, 0.17];
  const size = isDuck ? 0.16 : 0.14;
  const lumps: Lump[] = [
    { at: [0, base + 0.12, 0], radius: [0.2, 0.19, 0.27], colour: own.plain },
    { at: [0, base + 0.09, 0.1], radius: [0.16, 0.16, 0.18], colour: belly, blend: 0.06 },
    { at: [0, base + 0.15, 0.12], to: head, radius: 0.14, radiusTo: 0.1, colour: own.plain, blend: 0.08 },
    { at: head, radius: size, colour: own.plain, blend: 0.06 },
    ...(isDuck
      ? ([{ at: [0, base + 0.2, -0.22], to: [0, base + 0.34, -0.36], radius: 0.1, radiusTo: 0.03, colour: own.plain, blend: 0.08 }] as const)
      : ([{ at: [0, base + 0.13, -0.2], to: [0, base + 0.2, -0.5], radius: 0.08, radiusTo: 0.045, colour: own.dark, blend: 0.06 }] as const)),
    ...pair({ at: [0.185, base + 0.15, -0.06], radius: [0.05, 0.12, 0.24], along: [0, 1, 0.22], colour: isDuck ? own.plain : own.dark, blend: 0.02 }),
  ];
  const legs = twice(tube([[0.075, 0.02, 0.02], [0.075, base, 0.0]], 0.016, { sides: 10 }));
  const bill = isDuck ? beak(add(head, [0, -0.03, size * 0.8]), 0.17, 0.085, 0.01) : beak(add(head, [0, -0.01, size * 0.86]), 0.12, 0.04, 0.02);
  return [
    body("Body", own, lumps, { cell: 0.0135, fade: 0.04 }),
    ...eyes(look, [size * 0.62, head[1] + size * 0.22, head[2] + size * 0.68], size * 0.17),
    part("Beak", look.second("#ee8a1e", "plastic"), isDuck ? scaledAt(bill, add(head, [0, -0.03, 0]), [1, 0.62, 1]) : bill),
    part("Legs", look.fixed("#e07c1c", "skin"), legs),
    feet(look, "#e07c1c", 0.075, 0.02, isDuck ? 0.085 : 0.06),
  ];
}

function scaledAt(shape: Shape, [x, y, z]: Vec3, by: Vec3): Shape {
  return moved(scaled(moved(shape, [-x, -y, -z]), by), [x, y, z]);
}

function buildOwl(look: Look): readonly Part[] {
  const own = coat(look, "#8c6642", "fur");
  const lumps: Lump[] = [
    { at: [0, 0.36, 0], radius: [0.26, 0.33, 0.23], colour: own.plain },
    { at: [0, 0.33, 0.1], radius: [0.19, 0.25, 0.16], colour: own.light, blend: 0.04 },
    { at: [0, 0.7, 0.01], radius: [0.25, 0.2, 0.21], colour: own.plain, blend: 0.12 },
    ...pair({ at: [0.1, 0.7, 0.15], radius: [0.12, 0.12, 0.07], colour: own.light, blend: 0.02 }),
    ...pair({ at: [0.14, 0.84, 0.04], to: [0.22, 1.0, 0.02], radius: 0.08, radiusTo: 0.012, colour: own.dark, blend: 0.05 }),
    ...pair({ at: [0.25, 0.38, -0.03], radius: [0.06, 0.27, 0.17], along: [0.12, 1, 0.1], colour: own.dark, blend: 0.02 }),
    { at: [0, 0.14, -0.16], to: [0, 0.04, -0.3], radius: 0.1, radiusTo: 0.06, colour: own.dark, blend: 0.06 },
  ];
  const speckled = (shape: Shape): Shape => marked(shape, ([x, y, z]) => (own.isPainted ? 1 - 0.4 * step(0.35, 0.6, Math.sin(52 * x) * Math.sin(44 * y)) * step(0.1, 0.16, z) * (1 - step(0.5, 0.56, y)) : 1));
  return [
    body("Body", own, lumps, { cell: 0.014, fade: 0.03 }, speckled),
    ...eyes(look, [0.1, 0.71, 0.195], 0.062, "#f2b630"),
    part("Beak", look.second("#e8a02c", "plastic"), beak([0, 0.645, 0.2], 0.09, 0.035, 0.06)),
    feet(look, "#d8902c", 0.1, 0.12, 0.075),
  ];
}

function buildPenguin(look: Look): readonly Part[] {
  const own = coat(look, "#23262e", "fur");
  const white = own.of("#f6f4ee");
  const lumps: Lump[] = [
    { at: [0, 0.36, 0], radius: [0.24, 0.34, 0.22], colour: own.plain },
    { at: [0, 0.34, 0.1], radius: [0.19, 0.3, 0.16], colour: white, blend: 0.03 },
    { at: [0, 0.75, 0.02], radius: [0.19, 0.19, 0.18], colour: own.plain, blend: 0.14 },
    ...pair({ at: [0.085, 0.75, 0.11], radius: [0.085, 0.1, 0.085], colour: white, blend: 0.02 }),
    ...pair({ at: [0.24, 0.55, 0], to: [0.33, 0.22, 0.0], radius: 0.06, radiusTo: 0.035, colour: own.plain, blend: 0.05 }),
    { at: [0, 0.1, -0.18], to: [0, 0.03, -0.27], radius: 0.08, radiusTo: 0.04, colour: own.plain, blend: 0.06 },
  ];
  return [
    body("Body", own, lumps, { cell: 0.0135, fade: 0.02 }),
    ...eyes(look, [0.075, 0.79, 0.178], 0.03),
    part("Beak", look.second("#f09a26", "plastic"), beak([0, 0.73, 0.175], 0.11, 0.05, 0.02)),
    feet(look, "#f09a26", 0.1, 0.08, 0.1),
  ];
}

interface Swimmer {
  readonly colour: Colour;
  readonly belly: Colour;
  /** Balls and bars from head to tail. */
  readonly trunk: (own: Coat) => readonly Lump[];
  /** Middle of the left eye, and its size. */
  readonly eye: Vec3;
  readonly eyeSize: number;
  /** Ends and middle of the mouth. */
  readonly mouth: readonly Vec3[];
  readonly tail: readonly Vec2[];
  readonly tailAt: Vec3;
  readonly isTailFlat?: boolean;
  readonly top?: readonly Vec2[];
  readonly topAt: Vec3;
  readonly side: readonly Vec2[];
  readonly sideAt: Vec3;
  readonly sideTurn: number;
  readonly stripes: number;
}

const FISH: Swimmer = {
  colour: "#f0822a",
  belly: "#fbe3c4",
  trunk: ({ plain }) => [
    { at: [0, 0, 0.04], radius: [0.115, 0.225, 0.33], colour: plain },
    { at: [0, 0, -0.2], to: [0, 0, -0.4], radius: 0.075, radiusTo: 0.05, colour: plain, blend: 0.14 },
    { at: [0, -0.03, 0.34], radius: [0.055, 0.055, 0.06], colour: plain, blend: 0.06 },
  ],
  eye: [0.082, 0.06, 0.25],
  eyeSize: 0.042,
  mouth: [[-0.055, -0.045, 0.36], [0, -0.035, 0.402], [0.055, -0.045, 0.36]],
  tail: [[0.02, 0.04], [-0.08, 0.17], [-0.24, 0.27], [-0.21, 0.12], [-0.2, 0], [-0.21, -0.12], [-0.24, -0.27], [-0.08, -0.17], [0.02, -0.04]],
  tailAt: [0, 0, -0.4],
  top: [[0.2, -0.04], [0.12, 0.12], [-0.04, 0.17], [-0.2, 0.1], [-0.24, -0.06]],
  topAt: [0, 0.19, 0],
  side: [[0.06, 0], [0, 0.12], [-0.13, 0.2], [-0.15, 0.1], [-0.06, -0.02]],
  sideAt: [0.095, -0.06, 0.12],
  sideTurn: -66,
  stripes: 1,
};
const SHARK: Swimmer = {
  colour: "#6d7f92",
  belly: "#eef1f2",
  trunk: ({ plain }) => [
    { at: [0, 0, 0.1], radius: [0.135, 0.15, 0.5], colour: plain },
    { at: [0, 0.01, -0.3], to: [0, 0.03, -0.64], radius: 0.075, radiusTo: 0.04, colour: plain, blend: 0.16 },
    { at: [0, 0.02, 0.5], to: [0, 0.015, 0.64], radius: 0.085, radiusTo: 0.03, colour: plain, blend: 0.1 },
  ],
  eye: [0.085, 0.05, 0.45],
  eyeSize: 0.022,
  mouth: [[-0.105, -0.06, 0.36], [-0.055, -0.082, 0.46], [0, -0.08, 0.515], [0.055, -0.082, 0.46], [0.105, -0.06, 0.36]],
  tail: [[0.06, 0.03], [-0.1, 0.18], [-0.26, 0.34], [-0.2, 0.14], [-0.15, 0.02], [-0.18, -0.08], [-0.21, -0.2], [-0.08, -0.1], [0.06, -0.03]],
  tailAt: [0, 0.03, -0.64],
  top: [[0.16, -0.03], [0.04, 0.12], [-0.1, 0.24], [-0.1, 0.1], [-0.08, -0.04]],
  topAt: [0, 0.13, 0.06],
  side: [[0.12, 0], [0.02, 0.14], [-0.13, 0.32], [-0.11, 0.12], [-0.06, -0.02]],
  sideAt: [0.1, -0.07, 0.24],
  sideTurn: -104,
  stripes: 0,
};
const WHALE: Swimmer = {
  colour: "#3f6fa8",
  belly: "#dfe8ee",
  trunk: ({ plain }) => [
    { at: [0, 0, 0.2], radius: [0.27, 0.25, 0.42], colour: plain },
    { at: [0, 0.0, -0.1], to: [0, 0.09, -0.5], radius: 0.19, radiusTo: 0.06, colour: plain, blend: 0.2 },
    { at: [0, 0.09, -0.5], to: [0, 0.16, -0.66], radius: 0.06, radiusTo: 0.035, colour: plain, blend: 0.06 },
  ],
  eye: [0.236, -0.045, 0.38],
  eyeSize: 0.026,
  mouth: [[-0.25, -0.07, 0.32], [-0.2, -0.1, 0.46], [0, -0.11, 0.58], [0.2, -0.1, 0.46], [0.25, -0.07, 0.32]],
  tail: [[0.06, 0.03], [-0.06, 0.14], [-0.2, 0.34], [-0.22, 0.14], [-0.13, 0], [-0.22, -0.14], [-0.2, -0.34], [-0.06, -0.14], [0.06, -0.03]],
  tailAt: [0, 0.17, -0.66],
  isTailFlat: true,
  topAt: [0, 0, 0],
  side: [[0.1, 0], [0.04, 0.16], [-0.12, 0.3], [-0.14, 0.14], [-0.06, -0.02]],
  sideAt: [0.22, -0.13, 0.22],
  sideTurn: -116,
  stripes: 0,
};

/** Swims to z. */
function buildFish(look: Look, fish: Swimmer): readonly Part[] {
  const own = coat(look, fish.colour, "skin");
  const low = own.colour === fish.colour ? own.of(fish.belly) : own.light;
  const band = own.of("#fdf6ea");
  const coloured = (shape: Shape): Shape => {
    if (!own.isPainted) return shape;
    return tinted(shape, ([, , z], [, ny]) => {
      const up = step(-0.5, -0.1, ny + 0.1 * Math.sin(9 * z));
      const white = fish.stripes * step(0.6, 0.75, Math.sin(15 * z + 0.9)) * step(-0.36, -0.3, z);
      return [0, 1, 2].map((at) => ((low[at] ?? 1) * (1 - up) + (own.plain[at] ?? 1) * up) * (1 - white) + (band[at] ?? 1) * white) as unknown as Vec3;
    });
  };
  const tail = finOf(fish.tail);
  const side = twice(moved(rotated(finOf(fish.side), [0, 0, 1], fish.sideTurn), fish.sideAt));
  const fins = [moved(fish.isTailFlat === true ? rotated(tail, [0, 0, 1], 90) : tail, fish.tailAt), side];
  if (fish.top !== undefined) fins.push(moved(finOf(fish.top), fish.topAt));
  const parts = [
    body("Body", own, fish.trunk(own), { cell: 0.015 }, coloured),
    part("Fins", look.second(fish.stripes > 0 ? darker(own.colour, 0.15) : own.colour, "skin"), ...fins),
    ...sideEyes(look, fish.eye, fish.eyeSize),
    part("Mouth", look.fixed(darker(own.colour, 0.6), "skin"), tube(curve(fish.mouth, 6), 0.0075, { sides: 8 })),
  ];
  return fish.isTailFlat === true ? [...parts, part("Spout", look.fixed("#a9d8f0", "jelly"), ...spout([0, 0.23, 0.3]))] : parts;
}

function spout(at: Vec3): Shape[] {
  return Array.from({ length: 8 }, (_, index) => {
    const angle = (index * Math.PI) / 4;
    const out = (reach: number, rise: number): Vec3 => add(at, [reach * Math.sin(angle), rise, reach * Math.cos(angle)]);
    return tube(curve([out(0, 0), out(0.02, 0.16), out(0.11, 0.22), out(0.16, 0.13)], 5), (share) => 0.02 * (1 - 0.5 * share), { sides: 8 });
  });
}

function sideEyes(look: Look, [x, y, z]: Vec3, size: number): readonly Part[] {
  const both = (dx: number, dz: number, radii: Vec3): Shape => twice(ball([x + dx, y, z + dz], radii, 14));
  return [
    part("Eyes", look.fixed("#ffffff", "eye"), both(0, 0, [size * 0.6, size, size])),
    part("Pupils", look.fixed("#17151a", "eye"), both(size * 0.36, size * 0.12, [size * 0.4, size * 0.6, size * 0.6])),
  ];
}

/** An outline ahead and upwards, as a thin blade in the plane of x = 0. */
function finOf(points: readonly Vec2[]): Shape {
  const outline = rounded(points);
  const isCounter = outline.reduce((sum, [x, y], index) => {
    const [nx, ny] = outline[(index + 1) % outline.length] ?? [0, 0];
    return sum + x * ny - nx * y;
  }, 0) > 0;
  const flat = prism(isCounter ? outline : outline.toReversed(), { depth: 0.026, bevel: 0.009 });
  return rotated(flat, [0, 1, 0], -90);
}

function buildTurtle(look: Look): readonly Part[] {
  const own = coat(look, "#7aa05a", "skin");
  const shell = bent(ball([0, 0.2, 0], [0.36, 0.26, 0.42], 48), ([x, y, z]) => {
    if (y < 0.2) return [x, 0.2 - (0.2 - y) * 0.3, z];
    const [angle, far] = [Math.atan2(x, z), Math.hypot(x / 0.36, z / 0.42)];
    const plates = Math.min(Math.abs(Math.sin(3 * angle)) * far * 1.4, Math.abs(far - 0.45) * 4, 1);
    return [x, y - 0.03 * (1 - step(0, 0.35, plates)), z];
  });
  const lumps: Lump[] = [
    { at: [0, 0.17, 0], radius: [0.3, 0.09, 0.36], colour: own.light },
    { at: [0, 0.2, 0.34], to: [0, 0.32, 0.52], radius: 0.075, radiusTo: 0.07, colour: own.plain, blend: 0.06 },
    { at: [0, 0.36, 0.57], radius: [0.105, 0.1, 0.12], colour: own.plain, blend: 0.05 },
    ...[1, -1].flatMap((end) => pair({ at: [0.22, 0.16, 0.26 * end], to: [0.34, 0.05, 0.36 * end], radius: 0.085, radiusTo: 0.07, colour: own.plain, blend: 0.05 })),
    { at: [0, 0.14, -0.38], to: [0, 0.07, -0.54], radius: 0.05, radiusTo: 0.012, colour: own.plain, blend: 0.05 },
  ];
  const hem = moved(lathe([[0.34, -0.02], [0.37, -0.03], [0.385, 0], [0.36, 0.025], [0.34, 0.02]], 48), [0, 0.2, 0]);
  return [
    body("Body", own, lumps, { cell: 0.014 }),
    part("Shell", look.second("#6d4a2b", "leather"), shell, scaledAt(hem, [0, 0.2, 0], [1, 1, 1.16])),
    ...eyes(look, [0.062, 0.4, 0.645], 0.024),
  ];
}

function buildButterfly(look: Look): readonly Part[] {
  const wing = look.main("#e8762a", "petal");
  const upper: readonly Vec2[] = rounded([[0.02, 0.02], [0.14, 0.26], [0.34, 0.44], [0.5, 0.44], [0.54, 0.3], [0.46, 0.12], [0.28, 0.0], [0.02, -0.02]]);
  const lower: readonly Vec2[] = rounded([[0.02, -0.02], [0.26, -0.02], [0.4, -0.12], [0.4, -0.28], [0.3, -0.4], [0.2, -0.34], [0.1, -0.16]]);
  const inner = (points: readonly Vec2[], share: number): readonly Vec2[] => {
    const middle = points.reduce(([x, y], p) => [x + p[0] / points.length, y + p[1] / points.length] as const, [0, 0] as Vec2);
    return points.map(([x, y]) => [middle[0] + (x - middle[0]) * share, middle[1] + (y - middle[1]) * share] as const);
  };
  const lift = (shape: Shape): Shape => twice(rotated(shape, [0, 1, 0], -24));
  const flat = (points: readonly Vec2[], depth: number): Shape => prism(points.toReversed(), { depth });
  const rise = 0.42;
  const place = (shape: Shape): Shape => moved(rotated(lift(shape), [1, 0, 0], -18), [0, rise, 0]);
  const dots = [[0.44, 0.38], [0.49, 0.3], [0.36, -0.3], [0.3, -0.34]].map(([x = 0, y = 0]) => ball([x, y, 0], [0.02, 0.02, 0.016], 10));
  const torso = merged([ball([0, 0.06, 0], [0.028, 0.1, 0.028], 14), ball([0, -0.13, 0], [0.024, 0.14, 0.024], 14), ball([0, 0.18, 0], 0.034, 14)]);
  const feelers = twice(tube(curve([[0.01, 0.2, 0.01], [0.05, 0.3, 0.03], [0.1, 0.36, 0.03]], 5), (share) => 0.005 + 0.006 * step(0.85, 1, share), { sides: 6 }));
  const stand = [lathe([[0.001, 0], [0.1, 0], [0.1, 0.015], [0.012, 0.03], [0.001, 0.03]], 28), tube([[0, 0.02, 0], [0, rise - 0.2, 0.04]], 0.007, { sides: 8 })];
  return [
    part("Wing edges", look.second("#241d22", "matt"), place(merged([flat(upper, 0.012), flat(lower, 0.012)]))),
    part("Wings", { ...wing, isSheet: false }, place(merged([flat(inner(upper, 0.8), 0.02), flat(inner(lower, 0.76), 0.02)]))),
    part("Dots", look.fixed("#fdf3dc", "matt"), place(merged(dots))),
    part("Body", look.fixed("#2a2226", "fur"), moved(rotated(merged([torso, feelers]), [1, 0, 0], -18), [0, rise, 0.01])),
    part("Stand", look.fixed("#c9a15f", "brass"), ...stand),
  ];
}

function rounded(points: readonly Vec2[]): Vec2[] {
  const closed = [...points, points[0] ?? [0, 0]].map(([x, y]) => [x, y, 0] as const);
  return curve(closed, 5).slice(0, -1).map(([x, y]) => [x, y] as const);
}

function buildSnail(look: Look): readonly Part[] {
  const own: Coat = coat(look, "#d8b58a", "skin");
  const lumps: Lump[] = [
    { at: [0, 0.07, -0.42], to: [0, 0.1, 0.3], radius: 0.04, radiusTo: 0.11, colour: own.plain },
    { at: [0, 0.1, 0.3], to: [0, 0.36, 0.48], radius: 0.11, radiusTo: 0.095, colour: own.plain, blend: 0.08 },
    ...pair({ at: [0.05, 0.4, 0.5], to: [0.11, 0.62, 0.56], radius: 0.026, radiusTo: 0.018, colour: own.plain, blend: 0.03 }),
    ...pair({ at: [0.04, 0.32, 0.56], to: [0.08, 0.28, 0.66], radius: 0.022, radiusTo: 0.014, colour: own.plain, blend: 0.02 }),
  ];
  const spiral: Vec3[] = Array.from({ length: 110 }, (_, index) => {
    const share = index / 109;
    const [angle, reach] = [share * 2 * Math.PI * 2.6, 0.26 * (1 - share) ** 0.9];
    return [0.1 * share, 0.36 + reach * Math.sin(angle - 1.9), -0.04 + reach * Math.cos(angle - 1.9)];
  });
  const shell = look.second(mix("#a8623a", "#c9884a", 0.4), "ceramic");
  const whorl = (x: number): Shape => tube(spiral.map(([dx, y, z]) => [dx * x, y, z] as const), (share) => 0.155 * (1 - share) ** 0.85 + 0.02, { sides: 24 });
  return [
    body("Body", own, lumps, { cell: 0.014 }),
    part("Shell", shell, whorl(1), scaled(whorl(1), [-1, 1, 1])),
    part("Eyes", look.fixed("#17151a", "eye"), twice(ball([0.113, 0.635, 0.565], 0.026, 12))),
  ];
}
