/** What is eaten otherwise. */
import { darker, lighter } from "../../images/colours.ts";
import { around, bent, moved, rotated, scaled, type Shape } from "../kit/shape.ts";
import { box, prism } from "../kit/solids.ts";
import { ball, curve, lathe, profileCurve, ring, surface, tube } from "../kit/surface.ts";
import { step, UP, type Vec2, type Vec3 } from "../kit/vector.ts";
import { part, type Look, type Part, type Thing } from "./thing.ts";

export const FOOD: Readonly<Record<string, Thing>> = {
  cone: { metres: 0.2, build: buildIceCream },
  burger: { metres: 0.1, build: buildBurger },
  egg: { metres: 0.06, picture: "around", build: buildEgg },
  cheese: { metres: 0.1, build: buildCheese },
};

function buildIceCream(look: Look): readonly Part[] {
  const wafer = bent(
    lathe(
      [
        [0.001, 0],
        [0.03, 0.02],
        [0.24, 0.72],
        [0.25, 0.76],
        [0.23, 0.76],
        [0.001, 0.7],
      ],
      64,
    ),
    ([x, y, z]) => {
      const angle = Math.atan2(x, z);
      const grid = Math.max(Math.cos(8 * angle + 22 * y), Math.cos(8 * angle - 22 * y));
      const swell = y < 0.74 ? 1 + 0.035 * step(0.75, 1, grid) : 1;
      return [x * swell, y, z * swell];
    },
  );
  const scoop = (at: Vec3, size: number): Shape =>
    bent(ball(at, size, 48), (point) => {
      const [x, y, z] = point;
      const rough = 1 + 0.05 * look.noise.solid(x * 7, y * 7, z * 7, 2);
      const hem = y < at[1] - size * 0.35 ? 1 + 0.1 * Math.abs(Math.sin(6 * Math.atan2(x - at[0], z - at[2]))) : 1;
      return [at[0] + (x - at[0]) * rough * hem, Math.max(y, at[1] - size * 0.55), at[2] + (z - at[2]) * rough * hem];
    });
  const flavour = look.has("chocolate")
    ? "#6b4026"
    : look.has("strawberry")
      ? "#f59ab5"
      : look.has("mint", "pistachio")
        ? "#a8dcb4"
        : "#fbeecb";
  return [
    part("Wafer", look.fixed("#d9a055", "crumb"), wafer),
    part("Lower scoop", look.main(flavour, "matt"), scoop([0, 0.86, 0], 0.25)),
    part("Upper scoop", look.second("#f59ab5", "matt"), scoop([0.01, 1.15, 0], 0.21)),
    part("Cherry", look.fixed("#c4162a", "ceramic"), ball([0.02, 1.4, 0], 0.06, 20)),
    part(
      "Holder",
      look.fixed("#8d9298", "steel"),
      ring([0, 0.46, 0], 0.175, 0.014, 44, 8),
      around(
        tube(
          curve(
            [
              [0, 0.46, 0.18],
              [0, 0.3, 0.26],
              [0, 0.0, 0.3],
            ],
            5,
          ),
          0.014,
          { sides: 8 },
        ),
        3,
      ),
      ring([0, 0.014, 0], 0.3, 0.014, 48, 8),
    ),
  ];
}

