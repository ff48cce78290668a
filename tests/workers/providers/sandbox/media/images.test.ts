import { afterAll, describe, expect, test } from "bun:test";

import { MediaError } from "#shared/media/media-error.ts";
import { createSandboxMedia } from "#workers/providers/sandbox/media/index.ts";

import { decodeAny, decodePng, pixel, shareOf } from "./png.ts";

const media = createSandboxMedia();
afterAll(() => media.close());

const RED = [0xd9, 0x2b, 0x3a] as const;
const wish = { prompt: "a red house in a meadow", seed: 1, width: 256, height: 256, format: "png" } as const;

async function fault(job: Promise<unknown>): Promise<string> {
  const error = await job.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(MediaError);
  return (error as MediaError).fault;
}

describe("a picture", () => {
  test.each([
    [256, 256, "png"],
    [640, 384, "png"],
    [384, 640, "jpeg"],
    [512, 512, "webp"],
    [1, 1, "png"],
    [33, 2_301, "webp"],
  ] as const)("of %p × %p as %s has exactly that size and format", async (width, height, format) => {
    const { bytes } = await media.makeImage({ ...wish, width, height, format });
    expect(await new Bun.Image(bytes).metadata()).toEqual({ width, height, format });
  });

  test("is the same for the same seed, and another for another seed or prompt", async () => {
    const [one, again, other, else_] = await Promise.all([
      media.makeImage(wish),
      media.makeImage(wish),
      media.makeImage({ ...wish, seed: 2 }),
      media.makeImage({ ...wish, prompt: "a red house in a garden" }),
    ]);
    expect(again.bytes).toEqual(one.bytes);
    expect(other.bytes).not.toEqual(one.bytes);
    expect(else_.bytes).not.toEqual(one.bytes);
  });

  test("shows the colour that the prompt names, and does not where it names another", async () => {
    const red = decodePng((await media.makeImage(wish)).bytes);
    const blue = decodePng((await media.makeImage({ ...wish, prompt: "a blue house in a meadow" })).bytes);
    expect(shareOf(red, RED)).toBeGreaterThan(0.02);
    expect(shareOf(blue, RED)).toBeLessThan(0.005);
  });

  test("leaves out what the negative prompt names", async () => {
    const prompt = "a red house and a yellow car";
    const both = decodePng((await media.makeImage({ ...wish, prompt })).bytes);
    const carOnly = decodePng((await media.makeImage({ ...wish, prompt, negativePrompt: "houses" })).bytes);
    expect(shareOf(both, RED)).toBeGreaterThan(0.01);
    expect(shareOf(carOnly, RED)).toBeLessThan(0.003);
  });

  test("carries its prompt in letters: the longer the prompt, the more of them", async () => {
    const letters = async (prompt: string): Promise<number> => {
      const picture = decodePng((await media.makeImage({ ...wish, width: 1_024, height: 1_024, prompt })).bytes);
      let hits = 0;
      for (let y = 880; y < 1_010; y += 1) {
        for (let x = 30; x < 900; x += 1) if (pixel(picture, x, y).every((value) => value > 240)) hits += 1;
      }
      return hits;
    };
    const [short, long] = [await letters("red"), await letters("red ".repeat(8))];
    expect(short).toBeGreaterThan(80);
    expect(long).toBeGreaterThan(3 * short);
  });

  test("with a transparent background has pixels of no colour at all, an opaque one has no alpha", async () => {
    const clear = decodePng((await media.makeImage({ ...wish, background: "transparent" })).bytes);
    const solid = decodePng((await media.makeImage(wish)).bytes);
    expect(clear.channels).toBe(4);
    expect(pixel(clear, 2, 2)[3]).toBe(0);
    expect(clear.data.filter((value, at) => at % 4 === 3 && value === 255).length).toBeGreaterThan(2_000);
    expect(solid.channels).toBe(3);
    expect(await fault(media.makeImage({ ...wish, format: "jpeg", background: "transparent" }))).toBe("invalid");
  });

  test("of low quality is smaller than one of high quality", async () => {
    const [low, high] = await Promise.all([
      media.makeImage({ ...wish, format: "jpeg", quality: 10 }),
      media.makeImage({ ...wish, format: "jpeg", quality: 95 }),
    ]);
    expect(low.bytes.length).toBeLessThan(high.bytes.length / 2);
  });

  test("in vivid style has stronger colours than in natural style", async () => {
    const spread = async (style: "vivid" | "natural"): Promise<number> => {
      const { data } = decodePng((await media.makeImage({ ...wish, style })).bytes);
      let sum = 0;
      for (let at = 0; at < data.length; at += 3) {
        const [r = 0, g = 0, b = 0] = data.subarray(at, at + 3);
        sum += Math.max(r, g, b) - Math.min(r, g, b);
      }
      return sum;
    };
    expect(await spread("vivid")).toBeGreaterThan((await spread("natural")) * 1.2);
  });

  test.each([
    ["markup", '</text></svg><image href="file:///etc/passwd"/>&<>"'],
    ["control characters and half a character", "a\u0000b\u001b[31m\ud800 c"],
    ["nothing but an emoji", "😀"],
    ["words that objects inherit", "constructor toString __proto__"],
    ["more text than fits", "red cat ".repeat(4_000)],
  ])("is made of a prompt of %s", async (_name, prompt) => {
    const { bytes } = await media.makeImage({ ...wish, prompt });
    expect(await new Bun.Image(bytes).metadata()).toEqual({ width: 256, height: 256, format: "png" });
  });

  test.each([
    [0, 10],
    [4_097, 10],
    [10.5, 10],
  ])("of %p × %p is refused", async (width, height) => {
    expect(await fault(media.makeImage({ ...wish, width, height }))).toBe("invalid");
  });
});

