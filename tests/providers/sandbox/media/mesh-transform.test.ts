import { beforeAll, describe, expect, test } from "bun:test";

import type { Document } from "@gltf-transform/core";

import { pngOf } from "#tests/support/png.ts";
import { makeMesh } from "#workers/providers/sandbox/media/mesh/make.ts";
import { type MeshTransformParams, transformMesh } from "#workers/providers/sandbox/media/mesh/transform.ts";

import { balls, blocks, compact, readGlb, validated } from "#tests/support/meshes.ts";

const OPERATIONS = ["remesh", "retexture", "segment", "rig"] as const;
const files: Record<string, Uint8Array> = {};
const NAMES = ["vase", "blocks", "balls", "compact"];

beforeAll(async () => {
  const vase = makeMesh({ prompt: "a vase", seed: 1 });
  const all = await Promise.all([vase, blocks(3), balls(), compact()]);
  all.forEach((bytes, at) => (files[NAMES[at] ?? ""] = bytes));
});

function transform(
  operation: MeshTransformParams["operation"],
  name: string,
  more: { prompt?: string; image?: Uint8Array } = {},
) {
  const { prompt = "", image } = more;
  return transformMesh({ operation, prompt, seed: 1 }, files[name] ?? new Uint8Array(0), image);
}

const trianglesOf = async (glb: Uint8Array): Promise<number> => (await validated(glb)).info.totalTriangleCount;

const textureOf = (document: Document): Uint8Array | null | undefined =>
  document.getRoot().listMeshes()[0]?.listPrimitives()[0]?.getMaterial()?.getBaseColorTexture()?.getImage();

describe.each(NAMES)("a mesh (%s)", (name) => {
  test.each(OPERATIONS)("after %s is a valid file, equal each time", async (operation) => {
    const glb = await transform(operation, name);
    expect((await validated(glb)).faults).toEqual([]);
    expect(await transform(operation, name)).toEqual(glb);
  });

  test("that is segmented has all its triangles in named parts of different colours", async () => {
    const glb = await transform("segment", name);
    const root = (await readGlb(glb)).getRoot();
    const parts = root.listNodes().map((node) => node.getName());
    expect(parts.length).toBeGreaterThanOrEqual(2);
    expect(new Set(parts).size).toBe(parts.length);
    expect(new Set(root.listMaterials().map((material) => material.getBaseColorFactor().join())).size).toBe(
      parts.length,
    );
    expect(await trianglesOf(glb)).toBe(await trianglesOf(await transform("rig", name)));
  });

  test("that is rigged has three joints, complete weights on every point, and a cyclic animation", async () => {
    const root = (await readGlb(await transform("rig", name))).getRoot();
    expect(root.listSkins().map((skin) => skin.listJoints().length)).toEqual([3]);
    const shown = root.listNodes().filter((node) => node.getMesh() !== null);
    for (const node of shown) {
      expect(node.getSkin()).toBe(root.listSkins()[0] ?? null);
      const weights = node.getMesh()?.listPrimitives()[0]?.getAttribute("WEIGHTS_0");
      for (let vertex = 0; vertex < (weights?.getCount() ?? 0); vertex += 1) {
        expect(weights?.getElement(vertex, []).reduce((sum, weight) => sum + weight, 0)).toBeCloseTo(1, 6);
      }
    }
    const channels = root.listAnimations()[0]?.listChannels() ?? [];
    expect(channels.map((channel) => channel.getTargetNode()?.getName())).toEqual(["Bone 2", "Bone 3"]);
    const turns = channels[0]?.getSampler()?.getOutput();
    expect(turns?.getElement(0, [])).toEqual(turns?.getElement((turns?.getCount() ?? 0) - 1, []) ?? []);
    expect(turns?.getElement(1, [])).not.toEqual(turns?.getElement(0, []) ?? []);
  });
});

test("a remeshed mesh has about half the triangles", async () => {
  for (const name of ["vase", "balls"]) {
    const before = await trianglesOf(await transform("rig", name));
    const share = (await trianglesOf(await transform("remesh", name))) / before;
    expect(share).toBeGreaterThan(0.4);
    expect(share).toBeLessThan(0.6);
  }
});

test("a retextured mesh has the image, or a pattern by prompt, on every part", async () => {
  const own = textureOf(await readGlb(files["blocks"] ?? new Uint8Array(0)));
  const red = await readGlb(await transform("retexture", "blocks", { prompt: "red" }));
  const image = await readGlb(await transform("retexture", "blocks", { image: pngOf(32, 8) }));
  expect(textureOf(red)).not.toEqual(own);
  expect(textureOf(red)).not.toEqual(
    textureOf(await readGlb(await transform("retexture", "blocks", { prompt: "blue" }))),
  );
  expect(
    image
      .getRoot()
      .listTextures()
      .map((texture) => texture.getSize()),
  ).toEqual([[32, 8]]);
  const bare = await readGlb(await transform("retexture", "balls"));
  const pieces = bare
    .getRoot()
    .listMeshes()
    .flatMap((mesh) => mesh.listPrimitives());
  expect(pieces.map((piece) => piece.getAttribute("TEXCOORD_0") !== null)).toEqual([true, true]);
});

test("parts keep the positions of their nodes, with their faces outside", async () => {
  const root = (await readGlb(await transform("rig", "balls"))).getRoot();
  const [turned, mirrored] = root.listMeshes().map((mesh) => mesh.listPrimitives()[0]);
  expect(mirrored?.getAttribute("POSITION")?.getMin([])[1]).toBeCloseTo(-1);
  expect(mirrored?.getAttribute("POSITION")?.getMax([])[1]).toBeCloseTo(5);
  expect(turned?.getIndices()?.getArray()).not.toEqual(mirrored?.getIndices()?.getArray() ?? null);
});
