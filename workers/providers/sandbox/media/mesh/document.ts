/** Creates and reads glTF documents in the sandbox's form. Each piece has its own node, mesh and primitive, in world coordinates. */
import {
  type Accessor,
  Document,
  Logger,
  type Material,
  type Node,
  NodeIO,
  type Primitive,
} from "@gltf-transform/core";

import { MEDIA_LIMITS } from "#workers/providers/sandbox/media/limits.ts";

import type { Random } from "../../random.ts";
import type { TextureFile } from "./texture.ts";

export interface MeshParams {
  readonly prompt: string;
  readonly seed: number;
}

/** Vertices in metres, and three indices per triangle. */
export interface Geometry {
  readonly positions: Float32Array;
  /** Normals as unit vectors. Without normals, viewers shade each triangle flat. */
  readonly normals?: Float32Array | undefined;
  readonly uvs: Float32Array;
  readonly indices: Uint32Array;
}

/** Disables the library's log. It would be written to stdout, over which the child process sends its results. */
export const SILENT = new Logger(Logger.Verbosity.SILENT);

/** Creates a document with an empty scene. Prompt and seed are stored in the file. */
export function newDocument({ prompt, seed }: MeshParams): Document {
  const document = new Document().setLogger(SILENT);
  const extras = { prompt: prompt.slice(0, MEDIA_LIMITS.promptCharactersMax).toWellFormed(), seed };
  Object.assign(document.getRoot().getAsset(), { generator: "Sluice sandbox", extras });
  document.createBuffer();
  document.getRoot().setDefaultScene(document.createScene("Scene"));
  return document;
}

export function encodeGlb(document: Document): Promise<Uint8Array> {
  return new NodeIO().setLogger(SILENT).writeBinary(document);
}

export function addGeometry(document: Document, name: string, geometry: Geometry, material: Material): void {
  const { positions, normals, uvs, indices } = geometry;
  const isSmall = positions.length / 3 < 65_535;
  const primitive = document
    .createPrimitive()
    .setIndices(accessorOf(document, "SCALAR", isSmall ? Uint16Array.from(indices) : indices))
    .setAttribute("POSITION", accessorOf(document, "VEC3", positions))
    .setAttribute("TEXCOORD_0", accessorOf(document, "VEC2", uvs))
    .setMaterial(material);
  if (normals !== undefined) primitive.setAttribute("NORMAL", accessorOf(document, "VEC3", normals));
  addPiece(document, name, primitive);
}

export function addPiece(document: Document, name: string, primitive: Primitive): void {
  const node = document.createNode(name).setMesh(document.createMesh(name).addPrimitive(primitive));
  document.getRoot().getDefaultScene()?.addChild(node);
}

/** Returns the pieces of the default scene. Without scenes, returns all pieces of the file. */
export function piecesOf(document: Document): readonly { readonly node: Node; readonly primitive: Primitive }[] {
  const scene = document.getRoot().getDefaultScene();
  const nodes: Node[] = [];
  scene?.traverse((node) => void nodes.push(node));
  const displayedNodes = scene === null ? document.getRoot().listNodes() : nodes;
  return displayedNodes.flatMap((node) =>
    (node.getMesh()?.listPrimitives() ?? []).map((primitive) => ({ node, primitive })),
  );
}

export function positionsOf(primitive: Primitive): Float32Array {
  return Float32Array.from(primitive.getAttribute("POSITION")?.getArray() ?? []);
}

export function indicesOf(primitive: Primitive): Uint32Array {
  return Uint32Array.from(primitive.getIndices()?.getArray() ?? []);
}

export function accessorOf(
  document: Document,
  type: "SCALAR" | "VEC2" | "VEC3" | "VEC4" | "MAT4",
  array: Float32Array | Uint32Array | Uint16Array | Uint8Array,
): Accessor {
  const [buffer = null] = document.getRoot().listBuffers();
  const numbers = array as Parameters<Accessor["setArray"]>[0];
  return document.createAccessor().setType(type).setArray(numbers).setBuffer(buffer);
}

/** Returns a material between plastic and satin. A metallic material would hide the texture. */
export function texturedMaterial(document: Document, texture: TextureFile, random: Random): Material {
  return document
    .createMaterial("textured")
    .setBaseColorTexture(textureOf(document, texture))
    .setMetallicFactor(0)
    .setRoughnessFactor(0.35 + random.below(50) / 100);
}

export function textureOf(document: Document, { bytes, mimeType }: TextureFile) {
  return document.createTexture().setMimeType(mimeType).setImage(new Uint8Array(bytes));
}