describe("an edit", () => {
  const base = media.makeImage({ ...wish, width: 200, height: 160, prompt: "a blue sea" });

  /** Transparent from x 100 and y 40 on, opaque elsewhere. */
  function mask(width = 200, height = 160): Promise<Uint8Array> {
    return png(width, height, (x, y) => [0, 0, 0, x >= 100 && y >= 40 ? 0 : 255]);
  }

  test("leaves what the mask covers pixel for pixel, and repaints the rest", async () => {
    const { bytes } = await base;
    const edited = await media.editImage({
      image: bytes,
      mask: await mask(),
      prompt: "a red car in a city at night",
      seed: 4,
      strength: 1,
      format: "png",
    });
    const [before, after] = [decodePng(bytes), decodePng(edited.bytes)];
    expect([after.width, after.height]).toEqual([200, 160]);
    let changed = 0;
    for (let y = 0; y < 160; y += 1) {
      for (let x = 0; x < 200; x += 1) {
        const same = pixel(before, x, y).join() === pixel(after, x, y).join();
        if (x < 100 || y < 40) {
          if (!same) throw new Error(`pixel ${x},${y} was not to be touched`);
        } else if (!same) changed += 1;
      }
    }
    expect(changed).toBeGreaterThan(0.9 * 100 * 120);
  });

  test("follows its strength: 0 changes nothing, a half lies between", async () => {
    const { bytes } = await base;
    const before = decodePng(bytes);
    const distance = async (strength: number): Promise<number> => {
      const call = { image: bytes, prompt: "an orange desert", seed: 4, strength, format: "png" } as const;
      const after = decodePng((await media.editImage(call)).bytes);
      return after.data.reduce((sum, value, at) => sum + Math.abs(value - (before.data[at] ?? 0)), 0);
    };
    const [none, half, full] = [await distance(0), await distance(0.5), await distance(1)];
    expect(none).toBe(0);
    expect(half).toBeGreaterThan(0.3 * full);
    expect(half).toBeLessThan(0.7 * full);
    expect(full).toBeGreaterThan(100_000);
  });

  test("does what plain words ask for: grey has three equal channels, removing closes the hole with its rim", async () => {
    const { bytes } = await base;
    const grey = decodePng(
      (await media.editImage({ image: bytes, prompt: "make it black and white", seed: 1, strength: 1, format: "png" }))
        .bytes,
    );
    expect(pixel(grey, 50, 50)).toEqual([
      pixel(grey, 50, 50)[0],
      pixel(grey, 50, 50)[0],
      pixel(grey, 50, 50)[0],
    ] as number[]);
    const plate = await png(120, 120, (x, y) =>
      x >= 50 && x < 70 && y >= 50 && y < 70 ? [255, 0, 0, 255] : [20, 120, 200, 255],
    );
    const hole = await png(120, 120, (x, y) => [0, 0, 0, x >= 45 && x < 75 && y >= 45 && y < 75 ? 0 : 255]);
    const call = {
      image: plate,
      mask: hole,
      prompt: "remove the square",
      seed: 1,
      strength: 1,
      format: "png",
    } as const;
    const removed = decodePng((await media.editImage(call)).bytes);
    const [r = 0, g = 0, b = 0] = pixel(removed, 60, 60);
    expect(Math.abs(r - 20) + Math.abs(g - 120) + Math.abs(b - 200)).toBeLessThan(30);
  });

  test("has the size that was asked for", async () => {
    const { bytes } = await base;
    const call = { image: bytes, prompt: "a cat", seed: 1, size: { width: 300, height: 300 }, format: "webp" } as const;
    const edited = await media.editImage(call);
    expect(await new Bun.Image(edited.bytes).metadata()).toEqual({ width: 300, height: 300, format: "webp" });
    expect([edited.width, edited.height]).toEqual([300, 300]);
  });

  test("takes JPEG and WebP", async () => {
    for (const format of ["jpeg", "webp"] as const) {
      const { bytes } = await media.makeImage({ ...wish, format });
      const edited = await media.editImage({ image: bytes, prompt: "a cat", seed: 1, format: "png" });
      expect((await decodeAny(edited.bytes)).width).toBe(256);
    }
  });

  test("refuses a mask of another size, and one that lets nothing through", async () => {
    const { bytes } = await base;
    const call = { image: bytes, prompt: "a cat", seed: 1, format: "png" } as const;
    expect(await fault(media.editImage({ ...call, mask: await mask(100, 100) }))).toBe("invalid");
    expect(await fault(media.editImage({ ...call, mask: bytes }))).toBe("invalid");
    expect(await fault(media.editImage({ ...call, strength: 1.1 }))).toBe("invalid");
  });

  test.each([
    ["nothing", "unsupported", () => new Uint8Array(0)],
    ["text", "unsupported", () => new TextEncoder().encode("hello")],
    [
      "SVG",
      "unsupported",
      () => new TextEncoder().encode('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'),
    ],
    [
      "a GIF",
      "unsupported",
      () => new Uint8Array(Buffer.from("R0lGODlhAQABAIAAAP///wAAACwAAAAAAQABAAACAkQBADs=", "base64")),
    ],
    ["a PDF", "unsupported", () => new TextEncoder().encode("%PDF-1.7\n")],
    ["a picture that was cut off", "corrupt", (png: Uint8Array) => png.subarray(0, png.length / 2)],
    [
      "a picture with damaged data",
      "corrupt",
      (png: Uint8Array) => png.map((value, at) => (at > 300 && at < 340 ? value ^ 0x5a : value)),
    ],
    [
      "a picture with a page behind it",
      "unsupported",
      (png: Uint8Array) => new Uint8Array(Buffer.concat([png, Buffer.from("<html><script>")])),
    ],
    [
      "a picture with an archive behind it",
      "unsupported",
      (png: Uint8Array) => new Uint8Array(Buffer.concat([png, Buffer.from("PK\u0003\u0004")])),
    ],
    ["a head that promises 30,000 × 30,000", "too_large", (png: Uint8Array) => sized(png, 30_000, 30_000)],
    ["a head that promises one long row", "too_large", (png: Uint8Array) => sized(png, 20_000, 1)],
    ["a head that promises more than there is", "corrupt", (png: Uint8Array) => sized(png, 4_000, 4_000)],
  ] as const)("refuses %s as %s", async (_name, kind, spoil) => {
    const { bytes } = await base;
    expect(await fault(media.editImage({ image: spoil(bytes), prompt: "a cat", seed: 1, format: "png" }))).toBe(kind);
  });
});

