/** Triangles of one surface, and what can be done with them as a whole. */
import { smoothNormals } from "./normals.ts";
import { add, length, pointAt, turned, UP, type Vec3 } from "./vector.ts";

export interface Shape {
  /** Three numbers a vertex. */
  readonly positions: Float32Array;
  readonly normals: Float32Array;
  /** Two numbers a vertex; one unit is one repeat of a texture, about one unit of length. */
  readonly uvs: Float32Array;
  /** Linear red, green, blue a vertex, that multiply the material's colour; null is white. */
  readonly colours: Float32Array | null;
  /** Three a triangle, counter-clockwise seen from outside. */
  readonly indices: Uint32Array;
}

/** A shape under way: plain lists that grow. */
export interface Draft {
  readonly positions: number[];
  readonly uvs: number[];
  readonly indices: number[];
}

export const newDraft = (): Draft => ({ positions: [], uvs: [], indices: [] });

/** Edges sharper than this stay edges: a rounding of three steps is smooth, the corner of a box is not. */
const CREASE_DEGREES = 42;

/** Lists as they are before there are normals. */
interface Bare {
  readonly positions: ArrayLike<number>;
  readonly uvs: ArrayLike<number>;
  readonly indices: ArrayLike<number>;
  readonly colours?: Float32Array | null;
}

/**
 * Normals are worked out from the triangles.
 * @param samePoint points nearer than this are one; for shapes of about unit size where it is not given
 */
export function shapeOf(bare: Bare, creaseDegrees = CREASE_DEGREES, samePoint?: number): Shape {
  const { positions, uvs, indices, colours = null } = bare;
  const { sources, normals, indices: triangles } = smoothNormals(positions, indices, creaseDegrees, samePoint);
  return {
    positions: gathered(positions, sources, 3),
    normals,
    uvs: gathered(uvs, sources, 2),
    colours: colours === null ? null : gathered(colours, sources, 3),
    indices: triangles,
  };
}

/** Elements of `width` numbers each, in the order of `sources`. */
export function gathered(list: ArrayLike<number>, sources: ArrayLike<number>, width: number): Float32Array {
  const result = new Float32Array(width * sources.length);
  for (let index = 0; index < sources.length; index += 1) {
    const from = width * (sources[index] ?? 0);
    for (let at = 0; at < width; at += 1) result[width * index + at] = list[from + at] ?? 0;
  }
  return result;
}

export const triangleCount = ({ indices }: Shape): number => indices.length / 3;
export const vertexCount = ({ positions }: Shape): number => positions.length / 3;

export function merged(shapes: readonly Shape[]): Shape {
  const [first] = shapes;
  if (shapes.length === 1 && first !== undefined) return first;
  const hasColours = shapes.some(({ colours }) => colours !== null);
  const vertices = shapes.reduce((sum, shape) => sum + vertexCount(shape), 0);
  const result = {
    positions: new Float32Array(3 * vertices),
    normals: new Float32Array(3 * vertices),
    uvs: new Float32Array(2 * vertices),
    colours: hasColours ? new Float32Array(3 * vertices).fill(1) : null,
    indices: new Uint32Array(shapes.reduce((sum, { indices }) => sum + indices.length, 0)),
  };
  let [vertex, index] = [0, 0];
  for (const shape of shapes) {
    result.positions.set(shape.positions, 3 * vertex);
    result.normals.set(shape.normals, 3 * vertex);
    result.uvs.set(shape.uvs, 2 * vertex);
    if (shape.colours !== null) result.colours?.set(shape.colours, 3 * vertex);
    for (const value of shape.indices) {
      result.indices[index] = value + vertex;
      index += 1;
    }
    vertex += vertexCount(shape);
  }
  return result;
}

export function moved(shape: Shape, by: Vec3): Shape {
  return { ...shape, positions: eachPoint(shape.positions, (point) => add(point, by)) };
}

/** @param degrees counter-clockwise seen against the axis, which goes through the origin and has length 1 */
export function rotated(shape: Shape, axis: Vec3, degrees: number): Shape {
  return {
    ...shape,
    positions: eachPoint(shape.positions, (point) => turned(point, axis, degrees)),
    normals: eachPoint(shape.normals, (normal) => turned(normal, axis, degrees)),
  };
}

