/**
 * Converts an untrusted glTF file to a document in the sandbox's form (document.ts). The document keeps triangles in world coordinates,
 * normals, one set of texture coordinates, and names. It also keeps base colour, metalness and roughness of materials. Skinned meshes keep
 * their stored pose. All other content is dropped.
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

import { MediaError } from "#shared/children/media-error.ts";
import { readJson } from "#shared/json/parse.ts";
import { readImageHeader } from "#shared/media/image-header.ts";
import { checkMax, MEDIA_LIMITS } from "#workers/providers/sandbox/media/limits.ts";

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
/** First and last supported mode of a primitive: lists, strips and fans of triangles. Points and lines are dropped. */
const [TRIANGLES, FAN] = [4, 6];
/** Maximum coordinate, in metres. Areas of larger triangles would overflow. */
const FARTHEST_METRES = 1e12;
const NAME_CHARACTERS_MAX = 80;

/**
 * Reads an untrusted mesh file.
 * @throws MediaError unsupported, corrupt, too_large; invalid for a mesh without triangles
 */
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

/**
 * Checks that a document has triangles.
 * @throws MediaError invalid, for a document without triangles
 */
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

/** Returns the triangles of a primitive in world coordinates; null for a primitive without triangles. */
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

/** Returns the normals as unit vectors; undefined if any normal has no direction. */
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

/** Returns texture coordinates for a piece that has none. They are a front projection, one metre wide and high. */
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

/** Copies the base-colour textures and decodes each only once. */
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

/** Returns the value if it is a number from 0 to 1; otherwise 1. A file may contain any value. */
function share(value: unknown): number {
  return typeof value === "number" && value >= 0 && value <= 1 ? value : 1;
}

function named(name: unknown): string {
  return String(name).slice(0, NAME_CHARACTERS_MAX).toWellFormed();
}

// Checks the declarations of an untrusted file before the glTF library allocates memory or follows references for it.

type Entry = Readonly<Record<string, unknown>>;
type Lists = Readonly<Record<(typeof LISTS)[number], readonly Entry[]>>;

interface CheckedMesh {
  readonly json: Entry;
  /** Content of the binary chunk; empty if the file has none. */
  readonly binary: Uint8Array;
}

/** Lists of a glTF file that are read. Animations, skins, cameras and lights are ignored. */
const LISTS = [
  "buffers",
  "bufferViews",
  "accessors",
  "images",
  "textures",
  "samplers",
  "materials",
  "meshes",
  "nodes",
  "scenes",
] as const;

const COMPONENTS: Readonly<Record<string, number>> = {
  SCALAR: 1,
  VEC2: 2,
  VEC3: 3,
  VEC4: 4,
  MAT2: 4,
  MAT3: 9,
  MAT4: 16,
};
const COMPONENT_BYTES: Readonly<Record<string, number>> = { 5120: 1, 5121: 1, 5122: 2, 5123: 2, 5125: 4, 5126: 4 };
/**
 * Constants of the binary glTF format (glTF 2.0, section 4.4). A file begins with "glTF", the version and the length. Chunks follow, each
 * with its length and type.
 */
const [MAGIC, JSON_CHUNK, BINARY_CHUNK] = [0x46546c67, 0x4e4f534a, 0x004e4942];
const [JSON_START, CHUNK_HEADER_BYTES] = [20, 8];

/**
 * Checks a binary glTF file and returns its JSON and its binary chunk for the glTF library.
 * @param readable glTF extensions that the file may require
 * @throws MediaError unsupported, corrupt, too_large
 */
function checkedMesh(bytes: Uint8Array, readable: readonly string[]): CheckedMesh {
  const { json, binary } = openContainer(bytes);
  const { version } = entryOf(json["asset"], "asset");
  if (version !== "2.0") throw unsupported("has another version than glTF 2.0");
  for (const name of listOf(json, "extensionsRequired")) {
    if (readable.some((one) => one === name)) continue;
    throw unsupported(`needs the extension ${String(name).replaceAll(/\W/g, "").slice(0, 80)}, which is not supported`);
  }
  const lists = Object.fromEntries(LISTS.map((name) => [name, entriesOf(json, name)])) as Lists;
  checkBuffers(lists, binary.byteLength);
  checkAccessors(lists);
  checkImages(lists);
  checkNodes(lists.nodes);
  checkSize(lists);
  const extensionsUsed = readable.filter((name) => listOf(json, "extensionsUsed").includes(name));
  const nodes = lists.nodes.map(({ camera: _camera, skin: _skin, ...node }) => node);
  const scene = indexOf(json, "scene", lists.scenes) ?? 0;
  return { json: { asset: { version: "2.0" }, extensionsUsed, ...lists, nodes, scene }, binary };
}

