import { afterAll, describe, expect, test } from "bun:test";

import { createSandboxMedia, type MeshTransformation } from "#workers/providers/sandbox/media/index.ts";
import { changeMesh } from "#workers/providers/sandbox/media/mesh/transform/transform.ts";

import { ball, blocks, packedForms, twoColours } from "./mesh-foreign.ts";
import {
  areaOf,
  boundsApart,
  clipOf,
  cornersOf,
  extent,
  factsOf,
  farApart,
  faultsOf,
  posedAt,
  type MeshFacts,
} from "./mesh-reading.ts";

type Operation = MeshTransformation["operation"];

const media = createSandboxMedia();
afterAll(() => media.close());

const fox = once(async () => (await media.makeMesh({ prompt: "a fox", seed: 1 })).bytes);
const chair = once(async () => (await media.makeMesh({ prompt: "a wooden chair", seed: 1 })).bytes);
const body = once(() => ball());
const three = once(() => blocks(3));

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}

/** Without a child of its own, which the pool would start for every call. */
async function change(
  operation: Operation,
  mesh: Uint8Array,
  {
    prompt = "",
    seed = 1,
    image,
  }: { readonly prompt?: string; readonly seed?: number; readonly image?: Uint8Array } = {},
): Promise<Uint8Array> {
  const bytes = await changeMesh({ operation, prompt, seed }, mesh, image);
  expect(await faultsOf(bytes)).toEqual([]);
  return bytes;
}

const changed = async (...call: Parameters<typeof change>): Promise<MeshFacts> => factsOf(await change(...call));

/** The same places on both sides; what is asked of some corners holds for all of such a surface. */
function expectSamePlaces(before: MeshFacts, after: MeshFacts): void {
  expect(after.triangles).toBe(before.triangles);
  expect(farApart(before, after, 61)).toBeLessThan(1e-6);
  expect(farApart(after, before, 61)).toBeLessThan(1e-6);
}

describe("every transformation", () => {
  test.each(["remesh", "retexture", "segment", "rig"] as const)(
    "%s says so in the file, and is the same for the same prompt and seed",
    async (operation) => {
      const mesh = await body();
      const rest = { prompt: "blue wood", seed: 3 };
      const [one, { bytes: again }] = await Promise.all([
        change(operation, mesh, rest),
        media.transformMesh({ operation, mesh, ...rest }),
      ]);
      expect(again).toEqual(one);
      expect(one).not.toEqual(mesh);
      expect((await factsOf(one)).extras).toMatchObject({ operation, prompt: "blue wood", seed: 3 });
    },
  );

  test.each([
    ["remesh", "a glass vase with red tulips"],
    ["retexture", "a robot"],
    ["segment", "a sword"],
    ["rig", "a lantern"],
  ] as const)("%s takes what the sandbox makes of %p", async (operation, prompt) => {
    const { bytes } = await media.makeMesh({ prompt, seed: 4 });
    expect((await changed(operation, bytes)).triangles).toBeGreaterThan(100);
  });

  test.each(["remesh", "retexture", "segment", "rig"] as const)(
    "%s takes strips and fans of small whole numbers",
    async (operation) => {
      const { min, max, triangles } = await changed(operation, await packedForms(), { prompt: "wood" });
      expect(triangles).toBeGreaterThanOrEqual(8 + 16);
      expect(max[0] - min[0]).toBeCloseTo(7.3, 0);
    },
  );

  test("takes what the one before has made", async () => {
    let mesh = await three();
    for (const operation of ["rig", "retexture", "segment", "rig", "remesh"] as const) {
      mesh = await change(operation, mesh, { prompt: "red marble" });
    }
    expect(boundsApart(await factsOf(await three()), await factsOf(mesh))).toBeLessThan(0.02);
  });
});

