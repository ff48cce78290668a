/** Checks the declarations of an untrusted file before the glTF library allocates memory or follows references for it. */
import { readJson } from "#shared/json/parse.ts";
import { MediaError } from "#shared/children/media-error.ts";
import { MEDIA_LIMITS, checkMax } from "#workers/providers/sandbox/media/limits.ts";

type Entry = Readonly<Record<string, unknown>>;
type Lists = Readonly<Record<(typeof LISTS)[number], readonly Entry[]>>;

interface CheckedMesh {
  readonly json: Entry;
  /** Binary chunk; empty without one. */
  readonly binary: Uint8Array;
}

/** Lists that are read: animations, skins, cameras and lights are ignored. */
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
/** glTF 2.0, section 4.4: "glTF", the version and the length, then chunks that begin with their length and type. */
const [MAGIC, JSON_CHUNK, BINARY_CHUNK] = [0x46546c67, 0x4e4f534a, 0x004e4942];
const [JSON_START, CHUNK_HEADER_BYTES] = [20, 8];

/**
 * Returns the parts of a binary glTF file for the glTF library.
 * @param readable extensions that a file may require
 * @throws MediaError unsupported, corrupt, too_large
 */
export function checkedMesh(bytes: Uint8Array, readable: readonly string[]): CheckedMesh {
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

export function corrupt(what: string, cause?: unknown): MediaError {
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

/** Checks that all data are inside the file, within its views: external buffers and images are never fetched. */
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

/** Checks the images, each of which the library copies. */
function checkImages({ images, bufferViews }: Lists): void {
  checkMax("The mesh", images.length, MEDIA_LIMITS.meshImagesMax, "images");
  const views = images.map((image) => bufferViews[indexOf(image, "bufferView", bufferViews) ?? -1]);
  const bytes = views.reduce((sum, view) => sum + Number(view?.["byteLength"] ?? 0), 0);
  checkMax("The mesh", bytes, MEDIA_LIMITS.meshBytesMax, "bytes of images");
}

/** Checks for a forest of limited depth: each node has at most one parent, and none is its own ancestor. */
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

/** Checks the displayed size: a mesh counts for each node that uses it. */
function checkSize({ nodes, meshes, accessors }: Lists): void {
  const sizes = meshes.map((mesh) => entriesOf(mesh, "primitives").map((primitive) => sizeOf(primitive, accessors)));
  const shown = nodes.flatMap((node) => sizes[indexOf(node, "mesh", meshes) ?? -1] ?? []);
  checkMax("The mesh", shown.length, MEDIA_LIMITS.meshPiecesMax, "pieces");
  const total = (what: "vertices" | "corners"): number => shown.reduce((sum, size) => sum + size[what], 0);
  checkMax("The mesh", total("vertices"), MEDIA_LIMITS.meshVerticesMax, "points");
  checkMax("The mesh", Math.floor(total("corners") / 3), MEDIA_LIMITS.meshTrianglesMax, "triangles");
}

/** Returns the number of vertices and of triangle corners; without indices, each vertex is a corner. */
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
