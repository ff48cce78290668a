/** Where people live, and gather. */
import { around, merged, moved, rotated, scaled, twice, type Shape } from "../kit/shape.ts";
import { box, prism } from "../kit/solids.ts";
import { ball, lathe, rod, surface } from "../kit/surface.ts";
import { boxProjected } from "../kit/project.ts";
import { UP, type Vec2, type Vec3 } from "../kit/vector.ts";
import { part, type Look, type Part, type Thing } from "./thing.ts";
import { gable, doorArch } from "./buildings-parts.ts";

export const BUILDINGS: Readonly<Record<string, Thing>> = {
  house: { metres: 6, picture: "sides", build: buildHouse },
  church: { metres: 14, build: buildChurch },
  windmill: { metres: 10, build: buildWindmill },
  skyscraper: { metres: 60, picture: "sides", build: buildSkyscraper },
  tent: { metres: 2, build: buildTent },
  igloo: { metres: 2, build: buildIgloo },
};

/** A window that looks along z: frame, pane, bars. */
function window(at: Vec3, wide: number, high: number): { readonly frame: Shape; readonly pane: Shape } {
  const [x, y, z] = at;
  const t = 0.022;
  const bars = [
    box([x - wide / 2, y, z], [t, high + t, 0.035], 0.004),
    box([x + wide / 2, y, z], [t, high + t, 0.035], 0.004),
    box([x, y - high / 2, z + 0.008], [wide + 0.06, t, 0.055], 0.004),
    box([x, y + high / 2, z], [wide + t, t, 0.035], 0.004),
    box([x, y, z], [t * 0.6, high, 0.026], 0.002),
    box([x, y, z], [wide, t * 0.6, 0.026], 0.002),
  ];
  return { frame: merged(bars), pane: box([x, y, z - 0.004], [wide, high, 0.02], 0) };
}

function wallsWithGable(wide: number, deep: number, low: number, high: number): Shape {
  const outline: Vec2[] = [
    [-deep / 2, 0],
    [deep / 2, 0],
    [deep / 2, low],
    [0, high],
    [-deep / 2, low],
  ];
  return boxProjected(rotated(prism(outline, { depth: wide }), UP, 90));
}

function buildHouse(look: Look): readonly Part[] {
  const wall = look.main("#ecdcc0", "plaster");
  const [wide, deep, low, high] = [1.2, 0.9, 0.62, 1.02];
  const panes: Shape[] = [];
  const frames: Shape[] = [];
  const add = (shape: (shape: Shape) => Shape, at: Vec3, w: number, h: number): void => {
    const { frame, pane } = window(at, w, h);
    frames.push(shape(frame));
    panes.push(shape(pane));
  };
  const same = (shape: Shape): Shape => shape;
  const back = (shape: Shape): Shape => rotated(shape, UP, 180);
  const left = (shape: Shape): Shape => rotated(shape, UP, 90);
  const right = (shape: Shape): Shape => rotated(shape, UP, -90);
  for (const x of [-0.36, 0.36]) {
    add(same, [x, 0.36, deep / 2 + 0.008], 0.2, 0.22);
    add(back, [x, 0.36, deep / 2 + 0.008], 0.2, 0.22);
  }
  add(back, [0, 0.36, deep / 2 + 0.008], 0.2, 0.22);
  for (const side of [left, right]) {
    add(side, [0, 0.34, wide / 2 + 0.008], 0.22, 0.22);
    add(side, [0, 0.74, wide / 2 + 0.008], 0.15, 0.15);
  }
  const door = box([0, 0.205, deep / 2 + 0.012], [0.2, 0.41, 0.04], 0.008);
  const doorFrame = [
    box([-0.115, 0.22, deep / 2 + 0.012], [0.03, 0.44, 0.055], 0.006),
    box([0.115, 0.22, deep / 2 + 0.012], [0.03, 0.44, 0.055], 0.006),
    box([0, 0.425, deep / 2 + 0.012], [0.26, 0.03, 0.055], 0.006),
  ];
  const chimney = boxProjected(box([0.34, 0.98, -0.16], [0.13, 0.44, 0.13], 0.006));
  const shrubs = [-0.52, -0.3, 0.3, 0.5].map((x, index) =>
    ball([x, 0.07, deep / 2 + 0.1], [0.1 + 0.012 * (index % 2), 0.1, 0.085], 18),
  );
  return [
    part("Walls", wall, wallsWithGable(wide, deep, low, high)),
    part("Roof", look.second("#a8483a", "tiles"), boxProjected(gable(wide, deep, low, high, 0.11))),
    part(
      "Chimney",
      look.fixed("#9a5a46", "brick"),
      chimney,
      boxProjected(box([0.34, 1.2, -0.16], [0.16, 0.035, 0.16], 0.006)),
    ),
    part("Frames", look.fixed("#fbf8f0", "matt"), ...frames, ...doorFrame),
    part("Panes", look.fixed("#8fb8cf", "eye"), ...panes),
    part("Door", look.fixed("#5f7f5a", "wood"), door),
    part("Knob", look.fixed("#d8b060", "brass"), ball([0.07, 0.2, deep / 2 + 0.04], 0.014, 12)),
    part("Step", look.fixed("#a5a29b", "stone"), box([0, 0.015, deep / 2 + 0.1], [0.32, 0.05, 0.16], 0.012)),
    part("Shrubs", look.fixed("#4f8f42", "leaves"), ...shrubs),
  ];
}

