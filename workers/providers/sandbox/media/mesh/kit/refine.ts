/** Long edges cut in halves, so that light and shade find vertices on large flat faces. */
import type { Shape } from "./shape.ts";

/** The form stays; both triangles of an edge cut it at the same place, so no gaps appear. */
export function refined(shape: Shape, edgeMax: number): Shape {
  let result = shape;
  // Each pass halves: more than this many are not needed for anything of a usual size.
  for (let pass = 0; pass < 6; pass += 1) {
    if (!hasLongEdge(result, edgeMax)) return result;
    result = halved(result, edgeMax);
  }
  return result;
}

function hasLongEdge({ positions, indices }: Shape, edgeMax: number): boolean {
  for (let at = 0; at < indices.length; at += 1) {
    const next = at % 3 === 2 ? at - 2 : at + 1;
    if (squareBetween(positions, indices[at] ?? 0, indices[next] ?? 0) > edgeMax * edgeMax) return true;
  }
  return false;
}

function squareBetween(positions: Float32Array, a: number, b: number): number {
  const x = (positions[3 * a] ?? 0) - (positions[3 * b] ?? 0);
  const y = (positions[3 * a + 1] ?? 0) - (positions[3 * b + 1] ?? 0);
  const z = (positions[3 * a + 2] ?? 0) - (positions[3 * b + 2] ?? 0);
  return x * x + y * y + z * z;
}

function halved(shape: Shape, edgeMax: number): Shape {
  const { positions, normals, uvs, colours } = shape;
  const grown = {
    positions: [...positions],
    normals: [...normals],
    uvs: [...uvs],
    colours: colours === null ? null : [...colours],
  };
  const indices: number[] = [];
  const middles = new Map<number, number>();
  const count = positions.length / 3;

  const isLong = (a: number, b: number): boolean => squareBetween(positions, a, b) > edgeMax * edgeMax;

  function middleOf(a: number, b: number): number {
    const key = Math.min(a, b) * count + Math.max(a, b);
    const known = middles.get(key);
    if (known !== undefined) return known;
    const index = grown.positions.length / 3;
    middles.set(key, index);
    const half = (list: ArrayLike<number>, width: number, at: number): number =>
      ((list[width * a + at] ?? 0) + (list[width * b + at] ?? 0)) / 2;
    const normal = [0, 1, 2].map((at) => half(normals, 3, at));
    const size = Math.hypot(...normal) || 1;
    for (let at = 0; at < 3; at += 1) {
      grown.positions.push(half(positions, 3, at));
      grown.normals.push((normal[at] ?? 0) / size);
      grown.colours?.push(half(colours ?? [], 3, at));
    }
    grown.uvs.push(half(uvs, 2, 0), half(uvs, 2, 1));
    return index;
  }

  for (let at = 0; at < shape.indices.length; at += 3) {
    const corners = [shape.indices[at] ?? 0, shape.indices[at + 1] ?? 0, shape.indices[at + 2] ?? 0] as const;
    const long = [0, 1, 2].filter((side) => isLong(corners[side as 0 | 1 | 2], corners[((side + 1) % 3) as 0 | 1 | 2]));
    const start = long.length === 1 ? (long[0] ?? 0) : long.length === 2 ? (firstOfTwo(long) + 3) % 3 : 0;
    const a = corners[(start % 3) as 0 | 1 | 2];
    const b = corners[((start + 1) % 3) as 0 | 1 | 2];
    const c = corners[((start + 2) % 3) as 0 | 1 | 2];
    if (long.length === 0) indices.push(a, b, c);
    else if (long.length === 1) {
      const ab = middleOf(a, b);
      indices.push(a, ab, c, ab, b, c);
    } else if (long.length === 2) {
      const [ab, bc] = [middleOf(a, b), middleOf(b, c)];
      indices.push(ab, b, bc, a, ab, bc, a, bc, c);
    } else {
      const [ab, bc, ca] = [middleOf(a, b), middleOf(b, c), middleOf(c, a)];
      indices.push(a, ab, ca, ab, b, bc, ca, bc, c, ab, bc, ca);
    }
  }
  return {
    positions: Float32Array.from(grown.positions),
    normals: Float32Array.from(grown.normals),
    uvs: Float32Array.from(grown.uvs),
    colours: grown.colours === null ? null : Float32Array.from(grown.colours),
    indices: Uint32Array.from(indices),
  };
}

/** Of two neighbouring sides the one that comes first around the triangle. */
function firstOfTwo(sides: readonly number[]): number {
  const [one = 0, other = 0] = sides;
  return (one + 1) % 3 === other ? one : other;
}
