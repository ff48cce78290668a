/** Normals from triangles: smooth where faces meet at a blunt angle, an edge where they meet at a sharp one. */
import { MeshoptSimplifier } from "meshoptimizer/simplifier";

export interface SmoothNormals {
  /** For each new vertex the vertex it was; one with faces on both sides of an edge becomes several. */
  readonly sources: Uint32Array;
  readonly normals: Float32Array;
  /** Triangles without area are gone. */
  readonly indices: Uint32Array;
}

/** Points nearer than this are one, so that seams of a texture do not show. */
const SAME_POINT = 1e-5;
/** Normals nearer than this are one. */
const SAME_NORMAL = 1e-3;
/** Where more triangles meet in a point, all are blended: comparing each with each would take for ever. */
const MEETING_MAX = 128;

/** The simplifier must be ready: it finds equal points. */
export function smoothNormals(
  positions: ArrayLike<number>,
  indices: ArrayLike<number>,
  creaseDegrees: number,
  samePoint = SAME_POINT,
): SmoothNormals {
  const places = samePlaces(positions, samePoint);
  const faces = facesOf(positions, indices);
  const count = faces.corners.length;
  const { starts, around } = cornersByPlace(places, faces.corners);
  const cosMin = Math.cos((creaseDegrees * Math.PI) / 180) - 1e-6;
  const [sources, next] = [new Uint32Array(count), new Int32Array(count).fill(-1)];
  const heads = new Int32Array(places.length).fill(-1);
  const normals = new Float32Array(3 * count);
  const result = new Uint32Array(count);
  let made = 0;
  const own = new Float64Array(3);
  for (let corner = 0; corner < count; corner += 1) {
    const vertex = faces.corners[corner] ?? 0;
    const place = places[vertex] ?? vertex;
    const [from, to] = [starts[place] ?? 0, starts[place + 1] ?? 0];
    blend(faces, around, from, to, Math.floor(corner / 3), to - from > MEETING_MAX ? -2 : cosMin, own);
    let index = heads[vertex] ?? -1;
    while (index >= 0 && !isNear(normals, index, own)) index = next[index] ?? -1;
    if (index < 0) {
      index = made;
      made += 1;
      sources[index] = vertex;
      normals.set(own, 3 * index);
      next[index] = heads[vertex] ?? -1;
      heads[vertex] = index;
    }
    result[corner] = index;
  }
  return { sources: sources.slice(0, made), normals: normals.slice(0, 3 * made), indices: result };
}

/** For each vertex the first one at the same place, to within a tolerance. */
export function samePlaces(positions: ArrayLike<number>, tolerance: number): Uint32Array {
  const rounded = new Float32Array(positions.length);
  // Adding zero makes -0 a 0: the simplifier compares bits.
  for (let at = 0; at < rounded.length; at += 1) rounded[at] = Math.round((positions[at] ?? 0) / tolerance) + 0;
  return MeshoptSimplifier.generatePositionRemap(rounded, 3);
}

interface Faces {
  /** Three vertices a face. */
  readonly corners: Uint32Array;
  readonly normals: Float32Array;
  /** Area times angle for each corner: large flat faces lead, however they are cut into triangles. */
  readonly weights: Float32Array;
}

function facesOf(positions: ArrayLike<number>, indices: ArrayLike<number>): Faces {
  const corners = new Uint32Array(indices.length);
  const [normals, weights] = [new Float32Array(indices.length), new Float32Array(indices.length)];
  let made = 0;
  const at = (vertex: number, axis: number): number => positions[3 * vertex + axis] ?? 0;
  for (let index = 0; index + 2 < indices.length; index += 3) {
    const a = indices[index] ?? 0;
    const b = indices[index + 1] ?? 0;
    const c = indices[index + 2] ?? 0;
    const [ux, uy, uz] = [at(b, 0) - at(a, 0), at(b, 1) - at(a, 1), at(b, 2) - at(a, 2)];
    const [vx, vy, vz] = [at(c, 0) - at(a, 0), at(c, 1) - at(a, 1), at(c, 2) - at(a, 2)];
    const [wx, wy, wz] = [vx - ux, vy - uy, vz - uz];
    const [nx, ny, nz] = [uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx];
    const doubled = Math.sqrt(nx * nx + ny * ny + nz * nz);
    const [uu, vv, ww] = [Math.hypot(ux, uy, uz), Math.hypot(vx, vy, vz), Math.hypot(wx, wy, wz)];
    const longest = Math.max(uu, vv, ww);
    if (!(doubled > 2e-7 * longest * longest)) continue;
    const angle = (dot: number, one: number, other: number): number =>
      Math.acos(Math.min(1, Math.max(-1, dot / (one * other))));
    const atA = angle(ux * vx + uy * vy + uz * vz, uu, vv);
    const atB = angle(-(ux * wx + uy * wy + uz * wz), uu, ww);
    corners.set([a, b, c], made);
    normals.set([nx / doubled, ny / doubled, nz / doubled], made);
    weights.set([doubled * atA, doubled * atB, doubled * (Math.PI - atA - atB)], made);
    made += 3;
  }
  return { corners: corners.subarray(0, made), normals: normals.subarray(0, made), weights: weights.subarray(0, made) };
}

/** All corners at each place, one place after the other. */
function cornersByPlace(
  places: Uint32Array,
  corners: Uint32Array,
): { readonly starts: Uint32Array; readonly around: Uint32Array } {
  const starts = new Uint32Array(places.length + 1);
  for (const vertex of corners) {
    const place = places[vertex] ?? vertex;
    starts[place + 1] = (starts[place + 1] ?? 0) + 1;
  }
  for (let place = 0; place < places.length; place += 1)
    starts[place + 1] = (starts[place + 1] ?? 0) + (starts[place] ?? 0);
  const filled = starts.slice(0, places.length);
  const around = new Uint32Array(corners.length);
  corners.forEach((vertex, corner) => {
    const place = places[vertex] ?? vertex;
    const at = filled[place] ?? 0;
    around[at] = corner;
    filled[place] = at + 1;
  });
  return { starts, around };
}

function blend(
  { normals, weights }: Faces,
  around: Uint32Array,
  from: number,
  to: number,
  face: number,
  cosMin: number,
  result: Float64Array,
): void {
  const x = normals[3 * face] ?? 0;
  const y = normals[3 * face + 1] ?? 0;
  const z = normals[3 * face + 2] ?? 0;
  let sx = 0;
  let sy = 0;
  let sz = 0;
  // Where very many meet, the first of them stand for all.
  const end = Math.min(to, from + 8 * MEETING_MAX);
  for (let at = from; at < end; at += 1) {
    const corner = around[at] ?? 0;
    const other = corner - (corner % 3);
    const [nx, ny, nz] = [normals[other] ?? 0, normals[other + 1] ?? 0, normals[other + 2] ?? 0];
    if (x * nx + y * ny + z * nz < cosMin) continue;
    const weight = weights[corner] ?? 0;
    sx += nx * weight;
    sy += ny * weight;
    sz += nz * weight;
  }
  const size = Math.sqrt(sx * sx + sy * sy + sz * sz);
  if (size > 1e-30) result.set([sx / size, sy / size, sz / size]);
  else result.set([x, y, z]);
}

function isNear(normals: Float32Array, index: number, own: Float64Array): boolean {
  for (let axis = 0; axis < 3; axis += 1) {
    if (Math.abs((normals[3 * index + axis] ?? 0) - (own[axis] ?? 0)) > SAME_NORMAL) return false;
  }
  return true;
}
