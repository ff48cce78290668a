/** Times at which pictures are seen and sound is heard: of files that are not as even as most. */
import { beforeAll, describe, expect, test } from "bun:test";
import sharp from "sharp";

import { type Ran, runCapability } from "./in-folder.ts";
import { refused } from "./refused.ts";
import { clipOf, frameAt, LOSSLESS, nameOf, probe, soundOf } from "./video-clips.ts";

const plain = (background: string) =>
  sharp({ create: { width: 64, height: 48, channels: 3, background } }).png().toBuffer(); // prettier-ignore

/** Red for two seconds, then blue for two. */
let slow: Uint8Array;
/** Two seconds of pictures, a tone in the second one. */
let lateSound: Uint8Array;
/** One second of pictures, red and then blue; three of sound. */
let longSound: Uint8Array;
beforeAll(async () => {
  const pages = [await plain("red"), await plain("blue")];
  slow = await sharp(pages, { join: { animated: true } })
    .gif({ delay: [2_000, 2_000] })
    .toBuffer();
  const tone = "sine=f=440:r=44100";
  lateSound = await clipOf(`testsrc2=s=64x48:r=25:d=2[v];${tone}:d=1,asetpts=PTS+1/TB[a]`, { hasSound: true });
  const halves = "color=c=red:s=64x48:r=10:d=0.5[r];color=c=blue:s=64x48:r=10:d=0.5[b];[r][b]concat=n=2,fps=10[v]";
  longSound = await clipOf(`${halves};${tone}:d=3[a]`, { hasSound: true });
});

/** The colour of each page of a picture, by name. */
async function colours(picture: Uint8Array): Promise<string[]> {
  const { pages = 1, width, height } = await sharp(picture).metadata();
  return Promise.all(
    Array.from({ length: pages }, async (_, page) => {
      const whole = sharp(picture, { page }).removeAlpha().toColourspace("srgb");
      const point = whole.extract({ left: width >> 1, top: height >> 1, width: 1, height: 1 });
      const [red = 0, green = 0, blue = 0] = await point.raw().toBuffer();
      return nameOf([red, green, blue]);
    }),
  );
}

const seen = async (video: Uint8Array, seconds: number) => nameOf((await frameAt(video, seconds)).at(32, 24));

describe("frames with a long duration", () => {
  const thumbnail = (time: number) =>
    runCapability("video.thumbnail", { video: slow }, { mode: "time", time, format: "png" });

  test("are in a thumbnail for their duration, and not after the end", async () => {
    for (const [time, colour] of [
      [0.1, "red"],
      [1.9, "red"],
      [2, "blue"],
      [3.9, "blue"],
    ] as const)
      // prettier-ignore
      expect(await colours((await thumbnail(time)).bytes())).toEqual([colour]);
    expect(await refused(thumbnail(4))).toBe("invalid: Expected params.time before the end at 4 s, got 4.");
  });

  test("are in an animation from its start to its end", async () => {
    const made = async (params: object) =>
      (await runCapability("video.to_gif", { video: slow }, { fps: 5, ...params })).bytes();
    const middle = await made({ start: 1, duration: 2 });
    const shown = await colours(middle);
    expect([shown[0], shown.at(-1)]).toEqual(["red", "blue"]);
    const ends = await made({ start: 3.4 });
    expect(new Set(await colours(ends))).toEqual(new Set(["blue"]));
    for (const [gif, length] of [
      [middle, 2_000],
      [ends, 600],
    ] as const) {
      const { delay = [] } = await sharp(gif, { animated: true }).metadata();
      expect(delay.reduce((sum, ms) => sum + ms, 0)).toBe(length);
    }
  });

  test("are cut, sped up, reversed and resampled by their duration", async () => {
    const piece = (
      await runCapability("video.trim", { video: slow }, { start: 3, duration: 0.5, ...LOSSLESS })
    ).bytes();
    expect([await probe(piece), await seen(piece, 0)]).toMatchObject([{ seconds: 0.5 }, "blue"]);
    const speed = async (params: object) =>
      (await runCapability("video.speed", { video: slow }, { ...LOSSLESS, ...params })).bytes();
    const fast = await speed({ rate: 4 });
    expect([await probe(fast), await seen(fast, 0.4), await seen(fast, 0.6)]).toMatchObject([
      { seconds: 1 },
      "red",
      "blue",
    ]);
    const back = await speed({ reverse: true });
    expect([await probe(back), await seen(back, 1.9), await seen(back, 2.1)]).toMatchObject([
      { seconds: 4 },
      "blue",
      "red",
    ]);
    const even = (await runCapability("video.transcode", { video: slow }, { fps: 25 })).bytes();
    expect(await probe(even)).toMatchObject({ seconds: 4, frames: 100 });
  });

  test("are extracted in the requested number", async () => {
    const params = { count: 4, pack: "files", format: "png" };
    const made = await runCapability("video.frames", { video: slow }, params);
    const all = await Promise.all((made.files ?? []).map((_, at) => colours(made.bytes(at))));
    expect(all.flat()).toEqual(["red", "red", "blue", "blue"]);
  });
});