function buildWindmill(look: Look): readonly Part[] {
  const body = lathe(
    [
      [0.001, 0],
      [0.34, 0],
      [0.2, 0.95],
      [0.001, 0.95],
    ],
    8,
    30,
  );
  const blades = Array.from({ length: 4 }, (_, index) => {
    const spar = rod([0, 0, 0], [0, 0.66, 0], 0.016, 0.01);
    const slats = Array.from({ length: 8 }, (_, at) => box([0.055, 0.16 + 0.065 * at, 0], [0.1, 0.01, 0.012], 0));
    const rails = [box([0.105, 0.39, 0], [0.01, 0.48, 0.012], 0), box([0.05, 0.39, -0.004], [0.1, 0.48, 0.003], 0)];
    return rotated(merged([spar, ...slats, ...rails]), [0, 0, 1], 90 * index + 22);
  });
  return [
    part("Body", look.main("#e9dfcb", "plaster"), body),
    part(
      "Cap",
      look.second("#7a4a3a", "tiles"),
      lathe(
        [
          [0.001, 0.93],
          [0.25, 0.93],
          [0.25, 0.96],
          [0.2, 1.08],
          [0.1, 1.18],
          [0.001, 1.2],
        ],
        24,
      ),
    ),
    part(
      "Sails",
      look.fixed("#6b4a2c", "wood"),
      ...blades.map((blade) => moved(blade, [0, 1.02, 0.33])),
      rod([0, 1.02, 0], [0, 1.02, 0.36], 0.03),
    ),
    part("Door", look.fixed("#5f4029", "planks"), doorArch([0, 0, 0.3], 0.16, 0.28)),
    part(
      "Windows",
      look.fixed("#8fb8cf", "eye"),
      ...[0, 90, 180, 270].map((turn) => rotated(box([0, 0.6, 0.246], [0.09, 0.12, 0.03], 0.006), UP, turn)),
    ),
  ];
}

function buildChurch(look: Look): readonly Part[] {
  const wall = look.main("#ece5d6", "plaster");
  const nave = rotated(wallsWithGable(1.0, 0.6, 0.5, 0.86), UP, 90);
  const arches = [-0.28, 0, 0.28].flatMap((z) =>
    [rotated(doorArch([0, 0, 0.3], 0.11, 0.28), UP, 90), rotated(doorArch([0, 0, 0.3], 0.11, 0.28), UP, -90)].map(
      (shape) => moved(shape, [0, 0.16, z]),
    ),
  );
  const tower = boxProjected(box([0, 0.6, 0.56], [0.36, 1.2, 0.36], 0.006));
  const spire = rotated(
    lathe(
      [
        [0.001, 1.2],
        [0.3, 1.2],
        [0.3, 1.22],
        [0.001, 1.86],
      ],
      4,
      20,
    ),
    UP,
    45,
  );
  return [
    part("Walls", wall, nave, moved(tower, [0, 0, 0])),
    part(
      "Roof",
      look.second("#5a6470", "tiles"),
      boxProjected(rotated(gable(1.0, 0.6, 0.5, 0.86, 0.05), UP, 90)),
      moved(spire, [0, 0, 0.56]),
    ),
    part("Windows", look.fixed("#6f9fc4", "eye"), ...arches, moved(doorArch([0, 0, 0], 0.1, 0.2), [0, 0.84, 0.73])),
    part("Door", look.fixed("#6b4326", "planks"), doorArch([0, 0, 0.735], 0.2, 0.36)),
    part(
      "Cross",
      look.fixed("#e2b64a", "gold"),
      box([0, 1.95, 0.56], [0.03, 0.22, 0.03], 0.006),
      box([0, 1.98, 0.56], [0.13, 0.03, 0.03], 0.006),
    ),
  ];
}

