import { afterAll, describe, expect, test } from "bun:test";

import { MediaError } from "#shared/media/media-error.ts";
import { renderMesh } from "#tests/support/render-mesh.ts";
import { createSandboxMedia } from "#workers/providers/sandbox/media/index.ts";

import { twoColours } from "./mesh-foreign.ts";
import { cornersOf, extent, factsOf, faultsOf, sizeOf, type MeshFacts } from "./mesh-reading.ts";

const media = createSandboxMedia();
afterAll(() => media.close());

async function make(prompt: string, seed = 1, image?: Uint8Array): Promise<Uint8Array> {
  return (await media.makeMesh({ prompt, seed, image })).bytes;
}

const PROMPTS = [
  "a red sports car",
  "a golden dragon",
  "a wooden chair",
  "a blue ceramic teapot",
  "a fox",
  "a glass vase with red tulips",
  "low poly tree",
  "a marble statue of a horse",
  "a robot",
  "three green apples in a bowl",
  "a striped cat",
  "a chocolate donut",
  "a lighthouse on a rock",
  "a rusty key",
  "a crystal",
  "a neon heart",
  "un chat bleu",
  "ein rotes Haus",
  "a volcano",
  "a knitted teddy bear",
  "a wistful qwertz",
  "",
];
// Begun together, for both children to work on; awaited by the tests below.
const made = new Map(PROMPTS.map((prompt) => [prompt, make(prompt)] as const));
for (const job of made.values()) job.catch(() => {});

const facts = async (prompt: string, seed = 1): Promise<MeshFacts> => factsOf(await make(prompt, seed));

const materialNames = ({ materials }: MeshFacts): string => materials.map((material) => material.getName()).join(", ");

async function fault(job: Promise<unknown>): Promise<string> {
  const error = await job.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(MediaError);
  return (error as MediaError).fault;
}

describe("a mesh", () => {
  test.each(PROMPTS)(
    "of %p is a file that the validator has nothing against, and stands on the ground",
    async (prompt) => {
      const glb = (await made.get(prompt)) ?? new Uint8Array(0);
      expect(await faultsOf(glb)).toEqual([]);
      expect(glb.byteLength).toBeLessThan(4_000_000);
      const { triangles, min, max, extras, materials } = await factsOf(glb);
      expect(triangles).toBeGreaterThan(300);
      expect(triangles).toBeLessThan(32_000);
      expect(materials.length).toBeGreaterThan(0);
      expect(extras).toEqual({ prompt, seed: 1 });
      expect(Math.abs(min[1])).toBeLessThan(0.01 * (max[1] - min[1]));
    },
  );

  test("is the same for the same seed, and another for another seed or prompt", async () => {
    const [one, again, other, else_] = await Promise.all([
      make("an amphora"),
      make("an amphora"),
      make("an amphora", 2),
      make("a green amphora"),
    ]);
    expect(again).toEqual(one);
    expect(other).not.toEqual(one);
    expect(else_).not.toEqual(one);
  });

  test("names its things, as many as the prompt says", async () => {
    expect((await facts("three cups and a spoon")).names).toEqual(["Cup 1", "Cup 2", "Cup 3"]);
    expect((await facts("a sword and a shield")).names.toSorted()).toEqual(["Shield", "Sword"]);
  });

  test("puts a thing on the other where the prompt does", async () => {
    const { document } = await facts("a duck on a table");
    const heights = Object.fromEntries(
      (document.getRoot().listScenes()[0]?.listChildren() ?? []).map((node) => [
        node.getName(),
        extent(cornersOf(node)),
      ]),
    );
    expect(heights["Duck"]?.min[1]).toBeCloseTo(heights["Table"]?.max[1] ?? 0, 2);
    expect(heights["Table"]?.min[1]).toBeCloseTo(0, 3);
  });

  test("is of the material that the prompt names", async () => {
    const gold = await facts("a golden cup");
    expect(materialNames(gold)).toContain("gold");
    expect(gold.materials.some((material) => material.getMetallicFactor() === 1)).toBe(true);
    const glass = await facts("a glass cup");
    expect(glass.materials.some((material) => material.getExtension("KHR_materials_transmission") !== null)).toBe(true);
    const wood = await facts("a wooden cup");
    expect(materialNames(wood)).toContain("wood");
    expect(wood.materials.some((material) => material.getBaseColorTexture() !== null)).toBe(true);
    const neon = await facts("a neon star");
    expect(neon.materials.some((material) => Math.max(...material.getEmissiveFactor()) > 0.5)).toBe(true);
  });

  test("shows the colour that the prompt names, and does not where it names another", async () => {
    const [red, blue] = [await shares(await make("a red sports car")), await shares(await make("a blue sports car"))];
    expect(red.red).toBeGreaterThan(0.3);
    expect(red.blue).toBeLessThan(0.05);
    expect(blue.blue).toBeGreaterThan(0.3);
    expect(blue.red).toBeLessThan(0.05);
  });

  test("is larger, taller and coarser where the prompt says so", async () => {
    const [usual, giant, low] = [await facts("a pawn"), await facts("a giant pawn"), await facts("a low poly pawn")];
    expect(sizeOf(giant)).toBeCloseTo(2 * sizeOf(usual), 1);
    expect(low.triangles).toBeLessThan(usual.triangles / 4);
    const slender = ({ min, max }: MeshFacts): number => (max[1] - min[1]) / (max[0] - min[0]);
    expect(slender(await facts("a tall pawn"))).toBeGreaterThan(1.15 * slender(usual));
  });

  test.each([
    ["markup", '</text></svg><image href="file:///etc/passwd"/>&<>"'],
    ["control characters and half a character", "a\u0000b\u001b[31m\ud800 c"],
    ["nothing but an emoji", "😀"],
    ["words that objects inherit", "constructor toString __proto__ hasOwnProperty"],
    ["more things than fit", "nine cats and nine dogs and nine cars ".repeat(400)],
  ])("is made of a prompt of %s", async (_name, prompt) => {
    const glb = await make(prompt, 7);
    expect(await faultsOf(glb)).toEqual([]);
    expect((await factsOf(glb)).triangles).toBeGreaterThan(300);
  });
});