test("a piece of a video with few frames ends in time if its packets are copied", async () => {
  const few = await clipOf("testsrc2=s=64x48:r=1:d=3[v]", { options: { g: "1" } });
  const made = await runCapability("video.trim", { video: few }, { mode: "copy", start: 1, duration: 1.5 });
  expect([made.output, await probe(made.bytes())]).toMatchObject([{ seconds: 1.5 }, { seconds: 1.5, frames: 2 }]);
});

test("a piece shorter than a frame is one frame", async () => {
  const single = await clipOf("color=c=red:s=64x48:r=25:d=0.04[v]");
  const slower = await runCapability("video.transcode", { video: single }, { fps: 1 });
  expect(await probe(slower.bytes())).toMatchObject({ frames: 1 });
  const thrice = await runCapability("video.concat", { videos: [single, single, single] });
  expect(await probe(thrice.bytes())).toMatchObject({ frames: 3, seconds: 0.12 });
});

describe("audio that starts late", () => {
  const loud = async (video: Uint8Array, spans: readonly (readonly [number, number])[]) =>
    Promise.all(spans.map(async ([from, to]) => (await soundOf(video, from, to)).peak > 0.05));

  test.each([
    [
      "video.trim",
      { start: 0.5 },
      [
        [0, 0.4],
        [0.6, 1.4],
      ],
      [false, true],
    ],
    [
      "video.speed",
      { rate: 2 },
      [
        [0, 0.4],
        [0.6, 0.9],
      ],
      [false, true],
    ],
    [
      "video.speed",
      { reverse: true },
      [
        [0, 0.9],
        [1.1, 1.9],
      ],
      [true, false],
    ],
  ] as const)("stays synchronous with its video in %s by %j", async (id, params, spans, expected) => {
    const made = await runCapability(id, { video: lateSound }, params);
    expect(await loud(made.bytes(), spans)).toEqual([...expected]);
  });

  test("has silence before it when it is extracted", async () => {
    const made = await runCapability("video.extract_audio", { video: lateSound }, { start: 0.5, end: 1.5 });
    expect(made.output).toMatchObject({ seconds: 1 });
    expect(await loud(made.bytes(), [[0, 0.4], [0.6, 0.9]])).toEqual([false, true]); // prettier-ignore
  });

  test("is found by the clock of a file with a late start", async () => {
    const graph = "testsrc2=s=64x48:r=10:d=1,setpts=PTS+5/TB[v];sine=f=440:r=44100:d=1,asetpts=PTS+5/TB[a]";
    const video = await clipOf(graph, { kind: "mkv", hasSound: true });
    const made = await runCapability("video.extract_audio", { video }, { start: 0.5, end: 0.8, format: "wav" });
    expect(made.output).toMatchObject({ seconds: 0.3 });
  });
});

