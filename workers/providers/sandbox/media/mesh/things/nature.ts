/** Stones, land, and what is in the sky. */
import type { Colour } from "../../images/colours.ts";
import { linear } from "../finishes.ts";
import { blob, type Lump } from "../kit/blob.ts";
import { boxProjected } from "../kit/project.ts";
import { around, bent, moved, rotated, tinted, type Shape } from "../kit/shape.ts";
import { ball, lathe, rod, surface, tube } from "../kit/surface.ts";
import { step, unit, UP, type Vec3 } from "../kit/vector.ts";
import { part, type Look, type Part, type Thing } from "./thing.ts";

export const NATURE: Readonly<Record<string, Thing>> = {
  rock: { metres: 0.5, build: buildRock },
  crystal: { metres: 0.3, build: buildCrystal },
  mountain: { metres: 1, build: (look) => buildLand(look, "mountain") },
  volcano: { metres: 1, build: (look) => buildLand(look, "volcano") },
  island: { metres: 1, build: (look) => buildLand(look, "island") },
  landscape: { metres: 0.6, build: (look) => buildLand(look, "landscape") },
  sun: { metres: 1, build: buildSun },
  cloud: { metres: 1, build: buildCloud },
};

function buildRock(look: Look): readonly Part[] {
  const { noise, roll } = look;
  const wide = roll(0.9, 1.15);
  const stone = bent(
    ball([0, 0, 0], 1, 72),
    (point) => {
      const [x, y, z] = unit(point);
      const rough = 0.34 * noise.solid(x * 1.3, y * 1.3, z * 1.3, 2) + 0.1 * noise.solid(x * 4, y * 4, z * 4, 3);
      // Flat faces, as broken stone has them.
      const cut = Math.min(
        1,
        0.86 / Math.max(Math.abs(x), Math.abs(y) * 1.08, Math.abs(z), Math.abs(x + z) * 0.74, Math.abs(y - x) * 0.72),
      );
      const radius = 0.55 * (0.55 * cut + 0.5 + rough);
      return [wide * radius * x, Math.max(-0.34, 0.78 * radius * y), 0.9 * radius * z];
    },
    24,
  );
  const moss = look.has("moss", "mossy");
  const shaded = tinted(boxProjected(stone, 0.8), ([x, y, z], normal) => {
    const green = moss ? step(0.35, 0.7, normal[1] + 0.3 * noise.solid(x * 5, y * 5, z * 5, 2)) : 0;
    const light = 0.82 + 0.18 * noise.solid(x * 2 + 7, y * 2, z * 2, 2);
    return [light * (1 - 0.45 * green), light * (1 - 0.05 * green), light * (1 - 0.6 * green)];
  });
  return [part("Rock", look.main("#8f8c86", "stone"), shaded)];
}

function buildCrystal(look: Look): readonly Part[] {
  const colours: readonly [Colour, ...Colour[]] = ["#9a5fe0", "#4fb8e8", "#e05f9a", "#4fd6a0"];
  const skin = look.main(look.random.pick(colours), "crystal");
  const prisms: Shape[] = [];
  const count = 11;
  for (let index = 0; index < count; index += 1) {
    const share = index / (count - 1);
    const angle = index * 2.39996;
    const [high, wide] = [0.95 - 0.62 * share + look.roll(-0.05, 0.08), 0.14 - 0.07 * share];
    const tip = high * 0.78;
    const one = lathe(
      [
        [0.001, 0],
        [wide * 0.8, 0.02],
        [wide, tip],
        [0.001, high],
      ],
      6,
      5,
    );
    const lean = 8 + 42 * Math.sqrt(share);
    const out = index === 0 ? 0 : 0.06 + 0.2 * share;
    const axis: Vec3 = [Math.cos(angle), 0, -Math.sin(angle)];
    prisms.push(
      moved(rotated(rotated(one, UP, look.roll(0, 60)), axis, index === 0 ? 3 : lean), [
        out * Math.sin(angle),
        0.06,
        out * Math.cos(angle),
      ]),
    );
  }
  const base = bent(
    ball([0, 0.05, 0], [0.46, 0.16, 0.42], 48),
    ([x, y, z]) => {
      const rough = 1 + 0.2 * look.noise.solid(x * 5, y * 5, z * 5, 3);
      return [x * rough, Math.max(0, y * rough), z * rough];
    },
    25,
  );
  return [part("Crystals", skin, ...prisms), part("Rock", look.second("#5f5d62", "stone"), boxProjected(base, 0.7))];
}

