/** Fewer triangles for the same form. */
import { MeshoptSimplifier } from "meshoptimizer/simplifier";

import { compacted, triangleCount, vertexCount, type Shape } from "./shape.ts";

/** What a change of direction counts beside one of place: edges and roundings stay. */
const NORMAL_WEIGHT = 0.4;
const COLOUR_WEIGHT = 0.3;
const UV_WEIGHT = 0.15;

export interface Simplification {
  readonly triangles: number;
  /** How far the surface may move, as a share of the shape's size; it stops there with more triangles than asked for. */
  readonly error: number;
  /** Vertices that stay, 1 each: where other shapes join. */
  readonly locked?: Uint8Array | undefined;
  /** Of a foreign mesh: seams and edges that stand in the way may go, and triangles become regular. */
  readonly isFree?: boolean;
}

/** To be awaited once before the first call. */
export const simplifierReady = (): Promise<void> => MeshoptSimplifier.ready;

export function simplified(shape: Shape, { triangles, error, locked, isFree }: Simplification): Shape {
  if (triangleCount(shape) <= triangles) return shape;
  const count = vertexCount(shape);
  const width = shape.colours === null ? 5 : 8;
  const attributes = new Float32Array(width * count);
  for (let index = 0; index < count; index += 1) {
    attributes.set(shape.normals.subarray(3 * index, 3 * index + 3), width * index);
    attributes.set(shape.uvs.subarray(2 * index, 2 * index + 2), width * index + 3);
    if (shape.colours !== null) attributes.set(shape.colours.subarray(3 * index, 3 * index + 3), width * index + 5);
  }
  const weights = [NORMAL_WEIGHT, NORMAL_WEIGHT, NORMAL_WEIGHT, UV_WEIGHT, UV_WEIGHT];
  if (shape.colours !== null) weights.push(COLOUR_WEIGHT, COLOUR_WEIGHT, COLOUR_WEIGHT);
  const [indices] = MeshoptSimplifier.simplifyWithAttributes(
    shape.indices,
    shape.positions,
    3,
    attributes,
    width,
    weights,
    locked ?? null,
    3 * Math.max(1, Math.floor(triangles)),
    error,
    isFree === true ? ["RegularizeLight", "Permissive"] : [],
  );
  return compacted({ ...shape, indices });
}
