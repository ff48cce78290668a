/** Soft bodies: balls and bars that flow into each other, as animals and clouds are made of. */
import type { Shape } from "./shape.ts";
import { clamp, cross, dot, sub, times, unit, type Vec3 } from "./vector.ts";

export interface Lump {
  readonly at: Vec3;
  /** Of a ball; a bar has it at its start. */
  readonly radius: number | Vec3;
  /** A bar goes from `at` to here, */
  readonly to?: Vec3;
  /** where it has this radius. */
  readonly radiusTo?: number;
  /** A ball with three radii is turned so that its y axis looks this way. */
  readonly along?: Vec3;
  /** Linear red, green, blue. */
  readonly colour: Vec3;
  /** Width of the transition to what comes before it in the list; 0 is a sharp one. */
  readonly blend?: number;
}

export interface BlobShape {
  /** Size of the cubes that the surface is found with: the smaller, the more triangles. */
  readonly cell: number;
  /** Roughness: what is added to the distance at a point. */
  readonly noise?: (x: number, y: number, z: number) => number;
  /** Colours fade into each other over this length. */
  readonly fade?: number;
}

const USUAL_BLEND = 0.06;

type Distance = (x: number, y: number, z: number) => number;

/** Outside positive. Colours are those of the nearest lumps. */
export function blob(lumps: readonly Lump[], { cell, noise, fade = 0.03 }: BlobShape): Shape {
  const distances = lumps.map(distanceTo);
  const blends = lumps.map(({ blend }) => blend ?? USUAL_BLEND);
  const field: Distance = (x, y, z) => {
    let sum = Infinity;
    for (let index = 0; index < distances.length; index += 1) {
      const next = distances[index]?.(x, y, z) ?? Infinity;
      const k = blends[index] ?? 0;
      const h = k > 0 && sum !== Infinity ? Math.max(k - Math.abs(sum - next), 0) / k : 0;
      sum = Math.min(sum, next) - (h * h * h * k) / 6;
    }
    return noise === undefined ? sum : sum + noise(x, y, z);
  };
  const net = surfaceNet(field, boundsOf(lumps, cell), cell);
  const count = net.positions.length / 3;
  const normals = new Float32Array(3 * count);
  const colours = new Float32Array(3 * count);
  for (let index = 0; index < count; index += 1) {
    const [x, y, z] = [0, 1, 2].map((axis) => net.positions[3 * index + axis] ?? 0) as [number, number, number];
    normals.set(slope(field, x, y, z, cell / 2), 3 * index);
    colours.set(colourAt(lumps, distances, x, y, z, fade), 3 * index);
  }
  // Seen from the side; whoever wants a texture projects it anew.
  const uvs = new Float32Array(2 * count);
  for (let index = 0; index < count; index += 1) {
    uvs.set(
      [(net.positions[3 * index] ?? 0) + (net.positions[3 * index + 2] ?? 0), -(net.positions[3 * index + 1] ?? 0)],
      2 * index,
    );
  }
  return { positions: net.positions, normals, uvs, colours, indices: net.indices };
}

