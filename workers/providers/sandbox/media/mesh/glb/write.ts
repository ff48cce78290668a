/** Pieces as a binary glTF 2.0 file. */
import { Document, Logger, NodeIO, type Accessor, type Material, type Node, type Primitive } from "@gltf-transform/core";

import { vertexCount, type Shape } from "../kit/shape.ts";
import { tangentsOf } from "../kit/tangents.ts";
import { MATERIAL_EXTENSIONS } from "./extensions.ts";

export interface Piece {
  readonly name: string;
  readonly shape: Shape;
  readonly material: Material;
}

/** Without a voice: what the library has to say would go to stdout, where the child answers. */
export const SILENT = new Logger(Logger.Verbosity.SILENT);

/** @param extras what the file says about itself, such as the prompt it was made from */
export function newDocument(extras: Readonly<Record<string, unknown>>): Document {
  const document = new Document().setLogger(SILENT);
  stamp(document, extras);
  document.createBuffer();
  return document;
}

export function stamp(document: Document, extras: Readonly<Record<string, unknown>>): void {
  const asset = document.getRoot().getAsset();
  asset.generator = "Sluice sandbox";
  asset["extras"] = { ...extras };
}

/** A node with a mesh of one primitive. */
export function addPiece(document: Document, { name, shape, material }: Piece): Node {
  const primitive = newPrimitive(document, shape).setMaterial(material);
  if (material.getNormalTexture() !== null) {
    primitive.setAttribute("TANGENT", accessor(document, "VEC4", tangentsOf(shape)));
  }
  const mesh = document.createMesh(name).addPrimitive(primitive);
  return document.createNode(name).setMesh(mesh);
}

export function newPrimitive(document: Document, { positions, normals, uvs, colours, indices }: Shape): Primitive {
  const count = vertexCount({ positions } as Shape);
  const primitive = document
    .createPrimitive()
    .setIndices(accessor(document, "SCALAR", count > 65_534 ? indices : Uint16Array.from(indices)))
    .setAttribute("POSITION", accessor(document, "VEC3", positions))
    .setAttribute("NORMAL", accessor(document, "VEC3", normals))
    .setAttribute("TEXCOORD_0", accessor(document, "VEC2", uvs));
  if (colours === null) return primitive;
  return primitive.setAttribute("COLOR_0", accessor(document, "VEC4", shorts(colours)).setNormalized(true));
}

export function accessor(
  document: Document,
  type: "SCALAR" | "VEC2" | "VEC3" | "VEC4" | "MAT4",
  array: Float32Array | Uint32Array | Uint16Array | Uint8Array,
): Accessor {
  const buffer = document.getRoot().listBuffers()[0] ?? document.createBuffer();
  return document
    .createAccessor()
    .setType(type)
    .setArray(array as Parameters<Accessor["setArray"]>[0])
    .setBuffer(buffer);
}

/** Three floats as four shorts, the last of which is one: half the size, and vertices stay aligned. */
function shorts(colours: Float32Array): Uint16Array {
  const result = new Uint16Array((colours.length / 3) * 4);
  for (let index = 0; index < colours.length / 3; index += 1) {
    for (let channel = 0; channel < 3; channel += 1) {
      result[4 * index + channel] = Math.round(65_535 * Math.min(1, Math.max(0, colours[3 * index + channel] ?? 0)));
    }
    result[4 * index + 3] = 65_535;
  }
  return result;
}

export async function encodeGlb(document: Document): Promise<Uint8Array> {
  return new NodeIO().setLogger(SILENT).registerExtensions(MATERIAL_EXTENSIONS).writeBinary(document);
}
