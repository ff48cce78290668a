/** Figures of tales. */
import type { Lump } from "../kit/blob.ts";
import { merged, moved, rotated, twice, type Shape } from "../kit/shape.ts";
import { box } from "../kit/solids.ts";
import { ball, curve, lathe, profileCurve, rod, tube } from "../kit/surface.ts";
import { UP } from "../kit/vector.ts";
import { body, coat, eyes, pair } from "./coat.ts";
import { part, type Look, type Part, type Thing } from "./thing.ts";

export const HEROES: Readonly<Record<string, Thing>> = {
  knight: { metres: 1.8, build: buildKnight },
  wizard: { metres: 1.8, build: buildWizard },
};

function buildKnight(look: Look): readonly Part[] {
  const steel = look.main("#c4c9d0", "steel");
  const dark = look.fixed("#4a4e57", "iron");
  const torso = lathe(
    profileCurve(
      [
        [0.001, 0.56],
        [0.17, 0.58],
        [0.2, 0.72],
        [0.215, 0.88],
        [0.15, 1.0],
        [0.001, 1.02],
      ],
      5,
    ),
    40,
  );
  const skirt = lathe(
    profileCurve(
      [
        [0.17, 0.62],
        [0.24, 0.46],
        [0.23, 0.45],
        [0.16, 0.6],
      ],
      3,
    ),
    12,
    30,
  );
  const helmet = lathe(
    profileCurve(
      [
        [0.001, 1.04],
        [0.15, 1.05],
        [0.175, 1.16],
        [0.17, 1.32],
        [0.11, 1.43],
        [0.001, 1.46],
      ],
      5,
    ),
    40,
  );
  const limbs = merged([
    ball([0.235, 0.93, 0], [0.11, 0.095, 0.105], 24),
    rod([0.25, 0.9, 0], [0.31, 0.7, 0.03], 0.065, 0.056, 18),
    ball([0.315, 0.685, 0.035], 0.066, 18),
    rod([0.315, 0.67, 0.04], [0.32, 0.5, 0.12], 0.062, 0.056, 18),
    ball([0.32, 0.47, 0.14], [0.062, 0.062, 0.07], 18),
    rod([0.1, 0.52, 0], [0.11, 0.3, 0.01], 0.085, 0.07, 18),
    ball([0.11, 0.29, 0.02], 0.082, 18),
    rod([0.11, 0.28, 0.01], [0.115, 0.08, 0], 0.076, 0.066, 18),
    ball([0.117, 0.05, 0.05], [0.075, 0.055, 0.135], 20),
  ]);
  const slits = [
    box([0, 1.25, 0.16], [0.24, 0.022, 0.05], 0.006),
    box([0, 1.17, 0.165], [0.016, 0.16, 0.04], 0.004),
    ...[-0.06, -0.03, 0.03, 0.06].map((x) => box([x, 1.13, 0.16], [0.012, 0.06, 0.04], 0.004)),
  ];
  const plume = tube(
    curve(
      [
        [0, 1.44, -0.02],
        [0, 1.58, -0.06],
        [0, 1.55, -0.2],
        [0, 1.36, -0.28],
      ],
      7,
    ),
    (share) => 0.07 * Math.sin(Math.PI * (0.15 + 0.8 * share)),
    { sides: 14 },
  );
  const blade = moved(
    lathe(
      [
        [0.001, 0],
        [0.036, 0.02],
        [0.03, 0.62],
        [0.001, 0.74],
      ],
      4,
      20,
    ),
    [0.32, 0.53, 0.16],
  );
  return [
    part("Armour", steel, torso, skirt, helmet, twice(limbs)),
    part("Slits", look.fixed("#17181b", "matt"), ...slits),
    part(
      "Joints",
      dark,
      lathe(
        [
          [0.001, 0.98],
          [0.12, 0.98],
          [0.11, 1.07],
          [0.001, 1.07],
        ],
        28,
      ),
      lathe(
        [
          [0.195, 0.6],
          [0.21, 0.6],
          [0.21, 0.65],
          [0.195, 0.65],
        ],
        36,
      ),
    ),
    part("Plume", look.second("#b8242f", "fur"), plume),
    part("Blade", look.fixed("#dfe3e8", "chrome"), blade),
    part(
      "Hilt",
      look.fixed("#d8b060", "brass"),
      box([0.32, 0.53, 0.16], [0.2, 0.03, 0.04], 0.012),
      rod([0.32, 0.4, 0.15], [0.32, 0.53, 0.16], 0.018),
      ball([0.32, 0.39, 0.15], 0.03, 16),
    ),
    part("Shield", look.second("#b8242f", "paint"), moved(rotated(shieldOf(), UP, -12), [-0.34, 0.6, 0.24])),
  ];
}

