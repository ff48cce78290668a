/** How much of the sky each vertex sees, so that hollows and contacts are dark in viewers without such light of their own. */
import type { Bounds, Shape } from "./shape.ts";
import { boundsOf, vertexCount } from "./shape.ts";
import { cross, pointAt, unit, type Vec3 } from "./vector.ts";

/** Cubes along the longest side. */
const CUBES = 56;
const RAYS = 20;
/** Cubes a ray walks: what is further away is too far to darken. */
const REACH = 14;
/** The darkest corner still shows its colour. */
const DARKEST = 0.38;

/** For each shape a factor a vertex, `DARKEST` to 1. */
export function occlusionOf(shapes: readonly Shape[]): Float32Array[] {
  const grid = fill(shapes);
  const directions = hemisphere();
  return shapes.map((shape) => {
    const result = new Float32Array(vertexCount(shape));
    for (let index = 0; index < result.length; index += 1) {
      const seen = openness(grid, directions, pointAt(shape.positions, index), pointAt(shape.normals, index));
      result[index] = DARKEST + (1 - DARKEST) * seen;
    }
    return result;
  });
}

interface Grid {
  readonly min: Vec3;
  readonly cell: number;
  readonly counts: readonly [number, number, number];
  readonly isFull: Uint8Array;
}

function fill(shapes: readonly Shape[]): Grid {
  const { min, max }: Bounds = boundsOf(shapes);
  const cell = Math.max(max[0] - min[0], max[1] - min[1], max[2] - min[2], 1e-6) / CUBES;
  const counts = [0, 1, 2].map((axis) => Math.floor(((max[axis] ?? 0) - (min[axis] ?? 0)) / cell) + 1) as [
    number,
    number,
    number,
  ];
  const isFull = new Uint8Array(counts[0] * counts[1] * counts[2]);
  for (const { positions, indices } of shapes) {
    for (let at = 0; at < indices.length; at += 3) {
      const [a, b, c] = [0, 1, 2].map((corner) => pointAt(positions, indices[at + corner] ?? 0)) as [Vec3, Vec3, Vec3];
      const longest = Math.max(distance(a, b), distance(b, c), distance(c, a));
      const steps = Math.max(1, Math.ceil((longest / cell) * 1.5));
      for (let i = 0; i <= steps; i += 1) {
        for (let j = 0; j <= steps - i; j += 1) {
          const [u, v] = [i / steps, j / steps];
          mark(
            a[0] + (b[0] - a[0]) * u + (c[0] - a[0]) * v,
            a[1] + (b[1] - a[1]) * u + (c[1] - a[1]) * v,
            a[2] + (b[2] - a[2]) * u + (c[2] - a[2]) * v,
          );
        }
      }
    }
  }
  return { min, cell, counts, isFull };

  function mark(x: number, y: number, z: number): void {
    const [i, j, k] = [
      Math.floor((x - min[0]) / cell),
      Math.floor((y - min[1]) / cell),
      Math.floor((z - min[2]) / cell),
    ];
    isFull[i + counts[0] * (j + counts[1] * k)] = 1;
  }
}

/** The share of rays that leave, nearer hits counting more; half of what looks down is the ground. */
function openness({ min, cell, counts, isFull }: Grid, directions: readonly Vec3[], point: Vec3, normal: Vec3): number {
  const right = unit(cross(Math.abs(normal[1]) < 0.9 ? [0, 1, 0] : [1, 0, 0], normal));
  const front = cross(normal, right);
  let open = 0;
  for (const [x, y, z] of directions) {
    const dx = right[0] * x + normal[0] * y + front[0] * z;
    const dy = right[1] * x + normal[1] * y + front[1] * z;
    const dz = right[2] * x + normal[2] * y + front[2] * z;
    let seen = 1;
    // Two cubes off the surface, so that it does not hide itself.
    for (let step = 2; step < REACH; step += 1) {
      const i = Math.floor((point[0] + normal[0] * cell + dx * cell * step - min[0]) / cell);
      const j = Math.floor((point[1] + normal[1] * cell + dy * cell * step - min[1]) / cell);
      const k = Math.floor((point[2] + normal[2] * cell + dz * cell * step - min[2]) / cell);
      if (j < 0) {
        seen = Math.min(1, 0.35 + step / REACH);
        break;
      }
      if (i < 0 || k < 0 || i >= counts[0] || j >= counts[1] || k >= counts[2]) break;
      if (isFull[i + counts[0] * (j + counts[1] * k)] === 1) {
        seen = (step / REACH) ** 1.5;
        break;
      }
    }
    open += seen;
  }
  return open / directions.length;
}

/** Even over the half sphere around y, more of them near it: the light of a matt surface. */
function hemisphere(): Vec3[] {
  return Array.from({ length: RAYS }, (_, index) => {
    const [reach, angle] = [Math.sqrt((index + 0.5) / RAYS), index * 2.39996];
    return [reach * Math.cos(angle), Math.sqrt(1 - reach * reach), reach * Math.sin(angle)];
  });
}

const distance = (a: Vec3, b: Vec3): number => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