type Land = "mountain" | "volcano" | "island" | "landscape";

/** Heights over a disc of radius 1. */
function heightOf({ noise }: Look, kind: Land, x: number, z: number): number {
  const far = Math.hypot(x, z);
  const rough = noise.solid(x * 2.2, 3, z * 2.2, 5);
  const ridge = 1 - Math.abs(noise.solid(x * 1.9 + 5, 9, z * 1.9, 5)) * 1.8;
  const fade = 1 - step(0.45, 0.98, far);
  switch (kind) {
    case "mountain":
      return (
        0.06 +
        fade * (0.95 * Math.max(0, 1 - far * 1.15) ** 1.25 * (0.6 + 0.55 * ridge) + 0.12 * (rough + 0.6)) +
        0.02 * noise.solid(x * 9, 0, z * 9, 2)
      );
    case "volcano": {
      const cone = 0.78 * Math.max(0, 1 - far) ** 1.5 * (1 + 0.12 * ridge);
      const crater = 0.42 + 0.06 * rough;
      return 0.05 + (far < 0.2 ? Math.min(cone, crater + (far / 0.2) ** 2 * 0.12) : cone) + 0.03 * fade * rough;
    }
    case "island":
      return -0.1 + 0.36 * fade * (1 - far * 0.55 + 0.7 * rough) + 0.12 * Math.max(0, ridge) * Math.max(0, 0.5 - far);
    default:
      return (
        0.1 +
        0.17 * rough +
        0.12 * Math.max(0, ridge - 0.3) +
        0.02 * noise.solid(x * 8, 0, z * 8, 2) -
        0.2 * Math.exp(-((x - 0.25 * Math.sin(3 * z)) ** 2) / 0.012)
      );
  }
}

function buildLand(look: Look, kind: Land): readonly Part[] {
  const size = 92;
  const height = (x: number, z: number): number => heightOf(look, kind, x, z);
  // A square of points drawn to a disc: its edge is round, its triangles stay even.
  const onDisc = (u: number, v: number): readonly [number, number] => {
    const [a, b] = [2 * u - 1, 2 * v - 1];
    return [a * Math.sqrt(1 - (b * b) / 2), -b * Math.sqrt(1 - (a * a) / 2)];
  };
  const ground = surface(
    size,
    size,
    (u, v) => {
      const [x, z] = onDisc(u, v);
      return [x, height(x, z), z];
    },
    { creaseDegrees: 80 },
  );
  const hasSea = kind === "island" || kind === "landscape";
  const level = kind === "island" ? 0.02 : 0.035;
  const coloured = tinted(boxProjected(ground, 0.55), (point, normal) => landColour(look, kind, level, point, normal));
  const floor = -0.16;
  const wall = surface(
    128,
    1,
    (u, v) => {
      const angle = 2 * Math.PI * u;
      const [x, z] = [Math.sin(angle), Math.cos(angle)];
      return [x, v === 0 ? floor : height(x, z), z];
    },
    { around: true, creaseDegrees: 80 },
  );
  const bottom = lathe(
    [
      [0.001, floor],
      [1, floor],
    ],
    96,
  );
  const parts = [
    part("Land", { finish: "snow", colour: "#ffffff" }, coloured),
    part("Base", look.second("#6b4f38", "earth"), wall, bottom),
  ];
  if (hasSea)
    parts.push(
      part(
        "Water",
        look.fixed("#2f86b8", "water"),
        lathe(
          kind === "island"
            ? [
                [1.0, -0.14],
                [1.012, -0.1],
                [1.012, level],
                [0.001, level],
              ]
            : [
                [0.999, level - 0.01],
                [0.999, level],
                [0.001, level],
              ],
          96,
          40,
        ),
      ),
    );
  if (kind === "volcano")
    parts.push(
      part(
        "Lava",
        look.fixed("#ff6a1c", "lava"),
        lathe(
          [
            [0.2, 0.44],
            [0.001, 0.46],
          ],
          40,
        ),
        ...lavaStreams(look, height),
      ),
    );
  if (kind !== "volcano") parts.push(...trees(look, kind, level, height));
  return parts;
}

