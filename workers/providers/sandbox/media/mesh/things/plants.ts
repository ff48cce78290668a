/** What grows lower than trees. */
import type { Colour } from "../../images/colours.ts";
import { around, bent, merged, moved, rotated, scaled, tinted, type Shape } from "../kit/shape.ts";
import { ball, curve, lathe, profileCurve, surface, tube } from "../kit/surface.ts";
import { add, step, times, unit, UP, type Vec2, type Vec3 } from "../kit/vector.ts";
import { part, sheet, type Look, type Part, type Thing } from "./thing.ts";

export const PLANTS: Readonly<Record<string, Thing>> = {
  cactus: { metres: 0.4, build: buildCactus },
  flower: { metres: 0.4, build: buildFlower },
  mushroom: { metres: 0.15, build: buildMushroom },
};

function pot(look: Look, radius: number, height: number): readonly Part[] {
  const [r, h] = [radius, height];
  const outside: Vec2[] = [
    [0.001, 0],
    [r * 0.68, 0],
    [r * 0.7, 0.01],
    [r * 0.88, h * 0.78],
    [r * 1.0, h * 0.78],
    [r * 1.02, h * 0.8],
    [r * 1.04, h * 0.98],
    [r * 1.02, h],
  ];
  const inside: Vec2[] = [
    [r * 0.92, h],
    [r * 0.9, h * 0.98],
    [r * 0.86, h * 0.8],
    [0.001, h * 0.8],
  ];
  return [
    part("Pot", look.second("#c4704a", "clay"), lathe([...outside, ...inside], 40)),
    part(
      "Soil",
      look.fixed("#4a3526", "earth"),
      bent(ball([0, h * 0.84, 0], [r * 0.885, h * 0.07, r * 0.885], 28), ([x, y, z]) => [
        x,
        y + 0.004 * Math.sin(60 * x) * Math.cos(53 * z),
        z,
      ]),
    ),
  ];
}

function buildCactus(look: Look): readonly Part[] {
  const ribs = 12;
  const ribbed = (shape: Shape): Shape =>
    bent(shape, ([x, y, z]) => {
      const depth = 1 - 0.1 * (0.5 + 0.5 * Math.cos(ribs * Math.atan2(x, z)));
      return [x * depth, y, z * depth];
    });
  const body = ribbed(
    lathe(
      profileCurve(
        [
          [0.001, 0.26],
          [0.13, 0.27],
          [0.165, 0.45],
          [0.16, 0.7],
          [0.12, 0.88],
          [0.06, 0.95],
          [0.001, 0.97],
        ],
        5,
      ),
      ribs * 4,
    ),
  );
  const arm = (height: number, reach: number, up: number): Shape =>
    tube(
      curve(
        [
          [0.08, height, 0],
          [reach * 0.8, height + 0.01, 0],
          [reach, height + 0.07, 0],
          [reach, height + up, 0],
        ],
        6,
      ),
      (share) => 0.068 - 0.01 * share,
      { sides: 20 },
    );
  const arms = [arm(0.48, 0.27, 0.26), rotated(arm(0.58, 0.25, 0.2), UP, 180 + look.roll(-14, 14))];
  const spines: Shape[] = [];
  for (let rib = 0; rib < ribs; rib += 1) {
    const angle = ((rib + 0.5) * 2 * Math.PI) / ribs;
    for (let row = 0; row < 7; row += 1) {
      const height = 0.36 + 0.08 * row;
      const radius = 0.158 - (row > 4 ? 0.018 * (row - 4) : 0);
      const foot: Vec3 = [radius * Math.sin(angle), height, radius * Math.cos(angle)];
      const out: Vec3 = [Math.sin(angle), 0.35, Math.cos(angle)];
      spines.push(
        tube([foot, add(foot, times(out, 0.035))], (share) => 0.0028 * (1 - 0.8 * share), { sides: 4, ends: "flat" }),
      );
    }
  }
  const petals = around(moved(petal(0.075, 0.045, 0.5), [0, 0.965, 0.005]), 8);
  return [
    ...pot(look, 0.22, 0.3),
    part("Cactus", look.main("#4d8f52", "skin"), body, ...arms),
    part("Spines", look.fixed("#efe3c0", "matt"), ...spines),
    part("Blossom", sheet(look.fixed("#e8558c", "petal")), petals, moved(scaled(petals, [0.6, 1, 0.6]), [0, 0.012, 0])),
    part("Stamens", look.fixed("#f6cf4a", "matt"), ball([0, 0.985, 0], [0.016, 0.014, 0.016], 10)),
  ];
}

