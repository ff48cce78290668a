/** For prompts that name nothing we know: forms to look at. And what statues stand on. */
import { hsl } from "../../images/colours.ts";
import type { FinishName } from "../finishes.ts";
import { boundsOf, bent, merged, moved, rotated, scaled, type Shape } from "../kit/shape.ts";
import { box } from "../kit/solids.ts";
import { ball, lathe, surface, tube } from "../kit/surface.ts";
import { UP, type Vec2, type Vec3 } from "../kit/vector.ts";
import { part, type Look, type Part, type Thing } from "./thing.ts";

export const ABSTRACT: Thing = { metres: 0.5, picture: "sides", build: buildSculpture };

const FINISHES: readonly [FinishName, ...FinishName[]] = [
  "gold",
  "paint",
  "ceramic",
  "copper",
  "pearl",
  "plastic",
  "chrome",
  "marble",
];

function buildSculpture(look: Look): readonly Part[] {
  const { random } = look;
  const colour = hsl(random.below(360), 62, 54);
  const form = random.pick<(look: Look) => Shape>([knot, ribbon, superform, stack, waves]);
  const finish = random.pick(FINISHES);
  const shape = form(look);
  const { min } = boundsOf([shape]);
  const lifted = moved(shape, [0, 0.1 - min[1], 0]);
  const isOwn = finish !== "paint" && finish !== "ceramic" && finish !== "plastic";
  const main = look.main(isOwn ? (OWN[finish] ?? colour) : colour, finish);
  return [part("Form", main, lifted), part("Plinth", look.second("#2b2d33", "marble"), plinthShape(0.34, 0.12))];
}

/** Colours of the materials that have one. */
const OWN: Readonly<Record<string, string>> = {
  gold: "#ffc95c",
  copper: "#e08a60",
  pearl: "#f3ece8",
  chrome: "#dfe3e8",
  marble: "#f0ede6",
};

/** A line around a ring, that also winds around its middle, as a thick tube. */
function knot({ random, roll }: Look): Shape {
  const [p, q] = random.pick<Vec2>([
    [2, 3],
    [3, 2],
    [2, 5],
    [3, 4],
    [3, 5],
  ]);
  const [wide, deep] = [0.34, roll(0.13, 0.18)];
  const path: Vec3[] = Array.from({ length: 241 }, (_, index) => {
    const angle = (2 * Math.PI * (index % 240)) / 240;
    const reach = wide + deep * Math.cos(q * angle);
    return [reach * Math.sin(p * angle), deep * Math.sin(q * angle) * 1.5, reach * Math.cos(p * angle)];
  });
  const shape = tube(path, 0.062 - 0.004 * Math.max(p, q), { sides: 20 });
  return rotated(shape, [1, 0, 0], 78);
}

/** A band that turns as it goes around. */
function ribbon({ random, roll }: Look): Shape {
  const [turns, waves] = [1 + random.below(3), 2 + random.below(3)];
  const rise = roll(0.08, 0.2);
  const shape = surface(
    240,
    28,
    (u, v) => {
      const [angle, around] = [2 * Math.PI * u, 2 * Math.PI * v];
      const twist = turns * angle;
      const [a, b] = [0.2 * Math.cos(around), 0.035 * Math.sin(around)];
      const [out, up] = [a * Math.cos(twist) - b * Math.sin(twist), a * Math.sin(twist) + b * Math.cos(twist)];
      const reach = 0.4 + out;
      return [reach * Math.sin(angle), up + rise * Math.sin(waves * angle), reach * Math.cos(angle)];
    },
    { around: true, creaseDegrees: 80 },
  );
  return rotated(shape, [1, 0, 0], 62);
}