/** A negative factor mirrors. */
export function scaled(shape: Shape, by: number | Vec3): Shape {
  const [x, y, z] = typeof by === "number" ? [by, by, by] : by;
  const isMirrored = x * y * z < 0;
  return {
    ...shape,
    positions: eachPoint(shape.positions, (point) => [point[0] * x, point[1] * y, point[2] * z]),
    normals: eachPoint(shape.normals, ([nx, ny, nz]) => {
      const normal: Vec3 = [nx / x, ny / y, nz / z];
      const size = length(normal);
      return size > 0 ? [normal[0] / size, normal[1] / size, normal[2] / size] : UP;
    }),
    indices: isMirrored ? flippedIndices(shape.indices) : shape.indices,
  };
}

/** The shape and its image on the other side of the plane x = 0. */
export function twice(shape: Shape): Shape {
  return merged([shape, scaled(shape, [-1, 1, 1])]);
}

/** `count` copies around the y axis. */
export function around(shape: Shape, count: number): Shape {
  return merged(Array.from({ length: count }, (_, index) => rotated(shape, UP, (360 * index) / count)));
}

/** Points moved one by one, normals worked out anew. */
export function bent(shape: Shape, move: (point: Vec3) => Vec3, creaseDegrees = CREASE_DEGREES): Shape {
  return shapeOf({ ...shape, positions: eachPoint(shape.positions, move) }, creaseDegrees);
}

/** Every triangle for itself, flat. */
export const faceted = (shape: Shape): Shape => shapeOf(shape, 0);

/** Vertex colours by place and normal, linear red, green, blue. */
export function tinted(shape: Shape, colour: (point: Vec3, normal: Vec3) => Vec3): Shape {
  const colours = new Float32Array(shape.positions.length);
  for (let index = 0; index < vertexCount(shape); index += 1) {
    colours.set(colour(pointAt(shape.positions, index), pointAt(shape.normals, index)), 3 * index);
  }
  return { ...shape, colours };
}

/** @param factors a vertex, that darken its colour */
export function withLight(shape: Shape, factors: Float32Array): Shape {
  const colours = shape.colours?.slice() ?? new Float32Array(shape.positions.length).fill(1);
  for (let at = 0; at < colours.length; at += 1) {
    colours[at] = (colours[at] ?? 1) * (factors[Math.floor(at / 3)] ?? 1);
  }
  return { ...shape, colours };
}

export interface Bounds {
  readonly min: Vec3;
  readonly max: Vec3;
}

export function boundsOf(shapes: readonly Pick<Shape, "positions">[]): Bounds {
  const min: [number, number, number] = [Infinity, Infinity, Infinity];
  const max: [number, number, number] = [-Infinity, -Infinity, -Infinity];
  for (const { positions } of shapes) {
    for (let at = 0; at < positions.length; at += 1) {
      const value = positions[at] ?? 0;
      const axis = (at % 3) as 0 | 1 | 2;
      if (value < min[axis]) min[axis] = value;
      if (value > max[axis]) max[axis] = value;
    }
  }
  return { min, max };
}

function eachPoint(list: Float32Array, change: (point: Vec3) => Vec3): Float32Array {
  const result = new Float32Array(list.length);
  for (let index = 0; index < list.length / 3; index += 1) result.set(change(pointAt(list, index)), 3 * index);
  return result;
}

/** Only the vertices that triangles use, in the order they use them. */
export function compacted(shape: Shape): Shape {
  const places = new Int32Array(vertexCount(shape)).fill(-1);
  const sources: number[] = [];
  const indices = shape.indices.map((vertex) => {
    let place = places[vertex] ?? -1;
    if (place < 0) {
      place = sources.length;
      places[vertex] = place;
      sources.push(vertex);
    }
    return place;
  });
  return {
    positions: gathered(shape.positions, sources, 3),
    normals: gathered(shape.normals, sources, 3),
    uvs: gathered(shape.uvs, sources, 2),
    colours: shape.colours === null ? null : gathered(shape.colours, sources, 3),
    indices,
  };
}

/** Only some of the triangles. */
export function pickedTriangles(shape: Shape, isPicked: (triangle: number) => boolean): Shape {
  const indices = shape.indices.filter((_, corner) => isPicked(Math.floor(corner / 3)));
  return compacted({ ...shape, indices });
}

function flippedIndices(indices: Uint32Array): Uint32Array {
  const result = indices.slice();
  for (let at = 0; at < result.length; at += 3) {
    result[at + 1] = indices[at + 2] ?? 0;
    result[at + 2] = indices[at + 1] ?? 0;
  }
  return result;
}
