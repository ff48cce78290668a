/** Arms, and other iron. */
import { bent, merged, moved, rotated, scaled, twice, type Shape } from "../kit/shape.ts";
import { box, prism } from "../kit/solids.ts";
import { ball, curve, lathe, ring, rod, tube } from "../kit/surface.ts";
import { UP, type Vec2, type Vec3 } from "../kit/vector.ts";
import { part, type Look, type Part, type Thing } from "./thing.ts";
import { stand } from "./treasures-parts.ts";

export const ARMS: Readonly<Record<string, Thing>> = {
  sword: { metres: 1, build: buildSword },
  shield: { metres: 0.8, picture: "sides", build: buildShield },
  axe: { metres: 0.9, build: buildAxe },
  hammer: { metres: 0.8, build: buildHammer },
  anchor: { metres: 1, build: buildAnchor },
};

function buildSword(look: Look): readonly Part[] {
  const blade = prism(
    [
      [-0.05, 0],
      [0.05, 0],
      [0.045, 0.9],
      [0, 1.06],
      [-0.045, 0.9],
    ],
    { depth: 0.028, bevel: 0.013 },
  );
  const groove = twice(box([0, 0.42, 0.0125], [0.012, 0.66, 0.004], 0.001));
  const guard = tube(
    curve(
      [
        [-0.2, 0.04, 0],
        [-0.12, -0.0, 0],
        [0, -0.012, 0],
        [0.12, 0.0, 0],
        [0.2, 0.04, 0],
      ],
      6,
    ),
    (share) => 0.026 - 0.008 * Math.sin(Math.PI * share),
    { sides: 16 },
  );
  const grip = lathe(
    Array.from({ length: 29 }, (_, index): Vec2 => [
      0.028 + 0.004 * Math.sin((index / 28) * Math.PI) + (index % 4 === 0 ? -0.004 : 0),
      -0.26 + 0.25 * (index / 28),
    ]),
    24,
  );
  // Point down in its stand, as swords are shown.
  const up = (shape: Shape): Shape => moved(rotated(shape, [0, 0, 1], 180), [0, 1.14, 0]);
  return [
    part("Blade", look.main("#dfe3e8", "chrome"), up(blade)),
    part("Groove", look.fixed("#8d9298", "metal"), up(groove), up(rotated(groove, UP, 180))),
    part(
      "Guard",
      look.second("#e2b64a", "gold"),
      up(guard),
      up(ball([0, -0.29, 0], [0.045, 0.045, 0.035], 24)),
      up(twice(ball([0.2, 0.04, 0], 0.03, 16))),
    ),
    part("Grip", look.fixed("#4a2f20", "leather"), up(grip)),
    part(
      "Jewel",
      look.fixed("#d2143c", "crystal"),
      up(ball([0, -0.01, 0.03], [0.022, 0.022, 0.012], 16)),
      up(ball([0, -0.01, -0.03], [0.022, 0.022, 0.012], 16)),
    ),
    stand(look, 0.34),
  ];
}

function buildShield(look: Look): readonly Part[] {
  const outline = smooth(
    [
      [-0.34, 0.9],
      [0, 0.98],
      [0.34, 0.9],
      [0.38, 0.6],
      [0.3, 0.25],
      [0, 0],
      [-0.3, 0.25],
      [-0.38, 0.6],
    ].toReversed(),
  );
  const inner = outline.map(([x, y]): Vec2 => [x * 0.86, 0.52 + (y - 0.52) * 0.87]);
  const bend = (shape: Shape): Shape => bent(shape, ([x, y, z]) => [x, y, z - 0.55 * x * x - 0.12 * (y - 0.5) ** 2]);
  const rivets = outline
    .filter((_, index) => index % 5 === 0)
    .map(([x, y]) => ball([x * 0.93, 0.52 + (y - 0.52) * 0.935, 0.05], 0.02, 12));
  const cross = merged([
    box([0, 0.52, 0.052], [0.09, 0.74, 0.02], 0.006),
    box([0, 0.6, 0.052], [0.56, 0.09, 0.02], 0.006),
  ]);
  const lean = (shape: Shape): Shape => rotated(shape, [1, 0, 0], -10);
  return [
    part(
      "Rim",
      look.second("#d8b060", "brass"),
      lean(bend(prism(outline, { depth: 0.06, bevel: 0.02 }))),
      ...rivets.map((shape) => lean(bend(shape))),
    ),
    part("Field", look.main("#2f55a0", "paint"), lean(bend(prism(inner, { depth: 0.085, bevel: 0.02 })))),
    part(
      "Cross",
      look.second("#d8b060", "brass"),
      lean(bend(cross)),
      lean(bend(ball([0, 0.6, 0.06], [0.075, 0.075, 0.04], 24))),
    ),
    part(
      "Stand",
      look.fixed("#4a3526", "wood"),
      box([0, 0.03, -0.12], [0.42, 0.06, 0.34], 0.02),
      rod([0, 0.04, -0.24], [0, 0.62, -0.12], 0.024),
    ),
  ];
}

