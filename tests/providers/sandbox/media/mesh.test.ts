import { afterAll, describe, expect, test } from "bun:test";

import sharp from "sharp";

import { pngOf } from "#tests/support/png.ts";
import { createSandboxMedia } from "#workers/providers/sandbox/media/index.ts";
import { PRIMITIVES } from "#workers/providers/sandbox/media/mesh/make.ts";

import { readGlb, refusalOf, validated } from "#tests/support/meshes.ts";

const media = createSandboxMedia();
afterAll(() => media.close());

async function make(prompt: string, seed = 1, image?: Uint8Array): Promise<Uint8Array> {
  return (await media.makeMesh({ prompt, seed, image })).bytes;
}

describe("a mesh", () => {
  test.each(Object.keys(PRIMITIVES))("of a prompt for a %s has that shape, and is a valid file", async (name) => {
    const glb = await make(`a nice ${name}`);
    expect((await validated(glb)).faults).toEqual([]);
    const root = (await readGlb(glb)).getRoot();
    expect(root.listNodes().map((node) => node.getName())).toEqual([name]);
    const [primitive] = root.listMeshes()[0]?.listPrimitives() ?? [];
    expect(primitive?.listSemantics().toSorted()).toEqual(["NORMAL", "POSITION", "TEXCOORD_0"]);
    expect(root.getAsset()["extras"]).toEqual({ prompt: `a nice ${name}`, seed: 1 });
  });

  test("is equal for the same seed, and different for another seed or prompt", async () => {
    const [one, again, ...others] = await Promise.all([make("fox"), make("fox"), make("fox", 2), make("red fox")]);
    expect(again).toEqual(one);
    for (const other of others) expect(other).not.toEqual(one);
  });

  test.each([
    ["markup", '</text></svg><image href="file:///etc/passwd"/>&<>"'],
    ["control characters and half a character", "a\u0000b\u001b[31m\ud800 c"],
    ["nothing", ""],
    ["more characters than are looked at", "🦊".repeat(5_000)],
  ])("is generated from a prompt of %s", async (_name, prompt) => {
    expect((await validated(await make(prompt, 7))).faults).toEqual([]);
  });

  test("has the colour that the prompt names", async () => {
    const [red, blue] = await Promise.all(
      ["a red ball", "a blue ball"].map(async (prompt) => meanOf(await make(prompt))),
    );
    expect(red?.[0]).toBeGreaterThan(red?.[2] ?? 255);
    expect(blue?.[2]).toBeGreaterThan(blue?.[0] ?? 255);
  });

  test("has the caller's image as its texture, scaled down if it is large", async () => {
    const glb = await make("a box", 1, pngOf(2_000, 500, [220, 20, 30]));
    expect((await validated(glb)).faults).toEqual([]);
    const [texture] = (await readGlb(glb)).getRoot().listTextures();
    expect(texture?.getSize()).toEqual([1_024, 256]);
    const [red = 0, , blue = 0] = await meanOf(glb);
    expect([Math.abs(red - 220) < 4, Math.abs(blue - 30) < 4]).toEqual([true, true]);
  });

  test.each([
    ["text", "unsupported", Buffer.from("hello")],
    ["an SVG", "unsupported", Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')],
    ["an image that was cut off", "corrupt", pngOf(64, 64).subarray(0, 60)],
    ["an image of too many pixels", "too_large", Buffer.from(pngOf(1, 1).fill(0x7f, 17, 19))],
  ])("with %s as its image is rejected as %s", async (_name, fault, image) => {
    const message = expect.stringMatching(/^The image /);
    expect(await refusalOf(make("a cup", 1, image))).toMatchObject({ fault, message });
  });
});

/** Red, green and blue of the texture, 0 to 255. */
async function meanOf(glb: Uint8Array): Promise<readonly number[]> {
  const [texture] = (await readGlb(glb)).getRoot().listTextures();
  const { channels } = await sharp(texture?.getImage() ?? Buffer.alloc(0)).stats();
  return channels.map(({ mean }) => mean);
}
