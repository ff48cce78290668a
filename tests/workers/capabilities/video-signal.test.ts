/** Depth, colours and tracks of videos: what a result keeps, and what it says that it lacks. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, describe, expect, test } from "bun:test";

import { loadFfmpeg } from "#workers/children/ffmpeg.ts";
import { outputSignalOf } from "#workers/capabilities/video/signal.ts";
import { runFilterGraph } from "#workers/children/filter-graph.ts";

import { runCapability } from "./in-folder.ts";

const folder = mkdtempSync(join(tmpdir(), "sluice-signal-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const FAST = { preset: "ultrafast" } as const;
const [PQ, HLG] = [16, 18];
/** Grey of 203 cd/m², diffuse white, in PQ and 10 bits (ITU-R BT.2408). */
const WHITE = 573;

/** AVMasteringDisplayMetadata: three primaries and a white point, then the darkest and the brightest light, as fractions. */
function masteringDisplay(): Buffer {
  const numbers = [34_000, 16_000, 13_250, 34_500, 7_500, 3_000, 15_635, 16_450].flatMap((one) => [one, 50_000]);
  return Buffer.from(new Int32Array([...numbers, 50, 10_000, 10_000_000, 10_000, 1, 1]).buffer);
}

let made = 0;
/** Half a second of one grey, 64 × 64, in H.265 and 10 bits. */
async function deepClip(transfer: number, level = WHITE): Promise<Uint8Array> {
  const { constants } = await loadFfmpeg();
  const path = join(folder, `clip-${++made}.mp4`);
  const isHdr = transfer === PQ || transfer === HLG;
  const matrix = isHdr ? "bt2020nc" : "bt709";
  const data = { type: constants.AV_PKT_DATA_MASTERING_DISPLAY_METADATA, data: masteringDisplay() };
  await runFilterGraph({
    graph: `color=s=64x64:r=10:d=0.5,format=yuv420p10le,lutyuv=y=${level}:u=512:v=512,setparams=colorspace=${matrix}:range=tv[v]`,
    streams: [
      {
        label: "v",
        encoder: "libx265",
        tag: "hvc1",
        pixelFormat: "yuv420p10le",
        options: { ...FAST, "x265-params": "log-level=none:pools=none:frame-threads=1" },
        color: { primaries: isHdr ? 9 : 1, transfer, ...(transfer === PQ ? { sideData: [data] } : {}) },
      },
    ],
    output: { path, muxer: "mp4" },
    secondsMax: 10,
  });
  return readFileSync(path);
}

/** Primaries, transfer and matrix as the box of an MP4 states them (ISO/IEC 14496-12, 12.1.5). */
function statedColors(mp4: Uint8Array): number[] {
  const bytes = Buffer.from(mp4);
  const at = bytes.indexOf("colrnclx") + 8;
  return at < 8 ? [] : [0, 2, 4].map((place) => bytes.readUInt16BE(at + place));
}

const probed = async (video: Uint8Array) => (await runCapability("video.probe", { video })).output ?? {};
/** Level of the first pixel, from 0 to 255. */
async function shownLevel(video: Uint8Array): Promise<number> {
  const made = await runCapability("video.thumbnail", { video }, { mode: "time", time: 0, format: "png" });
  const { default: sharp } = await import("sharp");
  const [level = 0] = await sharp(made.bytes()).raw().toBuffer();
  return level;
}