/** A ball whose lobes follow Gielis' superformula. */
function superform({ random, roll }: Look): Shape {
  const [lobes, rings] = [random.pick([5, 6, 7, 8]), random.pick([2, 3, 4, 6])];
  const [sharp, deep] = [roll(0.45, 0.8), roll(0.7, 1.3)];
  const radius = (angle: number, m: number, n: number): number =>
    (Math.abs(Math.cos((m * angle) / 4)) ** 1.7 + Math.abs(Math.sin((m * angle) / 4)) ** 1.7) ** (-1 / n);
  const shape = surface(
    lobes * 16,
    64,
    (u, v) => {
      const [angle, rise] = [2 * Math.PI * u, Math.PI * (v - 0.5)];
      const [one, two] = [radius(angle, lobes, sharp), radius(rise, rings, deep)];
      const ring = v === 0 || v === 1 ? 0 : Math.cos(rise);
      return [one * two * ring * Math.sin(angle), two * Math.sin(rise), one * two * ring * Math.cos(angle)];
    },
    { around: true, creaseDegrees: 60 },
  );
  const { min, max } = boundsOf([shape]);
  return scaled(shape, [0.8 / (max[0] - min[0]), 0.85 / (max[1] - min[1]), 0.8 / (max[2] - min[2])]);
}

/** Rounded slabs, each turned and smaller than the one below. */
function stack({ roll, random }: Look): Shape {
  const [count, turn, sides] = [16, roll(5, 14), random.below(2)];
  return merged(
    Array.from({ length: count }, (_, index) => {
      const share = index / (count - 1);
      const size = 0.5 * (0.45 + 0.55 * Math.cos((share * Math.PI) / 2.2) + 0.12 * Math.sin(share * 9));
      const slab =
        sides === 0
          ? box([0, 0, 0], [size, 0.052, size], 0.016)
          : lathe(
              [
                [0.001, -0.026],
                [size * 0.55, -0.026],
                [size * 0.58, -0.012],
                [size * 0.58, 0.012],
                [size * 0.55, 0.026],
                [0.001, 0.026],
              ],
              6,
              35,
            );
      return rotated(moved(slab, [0, 0.062 * index, 0]), UP, turn * index);
    }),
  );
}

/** A column with waves that climb around it. */
function waves({ random, roll }: Look): Shape {
  const [lobes, turns] = [3 + random.below(4), roll(0.5, 1.6)];
  const column = lathe(
    Array.from({ length: 73 }, (_, index): Vec2 => {
      const share = index / 72;
      return [
        index === 0 || index === 72 ? 0.001 : 0.24 + 0.1 * Math.sin(share * Math.PI * 2 + 0.6) - 0.06 * share,
        share,
      ];
    }),
    96,
    70,
  );
  return merged([
    bent(
      column,
      ([x, y, z]) => {
        const swell = 1 + 0.24 * Math.cos(lobes * Math.atan2(x, z) + turns * 2 * Math.PI * y);
        return [x * swell, y, z * swell];
      },
      70,
    ),
    ball([0, 1.06, 0], 0.1, 28),
  ]);
}

function plinthShape(half: number, height: number): Shape {
  const [r, h] = [half, height];
  return lathe(
    [
      [0.001, 0],
      [r, 0],
      [r, h * 0.25],
      [r * 0.94, h * 0.38],
      [r * 0.88, h * 0.75],
      [r * 0.9, h * 0.86],
      [r * 0.9, h],
      [0.001, h],
    ],
    48,
  );
}

/** A block under a statue, as wide as its feet need. */
export function plinth(look: Look, parts: readonly Part[]): Part {
  const { min, max } = boundsOf(parts.map(({ shape }) => shape));
  const [wide, deep] = [(max[0] - min[0]) * 0.92, (max[2] - min[2]) * 0.92];
  const height = 0.16 * (max[1] - min[1]);
  const middle: Vec3 = [(min[0] + max[0]) / 2, min[1] - height / 2 + 0.004, (min[2] + max[2]) / 2];
  const block = box(middle, [wide, height, deep], height * 0.08);
  const foot = box(
    [middle[0], middle[1] - height * 0.4, middle[2]],
    [wide * 1.12, height * 0.3, deep * 1.12],
    height * 0.08,
  );
  return part("Plinth", look.fixed("#d8d4cc", "marble"), block, foot);
}