function corrupt(what: string, cause?: unknown): MediaError {
  return new MediaError("corrupt", `The mesh is damaged: ${what}.`, { cause });
}

function unsupported(what: string): MediaError {
  return new MediaError("unsupported", `The mesh ${what}.`);
}

function openContainer(bytes: Uint8Array): CheckedMesh {
  checkMax("The mesh", bytes.byteLength, MEDIA_LIMITS.meshBytesMax, "bytes");
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.byteLength < 8 || view.getUint32(0, true) !== MAGIC || view.getUint32(4, true) !== 2) {
    throw unsupported("is no binary glTF 2.0 file (GLB)");
  }
  const cutOff = corrupt("its length differs from the length in its header");
  if (view.byteLength < JSON_START || view.getUint32(8, true) !== view.byteLength) throw cutOff;
  const end = JSON_START + view.getUint32(12, true);
  if (end > view.byteLength) throw cutOff;
  if (view.getUint32(16, true) !== JSON_CHUNK) throw corrupt("it does not start with a JSON chunk");
  checkMax("The mesh", end - JSON_START, MEDIA_LIMITS.meshJsonBytesMax, "bytes of description");
  const json = entryOf(parse(bytes.subarray(JSON_START, end)), "its description");
  const start = end + CHUNK_HEADER_BYTES;
  const hasBinary = start <= view.byteLength && view.getUint32(end + 4, true) === BINARY_CHUNK;
  if (!hasBinary) return { json, binary: new Uint8Array(0) };
  if (start + view.getUint32(end, true) > view.byteLength) throw cutOff;
  return { json, binary: bytes.slice(start, start + view.getUint32(end, true)) };
}

function parse(bytes: Uint8Array): unknown {
  try {
    return readJson(bytes).value;
  } catch (error) {
    throw corrupt("its JSON chunk is invalid or nested too deeply", error);
  }
}

/** Checks that all data are inside the file and within their buffer views. External buffers and images are never fetched. */
function checkBuffers({ buffers, images, bufferViews }: Lists, binaryBytes: number): void {
  if ([...buffers, ...images].some(({ uri }) => uri !== undefined)) {
    throw unsupported("refers to external data; it must contain all of its data");
  }
  if (buffers.length > 1) throw unsupported("has several buffers; only one is supported");
  for (const view of bufferViews) {
    wholeOf(view, "byteLength", 1, binaryBytes - wholeOf(view, "byteOffset", 0, binaryBytes, 0));
  }
}

/** Checks that each accessor lies within its view, and limits their total size. */
function checkAccessors({ accessors, bufferViews }: Lists): void {
  let decodedBytes = 0;
  for (const accessor of accessors) {
    if (accessor["sparse"] !== undefined) throw unsupported("has sparse accessors, which are not supported");
    const components = tableValue(COMPONENTS, accessor["type"]);
    const elementBytes = components * tableValue(COMPONENT_BYTES, accessor["componentType"]);
    const count = wholeOf(accessor, "count", 1, Number.MAX_SAFE_INTEGER);
    decodedBytes += count * 4 * components;
    const view = bufferViews[indexOf(accessor, "bufferView", bufferViews) ?? -1];
    if (view === undefined) continue;
    const stride = wholeOf(view, "byteStride", elementBytes, 252, elementBytes);
    const end = wholeOf(accessor, "byteOffset", 0, Number.MAX_SAFE_INTEGER, 0) + stride * (count - 1) + elementBytes;
    if (end > Number(view["byteLength"])) throw corrupt("an accessor is longer than its buffer view");
  }
  checkMax("The mesh", decodedBytes, MEDIA_LIMITS.meshNumbersBytesMax, "bytes of numbers");
}