function lavaStreams(look: Look, height: (x: number, z: number) => number): Shape[] {
  return [0.3, 2.2, 4.4].map((start) => {
    const path = Array.from({ length: 16 }, (_, index): Vec3 => {
      const far = 0.16 + 0.042 * index;
      const angle = start + 0.35 * Math.sin(index * 0.5 + start) + look.roll(-0.02, 0.02);
      const [x, z] = [far * Math.sin(angle), far * Math.cos(angle)];
      return [x, Math.max(height(x, z), far < 0.2 ? 0.44 : 0) + 0.004, z];
    });
    return tube(path, (share) => 0.03 - 0.014 * share, { sides: 10, flatness: 1.6 });
  });
}

const LAND: Readonly<Record<"grass" | "meadow" | "rock" | "snow" | "sand" | "ash", Vec3>> = {
  grass: linear("#4f8a3a"),
  meadow: linear("#86a84a"),
  rock: linear("#7d756b"),
  snow: linear("#f8fbff"),
  sand: linear("#e2cb95"),
  ash: linear("#4a4442"),
};

function landColour({ noise, has }: Look, kind: Land, level: number, [x, y, z]: Vec3, normal: Vec3): Vec3 {
  const patch = 0.5 + 0.5 * noise.solid(x * 5, 1, z * 5, 3);
  const blendOf = (a: Vec3, b: Vec3, share: number): Vec3 =>
    [0, 1, 2].map((at) => (a[at] ?? 0) * (1 - share) + (b[at] ?? 0) * share) as unknown as Vec3;
  const green = blendOf(LAND.grass, LAND.meadow, patch);
  const low = kind === "volcano" ? blendOf(green, LAND.ash, step(0.1, 0.34, y + 0.1 * patch)) : green;
  const isWinter = has("snow", "snowy", "winter", "arctic");
  const steep = 1 - step(kind === "landscape" ? 0.55 : 0.62, 0.82, normal[1] + 0.12 * (patch - 0.5));
  const rocky = blendOf(low, kind === "volcano" ? LAND.ash : LAND.rock, steep);
  const line = isWinter ? 0.05 : kind === "mountain" ? 0.46 : 9;
  const white = step(line, line + 0.12, y + 0.16 * (patch - 0.5)) * step(0.4, 0.62, normal[1]);
  const beach = kind === "island" || kind === "landscape" ? 1 - step(level + 0.012, level + 0.045, y) : 0;
  return blendOf(blendOf(rocky, LAND.sand, beach), LAND.snow, white);
}

