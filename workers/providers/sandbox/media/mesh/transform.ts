/** Transforms a mesh. The result has fewer triangles, another texture, named parts, or a skeleton. */
import type { Document, Material, Node, Primitive } from "@gltf-transform/core";
import { compactPrimitive, getBounds, joinPrimitives, prune, simplify, weld } from "@gltf-transform/functions";
import { MeshoptSimplifier } from "meshoptimizer";

import { MEDIA_LIMITS } from "#workers/providers/sandbox/media/limits.ts";

import { createRandom, hashText } from "../../random.ts";
import {
  accessorOf,
  addPiece,
  encodeGlb,
  indicesOf,
  type MeshParams,
  piecesOf,
  positionsOf,
  texturedMaterial,
} from "./document.ts";
import { checkTriangles, readMesh } from "./read.ts";
import { imageTexture, patternTexture } from "./texture.ts";

export interface MeshTransformParams extends MeshParams {
  readonly operation: keyof typeof OPERATIONS;
}

/** Transformation that changes the document in place. */
type Operation = (document: Document, params: MeshParams, image: Uint8Array | undefined) => unknown;

const OPERATIONS = { remesh, retexture, segment, rig } satisfies Record<string, Operation>;

/**
 * Maximum movement of the surface by simplification, as a share of the mesh's size. Simplification halves the triangles, or keeps more of
 * them if the surface would move farther.
 */
const SIMPLIFY_ERROR = 0.1;

/**
 * Transforms a mesh and returns it as a binary glTF 2.0 file. Equal parameters, meshes and images produce equal bytes.
 * @param image new texture of a retexture; other operations ignore it
 * @throws MediaError unsupported, corrupt, too_large for the mesh or the image; invalid for a mesh without triangles
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

// Adds a skeleton to a mesh: three bones in a row along its longest axis, and a short swaying animation.

const BONES = 3;
/** Key times in seconds and half angles in radians of the animation. It ends as it begins, so that it can be looped. */
const SWAY = { seconds: [0, 0.5, 1, 1.5, 2], halfAngles: [0, 0.08, 0, -0.08, 0] };

function rig(document: Document): void {
  const longest = longestAxis(document);
  const bones = bonesOf(document, longest);
  const skin = document
    .createSkin("Skeleton")
    .setInverseBindMatrices(accessorOf(document, "MAT4", bindMatrices(longest)));
  for (const bone of bones) skin.addJoint(bone);
  for (const { node, primitive } of piecesOf(document)) {
    const { joints, weights } = influencesOf(positionsOf(primitive), longest);
    primitive.setAttribute("JOINTS_0", accessorOf(document, "VEC4", joints));
    primitive.setAttribute("WEIGHTS_0", accessorOf(document, "VEC4", weights));
    node.setSkin(skin);
  }
  animate(document, bones, longest);
}

/**
 * Returns the bones that move each vertex, and their weights. A vertex follows the two bones whose centres are next to it; the two weights
 * add up to 1.
 */
function influencesOf(positions: Float32Array, { axis, from, length }: LongestAxis) {
  const count = positions.length / 3;
  const [joints, weights] = [new Uint8Array(4 * count), new Float32Array(4 * count)];
  for (let vertex = 0; vertex < count; vertex += 1) {
    const along = (BONES * ((positions[3 * vertex + axis] ?? 0) - from)) / length - 0.5;
    const place = Math.min(BONES - 1, Math.max(0, along));
    const first = Math.floor(place);
    const second = Math.fround(place - first);
    weights.set([1 - second, second], 4 * vertex);
    // A joint without weight must be the first (glTF 2.0, 3.7.3.1).
    joints.set([first, second > 0 ? first + 1 : 0], 4 * vertex);
  }
  return { joints, weights };
}

