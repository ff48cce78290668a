/** What rooms are furnished with. */
import { darker } from "../../images/colours.ts";
import { around, merged, moved, rotated, twice, type Shape } from "../kit/shape.ts";
import { box } from "../kit/solids.ts";
import { ball, curve, lathe, profileCurve, rod, tube } from "../kit/surface.ts";
import { UP, type Vec3 } from "../kit/vector.ts";
import { part, type Look, type Part, type Thing } from "./thing.ts";

export const FURNITURE: Readonly<Record<string, Thing>> = {
  chair: { metres: 0.95, build: buildChair },
  armchair: { metres: 0.9, build: (look) => buildSofa(look, 0.62) },
  sofa: { metres: 0.85, build: (look) => buildSofa(look, 1.5) },
  stool: { metres: 0.5, build: buildStool },
  table: { metres: 0.75, build: buildTable },
  desk: { metres: 0.75, build: buildDesk },
  bed: { metres: 1, build: buildBed },
  bookshelf: { metres: 1.8, build: buildShelf },
};

/** Bars at the four corners of a rectangle, leaning outwards by `splay`. */
function legs(x: number, z: number, height: number, radius: number, splay = 0): Shape {
  const shape = [-1, 1].flatMap((a) =>
    [-1, 1].map((b) => rod([a * (x + splay), 0, b * (z + splay)], [a * x, height, b * z], radius * 0.62, radius, 20)),
  );
  return merged(shape);
}

function buildChair(look: Look): readonly Part[] {
  const wood = look.main("#a9713f", "wood");
  const isThrone = look.has("throne", "royal");
  const height = isThrone ? 1.5 : 1.05;
  const seat = box([0, 0.5, 0], [0.52, 0.055, 0.5], 0.024);
  const posts = [-1, 1].map((side) => rod([side * 0.22, 0.5, -0.21], [side * 0.22, height - 0.02, -0.3], 0.026, 0.022));
  const slats = isThrone
    ? [box([0, 1.0, -0.27], [0.4, 0.86, 0.05], 0.02)]
    : [-0.13, -0.045, 0.045, 0.13].map((x) => rod([x, 0.52, -0.22], [x, height - 0.07, -0.295], 0.013));
  const head = box([0, height - 0.03, -0.3], [0.53, 0.1, 0.04], 0.02);
  const bars = [0.24].flatMap((y) => [
    rod([-0.215, y, -0.21], [-0.215, y, 0.2], 0.014),
    rod([0.215, y, -0.21], [0.215, y, 0.2], 0.014),
    rod([-0.215, y, 0], [0.215, y, 0], 0.014),
  ]);
  const arms = isThrone
    ? twice(
        merged([box([0.27, 0.74, -0.02], [0.06, 0.05, 0.46], 0.02), rod([0.27, 0.5, 0.16], [0.27, 0.73, 0.16], 0.024)]),
      )
    : null;
  const crest = isThrone ? ball([0, height + 0.06, -0.3], 0.055, 20) : null;
  return [
    part(
      "Frame",
      wood,
      seat,
      legs(0.2, 0.2, 0.49, 0.03, 0.03),
      ...posts,
      head,
      ...slats,
      ...bars,
      ...(arms === null ? [] : [arms]),
      ...(crest === null ? [] : [crest]),
    ),
    part("Cushion", look.second("#b8433c", "cloth"), cushion([0, 0.548, 0.01], [0.46, 0.07, 0.44])),
  ];
}

/** A block whose top bulges. */
function cushion(at: Vec3, [wide, high, deep]: Vec3): Shape {
  const grid = box([0, 0, 0], [wide, high, deep], high * 0.45);
  return moved(grid, at);
}