function trees(look: Look, kind: Land, level: number, height: (x: number, z: number) => number): readonly Part[] {
  const crowns: Shape[] = [];
  const trunks: Shape[] = [];
  const wanted = kind === "mountain" ? 70 : kind === "island" ? 26 : 60;
  for (let tries = 0; tries < 400 && crowns.length < wanted; tries += 1) {
    const [angle, far] = [look.roll(0, 2 * Math.PI), Math.sqrt(look.roll(0, 1)) * 0.93];
    const [x, z] = [far * Math.sin(angle), far * Math.cos(angle)];
    const y = height(x, z);
    const slope =
      Math.hypot(height(x + 0.02, z) - height(x - 0.02, z), height(x, z + 0.02) - height(x, z - 0.02)) / 0.04;
    if (y < level + 0.05 || y > 0.36 || slope > 0.75 || look.noise.solid(x * 2, 8, z * 2, 1) < -0.1) continue;
    const size = look.roll(0.07, 0.12) * (kind === "mountain" ? 0.8 : 1);
    trunks.push(
      moved(
        lathe(
          [
            [size * 0.09, -0.02],
            [size * 0.08, size * 0.4],
          ],
          6,
        ),
        [x, y, z],
      ),
    );
    const cone =
      kind === "island"
        ? ball([0, size * 0.75, 0], [size * 0.4, size * 0.45, size * 0.4], 10)
        : lathe(
            [
              [0.001, size * 0.3],
              [size * 0.34, size * 0.28],
              [size * 0.2, size * 0.72],
              [size * 0.24, size * 0.7],
              [0.001, size * 1.3],
            ],
            9,
            40,
          );
    crowns.push(moved(cone, [x, y, z]));
  }
  if (crowns.length === 0) return [];
  return [
    part("Tree trunks", look.fixed("#5b4030", "matt"), ...trunks),
    part("Tree crowns", look.fixed("#2f6a3f", "matt"), ...crowns),
  ];
}

function buildSun(look: Look): readonly Part[] {
  const rays = around(
    moved(
      rotated(
        lathe(
          [
            [0.001, -0.1],
            [0.09, -0.1],
            [0.001, 0.24],
          ],
          20,
        ),
        [1, 0, 0],
        90,
      ),
      [0, 0, 0.5],
    ),
    12,
  );
  const disc = bent(ball([0, 0, 0], 0.4, 64), ([x, y, z]) => {
    const rough = 1 + 0.02 * look.noise.solid(x * 6, y * 6, z * 6, 3);
    return [x * rough, y * rough, z * rough];
  });
  const up = (shape: Shape): Shape => moved(rotated(shape, [1, 0, 0], 90), [0, 0.86, 0]);
  return [
    part("Sun", look.main("#ffb52e", "neon"), up(disc)),
    part("Rays", look.second("#ff8a1c", "neon"), up(rays)),
    part(
      "Stand",
      look.fixed("#b88746", "brass"),
      rod([0, 0, 0], [0, 0.3, 0], 0.03),
      lathe(
        [
          [0.001, 0],
          [0.24, 0],
          [0.25, 0.025],
          [0.05, 0.05],
          [0.001, 0.05],
        ],
        44,
      ),
    ),
  ];
}

function buildCloud(look: Look): readonly Part[] {
  const white: Vec3 = [1, 1, 1];
  const lumps: Lump[] = [{ at: [0, 0.3, 0], radius: [0.5, 0.26, 0.3], colour: white }];
  for (let index = 0; index < 11; index += 1) {
    const share = index / 10;
    lumps.push({
      at: [
        -0.62 + 1.24 * share,
        0.24 + 0.24 * Math.sin(Math.PI * share) + look.roll(-0.03, 0.06),
        look.roll(-0.14, 0.14),
      ],
      radius: 0.15 + 0.14 * Math.sin(Math.PI * share) * look.roll(0.8, 1.1),
      colour: white,
      blend: 0.05,
    });
  }
  const isStormy = look.has("rain", "rainy", "storm", "stormy", "thunder");
  const shape = blob(lumps, { cell: 0.026 });
  const parts = [
    part(
      "Cloud",
      look.main(isStormy ? "#8d96a3" : "#f8fafc", "snow"),
      boxProjected(moved(shape, [0, isStormy ? 0.35 : 0, 0]), 1.2),
    ),
  ];
  if (!isStormy) return parts;
  const drops = Array.from({ length: 22 }, (_, index) =>
    moved(
      lathe(
        [
          [0.001, 0],
          [0.018, 0.015],
          [0.014, 0.035],
          [0.001, 0.08],
        ],
        10,
      ),
      [
        -0.5 + (index % 11) * 0.1 + look.roll(-0.03, 0.03),
        0.06 + 0.16 * Math.floor(index / 11) + look.roll(0, 0.08),
        look.roll(-0.18, 0.18),
      ],
    ),
  );
  return [...parts, part("Drops", look.second("#4f9fe0", "eye"), ...drops)];
}
