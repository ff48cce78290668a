/** Things of every day. */
import { darker } from "../../images/colours.ts";
import { around, bent, merged, moved, rotated, twice, type Shape } from "../kit/shape.ts";
import { box, prism } from "../kit/solids.ts";
import { ball, curve, lathe, profileCurve, ring, rod, tube } from "../kit/surface.ts";
import type { Vec2, Vec3 } from "../kit/vector.ts";
import { part, type Look, type Part, type Thing } from "./thing.ts";

export const GADGETS: Readonly<Record<string, Thing>> = {
  guitar: { metres: 1, build: buildGuitar },
  camera: { metres: 0.1, build: buildCamera },
  phone: { metres: 0.15, picture: "sides", build: buildPhone },
  computer: { metres: 0.45, build: buildComputer },
  umbrella: { metres: 0.9, build: buildUmbrella },
  frame: { metres: 0.4, picture: "sides", build: buildFrame },
};

function buildGuitar(look: Look): readonly Part[] {
  const half = curve(
    [
      [0, 0.02, 0],
      [0.2, 0.05, 0],
      [0.27, 0.2, 0],
      [0.21, 0.38, 0],
      [0.17, 0.47, 0],
      [0.2, 0.58, 0],
      [0.18, 0.7, 0],
      [0.05, 0.76, 0],
      [0, 0.765, 0],
    ],
    5,
  ).map(([x, y]) => [x, y] as const);
  const outline: Vec2[] = [
    ...half,
    ...half
      .slice(1, -1)
      .toReversed()
      .map(([x, y]): Vec2 => [-x, y]),
  ];
  const top = outline.map(([x, y]): Vec2 => [x * 0.97, 0.39 + (y - 0.39) * 0.97]);
  const strings = Array.from({ length: 6 }, (_, index) =>
    rod([-0.03 + 0.012 * index, 0.2, 0.085], [-0.018 + 0.0072 * index, 1.45, 0.075], 0.0016, 0.0016, 5),
  );
  const frets = Array.from({ length: 14 }, (_, index) =>
    box([0, 0.66 + 0.7 * (1 - 0.9 ** index) * 1.35, 0.072], [0.062, 0.004, 0.006], 0),
  );
  const pegs = [-1, 1].flatMap((side) =>
    [1.48, 1.54, 1.6].map((y) =>
      merged([
        rod([side * 0.03, y, 0.03], [side * 0.085, y, 0.03], 0.006),
        ball([side * 0.095, y, 0.03], [0.018, 0.013, 0.012], 12),
      ]),
    ),
  );
  const lean = (shape: Shape): Shape => rotated(shape, [1, 0, 0], -8);
  return [
    part("Body", look.second(darker("#b5763a", 0.35), "wood"), lean(prism(outline, { depth: 0.12, bevel: 0.012 }))),
    part("Top", look.main("#c98a45", "wood"), lean(moved(prism(top, { depth: 0.012 }), [0, 0, 0.06]))),
    part(
      "Neck",
      look.fixed("#5f3d24", "wood"),
      lean(box([0, 1.02, 0.05], [0.064, 0.82, 0.04], 0.014)),
      lean(box([0, 1.54, 0.035], [0.1, 0.22, 0.03], 0.012)),
      lean(box([0, 0.2, 0.075], [0.16, 0.035, 0.02], 0.006)),
    ),
    part(
      "Sound hole",
      look.fixed("#1f1712", "matt"),
      lean(
        moved(
          rotated(
            lathe(
              [
                [0.001, 0],
                [0.072, 0],
                [0.072, 0.004],
                [0.001, 0.004],
              ],
              36,
            ),
            [1, 0, 0],
            90,
          ),
          [0, 0.5, 0.066],
        ),
      ),
    ),
    part(
      "Rosette",
      look.fixed("#e8d6b0", "ceramic"),
      lean(moved(rotated(ring([0, 0, 0], 0.082, 0.007, 44, 6), [1, 0, 0], 90), [0, 0.5, 0.067])),
    ),
    part("Metal", look.fixed("#d9dde2", "silver"), ...[...strings, ...frets, ...pegs].map(lean)),
    part(
      "Stand",
      look.fixed("#2b2d33", "metal"),
      tube(
        curve(
          [
            [-0.2, 0.03, 0.16],
            [-0.1, 0.02, -0.04],
            [0.1, 0.02, -0.04],
            [0.2, 0.03, 0.16],
          ],
          5,
        ),
        0.018,
        { sides: 10 },
      ),
      rod([0, 0.03, -0.04], [0, 0.5, -0.16], 0.018),
      rod([0, 0.03, -0.04], [0, 0.0, -0.3], 0.018),
    ),
  ];
}

