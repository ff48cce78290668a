/** Solids with flat faces, their edges rounded as those of real things are. */
import { newDraft, shapeOf, type Draft, type Shape } from "./shape.ts";
import { clamp, unit, type Vec2, type Vec3 } from "./vector.ts";

/** Steps of a rounded edge. */
const BEVEL_STEPS = 2;

/**
 * A block with rounded edges.
 * @param at its middle
 */
export function box(at: Vec3, size: Vec3, bevel = 0.02): Shape {
  const half: Vec3 = [size[0] / 2, size[1] / 2, size[2] / 2];
  const round = Math.min(bevel, ...half);
  const draft = newDraft();
  for (const axis of [0, 1, 2] as const)
    for (const sign of [-1, 1] as const) addFace(draft, at, half, round, axis, sign);
  return shapeOf(draft, round > 0 ? 60 : 30);
}

function addFace(draft: Draft, at: Vec3, half: Vec3, round: number, axis: 0 | 1 | 2, sign: 1 | -1): void {
  const [first, second] = [((axis + 1) % 3) as 0 | 1 | 2, ((axis + 2) % 3) as 0 | 1 | 2];
  const [across, along] = [steps(half[first], round), steps(half[second], round)];
  const start = draft.positions.length / 3;
  for (const b of along) {
    for (const a of across) {
      const outer: [number, number, number] = [0, 0, 0];
      outer[axis] = sign * half[axis];
      outer[first] = a;
      outer[second] = b;
      const inner = outer.map((value, index) => clamp(value, round - (half[index] ?? 0), (half[index] ?? 0) - round));
      const out = unit([outer[0] - (inner[0] ?? 0), outer[1] - (inner[1] ?? 0), outer[2] - (inner[2] ?? 0)]);
      const point = out.map((value, index) => (inner[index] ?? 0) + (round > 0 ? value * round : 0) + (at[index] ?? 0));
      draft.positions.push(...(round > 0 ? point : outer.map((value, index) => value + (at[index] ?? 0))));
      draft.uvs.push(...faceUv(axis, sign, outer));
    }
  }
  for (let row = 0; row + 1 < along.length; row += 1) {
    for (let column = 0; column + 1 < across.length; column += 1) {
      const corner = start + row * across.length + column;
      const above = corner + across.length;
      if (sign > 0) draft.indices.push(corner, corner + 1, above + 1, corner, above + 1, above);
      else draft.indices.push(corner, above + 1, corner + 1, corner, above, above + 1);
    }
  }
}

/** Textures stand upright on the four sides, and are seen from the front on top. */
function faceUv(axis: 0 | 1 | 2, sign: number, [x, y, z]: readonly [number, number, number]): Vec2 {
  if (axis === 0) return [-sign * z, -y];
  return axis === 1 ? [x, sign * z] : [sign * x, -y];
}

/** From one side of a face to the other, close together where it is rounded. */
function steps(half: number, round: number): number[] {
  if (round <= 0) return [-half, half];
  // Equal angles seen from the middle of the rounding: half a right angle up to the edge.
  const offsets = Array.from(
    { length: BEVEL_STEPS + 1 },
    (_, index) => round * Math.tan(((Math.PI / 4) * (BEVEL_STEPS - index)) / BEVEL_STEPS),
  );
  const low = offsets.map((offset) => -half + round - offset);
  const high = low.map((value) => -value).toReversed();
  return half - round < 1e-9 ? [...low, ...high.slice(1)] : [...low, ...high];
}

export interface PrismShape {
  readonly depth: number;
  /** How far edges are cut off; at most half the depth. */
  readonly bevel?: number;
  /** 0 for a flat front, above it the front bulges by this much; for outlines without deep notches. */
  readonly bulge?: number;
}

/**
 * An outline in the plane of x and y, made solid along z.
 * @param outline counter-clockwise, without crossing itself
 */
export function prism(outline: readonly Vec2[], { depth, bevel = 0, bulge = 0 }: PrismShape): Shape {
  const draft = newDraft();
  const half = depth / 2;
  const cut = Math.min(bevel, half * 0.98);
  const sides = [-1, 1] as const;
  // What bulges gets smaller towards its middle: moving sides inwards would cross them at the points.
  const inner = bulge > 0 ? towardsMiddle(outline, cut) : inset(outline, cut);
  const rims = cut > 0 ? [inner, outline, outline, inner] : [outline, outline];
  const heights = cut > 0 ? [-half, -half + cut, half - cut, half] : [-half, half];
  rims.forEach((rim, index) => {
    if (index > 0) addWall(draft, rims[index - 1] ?? rim, heights[index - 1] ?? 0, rim, heights[index] ?? 0);
  });
  for (const sign of sides) addFront(draft, (cut > 0 ? rims[0] : outline) ?? outline, sign, half, bulge);
  return shapeOf(draft, bulge > 0 ? 50 : 35);
}

