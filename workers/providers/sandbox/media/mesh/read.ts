/**
 * Converts an untrusted file to our document. Kept are triangles in world coordinates, normals, one set of texture coordinates, names, and
 * base colour, metalness and roughness of materials. Skinned meshes keep their stored pose; all else is dropped.
 */
import {
  type Accessor,
  type Document,
  type Material,
  type Node,
  NodeIO,
  type Primitive,
  type Texture,
} from "@gltf-transform/core";
import { EXTTextureWebP, KHRMaterialsUnlit, KHRMeshQuantization } from "@gltf-transform/extensions";
import {
  compactPrimitive,
  convertPrimitiveToTriangles,
  dequantizePrimitive,
  transformPrimitive,
} from "@gltf-transform/functions";

import { readImageHeader } from "#shared/media/image-header.ts";
import { MediaError } from "#shared/children/media-error.ts";
import { MEDIA_LIMITS, checkMax } from "#workers/providers/sandbox/media/limits.ts";

import { checkedMesh, corrupt } from "./check.ts";
import {
  addGeometry,
  type Geometry,
  indicesOf,
  type MeshParams,
  newDocument,
  piecesOf,
  positionsOf,
  SILENT,
  textureOf,
} from "./document.ts";
import { imageTexture } from "./texture.ts";

const EXTENSIONS = [EXTTextureWebP, KHRMaterialsUnlit, KHRMeshQuantization];
/** Modes of a primitive: lists, strips and fans of triangles; points and lines are dropped. */
const [TRIANGLES, FAN] = [4, 6];
/** Largest coordinate in metres; beyond it, areas overflow. */
const FARTHEST_METRES = 1e12;
const NAME_CHARACTERS_MAX = 80;

/** @throws MediaError unsupported, corrupt, too_large; invalid for a mesh without triangles */
export async function readMesh(bytes: Uint8Array, params: MeshParams): Promise<Document> {
  const { json, binary } = checkedMesh(
    bytes,
    EXTENSIONS.map(({ EXTENSION_NAME }) => EXTENSION_NAME),
  );
  const document = newDocument(params);
  try {
    await copyInto(document, await decode(json, binary));
  } catch (error) {
    if (error instanceof MediaError) throw error;
    // Data types that glTF does not allow cause an error here, or result in invalid vertices.
    throw corrupt("its data cannot be decoded", error);
  }
  checkTriangles(document);
  return document;
}

/** @throws MediaError invalid, for a document without triangles */
export function checkTriangles(document: Document): void {
  if (piecesOf(document).length === 0) throw new MediaError("invalid", "The mesh has no triangles.");
}

async function decode(json: unknown, binary: Uint8Array): Promise<Document> {
  const io = new NodeIO().setLogger(SILENT).registerExtensions(EXTENSIONS);
  const resources = { "@glb.bin": binary };
  const document = await io.readJSON({ json, resources } as Parameters<typeof io.readJSON>[0]);
  return document.setLogger(SILENT);
}

async function copyInto(document: Document, source: Document): Promise<void> {
  const materialOf = await copyMaterials(source, document);
  for (const { node, primitive } of piecesOf(source)) {
    const geometry = geometryOf(primitive, node);
    const name = named(node.getName() || node.getMesh()?.getName() || "Piece");
    if (geometry !== null) addGeometry(document, name, geometry, materialOf(primitive.getMaterial()));
  }
}

/** Returns null for a primitive without triangles. */
function geometryOf(source: Primitive, node: Node): Geometry | null {
  const mode = source.getMode();
  if (!(mode >= TRIANGLES && mode <= FAN)) return null;
  const count = source.getAttribute("POSITION")?.getCount() ?? 0;
  if (indicesOf(source).some((index) => index >= count)) throw corrupt("a triangle refers to a missing point");
  const coordinates = `TEXCOORD_${source.getMaterial()?.getBaseColorTextureInfo()?.getTexCoord() ?? 0}`;
  const primitive = source.clone();
  for (const target of primitive.listTargets()) primitive.removeTarget(target);
  for (const name of primitive.listSemantics()) {
    if (!["POSITION", "NORMAL", coordinates].includes(name)) primitive.setAttribute(name, null);
  }
  if (mode !== TRIANGLES) convertPrimitiveToTriangles(primitive);
  // Copies to separate lists of floats, because the last step writes into them.
  dequantizePrimitive(compactPrimitive(primitive), { pattern: /.*/ });
  transformPrimitive(primitive, node.getWorldMatrix());
  const [positions, indices] = [positionsOf(primitive), indicesOf(primitive)];
  if (indices.length < 3) return null;
  if (!positions.every((value) => Math.abs(value) <= FARTHEST_METRES))
    throw corrupt("some of its points have invalid coordinates");
  return {
    positions,
    normals: unitNormals(primitive.getAttribute("NORMAL")),
    uvs: coordinatesOf(primitive.getAttribute(coordinates)) ?? projected(positions),
    indices: indices.subarray(0, indices.length - (indices.length % 3)),
  };
}