describe("a remesh", () => {
  test.each([
    ["a fox", fox, 0.04],
    ["a foreign body", body, 0.08],
  ] as const)("of %s has far fewer triangles in the same form", async (_name, source, tolerance) => {
    const before = await factsOf(await source());
    const after = await changed("remesh", await source());
    expect(after.triangles).toBeLessThan(0.4 * before.triangles);
    expect(after.triangles).toBeGreaterThan(0.05 * before.triangles);
    expect(boundsApart(before, after)).toBeLessThan(0.02);
    expect(Math.abs(after.area / before.area - 1)).toBeLessThan(0.03);
    expect(farApart(before, after, 97)).toBeLessThan(tolerance);
    expect(after.extras).toMatchObject({ trianglesBefore: before.triangles, triangles: after.triangles });
  });

  test("keeps the materials", async () => {
    const names = ({ materials }: MeshFacts): string[] => materials.map((material) => material.getName()).toSorted();
    expect(names(await changed("remesh", await fox()))).toEqual(names(await factsOf(await fox())));
  });

  test("follows a number, a share and a style in the prompt", async () => {
    const before = await factsOf(await body());
    expect((await changed("remesh", await body(), { prompt: "about 500 triangles" })).triangles).toBeLessThan(540);
    const half = await changed("remesh", await body(), { prompt: "50%" });
    expect(half.triangles / before.triangles).toBeCloseTo(0.5, 1);
    const low = await changed("remesh", await body(), { prompt: "low poly" });
    expect(low.triangles).toBeLessThan(0.12 * before.triangles);
  });

  test("of blocks that have no triangle too many makes them regular", async () => {
    const before = await factsOf(await three());
    const after = await changed("remesh", await three());
    expect(longestEdge(before)).toBeGreaterThan(1.4);
    expect(longestEdge(after)).toBeLessThan(0.72);
    expect(after.area).toBeCloseTo(before.area, 3);
    expect(boundsApart(before, after)).toBe(0);
  });
});

describe("a retexture", () => {
  test.each([
    ["a fox", fox],
    ["a foreign body", body],
    ["blocks", three],
  ] as const)("of %s leaves every triangle in its place and changes every material", async (_name, source) => {
    const before = await factsOf(await source());
    const after = await changed("retexture", await source(), { prompt: "blue marble" });
    expectSamePlaces(before, after);
    expect(after.materials.length).toBeGreaterThan(0);
    for (const material of after.materials) {
      expect(material.getName()).toStartWith("marble ");
      expect(material.getBaseColorTexture()).not.toBeNull();
    }
    expect(
      after.document
        .getRoot()
        .listTextures()
        .map((texture) => texture.getName()),
    ).not.toContain("checks");
  });

  test("takes materials, colours and things from the prompt, and chooses by the seed where it has none", async () => {
    const main = async (prompt: string, seed = 1): Promise<string> =>
      (await changed("retexture", await body(), { prompt, seed })).materials[0]?.getName() ?? "";
    expect(await main("rusty metal")).toStartWith("rust ");
    expect(await main("gold")).toBe("gold #ffc95c");
    expect(await main("like a zebra")).toStartWith("striped ");
    expect(await main("a strawberry")).not.toBe(await main("a snowman"));
    expect(await main("something nice", 1)).not.toBe(await main("something nice", 2));
  });

  test("wears a given picture", async () => {
    const { materials } = await changed("retexture", await three(), { image: twoColours() });
    expect(materials.map((material) => material.getBaseColorTexture()?.getSize())).toEqual([[64, 64]]);
  });
});

describe("a segmentation", () => {
  test("gives each block a part of its own, with a name and a colour", async () => {
    const { document, names, extras } = await changed("segment", await three());
    expect(names).toEqual(["Block 1", "Block 2", "Block 3"]);
    expect(extras["parts"]).toEqual(names);
    const nodes = document.getRoot().listScenes()[0]?.listChildren() ?? [];
    for (const node of nodes) {
      const { min, max } = extent(cornersOf(node));
      expect([0, 1, 2].map((axis) => (max[axis] ?? 0) - (min[axis] ?? 0))).toEqual([1, 1, 1]);
    }
    const colours = document
      .getRoot()
      .listMaterials()
      .map((material) => material.getBaseColorFactor().join());
    expect(new Set(colours).size).toBe(3);
  });

  test.each([
    ["a fox", fox],
    ["a chair", chair],
    ["a foreign body", body],
  ] as const)("of %s has the same surface in several parts that differ in name", async (_name, source) => {
    const before = await factsOf(await source());
    const after = await changed("segment", await source());
    const nodes = after.document.getRoot().listScenes()[0]?.listChildren() ?? [];
    expect(nodes.length).toBeGreaterThanOrEqual(6);
    expect(new Set(after.names).size).toBe(nodes.length);
    expectSamePlaces(before, after);
    expect(Math.abs(after.area / before.area - 1)).toBeLessThan(1e-5);
    for (const node of nodes) {
      const share = areaOf(cornersOf(node)) / after.area;
      expect(share).toBeGreaterThan(0);
      expect((node.getExtras() as { areaShare: number }).areaShare).toBeCloseTo(share, 3);
    }
  });

  test("has as many parts as the prompt wants, from loose ones or from one body", async () => {
    const count = async (mesh: Uint8Array, prompt: string): Promise<number> =>
      (await changed("segment", mesh, { prompt })).names.length;
    expect(await count(await body(), "into 4 parts")).toBe(4);
    expect(await count(await three(), "two pieces")).toBe(2);
    expect(await count(await fox(), "ten parts please")).toBe(10);
  });

  test("keeps the materials where the prompt wants it", async () => {
    const { materials } = await changed("segment", await three(), { prompt: "keep the materials" });
    expect(materials.map((material) => material.getName())).toEqual(["Checks"]);
  });
});

