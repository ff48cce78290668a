/** How far cubes of a surface are from each other along it, and which of them lie at its tips. */
import type { Cells } from "./cells.ts";
import { length, sub } from "./vector.ts";

/** Along the surface from the nearest of the starts (Dijkstra). */
export function distancesFrom({ middles, neighbours }: Cells, starts: readonly number[]): Float64Array {
  const distances = new Float64Array(middles.length).fill(Infinity);
  const heap = createHeap();
  for (const start of starts) {
    distances[start] = 0;
    heap.push(0, start);
  }
  for (let next = heap.pop(); next !== undefined; next = heap.pop()) {
    const [distance, cell] = next;
    if (distance > (distances[cell] ?? 0)) continue;
    const here = middles[cell];
    for (const other of neighbours[cell] ?? []) {
      const there = middles[other];
      if (here === undefined || there === undefined) continue;
      const way = distance + length(sub(there, here));
      if (way >= (distances[other] ?? 0)) continue;
      distances[other] = way;
      heap.push(way, other);
    }
  }
  return distances;
}

/**
 * Cubes as far apart as can be: each next one is the farthest from those before it. Limbs, horns and tails end in them.
 * @param leastShare of the largest distance, below which no more are taken
 */
export function tipsOf(cells: Cells, countMax: number, leastShare: number): number[] {
  const first = farthest(distancesFrom(cells, [0]));
  const tips = [first];
  let nearest = distancesFrom(cells, [first]);
  const largest = nearest[farthest(nearest)] ?? 0;
  while (tips.length < countMax) {
    const tip = farthest(nearest);
    const distance = nearest[tip] ?? 0;
    if (distance <= 0 || distance < leastShare * largest) break;
    tips.push(tip);
    const own = distancesFrom(cells, [tip]);
    nearest = nearest.map((value, cell) => Math.min(value, own[cell] ?? Infinity));
  }
  return tips;
}

function farthest(distances: Float64Array): number {
  let result = 0;
  distances.forEach((distance, cell) => {
    if (distance !== Infinity && distance > (distances[result] ?? 0)) result = cell;
  });
  return result;
}

interface Heap {
  push(key: number, value: number): void;
  /** The smallest key first. */
  pop(): readonly [key: number, value: number] | undefined;
}

function createHeap(): Heap {
  const entries: (readonly [number, number])[] = [];
  const key = (index: number): number => entries[index]?.[0] ?? Infinity;
  const swap = (a: number, b: number): void => {
    const [one, other] = [entries[a], entries[b]];
    if (one === undefined || other === undefined) return;
    entries[a] = other;
    entries[b] = one;
  };
  return {
    push: (...entry) => {
      entries.push(entry);
      for (let at = entries.length - 1; at > 0;) {
        const parent = (at - 1) >> 1;
        if (key(parent) <= key(at)) break;
        swap(parent, at);
        at = parent;
      }
    },
    pop: () => {
      const [first] = entries;
      const last = entries.pop();
      if (last === undefined || entries.length === 0) return first;
      entries[0] = last;
      for (let at = 0; ;) {
        const left = 2 * at + 1;
        const child = key(left + 1) < key(left) ? left + 1 : left;
        if (key(child) >= key(at)) return first;
        swap(child, at);
        at = child;
      }
    },
  };
}