/** Returns undefined if one normal has no direction. */
function unitNormals(accessor: Accessor | null): Float32Array | undefined {
  if (accessor?.getType() !== "VEC3") return undefined;
  const normals = Float32Array.from(accessor.getArray() ?? []);
  for (let at = 0; at < normals.length; at += 3) {
    const [x = 0, y = 0, z = 0] = normals.subarray(at, at + 3);
    if (!(Math.abs(Math.hypot(x, y, z) - 1) < 1e-3)) return undefined;
  }
  return normals;
}

function coordinatesOf(accessor: Accessor | null): Float32Array | undefined {
  if (accessor?.getType() !== "VEC2") return undefined;
  return Float32Array.from(accessor.getArray() ?? [], (value) => (Number.isFinite(value) ? value : 0));
}

/** Returns texture coordinates for a piece without any: a front projection, one metre wide and high. */
function projected(positions: Float32Array): Float32Array {
  const uvs = new Float32Array((positions.length / 3) * 2);
  for (let vertex = 0; vertex < uvs.length / 2; vertex += 1) {
    uvs.set([positions[3 * vertex] ?? 0, -(positions[3 * vertex + 1] ?? 0)], 2 * vertex);
  }
  return uvs;
}

async function copyMaterials(source: Document, document: Document): Promise<(from: Material | null) => Material> {
  const textures = await copyTextures(source, document);
  const copies = new Map<Material | null, Material>();
  for (const from of source.getRoot().listMaterials()) {
    const [red, green, blue, opacity] = from.getBaseColorFactor().map(share);
    const copy = document
      .createMaterial(named(from.getName()))
      .setBaseColorFactor([red ?? 1, green ?? 1, blue ?? 1, opacity ?? 1])
      .setBaseColorTexture(textures.get(from.getBaseColorTexture()) ?? null)
      .setMetallicFactor(share(from.getMetallicFactor()))
      .setRoughnessFactor(share(from.getRoughnessFactor()))
      .setAlphaMode((["MASK", "BLEND"] as const).find((mode) => mode === from.getAlphaMode()) ?? "OPAQUE");
    if (from.getDoubleSided()) copy.setDoubleSided(true);
    copies.set(from, copy);
  }
  const plain = document.createMaterial("plain").setMetallicFactor(0).setDoubleSided(true);
  return (from) => copies.get(from) ?? plain;
}

/** Copies base-colour textures only, and decodes each once. */
async function copyTextures(source: Document, document: Document): Promise<ReadonlyMap<Texture | null, Texture>> {
  const copies = new Map<Texture | null, Texture>();
  let pixels = 0;
  for (const from of new Set(
    source
      .getRoot()
      .listMaterials()
      .map((material) => material.getBaseColorTexture()),
  )) {
    const image = from?.getImage() ?? null;
    if (image === null) continue;
    const { width, height } = readImageHeader(image) ?? { width: 0, height: 0 };
    pixels += width * height;
    checkMax("The mesh", pixels, MEDIA_LIMITS.meshPixelsMax, "pixels in its textures");
    copies.set(from, textureOf(document, await imageTexture(image, "A texture of the mesh")));
  }
  return copies;
}

/** Returns a share from 0 to 1; 1 for any other value, since a file may contain anything. */
function share(value: unknown): number {
  return typeof value === "number" && value >= 0 && value <= 1 ? value : 1;
}

function named(name: unknown): string {
  return String(name).slice(0, NAME_CHARACTERS_MAX).toWellFormed();
}
