/** Converts surfaces given by formulas to triangles with normals and texture coordinates. */
import type { Geometry } from "./document.ts";

export type Vector = readonly [number, number, number];

export interface Surface {
  /** Returns the point at u and v, 0 to 1 each; seen from outside, u points right and v points up. */
  readonly at: (u: number, v: number) => Vector;
  readonly columns: number;
  readonly rows: number;
  /** Returns the texture position of a point. Default: derived from u and v. */
  readonly textureAt?: (point: Vector) => readonly [number, number];
}

/** Step of u and v for the numeric slope of a surface. */
const STEP = 1e-4;

/** Returns all surfaces as one geometry. At a pole, where a row is one point, triangles without area are omitted. */
export function tessellated(surfaces: readonly Surface[]): Geometry {
  const [positions, normals, uvs, indices]: [number[], number[], number[], number[]] = [[], [], [], []];
  for (const { at, columns, rows, textureAt } of surfaces) {
    const start = positions.length / 3;
    const isPole = (row: number): boolean => length(minus(at(0.25, row / rows), at(0.75, row / rows))) < STEP;
    for (let row = 0; row <= rows; row += 1) {
      for (let column = 0; column <= columns; column += 1) {
        const [u, v] = [column / columns, row / rows];
        const point = at(u, v);
        positions.push(...point.map(rounded));
        normals.push(...normalAt(at, u, v));
        uvs.push(...(textureAt?.(point) ?? [u, 1 - v]));
        if (row === rows || column === columns) continue;
        const below = start + row * (columns + 1) + column;
        const above = below + columns + 1;
        if (!isPole(row)) indices.push(below, below + 1, above);
        if (!isPole(row + 1)) indices.push(below + 1, above + 1, above);
      }
    }
  }
  return {
    positions: Float32Array.from(positions),
    normals: Float32Array.from(normals),
    uvs: Float32Array.from(uvs),
    indices: Uint32Array.from(indices),
  };
}

/** At a pole, returns the normal of an adjacent point. */
function normalAt(at: Surface["at"], u: number, v: number): Vector {
  const along = minus(at(u + STEP, v), at(u - STEP, v));
  if (length(along) < STEP * STEP) return normalAt(at, u, v < 0.5 ? v + 0.01 : v - 0.01);
  const normal = cross(along, minus(at(u, v + STEP), at(u, v - STEP)));
  const size = length(normal);
  return [normal[0] / size, normal[1] / size, normal[2] / size];
}

/** Rounds to a micrometre and without -0, so that points where surfaces meet are equal. */
function rounded(metres: number): number {
  return Math.round(metres * 1e6) / 1e6 + 0;
}

export function cross(a: Vector, b: Vector): Vector {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}

const minus = (a: Vector, b: Vector): Vector => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const length = (a: Vector): number => Math.hypot(...a);
