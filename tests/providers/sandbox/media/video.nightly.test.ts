/** Golden videos of the sandbox: sizes, seeds, prompts, and what becomes of an image or a video that comes with the call. */
import { afterAll, describe, expect, test } from "bun:test";

import sharp from "sharp";

import { probeVideo } from "#shared/media/probe/video.ts";
import { createSandboxMedia } from "#workers/providers/sandbox/media/index.ts";
import type { VideoParams } from "#workers/providers/sandbox/media/video/params.ts";

import { encoded, turned } from "./video-footage.ts";
import { at, contrast, firstFrame, FRAMES, SAMPLE_RATE, video, videoOf } from "./video-making.ts";
import { colourAt, decodePictures, decodeSound, distance, type Picture } from "./video-reading.ts";

const media = createSandboxMedia();
afterAll(() => media.close());

const params = { prompt: "a red house on green hills", seed: 1, seconds: 1, width: 320, height: 180 } as const;
const plain = media.makeVideo(params);
// Awaited by the tests below.
plain.catch(() => {});

const restyled = (bytes: Uint8Array, change: Partial<VideoParams> = {}): Promise<Uint8Array> =>
  videoOf("video", bytes, { ...params, ...change });

describe("a video", () => {
  test.each([
    [854, 480, 1],
    [270, 480, 2],
  ])("of %p × %p and %p seconds has exactly that, in frames, pixels and samples", async (width, height, seconds) => {
    const { bytes } = await media.makeVideo({ ...params, width, height, seconds });
    expect(probeVideo(bytes)).toEqual({ format: "mp4", seconds, width, height, rotation: 0, hasAudio: true });
    const pictures = await decodePictures(bytes);
    expect(pictures.map((picture) => Math.round(24 * picture.seconds))).toEqual([...Array(24 * seconds).keys()]);
    expect(pictures.every((picture) => picture.width === width && picture.height === height)).toBe(true);
    const samples = await decodeSound(bytes);
    expect(samples.length).toBe(seconds * SAMPLE_RATE);
    expect(samples.some((sample) => Math.abs(sample) > 0.05)).toBe(true);
  });

  test("has moving content", async () => {
    const pictures = await decodePictures((await plain).bytes);
    expect(distance(at(pictures, 0), at(pictures, -1))).toBeGreaterThan(1);
  });

  test("has equal bytes for equal params, in another child too, and others for another seed", async () => {
    const other = createSandboxMedia();
    const [again, seed] = await Promise.all([other.makeVideo(params), media.makeVideo({ ...params, seed: 2 })]);
    await other.close();
    expect(Bun.hash(again.bytes)).toBe(Bun.hash((await plain).bytes));
    expect(Bun.hash(seed.bytes)).not.toBe(Bun.hash((await plain).bytes));
  });

  test.each([
    ["markup and FFmpeg's signs", `</svg>"it's 5%, [v];{n}:\\" %{pts} '`],
    ["control characters, half a character and an emoji", "a\u0000b\u001B[31m\uD800 😀 c"],
    ["nothing", ""],
    ["more text than fits", 'red cat says "hello" '.repeat(2_000)],
  ])("is generated from a prompt of %s, with and without an input video", async (_name, prompt) => {
    const small = { prompt, width: 160, height: 120 };
    const { bytes: made } = await media.makeVideo({ ...params, ...small });
    for (const bytes of [made, await restyled((await plain).bytes, small)]) {
      expect(probeVideo(bytes)).toMatchObject({ seconds: 1, width: 160, height: 120, hasAudio: true });
    }
  });
});

describe("a video from an image", () => {
  /** Red on the left, blue on the right. */
  const image = sharp({ create: { width: 300, height: 500, channels: 3, background: "#e01010" } })
    .composite([
      { input: { create: { width: 150, height: 500, channels: 3, background: "#1010e0" } }, left: 150, top: 0 },
    ])
    .png()
    .toBuffer();

  test("starts with the image, for every seed", async () => {
    for (const seed of [1, 2, 3]) {
      const picture = await firstFrame(videoOf("image", await image, { ...params, seed }));
      const [[, , red], [, blue]] = [colourAt(picture, 0.1, 0.5), colourAt(picture, 0.9, 0.5)];
      expect([red > 200, blue > 200]).toEqual([true, true]);
    }
  });
});

describe("a video from a video", () => {
  test("repeats it tinted by the seed, for the requested length", async () => {
    const of = async (seed: number): Promise<Picture[]> =>
      decodePictures(await restyled(await video(), { seed, seconds: 3 }));
    const [one, other] = await Promise.all([of(1), of(2)]);
    expect([one.length, at(one, 0).width, at(one, 0).height]).toEqual([72, 320, 180]);
    expect(contrast(at(one, 2))).toBeGreaterThan(80);
    const [, u, v] = colourAt(at(one, 0), 0.2, 0.5);
    expect(Math.hypot(u - 128, v - 128)).toBeGreaterThan(10);
    expect(distance(at(one, 0), at(other, 0))).toBeGreaterThan(3);
    expect(distance(at(one, 2), at(one, 20))).toBeGreaterThan(3);
    // From its beginning after each second.
    for (const index of [26, 50]) expect(distance(at(one, 2), at(one, index))).toBeLessThan(2);
  });

  test("is truncated to the requested length and keeps its audio", async () => {
    const loud = await encoded("mp4", "color=gray:s=160x96:r=10:d=3", "sine=440:d=3,volume=4");
    const bytes = await restyled(loud);
    expect((await decodePictures(bytes)).length).toBe(24);
    const samples = await decodeSound(bytes);
    expect(samples.length).toBe(SAMPLE_RATE);
    const crossings = samples.filter((sample, index) => sample < 0 && (samples[index + 1] ?? 0) >= 0).length;
    expect(Math.abs(crossings - 440)).toBeLessThan(5);
  });

  test("speaks the quoted text of the prompt", async () => {
    const silent = await encoded("mp4", "color=gray:s=64x64:r=10:d=2", "anullsrc,atrim=end=2");
    const peak = async (prompt: string): Promise<number> => {
      const bytes = await restyled(silent, { prompt, seconds: 2, width: 64, height: 64 });
      return (await decodeSound(bytes)).reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
    };
    expect(await peak("a robot")).toBeLessThan(0.001);
    expect(await peak('a robot says: "Hello my friends"')).toBeGreaterThan(0.05);
  });

  test("is rotated upright", async () => {
    const upright = turned(await video());
    const picture = await firstFrame(restyled(upright, { width: 96, height: 160 }));
    // A quarter turn clockwise: what was on the left is above.
    expect(colourAt(picture, 0.5, 0.3)[0] - colourAt(picture, 0.5, 0.7)[0]).toBeGreaterThan(80);
  });

  test("accepts WebM", async () => {
    const webm = await encoded("webm", FRAMES);
    expect(contrast(await firstFrame(restyled(webm)))).toBeGreaterThan(80);
  });
});