function buildSkyscraper(look: Look): readonly Part[] {
  const tiers = [
    [0.62, 0, 1.1],
    [0.48, 1.1, 0.62],
    [0.32, 1.72, 0.36],
  ] as const;
  const core = tiers.map(([size, low, high]) => box([0, low + high / 2, 0], [size, high, size], 0.01));
  const ribs: Shape[] = [];
  const glass: Shape[] = [];
  for (const [size, low, high] of tiers) {
    glass.push(box([0, low + high / 2, 0], [size + 0.012, high - 0.05, size + 0.012], 0));
    const count = Math.round(size / 0.07);
    for (let index = 0; index <= count; index += 1) {
      const x = -size / 2 + (size * index) / count;
      ribs.push(around(box([x, low + high / 2, size / 2 + 0.008], [0.014, high, 0.022], 0), 4));
    }
    for (let y = low + 0.06; y < low + high - 0.01; y += 0.075)
      ribs.push(box([0, y, 0], [size + 0.026, 0.016, size + 0.026], 0));
  }
  return [
    part("Frame", look.main("#cfd3d8", "matt"), ...core, ...ribs),
    part("Glass", look.second("#4f86ad", "chrome"), ...glass),
    part(
      "Mast",
      look.fixed("#c4c9d0", "steel"),
      rod([0, 2.08, 0], [0, 2.6, 0], 0.022, 0.006),
      box([0, 2.1, 0], [0.16, 0.05, 0.16], 0.01),
    ),
    part("Entrance", look.fixed("#3a3f47", "eye"), box([0, 0.06, 0.318], [0.16, 0.12, 0.03], 0.004)),
  ];
}

function buildTent(look: Look): readonly Part[] {
  const side = box([0, 0, 0], [1.2, 0.02, 1.0], 0.008);
  const slabs = [1, -1].map((sign) => moved(rotated(side, [0, 0, 1], sign * -57), [sign * 0.27, 0.42, 0]));
  const roof = slabs.map((shape) => scaled(shape, [0.82, 0.86, 1]));
  const back = prism(
    [
      [-0.46, 0],
      [0.46, 0],
      [0, 0.82],
    ],
    { depth: 0.02 },
  );
  const flap = prism(
    [
      [0.1, 0],
      [0.46, 0],
      [0.0, 0.82],
      [0.0, 0.78],
    ],
    { depth: 0.02 },
  );
  return [
    part("Canvas", look.main("#e08a34", "cloth"), ...roof, moved(back, [0, 0, -0.46])),
    part("Flaps", look.second("#f0b35c", "cloth"), moved(twice(flap), [0, 0, 0.46])),
    part("Floor", look.fixed("#4a5a66", "cloth"), box([0, 0.01, 0], [0.96, 0.02, 0.96], 0.004)),
    part(
      "Poles",
      look.fixed("#8c6a48", "wood"),
      rod([0, 0, 0.5], [0, 0.92, 0.5], 0.018),
      rod([0, 0, -0.5], [0, 0.92, -0.5], 0.018),
      rod([0, 0.86, -0.5], [0, 0.86, 0.5], 0.014),
    ),
  ];
}

function buildIgloo(look: Look): readonly Part[] {
  const dome = surface(
    48,
    24,
    (u, v) => {
      const [angle, rise] = [2 * Math.PI * u, (Math.PI / 2) * v];
      const row = Math.floor(v * 6);
      const joint =
        Math.min(Math.abs(((v * 6) % 1) - 0.5) * 2 > 0.84 ? 1 : 0, 1) ||
        Math.abs((((u * 12 + (row % 2) * 0.5) % 1) - 0.5) * 2) > 0.9
          ? 0.985
          : 1;
      const ring = v === 1 ? 0 : Math.cos(rise);
      return [
        0.6 * joint * ring * Math.sin(angle),
        0.56 * joint * Math.sin(rise),
        0.6 * joint * ring * Math.cos(angle),
      ];
    },
    { around: true },
  );
  const arch = (radius: number, depth: number): Shape => {
    const half = Array.from({ length: 13 }, (_, index): Vec2 => [
      radius * Math.cos((Math.PI * index) / 12),
      radius * Math.sin((Math.PI * index) / 12),
    ]);
    return prism(half, { depth, bevel: 0.015 });
  };
  return [
    part("Dome", look.main("#eef4f8", "snow"), dome, moved(arch(0.25, 0.34), [0, 0, 0.62])),
    part("Entrance", look.fixed("#3f5a72", "matt"), moved(arch(0.17, 0.02), [0, 0, 0.795])),
    part(
      "Ground",
      look.fixed("#f4f8fc", "snow"),
      lathe(
        [
          [0.001, -0.03],
          [0.86, -0.03],
          [0.9, -0.015],
          [0.8, 0.006],
          [0.001, 0.006],
        ],
        48,
      ),
    ),
  ];
}
