/** Noise that repeats: the same seed gives the same clouds on every machine, and their right edge fits their left one. */
import type { Random } from "../../../random.ts";

export interface Noise {
  /** -1 to 1; x and y go once around in 0 to 1, with `cells` waves on the way. */
  wave(x: number, y: number, cellsX: number, cellsY?: number): number;
  /** -1 to 1, several octaves of it. */
  cloud(x: number, y: number, cellsX: number, cellsY?: number, octaves?: number): number;
  /** Distance to the nearest and the second nearest of points strewn one in a cell, about 0 to 1; and which one it is, 0 to 1. */
  cells(x: number, y: number, cells: number): { readonly near: number; readonly next: number; readonly id: number };
  /** -1 to 1 in space; does not repeat. */
  solid(x: number, y: number, z: number, octaves?: number): number;
}

const SIZE = 256;

export function createNoise(random: Random): Noise {
  const table = Uint8Array.from({ length: SIZE }, (_, index) => index);
  for (let index = SIZE - 1; index > 0; index -= 1) {
    const other = random.below(index + 1);
    const value = table[index] ?? 0;
    table[index] = table[other] ?? 0;
    table[other] = value;
  }
  const hash = (x: number, y: number, z = 0): number =>
    table[((table[((table[x & 255] ?? 0) + y) & 255] ?? 0) + z) & 255] ?? 0;

  // Half of the time of a whole mesh is spent here: no modulus, no arrays, slopes from a table.
  function wave(x: number, y: number, cellsX: number, cellsY = cellsX): number {
    const px = (x - Math.floor(x)) * cellsX;
    const py = (y - Math.floor(y)) * cellsY;
    const x0 = Math.floor(px);
    const y0 = Math.floor(py);
    const x1 = x0 + 1 === cellsX ? 0 : x0 + 1;
    const y1 = y0 + 1 === cellsY ? 0 : y0 + 1;
    const fx = px - x0;
    const fy = py - y0;
    const left = table[x0 & 255] ?? 0;
    const right = table[x1 & 255] ?? 0;
    const u = fade(fx);
    const low = mix(
      slope2(table[(left + y0) & 255] ?? 0, fx, fy),
      slope2(table[(right + y0) & 255] ?? 0, fx - 1, fy),
      u,
    );
    const high = mix(
      slope2(table[(left + y1) & 255] ?? 0, fx, fy - 1),
      slope2(table[(right + y1) & 255] ?? 0, fx - 1, fy - 1),
      u,
    );
    return mix(low, high, fade(fy)) * 1.4;
  }

  function cloud(x: number, y: number, cellsX: number, cellsY = cellsX, octaves = 4): number {
    let sum = 0;
    let size = 0.5;
    let scale = 1;
    for (let octave = 0; octave < octaves; octave += 1) {
      sum += size * wave(x + 0.137 * octave, y + 0.291 * octave, cellsX * scale, cellsY * scale);
      size /= 2;
      scale *= 2;
    }
    return Math.max(-1, Math.min(1, sum * 1.3));
  }

  function cells(x: number, y: number, count: number): { near: number; next: number; id: number } {
    const px = x * count;
    const py = y * count;
    const ix = Math.floor(px);
    const iy = Math.floor(py);
    let near = 9;
    let next = 9;
    let id = 0;
    for (let dy = -1; dy <= 1; dy += 1) {
      for (let dx = -1; dx <= 1; dx += 1) {
        const cx = wrap(ix + dx, count);
        const cy = wrap(iy + dy, count);
        const jx = ix + dx + 0.1 + (0.8 * hash(cx, cy, 17)) / 256 - px;
        const jy = iy + dy + 0.1 + (0.8 * hash(cx, cy, 91)) / 256 - py;
        const far = Math.sqrt(jx * jx + jy * jy);
        if (far < near) {
          next = near;
          near = far;
          id = hash(cx, cy, 5) / 255;
        } else if (far < next) next = far;
      }
    }
    return { near, next, id };
  }

  function single(x: number, y: number, z: number): number {
    const ix = Math.floor(x);
    const iy = Math.floor(y);
    const iz = Math.floor(z);
    const fx = x - ix;
    const fy = y - iy;
    const fz = z - iz;
    const u = fade(fx);
    const v = fade(fy);
    const w = fade(fz);
    const corner = (dx: number, dy: number, dz: number): number =>
      slope3(hash(ix + dx, iy + dy, iz + dz), fx - dx, fy - dy, fz - dz);
    const near = mix(mix(corner(0, 0, 0), corner(1, 0, 0), u), mix(corner(0, 1, 0), corner(1, 1, 0), u), v);
    const far = mix(mix(corner(0, 0, 1), corner(1, 0, 1), u), mix(corner(0, 1, 1), corner(1, 1, 1), u), v);
    return mix(near, far, w);
  }

  function solid(x: number, y: number, z: number, octaves = 4): number {
    let sum = 0;
    let size = 0.5;
    let scale = 1;
    for (let octave = 0; octave < octaves; octave += 1) {
      sum += size * single(x * scale + 31 * octave, y * scale, z * scale);
      size /= 2;
      scale *= 2;
    }
    return Math.max(-1, Math.min(1, sum * 1.5));
  }

  return { wave, cloud, cells, solid };
}

/** Of whole numbers at most one period outside. */
const wrap = (value: number, period: number): number =>
  value < 0 ? value + period : value >= period ? value - period : value;
const fade = (t: number): number => t * t * t * (t * (t * 6 - 15) + 10);
const mix = (a: number, b: number, share: number): number => a + (b - a) * share;

const COS = Float64Array.from({ length: SIZE }, (_, at) => Math.cos((at / SIZE) * 2 * Math.PI));
const SIN = Float64Array.from({ length: SIZE }, (_, at) => Math.sin((at / SIZE) * 2 * Math.PI));

function slope2(hash: number, x: number, y: number): number {
  return (COS[hash] ?? 0) * x + (SIN[hash] ?? 0) * y;
}

/** Towards the middles of a cube's edges, as Perlin has them. */
function slope3(hash: number, x: number, y: number, z: number): number {
  const u = (hash & 8) === 0 ? x : y;
  const v = (hash & 12) === 0 ? y : (hash & 13) === 12 ? x : z;
  return ((hash & 1) === 0 ? u : -u) + ((hash & 2) === 0 ? v : -v);
}