function distanceTo({ at, radius, to, radiusTo, along }: Lump): Distance {
  const [ax, ay, az] = at;
  if (to !== undefined) {
    const start = typeof radius === "number" ? radius : radius[0];
    const end = radiusTo ?? start;
    const [dx, dy, dz] = sub(to, at);
    const square = Math.max(1e-12, dx * dx + dy * dy + dz * dz);
    return (x, y, z) => {
      const share = clamp(((x - ax) * dx + (y - ay) * dy + (z - az) * dz) / square, 0, 1);
      return Math.hypot(x - ax - dx * share, y - ay - dy * share, z - az - dz * share) - start - (end - start) * share;
    };
  }
  if (typeof radius === "number") return (x, y, z) => Math.hypot(x - ax, y - ay, z - az) - radius;
  const [rx, ry, rz] = radius;
  const up = unit(along ?? [0, 1, 0]);
  const right = unit(cross(up, Math.abs(up[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0]));
  const front = cross(right, up);
  return (x, y, z) => {
    const from: Vec3 = [x - ax, y - ay, z - az];
    const [a, b, c] = [dot(from, right) / rx, dot(from, up) / ry, dot(from, front) / rz];
    const near = Math.hypot(a, b, c);
    const steep = Math.hypot(a / rx, b / ry, c / rz);
    return steep < 1e-9 ? -Math.min(rx, ry, rz) : (near * (near - 1)) / steep;
  };
}

interface Box {
  readonly min: Vec3;
  readonly counts: Vec3;
}

function boundsOf(lumps: readonly Lump[], cell: number): Box {
  const low: [number, number, number] = [Infinity, Infinity, Infinity];
  const high: [number, number, number] = [-Infinity, -Infinity, -Infinity];
  for (const { at, radius, to, radiusTo = 0 } of lumps) {
    const reach = Math.max(typeof radius === "number" ? radius : Math.max(...radius), radiusTo) + 3 * cell;
    for (const point of to === undefined ? [at] : [at, to]) {
      point.forEach((value, axis) => {
        low[axis as 0 | 1 | 2] = Math.min(low[axis as 0 | 1 | 2], value - reach);
        high[axis as 0 | 1 | 2] = Math.max(high[axis as 0 | 1 | 2], value + reach);
      });
    }
  }
  return { min: low, counts: times(sub(high, low), 1 / cell).map(Math.ceil) as unknown as Vec3 };
}

/** The two corners of each of a cube's twelve edges; bit 0 is x, bit 1 y, bit 2 z. */
const EDGES = [0, 1, 2].flatMap((axis) =>
  [0, 1, 2, 3, 4, 5, 6, 7]
    .filter((corner) => (corner & (1 << axis)) === 0)
    .map((corner) => [corner, corner | (1 << axis)] as const),
);

/** Naive surface nets: a point in each cube the surface goes through, four of them around each edge it crosses. */
function surfaceNet(field: Distance, { min, counts }: Box, cell: number): Pick<Shape, "positions" | "indices"> {
  const [nx, ny, nz] = [counts[0] + 1, counts[1] + 1, counts[2] + 1];
  const values = new Float32Array(nx * ny * nz);
  const strides = [1, nx, nx * ny] as const;
  for (let k = 0, at = 0; k < nz; k += 1) {
    for (let j = 0; j < ny; j += 1) {
      for (let i = 0; i < nx; i += 1, at += 1) {
        values[at] = field(min[0] + i * cell, min[1] + j * cell, min[2] + k * cell);
      }
    }
  }
  const points = new Int32Array(values.length).fill(-1);
  const positions: number[] = [];
  const indices: number[] = [];
  const inside = (at: number): boolean => (values[at] ?? 0) < 0;
  for (let k = 0; k + 1 < nz; k += 1) {
    for (let j = 0; j + 1 < ny; j += 1) {
      for (let i = 0; i + 1 < nx; i += 1) {
        const at = i + j * nx + k * nx * ny;
        const point = crossing(values, at, strides);
        if (point === null) continue;
        points[at] = positions.length / 3;
        positions.push(
          ...onto(
            field,
            [min[0] + (i + point[0]) * cell, min[1] + (j + point[1]) * cell, min[2] + (k + point[2]) * cell],
            cell,
          ),
        );
      }
    }
  }
  for (let at = 0; at < values.length; at += 1) {
    if ((points[at] ?? -1) < 0) continue;
    const here = inside(at);
    for (const axis of [0, 1, 2] as const) {
      if (here === inside(at + strides[axis])) continue;
      const [one, other] = [strides[((axis + 1) % 3) as 0 | 1 | 2], strides[((axis + 2) % 3) as 0 | 1 | 2]];
      const corners = [points[at], points[at - one], points[at - one - other], points[at - other]];
      const [a = -1, b = -1, c = -1, d = -1] = corners;
      if (Math.min(a, b, c, d) < 0) continue;
      indices.push(...(here ? [a, b, c, a, c, d] : [a, c, b, a, d, c]));
    }
  }
  return { positions: new Float32Array(positions), indices: new Uint32Array(indices) };
}

/** The middle of where the surface crosses a cube's edges, from 0 to 1 along each axis; null where it does not. */
function crossing(values: Float32Array, at: number, strides: readonly [number, number, number]): Vec3 | null {
  let inside = 0;
  const corners = [0, 0, 0, 0, 0, 0, 0, 0];
  for (let corner = 0; corner < 8; corner += 1) {
    const value = values[at + (corner & 1) + ((corner >> 1) & 1) * strides[1] + (corner >> 2) * strides[2]] ?? 0;
    corners[corner] = value;
    if (value < 0) inside += 1;
  }
  if (inside === 0 || inside === 8) return null;
  const sum: [number, number, number] = [0, 0, 0];
  let count = 0;
  for (const [from, to] of EDGES) {
    const [a, b] = [corners[from] ?? 0, corners[to] ?? 0];
    if (a < 0 === b < 0) continue;
    const share = a / (a - b);
    for (const axis of [0, 1, 2] as const) {
      const [low, high] = [(from >> axis) & 1, (to >> axis) & 1];
      sum[axis] += low + (high - low) * share;
    }
    count += 1;
  }
  return times(sum, 1 / count);
}

/** One step of Newton's method: the net alone shows its cubes. */
function onto(field: Distance, [x, y, z]: Vec3, cell: number): Vec3 {
  const normal = slope(field, x, y, z, cell / 4);
  const by = clamp(field(x, y, z), -cell / 2, cell / 2);
  return [x - normal[0] * by, y - normal[1] * by, z - normal[2] * by];
}

function slope(field: Distance, x: number, y: number, z: number, reach: number): Vec3 {
  return unit([
    field(x + reach, y, z) - field(x - reach, y, z),
    field(x, y + reach, z) - field(x, y - reach, z),
    field(x, y, z + reach) - field(x, y, z - reach),
  ]);
}

function colourAt(
  lumps: readonly Lump[],
  distances: readonly Distance[],
  x: number,
  y: number,
  z: number,
  fade: number,
): Vec3 {
  const near = distances.map((distance) => distance(x, y, z));
  const nearest = Math.min(...near);
  let [r, g, b, sum] = [0, 0, 0, 0];
  near.forEach((distance, index) => {
    const weight = Math.exp(-(distance - nearest) / (fade / 3));
    const colour = lumps[index]?.colour;
    if (weight < 1e-4 || colour === undefined) return;
    r += colour[0] * weight;
    g += colour[1] * weight;
    b += colour[2] * weight;
    sum += weight;
  });
  return [r / sum, g / sum, b / sum];
}
