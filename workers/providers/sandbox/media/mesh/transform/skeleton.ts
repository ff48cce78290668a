/** A skeleton for any form: a root in its middle, and a chain of joints to each of its tips. */
import type { Cells } from "../kit/cells.ts";
import { add, between, length, sub, times, type Vec3 } from "../kit/vector.ts";
import { distancesFrom, tipsOf } from "../kit/walk.ts";

export interface Joint {
  readonly name: string;
  readonly at: Vec3;
  /** Of the joint it hangs on; null for the root, which is the first. */
  readonly parent: number | null;
}

export interface Limb {
  /** From the root outwards, without the end. */
  readonly joints: readonly number[];
  /** From the first joint to the tip. */
  readonly direction: Vec3;
}

export interface Skeleton {
  readonly joints: readonly Joint[];
  readonly limbs: readonly Limb[];
  /** For each cell and joint, `joints.length` numbers a cell, how much the joint moves it. */
  readonly weights: Float32Array;
}

/** Head, tail, four legs and two wings. */
const LIMBS_MAX = 8;
/** Tips nearer to the others than this share of the whole length are lumps, not limbs. */
const LEAST_LIMB = 0.3;
/** Where the joints of a limb lie on its way from the middle to the tip. */
const JOINTS_AT = [0.3, 0.65] as const;
/** How far weights of neighbouring cubes run into each other. */
const SMOOTHINGS = 3;

export function skeletonOf(cells: Cells): Skeleton {
  const tips = tipsOf(cells, LIMBS_MAX, LEAST_LIMB);
  const distances = tips.map((tip) => distancesFrom(cells, [tip]));
  const middle = leastSum(distances);
  const owner = cells.middles.map((_, cell) => nearestOf(distances, cell));
  const joints: Joint[] = [{ name: "Root", at: middleOf(cells, distances, middle), parent: null }];
  const names = new Map<string, number>();
  const limbs = tips.map((tip, index): Limb => {
    const own = distances[index] ?? new Float64Array(0);
    const whole = own[middle] ?? 0;
    const direction = sub(cells.middles[tip] ?? [0, 0, 0], joints[0]?.at ?? [0, 0, 0]);
    const name = numbered(names, sideOf(direction));
    const chain = JOINTS_AT.map((share, step): number => {
      joints.push({
        name: `${name} ${step + 1}`,
        at:
          ringMiddle(cells, own, owner, index, whole * (1 - share)) ??
          between(joints[0]?.at ?? [0, 0, 0], cells.middles[tip] ?? [0, 0, 0], share),
        parent: step === 0 ? 0 : joints.length - 1,
      });
      return joints.length - 1;
    });
    joints.push({ name: `${name} end`, at: cells.middles[tip] ?? [0, 0, 0], parent: joints.length - 1 });
    return { joints: chain, direction };
  });
  return {
    joints,
    limbs,
    weights: smoothed(cells, weightsOf(distances, owner, limbs, middle, joints.length), joints.length),
  };
}

function leastSum(distances: readonly Float64Array[]): number {
  const sums = (distances[0] ?? new Float64Array(1)).map((_, cell) =>
    distances.reduce((sum, list) => sum + (list[cell] ?? 0) ** 2, 0),
  );
  return sums.reduce((best, sum, cell) => (sum < (sums[best] ?? Infinity) ? cell : best), 0);
}

function nearestOf(distances: readonly Float64Array[], cell: number): number {
  let best = 0;
  distances.forEach((list, index) => {
    if ((list[cell] ?? Infinity) < (distances[best]?.[cell] ?? Infinity)) best = index;
  });
  return best;
}

/** Inside the body, not on its surface: the mean of all that lies as far from the tips as the middle does. */
function middleOf({ middles, size }: Cells, distances: readonly Float64Array[], middle: number): Vec3 {
  const near = middles.filter((_, cell) =>
    distances.every((list) => Math.abs((list[cell] ?? 0) - (list[middle] ?? 0)) < 4 * size),
  );
  return mean(near) ?? middles[middle] ?? [0, 0, 0];
}

/** The middle of the ring of cubes of a limb that lie at a distance from its tip. */
function ringMiddle(
  { middles, size }: Cells,
  own: Float64Array,
  owner: readonly number[],
  limb: number,
  distance: number,
): Vec3 | null {
  return mean(middles.filter((_, cell) => owner[cell] === limb && Math.abs((own[cell] ?? 0) - distance) < 1.5 * size));
}

function mean(points: readonly Vec3[]): Vec3 | null {
  if (points.length === 0) return null;
  return times(
    points.reduce((sum, point) => add(sum, point), [0, 0, 0] as Vec3),
    1 / points.length,
  );
}

/** By where a limb points to; the thing looks to z, its left is at +x. */
function sideOf(direction: Vec3): string {
  const size = length(direction) || 1;
  const words = [
    [direction[1], "Top", "Bottom"],
    [direction[2], "Front", "Back"],
    [direction[0], "Left", "Right"],
  ] as const;
  const said = words.flatMap(([value, more, less]) => (Math.abs(value) < 0.35 * size ? [] : [value > 0 ? more : less]));
  return said.map((word, index) => (index === 0 ? word : word.toLowerCase())).join(" ") || "Limb";
}

function numbered(names: Map<string, number>, name: string): string {
  const count = (names.get(name) ?? 0) + 1;
  names.set(name, count);
  return count === 1 ? name : `${name} ${count}`;
}

/** By the way along the limb: the root around the middle, then one joint after the other, each fading into the next. */
function weightsOf(
  distances: readonly Float64Array[],
  owner: readonly number[],
  limbs: readonly Limb[],
  middle: number,
  jointCount: number,
): Float32Array {
  const weights = new Float32Array(owner.length * jointCount);
  owner.forEach((limb, cell) => {
    const whole = distances[limb]?.[middle] ?? 0;
    const share = whole > 0 ? 1 - (distances[limb]?.[cell] ?? 0) / whole : 0;
    const [first = 0, second = 0] = limbs[limb]?.joints ?? [];
    const [bend, further] = [fade(JOINTS_AT[0], share), fade(JOINTS_AT[1], share)];
    weights[cell * jointCount] = 1 - bend;
    weights[cell * jointCount + first] = bend * (1 - further);
    weights[cell * jointCount + second] = bend * further;
  });
  return weights;
}

const FADE = 0.14;
const fade = (at: number, share: number): number => {
  const value = Math.min(1, Math.max(0, (share - at + FADE) / (2 * FADE)));
  return value * value * (3 - 2 * value);
};

function smoothed({ neighbours }: Cells, weights: Float32Array, width: number): Float32Array {
  let current = weights;
  for (let pass = 0; pass < SMOOTHINGS; pass += 1) {
    const next = current.slice();
    neighbours.forEach((others, cell) => {
      const share = 1 / (2 * Math.max(1, others.length));
      for (let joint = 0; joint < width; joint += 1) {
        let sum = 0;
        for (const other of others) sum += current[other * width + joint] ?? 0;
        const own = current[cell * width + joint] ?? 0;
        next[cell * width + joint] = others.length === 0 ? own : own / 2 + sum * share;
      }
    });
    current = next;
  }
  return current;
}