/** Returns a chain of bones: each bone is the child of the previous one. */
function bonesOf(document: Document, { axis, from, length }: LongestAxis): readonly Node[] {
  const bones = Array.from({ length: BONES }, (_, at) => {
    const offset: [number, number, number] = [0, 0, 0];
    offset[axis] = at === 0 ? from : length / BONES;
    return document.createNode(`Bone ${at + 1}`).setTranslation(offset);
  });
  bones.forEach((bone, at) => (bones[at - 1] ?? document.getRoot().getDefaultScene())?.addChild(bone));
  return bones;
}

/** Returns the transformations from mesh space to bone space. Bones are in a row and not rotated. */
function bindMatrices({ axis, from, length }: LongestAxis): Float32Array {
  const matrices = new Float32Array(16 * BONES);
  for (let bone = 0; bone < BONES; bone += 1) {
    for (const diagonal of [0, 5, 10, 15]) matrices[16 * bone + diagonal] = 1;
    matrices[16 * bone + 12 + axis] = -(from + (bone * length) / BONES);
  }
  return matrices;
}

/** Adds the animation, which rotates all bones except the first sideways. */
function animate(document: Document, [, ...bones]: readonly Node[], { axis }: LongestAxis): void {
  const rotations = SWAY.halfAngles.flatMap((half) => {
    const [sine, cosine] = [Math.sin(half), Math.cos(half)];
    return axis === 2 ? [sine, 0, 0, cosine] : [0, 0, sine, cosine];
  });
  const sampler = document
    .createAnimationSampler()
    .setInput(accessorOf(document, "SCALAR", Float32Array.from(SWAY.seconds)))
    .setOutput(accessorOf(document, "VEC4", Float32Array.from(rotations)));
  const animation = document.createAnimation("Idle").addSampler(sampler);
  for (const bone of bones) {
    const channel = document.createAnimationChannel().setTargetNode(bone).setTargetPath("rotation").setSampler(sampler);
    animation.addChannel(channel);
  }
}

// Splits a mesh into parts: its connected components, or slabs along its longest axis for a fully connected mesh.

const SLABS = 3;

/** Splits a mesh into parts, the largest first. Each part gets a node, a name and a colour, and no texture. */
async function segment(document: Document): Promise<void> {
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

/** Returns all triangles as one primitive with positions. Normals are included if all pieces have them. */
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

/** Returns a function that gives each triangle the number of its connected group. Vertices at the same position count as equal. */
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

/** Returns the triangle corners of each group, the largest group first. Groups beyond the last colour are merged. */
function grouped(primitive: Primitive, groupOf: Grouping): readonly (readonly number[])[] {
  const indices = indicesOf(primitive);
  const triangles = Array.from({ length: indices.length / 3 }, (_, triangle) => triangle);
  const groups = [...Map.groupBy(triangles, groupOf).values()].toSorted((a, b) => b.length - a.length);
  const rest = groups.splice(MEDIA_LIMITS.meshSegmentsMax - 1).flat();
  return (rest.length > 0 ? [...groups, rest] : groups).map((group) =>
    group.flatMap((triangle) => [...indices.subarray(3 * triangle, 3 * triangle + 3)]),
  );
}

/** Returns a coloured material for a part. Colours of adjacent parts are far apart on the colour wheel. */
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

interface LongestAxis {
  readonly axis: 0 | 1 | 2;
  /** Minimum coordinate of the mesh on this axis. */
  readonly from: number;
  /** Length of the mesh on this axis; never 0. */
  readonly length: number;
}

function longestAxis(document: Document): LongestAxis {
  const [scene] = document.getRoot().listScenes();
  if (scene === undefined) throw new Error("the document has no scene");
  const { min, max } = getBounds(scene);
  const lengths = [max[0] - min[0], max[1] - min[1], max[2] - min[2]] as const;
  const axis = ([1, 0, 2] as const).reduce((best, one) => (lengths[one] > lengths[best] ? one : best), 1);
  return { axis, from: min[axis], length: lengths[axis] || 1 };
}
