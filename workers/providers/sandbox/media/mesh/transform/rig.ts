/** A skeleton inside, and a clip in which it moves. */
import type { Document, Node, Skin } from "@gltf-transform/core";

import { accessor, addPiece } from "../glb/write.ts";
import type { SourcePiece } from "../glb/read.ts";
import { cellsOf } from "../kit/cells.ts";
import { length, sub, type Vec3 } from "../kit/vector.ts";
import { influencesOf } from "./influences.ts";
import { skeletonOf, type Joint, type Limb, type Skeleton } from "./skeleton.ts";

export interface Rig {
  readonly nodes: readonly Node[];
  readonly extras: { readonly joints: number; readonly limbs: number; readonly clip: string };
}

/** Cubes along the longest side: fingers do not count as limbs. */
const CUBES = 40;
/** Of a clip; the last is the first again. */
const KEYS = 24;
/** How far the joints of a limb turn, from the root outwards. */
const TURN_DEGREES = [13, 11] as const;
/** A joint further out follows later. */
const LAG = 0.14;

interface Tempo {
  readonly name: string;
  readonly seconds: number;
  /** Of the usual turn. */
  readonly strength: number;
  /** How far it rises and sinks, as a share of the skeleton's size. */
  readonly bounce: number;
}

/** Skinned nodes stand at the top of the scene: their own place does not count. */
export function rigged(document: Document, pieces: readonly SourcePiece[], prompt: string): Rig {
  const cells = cellsOf(
    pieces.map(({ shape }) => shape),
    CUBES,
  );
  const skeleton = skeletonOf(cells);
  const tempo = tempoOf(prompt);
  const bones = skeleton.joints.map(({ name }) => document.createNode(name));
  skeleton.joints.forEach((joint, index) => hang(skeleton.joints, bones, joint, index));
  const skin = newSkin(document, skeleton, bones);
  addClip(document, skeleton, bones, tempo);
  const nodes = pieces.map(({ name, shape, material }) => {
    const influences = influencesOf(shape, cells, skeleton.weights, skeleton.joints.length);
    return addPiece(document, { name, shape, material, influences }).setSkin(skin);
  });
  const [root] = bones;
  return {
    nodes: root === undefined ? nodes : [root, ...nodes],
    extras: { joints: bones.length, limbs: skeleton.limbs.length, clip: tempo.name },
  };
}

function tempoOf(prompt: string): Tempo {
  const has = (words: string): boolean => new RegExp(`\\b(?:${words})`, "i").test(prompt);
  if (has("danc|jump|excited|happy|party")) return { name: "Dance", seconds: 1, strength: 1.6, bounce: 0.05 };
  if (has("run|fast|quick|gallop|sprint")) return { name: "Run", seconds: 0.8, strength: 1.4, bounce: 0.03 };
  if (has("walk|march|stroll")) return { name: "Walk", seconds: 1.4, strength: 1.1, bounce: 0.015 };
  if (has("idle|breath|calm|slow|sleep|gentl|subtle"))
    return { name: "Idle", seconds: 4, strength: 0.4, bounce: 0.008 };
  return { name: "Move", seconds: 2, strength: 1, bounce: 0.015 };
}

function hang(joints: readonly Joint[], bones: readonly Node[], { at, parent }: Joint, index: number): void {
  const bone = bones[index];
  if (parent === null) bone?.setTranslation([...at]);
  else if (bone !== undefined) {
    bone.setTranslation([...sub(at, joints[parent]?.at ?? [0, 0, 0])]);
    bones[parent]?.addChild(bone);
  }
}

/** Joints are not turned at rest, so that the inverse of each is only its place. */
function newSkin(document: Document, { joints }: Skeleton, bones: readonly Node[]): Skin {
  const matrices = new Float32Array(16 * joints.length);
  joints.forEach(({ at: [x, y, z] }, index) => {
    matrices.set([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, -x, -y, -z, 1], 16 * index);
  });
  const skin = document.createSkin("Skeleton").setInverseBindMatrices(accessor(document, "MAT4", matrices));
  for (const bone of bones) skin.addJoint(bone);
  const [root] = bones;
  return root === undefined ? skin : skin.setSkeleton(root);
}

function addClip(document: Document, { joints, limbs }: Skeleton, bones: readonly Node[], tempo: Tempo): void {
  const shares = Array.from({ length: KEYS + 1 }, (_, key) => key / KEYS);
  const times = accessor(
    document,
    "SCALAR",
    Float32Array.from(shares, (share) => share * tempo.seconds),
  );
  const clip = document.createAnimation(tempo.name);
  const add = (
    bone: Node | undefined,
    path: "rotation" | "translation",
    values: readonly (readonly number[])[],
  ): void => {
    if (bone === undefined) return;
    const output = accessor(document, path === "rotation" ? "VEC4" : "VEC3", Float32Array.from(values.flat()));
    const sampler = document.createAnimationSampler().setInput(times).setOutput(output).setInterpolation("LINEAR");
    const channel = document.createAnimationChannel().setTargetNode(bone).setTargetPath(path).setSampler(sampler);
    clip.addSampler(sampler).addChannel(channel);
  };
  const [root] = joints;
  const size = Math.max(...limbs.map(({ direction }) => length(direction)), 0);
  const [x, y, z] = root?.at ?? [0, 0, 0];
  add(
    bones[0],
    "translation",
    shares.map((share) => [x, y + (size * tempo.bounce * (1 - Math.cos(4 * Math.PI * share))) / 2, z]),
  );
  limbs.forEach((limb, index) => {
    const { axis, phase } = swingOf(limb, index);
    limb.joints.forEach((joint, step) => {
      const degrees = (TURN_DEGREES[step] ?? 0) * tempo.strength;
      const angle = (share: number): number => degrees * wave(share - phase - LAG * step);
      add(
        bones[joint],
        "rotation",
        shares.map((share) => turn(axis, angle(share))),
      );
    });
  });
}

const wave = (share: number): number => Math.sin(2 * Math.PI * share);

interface Swing {
  readonly axis: Vec3;
  /** 0 to 1. */
  readonly phase: number;
}

/** Legs step to the front and back, left against right; arms and wings beat together; heads and tails wag. */
function swingOf({ direction: [x, y, z] }: Limb, index: number): Swing {
  const [wide, high, deep] = [Math.abs(x), Math.abs(y), Math.abs(z)];
  if (y < 0 && high >= 0.6 * wide) return { axis: [1, 0, 0], phase: x < 0 === z < 0 ? 0 : 0.5 };
  if (wide >= Math.max(high, deep) * 0.8) return { axis: [0, 0, x > 0 ? 1 : -1], phase: 0.1 };
  if (deep >= high) return { axis: [0, 1, 0], phase: z > 0 ? 0 : 0.25 };
  return { axis: [0, 0, 1], phase: (index % 2) * 0.25 };
}

/** A unit quaternion. */
function turn([x, y, z]: Vec3, degrees: number): readonly number[] {
  const half = (degrees * Math.PI) / 360;
  const sin = Math.sin(half);
  return [x * sin, y * sin, z * sin, Math.cos(half)];
}