function buildBurger(look: Look): readonly Part[] {
  const wavy = (level: number, radius: number, high: number, waves: number, thick: number): Shape =>
    surface(
      120,
      10,
      (u, v) => {
        const [angle, turn] = [2 * Math.PI * u, 2 * Math.PI * v];
        const lift = high * Math.sin(waves * angle);
        const reach = radius * (0.84 + 0.16 * Math.cos(turn));
        return [
          reach * Math.sin(angle),
          level + lift * (0.5 + 0.5 * Math.cos(turn)) + thick * Math.sin(turn),
          reach * Math.cos(angle),
        ];
      },
      { around: true },
    );
  const seeds = Array.from({ length: 46 }, (_, index) => {
    const [share, angle] = [Math.sqrt((index + 0.5) / 46) * 0.86, index * 2.39996];
    const reach = 0.44 * share;
    return moved(rotated(ball([0, 0, 0], [0.014, 0.01, 0.022], 8), UP, (angle * 300) % 360), [
      reach * Math.sin(angle),
      0.46 + 0.29 * Math.sqrt(Math.max(0, 1 - share * share)),
      reach * Math.cos(angle),
    ]);
  });
  const slice = bent(box([0, 0.315, 0], [0.82, 0.022, 0.82], 0.006), ([x, y, z]) => [
    x,
    y - 0.12 * Math.max(0, Math.hypot(x, z) - 0.44),
    z,
  ]);
  return [
    part(
      "Bun",
      look.main("#d0893f", "glaze"),
      lathe(
        profileCurve(
          [
            [0.001, 0.455],
            [0.4, 0.45],
            [0.455, 0.49],
            [0.42, 0.6],
            [0.28, 0.71],
            [0.001, 0.755],
          ],
          6,
        ),
        56,
      ),
      lathe(
        profileCurve(
          [
            [0.001, 0],
            [0.38, 0],
            [0.44, 0.04],
            [0.45, 0.13],
            [0.42, 0.155],
            [0.001, 0.155],
          ],
          4,
        ),
        56,
      ),
    ),
    part("Seeds", look.fixed("#f8ecc8", "matt"), ...seeds),
    part(
      "Patty",
      look.fixed("#5b3420", "earth"),
      lathe(
        profileCurve(
          [
            [0.001, 0.2],
            [0.42, 0.2],
            [0.465, 0.245],
            [0.42, 0.3],
            [0.001, 0.3],
          ],
          4,
        ),
        56,
      ),
    ),
    part("Cheese", look.second("#f6b42a", "plastic"), rotated(slice, UP, 20)),
    part("Lettuce", look.fixed("#7fbf45", "skin"), wavy(0.175, 0.47, 0.03, 13, 0.012)),
    part(
      "Tomato",
      look.fixed("#d23a2c", "ceramic"),
      lathe(
        profileCurve(
          [
            [0.001, 0.335],
            [0.41, 0.335],
            [0.43, 0.36],
            [0.41, 0.385],
            [0.001, 0.385],
          ],
          3,
        ),
        48,
      ),
    ),
    part("Onion", look.fixed(lighter("#c48fc0", 0.5), "ceramic"), wavy(0.415, 0.42, 0.012, 9, 0.014)),
  ];
}

function buildEgg(look: Look): readonly Part[] {
  const isEaster = look.has("easter", "painted", "decorated");
  const shell = lathe(
    profileCurve(
      [
        [0.001, 0.08],
        [0.16, 0.1],
        [0.33, 0.3],
        [0.37, 0.5],
        [0.3, 0.82],
        [0.14, 1.04],
        [0.001, 1.08],
      ],
      8,
    ),
    60,
  );
  const cup = lathe(
    profileCurve(
      [
        [0.001, 0],
        [0.22, 0],
        [0.23, 0.03],
        [0.1, 0.08],
        [0.1, 0.12],
        [0.3, 0.2],
        [0.355, 0.34],
        [0.335, 0.35],
        [0.27, 0.22],
        [0.001, 0.14],
      ],
      5,
    ),
    48,
  );
  const bands = [0.42, 0.58, 0.74].map((y, index) => {
    const radius = [0.362, 0.365, 0.326][index] ?? 0.3;
    return tube(
      Array.from({ length: 97 }, (_, at): Vec3 => {
        const angle = (2 * Math.PI * (at % 96)) / 96;
        return [radius * 1.012 * Math.sin(angle), y + 0.025 * Math.sin(10 * angle), radius * 1.012 * Math.cos(angle)];
      }),
      0.012,
      { sides: 8 },
    );
  });
  return [
    part("Egg", look.main(isEaster ? "#6fc0d8" : "#f2dcc2", "ceramic"), shell),
    part("Cup", look.second("#7f9fb8", "ceramic"), cup),
    ...(isEaster ? [part("Bands", look.fixed("#f6d24a", "ceramic"), ...bands)] : []),
  ];
}

function buildCheese(look: Look): readonly Part[] {
  const half = 0.44;
  const rind: Vec2[] = Array.from({ length: 13 }, (_, index) => {
    const angle = -half + (2 * half * index) / 12;
    return [1.1 * Math.sin(angle), 1.1 * Math.cos(angle)] as const;
  });
  // Lying down, its point to the front.
  const wedge = moved(
    rotated(prism([[0, 0], ...rind.toReversed()], { depth: 0.5, bevel: 0.02 }), [1, 0, 0], -90),
    [0, 0.25, 0.6],
  );
  const holes = Array.from({ length: 8 }, (_, index) => {
    const along = 0.24 + 0.1 * index;
    const at: Vec3 = [along * Math.sin(half), 0.1 + 0.3 * ((index * 0.618) % 1), 0.6 - along * Math.cos(half)];
    const size = 0.035 + 0.025 * ((index * 0.37) % 1);
    return moved(rotated(ball([0, 0, 0], [size, size, 0.012], 20), UP, 90 - (half * 180) / Math.PI + 50.4), at);
  });
  const skin = look.main("#f4c142", "plastic");
  return [
    part("Cheese", skin, wedge),
    part(
      "Holes",
      look.fixed(darker("#f4c142", 0.3), "matt"),
      ...holes,
      ...holes.map((shape) => scaled(shape, [-1, 1, 1])),
    ),
  ];
}
