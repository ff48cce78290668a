/** Buildings nobody lives in. */
import { darker, lighter } from "../../images/colours.ts";
import { merged, moved, rotated, scaled, twice } from "../kit/shape.ts";
import { box, prism } from "../kit/solids.ts";
import { curve, lathe, rod, tube } from "../kit/surface.ts";
import { boxProjected } from "../kit/project.ts";
import { UP, type Vec2 } from "../kit/vector.ts";
import { part, type Look, type Part, type Thing } from "./thing.ts";
import { gable } from "./buildings-parts.ts";

export const LANDMARKS: Readonly<Record<string, Thing>> = {
  well: { metres: 2, build: buildWell },
  bridge: { metres: 4, build: buildBridge },
  temple: { metres: 8, build: buildTemple },
};

function buildWell(look: Look): readonly Part[] {
  const wall = lathe(
    [
      [0.3, 0],
      [0.36, 0],
      [0.36, 0.34],
      [0.38, 0.35],
      [0.38, 0.4],
      [0.28, 0.4],
      [0.28, 0.1],
      [0.001, 0.1],
    ],
    40,
    30,
  );
  return [
    part("Wall", look.main("#9a958c", "blocks"), wall),
    part(
      "Water",
      look.fixed("#2f6f9a", "water"),
      lathe(
        [
          [0.285, 0.22],
          [0.001, 0.222],
        ],
        32,
      ),
    ),
    part(
      "Frame",
      look.fixed("#7a5230", "wood"),
      twice(box([0.33, 0.62, 0], [0.06, 0.8, 0.07], 0.012)),
      rod([-0.34, 0.78, 0], [0.34, 0.78, 0], 0.045),
      rod([0.34, 0.78, 0], [0.46, 0.78, 0], 0.014),
      rod([0.45, 0.78, 0], [0.45, 0.66, 0], 0.014),
    ),
    part("Roof", look.second("#a0503c", "tiles"), boxProjected(gable(0.78, 0.62, 0.96, 1.22, 0.06, 0.035))),
    part(
      "Bucket",
      look.fixed("#8c6238", "planks"),
      moved(
        lathe(
          [
            [0.001, 0],
            [0.07, 0],
            [0.09, 0.14],
            [0.08, 0.14],
            [0.062, 0.012],
            [0.001, 0.012],
          ],
          24,
        ),
        [0, 0.42, 0],
      ),
      rod([0, 0.54, 0], [0, 0.76, 0], 0.007),
    ),
  ];
}

function buildBridge(look: Look): readonly Part[] {
  const arc = (x: number): number => 0.34 * (1 - (x / 0.9) ** 2);
  const under: Vec2[] = Array.from({ length: 21 }, (_, index) => {
    const x = -0.62 + (1.24 * index) / 20;
    return [x, 0.3 * Math.sqrt(Math.max(0, 1 - (x / 0.62) ** 2))] as const;
  });
  const over: Vec2[] = Array.from({ length: 21 }, (_, index) => {
    const x = 1.0 - (2.0 * index) / 20;
    return [x, 0.1 + arc(Math.max(-0.9, Math.min(0.9, x)))] as const;
  });
  const body = prism([[-1.0, 0], ...under, [1.0, 0], ...over], { depth: 0.46 });
  const rail = curve(
    over.filter((_, index) => index % 2 === 0).map(([x, y]) => [x, y + 0.13, 0.21] as const),
    3,
  );
  const posts = over
    .filter((_, index) => index % 2 === 0)
    .map(([x, y]) => box([x, y + 0.05, 0.21], [0.035, 0.17, 0.035], 0.006));
  const side = merged([tube(rail, 0.018, { sides: 10 }), ...posts]);
  return [
    part("Bridge", look.main("#a8a29a", "blocks"), boxProjected(body)),
    part("Railing", look.second("#b0463c", "wood"), side, scaled(side, [1, 1, -1])),
  ];
}

function buildTemple(look: Look): readonly Part[] {
  const stone = look.main("#e9e2d2", "marble");
  const column = lathe(
    [
      [0.001, 0.16],
      [0.075, 0.16],
      [0.075, 0.2],
      [0.058, 0.22],
      [0.05, 0.68],
      [0.07, 0.72],
      [0.075, 0.76],
      [0.001, 0.76],
    ],
    28,
    30,
  );
  const places: readonly Vec2[] = [
    ...[-0.5, -0.3, -0.1, 0.1, 0.3, 0.5].flatMap((x): Vec2[] => [
      [x, 0.32],
      [x, -0.32],
    ]),
    [-0.5, 0],
    [0.5, 0],
  ];
  const steps = [0, 1, 2].map((index) =>
    box([0, 0.027 + 0.053 * index, 0], [1.36 - 0.1 * index, 0.054, 0.96 - 0.1 * index], 0.006),
  );
  const front = prism(
    [
      [-0.62, 0.86],
      [0.62, 0.86],
      [0, 1.12],
    ],
    { depth: 0.74 },
  );
  return [
    part("Steps", stone, ...steps.map((shape) => boxProjected(shape))),
    part("Columns", stone, ...places.map(([x, z]) => moved(column, [x, 0, z]))),
    part("Beam", stone, boxProjected(box([0, 0.81, 0], [1.2, 0.1, 0.8], 0.008))),
    part(
      "Roof",
      look.second(lighter("#c9835a", 0.1), "tiles"),
      boxProjected(gable(1.18, 0.82, 0.86, 1.12, 0.06, 0.035)),
    ),
    part(
      "Gable",
      look.fixed(darker("#e9e2d2", 0.06), "marble"),
      boxProjected(scaled(rotated(front, UP, 90), [1.5, 1, 0.6])),
    ),
    part("Hall", look.fixed("#cfc4ae", "plaster"), boxProjected(box([0, 0.46, 0], [0.72, 0.6, 0.4], 0.004))),
  ];
}
