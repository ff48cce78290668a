/** What drives on rails, and what swims. */
import { darker, lighter } from "../../images/colours.ts";
import { merged, moved, rotated, twice, type Shape } from "../kit/shape.ts";
import { box, prism } from "../kit/solids.ts";
import { ball, curve, lathe, profileCurve, ring, rod, surface, tube } from "../kit/surface.ts";
import { clamp, UP, type Vec2, type Vec3 } from "../kit/vector.ts";
import { part, sheet, type Look, type Part, type Thing } from "./thing.ts";
import { wheels } from "./vehicles-parts.ts";

export const RAILS_AND_WATER: Readonly<Record<string, Thing>> = {
  train: { metres: 3, build: buildTrain },
  boat: { metres: 6, build: buildBoat },
  submarine: { metres: 3, build: buildSubmarine },
};

function buildTrain(look: Look): readonly Part[] {
  const paint = look.main("#2b5c46", "paint");
  const lying = (shape: Shape, at: Vec3): Shape => moved(rotated(shape, [1, 0, 0], 90), at);
  const boiler = lying(
    lathe(
      profileCurve(
        [
          [0.001, -0.72],
          [0.27, -0.72],
          [0.28, -0.7],
          [0.28, 0.56],
          [0.26, 0.62],
          [0.001, 0.64],
        ],
        3,
      ),
      48,
    ),
    [0, 0.58, 0.4],
  );
  const bands = [0.05, 0.35, 0.65].map((z) => lying(ring([0, 0, 0], 0.283, 0.012, 48, 8), [0, 0.58, 0.2 + z]));
  const chimney = lathe(
    profileCurve(
      [
        [0.001, 0],
        [0.09, 0],
        [0.075, 0.1],
        [0.085, 0.26],
        [0.14, 0.36],
        [0.13, 0.4],
        [0.001, 0.38],
      ],
      4,
    ),
    32,
  );
  const dome = ball([0, 0.86, 0.28], [0.11, 0.12, 0.11], 28);
  const cab = [box([0, 0.66, -0.52], [0.68, 0.62, 0.44], 0.02), box([0, 1.0, -0.54], [0.82, 0.06, 0.62], 0.03)];
  const big = wheels(
    [
      [-0.3, 0.21, -0.5],
      [0.3, 0.21, -0.5],
      [-0.3, 0.21, -0.02],
      [0.3, 0.21, -0.02],
    ],
    0.21,
    0.08,
  );
  const small = wheels(
    [
      [-0.3, 0.14, 0.42],
      [0.3, 0.14, 0.42],
      [-0.3, 0.14, 0.76],
      [0.3, 0.14, 0.76],
    ],
    0.14,
    0.08,
  );
  const catcher = Array.from({ length: 7 }, (_, index) =>
    rod([-0.27 + 0.09 * index, 0.05, 1.16 - Math.abs(index - 3) * 0.05], [-0.2 + 0.066 * index, 0.3, 1.0], 0.016),
  );
  return [
    part("Boiler", paint, boiler, ...cab),
    part(
      "Brass",
      look.second("#e2b64a", "brass"),
      ...bands,
      dome,
      moved(
        lathe(
          [
            [0.001, 0],
            [0.05, 0],
            [0.05, 0.03],
            [0.001, 0.03],
          ],
          20,
        ),
        [0, 0, 0],
      ),
    ),
    part(
      "Iron",
      look.fixed("#26282d", "iron"),
      moved(chimney, [0, 0.82, 0.8]),
      box([0, 0.31, 0.14], [0.5, 0.1, 1.72], 0.02),
      ...catcher,
      lying(
        lathe(
          [
            [0.001, 0],
            [0.24, 0],
            [0.25, 0.02],
            [0.001, 0.05],
          ],
          40,
        ),
        [0, 0.58, 1.03],
      ),
      twice(rod([0.35, 0.21, -0.52], [0.35, 0.21, 0.02], 0.025)),
    ),
    part("Wheels", look.fixed("#26282d", "iron"), big.tyres, small.tyres),
    part("Rims", look.fixed("#b3302c", "paint"), big.rims, small.rims),
    part(
      "Windows",
      look.fixed("#dff1f7", "eye"),
      twice(box([0.342, 0.78, -0.52], [0.012, 0.2, 0.26], 0.004)),
      twice(box([0.24, 0.8, -0.298], [0.14, 0.16, 0.012], 0.004)),
    ),
    part(
      "Lamp",
      look.fixed("#fff1c0", "light"),
      lying(
        lathe(
          [
            [0.001, 0],
            [0.09, 0],
            [0.09, 0.08],
            [0.001, 0.09],
          ],
          28,
        ),
        [0, 0.92, 1.0],
      ),
    ),
  ];
}