function buildCamera(look: Look): readonly Part[] {
  const facing = (shape: Shape): Shape => moved(rotated(shape, [1, 0, 0], 90), [0.08, 0.38, 0.2]);
  const lens = lathe(
    [
      [0.001, 0.0],
      [0.29, 0.0],
      [0.29, 0.12],
      [0.27, 0.14],
      [0.27, 0.28],
      [0.25, 0.3],
      [0.21, 0.3],
      [0.19, 0.22],
      [0.001, 0.2],
    ],
    64,
    30,
  );
  return [
    part("Body", look.main("#26282d", "leather"), box([0, 0.38, 0], [1.14, 0.64, 0.38], 0.06)),
    part(
      "Plates",
      look.second("#c4c9d0", "steel"),
      box([0, 0.735, 0], [1.1, 0.13, 0.36], 0.045),
      box([0, 0.06, 0], [1.1, 0.08, 0.36], 0.035),
      box([0.08, 0.85, 0.02], [0.34, 0.17, 0.32], 0.05),
      ...[-0.42, -0.24].map((x) =>
        moved(
          lathe(
            [
              [0.001, 0],
              [0.085, 0],
              [0.085, 0.07],
              [0.075, 0.08],
              [0.001, 0.08],
            ],
            32,
          ),
          [x, 0.8, 0],
        ),
      ),
      facing(ring([0, 0.3, 0], 0.23, 0.016, 56, 8)),
    ),
    part(
      "Lens",
      look.fixed("#1d1e22", "metal"),
      facing(lens),
      ...[0.06, 0.2].map((y) => facing(around(box([0, y, 0.285], [0.02, 0.06, 0.02], 0.004), 36))),
    ),
    part(
      "Glass",
      look.fixed("#27406a", "eye"),
      facing(ball([0, 0.2, 0], [0.19, 0.05, 0.19], 36)),
      box([0.08, 0.85, 0.185], [0.2, 0.09, 0.02], 0.01),
      box([0.42, 0.73, 0.18], [0.12, 0.07, 0.02], 0.01),
    ),
    part(
      "Button",
      look.fixed("#c9303a", "paint"),
      moved(
        lathe(
          [
            [0.001, 0],
            [0.05, 0],
            [0.05, 0.03],
            [0.04, 0.036],
            [0.001, 0.036],
          ],
          28,
        ),
        [0.42, 0.8, 0],
      ),
    ),
  ];
}

function buildPhone(look: Look): readonly Part[] {
  const lean = (shape: Shape): Shape => moved(rotated(shape, [1, 0, 0], -16), [0, 0.06, 0]);
  const icons = ["#4f9fe8", "#5fc86a", "#f2a33c", "#e8557f"].map((colour, at) =>
    part(
      `Icons ${at + 1}`,
      look.fixed(colour, "light"),
      ...[0, 1, 2, 3, 4].map((row) =>
        lean(box([-0.165 + 0.11 * ((at + row) % 4), 0.28 + 0.15 * row, 0.043], [0.078, 0.078, 0.006], 0.002)),
      ),
    ),
  );
  return [
    part(
      "Case",
      look.main("#2b2d33", "metal"),
      lean(box([0, 0.52, 0], [0.52, 1.04, 0.075], 0.036)),
      lean(box([0.262, 0.66, 0], [0.012, 0.14, 0.03], 0.004)),
    ),
    part("Screen", look.fixed("#10233f", "eye"), lean(box([0, 0.52, 0.037], [0.478, 0.995, 0.01], 0.003))),
    ...icons,
    part(
      "Lenses",
      look.fixed("#17181b", "eye"),
      lean(box([0.12, 0.89, -0.042], [0.2, 0.2, 0.018], 0.008)),
      ...[
        [0.16, 0.93],
        [0.16, 0.85],
        [0.08, 0.89],
      ].map(([x = 0, y = 0]) =>
        lean(
          moved(
            rotated(
              lathe(
                [
                  [0.001, 0],
                  [0.034, 0],
                  [0.034, 0.02],
                  [0.001, 0.02],
                ],
                24,
              ),
              [1, 0, 0],
              -90,
            ),
            [x, y, -0.05],
          ),
        ),
      ),
    ),
    part(
      "Stand",
      look.second("#c9ced4", "steel"),
      box([0, 0.03, -0.04], [0.34, 0.06, 0.36], 0.02),
      box([0, 0.2, -0.13], [0.1, 0.34, 0.03], 0.012),
    ),
  ];
}

