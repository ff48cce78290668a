/**
 * The description of a foreign file, written anew from what was looked at and found right, so that nothing else reaches
 * the library that decodes it. Left out is what no transformation keeps: cameras, lights, animations, morph targets.
 */
import { MEDIA_LIMITS } from "#workers/providers/sandbox/media/limits.ts";
import { MediaError } from "#shared/media/media-error.ts";

import { cleanMaterials } from "./clean-materials.ts";
import { cleanAccessors, cleanViews, type CleanAccessor } from "./clean-numbers.ts";
import { READABLE } from "./extensions.ts";
import {
  corrupt,
  fieldsOf,
  given,
  indicesOf,
  listOf,
  nameOf,
  numbersOf,
  optionalWhole,
  wholeOf,
  type Fields,
} from "./fields.ts";

const { meshEntriesMax } = MEDIA_LIMITS;
/** Attributes that are read; the file may have more. */
const ATTRIBUTES = /^(?:POSITION|NORMAL|TEXCOORD_[01]|COLOR_0|JOINTS_0|WEIGHTS_0)$/;

/**
 * For the library's reader.
 * @throws MediaError unsupported, corrupt, too_large
 */
export function cleanFile(value: unknown, binaryBytes: number): Fields {
  const json = fieldsOf(value, "its description");
  checkVersion(json);
  checkExtensions(json);
  const buffers = listOf(json, "buffers", meshEntriesMax);
  for (const { uri } of [...buffers, ...listOf(json, "images", meshEntriesMax)]) {
    if (uri !== undefined)
      throw new MediaError("unsupported", "The mesh refers to data by address; it must hold all of them itself.");
  }
  if (buffers.length > 1) throw new MediaError("unsupported", "The mesh has several buffers; one is taken.");
  const bytes = buffers[0] === undefined ? 0 : wholeOf(buffers[0], "byteLength", 1, binaryBytes);
  const views = cleanViews(listOf(json, "bufferViews", meshEntriesMax), bytes);
  const accessors = cleanAccessors(listOf(json, "accessors", meshEntriesMax), views);
  const { materials, textures, images, samplers, extensions } = cleanMaterials(json, views.length);
  const meshes = listOf(json, "meshes", meshEntriesMax).map((mesh) => cleanMesh(mesh, accessors, materials.length));
  const skinEntries = listOf(json, "skins", meshEntriesMax);
  const nodes = cleanNodes(json, meshes.length, skinEntries.length);
  const skins = skinEntries.map((skin) => cleanSkin(skin, accessors, nodes.length));
  checkSize(nodes, meshes, accessors);
  const scenes = cleanScenes(json, nodes);
  return {
    asset: { version: "2.0" },
    extensionsUsed: [...extensions],
    buffers: bytes === 0 ? [] : [{ byteLength: bytes }],
    bufferViews: views,
    accessors: accessors.map(({ json: accessor }) => accessor),
    materials,
    textures,
    images,
    samplers,
    meshes,
    nodes,
    skins,
    scenes,
    scene: 0,
  };
}

function checkVersion(json: Fields): void {
  const { version, minVersion } = fieldsOf(json["asset"], "asset");
  for (const text of [version, minVersion ?? "2.0"]) {
    if (typeof text !== "string" || !/^\d{1,3}\.\d{1,3}$/.test(text)) throw corrupt("it names no version");
    if (text !== "2.0" && (text === minVersion || !text.startsWith("2."))) {
      throw new MediaError("unsupported", `The mesh is glTF ${text}; version 2.0 is taken.`);
    }
  }
}

function checkExtensions(json: Fields): void {
  const required = json["extensionsRequired"] ?? [];
  if (!Array.isArray(required)) throw corrupt("extensionsRequired is no list");
  for (const name of required as readonly unknown[]) {
    if (typeof name !== "string" || !/^\w{1,80}$/.test(name)) throw corrupt("an extension has no name");
    if (!READABLE.has(name))
      throw new MediaError("unsupported", `The mesh needs the extension ${name}, which is not taken.`);
  }
}

interface CleanMesh {
  readonly name?: string;
  readonly primitives: readonly {
    readonly attributes: Readonly<Record<string, number>>;
    readonly indices?: number;
    readonly material?: number;
    readonly mode: number;
  }[];
}

function cleanMesh(mesh: Fields, accessors: readonly CleanAccessor[], materialCount: number): CleanMesh {
  const primitives = listOf(mesh, "primitives", meshEntriesMax).map((primitive) => {
    const attributes: Record<string, number> = {};
    const named = fieldsOf(primitive["attributes"], "attributes");
    for (const key of Object.keys(named).filter((name) => ATTRIBUTES.test(name))) {
      attributes[key] = wholeOf(named, key, 0, accessors.length - 1);
    }
    const place = accessors[attributes["POSITION"] ?? -1];
    if (place === undefined || place.type !== "VEC3") throw corrupt("a part of it has no points");
    for (const index of Object.values(attributes)) {
      if (accessors[index]?.count !== place.count) throw corrupt("a part of it has lists of different lengths");
    }
    const indices = optionalWhole(primitive, "indices", 0, accessors.length - 1);
    if (indices !== undefined && accessors[indices]?.isIndex !== true)
      throw corrupt("its triangles are no whole numbers");
    return given({
      attributes,
      indices,
      material: optionalWhole(primitive, "material", 0, materialCount - 1),
      mode: optionalWhole(primitive, "mode", 0, 6) ?? 4,
    });
  });
  return { ...nameOf(mesh), primitives };
}

