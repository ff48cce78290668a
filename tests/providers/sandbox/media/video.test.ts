import { afterAll, describe, expect, test } from "bun:test";

import sharp from "sharp";

import { MediaError } from "#shared/children/media-error.ts";
import { probeVideo } from "#shared/media/probe/video.ts";
import { createSandboxMedia, videoSize } from "#workers/providers/sandbox/media/index.ts";
import { MEDIA_LIMITS } from "#workers/providers/sandbox/media/limits.ts";
import { type Flite, loadFlite } from "#workers/providers/sandbox/media/speech/flite.ts";
import { makeVideo } from "#workers/providers/sandbox/media/video/make.ts";
import type { VideoParams } from "#workers/providers/sandbox/media/video/params.ts";
import { temporaryDirectory } from "#tests/support/infrastructure.ts";

import { encoded, noisy, resized, turned } from "./video-footage.ts";
import { colourAt, decodePictures, decodeSound, distance, type Picture } from "./video-reading.ts";

const media = createSandboxMedia();
afterAll(() => media.close());

const SAMPLE_RATE = 48_000;
const params = { prompt: "a red house on green hills", seed: 1, seconds: 1, width: 320, height: 180 } as const;
const plain = media.makeVideo(params);
// Awaited by the tests below.
plain.catch(() => {});

let flite: Promise<Flite> | undefined;

/** A video of foreign bytes, made in this process as a child makes it: a child ends after each of them. */
async function videoOf(
  source: "image" | "video",
  bytes: Uint8Array,
  change: Partial<VideoParams> = {},
): Promise<Uint8Array> {
  const { directory, remove } = temporaryDirectory();
  try {
    const task = { ...params, ...change, source, directory };
    return await makeVideo(
      task,
      bytes,
      () => (flite ??= loadFlite()),
      () => {},
    );
  } finally {
    remove();
  }
}

async function fault(job: Promise<unknown>): Promise<string> {
  const error = await job.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(MediaError);
  return (error as MediaError).fault;
}

function at(pictures: readonly Picture[], index: number): Picture {
  const picture = pictures.at(index);
  if (picture === undefined) throw new Error(`no frame ${index}`);
  return picture;
}

async function firstFrame(job: Promise<Uint8Array>): Promise<Picture> {
  return at(await decodePictures(await job), 0);
}

describe("a size", () => {
  test.each([
    ["1080p", "16:9", 1_920, 1_080],
    ["480p", "16:9", 854, 480],
    ["720p", "9:16", 720, 1_280],
    ["1080p", "21:9", 2_520, 1_080],
    ["720P", " 16:9 ", 1_280, 720],
    [undefined, undefined, 1_280, 720],
  ] as const)("of %p at %p is %p × %p", (resolution, ratio, width, height) => {
    expect(videoSize(resolution, ratio)).toEqual({ width, height });
  });

  test.each([
    ["big", "16:9"],
    ["720p", "16:0"],
  ])("of %p at %p is refused", (resolution, ratio) => {
    expect(() => videoSize(resolution, ratio)).toThrow(MediaError);
  });
});