function buildSofa(look: Look, wide: number): readonly Part[] {
  const cover = look.main("#4f7486", "cloth");
  const half = wide / 2;
  const count = wide > 1 ? 3 : 1;
  const seats = Array.from({ length: count }, (_, index) => {
    const width = wide / count;
    return [
      cushion([-half + width * (index + 0.5), 0.39, 0.06], [width * 0.985, 0.17, 0.62]),
      rotated(moved(cushion([0, 0, 0], [width * 0.97, 0.44, 0.17]), [0, 0, 0]), [1, 0, 0], -10),
    ].map((shape, at) => (at === 1 ? moved(shape, [-half + width * (index + 0.5), 0.64, -0.2]) : shape));
  }).flat();
  const frame = box([0, 0.23, 0], [wide + 0.28, 0.18, 0.76], 0.05);
  const back = box([0, 0.5, -0.33], [wide + 0.28, 0.62, 0.13], 0.055);
  const arm = box([half + 0.08, 0.4, 0], [0.15, 0.46, 0.78], 0.065);
  const pillows =
    wide > 1
      ? twice(
          rotated(
            moved(rotated(box([0, 0, 0], [0.34, 0.32, 0.11], 0.055), [1, 0, 0], -18), [half - 0.2, 0.6, -0.05]),
            UP,
            0,
          ),
        )
      : null;
  return [
    part("Cover", cover, frame, back, twice(arm), ...seats),
    part("Legs", look.fixed("#5f4029", "wood"), legs(half + 0.06, 0.3, 0.16, 0.035, 0.02)),
    ...(pillows === null ? [] : [part("Pillows", look.second("#e2b45c", "knit"), pillows)]),
  ];
}

function buildStool(look: Look): readonly Part[] {
  const top = lathe(
    [
      [0.001, 0.93],
      [0.24, 0.93],
      [0.27, 0.95],
      [0.27, 0.99],
      [0.24, 1.01],
      [0.001, 0.995],
    ],
    48,
  );
  const leg = rod([0.26, 0, 0.26], [0.13, 0.94, 0.13], 0.028, 0.036, 16);
  const bar = rod([0.21, 0.36, 0.21], [0.21, 0.36, -0.21], 0.02);
  return [part("Stool", look.main("#b98350", "wood"), top, around(leg, 4), around(bar, 4))];
}

function buildTable(look: Look): readonly Part[] {
  const wood = look.main("#a06a3c", "wood");
  if (look.has("round", "coffee", "bistro")) {
    const top = lathe(
      [
        [0.001, 0.7],
        [0.56, 0.7],
        [0.6, 0.715],
        [0.6, 0.745],
        [0.58, 0.76],
        [0.001, 0.76],
      ],
      64,
    );
    const column = lathe(
      profileCurve(
        [
          [0.001, 0.05],
          [0.09, 0.08],
          [0.05, 0.2],
          [0.075, 0.36],
          [0.045, 0.55],
          [0.12, 0.7],
          [0.001, 0.7],
        ],
        5,
      ),
      32,
    );
    const foot = around(
      tube(
        curve(
          [
            [0, 0.14, 0.02],
            [0, 0.1, 0.2],
            [0, 0.02, 0.4],
          ],
          5,
        ),
        (share) => 0.04 - 0.012 * share,
        { sides: 14 },
      ),
      4,
    );
    return [part("Table", wood, top, column, foot)];
  }
  const top = box([0, 0.73, 0], [1.3, 0.05, 0.78], 0.018);
  const frame = [
    box([0, 0.66, 0.3], [1.08, 0.09, 0.03], 0.008),
    box([0, 0.66, -0.3], [1.08, 0.09, 0.03], 0.008),
    box([0.54, 0.66, 0], [0.03, 0.09, 0.6], 0.008),
    box([-0.54, 0.66, 0], [0.03, 0.09, 0.6], 0.008),
  ];
  return [
    part("Top", wood, top),
    part("Legs", look.second(darker(wood.colour, 0.12), wood.finish), ...frame, legs(0.55, 0.3, 0.71, 0.05)),
  ];
}

