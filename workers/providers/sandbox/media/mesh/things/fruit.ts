/** What grows to be eaten. */
import { around, bent, moved, rotated, scaled, tinted, type Shape } from "../kit/shape.ts";
import { refined } from "../kit/refine.ts";
import { prism } from "../kit/solids.ts";
import { ball, curve, lathe, profileCurve, rod, tube } from "../kit/surface.ts";
import { step, UP, type Vec2, type Vec3 } from "../kit/vector.ts";
import { petal } from "./plants.ts";
import { part, sheet, type Look, type Part, type Thing } from "./thing.ts";

export const FRUIT: Readonly<Record<string, Thing>> = {
  apple: { metres: 0.08, build: buildApple },
  pumpkin: { metres: 0.3, build: buildPumpkin },
  banana: { metres: 0.12, build: buildBanana },
  strawberry: { metres: 0.04, build: buildStrawberry },
  carrot: { metres: 0.15, build: buildCarrot },
};

function buildApple(look: Look): readonly Part[] {
  const isGreen = look.has("green");
  const shape = bent(
    lathe(
      profileCurve(
        [
          [0.001, 0.07],
          [0.1, 0.03],
          [0.2, 0.02],
          [0.36, 0.2],
          [0.43, 0.46],
          [0.38, 0.7],
          [0.24, 0.8],
          [0.1, 0.77],
          [0.001, 0.68],
        ],
        7,
      ),
      60,
    ),
    ([x, y, z]) => {
      const lobe = 1 + 0.022 * Math.cos(5 * Math.atan2(x, z)) * (y < 0.3 ? 1.5 : 0.7);
      return [x * lobe, y, z * lobe];
    },
  );
  const blushed = tinted(shape, ([x, y, z]) => {
    const blush = step(-0.2, 0.7, look.noise.solid(x * 2, y * 2 + 5, z * 2, 3) + 0.3 * (0.6 - y));
    return isGreen ? [0.8 + 0.2 * blush, 1, 0.8] : [1, 1 - 0.35 * blush, 1 - 0.45 * blush];
  });
  return [
    part("Apple", look.main("#d0332f", "ceramic"), blushed),
    part(
      "Stem",
      look.fixed("#5b3a22", "bark"),
      tube(
        curve(
          [
            [0, 0.68, 0],
            [0.01, 0.82, 0],
            [0.06, 0.94, 0.01],
          ],
          5,
        ),
        (share) => 0.018 + 0.008 * share,
        { sides: 10 },
      ),
    ),
    part("Leaf", sheet(look.fixed("#4f9a3e", "skin")), rotated(moved(petal(0.3, 0.16, 0.32), [0, 0.8, 0.02]), UP, 70)),
  ];
}

function buildPumpkin(look: Look): readonly Part[] {
  const ribs = 10;
  const shape = bent(
    lathe(
      profileCurve(
        [
          [0.001, 0.05],
          [0.16, 0.01],
          [0.36, 0.08],
          [0.5, 0.3],
          [0.47, 0.54],
          [0.3, 0.68],
          [0.12, 0.67],
          [0.001, 0.6],
        ],
        7,
      ),
      ribs * 10,
    ),
    ([x, y, z]) => {
      const swell = 0.9 + 0.13 * Math.abs(Math.sin((ribs / 2) * Math.atan2(x, z))) ** 0.7;
      return [x * swell, y, z * swell];
    },
  );
  const parts = [
    part("Pumpkin", look.main("#e0752a", "skin"), shape),
    part(
      "Stem",
      look.fixed("#5f7a35", "bark"),
      tube(
        curve(
          [
            [0, 0.58, 0],
            [0.01, 0.74, 0],
            [0.09, 0.84, 0.02],
          ],
          5,
        ),
        (share) => 0.075 - 0.035 * share,
        { sides: 10 },
      ),
    ),
    part(
      "Leaf",
      sheet(look.fixed("#4f8a3a", "skin")),
      rotated(moved(petal(0.34, 0.28, 0.16), [0, 0.62, 0.06]), UP, 60),
    ),
  ];
  if (!look.has("halloween", "lantern", "jack", "scary", "carved", "face")) return parts;
  const cut = (outline: readonly Vec2[]): Shape =>
    bent(refined(prism(outline, { depth: 0.02 }), 0.025), ([x, y, z]) => wrapped(x, y, z));
  const eye = cut([
    [0.1, 0.4],
    [0.24, 0.4],
    [0.18, 0.53],
  ]);
  const nose = cut([
    [-0.035, 0.33],
    [0.035, 0.33],
    [0, 0.39],
  ]);
  const mouth = cut([
    [-0.27, 0.29],
    [-0.18, 0.2],
    [-0.09, 0.16],
    [-0.07, 0.21],
    [0, 0.2],
    [0.02, 0.15],
    [0.12, 0.16],
    [0.2, 0.21],
    [0.27, 0.29],
    [0.17, 0.26],
    [0.14, 0.22],
    [0.09, 0.24],
    [-0.06, 0.25],
    [-0.09, 0.27],
    [-0.14, 0.24],
  ]);
  return [...parts, part("Face", look.fixed("#ffd24a", "neon"), eye, scaled(eye, [-1, 1, 1]), nose, mouth)];
}

