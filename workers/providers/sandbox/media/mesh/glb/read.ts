/** A foreign file as pieces: triangles where they are shown, each piece with its material. */
import { NodeIO, type Accessor, type Document, type Material, type Node, type Primitive } from "@gltf-transform/core";

import { MEDIA_LIMITS } from "#workers/providers/sandbox/media/limits.ts";
import { MediaError } from "#shared/media/media-error.ts";

import { boxProjected } from "../kit/project.ts";
import { boundsOf, shapeOf, vertexCount, type Shape } from "../kit/shape.ts";
import { cleanFile } from "./clean.ts";
import { openContainer } from "./container.ts";
import { MATERIAL_EXTENSIONS } from "./extensions.ts";
import { corrupt } from "./fields.ts";
import { checkPictures, unifyCoordinates } from "./pictures.ts";
import { posedBy, type Pose } from "./pose.ts";
import { trianglesOf } from "./triangles.ts";
import { SILENT } from "./write.ts";

export interface SourcePiece {
  readonly name: string;
  readonly shape: Shape;
  /** null is the usual grey. */
  readonly material: Material | null;
}

export interface SourceMesh {
  /** Holds the materials; everything else of the file is gone from it. */
  readonly document: Document;
  readonly pieces: readonly SourcePiece[];
}

/** Normals that a file does not have: smooth, with edges. */
const CREASE_DEGREES = 40;
/** Beyond it, areas would no longer be numbers. */
const FARTHEST = 1e12;
const GLB_BUFFER = "@glb.bin";

/** @throws MediaError unsupported, corrupt, too_large, invalid where nothing is in it */
export async function readMesh(bytes: Uint8Array): Promise<SourceMesh> {
  const { json, binary } = openContainer(bytes);
  const document = await decode(cleanFile(json, binary.byteLength), binary);
  await checkPictures(document);
  const pieces = piecesOf(document);
  if (pieces.length === 0) throw new MediaError("invalid", "The mesh has no triangles.");
  forgetAllButMaterials(document);
  return { document, pieces };
}

async function decode(json: unknown, binary: Uint8Array): Promise<Document> {
  const io = new NodeIO().setLogger(SILENT).registerExtensions(MATERIAL_EXTENSIONS);
  // Its reader writes into what it is given, and wants a buffer of its own.
  const resources = { [GLB_BUFFER]: new Uint8Array(binary) };
  try {
    const document = await io.readJSON({ json, resources } as Parameters<typeof io.readJSON>[0]);
    return document.setLogger(SILENT);
  } catch (error) {
    throw new MediaError("corrupt", "The mesh cannot be decoded: its data are damaged.", { cause: error });
  }
}

function piecesOf(document: Document): SourcePiece[] {
  const pieces: SourcePiece[] = [];
  const coordinates = unifyCoordinates(document);
  const poses = new Map<Node, Pose>();
  const visit = (node: Node): void => {
    for (const primitive of node.getMesh()?.listPrimitives() ?? []) {
      const pose = poses.get(node) ?? posedBy(node);
      poses.set(node, pose);
      const material = primitive.getMaterial();
      const uvs = (material === null ? undefined : coordinates.get(material)) ?? "TEXCOORD_0";
      const shape = shapeFrom(primitive, pose, uvs);
      if (shape === null) continue;
      const name = node.getName() || node.getMesh()?.getName() || `Part ${pieces.length + 1}`;
      pieces.push({ name, shape, material });
    }
    for (const child of node.listChildren()) visit(child);
  };
  for (const node of document.getRoot().listScenes()[0]?.listChildren() ?? []) visit(node);
  return sized(pieces);
}

