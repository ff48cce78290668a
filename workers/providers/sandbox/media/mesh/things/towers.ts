/** Buildings with towers. */
import { around, merged, moved, rotated, type Shape } from "../kit/shape.ts";
import { box } from "../kit/solids.ts";
import { lathe, rod, surface, tube } from "../kit/surface.ts";
import { boxProjected } from "../kit/project.ts";
import { UP, type Vec3 } from "../kit/vector.ts";
import { part, sheet, type Look, type Part, type Thing } from "./thing.ts";
import { doorArch } from "./buildings-parts.ts";

export const TOWERS: Readonly<Record<string, Thing>> = {
  castle: { metres: 18, build: buildCastle },
  tower: { metres: 14, build: buildTower },
  lighthouse: { metres: 16, build: buildLighthouse },
};

/** A ring of teeth on a round wall. */
function battlements(radius: number, at: number, count: number, size: number): Shape {
  return around(
    box([0, at + size * 0.5, radius - size * 0.3], [((2 * Math.PI * radius) / count) * 0.55, size, size * 0.6], 0.006),
    count,
  );
}

function roundTower(radius: number, height: number, teeth = 10): Shape {
  const wall = lathe(
    [
      [0.001, 0],
      [radius * 1.08, 0],
      [radius * 1.02, 0.12],
      [radius, 0.16],
      [radius, height - 0.12],
      [radius * 1.18, height - 0.06],
      [radius * 1.18, height],
      [radius * 0.92, height],
      [radius * 0.92, height - 0.05],
      [0.001, height - 0.05],
    ],
    36,
    30,
  );
  return merged([wall, battlements(radius * 1.18, height, teeth, radius * 0.36)]);
}

function coneRoof(at: Vec3, radius: number, height: number): Shape {
  return moved(
    lathe(
      [
        [0.001, 0],
        [radius, 0],
        [radius * 1.02, 0.012],
        [radius * 0.5, height * 0.46],
        [radius * 0.2, height * 0.8],
        [0.001, height],
      ],
      36,
    ),
    at,
  );
}

function flag(at: Vec3, size: number): { readonly pole: Shape; readonly cloth: Shape } {
  const cloth = surface(8, 4, (u, v) => [
    at[0] + size * u,
    at[1] + size * 1.35 - size * 0.55 * (1 - v),
    at[2] + 0.14 * size * Math.sin(u * 6) * u,
  ]);
  return { pole: rod(at, [at[0], at[1] + size * 1.4, at[2]], size * 0.04), cloth };
}

function slit(at: Vec3, turn: number, radius: number): Shape {
  return rotated(moved(box([0, 0, radius], [0.035, 0.12, 0.03], 0.012), at), UP, turn);
}

function buildCastle(look: Look): readonly Part[] {
  const wall = look.main("#b0aaa0", "blocks");
  const half = 0.62;
  const towers = [
    [-half, -half],
    [half, -half],
    [-half, half],
    [half, half],
  ].map(([x = 0, z = 0]) => ({ x, z }));
  const sides = [0, 90, 180, 270].map((turn) => {
    const teeth = Array.from({ length: 7 }, (_, index) =>
      box([-0.42 + 0.14 * index, 0.545, half], [0.075, 0.09, 0.11], 0.006),
    );
    return rotated(merged([box([0, 0.25, half], [2 * half, 0.5, 0.12], 0.004), ...teeth]), UP, turn);
  });
  const keep = [
    boxProjected(box([0, 0.5, -0.08], [0.56, 1.0, 0.5], 0.006)),
    ...[-1, 1].flatMap((x) => [-1, 1].map((z) => moved(roundTower(0.085, 1.2, 8), [x * 0.28, 0, -0.08 + z * 0.25]))),
  ];
  const gate = [
    box([-0.17, 0.3, half + 0.02], [0.16, 0.62, 0.2], 0.006),
    box([0.17, 0.3, half + 0.02], [0.16, 0.62, 0.2], 0.006),
    box([0, 0.53, half + 0.02], [0.5, 0.16, 0.2], 0.006),
  ];
  const flags = [...towers.map(({ x, z }) => flag([x, 1.24, z], 0.16)), flag([0, 1.0, -0.08], 0.3)];
  const slits = towers.flatMap(({ x, z }) =>
    [0, 90, 180, 270].map((turn) => moved(slit([0, 0.52, 0], turn, 0.178), [x, 0, z])),
  );
  const keepSlits = [0.5, 0.76].flatMap((y) =>
    [-0.12, 0.12].flatMap((x) => [
      box([x, y, 0.172], [0.05, 0.13, 0.02], 0.008),
      box([x, y, -0.332], [0.05, 0.13, 0.02], 0.008),
    ]),
  );
  return [
    part(
      "Walls",
      wall,
      ...sides.map((shape) => boxProjected(shape)),
      ...towers.map(({ x, z }) => moved(roundTower(0.18, 0.86), [x, 0, z])),
      ...gate.map((shape) => boxProjected(shape)),
    ),
    part("Keep", wall, ...keep),
    part(
      "Roofs",
      look.second("#4f5f94", "tiles"),
      ...towers.map(({ x, z }) => coneRoof([x, 0.86, z], 0.19, 0.4)),
      ...[-1, 1].flatMap((x) => [-1, 1].map((z) => coneRoof([x * 0.28, 1.2, -0.08 + z * 0.25], 0.1, 0.26))),
    ),
    part("Gate", look.fixed("#5f4029", "planks"), box([0, 0.22, half + 0.03], [0.2, 0.46, 0.05], 0.01)),
    part("Slits", look.fixed("#2b2a2c", "matt"), ...slits, ...keepSlits),
    part("Poles", look.fixed("#6b5436", "wood"), ...flags.map(({ pole }) => pole)),
    part("Flags", sheet(look.fixed("#c9303a", "cloth")), ...flags.map(({ cloth }) => cloth)),
    part(
      "Ground",
      look.fixed("#6f9a4c", "grass"),
      lathe(
        [
          [0.001, -0.04],
          [1.04, -0.04],
          [1.08, -0.02],
          [1.0, 0.006],
          [0.001, 0.006],
        ],
        48,
      ),
    ),
  ];
}

