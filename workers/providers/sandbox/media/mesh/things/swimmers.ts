/** What swims. */
import { darker, type Colour } from "../../images/colours.ts";
import type { Lump } from "../kit/blob.ts";
import { moved, rotated, tinted, twice, type Shape } from "../kit/shape.ts";
import { prism } from "../kit/solids.ts";
import { ball, curve, tube } from "../kit/surface.ts";
import { add, step, type Vec2, type Vec3 } from "../kit/vector.ts";
import { body, coat, type Coat } from "./coat.ts";
import { part, type Look, type Part, type Thing } from "./thing.ts";
import { rounded } from "./creatures-parts.ts";

export const SWIMMERS: Readonly<Record<string, Thing>> = {
  fish: { metres: 0.3, build: (look) => buildFish(look, FISH) },
  shark: { metres: 1.5, build: (look) => buildFish(look, SHARK) },
  whale: { metres: 6, build: (look) => buildFish(look, WHALE) },
};

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
  mouth: [
    [-0.055, -0.045, 0.36],
    [0, -0.035, 0.402],
    [0.055, -0.045, 0.36],
  ],
  tail: [
    [0.02, 0.04],
    [-0.08, 0.17],
    [-0.24, 0.27],
    [-0.21, 0.12],
    [-0.2, 0],
    [-0.21, -0.12],
    [-0.24, -0.27],
    [-0.08, -0.17],
    [0.02, -0.04],
  ],
  tailAt: [0, 0, -0.4],
  top: [
    [0.2, -0.04],
    [0.12, 0.12],
    [-0.04, 0.17],
    [-0.2, 0.1],
    [-0.24, -0.06],
  ],
  topAt: [0, 0.19, 0],
  side: [
    [0.06, 0],
    [0, 0.12],
    [-0.13, 0.2],
    [-0.15, 0.1],
    [-0.06, -0.02],
  ],
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
  mouth: [
    [-0.105, -0.06, 0.36],
    [-0.055, -0.082, 0.46],
    [0, -0.08, 0.515],
    [0.055, -0.082, 0.46],
    [0.105, -0.06, 0.36],
  ],
  tail: [
    [0.06, 0.03],
    [-0.1, 0.18],
    [-0.26, 0.34],
    [-0.2, 0.14],
    [-0.15, 0.02],
    [-0.18, -0.08],
    [-0.21, -0.2],
    [-0.08, -0.1],
    [0.06, -0.03],
  ],
  tailAt: [0, 0.03, -0.64],
  top: [
    [0.16, -0.03],
    [0.04, 0.12],
    [-0.1, 0.24],
    [-0.1, 0.1],
    [-0.08, -0.04],
  ],
  topAt: [0, 0.13, 0.06],
  side: [
    [0.12, 0],
    [0.02, 0.14],
    [-0.13, 0.32],
    [-0.11, 0.12],
    [-0.06, -0.02],
  ],
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
  mouth: [
    [-0.25, -0.07, 0.32],
    [-0.2, -0.1, 0.46],
    [0, -0.11, 0.58],
    [0.2, -0.1, 0.46],
    [0.25, -0.07, 0.32],
  ],
  tail: [
    [0.06, 0.03],
    [-0.06, 0.14],
    [-0.2, 0.34],
    [-0.22, 0.14],
    [-0.13, 0],
    [-0.22, -0.14],
    [-0.2, -0.34],
    [-0.06, -0.14],
    [0.06, -0.03],
  ],
  tailAt: [0, 0.17, -0.66],
  isTailFlat: true,
  topAt: [0, 0, 0],
  side: [
    [0.1, 0],
    [0.04, 0.16],
    [-0.12, 0.3],
    [-0.14, 0.14],
    [-0.06, -0.02],
  ],
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
      return [0, 1, 2].map(
        (at) => ((low[at] ?? 1) * (1 - up) + (own.plain[at] ?? 1) * up) * (1 - white) + (band[at] ?? 1) * white,
      ) as unknown as Vec3;
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
  return fish.isTailFlat === true
    ? [...parts, part("Spout", look.fixed("#a9d8f0", "jelly"), ...spout([0, 0.23, 0.3]))]
    : parts;
}

function spout(at: Vec3): Shape[] {
  return Array.from({ length: 8 }, (_, index) => {
    const angle = (index * Math.PI) / 4;
    const out = (reach: number, rise: number): Vec3 =>
      add(at, [reach * Math.sin(angle), rise, reach * Math.cos(angle)]);
    return tube(
      curve([out(0, 0), out(0.02, 0.16), out(0.11, 0.22), out(0.16, 0.13)], 5),
      (share) => 0.02 * (1 - 0.5 * share),
      { sides: 8 },
    );
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
  const isCounter =
    outline.reduce((sum, [x, y], index) => {
      const [nx, ny] = outline[(index + 1) % outline.length] ?? [0, 0];
      return sum + x * ny - nx * y;
    }, 0) > 0;
  const flat = prism(isCounter ? outline : outline.toReversed(), { depth: 0.026, bevel: 0.009 });
  return rotated(flat, [0, 1, 0], -90);
}
