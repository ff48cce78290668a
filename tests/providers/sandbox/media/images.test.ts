/** The sandbox's images: made of a prompt, and edited behind a mask. */
import { afterAll, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";

import sharp, { type Raw } from "sharp";

import { MediaError } from "#shared/children/media-error.ts";
import { pngResized } from "#tests/support/png.ts";
import { editImage } from "#workers/providers/sandbox/media/image/edit.ts";
import { createSandboxMedia } from "#workers/providers/sandbox/media/index.ts";

const media = createSandboxMedia();
afterAll(() => media.close());

const params = { prompt: "a house in a meadow", seed: 1, width: 256, height: 256, format: "png" } as const;

/** Width of the image that is edited. */
const WIDTH = 200;

interface Decoded {
  readonly data: Buffer;
  readonly info: Raw;
}

function decode(bytes: Uint8Array): Promise<Decoded> {
  return sharp(bytes).raw().toBuffer({ resolveWithObject: true });
}

/** Rows from `top` on, as the share of channels that differ clearly between the two. */
function difference(one: Decoded, other: Decoded, top = 0, bottom = one.info.height): number {
  const row = one.info.width * one.info.channels;
  let changed = 0;
  for (let at = top * row; at < bottom * row; at += 1) {
    if (Math.abs((one.data[at] ?? 0) - (other.data[at] ?? 0)) > 24) changed += 1;
  }
  return changed / (row * (bottom - top));
}

async function faultOf(job: Promise<unknown>): Promise<MediaError> {
  const error = await job.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof MediaError)) throw new Error("expected a MediaError");
  return error;
}

describe("an image", () => {
  test.each([
    [1, 1, "png"],
    [256, 256, "png"],
    [1_792, 1_024, "png"],
    [384, 640, "jpeg"],
    [512, 512, "webp"],
    [4_096, 64, "png"],
    [33, 2_301, "webp"],
  ] as const)("of %p × %p as %s has exactly that size and format", async (width, height, format) => {
    const { bytes } = await media.makeImage({ ...params, width, height, format });
    expect(await new Bun.Image(bytes).metadata()).toEqual({ width, height, format });
  });

  test("has the same bytes for the same seed in another process, and others for another seed", async () => {
    const elsewhere = createSandboxMedia();
    const [one, again, other] = await Promise.all([
      media.makeImage(params),
      elsewhere.makeImage(params),
      media.makeImage({ ...params, seed: 2 }),
    ]);
    await elsewhere.close();
    expect(again.bytes).toEqual(one.bytes);
    expect(difference(await decode(one.bytes), await decode(other.bytes))).toBeGreaterThan(0.1);
  });

  test("contains the scene that its prompt names, different for each", async () => {
    const folder = new URL(import.meta.resolve("#workers/providers/sandbox/media/image/scenes/sea.svg"));
    const files = readdirSync(new URL(".", folder));
    const words = await Promise.all(
      files.map(async (file) => /<desc>(\w+)/.exec(await Bun.file(new URL(file, folder)).text())?.[1] ?? ""),
    );
    const small = { ...params, width: 64, height: 64 };
    const made = await Promise.all(
      words.map(async (word) => decode((await media.makeImage({ ...small, prompt: `${word} at night` })).bytes)),
    );
    for (const [at, one] of made.entries()) {
      for (const other of made.slice(at + 1)) expect(difference(one, other)).toBeGreaterThan(0.1);
    }
  });

  test("carries its prompt in letters at the lower edge", async () => {
    const size = { width: 640, height: 640 };
    const captions = ["a sea", "a sea a sea a sea"].map(async (prompt) => {
      const { data, info } = await decode((await media.makeImage({ ...params, ...size, prompt })).bytes);
      const lines = data.subarray(600 * info.width * info.channels);
      return lines.filter((value) => value > 240).length;
    });
    const [short = 0, long = 0] = await Promise.all(captions);
    expect(short).toBeGreaterThan(100);
    expect(long).toBeGreaterThan(2.5 * short);
  });

  test("with a transparent background is clear around its subject, an opaque one has no alpha", async () => {
    const clear = await decode((await media.makeImage({ ...params, background: "transparent" })).bytes);
    const alphas = clear.data.filter((_, at) => at % 4 === 3);
    expect([clear.info.channels, alphas[0]]).toEqual([4, 0]);
    expect(alphas.filter((alpha) => alpha === 0).length).toBeGreaterThan(0.2 * alphas.length);
    expect(alphas.filter((alpha) => alpha === 255).length).toBeGreaterThan(0.05 * alphas.length);
    expect((await decode((await media.makeImage(params)).bytes)).info.channels).toBe(3);
    const jpeg = media.makeImage({ ...params, background: "transparent", format: "jpeg" });
    expect((await faultOf(jpeg)).fault).toBe("invalid");
  });

  test("of lower quality is smaller", async () => {
    const jpeg = { ...params, format: "jpeg" } as const;
    const [low, high] = await Promise.all([10, 95].map((quality) => media.makeImage({ ...jpeg, quality })));
    expect(low?.bytes.length).toBeLessThan((high?.bytes.length ?? 0) / 2);
  });

  test.each([
    ["markup", '</span></text></svg><image href="file:///etc/passwd"/>&<>"'],
    ["control characters and half a character", "a\u0000b\u001B[31m\uD800 c"],
    ["nothing that can be seen", "\u200B\u3164 \n"],
    ["words that objects inherit", "constructor toString __proto__"],
    ["more text than fits", "W".repeat(40_000)],
  ])("is generated from a prompt of %s", async (_what, prompt) => {
    const { bytes } = await media.makeImage({ ...params, prompt, width: 100, height: 100 });
    expect(await new Bun.Image(bytes).metadata()).toEqual({ width: 100, height: 100, format: "png" });
  });

  test.each([
    [0, 10],
    [4_097, 10],
    [10.5, 10],
  ])("of %p × %p is rejected", async (width, height) => {
    expect((await faultOf(media.makeImage({ ...params, width, height }))).fault).toBe("invalid");
  });
});