/** A flat face laid onto the pumpkin's front. */
function wrapped(x: number, y: number, z: number): Vec3 {
  const radius = 0.47 * Math.sqrt(Math.max(0, 1 - ((y - 0.36) / 0.36) ** 2)) ** 0.8;
  const angle = x / 0.48;
  const swell = 0.9 + 0.13 * Math.abs(Math.sin(5 * angle)) ** 0.7;
  const out = (radius + 0.036) * swell + z;
  return [out * Math.sin(angle), y, out * Math.cos(angle)];
}

function buildBanana(look: Look): readonly Part[] {
  const fruit = (turn: number): Shape => {
    const path = Array.from({ length: 21 }, (_, index): Vec3 => {
      const angle = -0.35 + 1.75 * (index / 20);
      return [0, 0.62 - 0.55 * Math.cos(angle), 0.55 * Math.sin(angle)];
    });
    return rotated(
      tube(path, (share) => 0.11 * Math.sin(Math.PI * (0.1 + 0.82 * share)) ** 0.55, { sides: 10 }),
      UP,
      turn,
    );
  };
  const fruits = [-22, 0, 22].map(fruit);
  const ends = [-22, 0, 22].map((turn) => rotated(ball([0, 0.525, 0.56], [0.028, 0.03, 0.028], 10), UP, turn));
  return [
    part("Bananas", look.main("#f4d03a", "skin"), ...fruits),
    part("Stems", look.fixed("#6b5a2a", "bark"), ball([0, 0.12, -0.21], [0.09, 0.05, 0.07], 16), ...ends),
  ];
}

function buildStrawberry(look: Look): readonly Part[] {
  const shape = lathe(
    profileCurve(
      [
        [0.001, 0],
        [0.08, 0.03],
        [0.28, 0.34],
        [0.36, 0.62],
        [0.3, 0.8],
        [0.12, 0.86],
        [0.001, 0.86],
      ],
      7,
    ),
    48,
  );
  const seeds: Shape[] = [];
  for (let row = 0; row < 7; row += 1) {
    const y = 0.12 + 0.1 * row;
    const radius = [0.125, 0.2, 0.26, 0.31, 0.345, 0.36, 0.335][row] ?? 0.3;
    const count = 5 + row * 2;
    for (let index = 0; index < count; index += 1) {
      const angle = ((index + (row % 2) / 2) * 2 * Math.PI) / count;
      seeds.push(ball([radius * Math.sin(angle), y, radius * Math.cos(angle)], [0.012, 0.02, 0.012], 6));
    }
  }
  return [
    part("Berry", look.main("#d6232f", "ceramic"), shape),
    part("Seeds", look.fixed("#f2d47a", "matt"), ...seeds),
    part(
      "Leaves",
      sheet(look.fixed("#4f9a3e", "skin")),
      around(moved(petal(0.3, 0.15, 0.12), [0, 0.865, 0.02]), 7),
      rod([0, 0.85, 0], [0.02, 1.02, 0], 0.018),
    ),
  ];
}

function buildCarrot(look: Look): readonly Part[] {
  const root = lathe(
    Array.from({ length: 41 }, (_, index): Vec2 => {
      const share = index / 40;
      return [
        index === 0 || index === 40
          ? 0.001
          : 0.04 + 0.17 * share ** 0.7 - (index % 6 === 0 ? 0.008 : 0) - (share > 0.93 ? 0.06 : 0),
        0.85 * share,
      ];
    }),
    32,
  );
  const fronds = Array.from({ length: 12 }, (_, index) => {
    const angle = index * 2.39996;
    const lean = 0.08 + 0.02 * index;
    return tube(
      curve(
        [
          [0, 0.84, 0],
          [lean * 0.5 * Math.sin(angle), 1.02, lean * 0.5 * Math.cos(angle)],
          [lean * 1.3 * Math.sin(angle), 1.16 + 0.04 * (index % 3), lean * 1.3 * Math.cos(angle)],
        ],
        5,
      ),
      (share) => 0.012 + 0.03 * Math.sin(Math.PI * Math.min(1, share * 1.1)) * share,
      { sides: 8 },
    );
  });
  return [part("Carrot", look.main("#ee7f22", "skin"), root), part("Leaves", look.fixed("#4f9a3e", "skin"), ...fronds)];
}