function shieldOf(): Shape {
  return moved(
    rotated(
      lathe(
        profileCurve(
          [
            [0.001, -0.02],
            [0.2, -0.03],
            [0.22, -0.02],
            [0.2, 0.0],
            [0.1, 0.03],
            [0.001, 0.04],
          ],
          3,
        ),
        40,
      ),
      [1, 0, 0],
      90,
    ),
    [0, 0, 0],
  );
}

function buildWizard(look: Look): readonly Part[] {
  const robe = look.main("#4a3a9c", "cloth");
  const gown = lathe(
    profileCurve(
      [
        [0.36, 0.0],
        [0.345, 0.02],
        [0.24, 0.4],
        [0.17, 0.8],
        [0.14, 0.98],
        [0.001, 1.02],
      ],
      6,
    ),
    48,
  );
  const sleeve = tube(
    curve(
      [
        [0.12, 0.92, 0],
        [0.26, 0.74, 0.06],
        [0.33, 0.6, 0.14],
      ],
      5,
    ),
    (share) => 0.07 + 0.045 * share,
    { sides: 18, ends: "flat" },
  );
  const hat = lathe(
    profileCurve(
      [
        [0.001, 1.36],
        [0.34, 1.33],
        [0.35, 1.35],
        [0.2, 1.4],
        [0.15, 1.56],
        [0.07, 1.78],
        [0.001, 1.92],
      ],
      5,
    ),
    40,
  );
  const beard = coat(look, "#e8e6e0", "fur");
  const lumps: Lump[] = [
    { at: [0, 1.14, 0.13], to: [0, 0.82, 0.19], radius: 0.12, radiusTo: 0.03, colour: [1, 1, 1] },
    ...pair({
      at: [0.05, 1.185, 0.19],
      to: [0.13, 1.13, 0.18],
      radius: 0.034,
      radiusTo: 0.014,
      colour: [1, 1, 1],
      blend: 0.03,
    }),
    { at: [0, 1.22, -0.07], to: [0, 0.98, -0.12], radius: 0.18, radiusTo: 0.1, colour: [1, 1, 1], blend: 0.05 },
  ];
  return [
    part("Robe", robe, gown, twice(sleeve)),
    part("Hat", robe, hat),
    part(
      "Band",
      look.second("#e2b64a", "gold"),
      lathe(
        [
          [0.195, 1.4],
          [0.206, 1.4],
          [0.188, 1.46],
          [0.178, 1.46],
        ],
        40,
      ),
      lathe(
        [
          [0.168, 0.72],
          [0.2, 0.72],
          [0.198, 0.77],
          [0.16, 0.77],
        ],
        40,
      ),
    ),
    part(
      "Face",
      look.fixed("#eabf9a", "skin"),
      ball([0, 1.22, 0.02], [0.18, 0.19, 0.18], 32),
      ball([0, 1.2, 0.215], [0.032, 0.04, 0.045], 14),
      twice(ball([0.335, 0.585, 0.155], 0.055, 18)),
    ),
    { ...body("Beard", { ...beard, skin: look.fixed("#e8e6e0", "fur") }, lumps, { cell: 0.017 }) },
    ...eyes(look, [0.068, 1.26, 0.18], 0.022),
    part(
      "Staff",
      look.fixed("#6b4a2c", "bark"),
      tube(
        curve(
          [
            [0.36, 0.0, 0.2],
            [0.35, 0.6, 0.19],
            [0.37, 1.2, 0.2],
            [0.34, 1.42, 0.2],
            [0.4, 1.5, 0.2],
          ],
          6,
        ),
        0.026,
        { sides: 12 },
      ),
    ),
    part("Orb", look.fixed("#5fd8ff", "neon"), ball([0.37, 1.5, 0.2], 0.065, 24)),
  ];
}