describe("video that ends before its audio", () => {
  test("is held, and silence follows audio that ends before it", async () => {
    const piece = (await runCapability("video.trim", { video: longSound }, { start: 2, ...LOSSLESS })).bytes();
    expect(await seen(piece, 0)).toBe("blue");
    expect((await soundOf(piece, 0, 0.9)).peak).toBeGreaterThan(0.05);
    const video = await clipOf("testsrc2=s=64x48:r=25:d=2[v];sine=f=440:r=44100:d=1[a]", { hasSound: true });
    const silent = (await runCapability("video.trim", { video }, { start: 1.5 })).bytes();
    expect(await probe(silent)).toMatchObject({ seconds: 0.5, audio: { channels: 1 } });
  });

  test.each(["hls", "dash"])("is held in segments of %s, whose players end with the video", async (protocol) => {
    const params = { protocol, segment_seconds: 2, pack: "files" };
    const made = await runCapability("video.hls", { video: longSound }, params);
    const texts = (made.files ?? []).map((_, at) => Buffer.from(made.bytes(at)).toString("latin1"));
    const lengths = texts.flatMap((text) => Array.from(text.matchAll(/#EXTINF:([\d.]+)/g), ([, one]) => Number(one)));
    const told = /mediaPresentationDuration="PT([\d.]+)S"/.exec(texts[0] ?? "")?.[1];
    expect(told === undefined ? lengths.reduce((sum, one) => sum + one, 0) : Number(told)).toBe(3);
  });

  test("stays synchronous backwards", async () => {
    const back = await runCapability("video.speed", { video: longSound }, { reverse: true, ...LOSSLESS });
    expect(await probe(back.bytes())).toMatchObject({ seconds: 3, frames: 30 });
    expect([await seen(back.bytes(), 1), await seen(back.bytes(), 2.8)]).toEqual(["blue", "red"]);
  });
});

test("AVI with audio, whose clock is coarse, is written as MP4", async () => {
  const video = await clipOf("testsrc2=s=64x48:r=25:d=2[v];sine=f=440:r=44100:d=2[a]", { kind: "avi", hasSound: true });
  const made = await runCapability("video.transcode", { video });
  expect(await probe(made.bytes())).toMatchObject({ video_codec: "h264", audio: { codec: "aac" }, frames: 50 });
  expect((await soundOf(made.bytes(), 0.5, 1.5)).hertz).toBeCloseTo(440, -1);
});

describe("videos side by side", () => {
  test("have the frame rate of the fastest, and end correctly although a file omits its length", async () => {
    const graph = "testsrc2=s=64x48:r=25:d=1[v]";
    const untold = await clipOf(graph, { kind: "mkv", muxing: { live: "1" } });
    const made = await runCapability("video.stack", { videos: [untold, await clipOf(graph)] });
    expect(await probe(made.bytes())).toMatchObject({ frames: 25 });
    const mixed = await runCapability("video.stack", { videos: [slow, await clipOf(graph)] });
    expect(await probe(mixed.bytes())).toMatchObject({ seconds: 4, fps: 25 });
  });
});

describe("video.from_images", () => {
  const small = { width: 64, height: 48, preset: "ultrafast" } as const;
  const made = async (count: number, params: object): Promise<Ran> => {
    const images = Array.from({ length: count }, (_, at) => plain(at % 2 === 0 ? "red" : "blue"));
    return runCapability("video.from_images", { images: await Promise.all(images) }, { ...small, ...params });
  };

  test.each([
    [30, { seconds_each: 0.1, fps: 24 }, { seconds: 3, frames: 72 }],
    [10, { seconds_each: 0.1, fps: 10 }, { seconds: 1, frames: 10 }],
    // Fades of three frames: 10 × 7.5 frames − 9 × 3.
    [10, { seconds_each: 0.75, fps: 10, transition: "fade" }, { seconds: 4.8, frames: 48 }],
  ])("of %d by %j has the length of its images together", async (count, params, expected) => {
    expect(await probe((await made(count, params)).bytes())).toMatchObject(expected);
  });

  test("declares its colours as video, not as RGB", async () => {
    const { Demuxer } = await import("node-av/api");
    const demuxer = await Demuxer.open((await made(1, { seconds_each: 0.1 })).files?.[0]?.path ?? "");
    // BT.709 within the range of video, in FFmpeg's numbers.
    expect(demuxer.video()?.codecpar).toMatchObject({ colorSpace: 1, colorRange: 1 });
    await demuxer.close();
  });

  test("rejects less than a frame each, and sizes and lengths before it opens an image", async () => {
    expect(await refused(made(2, { seconds_each: 0.1, fps: 5 }))).toBe(
      "invalid: Expected params.seconds_each of one frame at least, 0.2 s, got 0.1.",
    );
    const images = [(await plain("red")).subarray(0, 60)];
    const broken = (params: object) => refused(runCapability("video.from_images", { images }, params));
    expect(await broken({ width: 3_840, height: 3_840 })).toContain("too_large: Expected video of at most");
    expect(await broken({})).toContain("corrupt");
  });
});

test("a sheet, and images that grow with their width, are checked before a frame is decoded", async () => {
  const tall = Buffer.from(await clipOf("testsrc2=s=16x256:r=10:d=1[v]"));
  // What is decoded first shows whether something was: its data is none.
  tall.fill(0xff, tall.indexOf("mdat") + 4, tall.indexOf("mdat") + 2_000);
  const frames = (params: object) => refused(runCapability("video.frames", { video: tall }, params));
  expect(await frames({ count: 2, width: 2_048 })).toContain("pictures of at most 16384 pixels on a side");
  expect(await frames({ count: 70, layout: "sheet", columns: 1 })).toContain("a sheet of at most 16384 pixels");
});

test("a video too short for a playlist is rejected", async () => {
  const video = await clipOf("testsrc2=s=64x48:r=25:d=0.4[v]");
  expect(await refused(runCapability("video.hls", { video }))).toBe(
    "invalid: Expected video of at least 0.5 s, got 0.4.",
  );
});

test("the selection of the most informative frame reports its progress", async () => {
  const video = await clipOf("testsrc2=s=64x48:r=25:d=4[v]");
  const told: number[] = [];
  await runCapability("video.thumbnail", { video }, {}, (share) => told.push(share));
  expect(told.length).toBeGreaterThan(10);
  expect([told.some((share) => share > 0.4 && share < 0.6), Math.max(...told) <= 0.99]).toEqual([true, true]);
});

test.each(["427x240", "241x427"])("DASH of %s has sizes of one shape, though their sides are rounded", async (size) => {
  const video = await clipOf(`testsrc2=s=430x430:r=10:d=1,crop=${size.replace("x", ":")}:exact=1[v]`, { kind: "gif" });
  const params = { protocol: "dash", heights: [144, 180, 240], pack: "files" };
  const made = await runCapability("video.hls", { video }, params);
  const index = Buffer.from(made.bytes()).toString();
  expect(index.match(/<AdaptationSet /g)).toHaveLength(1);
  expect(Array.from(index.matchAll(/<Representation [^>]*height="(\d+)"/g), ([, height]) => height)).toEqual([
    "240",
    "180",
    "144",
  ]);
});