describe("a video", () => {
  test.each([
    [854, 480, 1],
    [270, 480, 2],
    [64, 64, 1],
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

  test("can be played while it loads: the index stands before the data", async () => {
    const text = Buffer.from((await plain).bytes).toString("latin1");
    expect(text.slice(4, 8)).toBe("ftyp");
    expect(text.indexOf("moov")).toBeLessThan(text.indexOf("mdat"));
  });

  test("moves", async () => {
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

  test("tells its progress, which rises to 1", async () => {
    const shares: number[] = [];
    await media.makeVideo(params, undefined, (share) => shares.push(share));
    expect(shares.length).toBeGreaterThan(5);
    expect(shares.toSorted((one, other) => one - other)).toEqual(shares);
    expect(shares.at(-1)).toBe(1);
  });

  test.each([
    ["markup and FFmpeg's signs", `</svg>"it's 5%, [v];{n}:\\" %{pts} '`],
    ["control characters, half a character and an emoji", "a\u0000b\u001B[31m\uD800 😀 c"],
    ["nothing", ""],
    ["more text than fits", 'red cat says "hello" '.repeat(2_000)],
  ])("is made of a prompt of %s, with and without an input video", async (_name, prompt) => {
    const small = { prompt, width: 160, height: 120 };
    const { bytes: made } = await media.makeVideo({ ...params, ...small });
    for (const bytes of [made, await videoOf("video", (await plain).bytes, small)]) {
      expect(probeVideo(bytes)).toMatchObject({ seconds: 1, width: 160, height: 120, hasAudio: true });
    }
  });

  test.each([
    ["no seconds", { seconds: 0 }],
    ["too many seconds", { seconds: 31 }],
    ["half a second", { seconds: 1.5 }],
    ["an odd width", { width: 321 }],
    ["a height that is no number", { height: Number.NaN }],
    ["too small a height", { height: 32 }],
    ["too many pixels", { width: 2_560, height: 1_440 }],
    ["the size of 4320p", videoSize("4320p", "16:9")],
    ["the size of a strip", videoSize("1080p", "99:1")],
    ["both an image and a video", { image: new Uint8Array(9), video: new Uint8Array(9) }],
  ])("with %s is refused", async (_name, change) => {
    expect(await fault(media.makeVideo({ ...params, ...change }))).toBe("invalid");
  });

  test("ends when its signal fires", async () => {
    const stop = new AbortController();
    const job = media.makeVideo({ ...params, seconds: 30, width: 320, height: 180 }, stop.signal, () => stop.abort());
    expect(await fault(job)).toBe("aborted");
  });
});

describe("a video of an image", () => {
  /** Red on the left, blue on the right. */
  const image = sharp({ create: { width: 300, height: 500, channels: 3, background: "#e01010" } })
    .composite([
      { input: { create: { width: 150, height: 500, channels: 3, background: "#1010e0" } }, left: 150, top: 0 },
    ])
    .png()
    .toBuffer();

  test("begins with the image, whatever the seed", async () => {
    for (const seed of [1, 2, 3]) {
      const picture = await firstFrame(videoOf("image", await image, { seed }));
      const [[, , red], [, blue]] = [colourAt(picture, 0.1, 0.5), colourAt(picture, 0.9, 0.5)];
      expect([red > 200, blue > 200]).toEqual([true, true]);
    }
  });

  test.each([
    ["text", "unsupported", () => ascii("hello")],
    ["an image that was cut off", "corrupt", (png: Uint8Array) => png.subarray(0, png.length / 2)],
  ] as const)("refuses %s as %s", async (_name, kind, spoil) => {
    expect(await fault(videoOf("image", spoil(await image)))).toBe(kind);
  });
});

describe("a video of a video", () => {
  /** A second: light on the left, dark on the right, and a bar that goes down. */
  const ground = "color=0x404040:s=160x96:r=10:d=1,drawbox=w=80:h=96:color=0xc0c0c0:t=fill[ground]";
  const frames = `${ground};color=white:s=160x10:r=10:d=1[bar];[ground][bar]overlay=y=80*t`;
  const video = encoded("mp4", frames);

  test("is made in a child, and others after one that is refused", async () => {
    const refused = media.makeVideo({ ...params, video: (await video).subarray(0, 700) });
    const made = media.makeVideo({ ...params, video: await video });
    expect(await fault(refused)).toBe("corrupt");
    expect(contrast(await firstFrame(made.then(({ bytes }) => bytes)))).toBeGreaterThan(80);
  });
  const contrast = (picture: Picture): number => colourAt(picture, 0.2, 0.5)[0] - colourAt(picture, 0.8, 0.5)[0];

  test("shows it tinted by the seed, again and again for as long as was asked", async () => {
    const of = async (seed: number): Promise<Picture[]> =>
      decodePictures(await videoOf("video", await video, { seed, seconds: 3 }));
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

  test("is cut to what was asked and keeps its sound", async () => {
    const loud = await encoded("mp4", "color=gray:s=160x96:r=10:d=3", "sine=440:d=3,volume=4");
    const bytes = await videoOf("video", loud);
    expect((await decodePictures(bytes)).length).toBe(24);
    const samples = await decodeSound(bytes);
    expect(samples.length).toBe(SAMPLE_RATE);
    const crossings = samples.filter((sample, index) => sample < 0 && (samples[index + 1] ?? 0) >= 0).length;
    expect(Math.abs(crossings - 440)).toBeLessThan(5);
  });

  test("speaks the words that the prompt quotes", async () => {
    const silent = await encoded("mp4", "color=gray:s=64x64:r=10:d=2", "anullsrc,atrim=end=2");
    const peak = async (prompt: string): Promise<number> => {
      const bytes = await videoOf("video", silent, { prompt, seconds: 2, width: 64, height: 64 });
      return (await decodeSound(bytes)).reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
    };
    expect(await peak("a robot")).toBeLessThan(0.001);
    expect(await peak('a robot says: "Hello my friends"')).toBeGreaterThan(0.05);
  });

  test("is turned upright as its camera was held", async () => {
    const upright = turned(await video);
    const picture = await firstFrame(videoOf("video", upright, { width: 96, height: 160 }));
    // A quarter turn clockwise: what was on the left is above.
    expect(colourAt(picture, 0.5, 0.3)[0] - colourAt(picture, 0.5, 0.7)[0]).toBeGreaterThan(80);
  });

  test("takes WebM", async () => {
    const webm = await encoded("webm", frames);
    expect(contrast(await firstFrame(videoOf("video", webm)))).toBeGreaterThan(80);
  });

  test.each([
    ["nothing", "unsupported", () => new Uint8Array(0)],
    ["a playlist", "unsupported", () => ascii("#EXTM3U\n#EXTINF:9,\nfile:///etc/passwd\n")],
    ["a list for joining", "unsupported", () => ascii("ffconcat version 1.0\nfile /etc/passwd\n")],
    ["a playlist behind a box", "corrupt", () => ascii("\0\0\0\x10ftypisom\0\0\0\0#EXTM3U\nfile:///etc/passwd\n")],
    ["only its first bytes", "corrupt", (mp4: Uint8Array) => mp4.subarray(0, 700)],
    ["no data behind the index", "corrupt", (mp4: Uint8Array) => mp4.subarray(0, Buffer.from(mp4).indexOf("mdat"))],
    ["noise for data", "corrupt", noisy],
    ["a header that promises 16,000 × 16,000", "too_large", (mp4: Uint8Array) => resized(mp4, 16_000, 16_000)],
    ["a header that promises one long row", "too_large", (mp4: Uint8Array) => resized(mp4, 65_000, 2)],
    ["too many bytes", "too_large", () => new Uint8Array(MEDIA_LIMITS.sourceVideoBytesMax + 1)],
  ] as const)("refuses %s as %s", async (_name, kind, spoil) => {
    expect(await fault(videoOf("video", spoil(await video)))).toBe(kind);
  });

  test("refuses frames that are larger than the header says", async () => {
    const bomb = resized(await encoded("mp4", "color=black:s=4096x4096:r=1:d=1"), 160, 96);
    expect(probeVideo(bomb)).toMatchObject({ width: 160, height: 96 });
    expect(await fault(videoOf("video", bomb))).toBe("too_large");
  });
});

function ascii(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, "latin1"));
}
