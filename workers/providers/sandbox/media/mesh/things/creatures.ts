/** Small animals that neither walk on four legs nor have feathers. */
import { mix } from "../../images/colours.ts";
import type { Lump } from "../kit/blob.ts";
import { bent, merged, moved, rotated, scaled, twice, type Shape } from "../kit/shape.ts";
import { prism } from "../kit/solids.ts";
import { ball, curve, lathe, tube } from "../kit/surface.ts";
import { step, type Vec2, type Vec3 } from "../kit/vector.ts";
import { body, coat, eyes, pair, type Coat } from "./coat.ts";
import { part, type Look, type Part, type Thing } from "./thing.ts";
import { scaledAt, rounded } from "./creatures-parts.ts";

export const CREATURES: Readonly<Record<string, Thing>> = {
  turtle: { metres: 0.4, build: buildTurtle },
  butterfly: { metres: 0.15, build: buildButterfly },
  snail: { metres: 0.1, build: buildSnail },
};

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
    ...[1, -1].flatMap((end) =>
      pair({
        at: [0.22, 0.16, 0.26 * end],
        to: [0.34, 0.05, 0.36 * end],
        radius: 0.085,
        radiusTo: 0.07,
        colour: own.plain,
        blend: 0.05,
      }),
    ),
    { at: [0, 0.14, -0.38], to: [0, 0.07, -0.54], radius: 0.05, radiusTo: 0.012, colour: own.plain, blend: 0.05 },
  ];
  const hem = moved(
    lathe(
      [
        [0.34, -0.02],
        [0.37, -0.03],
        [0.385, 0],
        [0.36, 0.025],
        [0.34, 0.02],
      ],
      48,
    ),
    [0, 0.2, 0],
  );
  return [
    body("Body", own, lumps, { cell: 0.014 }),
    part("Shell", look.second("#6d4a2b", "leather"), shell, scaledAt(hem, [0, 0.2, 0], [1, 1, 1.16])),
    ...eyes(look, [0.062, 0.4, 0.645], 0.024),
  ];
}

function buildButterfly(look: Look): readonly Part[] {
  const wing = look.main("#e8762a", "petal");
  const upper: readonly Vec2[] = rounded([
    [0.02, 0.02],
    [0.14, 0.26],
    [0.34, 0.44],
    [0.5, 0.44],
    [0.54, 0.3],
    [0.46, 0.12],
    [0.28, 0.0],
    [0.02, -0.02],
  ]);
  const lower: readonly Vec2[] = rounded([
    [0.02, -0.02],
    [0.26, -0.02],
    [0.4, -0.12],
    [0.4, -0.28],
    [0.3, -0.4],
    [0.2, -0.34],
    [0.1, -0.16],
  ]);
  const inner = (points: readonly Vec2[], share: number): readonly Vec2[] => {
    const middle = points.reduce(([x, y], p) => [x + p[0] / points.length, y + p[1] / points.length] as const, [
      0, 0,
    ] as Vec2);
    return points.map(([x, y]) => [middle[0] + (x - middle[0]) * share, middle[1] + (y - middle[1]) * share] as const);
  };
  const lift = (shape: Shape): Shape => twice(rotated(shape, [0, 1, 0], -24));
  const flat = (points: readonly Vec2[], depth: number): Shape => prism(points.toReversed(), { depth });
  const rise = 0.42;
  const place = (shape: Shape): Shape => moved(rotated(lift(shape), [1, 0, 0], -18), [0, rise, 0]);
  const dots = [
    [0.44, 0.38],
    [0.49, 0.3],
    [0.36, -0.3],
    [0.3, -0.34],
  ].map(([x = 0, y = 0]) => ball([x, y, 0], [0.02, 0.02, 0.016], 10));
  const torso = merged([
    ball([0, 0.06, 0], [0.028, 0.1, 0.028], 14),
    ball([0, -0.13, 0], [0.024, 0.14, 0.024], 14),
    ball([0, 0.18, 0], 0.034, 14),
  ]);
  const feelers = twice(
    tube(
      curve(
        [
          [0.01, 0.2, 0.01],
          [0.05, 0.3, 0.03],
          [0.1, 0.36, 0.03],
        ],
        5,
      ),
      (share) => 0.005 + 0.006 * step(0.85, 1, share),
      { sides: 6 },
    ),
  );
  const stand = [
    lathe(
      [
        [0.001, 0],
        [0.1, 0],
        [0.1, 0.015],
        [0.012, 0.03],
        [0.001, 0.03],
      ],
      28,
    ),
    tube(
      [
        [0, 0.02, 0],
        [0, rise - 0.2, 0.04],
      ],
      0.007,
      { sides: 8 },
    ),
  ];
  return [
    part("Wing edges", look.second("#241d22", "matt"), place(merged([flat(upper, 0.012), flat(lower, 0.012)]))),
    part(
      "Wings",
      { ...wing, isSheet: false },
      place(merged([flat(inner(upper, 0.8), 0.02), flat(inner(lower, 0.76), 0.02)])),
    ),
    part("Dots", look.fixed("#fdf3dc", "matt"), place(merged(dots))),
    part(
      "Body",
      look.fixed("#2a2226", "fur"),
      moved(rotated(merged([torso, feelers]), [1, 0, 0], -18), [0, rise, 0.01]),
    ),
    part("Stand", look.fixed("#c9a15f", "brass"), ...stand),
  ];
}

function buildSnail(look: Look): readonly Part[] {
  const own: Coat = coat(look, "#d8b58a", "skin");
  const lumps: Lump[] = [
    { at: [0, 0.07, -0.42], to: [0, 0.1, 0.3], radius: 0.04, radiusTo: 0.11, colour: own.plain },
    { at: [0, 0.1, 0.3], to: [0, 0.36, 0.48], radius: 0.11, radiusTo: 0.095, colour: own.plain, blend: 0.08 },
    ...pair({
      at: [0.05, 0.4, 0.5],
      to: [0.11, 0.62, 0.56],
      radius: 0.026,
      radiusTo: 0.018,
      colour: own.plain,
      blend: 0.03,
    }),
    ...pair({
      at: [0.04, 0.32, 0.56],
      to: [0.08, 0.28, 0.66],
      radius: 0.022,
      radiusTo: 0.014,
      colour: own.plain,
      blend: 0.02,
    }),
  ];
  const spiral: Vec3[] = Array.from({ length: 110 }, (_, index) => {
    const share = index / 109;
    const [angle, reach] = [share * 2 * Math.PI * 2.6, 0.26 * (1 - share) ** 0.9];
    return [0.1 * share, 0.36 + reach * Math.sin(angle - 1.9), -0.04 + reach * Math.cos(angle - 1.9)];
  });
  const shell = look.second(mix("#a8623a", "#c9884a", 0.4), "ceramic");
  const whorl = (x: number): Shape =>
    tube(
      spiral.map(([dx, y, z]) => [dx * x, y, z] as const),
      (share) => 0.155 * (1 - share) ** 0.85 + 0.02,
      { sides: 24 },
    );
  return [
    body("Body", own, lumps, { cell: 0.014 }),
    part("Shell", shell, whorl(1), scaled(whorl(1), [-1, 1, 1])),
    part("Eyes", look.fixed("#17151a", "eye"), twice(ball([0.113, 0.635, 0.565], 0.026, 12))),
  ];
}
