/** Results of videos that are no videos, and videos that are made of other things. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { BlobReader, TextWriter, ZipReader } from "@zip.js/zip.js";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import sharp from "sharp";

import { runFilterGraph } from "#workers/children/filter-graph.ts";

import { type Ran, runCapability } from "./in-folder.ts";
import { refused } from "./refused.ts";

/** 3 s of 320 × 180 at 25 frames a second, with sound in two channels. */
const CLIP = { file_id: "file-sample-clip" } as const;
const PHOTO = { file_id: "file-sample-photo" } as const;

const folder = mkdtempSync(join(tmpdir(), "sluice-stills-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Red, green and blue for a second each, without sound; the name tells them apart. */
let colours: Uint8Array;
let gif: Uint8Array;
beforeAll(async () => {
  const plain = ["red", "lime", "blue"].map((colour, at) => `color=c=${colour}:s=160x120:r=10:d=1[c${at}]`);
  const graph = `${plain.join(";")};[c0][c1][c2]concat=n=3:v=1:a=0[v]`;
  const path = join(folder, "colours.mp4");
  await runFilterGraph({ graph, streams: [{ label: "v", encoder: "libx264", options: { crf: "1" } }], output: { path, muxer: "mp4" }, secondsMax: 10 }); // prettier-ignore
  colours = await Bun.file(path).bytes();
  gif = (await runCapability("video.to_gif", { video: colours }, { width: 80 })).bytes();
});

const probe = async (video: Uint8Array) =>
  (await runCapability("video.probe", { video }, { count_frames: true })).output;

/** The colour in the middle of a picture, by the component that is high: `r`, `g` or `b`. */
async function hue(picture: Uint8Array, page?: number): Promise<string> {
  const { data, info } = await sharp(picture, page === undefined ? {} : { page })
    .removeAlpha()
    .toColourspace("srgb")
    .raw()
    .toBuffer({ resolveWithObject: true });
  const at = (Math.floor(info.height / 2) * info.width + Math.floor(info.width / 2)) * info.channels;
  return ["r", "g", "b"].filter((_, component) => (data[at + component] ?? 0) > 128).join("");
}

/** Names of a zip, and its text members. */
async function unpacked(made: Ran): Promise<Map<string, string>> {
  const reader = new ZipReader(new BlobReader(new Blob([made.bytes().slice()])));
  const all = new Map<string, string>();
  for (const entry of await reader.getEntries()) {
    if (!entry.directory) all.set(entry.filename, await entry.getData(new TextWriter()));
  }
  return all;
}

describe("video.thumbnail", () => {
  test.each([
    [0.5, "r"],
    [1.5, "g"],
    [2.5, "b"],
  ])("at %d s is the frame of that time", async (time, expected) => {
    const made = await runCapability("video.thumbnail", { video: colours }, { mode: "time", time, format: "png" });
    expect(made.output).toMatchObject({ width: 160, height: 120, format: "png" });
    expect(await hue(made.bytes())).toBe(expected);
  });

  test("of both sides is cropped to their shape, and an animation is supported", async () => {
    const made = await runCapability("video.thumbnail", { video: gif }, { width: 40, height: 40 });
    expect(await sharp(made.bytes()).metadata()).toMatchObject({ format: "jpeg", width: 40, height: 40 });
  });

  test("without its time, or after the end, is rejected", async () => {
    const video = { video: colours };
    expect(await refused(runCapability("video.thumbnail", video, { mode: "time" }))).toContain("Expected params.time");
    expect(await refused(runCapability("video.thumbnail", video, { mode: "time", time: 9 }))).toBe(
      "invalid: Expected params.time before the end at 3 s, got 9.",
    );
  });
});

describe("video.frames", () => {
  test.each([
    [{ count: 3 }, ["r", "g", "b"]],
    [{ interval: 1.5 }, ["r", "g"]],
    [{ fps: 2 }, ["r", "r", "g", "g", "b", "b"]],
    [{}, ["r", "g", "b"]],
  ])("by %j returns the images in their order", async (params, expected) => {
    const made = await runCapability("video.frames", { video: colours }, { ...params, pack: "files", format: "png" });
    expect(await Promise.all((made.files ?? []).map((_, at) => hue(made.bytes(at))))).toEqual(expected);
    expect(made.files?.[0]?.name).toBe("frame-001.png");
  });

  test("in one sheet lists the position and time of each", async () => {
    const made = await runCapability(
      "video.frames",
      { video: colours },
      { count: 3, layout: "sheet", columns: 2, width: 80 },
    );
    const files = await unpacked(made);
    expect([...files.keys()]).toEqual(["sheet.jpg", "sheet.vtt"]);
    expect(files.get("sheet.vtt")).toBe(
      "WEBVTT\n\n00:00:00.000 --> 00:00:01.000\nsheet.jpg#xywh=0,0,80,60\n\n" +
        "00:00:01.000 --> 00:00:02.000\nsheet.jpg#xywh=80,0,80,60\n\n00:00:02.000 --> 00:00:03.000\nsheet.jpg#xywh=0,60,80,60\n",
    );
  });

  test("in two ways is rejected", async () => {
    const video = { video: colours };
    expect(await refused(runCapability("video.frames", video, { count: 3, fps: 1 }))).toContain("params.");
  });
});

describe("video.to_gif", () => {
  test.each(["gif", "webp"])("as %s has its frames, size and length, with the same bytes each time", async (format) => {
    const params = { start: 1, duration: 2, fps: 5, width: 80, format };
    const [one, two] = [await runCapability("video.to_gif", { video: colours }, params), await runCapability("video.to_gif", { video: colours }, params)]; // prettier-ignore
    expect(Buffer.from(one.bytes()).equals(Buffer.from(two.bytes()))).toBe(true);
    const facts = await sharp(one.bytes(), { animated: true }).metadata();
    // Frames that are the same as the one before may be told as its length.
    expect(facts).toMatchObject({ width: 80, pageHeight: 60, format });
    expect(facts.delay?.reduce((sum, ms) => sum + ms, 0)).toBe(2_000);
    expect(await hue(one.bytes(), 0)).toBe("g");
    expect(await hue(one.bytes(), (facts.pages ?? 1) - 1)).toBe("b");
  });
});

describe("video.extract_audio", () => {
  test("returns the audio in the video's own format, a piece of it, and in another", async () => {
    const whole = await runCapability("video.extract_audio", { video: CLIP });
    expect(whole.output).toMatchObject({ format: "m4a", channels: 2, sample_rate: 44_100 });
    const piece = await runCapability("video.extract_audio", { video: CLIP }, { start: 1, end: 2.5, format: "wav" });
    expect(piece.output).toMatchObject({ format: "wav", seconds: 1.5 });
  });

  test("of a missing track, or of a video without audio, is rejected", async () => {
    expect(await refused(runCapability("video.extract_audio", { video: CLIP }, { stream: 3 }))).toBe(
      "invalid: Expected params.stream below 1, got 3.",
    );
    expect(await refused(runCapability("video.extract_audio", { video: colours }))).toBe(
      "corrupt: The file contains no audio.",
    );
  });
});

describe("video.from_images", () => {
  test("displays each image for the requested time, with audio that ends with them", async () => {
    const images = [PHOTO, PHOTO, PHOTO];
    const params = { seconds_each: 0.5, width: 160, height: 90, fps: 10 };
    const made = await runCapability("video.from_images", { images, audio: { file_id: "file-sample-tune" } }, params);
    expect(await probe(made.bytes())).toMatchObject({
      seconds: 1.5,
      width: 160,
      height: 90,
      frames: 15,
      audio: { codec: "aac" },
    });
  });

  test("fades by as much as the images overlap, and moves", async () => {
    const params = { seconds_each: 2, transition: "fade", motion: "ken_burns", width: 160, height: 90, fps: 10 };
    const made = await runCapability("video.from_images", { images: [PHOTO, PHOTO] }, params);
    expect(await probe(made.bytes())).toMatchObject({ seconds: 3, frames: 30, audio: null });
  });
});

describe("video.stack", () => {
  test.each([
    ["row", 2, [320, 120]],
    ["column", 2, [160, 240]],
    ["grid", 3, [320, 240]],
    ["pip", 2, [160, 120]],
  ] as const)("as a %s of %d has their combined size", async (layout, count, [width, height]) => {
    const videos = Array.from({ length: count }, () => colours);
    const { output } = await runCapability("video.stack", { videos }, { layout });
    expect(output).toMatchObject({ width, height, seconds: 3, audio_codec: null });
  });

  test("leaves gaps, mixes both tracks, and holds the last frame of the shorter", async () => {
    const short = (await runCapability("video.trim", { video: CLIP }, { duration: 1 })).bytes();
    const made = await runCapability("video.stack", { videos: [short, CLIP] }, { gap: 10, audio: "mix" });
    expect(await probe(made.bytes())).toMatchObject({ width: 650, height: 180, seconds: 3, audio: { channels: 2 } });
  });

  test("of three nested inputs is rejected", async () => {
    const videos = [colours, colours, colours];
    expect(await refused(runCapability("video.stack", { videos }, { layout: "pip" }))).toBe(
      "invalid: Expected 2 videos for params.layout pip, got 3.",
    );
  });
});

describe("video.hls", () => {
  test.each(["ts", "fmp4"])("in segments of %s has a playlist of its sizes, none above its own", async (container) => {
    const made = await runCapability(
      "video.hls",
      { video: CLIP },
      { heights: [144, 180, 720], container, segment_seconds: 2 },
    );
    const files = await unpacked(made);
    expect(made.output).toMatchObject({ heights: [180, 144], playlist: "index.m3u8" });
    const index = files.get("index.m3u8") ?? "";
    expect(Array.from(index.matchAll(/RESOLUTION=(\S+?),/g), ([, size]) => size)).toEqual(["320x180", "256x144"]);
    for (const playlist of ["stream-180p.m3u8", "stream-144p.m3u8"]) {
      expect(index).toContain(playlist);
      const text = files.get(playlist) ?? "";
      const segments = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
      expect(segments).toHaveLength(2);
      expect(segments.filter((name) => !files.has(name))).toEqual([]);
      expect(text).toContain("#EXT-X-ENDLIST");
    }
  });

  test("as DASH names its segments by a template, and all decode", async () => {
    const made = await runCapability(
      "video.hls",
      { video: colours },
      { protocol: "dash", heights: [144], segment_seconds: 2, pack: "files" },
    );
    const names = (made.files ?? []).map(({ name }) => name);
    expect(names[0]).toBe("index.mpd");
    expect(Buffer.from(made.bytes()).toString()).toContain('height="120"');
    const video = names.filter((name) => name.startsWith("stream-0"));
    expect(video).toEqual(["stream-0-0001.m4s", "stream-0-0002.m4s", "stream-0-init.mp4"]);
    // Put one behind the other, fragments are a video.
    const whole = Buffer.concat([names.indexOf("stream-0-init.mp4"), names.indexOf("stream-0-0001.m4s"), names.indexOf("stream-0-0002.m4s")].map((at) => made.bytes(at))); // prettier-ignore
    expect(await probe(whole)).toMatchObject({ frames: 30, width: 160, height: 120 });
  });
});

/** Returns which of red, green and blue are seen at these places of a video, as `100`. */
async function seenAt(
  video: Uint8Array,
  time: number,
  places: readonly (readonly [number, number])[],
): Promise<string[]> {
  const still = await runCapability("video.thumbnail", { video }, { mode: "time", time, format: "png" });
  return Promise.all(
    places.map(async ([left, top]) => {
      const point = sharp(still.bytes()).removeAlpha().extract({ left, top, width: 1, height: 1 }).raw();
      const { data } = await point.toBuffer({ resolveWithObject: true });
      return [...data].map((part) => (part > 128 ? 1 : 0)).join("");
    }),
  );
}

describe("pixels of", () => {
  test("a grid, a column with a gap, and one within the other are at their positions", async () => {
    const of = async (start: number) =>
      (await runCapability("video.trim", { video: colours }, { start, duration: 0.8, crf: 1 })).bytes();
    const videos = [await of(0.1), await of(1.1), await of(2.1)];
    const grid = await runCapability("video.stack", { videos }, { layout: "grid" });
    const corners = [[80, 60], [240, 60], [80, 180], [240, 180]] as const; // prettier-ignore
    expect(await seenAt(grid.bytes(), 0.4, corners)).toEqual(["100", "010", "001", "000"]);
    const column = await runCapability("video.stack", { videos: videos.slice(0, 2) }, { layout: "column", gap: 20 });
    expect(await seenAt(column.bytes(), 0.4, [[80, 60], [80, 130], [80, 200]])).toEqual(["100", "000", "010"]); // prettier-ignore
    const within = await runCapability("video.stack", { videos: videos.slice(0, 2) }, { layout: "pip", pip_scale: 50 });
    expect(await seenAt(within.bytes(), 0.4, [[10, 10], [120, 80]])).toEqual(["100", "010"]); // prettier-ignore
  });

  test("a fade are of both images in its middle, and those of a motion change", async () => {
    const plain = (background: string): Promise<Buffer> =>
      sharp({ create: { width: 160, height: 120, channels: 3, background } })
        .png()
        .toBuffer();
    const small = { width: 160, height: 120, fps: 10, crf: 1 };
    const images = [await plain("red"), await plain("blue")];
    const faded = await runCapability(
      "video.from_images",
      { images },
      { ...small, seconds_each: 2, transition: "fade" },
    );
    const place = [[80, 60]] as const;
    expect(await seenAt(faded.bytes(), 0.5, place)).toEqual(["100"]);
    expect(await seenAt(faded.bytes(), 2.5, place)).toEqual(["001"]);
    const params = { mode: "time", format: "png" };
    const middle = await runCapability("video.thumbnail", { video: faded.bytes() }, { ...params, time: 1.5 });
    const { channels } = await sharp(middle.bytes()).stats();
    for (const at of [0, 2]) expect(Math.abs((channels[at]?.mean ?? 0) - 127)).toBeLessThan(15);
    const moving = await runCapability(
      "video.from_images",
      { images: [PHOTO] },
      { ...small, seconds_each: 2, motion: "ken_burns" },
    );
    const [first, last] = [
      await runCapability("video.thumbnail", { video: moving.bytes() }, { ...params, time: 0 }),
      await runCapability("video.thumbnail", { video: moving.bytes() }, { ...params, time: 1.8 }),
    ];
    const { output } = await runCapability("image.compare", { image: first.bytes(), other: last.bytes() });
    expect(output?.["different_share"]).toBeGreaterThan(0.3);
  });

  test("concatenated segments of HLS are all frames with their audio", async () => {
    const params = { heights: [144, 180], segment_seconds: 2, pack: "files" };
    const made = await runCapability("video.hls", { video: CLIP }, params);
    const names = (made.files ?? []).map(({ name }) => name);
    const parts = ["init.mp4", "0000.m4s", "0001.m4s"].map((end) => made.bytes(names.indexOf(`stream-144p-${end}`)));
    expect(await probe(Buffer.concat(parts))).toMatchObject({
      frames: 75,
      width: 256,
      height: 144,
      audio: { channels: 2 },
    });
  });
});
