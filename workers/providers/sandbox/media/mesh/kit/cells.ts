/**
 * Surfaces as the cubes they go through and the ways between them: coarse enough to find limbs and lumps quickly, however
 * many triangles there are.
 */
import { boundsOf, type Shape } from "./shape.ts";
import { length, pointAt, sub, type Vec3 } from "./vector.ts";

export interface Cells {
  /** The middle of each cube that some surface goes through. */
  readonly middles: readonly Vec3[];
  /** For each the others that touch it, and those that bridge a gap where surfaces do not touch at all. */
  readonly neighbours: readonly (readonly number[])[];
  /** Length of a cube's side. */
  readonly size: number;
  /** The cube a point lies in; -1 where no surface is. */
  at(point: Vec3): number;
  /** The cubes around a point, each the more the nearer it is, so that values change without steps; none where no surface is. */
  around(point: Vec3, visit: (cell: number, weight: number) => void): void;
  /** The nearest cube of those that have a value, for every place within the bounds. */
  nearest(values: Int32Array): (point: Vec3) => number;
}

type Counts = readonly [number, number, number];

/** Places looked at on all triangles together: a second. Triangles beyond that have one each. */
const SAMPLES_MAX = 20_000_000;

/** @param cubes along the longest side of the bounds */
export function cellsOf(shapes: readonly Shape[], cubes: number): Cells {
  const { min, max } = boundsOf(shapes);
  const size = Math.max(max[0] - min[0], max[1] - min[1], max[2] - min[2], 1e-30) / cubes;
  const counts = [0, 1, 2].map((axis) => Math.floor(((max[axis] ?? 0) - (min[axis] ?? 0)) / size) + 1);
  const [wide, high, deep] = counts as unknown as Counts;
  const spot = (value: number, axis: 0 | 1 | 2, count: number): number =>
    Math.min(count - 1, Math.max(0, Math.floor((value - min[axis]) / size)));
  const indexOf = (x: number, y: number, z: number): number =>
    spot(x, 0, wide) + wide * (spot(y, 1, high) + high * spot(z, 2, deep));
  const numbers = new Int32Array(wide * high * deep).fill(-1);
  const spots: number[] = [];
  eachSample(shapes, size, (x, y, z) => {
    const index = indexOf(x, y, z);
    if (numbers[index] !== -1) return;
    numbers[index] = spots.length;
    spots.push(index);
  });
  const middles = spots.map((index): Vec3 => [
    min[0] + ((index % wide) + 0.5) * size,
    min[1] + ((Math.floor(index / wide) % high) + 0.5) * size,
    min[2] + (Math.floor(index / wide / high) + 0.5) * size,
  ]);
  const neighbours = spots.map((index) =>
    placesAround(index, [wide, high, deep]).flatMap((other) => listed(numbers[other])),
  );
  bridge(neighbours, spots, numbers, [wide, high, deep]);
  const at = ([x, y, z]: Vec3): number => numbers[indexOf(x, y, z)] ?? -1;
  return {
    middles,
    neighbours,
    size,
    at,
    around: (point, visit) => {
      const own = at(point);
      if (own < 0) return;
      // Only cubes that touch the point's own: another limb may be just as near.
      for (const cell of [own, ...(neighbours[own] ?? [])]) {
        const weight = tent(middles[cell] ?? point, point, 1.5 * size);
        if (weight > 0) visit(cell, weight);
      }
    },
    nearest: (values) => {
      const owners = spread(
        spots.flatMap((index, cell) => ((values[cell] ?? -1) >= 0 ? [index] : [])),
        [wide, high, deep],
      );
      return ([x, y, z]) => values[numbers[owners[indexOf(x, y, z)] ?? -1] ?? -1] ?? -1;
    },
  };
}

function tent(middle: Vec3, point: Vec3, reach: number): number {
  const [x, y, z] = sub(middle, point);
  const along = (value: number): number => Math.max(0, 1 - Math.abs(value) / reach);
  return along(x) * along(y) * along(z);
}

const listed = (cell: number | undefined): number[] => (cell === undefined || cell < 0 ? [] : [cell]);