function addWall(draft: Draft, low: readonly Vec2[], lowZ: number, high: readonly Vec2[], highZ: number): void {
  const start = draft.positions.length / 3;
  const count = low.length;
  let way = 0;
  for (let index = 0; index <= count; index += 1) {
    const [a, b] = [low[index % count] ?? [0, 0], high[index % count] ?? [0, 0]];
    const before = low[(index + count - 1) % count] ?? a;
    if (index > 0) way += Math.hypot(a[0] - before[0], a[1] - before[1]);
    draft.positions.push(a[0], a[1], lowZ, b[0], b[1], highZ);
    draft.uvs.push(way, lowZ, way, highZ);
    if (index === count) break;
    const corner = start + 2 * index;
    draft.indices.push(corner, corner + 2, corner + 3, corner, corner + 3, corner + 1);
  }
}

/** Flat by ears; bulging by rings around the middle. */
function addFront(draft: Draft, rim: readonly Vec2[], sign: 1 | -1, half: number, bulge: number): void {
  const start = draft.positions.length / 3;
  const rings = bulge > 0 ? [1, 0.9, 0.75, 0.55, 0.3] : [1];
  const middle = middleOf(rim);
  for (const share of rings) {
    const z = sign * (half + bulge * Math.sqrt(1 - share * share));
    for (const [x, y] of rim) {
      const point: Vec2 = [middle[0] + (x - middle[0]) * share, middle[1] + (y - middle[1]) * share];
      draft.positions.push(point[0], point[1], z);
      draft.uvs.push(sign * point[0], -point[1]);
    }
  }
  const add = (a: number, b: number, c: number): void => {
    draft.indices.push(...(sign > 0 ? [a, b, c] : [a, c, b]));
  };
  const count = rim.length;
  for (let ring = 0; ring + 1 < rings.length; ring += 1) {
    for (let index = 0; index < count; index += 1) {
      const [a, b] = [start + ring * count + index, start + ring * count + ((index + 1) % count)];
      add(a, b, b + count);
      add(a, b + count, a + count);
    }
  }
  const last = start + (rings.length - 1) * count;
  for (const [a, b, c] of ears(rim)) add(last + a, last + b, last + c);
}

function middleOf(rim: readonly Vec2[]): Vec2 {
  const sum = rim.reduce(([x, y], point) => [x + point[0], y + point[1]] as const, [0, 0] as Vec2);
  return [sum[0] / rim.length, sum[1] / rim.length];
}

function towardsMiddle(rim: readonly Vec2[], by: number): Vec2[] {
  const middle = middleOf(rim);
  return rim.map(([x, y]) => {
    const far = Math.hypot(x - middle[0], y - middle[1]);
    const share = far > 2 * by ? 1 - by / far : 0.5;
    return [middle[0] + (x - middle[0]) * share, middle[1] + (y - middle[1]) * share];
  });
}

/** Each point moved inwards between its two sides. */
function inset(rim: readonly Vec2[], by: number): Vec2[] {
  return rim.map((point, index) => {
    const before = rim[(index + rim.length - 1) % rim.length] ?? point;
    const after = rim[(index + 1) % rim.length] ?? point;
    const [one, two] = [inwards(before, point), inwards(point, after)];
    const sum: Vec2 = [one[0] + two[0], one[1] + two[1]];
    // At sharp points the corner would run away: no more than twice the width.
    const along = Math.max(0.5, (sum[0] * sum[0] + sum[1] * sum[1]) / 2);
    return [point[0] + (sum[0] * by) / along, point[1] + (sum[1] * by) / along];
  });
}

function inwards(from: Vec2, to: Vec2): Vec2 {
  const size = Math.hypot(to[0] - from[0], to[1] - from[1]);
  return size > 0 ? [(from[1] - to[1]) / size, (to[0] - from[0]) / size] : [0, 0];
}

/** A polygon as triangles, by cutting ears off; our outlines have at most some hundred points. */
function ears(rim: readonly Vec2[]): (readonly [number, number, number])[] {
  const left = rim.map((_, index) => index);
  const triangles: (readonly [number, number, number])[] = [];
  while (left.length > 3) {
    const at = left.findIndex((_, index) => isEar(rim, left, index));
    // Only rounding leaves none; any corner then does no visible harm.
    const index = Math.max(0, at);
    triangles.push(cornersAt(left, index));
    left.splice(index, 1);
  }
  triangles.push(cornersAt(left, 1));
  return triangles;
}

function cornersAt(left: readonly number[], index: number): readonly [number, number, number] {
  const count = left.length;
  return [left[(index + count - 1) % count] ?? 0, left[index] ?? 0, left[(index + 1) % count] ?? 0];
}

function isEar(rim: readonly Vec2[], left: readonly number[], index: number): boolean {
  const corners = cornersAt(left, index);
  const [a, b, c] = corners.map((corner) => rim[corner] ?? [0, 0]) as [Vec2, Vec2, Vec2];
  if (side(a, b, c) <= 1e-12) return false;
  return left.every((other) => {
    const point = rim[other];
    if (point === undefined || corners.includes(other)) return true;
    return side(a, b, point) < 0 || side(b, c, point) < 0 || side(c, a, point) < 0;
  });
}

const side = (a: Vec2, b: Vec2, c: Vec2): number => (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