/** null where the piece is of points or lines. */
function shapeFrom(primitive: Primitive, pose: Pose, coordinates: string): Shape | null {
  const positions = floatsOf(primitive.getAttribute("POSITION"), 3);
  if (positions === null) return null;
  const count = positions.length / 3;
  const indices = trianglesOf(primitive, count);
  if (indices === null || indices.length === 0) return null;
  const uvs = floatsOf(primitive.getAttribute(coordinates), 2);
  const normals = floatsOf(primitive.getAttribute("NORMAL"), 3);
  const joints = floatsOf(primitive.getAttribute("JOINTS_0"), 4);
  const weights = floatsOf(primitive.getAttribute("WEIGHTS_0"), 4);
  const placed = pose({ positions, normals: normals ?? new Float32Array(3 * count), joints, weights });
  if (placed.positions.some((value) => !(Math.abs(value) <= FARTHEST))) throw corrupt("some of its points are nowhere");
  const base = {
    positions: placed.positions,
    uvs: uvs === null ? new Float32Array(2 * count) : uvs.map((value) => (Number.isFinite(value) ? value : 0)),
    indices: placed.isMirrored ? turnedOver(indices) : indices,
  };
  const colours = coloursOf(primitive.getAttribute("COLOR_0"));
  const shape =
    normals === null || !areUnit(placed.normals)
      ? withNormals({ ...base, colours })
      : { ...base, normals: placed.normals, colours };
  return uvs === null && shape.indices.length > 0 ? boxProjected(shape, sizeOf(shape)) : shape;
}

/** Normals worked out anew; equal places are found at a hundred-thousandth of the size. */
function withNormals(shape: Omit<Shape, "normals">): Shape {
  const { positions, uvs, colours, indices } = shape;
  const size = sizeOf({ positions });
  const fresh = shapeOf({ positions, uvs, indices, colours }, CREASE_DEGREES, size * 1e-5);
  return fresh;
}

function sizeOf(shape: Pick<Shape, "positions">): number {
  const { min, max } = boundsOf([shape]);
  return Math.max(max[0] - min[0], max[1] - min[1], max[2] - min[2]) || 1;
}

function sized(pieces: readonly SourcePiece[]): SourcePiece[] {
  const all = pieces.filter(({ shape }) => shape.indices.length > 0);
  const [vertices, triangles] = all.reduce(
    ([points, faces], { shape }) => [points + vertexCount(shape), faces + shape.indices.length / 3],
    [0, 0],
  );
  // Strips have more triangles than their lists said, edges have their points twice.
  if (triangles > 2 * MEDIA_LIMITS.meshTrianglesMax || vertices > 4 * MEDIA_LIMITS.meshVerticesMax) {
    throw new MediaError("too_large", "The mesh has too many triangles.");
  }
  return all;
}

/** Numbers as they are meant: normalised ones from 0 to 1. null where there is no such list. */
function floatsOf(accessor: Accessor | null, width: number): Float32Array | null {
  if (accessor === null || accessor.getElementSize() < width) return null;
  const count = accessor.getCount();
  const result = new Float32Array(width * count);
  const element: number[] = [];
  for (let index = 0; index < count; index += 1) {
    accessor.getElement(index, element);
    for (let at = 0; at < width; at += 1) result[width * index + at] = element[at] ?? 0;
  }
  return result;
}

function coloursOf(accessor: Accessor | null): Float32Array | null {
  const colours = floatsOf(accessor, 3);
  return colours?.map((value) => (value >= 0 ? Math.min(1, value) : 0)) ?? null;
}

function areUnit(normals: Float32Array): boolean {
  for (let at = 0; at < normals.length; at += 3) {
    const square = (normals[at] ?? 0) ** 2 + (normals[at + 1] ?? 0) ** 2 + (normals[at + 2] ?? 0) ** 2;
    if (!(Math.abs(square - 1) < 1e-3)) return false;
  }
  return true;
}

function turnedOver(indices: Uint32Array): Uint32Array {
  const result = indices.slice();
  for (let at = 0; at + 2 < result.length; at += 3) {
    result[at + 1] = indices[at + 2] ?? 0;
    result[at + 2] = indices[at + 1] ?? 0;
  }
  return result;
}

function forgetAllButMaterials(document: Document): void {
  const root = document.getRoot();
  for (const scene of root.listScenes()) scene.dispose();
  for (const node of root.listNodes()) node.dispose();
  for (const mesh of root.listMeshes()) {
    for (const primitive of mesh.listPrimitives()) primitive.dispose();
    mesh.dispose();
  }
  for (const skin of root.listSkins()) skin.dispose();
  for (const accessor of root.listAccessors()) accessor.dispose();
}
