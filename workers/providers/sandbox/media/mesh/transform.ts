/** Transforms a mesh: fewer triangles, another texture, named parts, or a skeleton. */
import type { Document } from "@gltf-transform/core";
import { prune, simplify, weld } from "@gltf-transform/functions";
import { MeshoptSimplifier } from "meshoptimizer";

import { createRandom, hashText } from "../../random.ts";
import { encodeGlb, type MeshParams, piecesOf, texturedMaterial } from "./document.ts";
import { checkTriangles, readMesh } from "./read.ts";
import { rig } from "./rig.ts";
import { segment } from "./segment.ts";
import { imageTexture, patternTexture } from "./texture.ts";

export interface MeshTransformParams extends MeshParams {
  readonly operation: keyof typeof OPERATIONS;
}

/** Changes the document in place. */
type Operation = (document: Document, params: MeshParams, image: Uint8Array | undefined) => unknown;

const OPERATIONS = { remesh, retexture, segment, rig } satisfies Record<string, Operation>;

/** Largest movement of a surface, as a share of the mesh's size: a mesh that needs more than half of its triangles keeps more. */
const SIMPLIFY_ERROR = 0.1;

/**
 * Returns a binary glTF 2.0 file: equal bytes for equal parameters, mesh and image.
 * @param image new texture of a retexture; other operations ignore it
 * @throws MediaError unsupported, corrupt, too_large, invalid for the mesh, and all but the last for the image
 */
export async function transformMesh(
  { operation, ...params }: MeshTransformParams,
  mesh: Uint8Array,
  image?: Uint8Array,
): Promise<Uint8Array> {
  const document = await readMesh(mesh, params);
  await OPERATIONS[operation](document, params, image);
  // Removes data that no piece uses any more.
  await document.transform(prune({ keepAttributes: true, keepSolidTextures: true }));
  // Simplification removes all triangles of a mesh without area.
  checkTriangles(document);
  return encodeGlb(document);
}

async function remesh(document: Document): Promise<void> {
  await document.transform(weld(), simplify({ simplifier: MeshoptSimplifier, ratio: 0.5, error: SIMPLIFY_ERROR }));
}

async function retexture(document: Document, { prompt, seed }: MeshParams, image?: Uint8Array): Promise<void> {
  const random = createRandom(hashText(prompt.toLowerCase(), seed >>> 0));
  const texture = await (image === undefined ? patternTexture(prompt, random) : imageTexture(image, "The image"));
  const material = texturedMaterial(document, texture, random);
  for (const { primitive } of piecesOf(document)) primitive.setMaterial(material);
}