function buildBoat(look: Look): readonly Part[] {
  const isSailing = !look.has("motorboat", "speedboat", "rowing", "rowboat", "canoe");
  const shell = surface(64, 24, (u, v) => {
    // From the left rim under the keel to the right rim; stern to bow.
    const along = u;
    const across = 2 * v - 1;
    const wide = 0.36 * Math.sin(Math.PI * clamp(0.18 + 0.82 * (1 - along), 0, 1)) ** 0.62 * (along > 0.985 ? 0.02 : 1);
    const deep = 0.36 * (1 - 0.5 * along ** 4);
    const rise = 0.13 * along ** 2.2 + 0.03 * (1 - along) ** 3;
    const curve = 1 - Math.abs(across) ** 2.6;
    return [wide * Math.sin((across * Math.PI) / 2), 0.42 + rise - deep * curve, -0.92 + 1.95 * along];
  });
  const deck = surface(48, 8, (u, v) => {
    const wide = 0.352 * Math.sin(Math.PI * clamp(0.18 + 0.82 * (1 - u), 0, 1)) ** 0.62;
    return [-wide * (2 * v - 1), 0.395 + 0.13 * u ** 2.2 + 0.03 * (1 - u) ** 3, -0.9 + 1.9 * u];
  });
  const rail = (side: number): Shape =>
    tube(
      Array.from({ length: 30 }, (_, index): Vec3 => {
        const u = index / 29;
        const wide = 0.36 * Math.sin(Math.PI * clamp(0.18 + 0.82 * (1 - u), 0, 1)) ** 0.62;
        return [side * wide * (u > 0.985 ? 0.02 : 1), 0.425 + 0.13 * u ** 2.2 + 0.03 * (1 - u) ** 3, -0.92 + 1.95 * u];
      }),
      0.022,
      { sides: 8 },
    );
  const stern = prism(
    Array.from({ length: 17 }, (_, index): Vec2 => {
      const across = 2 * (index / 16) - 1;
      return [0.19 * Math.sin((across * Math.PI) / 2), 0.45 - 0.36 * (1 - Math.abs(across) ** 2.6)];
    }),
    { depth: 0.03 },
  );
  const cabin = [box([0, 0.53, -0.42], [0.34, 0.24, 0.5], 0.04), box([0, 0.66, -0.42], [0.38, 0.03, 0.56], 0.014)];
  const panes = [-0.55, -0.4, -0.26].map((z) => twice(box([0.172, 0.56, z], [0.012, 0.09, 0.09], 0.01)));
  const parts = [
    part("Hull", sheet(look.main("#c9433a", "paint")), shell, moved(stern, [0, 0, -0.91])),
    part("Deck", sheet(look.fixed("#b98a55", "planks")), deck),
    part("Rail", look.fixed("#7a5230", "wood"), rail(1), rail(-1)),
    part("Cabin", look.second("#f4f0e6", "matt"), ...cabin),
    part("Windows", look.fixed("#2f4a5c", "eye"), ...panes),
  ];
  if (!isSailing) return parts;
  const sail = (points: readonly [Vec3, Vec3, Vec3], belly: number): Shape =>
    surface(10, 14, (u, v) => {
      const [a, b, c] = points;
      const w = u * (1 - v);
      const x = a[0] * (1 - v) * (1 - u) + b[0] * w + c[0] * v;
      const bulge = belly * Math.sin(Math.PI * u) * Math.sin(Math.PI * Math.min(1, v * 0.8 + 0.12));
      return [
        x + bulge,
        a[1] * (1 - v) * (1 - u) + b[1] * w + c[1] * v,
        a[2] * (1 - v) * (1 - u) + b[2] * w + c[2] * v,
      ];
    });
  return [
    ...parts,
    part(
      "Mast",
      look.fixed("#8c6238", "wood"),
      rod([0, 0.4, 0.12], [0, 1.95, 0.12], 0.026, 0.014),
      rod([0, 0.72, 0.12], [0, 0.72, -0.74], 0.016),
    ),
    part(
      "Sails",
      sheet(look.fixed("#faf6ea", "cloth")),
      sail(
        [
          [0, 0.76, 0.1],
          [0, 0.74, -0.72],
          [0, 1.88, 0.1],
        ],
        0.12,
      ),
      sail(
        [
          [0, 0.7, 0.98],
          [0, 0.72, 0.2],
          [0, 1.72, 0.14],
        ],
        0.1,
      ),
    ),
    part(
      "Pennant",
      sheet(look.fixed("#e2b64a", "cloth")),
      surface(6, 2, (u, v) => [0.02 * Math.sin(6 * u), 1.86 + 0.08 * v * (1 - u) + 0.04 * u, 0.12 - 0.2 * u]),
    ),
  ];
}