interface CleanNode {
  readonly name?: string;
  readonly children?: readonly number[];
  readonly mesh?: number;
  readonly skin?: number;
  readonly [transform: string]: unknown;
}

/** A forest: each node has one parent at most, none is its own ancestor. */
function cleanNodes(json: Fields, meshCount: number, skinCount: number): readonly CleanNode[] {
  const entries = listOf(json, "nodes", meshEntriesMax);
  const nodes = entries.map((node): CleanNode => {
    const children = indicesOf(node, "children", entries.length);
    const matrix = numbersOf(node, "matrix", 16, -1e9, 1e9);
    const moves = {
      translation: numbersOf(node, "translation", 3, -1e9, 1e9),
      rotation: numbersOf(node, "rotation", 4, -1, 1),
      scale: numbersOf(node, "scale", 3, -1e9, 1e9),
    };
    return given({
      ...nameOf(node),
      children: children.length === 0 ? undefined : children,
      mesh: optionalWhole(node, "mesh", 0, meshCount - 1),
      skin: optionalWhole(node, "skin", 0, skinCount - 1),
      ...(matrix === undefined ? moves : { matrix }),
    });
  });
  const parents = new Int32Array(nodes.length).fill(-1);
  nodes.forEach(({ children = [] }, index) => {
    for (const child of children) {
      if (child === index || parents[child] !== -1) throw corrupt("a node lies in two others or in itself");
      parents[child] = index;
    }
  });
  for (let index = 0; index < nodes.length; index += 1) {
    let depth = 0;
    for (let at = parents[index] ?? -1; at >= 0; at = parents[at] ?? -1) {
      depth += 1;
      if (depth > MEDIA_LIMITS.meshNodeDepthMax) {
        throw new MediaError("too_large", "The mesh's nodes lie in each other in a circle or too deeply.");
      }
    }
  }
  return nodes;
}

function cleanSkin(skin: Fields, accessors: readonly CleanAccessor[], nodeCount: number): Fields {
  const joints = indicesOf(skin, "joints", nodeCount);
  if (joints.length === 0) throw corrupt("a skin has no joints");
  const matrices = optionalWhole(skin, "inverseBindMatrices", 0, accessors.length - 1);
  const accessor = matrices === undefined ? undefined : accessors[matrices];
  if (accessor !== undefined && (accessor.type !== "MAT4" || accessor.count < joints.length)) {
    throw corrupt("a skin has no matrix for each joint");
  }
  return given({ ...nameOf(skin), joints, inverseBindMatrices: matrices });
}

/** Only the scene that is shown; where the file names none, the first; where it has none, every root. */
function cleanScenes(json: Fields, nodes: readonly CleanNode[]): readonly Fields[] {
  const scenes = listOf(json, "scenes", meshEntriesMax);
  const shown = scenes[optionalWhole(json, "scene", 0, scenes.length - 1) ?? 0];
  const inside = new Set(nodes.flatMap(({ children = [] }) => children));
  const roots = nodes.map((_, index) => index).filter((index) => !inside.has(index));
  if (shown === undefined) return [{ nodes: roots }];
  const named = indicesOf(shown, "nodes", nodes.length);
  if (named.some((index) => inside.has(index)) || new Set(named).size < named.length) {
    throw corrupt("a scene shows a node twice");
  }
  return [{ ...nameOf(shown), nodes: named }];
}

/** A mesh that many nodes show counts for each of them. */
function checkSize(
  nodes: readonly CleanNode[],
  meshes: readonly CleanMesh[],
  accessors: readonly CleanAccessor[],
): void {
  let [pieces, vertices, corners] = [0, 0, 0];
  for (const { mesh } of nodes) {
    for (const { attributes, indices } of mesh === undefined ? [] : (meshes[mesh]?.primitives ?? [])) {
      const count = accessors[attributes["POSITION"] ?? -1]?.count ?? 0;
      pieces += 1;
      vertices += count;
      corners += indices === undefined ? count : (accessors[indices]?.count ?? 0);
    }
  }
  const { meshPiecesMax, meshVerticesMax, meshTrianglesMax } = MEDIA_LIMITS;
  const limits = [
    ["pieces", pieces, meshPiecesMax],
    ["points", vertices, meshVerticesMax],
    // A strip has nearly as many triangles as corners.
    ["triangles", Math.floor(corners / 3), meshTrianglesMax],
  ] as const;
  for (const [what, count, max] of limits) {
    if (count > max) throw new MediaError("too_large", `The mesh has ${count} ${what}; at most ${max} are taken.`);
  }
}