/** Limits the number and the total size of the images, because the library copies each image. */
function checkImages({ images, bufferViews }: Lists): void {
  checkMax("The mesh", images.length, MEDIA_LIMITS.meshImagesMax, "images");
  const views = images.map((image) => bufferViews[indexOf(image, "bufferView", bufferViews) ?? -1]);
  const bytes = views.reduce((sum, view) => sum + Number(view?.["byteLength"] ?? 0), 0);
  checkMax("The mesh", bytes, MEDIA_LIMITS.meshBytesMax, "bytes of images");
}

/** Checks that the nodes form trees of limited depth. Each node has at most one parent, and no node is its own ancestor. */
function checkNodes(nodes: readonly Entry[]): void {
  const parents = new Int32Array(nodes.length).fill(-1);
  nodes.forEach((node, parent) => {
    for (const child of listOf(node, "children")) {
      const at = wholeOf({ child }, "child", 0, nodes.length - 1);
      if (parents[at] !== -1) throw corrupt("a node has two parents");
      parents[at] = parent;
    }
  });
  for (const start of nodes.keys()) {
    let depth = 0;
    for (let at = parents[start] ?? -1; at >= 0; at = parents[at] ?? -1) {
      if (at === start) throw corrupt("a node contains itself");
      checkMax("The mesh", ++depth, MEDIA_LIMITS.meshNodeDepthMax, "levels of nodes");
    }
  }
}

/** Checks the displayed size of the mesh. A mesh counts once for each node that uses it. */
function checkSize({ nodes, meshes, accessors }: Lists): void {
  const sizes = meshes.map((mesh) => entriesOf(mesh, "primitives").map((primitive) => sizeOf(primitive, accessors)));
  const displayedSizes = nodes.flatMap((node) => sizes[indexOf(node, "mesh", meshes) ?? -1] ?? []);
  checkMax("The mesh", displayedSizes.length, MEDIA_LIMITS.meshPiecesMax, "pieces");
  const total = (what: "vertices" | "corners"): number => displayedSizes.reduce((sum, size) => sum + size[what], 0);
  checkMax("The mesh", total("vertices"), MEDIA_LIMITS.meshVerticesMax, "points");
  checkMax("The mesh", Math.floor(total("corners") / 3), MEDIA_LIMITS.meshTrianglesMax, "triangles");
}

/** Returns the number of vertices and of triangle corners of a primitive. Without indices, each vertex is a corner. */
function sizeOf(primitive: Entry, accessors: readonly Entry[]) {
  const attributes = entryOf(primitive["attributes"], "attributes");
  const points = accessors[indexOf(attributes, "POSITION", accessors) ?? -1];
  if (points?.["type"] !== "VEC3") throw corrupt("a primitive has no points");
  for (const name of Object.keys(attributes)) {
    const list = accessors[indexOf(attributes, name, accessors) ?? -1];
    if (list?.["count"] !== points["count"]) throw corrupt("a primitive has accessors of different lengths");
  }
  const corners = accessors[indexOf(primitive, "indices", accessors) ?? -1] ?? points;
  return { vertices: Number(points["count"]), corners: Number(corners["count"]) };
}

function entryOf(value: unknown, what: string): Entry {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Entry;
  throw corrupt(`${what} is no object`);
}

/** Returns a list; empty if the member is missing. */
function listOf(parent: Entry, key: string): readonly unknown[] {
  const list = parent[key] ?? [];
  if (!Array.isArray(list)) throw corrupt(`${key} is no list`);
  checkMax("The mesh", list.length, MEDIA_LIMITS.meshEntriesMax, key);
  return list;
}

function entriesOf(parent: Entry, key: string): readonly Entry[] {
  return listOf(parent, key).map((entry) => entryOf(entry, `an entry of ${key}`));
}

/** Returns an index into a list; undefined if the member is missing. */
function indexOf(parent: Entry, key: string, list: readonly unknown[]): number | undefined {
  return parent[key] === undefined ? undefined : wholeOf(parent, key, 0, list.length - 1);
}

function wholeOf(parent: Entry, key: string, min: number, max: number, missing?: number): number {
  const value = parent[key] ?? missing;
  if (typeof value === "number" && Number.isInteger(value) && value >= min && value <= max) return value;
  throw corrupt(`${key} is no whole number from ${min} to ${max}`);
}

function tableValue(table: Readonly<Record<string, number>>, key: unknown): number {
  const value = Object.hasOwn(table, String(key)) ? table[String(key)] : undefined;
  if (value === undefined) throw corrupt("an accessor has an unknown component type");
  return value;
}