function eachSample(shapes: readonly Shape[], size: number, visit: (x: number, y: number, z: number) => void): void {
  let left = SAMPLES_MAX;
  for (const { positions, indices } of shapes) {
    for (let at = 0; at < indices.length; at += 3) {
      const a = pointAt(positions, indices[at] ?? 0);
      const u = sub(pointAt(positions, indices[at + 1] ?? 0), a);
      const v = sub(pointAt(positions, indices[at + 2] ?? 0), a);
      const longest = Math.max(length(u), length(v), length(sub(u, v)));
      const steps = left > 0 ? Math.max(2, Math.ceil((longest / size) * 1.5)) : 0;
      left -= (steps * steps) / 2;
      // The middle is where a triangle is looked for later.
      visit(a[0] + (u[0] + v[0]) / 3, a[1] + (u[1] + v[1]) / 3, a[2] + (u[2] + v[2]) / 3);
      if (steps === 0) continue;
      for (let i = 0; i <= steps; i += 1) {
        for (let j = 0; j <= steps - i; j += 1) {
          const [s, t] = [i / steps, j / steps];
          visit(a[0] + u[0] * s + v[0] * t, a[1] + u[1] * s + v[1] * t, a[2] + u[2] * s + v[2] * t);
        }
      }
    }
  }
}

/** The up to 26 places around one. */
function placesAround(index: number, [wide, high, deep]: Counts): number[] {
  const [x, y, z] = [index % wide, Math.floor(index / wide) % high, Math.floor(index / wide / high)];
  const result: number[] = [];
  for (let k = Math.max(0, z - 1); k <= Math.min(deep - 1, z + 1); k += 1) {
    for (let j = Math.max(0, y - 1); j <= Math.min(high - 1, y + 1); j += 1) {
      for (let i = Math.max(0, x - 1); i <= Math.min(wide - 1, x + 1); i += 1) {
        const other = i + wide * (j + high * k);
        if (other !== index) result.push(other);
      }
    }
  }
  return result;
}

/** For every place the nearest of the starts, by steps. */
function spread(starts: readonly number[], counts: Counts): Int32Array {
  const owners = new Int32Array(counts[0] * counts[1] * counts[2]).fill(-1);
  const queue = new Int32Array(owners.length);
  let tail = 0;
  for (const start of starts) {
    owners[start] = start;
    queue[tail] = start;
    tail += 1;
  }
  for (let head = 0; head < tail; head += 1) {
    const index = queue[head] ?? 0;
    for (const other of placesAround(index, counts)) {
      if (owners[other] !== -1) continue;
      owners[other] = owners[index] ?? -1;
      queue[tail] = other;
      tail += 1;
    }
  }
  return owners;
}

/** A wheel beside its car: where two groups of cubes come nearest, they become neighbours. */
function bridge(neighbours: number[][], spots: readonly number[], numbers: Int32Array, counts: Counts): void {
  const groups = createGroups(spots.length);
  neighbours.forEach((others, cell) => others.forEach((other) => groups.join(cell, other)));
  const owners = spread(spots, counts);
  const gaps: (readonly [steps: number, one: number, other: number])[] = [];
  owners.forEach((owner, index) => {
    const one = numbers[owner] ?? -1;
    for (const beside of placesAround(index, counts)) {
      const other = numbers[owners[beside] ?? -1] ?? -1;
      if (beside < index || one < 0 || other < 0 || groups.of(one) === groups.of(other)) continue;
      gaps.push([stepsBetween(owner, spots[other] ?? 0, counts), one, other]);
    }
  });
  for (const [, one, other] of gaps.toSorted((a, b) => a[0] - b[0])) {
    if (!groups.join(one, other)) continue;
    neighbours[one]?.push(other);
    neighbours[other]?.push(one);
  }
}

function stepsBetween(one: number, other: number, [wide, high]: Counts): number {
  const place = (index: number): Vec3 => [
    index % wide,
    Math.floor(index / wide) % high,
    Math.floor(index / wide / high),
  ];
  return length(sub(place(one), place(other)));
}

export interface Groups {
  of(index: number): number;
  /** Whether they were apart before. */
  join(one: number, other: number): boolean;
}

/** Sets that grow together (union-find). */
export function createGroups(count: number): Groups {
  const parents = Int32Array.from({ length: count }, (_, index) => index);
  const of = (index: number): number => {
    let root = index;
    while ((parents[root] ?? root) !== root) root = parents[root] ?? root;
    for (let at = index; at !== root;) {
      const next = parents[at] ?? root;
      parents[at] = root;
      at = next;
    }
    return root;
  };
  const join = (one: number, other: number): boolean => {
    const [a, b] = [of(one), of(other)];
    if (a === b) return false;
    parents[Math.max(a, b)] = Math.min(a, b);
    return true;
  };
  return { of, join };
}
