/** Where a node, or the skeleton of its skin, puts the points of a mesh. */
import type { Node } from "@gltf-transform/core";

import { corrupt } from "./fields.ts";

export interface Unposed {
  readonly positions: Float32Array;
  /** Of length 0 where the file has none. */
  readonly normals: Float32Array;
  /** Four a vertex. */
  readonly joints: Float32Array | null;
  readonly weights: Float32Array | null;
}

export interface Posed {
  readonly positions: Float32Array;
  readonly normals: Float32Array;
  /** Triangles then run the other way around. */
  readonly isMirrored: boolean;
}

export type Pose = (mesh: Unposed) => Posed;

type Matrix = ArrayLike<number>;

/** A skin in its pose at rest; the node's own place does not count then (glTF 2.0, 3.7.3.3). */
export function posedBy(node: Node): Pose {
  const skin = node.getSkin();
  const own = node.getWorldMatrix();
  if (skin === null) return (mesh) => moved(mesh, () => own, determinant(own) < 0);
  const inverse = skin.getInverseBindMatrices();
  const bones = skin.listJoints().map((joint, index) => {
    const world = joint.getWorldMatrix();
    return inverse === null ? world : product(world, inverse.getElement(index, []));
  });
  return (mesh) => {
    const { joints, weights } = mesh;
    if (joints === null || weights === null) return moved(mesh, () => own, determinant(own) < 0);
    const [first] = bones;
    return moved(
      mesh,
      (vertex) => blended(bones, joints, weights, vertex),
      first !== undefined && determinant(first) < 0,
    );
  };
}

function blended(bones: readonly Matrix[], joints: Float32Array, weights: Float32Array, vertex: number): Matrix {
  const result = new Float64Array(16);
  for (let at = 0; at < 4; at += 1) {
    const weight = weights[4 * vertex + at] ?? 0;
    if (weight === 0) continue;
    const bone = bones[joints[4 * vertex + at] ?? -1];
    if (bone === undefined) throw corrupt("a skin names a joint that is not there");
    for (let cell = 0; cell < 16; cell += 1) result[cell] = (result[cell] ?? 0) + weight * (bone[cell] ?? 0);
  }
  return result;
}

function moved(mesh: Unposed, matrixOf: (vertex: number) => Matrix, isMirrored: boolean): Posed {
  const [positions, normals] = [new Float32Array(mesh.positions.length), new Float32Array(mesh.normals.length)];
  let [last, turn]: [Matrix | null, Matrix] = [null, IDENTITY];
  for (let vertex = 0; vertex < positions.length / 3; vertex += 1) {
    const matrix = matrixOf(vertex);
    if (matrix !== last) turn = cofactors(matrix);
    last = matrix;
    place(mesh.positions, positions, vertex, matrix, 1);
    place(mesh.normals, normals, vertex, turn, 0);
    const size = Math.hypot(normals[3 * vertex] ?? 0, normals[3 * vertex + 1] ?? 0, normals[3 * vertex + 2] ?? 0);
    if (size > 0)
      for (let axis = 0; axis < 3; axis += 1) normals[3 * vertex + axis] = (normals[3 * vertex + axis] ?? 0) / size;
  }
  return { positions, normals, isMirrored };
}

const IDENTITY: Matrix = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];

function place(from: Float32Array, to: Float32Array, vertex: number, m: Matrix, w: 0 | 1): void {
  const x = from[3 * vertex] ?? 0;
  const y = from[3 * vertex + 1] ?? 0;
  const z = from[3 * vertex + 2] ?? 0;
  for (let row = 0; row < 3; row += 1) {
    to[3 * vertex + row] = (m[row] ?? 0) * x + (m[4 + row] ?? 0) * y + (m[8 + row] ?? 0) * z + (m[12 + row] ?? 0) * w;
  }
}

/** Turns normals: the inverse transposed, but for its size, and signed so that mirroring keeps them outside. */
function cofactors(m: Matrix): Matrix {
  const at = (column: number, row: number): number => m[4 * (column % 3) + (row % 3)] ?? 0;
  const result = new Float64Array(16);
  const sign = determinant(m) < 0 ? -1 : 1;
  for (let column = 0; column < 3; column += 1) {
    for (let row = 0; row < 3; row += 1) {
      result[4 * column + row] =
        sign * (at(column + 1, row + 1) * at(column + 2, row + 2) - at(column + 2, row + 1) * at(column + 1, row + 2));
    }
  }
  return result;
}

function determinant(m: Matrix): number {
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0, i = 0] = [0, 1, 2, 4, 5, 6, 8, 9, 10].map(
    (at) => m[at],
  );
  return a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g);
}

function product(a: Matrix, b: Matrix): Matrix {
  const result = new Float64Array(16);
  for (let column = 0; column < 4; column += 1) {
    for (let row = 0; row < 4; row += 1) {
      let sum = 0;
      for (let at = 0; at < 4; at += 1) sum += (a[4 * at + row] ?? 0) * (b[4 * column + at] ?? 0);
      result[4 * column + row] = sum;
    }
  }
  return result;
}