function smooth(points: readonly (readonly number[])[]): Vec2[] {
  const all = [...points, points[0] ?? [0, 0]].map(([x = 0, y = 0]) => [x, y, 0] as const);
  return curve(all, 5)
    .slice(0, -1)
    .map(([x, y]) => [x, y] as const);
}

function buildAxe(look: Look): readonly Part[] {
  const head = prism(
    smooth(
      [
        [0.0, 0.86],
        [0.12, 0.88],
        [0.28, 1.0],
        [0.36, 0.86],
        [0.37, 0.7],
        [0.28, 0.58],
        [0.12, 0.72],
        [0, 0.74],
      ].toReversed(),
    ),
    { depth: 0.07, bevel: 0.03 },
  );
  const handle = tube(
    curve(
      [
        [0, 0.1, 0],
        [0.015, 0.4, 0],
        [-0.01, 0.7, 0],
        [0, 0.98, 0],
      ],
      6,
    ),
    0.032,
    { sides: 16 },
  );
  const isDouble = look.has("double", "battle", "viking");
  return [
    part(
      "Head",
      look.main("#c4c9d0", "steel"),
      head,
      ...(isDouble ? [scaled(head, [-1, 1, 1])] : [box([-0.04, 0.8, 0], [0.12, 0.11, 0.075], 0.02)]),
    ),
    part("Handle", look.second("#7a5230", "wood"), handle),
    part(
      "Wrap",
      look.fixed("#4a2f20", "leather"),
      ...[0.24, 0.29, 0.34, 0.39].map((y) => ring([0.012, y, 0], 0.032, 0.012, 20, 8)),
    ),
    stand(look, 0.34),
  ];
}

function buildHammer(look: Look): readonly Part[] {
  return [
    part(
      "Head",
      look.main("#8d9298", "steel"),
      box([0, 0.86, 0], [0.52, 0.26, 0.27], 0.05),
      twice(box([0.235, 0.86, 0], [0.07, 0.3, 0.31], 0.03)),
    ),
    part(
      "Runes",
      look.second("#5fd8ff", "neon"),
      moved(rotated(ring([0, 0, 0], 0.07, 0.008, 32, 8), [1, 0, 0], 90), [0, 0.86, 0.135]),
      box([0, 0.86, 0.136], [0.012, 0.12, 0.008], 0.002),
    ),
    part(
      "Handle",
      look.fixed("#5f4029", "leather"),
      lathe(
        Array.from({ length: 41 }, (_, index): Vec2 => [
          0.036 + (index % 4 < 2 ? 0.004 : 0),
          0.12 + 0.62 * (index / 40),
        ]),
        24,
      ),
    ),
    part("Pommel", look.fixed("#d8b060", "brass"), ring([0, 0.13, 0], 0.03, 0.02, 24, 10)),
    stand(look, 0.36),
  ];
}

function buildAnchor(look: Look): readonly Part[] {
  const arm = tube(
    curve(
      [
        [0, 0.1, 0],
        [0.24, 0.14, 0],
        [0.38, 0.3, 0],
        [0.42, 0.42, 0],
      ],
      7,
    ),
    (share) => 0.055 - 0.02 * share,
    { sides: 16 },
  );
  const fluke = prism(
    [
      [0.3, 0.38],
      [0.42, 0.34],
      [0.52, 0.42],
      [0.45, 0.58],
    ],
    { depth: 0.06, bevel: 0.02 },
  );
  return [
    part(
      "Anchor",
      look.main("#5b5e66", "iron"),
      rod([0, 0.06, 0], [0, 0.92, 0], 0.055, 0.045, 20),
      twice(arm),
      twice(fluke),
      ball([0, 0.1, 0], 0.07, 20),
      moved(rotated(ring([0, 0, 0], 0.09, 0.026, 40, 12), [1, 0, 0], 90), [0, 1.02, 0]),
    ),
    part(
      "Stock",
      look.second("#7a5230", "wood"),
      rod([-0.34, 0.78, 0], [0.34, 0.78, 0], 0.036, 0.036, 20),
      twice(ball([0.34, 0.78, 0], 0.05, 18)),
    ),
    part(
      "Rope",
      look.fixed("#cdb583", "knit"),
      tube(
        Array.from({ length: 60 }, (_, index): Vec3 => [
          0.075 * Math.sin(index / 3.2),
          0.2 + 0.0085 * index,
          0.075 * Math.cos(index / 3.2),
        ]),
        0.018,
        { sides: 8 },
      ),
    ),
  ];
}