function buildComputer(look: Look): readonly Part[] {
  const keys = Array.from({ length: 5 }, (_, row) =>
    Array.from({ length: 13 }, (_, column) =>
      box([-0.42 + 0.07 * column, 0.045, 0.42 + 0.06 * row], [0.056, 0.03, 0.047], 0.007),
    ),
  ).flat();
  const lines = Array.from({ length: 9 }, (_, index) =>
    box(
      [-0.34 + 0.06 * (index % 3) + look.roll(0.1, 0.24), 0.86 - 0.052 * index, 0.036],
      [look.roll(0.2, 0.42), 0.018, 0.004],
      0,
    ),
  );
  return [
    part(
      "Monitor",
      look.main("#2b2d33", "plastic"),
      box([0, 0.66, 0], [1.16, 0.7, 0.05], 0.02),
      box([0, 0.22, -0.06], [0.12, 0.36, 0.04], 0.015),
      lathe(
        [
          [0.001, 0],
          [0.24, 0],
          [0.24, 0.015],
          [0.22, 0.025],
          [0.001, 0.025],
        ],
        48,
      ),
    ),
    part("Screen", look.fixed("#0f2338", "eye"), box([0, 0.665, 0.026], [1.1, 0.63, 0.008], 0.002)),
    part("Text", look.fixed("#5fe0a0", "light"), ...lines.slice(0, 6)),
    part("More text", look.fixed("#f2b04a", "light"), ...lines.slice(6)),
    part("Keyboard", look.second("#c9ced4", "plastic"), box([0, 0.02, 0.54], [1.0, 0.035, 0.36], 0.015)),
    part("Keys", look.fixed("#f4f4f1", "plastic"), ...keys),
    part(
      "Mouse",
      look.second("#c9ced4", "plastic"),
      bent(ball([0.64, 0.0, 0.54], [0.07, 0.06, 0.11], 28), ([x, y, z]) => [x, Math.max(0.002, y), z]),
    ),
  ];
}

function buildUmbrella(look: Look): readonly Part[] {
  const ribs = 8;
  const canopy = bent(
    lathe(
      profileCurve(
        [
          [0.62, 0.6],
          [0.5, 0.78],
          [0.3, 0.92],
          [0.001, 1.0],
        ],
        6,
      ),
      ribs * 8,
    ),
    ([x, y, z]) => {
      const [angle, far] = [Math.atan2(x, z), Math.hypot(x, z)];
      const hang = Math.abs(Math.sin((ribs / 2) * angle));
      return [
        x * (1 - 0.05 * hang * far),
        y - 0.02 * far + 0.06 * hang * far ** 2 - 0.03 * hang * far,
        z * (1 - 0.05 * hang * far),
      ];
    },
  );
  const struts = around(
    tube(
      curve(
        [
          [0, 0.98, 0],
          [0, 0.88, 0.29],
          [0, 0.745, 0.48],
          [0, 0.57, 0.6],
        ],
        6,
      ),
      0.008,
      { sides: 6 },
    ),
    ribs,
  );
  const handle = tube(
    curve(
      [
        [0, 0.14, 0],
        [0, 0.05, 0.0],
        [0, 0.0, 0.05],
        [0, 0.03, 0.12],
        [0, 0.09, 0.12],
      ],
      6,
    ),
    0.028,
    { sides: 14 },
  );
  return [
    part("Canopy", { ...look.main("#d8433b", "cloth"), isSheet: true }, canopy),
    part("Shaft", look.fixed("#c4c9d0", "steel"), rod([0, 0.12, 0], [0, 1.06, 0], 0.014), struts),
    part("Handle", look.second("#7a5230", "wood"), handle),
    part(
      "Stand",
      look.fixed("#4a4e57", "iron"),
      lathe(
        [
          [0.001, -0.05],
          [0.2, -0.05],
          [0.2, -0.03],
          [0.04, 0.0],
          [0.001, 0.0],
        ],
        40,
      ),
    ),
  ];
}

function buildFrame(look: Look): readonly Part[] {
  const bar = (at: Vec3, size: Vec3): Shape => box(at, size, 0.02);
  const lean = (shape: Shape): Shape => rotated(shape, [1, 0, 0], -10);
  const bars = [
    bar([0, 0.05, 0], [1.24, 0.1, 0.07]),
    bar([0, 0.95, 0], [1.24, 0.1, 0.07]),
    bar([-0.57, 0.5, 0], [0.1, 1, 0.07]),
    bar([0.57, 0.5, 0], [0.1, 1, 0.07]),
  ];
  return [
    part("Picture", look.main("#8fb8cf", "matt"), lean(box([0, 0.5, 0.004], [1.08, 0.82, 0.012], 0))),
    part(
      "Frame",
      look.second("#c9a15f", "gold"),
      ...bars.map(lean),
      ...[0.1, 0.9].map((y) => lean(box([0, y, 0.03], [1.06, 0.014, 0.02], 0.005))),
    ),
    part(
      "Back",
      look.fixed("#7a5230", "wood"),
      lean(box([0, 0.5, -0.016], [1.12, 0.88, 0.02], 0)),
      rod([0, 0.62, -0.14], [0, 0.01, -0.42], 0.022),
      twice(rod([0.2, 0.5, -0.12], [0.2, 0.48, -0.115], 0.01)),
    ),
  ];
}
