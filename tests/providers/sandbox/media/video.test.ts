/** A small video of each kind of source, and the refusals. The golden videos are in video.nightly.test.ts. */
import { afterAll, describe, expect, test } from "bun:test";

import sharp from "sharp";

import { MediaError } from "#shared/children/media-error.ts";
import { probeVideo } from "#shared/media/probe/video.ts";
import { createSandboxMedia, videoSize } from "#workers/providers/sandbox/media/index.ts";
import { MEDIA_LIMITS } from "#workers/providers/sandbox/media/limits.ts";

import { encoded, noisy, resized } from "./video-footage.ts";
import { contrast, fault, firstFrame, SAMPLE_RATE, video, videoOf } from "./video-making.ts";
import { colourAt, decodePictures, decodeSound } from "./video-reading.ts";

const media = createSandboxMedia();
afterAll(() => media.close());

const params = { prompt: "a red house on green hills", seed: 1, seconds: 1, width: 64, height: 64 } as const;

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
  ])("of %p at %p is rejected", (resolution, ratio) => {
    expect(() => videoSize(resolution, ratio)).toThrow(MediaError);
  });
});

describe("a video", () => {
  test("has exactly the requested frames, pixels and samples, and reports its progress", async () => {
    const shares: number[] = [];
    const { bytes } = await media.makeVideo(params, undefined, (share) => shares.push(share));
    expect(probeVideo(bytes)).toEqual({
      format: "mp4",
      seconds: 1,
      width: 64,
      height: 64,
      rotation: 0,
      hasAudio: true,
    });
    const pictures = await decodePictures(bytes);
    expect(pictures.map((picture) => Math.round(24 * picture.seconds))).toEqual([...Array(24).keys()]);
    expect(pictures.every((picture) => picture.width === 64 && picture.height === 64)).toBe(true);
    const samples = await decodeSound(bytes);
    expect(samples.length).toBe(SAMPLE_RATE);
    expect(samples.some((sample) => Math.abs(sample) > 0.05)).toBe(true);
    expect(shares.length).toBeGreaterThan(5);
    expect(shares.toSorted((one, other) => one - other)).toEqual(shares);
    expect(shares.at(-1)).toBe(1);
    // It can be played while it loads: the index stands before the data.
    const text = Buffer.from(bytes).toString("latin1");
    expect(text.slice(4, 8)).toBe("ftyp");
    expect(text.indexOf("moov")).toBeLessThan(text.indexOf("mdat"));
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
  ])("with %s is rejected", async (_name, change) => {
    expect(await fault(media.makeVideo({ ...params, ...change }))).toBe("invalid");
  });

  test("ends when its signal aborts", async () => {
    const stop = new AbortController();
    const job = media.makeVideo({ ...params, seconds: 30 }, stop.signal, () => stop.abort());
    expect(await fault(job)).toBe("aborted");
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

  test("starts with the image", async () => {
    const picture = await firstFrame(videoOf("image", await image, params));
    const [[, , red], [, blue]] = [colourAt(picture, 0.1, 0.5), colourAt(picture, 0.9, 0.5)];
    expect([red > 200, blue > 200]).toEqual([true, true]);
  });

  test.each([
    ["text", "unsupported", () => ascii("hello")],
    ["an image that was cut off", "corrupt", (png: Uint8Array) => png.subarray(0, png.length / 2)],
  ] as const)("rejects %s as %s", async (_name, kind, spoil) => {
    expect(await fault(videoOf("image", spoil(await image), params))).toBe(kind);
  });
});

describe("a video from a video", () => {
  test("is generated in a child, and others after a rejected one", async () => {
    const refused = media.makeVideo({ ...params, video: (await video()).subarray(0, 700) });
    const made = media.makeVideo({ ...params, video: await video() });
    expect(await fault(refused)).toBe("corrupt");
    expect(contrast(await firstFrame(made.then(({ bytes }) => bytes)))).toBeGreaterThan(80);
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
  ] as const)("rejects %s as %s", async (_name, kind, spoil) => {
    expect(await fault(videoOf("video", spoil(await video()), params))).toBe(kind);
  });

  test("rejects frames that are larger than the header declares", async () => {
    const bomb = resized(await encoded("mp4", "color=black:s=4096x4096:r=1:d=1"), 160, 96);
    expect(probeVideo(bomb)).toMatchObject({ width: 160, height: 96 });
    expect(await fault(videoOf("video", bomb, params))).toBe("too_large");
  });
});

function ascii(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, "latin1"));
}
