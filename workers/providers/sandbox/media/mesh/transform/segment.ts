/** A mesh taken apart: what hangs together is a part; one body comes apart at its limbs. */
import { cellsOf, createGroups, type Cells } from "../kit/cells.ts";
import { samePlaces } from "../kit/normals.ts";
import { boundsOf, merged, pickedTriangles, triangleCount, type Shape } from "../kit/shape.ts";
import { clamp, cross, length, pointAt, sub, type Vec3 } from "../kit/vector.ts";
import { distancesFrom, tipsOf } from "../kit/walk.ts";
import { MEDIA_LIMITS } from "#workers/providers/sandbox/media/limits.ts";

import type { SourcePiece } from "../glb/read.ts";

export interface MeshPart {
  readonly name: string;
  /** Share of the whole surface. */
  readonly areaShare: number;
  /** At most one for each piece of the source. */
  readonly pieces: readonly SourcePiece[];
}

/** Cubes along the longest side: limbs of a hand's width of a body, and quick. */
const CUBES = 48;
/** Below this share of the surface a loose bit belongs to what is next to it. */
const LEAST_SHARE = 0.006;
/** Loose triangles without anything large among them are taken as one body. */
const SOUP_SHARE = 0.5;
/** What has more of the surface than this is a body with things on it, and comes apart itself. */
const BODY_SHARE = 0.6;
/** Of one body, where the prompt does not say. */
const USUAL_PARTS = 6;
/** Of many loose ones, where the prompt does not say. */
const USUAL_PARTS_MAX = 24;
/** Points nearer than this share of the size are one. */
const SAME_POINT = 1e-5;

const WORDS = ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];

export function segmented(pieces: readonly SourcePiece[], prompt: string): readonly MeshPart[] {
  const whole = merged(pieces.map(({ shape }) => shape));
  const areas = areasOf(whole);
  const wanted = wantedParts(prompt);
  const loose = components(whole);
  const sizes = areasByLabel(loose, areas);
  const total = areas.reduce((sum, area) => sum + area, 0) || 1;
  const large = [...sizes.keys()]
    .toSorted((a, b) => (sizes.get(b) ?? 0) - (sizes.get(a) ?? 0))
    .filter((label) => (sizes.get(label) ?? 0) >= LEAST_SHARE * total);
  const covered = large.reduce((sum, label) => sum + (sizes.get(label) ?? 0), 0) / total;
  const kept = large.slice(0, wanted ?? USUAL_PARTS_MAX);
  const isSoup = covered < SOUP_SHARE;
  const labels = isSoup ? new Int32Array(loose.length) : gatheredTo(kept, loose, whole);
  const bodies = isSoup ? [0] : kept;
  const isOneBody = isSoup || (sizes.get(kept[0] ?? -1) ?? 0) > BODY_SHARE * total;
  const target = wanted ?? (isOneBody ? bodies.length - 1 + USUAL_PARTS : bodies.length);
  const final = bodies.length < target ? splitFurther(whole, labels, areas, target) : labels;
  return partsOf(pieces, final, areas, total);
}

/** "into 4 parts", "five segments". */
function wantedParts(prompt: string): number | undefined {
  const found = new RegExp(
    `\\b(\\d{1,3}|${WORDS.join("|")})\\s+(?:\\w+\\s+)?(?:parts?|segments?|pieces?)\\b`,
    "i",
  ).exec(prompt);
  const word = found?.[1]?.toLowerCase();
  if (word === undefined) return undefined;
  const number = WORDS.includes(word) ? WORDS.indexOf(word) + 2 : Number(word);
  return clamp(number, 2, MEDIA_LIMITS.meshSegmentsMax);
}

function areasOf(shape: Shape): Float64Array {
  return Float64Array.from({ length: triangleCount(shape) }, (_, triangle) => {
    const [a, b, c] = cornersOf(shape, triangle);
    return length(cross(sub(b, a), sub(c, a))) / 2;
  });
}

function cornersOf({ positions, indices }: Shape, triangle: number): readonly [Vec3, Vec3, Vec3] {
  const at = 3 * triangle;
  return [
    pointAt(positions, indices[at] ?? 0),
    pointAt(positions, indices[at + 1] ?? 0),
    pointAt(positions, indices[at + 2] ?? 0),
  ];
}

function middleOf(shape: Shape, triangle: number): Vec3 {
  const [a, b, c] = cornersOf(shape, triangle);
  return [(a[0] + b[0] + c[0]) / 3, (a[1] + b[1] + c[1]) / 3, (a[2] + b[2] + c[2]) / 3];
}

/** For each triangle a number that all have that hang together by their points. */
function components(shape: Shape): Int32Array {
  const { min, max } = boundsOf([shape]);
  const size = Math.max(max[0] - min[0], max[1] - min[1], max[2] - min[2]) || 1;
  const places = samePlaces(shape.positions, size * SAME_POINT);
  const groups = createGroups(places.length);
  const place = (corner: number): number => places[shape.indices[corner] ?? 0] ?? 0;
  for (let at = 0; at < shape.indices.length; at += 3) {
    groups.join(place(at), place(at + 1));
    groups.join(place(at), place(at + 2));
  }
  return Int32Array.from({ length: triangleCount(shape) }, (_, triangle) => groups.of(place(3 * triangle)));
}