function buildDesk(look: Look): readonly Part[] {
  const wood = look.main("#b07a48", "wood");
  const drawers = [0.56, 0.37, 0.18].map((y) => box([0.42, y, 0.285], [0.36, 0.165, 0.03], 0.012));
  const knobs = [0.56, 0.37, 0.18].map((y) => ball([0.42, y, 0.315], 0.02, 14));
  return [
    part(
      "Desk",
      wood,
      box([0, 0.73, 0], [1.34, 0.045, 0.66], 0.016),
      box([0.42, 0.37, 0], [0.4, 0.66, 0.56], 0.012),
      legsAt([-0.6, -0.26], [-0.6, 0.26]),
    ),
    part("Drawers", look.second(darker(wood.colour, 0.14), wood.finish), ...drawers),
    part("Knobs", look.fixed("#d8b060", "brass"), ...knobs),
  ];
}

function legsAt(...places: readonly (readonly [number, number])[]): Shape {
  return merged(places.map(([x, z]) => rod([x, 0, z], [x, 0.71, z], 0.024, 0.034, 16)));
}

function buildBed(look: Look): readonly Part[] {
  const wood = look.main("#8f5f3a", "wood");
  const blanket = look.second("#5f86b0", "cloth");
  return [
    part(
      "Frame",
      wood,
      box([0, 0.24, 0], [1.06, 0.16, 1.7], 0.03),
      box([0, 0.52, -0.86], [1.1, 0.86, 0.07], 0.03),
      box([0, 0.36, 0.86], [1.1, 0.44, 0.06], 0.03),
      legs(0.5, 0.82, 0.24, 0.045),
    ),
    part("Mattress", look.fixed("#f2eee4", "cloth"), box([0, 0.4, 0], [1.0, 0.2, 1.62], 0.07)),
    part(
      "Pillows",
      look.fixed("#fbfaf6", "cloth"),
      twice(moved(rotated(box([0, 0, 0], [0.42, 0.13, 0.3], 0.064), [1, 0, 0], 14), [0.25, 0.56, -0.6])),
    ),
    part(
      "Blanket",
      blanket,
      box([0, 0.45, 0.24], [1.05, 0.19, 1.16], 0.08),
      box([0, 0.53, -0.29], [1.04, 0.09, 0.2], 0.04),
    ),
  ];
}

function buildShelf(look: Look): readonly Part[] {
  const wood = look.main("#8f623a", "wood");
  const boards = [0.03, 0.42, 0.8, 1.18, 1.55].map((y) => box([0, y, 0], [0.96, 0.035, 0.28], 0.008));
  const sides = twice(box([0.485, 0.79, 0], [0.035, 1.58, 0.29], 0.008));
  const colours = ["#9c3b36", "#3f6b8f", "#d8a850", "#4d7f52", "#6d4a7f", "#e6dcc4"];
  const books: Shape[][] = colours.map(() => []);
  for (const floor of [0.05, 0.44, 0.82, 1.2]) {
    for (let x = -0.44; x < 0.36;) {
      const [thick, high] = [look.roll(0.028, 0.06), look.roll(0.22, 0.31)];
      const isLeaning = look.random.below(9) === 0;
      const book = box([0, high / 2, 0], [thick, high, look.roll(0.18, 0.22)], 0.006);
      books[look.random.below(colours.length)]?.push(
        moved(isLeaning ? rotated(book, [0, 0, 1], -9) : book, [x + thick / 2, floor, 0.01]),
      );
      x += thick + (isLeaning ? 0.05 : 0.003);
    }
  }
  return [
    part("Shelf", wood, ...boards, sides, box([0, 0.79, -0.138], [0.96, 1.56, 0.014], 0)),
    ...books.flatMap((shapes, index) =>
      shapes.length === 0
        ? []
        : [part(`Books ${index + 1}`, look.fixed(colours[index] ?? "#888888", "matt"), ...shapes)],
    ),
  ];
}
