/** A picture as a relief: light parts stand out; a picture with a clear background is cut out along its edge. */
import sharp from "sharp";

import type { Skin } from "./finishes.ts";
import type { GivenPicture } from "./given-picture.ts";
import { boundsOf, moved, newDraft, rotated, shapeOf, type Shape } from "./kit/shape.ts";
import { box } from "./kit/solids.ts";
import { rod } from "./kit/surface.ts";
import { clamp } from "./kit/vector.ts";
import { part, type Look, type Part } from "./things/thing.ts";

/** Cells of the relief along its longer side: 104 × 104 × 2 triangles, and as many on the back of a cut-out. */
const CELLS = 104;
const CELLS_CUT_OUT = 80;
/** Of the longer side. */
const DEPTH = 0.075;
const THICKNESS = 0.05;
/** How far a cut-out bulges in its middle, and over how many cells from its edge. */
const BULGE = 0.07;
const BULGE_CELLS = 6;

interface Grid {
  readonly columns: number;
  readonly rows: number;
  /** At each corner, row by row from above: light, 0 to 1. */
  readonly light: Float32Array;
  /** At each corner: how much of the picture is there, 0 to 1; null where it is everywhere. */
  readonly there: Float32Array | null;
  /** The same, blurred widely. */
  readonly inside: Float32Array | null;
}

export async function buildRelief(look: Look, given: GivenPicture): Promise<readonly Part[]> {
  const picture = given.alpha === null ? given : cropped(given, given.alpha);
  const { name, width, height, pixels } = picture;
  const skin: Skin = { finish: "glossy", colour: "#ffffff", isMain: true, picture: { name, width, height, pixels } };
  const [wide, high] = width >= height ? [1, height / width] : [width / height, 1];
  const plate = plateOf(await gridOf(picture), wide, high);
  return picture.alpha === null ? framed(look, skin, plate, wide, high) : onFoot(look, skin, plate);
}

function framed(look: Look, skin: Skin, plate: Shape, wide: number, high: number): readonly Part[] {
  const lean = (shape: Shape): Shape => moved(rotated(shape, [1, 0, 0], -8), [0, 0.06, 0]);
  const rim = 0.07;
  const bars = [0, 1].flatMap((side) => [
    box([0, side === 0 ? -rim / 2 : high + rim / 2, 0], [wide + 2 * rim, rim, 0.11], 0.018),
    box([(side - 0.5) * (wide + rim), high / 2, 0], [rim, high + 2 * rim, 0.11], 0.018),
  ]);
  const back = box([0, high / 2, -0.04], [wide + rim, high + rim, 0.02], 0);
  const leg = rod([0, high * 0.62, -0.05], [0, -0.02, -0.3], 0.02);
  return [
    part("Relief", skin, lean(plate)),
    part("Frame", look.main("#8a5a34", "wood"), ...bars.map(lean)),
    part("Back", look.fixed("#5f4029", "wood"), lean(back), lean(leg)),
  ];
}

function onFoot(look: Look, skin: Skin, plate: Shape): readonly Part[] {
  const { min, max } = boundsOf([plate]);
  const wide = (max[0] - min[0]) * 0.86;
  const middle = (min[0] + max[0]) / 2;
  return [
    part("Relief", skin, moved(plate, [0, 0.06 - min[1], 0])),
    part(
      "Stand",
      look.main("#3a3531", "wood"),
      box([middle, 0.03, 0], [wide, 0.06, 0.34], 0.02),
      box([middle, 0.07, 0], [wide * 0.86, 0.04, 0.22], 0.014),
    ),
  ];
}

/** Only as much as is not clear, and a margin that keeps the edge soft. */
function cropped(picture: GivenPicture, alpha: Uint8Array): GivenPicture {
  const { width, height, pixels } = picture;
  let [left, top, right, bottom] = [width, height, 0, 0];
  alpha.forEach((value, at) => {
    if (value < 128) return;
    const [x, y] = [at % width, Math.floor(at / width)];
    left = Math.min(left, x);
    right = Math.max(right, x);
    top = Math.min(top, y);
    bottom = Math.max(bottom, y);
  });
  const margin = Math.round(Math.max(width, height) / 40) + 1;
  [left, top] = [Math.max(0, left - margin), Math.max(0, top - margin)];
  const [wide, high] = [Math.min(width, right + margin + 1) - left, Math.min(height, bottom + margin + 1) - top];
  const part = { pixels: new Uint8Array(3 * wide * high), alpha: new Uint8Array(wide * high) };
  for (let row = 0; row < high; row += 1) {
    const from = (row + top) * width + left;
    part.pixels.set(pixels.subarray(3 * from, 3 * (from + wide)), 3 * row * wide);
    part.alpha.set(alpha.subarray(from, from + wide), row * wide);
  }
  return { ...picture, ...part, width: wide, height: high };
}

async function gridOf({ width, height, pixels, alpha }: GivenPicture): Promise<Grid> {
  const cells = alpha === null ? CELLS : CELLS_CUT_OUT;
  const longer = Math.max(width, height);
  const columns = Math.max(8, Math.round((cells * width) / longer));
  const rows = Math.max(8, Math.round((cells * height) / longer));
  const grey = await sampled(pixels, 3, width, height, columns + 1, rows + 1, 0.9);
  const low = grey.reduce((least, value) => Math.min(least, value), 1);
  const high = grey.reduce((most, value) => Math.max(most, value), 0);
  const light = grey.map((value) => (value - low) / Math.max(0.1, high - low));
  if (alpha === null) return { columns, rows, light, there: null, inside: null };
  return {
    columns,
    rows,
    light,
    there: await sampled(alpha, 1, width, height, columns + 1, rows + 1, 0.7),
    inside: await sampled(alpha, 1, width, height, columns + 1, rows + 1, BULGE_CELLS),
  };
}

