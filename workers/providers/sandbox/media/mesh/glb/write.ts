/** Pieces as a binary glTF 2.0 file. */
import {
  Document,
  Logger,
  NodeIO,
  Texture,
  type Accessor,
  type Material,
  type Mesh,
  type Node,
  type Primitive,
} from "@gltf-transform/core";

import { vertexCount, type Shape } from "../kit/shape.ts";
import { tangentsOf } from "../kit/tangents.ts";
import { MATERIAL_EXTENSIONS } from "./extensions.ts";

export interface Piece {
  readonly name: string;
  readonly shape: Shape;
  /** null is the specification's own. */
  readonly material: Material | null;
  /** Which joints of a skeleton move each vertex. */
  readonly influences?: Influences;
}

/** Four of each a vertex: joints by their place in the skin, weights that are 65,535 together. */
export interface Influences {
  readonly joints: Uint8Array;
  readonly weights: Uint16Array;
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
export function addPiece(document: Document, piece: Piece): Node {
  return document.createNode(piece.name).setMesh(newMesh(document, piece));
}

export function newMesh(document: Document, piece: Piece): Mesh {
  return document.createMesh(piece.name).addPrimitive(newPrimitive(document, piece));
}

/** Only what the material and the skin have a use for: validators count the rest. */
function newPrimitive(document: Document, { shape, material, influences }: Piece): Primitive {
  const { positions, normals, uvs, colours, indices } = shape;
  const primitive = document
    .createPrimitive()
    .setIndices(accessor(document, "SCALAR", vertexCount(shape) > 65_534 ? indices : Uint16Array.from(indices)))
    .setAttribute("POSITION", accessor(document, "VEC3", positions))
    .setAttribute("NORMAL", accessor(document, "VEC3", normals))
    .setMaterial(material);
  if (material !== null && hasPictures(document, material)) {
    primitive.setAttribute("TEXCOORD_0", accessor(document, "VEC2", uvs));
  }
  if (material !== null && material.getNormalTexture() !== null) {
    primitive.setAttribute("TANGENT", accessor(document, "VEC4", tangentsOf(shape)));
  }
  if (colours !== null) {
    primitive.setAttribute("COLOR_0", accessor(document, "VEC4", shorts(colours)).setNormalized(true));
  }
  if (influences !== undefined) {
    primitive.setAttribute("JOINTS_0", accessor(document, "VEC4", influences.joints));
    primitive.setAttribute("WEIGHTS_0", accessor(document, "VEC4", influences.weights).setNormalized(true));
  }
  return primitive;
}

/** Its own, or those of its extensions. */
function hasPictures(document: Document, material: Material): boolean {
  const graph = document.getGraph();
  return graph
    .listChildren(material)
    .some((child) => child instanceof Texture || graph.listChildren(child).some((one) => one instanceof Texture));
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