function buildTower(look: Look): readonly Part[] {
  const wall = look.main("#aaa59b", "blocks");
  const pole = flag([0, 1.96, 0], 0.2);
  const windows = [0.5, 0.85, 1.12].flatMap((y, row) =>
    [0, 120, 240].map((turn) => slit([0, y, 0], turn + 40 * row, 0.292)),
  );
  return [
    part("Wall", wall, roundTower(0.29, 1.4, 12)),
    part("Roof", look.second("#4f5f94", "tiles"), coneRoof([0, 1.44, 0], 0.36, 0.56)),
    part("Windows", look.fixed("#2b2a2c", "matt"), ...windows),
    part("Door", look.fixed("#6b4a2c", "planks"), doorArch([0, 0, 0.3], 0.2, 0.36)),
    part("Pole", look.fixed("#6b5436", "wood"), pole.pole),
    part("Flag", sheet(look.fixed("#c9303a", "cloth")), pole.cloth),
    part(
      "Ground",
      look.fixed("#6f9a4c", "grass"),
      lathe(
        [
          [0.001, -0.04],
          [0.6, -0.04],
          [0.64, -0.02],
          [0.56, 0.008],
          [0.001, 0.008],
        ],
        48,
      ),
    ),
  ];
}

function buildLighthouse(look: Look): readonly Part[] {
  const bands = 5;
  const radius = (y: number): number => 0.27 - 0.11 * (y / 1.3);
  const pieces = Array.from({ length: bands }, (_, index) => {
    const [low, high] = [(1.3 * index) / bands, (1.3 * (index + 1)) / bands];
    return lathe(
      [
        [radius(low), low],
        [radius(high), high],
      ],
      48,
    );
  });
  const rail = [
    ring3([0, 1.48, 0], 0.235),
    ring3([0, 1.42, 0], 0.235),
    ...Array.from({ length: 14 }, (_, index) => {
      const angle = (index * 2 * Math.PI) / 14;
      return rod(
        [0.235 * Math.sin(angle), 1.35, 0.235 * Math.cos(angle)],
        [0.235 * Math.sin(angle), 1.48, 0.235 * Math.cos(angle)],
        0.007,
        0.007,
        6,
      );
    }),
  ];
  const posts = Array.from({ length: 8 }, (_, index) =>
    rotated(rod([0, 1.35, 0.13], [0, 1.62, 0.13], 0.012, 0.012, 8), UP, 45 * index),
  );
  return [
    part("Bands", look.main("#d23a34", "plaster"), ...pieces.filter((_, index) => index % 2 === 0)),
    part("Wall", look.second("#f6f3ea", "plaster"), ...pieces.filter((_, index) => index % 2 === 1)),
    part(
      "Gallery",
      look.fixed("#33363d", "iron"),
      lathe(
        [
          [0.15, 1.26],
          [0.25, 1.31],
          [0.255, 1.35],
          [0.001, 1.35],
        ],
        48,
      ),
      ...rail,
      ...posts,
      lathe(
        [
          [0.001, 1.62],
          [0.19, 1.62],
          [0.195, 1.64],
          [0.1, 1.76],
          [0.03, 1.8],
          [0.03, 1.84],
          [0.001, 1.87],
        ],
        40,
      ),
    ),
    part(
      "Lamp",
      look.fixed("#ffdf7a", "neon"),
      lathe(
        [
          [0.001, 1.36],
          [0.06, 1.38],
          [0.085, 1.48],
          [0.06, 1.58],
          [0.001, 1.6],
        ],
        24,
      ),
    ),
    part(
      "Panes",
      look.fixed("#dff1f7", "glass"),
      lathe(
        [
          [0.125, 1.35],
          [0.125, 1.62],
        ],
        32,
      ),
    ),
    part(
      "Door",
      look.fixed("#5f4029", "planks"),
      doorArch([0, 0, 0.255], 0.14, 0.26),
      ...[0.5, 0.9].map((y) => moved(rotated(doorArch([0, 0, radius(y) - 0.01], 0.07, 0.11), UP, 15), [0, y, 0])),
    ),
    part(
      "Rocks",
      look.fixed("#7f7b74", "stone"),
      ...Array.from({ length: 13 }, (_, index) =>
        rotated(
          moved(
            rotated(
              box([0, 0, 0], [look.roll(0.16, 0.26), look.roll(0.1, 0.2), look.roll(0.14, 0.24)], 0.05),
              [1, 0.2, 0],
              look.roll(0, 80),
            ),
            [0, 0.02, look.roll(0.28, 0.42)],
          ),
          UP,
          index * 27.7 + 14,
        ),
      ),
    ),
  ];
}

function ring3(at: Vec3, radius: number): Shape {
  return tube(
    Array.from({ length: 41 }, (_, index): Vec3 => [
      at[0] + radius * Math.sin((index % 40) * (Math.PI / 20)),
      at[1],
      at[2] + radius * Math.cos((index % 40) * (Math.PI / 20)),
    ]),
    0.009,
    { sides: 6 },
  );
}