/** A petal that leaves the origin towards z and bends upwards by `lift`. */
export function petal(reach: number, wide: number, lift: number): Shape {
  return surface(4, 6, (u, v) => {
    const across = (u - 0.5) * 2;
    const half = wide * Math.sin(Math.PI * (0.08 + 0.86 * v)) ** 0.7 * 0.5 * (v < 0.1 ? v * 10 * 0.6 + 0.4 : 1);
    const cup = 0.18 * wide * across * across;
    return [across * half, reach * lift * v ** 1.5 + cup, reach * v * (1 - 0.15 * lift)];
  });
}

const FLOWERS: Readonly<Record<string, { readonly colour: Colour; readonly heart: Colour }>> = {
  sunflower: { colour: "#f7b92a", heart: "#4a2c18" },
  daisy: { colour: "#f8f6f0", heart: "#f3c02e" },
  rose: { colour: "#c41f3a", heart: "#8f1228" },
  tulip: { colour: "#e0413a", heart: "#2d2a2a" },
  lily: { colour: "#f3d7e4", heart: "#e0a030" },
};

function buildFlower(look: Look): readonly Part[] {
  const kind = Object.keys(FLOWERS).find((name) => look.has(name, `${name}s`)) ?? "";
  const { colour, heart } = FLOWERS[kind] ?? { colour: "#e8558c", heart: "#f6cf4a" };
  const head: Vec3 = [look.roll(-0.04, 0.04), 0.9, 0.05];
  const stem = tube(curve([[0, 0.22, 0], [0.01, 0.5, -0.015], head], 8), 0.014, { sides: 10 });
  const leaf = (height: number, angle: number): Shape =>
    rotated(moved(scaled(petal(0.26, 0.12, 0.55), [1, 1, 1]), [0, height, 0]), UP, angle);
  const bloom =
    kind === "tulip"
      ? tulipHead()
      : kind === "rose"
        ? roseHead()
        : openHead(kind === "daisy" || kind === "sunflower" ? 18 : 8, kind);
  const main = sheet(look.main(colour, "petal"));
  const faced = (shape: Shape): Shape =>
    moved(rotated(shape, [1, 0, 0], kind === "tulip" || kind === "rose" ? 12 : 42), head);
  const parts = [
    ...pot(look, 0.17, 0.25),
    part("Stem", look.fixed("#4d8f3c", "skin"), stem),
    part("Leaves", sheet(look.fixed("#4f9a3e", "skin")), leaf(0.36, 20), leaf(0.46, 200), leaf(0.4, 110)),
    part(
      "Petals",
      main,
      tinted(faced(bloom), (point) => {
        const tip = step(0.02, 0.2, Math.hypot(point[0] - head[0], point[1] - head[1], point[2] - head[2]));
        return [0.72 + 0.28 * tip, 0.6 + 0.4 * tip, 0.62 + 0.38 * tip];
      }),
    ),
  ];
  if (kind === "rose" || kind === "tulip") return parts;
  const size = kind === "sunflower" ? 0.1 : kind === "daisy" ? 0.062 : 0.05;
  const seeds = Array.from({ length: 70 }, (_, index) => {
    const [radius, angle] = [size * Math.sqrt((index + 0.5) / 70) * 0.94, index * 2.39996];
    return ball(
      [radius * Math.sin(angle), 0.02 + 0.03 * (1 - (radius / size) ** 2), radius * Math.cos(angle)],
      size * 0.11,
      6,
    );
  });
  return [
    ...parts,
    part("Heart", look.fixed(heart, "matt"), faced(merged([ball([0, 0.005, 0], [size, 0.035, size], 20), ...seeds]))),
  ];
}

function openHead(count: number, kind: string): Shape {
  const [reach, wide] = kind === "sunflower" ? [0.24, 0.075] : kind === "daisy" ? [0.2, 0.05] : [0.2, 0.15];
  const ring = around(moved(petal(reach, wide, 0.25), [0, 0, 0.02]), count);
  return merged([ring, moved(rotated(scaled(ring, 0.86), UP, 180 / count), [0, 0.014, 0])]);
}

function tulipHead(): Shape {
  const cup = surface(5, 8, (u, v) => {
    const [angle, half] = [(u - 0.5) * 2, Math.sin(Math.PI * (0.12 + 0.83 * v)) ** 0.6];
    const radius = 0.1 * Math.sin(Math.PI * (0.1 + 0.72 * v)) ** 0.7;
    const turn = angle * half * 0.95;
    return [radius * Math.sin(turn), 0.23 * v, radius * Math.cos(turn)];
  });
  const ring = around(cup, 3);
  return merged([ring, rotated(scaled(ring, [0.86, 0.97, 0.86]), UP, 60)]);
}

