/** Strips and fans as single triangles (glTF 2.0, 3.7.2.1). */
import type { Primitive } from "@gltf-transform/core";

import { corrupt } from "./fields.ts";

const TRIANGLES = 4;
const STRIP = 5;
const FAN = 6;

/**
 * Three vertices a triangle; null for points and lines.
 * @throws MediaError corrupt where a triangle names a vertex that is not there
 */
export function trianglesOf(primitive: Primitive, vertexCount: number): Uint32Array | null {
  const mode = primitive.getMode();
  if (mode !== TRIANGLES && mode !== STRIP && mode !== FAN) return null;
  const list = primitive.getIndices()?.getArray();
  const corners =
    list == null ? Uint32Array.from({ length: vertexCount }, (_, index) => index) : Uint32Array.from(list);
  if (corners.some((vertex) => vertex >= vertexCount)) throw corrupt("a triangle has a corner that is not there");
  if (mode === TRIANGLES) return corners.slice(0, corners.length - (corners.length % 3));
  const count = Math.max(0, corners.length - 2);
  const result = new Uint32Array(3 * count);
  for (let index = 0; index < count; index += 1) {
    const [a, b, c] = [corners[index] ?? 0, corners[index + 1] ?? 0, corners[index + 2] ?? 0];
    // Every second triangle of a strip runs the other way around.
    if (mode === FAN) result.set([b, c, corners[0] ?? 0], 3 * index);
    else result.set(index % 2 === 0 ? [a, b, c] : [a, c, b], 3 * index);
  }
  return result;
}