describe("a mesh with a picture", () => {
  test("wears it where the prompt names a thing", async () => {
    const glb = await make("a cup", 1, twoColours());
    expect(await faultsOf(glb)).toEqual([]);
    const { materials, names } = await factsOf(glb);
    expect(names).toEqual(["Cup"]);
    const worn = materials.find((material) => material.getName().includes("given picture"));
    expect(worn?.getBaseColorTexture()?.getSize()).toEqual([64, 64]);
    const { red, blue } = await shares(glb);
    expect(red).toBeGreaterThan(0.1);
    expect(blue).toBeGreaterThan(0.1);
  });

  test("is a relief of it where the prompt names none: framed, or cut out along its clear edge", async () => {
    const [whole, cut] = [
      await make("what I saw", 1, twoColours()),
      await make(
        "",
        1,
        twoColours((x, y) => (Math.hypot(x - 32, y - 32) < 24 ? 255 : 0)),
      ),
    ];
    for (const glb of [whole, cut]) expect(await faultsOf(glb)).toEqual([]);
    const parts = async (glb: Uint8Array): Promise<string[]> =>
      (await factsOf(glb)).document
        .getRoot()
        .listMeshes()
        .map((mesh) => mesh.getName())
        .toSorted();
    expect(await parts(whole)).toEqual(["Back", "Frame", "Relief"]);
    expect(await parts(cut)).toEqual(["Relief", "Stand"]);
  });

  test.each([
    ["text", "unsupported", (_png: Uint8Array) => new TextEncoder().encode("hello")],
    ["a picture that was cut off", "corrupt", (png: Uint8Array) => png.subarray(0, png.length / 2)],
  ] as const)("refuses %s as %s", async (_name, kind, spoil) => {
    expect(await fault(media.makeMesh({ prompt: "a cup", seed: 1, image: spoil(twoColours()) }))).toBe(kind);
  });
});

/** Shares of the thing's pixels that are clearly red, and clearly blue. */
async function shares(glb: Uint8Array): Promise<{ readonly red: number; readonly blue: number }> {
  const { data } = await renderMesh(glb, { width: 96, height: 96, turnDegrees: 25, hasFloor: false });
  let [all, red, blue] = [0, 0, 0];
  for (let at = 0; at < data.length; at += 4) {
    if ((data[at + 3] ?? 0) < 200) continue;
    const [r = 0, g = 0, b = 0] = data.subarray(at, at + 3);
    all += 1;
    if (r > 1.5 * g && r > 1.5 * b) red += 1;
    if (b > 1.4 * r && b > 1.1 * g) blue += 1;
  }
  return { red: red / all, blue: blue / all };
}