function sized(png: Uint8Array, width: number, height: number): Uint8Array {
  const result = png.slice();
  const view = new DataView(result.buffer);
  view.setUint32(16, width);
  view.setUint32(20, height);
  view.setUint32(29, Bun.hash.crc32(result.subarray(12, 29)));
  return result;
}

/** A picture written by hand, not by the library under test. */
async function png(width: number, height: number, colour: (x: number, y: number) => number[]): Promise<Uint8Array> {
  const { deflateSync } = await import("node:zlib");
  const rows = new Uint8Array(height * (4 * width + 1));
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) rows.set(colour(x, y), y * (4 * width + 1) + 1 + 4 * x);
  }
  const head = new Uint8Array(13);
  new DataView(head.buffer).setUint32(0, width);
  new DataView(head.buffer).setUint32(4, height);
  head.set([8, 6, 0, 0, 0], 8);
  const chunk = (kind: string, data: Uint8Array): Buffer => {
    const body = Buffer.concat([Buffer.from(kind), data]);
    const frame = Buffer.alloc(body.length + 8);
    frame.writeUInt32BE(data.length, 0);
    body.copy(frame, 4);
    frame.writeUInt32BE(Bun.hash.crc32(body), body.length + 4);
    return frame;
  };
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return new Uint8Array(
    Buffer.concat([signature, chunk("IHDR", head), chunk("IDAT", deflateSync(rows)), chunk("IEND", new Uint8Array(0))]),
  );
}
