/** Birds. */
import { lighter, type Colour } from "../../images/colours.ts";
import type { Lump } from "../kit/blob.ts";
import { merged, moved, rotated, twice, type Shape } from "../kit/shape.ts";
import { ball, surface, tube } from "../kit/surface.ts";
import { add, step, type Vec3 } from "../kit/vector.ts";
import { body, coat, eyes, marked, pair } from "./coat.ts";
import { part, type Look, type Part, type Thing } from "./thing.ts";
import { scaledAt } from "./creatures-parts.ts";

export const BIRDS: Readonly<Record<string, Thing>> = {
  bird: { metres: 0.2, build: (look) => buildBird(look, "bird") },
  duck: { metres: 0.3, build: (look) => buildBird(look, "duck") },
  owl: { metres: 0.3, build: buildOwl },
  penguin: { metres: 0.8, build: buildPenguin },
};

function feet(look: Look, colour: Colour, x: number, z: number, size: number): Part {
  const toes = [-24, 0, 24].map((turn) =>
    rotated(
      moved(ball([0, 0, 0], [size * 0.28, size * 0.2, size * 0.75], 12), [0, size * 0.2, size * 0.55]),
      [0, 1, 0],
      turn,
    ),
  );
  const foot = moved(merged([...toes, ball([0, size * 0.22, 0], [size * 0.35, size * 0.24, size * 0.35], 12)]), [
    x,
    0,
    z,
  ]);
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
      ? ([
          {
            at: [0, base + 0.2, -0.22],
            to: [0, base + 0.34, -0.36],
            radius: 0.1,
            radiusTo: 0.03,
            colour: own.plain,
            blend: 0.08,
          },
        ] as const)
      : ([
          {
            at: [0, base + 0.13, -0.2],
            to: [0, base + 0.2, -0.5],
            radius: 0.08,
            radiusTo: 0.045,
            colour: own.dark,
            blend: 0.06,
          },
        ] as const)),
    ...pair({
      at: [0.185, base + 0.15, -0.06],
      radius: [0.05, 0.12, 0.24],
      along: [0, 1, 0.22],
      colour: isDuck ? own.plain : own.dark,
      blend: 0.02,
    }),
  ];
  const legs = twice(
    tube(
      [
        [0.075, 0.02, 0.02],
        [0.075, base, 0.0],
      ],
      0.016,
      { sides: 10 },
    ),
  );
  const bill = isDuck
    ? beak(add(head, [0, -0.03, size * 0.8]), 0.17, 0.085, 0.01)
    : beak(add(head, [0, -0.01, size * 0.86]), 0.12, 0.04, 0.02);
  return [
    body("Body", own, lumps, { cell: 0.0135, fade: 0.04 }),
    ...eyes(look, [size * 0.62, head[1] + size * 0.22, head[2] + size * 0.68], size * 0.17),
    part(
      "Beak",
      look.second("#ee8a1e", "plastic"),
      isDuck ? scaledAt(bill, add(head, [0, -0.03, 0]), [1, 0.62, 1]) : bill,
    ),
    part("Legs", look.fixed("#e07c1c", "skin"), legs),
    feet(look, "#e07c1c", 0.075, 0.02, isDuck ? 0.085 : 0.06),
  ];
}

function buildOwl(look: Look): readonly Part[] {
  const own = coat(look, "#8c6642", "fur");
  const lumps: Lump[] = [
    { at: [0, 0.36, 0], radius: [0.26, 0.33, 0.23], colour: own.plain },
    { at: [0, 0.33, 0.1], radius: [0.19, 0.25, 0.16], colour: own.light, blend: 0.04 },
    { at: [0, 0.7, 0.01], radius: [0.25, 0.2, 0.21], colour: own.plain, blend: 0.12 },
    ...pair({ at: [0.1, 0.7, 0.15], radius: [0.12, 0.12, 0.07], colour: own.light, blend: 0.02 }),
    ...pair({
      at: [0.14, 0.84, 0.04],
      to: [0.22, 1.0, 0.02],
      radius: 0.08,
      radiusTo: 0.012,
      colour: own.dark,
      blend: 0.05,
    }),
    ...pair({
      at: [0.25, 0.38, -0.03],
      radius: [0.06, 0.27, 0.17],
      along: [0.12, 1, 0.1],
      colour: own.dark,
      blend: 0.02,
    }),
    { at: [0, 0.14, -0.16], to: [0, 0.04, -0.3], radius: 0.1, radiusTo: 0.06, colour: own.dark, blend: 0.06 },
  ];
  const speckled = (shape: Shape): Shape =>
    marked(shape, ([x, y, z]) =>
      own.isPainted
        ? 1 - 0.4 * step(0.35, 0.6, Math.sin(52 * x) * Math.sin(44 * y)) * step(0.1, 0.16, z) * (1 - step(0.5, 0.56, y))
        : 1,
    );
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
    ...pair({
      at: [0.24, 0.55, 0],
      to: [0.33, 0.22, 0.0],
      radius: 0.06,
      radiusTo: 0.035,
      colour: own.plain,
      blend: 0.05,
    }),
    { at: [0, 0.1, -0.18], to: [0, 0.03, -0.27], radius: 0.08, radiusTo: 0.04, colour: own.plain, blend: 0.06 },
  ];
  return [
    body("Body", own, lumps, { cell: 0.0135, fade: 0.02 }),
    ...eyes(look, [0.075, 0.79, 0.178], 0.03),
    part("Beak", look.second("#f09a26", "plastic"), beak([0, 0.73, 0.175], 0.11, 0.05, 0.02)),
    feet(look, "#f09a26", 0.1, 0.08, 0.1),
  ];
}
