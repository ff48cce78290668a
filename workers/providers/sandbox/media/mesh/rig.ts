/** Adds a skeleton to a mesh: three bones in a row along its longest axis, and a short swaying animation. */
import type { Document, Node } from "@gltf-transform/core";

import { accessorOf, piecesOf, positionsOf } from "./document.ts";
import { longestAxis, type LongestAxis } from "./longest-axis.ts";

const BONES = 3;
/** Key times in seconds and half angles in radians of the animation, which ends as it begins, so that it loops. */
const SWAY = { seconds: [0, 0.5, 1, 1.5, 2], halfAngles: [0, 0.08, 0, -0.08, 0] };

export function rig(document: Document): void {
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

/** Each vertex follows the two bones whose centres are next to it, with two weights that add up to 1. */
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

/** Returns the transformations from mesh space to bone space: bones are in a row and not rotated. */
function bindMatrices({ axis, from, length }: LongestAxis): Float32Array {
  const matrices = new Float32Array(16 * BONES);
  for (let bone = 0; bone < BONES; bone += 1) {
    for (const diagonal of [0, 5, 10, 15]) matrices[16 * bone + diagonal] = 1;
    matrices[16 * bone + 12 + axis] = -(from + (bone * length) / BONES);
  }
  return matrices;
}

/** Rotates all bones except the first sideways. */
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
