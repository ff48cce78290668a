/** Where the texture's right side points at each vertex, which a file with normal maps has to say. */
import type { Shape } from "./shape.ts";
import { vertexCount } from "./shape.ts";
import { cross, dot, length, pointAt, sub, times, unit, type Vec3 } from "./vector.ts";

/** Four numbers a vertex: the direction, and the side of the bitangent. */
export function tangentsOf(shape: Shape): Float32Array {
  const { positions, normals, uvs, indices } = shape;
  const count = vertexCount(shape);
  const [right, down] = [new Float32Array(3 * count), new Float32Array(3 * count)];
  for (let at = 0; at < indices.length; at += 3) {
    const corners = [indices[at] ?? 0, indices[at + 1] ?? 0, indices[at + 2] ?? 0] as const;
    const [a, b, c] = corners.map((corner) => pointAt(positions, corner)) as [Vec3, Vec3, Vec3];
    const [one, two] = [sub(b, a), sub(c, a)];
    const u = corners.map((corner) => uvs[2 * corner] ?? 0);
    const v = corners.map((corner) => uvs[2 * corner + 1] ?? 0);
    const [u1, u2] = [(u[1] ?? 0) - (u[0] ?? 0), (u[2] ?? 0) - (u[0] ?? 0)];
    const [v1, v2] = [(v[1] ?? 0) - (v[0] ?? 0), (v[2] ?? 0) - (v[0] ?? 0)];
    const sign = u1 * v2 - u2 * v1 < 0 ? -1 : 1;
    const alongU = times(sub(times(one, v2), times(two, v1)), sign);
    const alongV = times(sub(times(two, u1), times(one, u2)), sign);
    for (const corner of corners) {
      for (const axis of [0, 1, 2] as const) {
        right[3 * corner + axis] = (right[3 * corner + axis] ?? 0) + alongU[axis];
        down[3 * corner + axis] = (down[3 * corner + axis] ?? 0) + alongV[axis];
      }
    }
  }
  const tangents = new Float32Array(4 * count);
  for (let index = 0; index < count; index += 1) {
    const normal = pointAt(normals, index);
    const along = pointAt(right, index);
    const flat = sub(along, times(normal, dot(normal, along)));
    // Without a texture's direction any will do that lies in the surface.
    const usual = cross(normal, Math.abs(normal[1]) < 0.9 ? [0, 1, 0] : [1, 0, 0]);
    const tangent = unit(length(flat) > 1e-9 * (1 + length(along)) ? flat : usual);
    // v of the file goes down, bitangents up.
    const side = dot(cross(normal, tangent), pointAt(down, index)) > 0 ? -1 : 1;
    tangents.set([...tangent, side], 4 * index);
  }
  return tangents;
}
