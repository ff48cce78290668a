/** Splits a mesh into parts: its connected components, or slabs along its longest axis for a fully connected mesh. */
import type { Document, Material, Primitive } from "@gltf-transform/core";
import { compactPrimitive, joinPrimitives } from "@gltf-transform/functions";
import { MeshoptSimplifier } from "meshoptimizer";

import { MEDIA_LIMITS } from "#workers/providers/sandbox/media/limits.ts";

import { accessorOf, addPiece, indicesOf, piecesOf, positionsOf } from "./document.ts";
import { longestAxis } from "./longest-axis.ts";

const SLABS = 3;

/** Gives each part a node, a name and a colour, and no texture; the largest part comes first. */
export async function segment(document: Document): Promise<void> {
  await MeshoptSimplifier.ready;
  const whole = wholeOf(document);
  const components = grouped(whole, componentsOf(whole));
  const parts = components.length > 1 ? components : grouped(whole, slabsOf(document, whole));
  for (const { node } of piecesOf(document)) node.dispose();
  parts.forEach((corners, at) => {
    const part = whole.clone().setIndices(accessorOf(document, "SCALAR", Uint32Array.from(corners)));
    addPiece(document, `Part ${at + 1}`, compactPrimitive(part).setMaterial(coloured(document, at)));
  });
}

/** Returns all triangles as one primitive of positions and, if all pieces have them, normals. */
function wholeOf(document: Document): Primitive {
  const primitives = piecesOf(document).map(({ primitive }) => primitive);
  const haveNormals = primitives.every((primitive) => primitive.getAttribute("NORMAL") !== null);
  for (const primitive of primitives) {
    primitive.setAttribute("TEXCOORD_0", null);
    if (!haveNormals) primitive.setAttribute("NORMAL", null);
  }
  return joinPrimitives(primitives, { skipValidation: true });
}

type Grouping = (triangle: number) => number;

/** Connected triangles share a number; vertices at the same position are equal. */
function componentsOf(primitive: Primitive): Grouping {
  const indices = indicesOf(primitive);
  const above = MeshoptSimplifier.generatePositionRemap(positionsOf(primitive), 3);
  const topOf = (vertex = 0): number => {
    let top = vertex;
    // Path halving: each step halves the path for later searches.
    while (above[top] !== top) top = above[top] = above[above[top] ?? 0] ?? 0;
    return top;
  };
  for (let at = 0; at < indices.length; at += 3) {
    above[topOf(indices[at + 1])] = topOf(indices[at]);
    above[topOf(indices[at + 2])] = topOf(indices[at]);
  }
  return (triangle) => topOf(indices[3 * triangle]);
}

function slabsOf(document: Document, primitive: Primitive): Grouping {
  const { axis, from, length } = longestAxis(document);
  const [positions, indices] = [positionsOf(primitive), indicesOf(primitive)];
  const along = (corner: number): number => ((positions[3 * (indices[corner] ?? 0) + axis] ?? 0) - from) / length;
  return (triangle) => {
    const middle = (along(3 * triangle) + along(3 * triangle + 1) + along(3 * triangle + 2)) / 3;
    return Math.min(SLABS - 1, Math.floor(SLABS * middle));
  };
}

/** Returns the corners of each group, the largest first; groups beyond the last colour are merged. */
function grouped(primitive: Primitive, groupOf: Grouping): readonly (readonly number[])[] {
  const indices = indicesOf(primitive);
  const triangles = Array.from({ length: indices.length / 3 }, (_, triangle) => triangle);
  const groups = [...Map.groupBy(triangles, groupOf).values()].toSorted((a, b) => b.length - a.length);
  const rest = groups.splice(MEDIA_LIMITS.meshSegmentsMax - 1).flat();
  return (rest.length > 0 ? [...groups, rest] : groups).map((group) =>
    group.flatMap((triangle) => [...indices.subarray(3 * triangle, 3 * triangle + 3)]),
  );
}

/** Adjacent entries of the list are far apart on the colour wheel. */
function coloured(document: Document, at: number): Material {
  const hue = (at * 137.508) % 360;
  const channel = (shift: number): number => {
    const along = (shift + hue / 30) % 12;
    return 0.4 - 0.35 * Math.max(-1, Math.min(along - 3, 9 - along, 1));
  };
  return document
    .createMaterial(`Colour ${at + 1}`)
    .setBaseColorFactor([channel(0), channel(8), channel(4), 1])
    .setMetallicFactor(0)
    .setDoubleSided(true);
}