/** Grey values 0 to 1 at the corners of a grid. */
async function sampled(
  pixels: Uint8Array,
  channels: 1 | 3,
  width: number,
  height: number,
  columns: number,
  rows: number,
  blur: number,
): Promise<Float32Array> {
  const bytes = await sharp(pixels, { raw: { width, height, channels } })
    .resize(columns, rows, { fit: "fill" })
    .greyscale()
    .blur(blur)
    .raw()
    .toBuffer();
  // One channel or three that are the same.
  const step = bytes.length / (columns * rows);
  return Float32Array.from({ length: columns * rows }, (_, at) => (bytes[at * step] ?? 0) / 255);
}

/** Front, back and a wall along every edge where a cell ends. */
function plateOf(grid: Grid, wide: number, high: number): Shape {
  const { columns, rows, there } = grid;
  const draft = newDraft();
  const width = columns + 1;
  const count = width * (rows + 1);
  const isThere = (column: number, row: number): boolean => {
    if (column < 0 || row < 0 || column >= columns || row >= rows) return false;
    if (there === null) return true;
    const at = row * width + column;
    return (
      ((there[at] ?? 0) + (there[at + 1] ?? 0) + (there[at + width] ?? 0) + (there[at + width + 1] ?? 0)) / 4 >= 0.5
    );
  };
  for (const side of [0, 1]) {
    for (let row = 0; row <= rows; row += 1) {
      for (let column = 0; column <= columns; column += 1) {
        const { u, v, deeper } = cornerOf(grid, column, row, isThere);
        draft.positions.push(
          (u - 0.5) * wide,
          (1 - v) * high,
          side === 0 ? frontOf(grid, row * width + column) : backOf(grid, row * width + column),
        );
        draft.uvs.push(deeper[0], deeper[1]);
      }
    }
  }
  const quad = (a: number, b: number, c: number, d: number): void => {
    draft.indices.push(a, b, c, a, c, d);
  };
  const wall = (a: number, b: number): void => quad(a, b, b + count, a + count);
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      if (!isThere(column, row)) continue;
      const [a, b] = [row * width + column, row * width + column + 1];
      const [c, d] = [b + width, a + width];
      quad(d, c, b, a);
      // A whole plate has a back of its own.
      if (there !== null) quad(a + count, b + count, c + count, d + count);
      if (!isThere(column, row - 1)) wall(a, b);
      if (!isThere(column, row + 1)) wall(c, d);
      if (!isThere(column - 1, row)) wall(d, a);
      if (!isThere(column + 1, row)) wall(b, c);
    }
  }
  return shapeOf(draft, 60);
}

function frontOf({ light, inside }: Grid, at: number): number {
  const bulge = inside === null ? 0 : BULGE * bulgeOf(inside[at] ?? 0);
  return (inside === null ? DEPTH : DEPTH * 0.45) * (light[at] ?? 0) + bulge + (inside === null ? 0 : 0.012);
}

function backOf({ inside }: Grid, at: number): number {
  return inside === null ? -THICKNESS : -0.012 - BULGE * bulgeOf(inside[at] ?? 0);
}

/** Round from the edge, where a blurred silhouette is a half, to the middle. */
const bulgeOf = (value: number): number => Math.sqrt(clamp((value - 0.42) / 0.55, 0, 1));

interface GridCorner {
  readonly u: number;
  readonly v: number;
  /** Texture coordinates: at the edge those a cell further inside, where the picture's colour is whole. */
  readonly deeper: readonly [number, number];
}

/** Corners at the edge of a cut-out move onto its outline: steps become a line. */
function cornerOf(
  { columns, rows, there }: Grid,
  column: number,
  row: number,
  isThere: (column: number, row: number) => boolean,
): GridCorner {
  const [u, v] = [column / columns, row / rows];
  const around = [
    isThere(column - 1, row - 1),
    isThere(column, row - 1),
    isThere(column - 1, row),
    isThere(column, row),
  ];
  if (there === null || around.every(Boolean) || !around.some(Boolean)) return { u, v, deeper: [u, v] };
  const value = (x: number, y: number): number => there[clamp(y, 0, rows) * (columns + 1) + clamp(x, 0, columns)] ?? 0;
  const slope = [
    (value(column + 1, row) - value(column - 1, row)) / 2,
    (value(column, row + 1) - value(column, row - 1)) / 2,
  ] as const;
  const square = slope[0] ** 2 + slope[1] ** 2;
  if (square < 1e-4) return { u, v, deeper: [u, v] };
  const by = clamp((0.5 - value(column, row)) / square, -1 / Math.sqrt(square), 1 / Math.sqrt(square)) * 0.8;
  const steep = Math.sqrt(square);
  const [x, y] = [column + slope[0] * by, row + slope[1] * by];
  const inwards = 1.3 / steep;
  return {
    u: x / columns,
    v: y / rows,
    deeper: [(x + slope[0] * inwards) / columns, (y + slope[1] * inwards) / rows],
  };
}