function roseHead(): Shape {
  const petals: Shape[] = [];
  for (let index = 0; index < 17; index += 1) {
    const share = index / 16;
    const open = 0.012 + 0.1 * share ** 1.1;
    const cup = surface(6, 6, (u, v) => {
      const turn = (u - 0.5) * (2.3 - 0.7 * share);
      const curl = 0.035 * share * Math.max(0, v - 0.6) * 2.5;
      const radius = open * (0.35 + 0.65 * Math.sin((Math.PI / 2) * v)) + curl;
      const height = 0.15 * v * (1 - 0.25 * share) - 0.045 * share - 0.02 * (2 * u - 1) ** 2 * v;
      return [radius * Math.sin(turn), height, radius * Math.cos(turn)];
    });
    petals.push(rotated(cup, UP, index * 137.5));
  }
  return moved(merged(petals), [0, 0.03, 0]);
}

function buildMushroom(look: Look): readonly Part[] {
  const cap = profileCurve(
    [
      [0.03, 0.44],
      [0.2, 0.43],
      [0.36, 0.4],
      [0.43, 0.4],
      [0.44, 0.44],
      [0.4, 0.56],
      [0.28, 0.7],
      [0.13, 0.77],
      [0.001, 0.785],
    ],
    5,
  );
  const stem = profileCurve(
    [
      [0.001, 0],
      [0.13, 0],
      [0.15, 0.05],
      [0.11, 0.2],
      [0.095, 0.36],
      [0.11, 0.46],
      [0.02, 0.47],
    ],
    5,
  );
  const skirt: Vec2[] = [
    [0.1, 0.35],
    [0.16, 0.3],
    [0.165, 0.305],
    [0.1, 0.365],
  ];
  const gills = surface(
    96,
    3,
    (u, v) => {
      const radius = 0.09 + 0.31 * v;
      const wave = 0.018 * Math.abs(Math.sin(48 * Math.PI * u)) * Math.sin(Math.PI * v);
      return [-radius * Math.sin(2 * Math.PI * u), 0.425 - 0.02 * v - wave, radius * Math.cos(2 * Math.PI * u)];
    },
    { around: true },
  );
  const spots: Shape[] = [];
  for (let index = 0; index < 26; index += 1) {
    const [share, angle] = [Math.sqrt((index + 0.6) / 27), index * 2.39996 + look.roll(-0.2, 0.2)];
    const [radius, height] = alongProfile(cap, 1 - 0.52 * share);
    const [inner, lower] = alongProfile(cap, 1 - 0.52 * share - 0.02);
    const out = unit([lower - height > 0 ? 0 : height - lower, Math.max(1e-3, inner - radius), 0]);
    const size = look.roll(0.026, 0.05) * (1.1 - 0.4 * share);
    const dot = rotated(
      ball([0, 0, 0], [size, size * 0.4, size], 10),
      [0, 0, 1],
      (-Math.atan2(out[0], out[1]) * 180) / Math.PI,
    );
    spots.push(rotated(moved(dot, [radius, height, 0]), UP, (angle * 180) / Math.PI));
  }
  const tufts = Array.from({ length: 26 }, (_, index) => {
    const [angle, far] = [index * 2.4, look.roll(0.14, 0.32)];
    const blade = surface(1, 4, (u, v) => [
      (u - 0.5) * 0.03 * (1 - v),
      0.16 * v * (0.7 + (index % 4) / 8),
      0.06 * v * v,
    ]);
    return rotated(moved(blade, [0, 0, far]), UP, (angle * 180) / Math.PI);
  });
  return [
    part("Cap", look.main("#c8262c", "glaze"), lathe(cap, 48)),
    part("Spots", look.second("#f7f1e3", "matt"), ...spots),
    part("Stem", look.fixed("#f0e6d0", "plaster"), lathe(stem, 36), lathe(skirt, 36)),
    part("Gills", sheet(look.fixed("#e8d9bd", "matt")), gills),
    part(
      "Grass",
      sheet(look.fixed("#5f9a3c", "skin")),
      tinted(merged(tufts), ([, y]) => {
        const l = 0.5 + 4 * y;
        return [l, l, l * 0.9];
      }),
    ),
  ];
}

function alongProfile(profile: readonly Vec2[], share: number): Vec2 {
  return profile[Math.round(share * (profile.length - 1))] ?? [0, 0];
}