describe("an edit", () => {
  const [width, height] = [WIDTH, 160];
  const base = media.makeImage({ ...params, width, height, prompt: "the sea" }).then(({ bytes }) => bytes);
  const edit = { prompt: "a desert in winter", seed: 4, format: "png" } as const;
  /** Opaque in the top left corner only, 100 × 40 pixels. */
  const alpha = Uint8Array.from({ length: 4 * width * height }, (_, at) => (isOpen(at, 4) ? 0 : 255));
  const mask = sharp(alpha, { raw: { width, height, channels: 4 } }).png();

  test("keeps every pixel that the mask covers, and repaints the others", async () => {
    const image = await base;
    const edited = await media.editImage({ ...edit, image, mask: await mask.toBuffer() });
    const [before, after] = [await decode(image), await decode(edited.bytes)];
    expect(after.info).toMatchObject({ width, height, channels: before.info.channels });
    const kept = (of: Decoded): Buffer => Buffer.from(of.data.filter((_, at) => !isOpen(at, of.info.channels)));
    expect(kept(before).length).toBe(100 * 40 * before.info.channels);
    expect(kept(after).equals(kept(before))).toBe(true);
    expect(difference(before, after, 40)).toBeGreaterThan(0.5);
  });

  test("depends on its strength: 0 changes nothing, a half is between", async () => {
    const image = await base;
    const before = await decode(image);
    const distance = async (strength: number): Promise<number> => {
      const after = await decode((await media.editImage({ ...edit, image, strength })).bytes);
      return after.data.reduce((sum, value, at) => sum + Math.abs(value - (before.data[at] ?? 0)), 0);
    };
    const [none, half, whole] = await Promise.all([distance(0), distance(0.5), distance(1)]);
    expect(none).toBe(0);
    expect(half / whole).toBeCloseTo(0.5, 1);
    expect((await faultOf(distance(1.1))).fault).toBe("invalid");
  });

  test("has the image's own upright size, or the requested one", async () => {
    const image = await sharp(await base)
      .jpeg()
      .withMetadata({ orientation: 6 })
      .toBuffer();
    const own = await media.editImage({ ...edit, image });
    const asked = await media.editImage({ ...edit, image, size: { width: 300, height: 90 }, format: "webp" });
    expect(await new Bun.Image(own.bytes).metadata()).toEqual({ width: height, height: width, format: "png" });
    expect(await new Bun.Image(asked.bytes).metadata()).toEqual({ width: 300, height: 90, format: "webp" });
  });

  test("rejects a mask of another size or without transparency, and names the mask", async () => {
    const image = await base;
    const small = await mask.clone().resize(100, 100).toBuffer();
    for (const wrong of [small, image]) {
      const { fault, message } = await faultOf(media.editImage({ ...edit, image, mask: wrong }));
      expect([fault, message]).toEqual(["invalid", expect.stringMatching(/^The mask /)]);
    }
  });

  const text = (content: string): Uint8Array => new TextEncoder().encode(content);
  test.each<[string, MediaError["fault"], (image: Uint8Array) => Uint8Array]>([
    ["nothing", "unsupported", () => new Uint8Array(0)],
    ["an SVG", "unsupported", () => text('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>')],
    ["a GIF", "unsupported", () => Buffer.from("R0lGODlhAQABAIAAAP///wAAACwAAAAAAQABAAACAkQBADs=", "base64")],
    ["an image that is cut off", "corrupt", (image) => image.subarray(0, image.length / 2)],
    ["damaged data", "corrupt", (image) => image.map((byte, at) => (at > 300 && at < 340 ? byte ^ 0x5a : byte))],
    ["a head that promises 30,000 × 30,000", "too_large", (image) => pngResized(image, 30_000, 30_000)],
    ["a head that promises one long row", "too_large", (image) => pngResized(image, 20_000, 1)],
    ["a head that promises more than there is", "corrupt", (image) => pngResized(image, 4_000, 4_000)],
  ])("rejects %s as %s, as image or mask", async (_what, expected, spoil) => {
    const image = await base;
    const spoilt = spoil(image);
    // In this process: a child ends after each foreign file.
    const asImage = await faultOf(editImage({ ...edit, strength: 1 }, spoilt, undefined));
    const asMask = await faultOf(editImage({ ...edit, strength: 1 }, image, spoilt));
    expect([asImage.fault, asImage.message]).toEqual([expected, expect.stringMatching(/^The image /)]);
    expect([asMask.fault, asMask.message]).toEqual([expected, expect.stringMatching(/^The mask /)]);
  });
});

/** True if the mask lets this channel of the edited image be repainted. */
function isOpen(at: number, channels: number): boolean {
  const pixel = Math.floor(at / channels);
  return pixel % WIDTH >= 100 || Math.floor(pixel / WIDTH) >= 40;
}
