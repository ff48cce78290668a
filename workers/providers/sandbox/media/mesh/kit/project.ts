/** New texture coordinates for any shape, cut where the direction changes. */
import { gathered, type Bounds, type Shape } from "./shape.ts";
import { cross, pointAt, sub, type Vec2, type Vec3 } from "./vector.ts";

/** For a point of a face that looks along an axis (0 to 2) towards `sign`. */
type Unwrap = (point: Vec3, axis: 0 | 1 | 2, sign: 1 | -1) => Vec2;

/** Textures at the same size everywhere: one repeat is `size` long. */
export function boxProjected(shape: Shape, size = 1): Shape {
  return projected(shape, (point, axis, sign) => {
    const [u, v] = onSide(point, axis, sign);
    return [u / size, v / size];
  });
}

/**
 * A picture once over each side of the bounds, upright and in its own proportions, cut at what stands over.
 * @param aspect width by height of the picture
 */
export function pictureProjected(shape: Shape, { min, max }: Bounds, aspect: number): Shape {
  return projected(shape, (point, axis, sign) => {
    const [low, high] = [onSide(min, axis, sign), onSide(max, axis, sign)];
    const [u, v] = onSide(point, axis, sign);
    const [width, height] = [Math.abs(high[0] - low[0]) || 1, Math.abs(high[1] - low[1]) || 1];
    const scale = Math.max(width / aspect, height);
    return [0.5 + (u - (low[0] + high[0]) / 2) / (scale * aspect), 0.5 + (v - (low[1] + high[1]) / 2) / scale];
  });
}

/** A picture wrapped around the y axis, `repeats` times, its middle in front. */
export function wrapProjected(shape: Shape, { min, max }: Bounds, repeats: number): Shape {
  const [x, z] = [(min[0] + max[0]) / 2, (min[2] + max[2]) / 2];
  const height = max[1] - min[1] || 1;
  const flat = split(shape, ([a, b, c]) => {
    const middle = Math.atan2((a[0] + b[0] + c[0]) / 3 - x, (a[2] + b[2] + c[2]) / 3 - z);
    return { key: middle < -Math.PI / 2 ? 0 : middle > Math.PI / 2 ? 2 : 1, data: middle };
  });
  const uvs = new Float32Array(2 * flat.sources.length);
  flat.sources.forEach((source, index) => {
    const point = pointAt(shape.positions, source);
    let angle = Math.atan2(point[0] - x, point[2] - z);
    // Triangles behind reach over the seam: their points stay on the triangle's side.
    const middle = flat.data[index] ?? 0;
    if (angle - middle > Math.PI) angle -= 2 * Math.PI;
    if (middle - angle > Math.PI) angle += 2 * Math.PI;
    uvs.set([(angle / (2 * Math.PI)) * repeats + 0.5, (max[1] - point[1]) / height], 2 * index);
  });
  return withUvs(shape, flat, uvs);
}

/** What is seen of a point when one looks at a side: to the right, and downwards. */
function onSide([x, y, z]: Vec3, axis: 0 | 1 | 2, sign: 1 | -1): Vec2 {
  if (axis === 0) return [-sign * z, -y];
  return axis === 1 ? [x, sign * z] : [sign * x, -y];
}

function projected(shape: Shape, unwrap: Unwrap): Shape {
  const flat = split(shape, ([a, b, c]) => {
    const normal = cross(sub(b, a), sub(c, a));
    const sizes = normal.map(Math.abs);
    const axis = sizes.indexOf(Math.max(...sizes)) as 0 | 1 | 2;
    const sign = normal[axis] < 0 ? -1 : 1;
    return { key: 2 * axis + (sign > 0 ? 1 : 0), data: 2 * axis + (sign > 0 ? 1 : 0) };
  });
  const uvs = new Float32Array(2 * flat.sources.length);
  flat.sources.forEach((source, index) => {
    const side = flat.data[index] ?? 0;
    const axis = (side >> 1) as 0 | 1 | 2;
    uvs.set(unwrap(pointAt(shape.positions, source), axis, (side & 1) === 1 ? 1 : -1), 2 * index);
  });
  return withUvs(shape, flat, uvs);
}

interface Split {
  readonly sources: readonly number[];
  readonly data: readonly number[];
  readonly indices: Uint32Array;
}

/** A vertex whose triangles lie in several groups becomes several. */
function split(
  { positions, indices }: Shape,
  groupOf: (corners: readonly [Vec3, Vec3, Vec3]) => { readonly key: number; readonly data: number },
): Split {
  const known = new Map<number, number>();
  const sources: number[] = [];
  const data: number[] = [];
  const result = new Uint32Array(indices.length);
  for (let at = 0; at < indices.length; at += 3) {
    const corners = [indices[at] ?? 0, indices[at + 1] ?? 0, indices[at + 2] ?? 0] as const;
    const group = groupOf([
      pointAt(positions, corners[0]),
      pointAt(positions, corners[1]),
      pointAt(positions, corners[2]),
    ]);
    corners.forEach((corner, offset) => {
      const key = 8 * corner + group.key;
      let index = known.get(key);
      if (index === undefined) {
        index = sources.length;
        known.set(key, index);
        sources.push(corner);
        data.push(group.data);
      }
      result[at + offset] = index;
    });
  }
  return { sources, data, indices: result };
}

function withUvs({ positions, normals, colours }: Shape, { sources, indices }: Split, uvs: Float32Array): Shape {
  return {
    positions: gathered(positions, sources, 3),
    normals: gathered(normals, sources, 3),
    uvs,
    colours: colours === null ? null : gathered(colours, sources, 3),
    indices,
  };
}