describe("HDR", () => {
  const clip = deepClip(PQ);

  test("is reported by the probe", async () => {
    const color = { primaries: "bt2020", transfer: "smpte2084", matrix: "bt2020nc", range: "limited" };
    expect(await probed(await clip)).toMatchObject({ bit_depth: 10, hdr: true, color });
  });

  test.each([
    ["h265", "mp4"],
    ["av1", "mp4"],
    ["vp9", "webm"],
  ])("is kept in %s, with its colours", async (video_codec, format) => {
    const made = await runCapability("video.transcode", { video: await clip }, { video_codec, format, ...FAST });
    expect(made.output?.["notes"]).toBeUndefined();
    expect(await probed(made.bytes())).toMatchObject({ bit_depth: 10, hdr: true, color: { transfer: "smpte2084" } });
    if (format === "mp4") {
      expect(statedColors(made.bytes())).toEqual([9, PQ, 9]);
      expect(Buffer.from(made.bytes()).includes("mdcv")).toBe(true);
    }
  });

  test.each([
    ["transcode", {}],
    ["trim", { duration: 0.3 }],
    ["text", { text: "x", size: 10, margin: 0, video_codec: "h265" }],
    [
      "pipeline",
      { operations: [{ operation: "rotate" }, { operation: "text", params: { text: "x", size: 10, margin: 0 } }] },
    ],
  ])("becomes SDR in video.%s if its encoder or an operation has 8 bits", async (id, params) => {
    const { operations, ...own } = params as { operations?: object };
    const asked = operations ? { operations, output: { ...FAST } } : { ...own, ...FAST };
    const made = await runCapability(`video.${id}`, { video: await clip }, asked);
    expect(made.output?.["notes"]).toEqual([expect.stringMatching(/tone-mapped from HDR \(PQ\) to SDR/)]);
    expect(statedColors(made.bytes())).toEqual([1, 1, 1]);
    expect(await probed(made.bytes())).toMatchObject({ bit_depth: 8, hdr: false });
  });

  test("is kept through operations that only move pixels", async () => {
    const operations = [{ operation: "crop", params: { width: 32, height: 32 } }, { operation: "resize", params: { width: 16 } }]; // prettier-ignore
    const output = { video_codec: "h265", ...FAST };
    const made = await runCapability("video.pipeline", { video: await clip }, { operations, output });
    expect(await probed(made.bytes())).toMatchObject({ bit_depth: 10, color: { transfer: "smpte2084" } });
  });

  test("is rendered with white as white, dark as dark, and monotonic brightness", async () => {
    const levels = [];
    for (const level of [64, 300, WHITE, 800, 940]) levels.push(await shownLevel(await deepClip(PQ, level)));
    expect(levels).toEqual(levels.toSorted((one, other) => one - other));
    expect(levels[0]).toBeLessThan(3);
    expect(levels[2]).toBeGreaterThan(205);
    expect(levels[4]).toBeGreaterThan(250);
    expect(await shownLevel(await deepClip(HLG, 721))).toBeGreaterThan(190);
  });

  test("reports the missing properties of several videos", async () => {
    const videos = [{ file_id: "file-sample-clip" }, await clip];
    for (const id of ["concat", "stack"]) {
      const { output } = await runCapability(`video.${id}`, { videos }, FAST);
      expect(output?.["notes"]).toEqual([expect.stringMatching(/^input\.videos\[1\]: .* tone-mapped from HDR/)]);
    }
  });
});

test("SDR in 10 bits keeps them if the codec can, and otherwise reports it", async () => {
  const video = await deepClip(1, 500);
  const kept = await runCapability("video.transcode", { video }, { video_codec: "h265", ...FAST });
  expect([kept.output?.["notes"], await probed(kept.bytes())]).toMatchObject([undefined, { bit_depth: 10 }]);
  const lost = await runCapability("video.transcode", { video }, FAST);
  expect(lost.output?.["notes"]).toEqual(["The picture has 8 instead of 10 bits per sample."]);
  expect(statedColors(lost.bytes())).toEqual([1, 1, 1]);
});

test("tracks that a result lacks are named, encoded or copied", async () => {
  const path = join(folder, "tracks.mp4");
  await runFilterGraph({
    graph: "color=s=64x64:r=10:d=1[v];sine=d=1[a];sine=d=1:f=880[b]",
    streams: [
      { label: "v", encoder: "libx264" },
      { label: "a", encoder: "aac" },
      { label: "b", encoder: "libmp3lame" },
    ],
    output: { path, muxer: "mp4" },
    secondsMax: 10,
  });
  const text = "1\n00:00:00,000 --> 00:00:00,500\nTea\n";
  const video = readFileSync(path);
  expect(await probed(video)).toMatchObject({ tracks: { video: 1, audio: 2, subtitles: 0 } });
  const dropped = "Audio track 2 (mp3) was dropped.";
  expect((await runCapability("video.transcode", { video }, FAST)).output?.["notes"]).toEqual([dropped]);
  expect((await runCapability("video.hls", { video }, { heights: [144] })).output?.["notes"]).toEqual([dropped]);
  const soft = await runCapability("video.subtitle", { video, subtitles: { text } }, { mode: "soft", language: "eng" });
  expect(soft.output?.["notes"]).toEqual([dropped]);
  const again = await runCapability("video.trim", { video: soft.bytes() }, { mode: "copy", duration: 1 });
  expect(again.output?.["notes"]).toEqual(["Subtitle track 1 (mov_text, eng) was dropped."]);
});

test.each([
  [8, "The picture was tone-mapped from HDR (PQ) to SDR (BT.709)."],
  [10, "The picture was tone-mapped from HDR (PQ) to SDR (BT.709), with 8 instead of 10 bits per sample."],
])("HDR in %d bits is reported with the bits that it loses", (bits, note) => {
  expect(
    outputSignalOf({ bits, transfer: PQ, primaries: 9, matrix: 9, isFullRange: false, sideData: [] }, false).notes,
  ).toEqual([note]);
});