function areasByLabel(labels: Int32Array, areas: Float64Array): Map<number, number> {
  const result = new Map<number, number>();
  labels.forEach((label, triangle) => result.set(label, (result.get(label) ?? 0) + (areas[triangle] ?? 0)));
  return result;
}

/** Small loose bits go to the kept part next to them. */
function gatheredTo(kept: readonly number[], labels: Int32Array, whole: Shape): Int32Array {
  const isKept = new Set(kept);
  if (labels.every((label) => isKept.has(label))) return labels;
  const cells = cellsOf([whole], CUBES);
  const owners = new Int32Array(cells.middles.length).fill(-1);
  labels.forEach((label, triangle) => {
    if (isKept.has(label)) owners[cells.at(middleOf(whole, triangle))] = label;
  });
  const nearest = cells.nearest(owners);
  // One answer for a whole bit: it must not come apart.
  const known = new Map<number, number>();
  return labels.map((label, triangle) => {
    if (isKept.has(label)) return label;
    const owner = known.get(label) ?? nearest(middleOf(whole, triangle));
    known.set(label, owner);
    return owner;
  });
}

/** Large bodies are cut between their tips until there are as many parts as wanted, or nothing is left to cut. */
function splitFurther(whole: Shape, labels: Int32Array, areas: Float64Array, target: number): Int32Array {
  const sizes = areasByLabel(labels, areas);
  const shares = sharesOf(sizes, target);
  const result = labels.slice();
  let next = labels.reduce((most, label) => Math.max(most, label), 0) + 1;
  for (const [label, count] of shares) {
    if (count < 2) continue;
    const own = pickedTriangles(whole, (triangle) => labels[triangle] === label);
    const cells = cellsOf([own], CUBES);
    const tips = tipsOf(cells, count, 0);
    const distances = tips.map((tip) => distancesFrom(cells, [tip]));
    for (let triangle = 0; triangle < labels.length; triangle += 1) {
      if (labels[triangle] !== label) continue;
      const best = nearestTip(cells, distances, middleOf(whole, triangle));
      if (best > 0) result[triangle] = next + best;
    }
    next += tips.length;
  }
  return result;
}

function nearestTip(cells: Cells, distances: readonly Float64Array[], point: Vec3): number {
  const sums = new Float64Array(distances.length);
  cells.around(point, (cell, weight) => {
    distances.forEach((list, tip) => {
      sums[tip] = (sums[tip] ?? 0) + weight * (list[cell] ?? 0);
    });
  });
  return sums.reduce((best, sum, tip) => (sum < (sums[best] ?? 0) ? tip : best), 0);
}

/** How many parts each body comes apart into: the largest for its number is always cut next. */
function sharesOf(sizes: ReadonlyMap<number, number>, target: number): Map<number, number> {
  const result = new Map([...sizes.keys()].map((label) => [label, 1]));
  for (let count = result.size; count < target; count += 1) {
    let largest: number | undefined;
    let size = -1;
    for (const [label, parts] of result) {
      const own = (sizes.get(label) ?? 0) / parts;
      if (own > size) [largest, size] = [label, own];
    }
    if (largest === undefined) break;
    result.set(largest, (result.get(largest) ?? 1) + 1);
  }
  return result;
}

/** Largest first, each named after the piece it mostly comes from. */
function partsOf(
  pieces: readonly SourcePiece[],
  labels: Int32Array,
  areas: Float64Array,
  total: number,
): readonly MeshPart[] {
  const sizes = areasByLabel(labels, areas);
  const starts = pieces.map((_, index) =>
    pieces.slice(0, index).reduce((sum, { shape }) => sum + triangleCount(shape), 0),
  );
  const parts = [...sizes.keys()]
    .toSorted((a, b) => (sizes.get(b) ?? 0) - (sizes.get(a) ?? 0))
    .map((label): MeshPart => {
      const own = pieces.flatMap((piece, index) => {
        const shape = pickedTriangles(piece.shape, (triangle) => labels[(starts[index] ?? 0) + triangle] === label);
        return shape.indices.length > 0 ? [{ ...piece, shape }] : [];
      });
      const area = ({ shape }: SourcePiece): number => areasOf(shape).reduce((sum, value) => sum + value, 0);
      const name = own.toSorted((a, b) => area(b) - area(a))[0]?.name ?? "Part";
      return { name, areaShare: (sizes.get(label) ?? 0) / total, pieces: own };
    });
  return numbered(parts);
}

/** "Wheel 1", "Wheel 2", but "Roof" where there is one. */
function numbered(parts: readonly MeshPart[]): readonly MeshPart[] {
  const seen = new Map<string, number>();
  return parts.map((part) => {
    if (parts.filter(({ name }) => name === part.name).length === 1) return part;
    const number = (seen.get(part.name) ?? 0) + 1;
    seen.set(part.name, number);
    return { ...part, name: `${part.name} ${number}` };
  });
}
