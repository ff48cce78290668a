/** Longest axis of a mesh. */
import type { Document } from "@gltf-transform/core";
import { getBounds } from "@gltf-transform/functions";

export interface LongestAxis {
  readonly axis: 0 | 1 | 2;
  /** Smallest coordinate of the mesh on this axis. */
  readonly from: number;
  /** Never 0. */
  readonly length: number;
}

export function longestAxis(document: Document): LongestAxis {
  const [scene] = document.getRoot().listScenes();
  if (scene === undefined) throw new Error("the document has no scene");
  const { min, max } = getBounds(scene);
  const lengths = [max[0] - min[0], max[1] - min[1], max[2] - min[2]] as const;
  const axis = ([1, 0, 2] as const).reduce((best, one) => (lengths[one] > lengths[best] ? one : best), 1);
  return { axis, from: min[axis], length: lengths[axis] || 1 };
}