function buildSubmarine(look: Look): readonly Part[] {
  const paint = look.main("#e8b820", "paint");
  const lying = (shape: Shape, at: Vec3): Shape => moved(rotated(shape, [1, 0, 0], 90), at);
  const hullShape = lying(
    lathe(
      profileCurve(
        [
          [0.001, -0.86],
          [0.1, -0.8],
          [0.24, -0.5],
          [0.31, 0],
          [0.29, 0.42],
          [0.17, 0.72],
          [0.001, 0.8],
        ],
        7,
      ),
      52,
    ),
    [0, 0.4, 0],
  );
  const hole = (z: number): readonly [Shape, Shape] => [
    moved(rotated(ring([0, 0, 0], 0.075, 0.018, 32, 10), [0, 0, 1], 90), [0.292, 0.46, z]),
    ball([0.28, 0.46, z], [0.03, 0.07, 0.07], 20),
  ];
  const holes = [-0.24, 0.06, 0.34].map(hole);
  const blades = merged(
    Array.from({ length: 4 }, (_, index) =>
      rotated(moved(rotated(ball([0, 0, 0], [0.06, 0.14, 0.015], 16), UP, 30), [0, 0.14, 0]), [0, 0, 1], 90 * index),
    ),
  );
  return [
    part("Hull", paint, hullShape, box([0, 0.76, 0.02], [0.26, 0.24, 0.44], 0.09)),
    part(
      "Fins",
      look.second(darker("#e8b820", 0.25), "paint"),
      twice(box([0.24, 0.4, -0.66], [0.26, 0.03, 0.2], 0.012)),
      box([0, 0.62, -0.7], [0.03, 0.3, 0.2], 0.012),
      box([0, 0.2, -0.7], [0.03, 0.26, 0.2], 0.012),
    ),
    part(
      "Rims",
      look.fixed("#b88746", "brass"),
      ...holes.map(([rim]) => twice(rim)),
      lying(ring([0, 0, 0], 0.315, 0.014, 48, 8), [0, 0.4, 0.08]),
      lying(ring([0, 0, 0], 0.275, 0.014, 48, 8), [0, 0.4, -0.42]),
    ),
    part("Glass", look.fixed("#8fd4ee", "eye"), ...holes.map(([, pane]) => twice(pane))),
    part(
      "Periscope",
      look.fixed("#5b5e66", "iron"),
      tube(
        curve(
          [
            [0, 0.84, 0.06],
            [0, 1.06, 0.06],
            [0, 1.1, 0.1],
            [0, 1.1, 0.18],
          ],
          5,
        ),
        0.03,
        { sides: 14, ends: "flat" },
      ),
    ),
    part("Propeller", look.fixed("#b88746", "brass"), moved(blades, [0, 0.4, -0.88]), ball([0, 0.4, -0.88], 0.05, 16)),
    part(
      "Stand",
      look.fixed(lighter("#5b5e66", 0.1), "iron"),
      ...[0.34, -0.34].map((z) => box([0, 0.06, z], [0.4, 0.12, 0.06], 0.02)),
    ),
  ];
}
