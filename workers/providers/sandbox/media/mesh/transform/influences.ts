/** Which joints move each vertex: those of the cubes around it, the four strongest. */
import type { Influences } from "../glb/write.ts";
import type { Cells } from "../kit/cells.ts";
import { vertexCount, type Shape } from "../kit/shape.ts";
import { pointAt } from "../kit/vector.ts";

const WHOLE = 65_535;

/** @param weights `width` numbers a cell */
export function influencesOf(shape: Shape, cells: Cells, weights: Float32Array, width: number): Influences {
  const count = vertexCount(shape);
  const result = { joints: new Uint8Array(4 * count), weights: new Uint16Array(4 * count) };
  const nearest = cells.nearest(Int32Array.from(cells.middles, (_, cell) => cell));
  const sums = new Float64Array(width);
  for (let vertex = 0; vertex < count; vertex += 1) {
    const point = pointAt(shape.positions, vertex);
    sums.fill(0);
    cells.around(point, (cell, weight) => {
      for (let joint = 0; joint < width; joint += 1) {
        sums[joint] = (sums[joint] ?? 0) + weight * (weights[cell * width + joint] ?? 0);
      }
    });
    if (sums.every((sum) => sum === 0)) {
      const cell = Math.max(0, nearest(point));
      sums.set(weights.subarray(cell * width, (cell + 1) * width));
    }
    put(sums, vertex, result);
  }
  return result;
}

/** As whole numbers that are exactly 65,535 together; joints without weight are 0, as the specification has it. */
function put(sums: Float64Array, vertex: number, { joints, weights }: Influences): void {
  const best: number[] = [];
  sums.forEach((sum, joint) => {
    if (sum <= 0) return;
    let at = best.length;
    while (at > 0 && (sums[best[at - 1] ?? 0] ?? 0) < sum) at -= 1;
    best.splice(at, 0, joint);
    if (best.length > 4) best.pop();
  });
  const total = best.reduce((sum, joint) => sum + (sums[joint] ?? 0), 0);
  let left = WHOLE;
  for (let at = best.length - 1; at > 0; at -= 1) {
    const joint = best[at] ?? 0;
    const weight = Math.floor((WHOLE * (sums[joint] ?? 0)) / total);
    if (weight === 0) continue;
    joints[4 * vertex + at] = joint;
    weights[4 * vertex + at] = weight;
    left -= weight;
  }
  joints[4 * vertex] = best[0] ?? 0;
  weights[4 * vertex] = left;
}