describe("a rig", () => {
  test.each([
    ["a fox", fox],
    ["a foreign body", body],
    ["blocks", three],
  ] as const)("of %s has joints, and weights that are whole on every point", async (_name, source) => {
    const { document, extras } = await changed("rig", await source());
    const [skin, ...others] = document.getRoot().listSkins();
    expect(others).toEqual([]);
    const joints = skin?.listJoints() ?? [];
    expect(joints.length).toBeGreaterThanOrEqual(4);
    expect(extras["joints"]).toBe(joints.length);
    expect(new Set(joints.map((joint) => joint.getName())).size).toBe(joints.length);
    const bones = joints.map((joint, index) => ({
      world: joint.getWorldMatrix(),
      inverse: skin?.getInverseBindMatrices()?.getElement(index, []) ?? [],
    }));
    for (const { world, inverse } of bones) {
      for (const at of [12, 13, 14]) expect((world[at] ?? 0) + (inverse[at] ?? 0)).toBeCloseTo(0, 5);
    }
    const used = new Set<number>();
    for (const mesh of document.getRoot().listMeshes()) {
      for (const primitive of mesh.listPrimitives()) {
        const [named, weights] = [primitive.getAttribute("JOINTS_0"), primitive.getAttribute("WEIGHTS_0")];
        for (let vertex = 0; vertex < (weights?.getCount() ?? 0); vertex += 1) {
          const shares = weights?.getElement(vertex, []) ?? [];
          expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 6);
          named?.getElement(vertex, []).forEach((joint, at) => (shares[at] ?? 0) > 0 && used.add(joint));
        }
      }
    }
    expect(used.size).toBeGreaterThanOrEqual(3);
    expect(Math.max(...used)).toBeLessThan(joints.length);
  });

  test("stands at rest as before, moves in its clip, and ends where it began", async () => {
    const before = await factsOf(await fox());
    const glb = await change("rig", await fox());
    const rest = await factsOf(glb);
    expectSamePlaces(before, rest);
    const clip = clipOf(rest.document);
    expect(clip.listChannels().length).toBeGreaterThan(8);
    const keys = clip.listSamplers()[0]?.getInput()?.getCount() ?? 0;
    for (const sampler of clip.listSamplers()) {
      const output = sampler.getOutput();
      const [first, last] = [output?.getElement(0, []) ?? [], output?.getElement(keys - 1, []) ?? []];
      first.forEach((value, at) => expect(last[at]).toBeCloseTo(value, 5));
    }
    // Standing still in the pose of one key: a file without a skin shows where the skeleton puts each point.
    const posed = await changed("remesh", await posedAt(glb, 6), { prompt: "999999 triangles" });
    const moves = posed.corners.map((corner, at) => {
      const [x, y, z] = rest.corners[at] ?? [0, 0, 0];
      return Math.hypot(corner[0] - x, corner[1] - y, corner[2] - z);
    });
    expect(posed.triangles).toBe(rest.triangles);
    expect(Math.max(...moves)).toBeGreaterThan(0.03);
    expect(Math.max(...moves)).toBeLessThan(0.6);
    expect(Math.abs(posed.area / rest.area - 1)).toBeLessThan(0.1);
  });

  test("has the clip that the prompt names", async () => {
    const clip = async (prompt: string): Promise<string> =>
      clipOf((await changed("rig", await three(), { prompt })).document).getName();
    expect(await clip("let it dance")).toBe("Dance");
    expect(await clip("walking")).toBe("Walk");
    expect(await clip("")).toBe("Move");
  });
});

function longestEdge({ corners }: MeshFacts): number {
  let longest = 0;
  corners.forEach((a, at) => {
    const b = corners[at % 3 === 2 ? at - 2 : at + 1] ?? a;
    longest = Math.max(longest, Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]));
  });
  return longest;
}
