/** Videos for tests, and what is seen and heard in them. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll } from "bun:test";
import sharp from "sharp";

import { type Container, fileSource } from "#workers/children/file-source.ts";
import { runFilterGraph } from "#workers/children/filter-graph.ts";

import { runCapability } from "./in-folder.ts";

/** 3 s of 320 × 180 at 25 frames a second, with sound in two channels. */
export const CLIP = { file_id: "file-sample-clip" } as const;
/** Keeps every pixel. */
export const LOSSLESS = { crf: 0, preset: "ultrafast" } as const;

const folder = mkdtempSync(join(tmpdir(), "sluice-clips-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let made = 0;

interface Kind {
  readonly muxer: string;
  readonly container: Container;
  readonly video: string;
  readonly audio: string;
  readonly pixelFormat?: string;
  readonly options?: Readonly<Record<string, string>>;
}

const KINDS = {
  mp4: { muxer: "mp4", container: "mov", video: "libx264", audio: "aac", options: { crf: "1" } },
  webm: { muxer: "webm", container: "matroska", video: "libvpx-vp9", audio: "libopus", options: { "cpu-used": "8" } },
  mkv: { muxer: "matroska", container: "matroska", video: "libx264", audio: "aac", options: { crf: "1" } },
  avi: { muxer: "avi", container: "avi", video: "mpeg4", audio: "libmp3lame", options: { b: "2M" } },
  gif: { muxer: "gif", container: "gif", video: "gif", audio: "", pixelFormat: "rgb8" },
} as const satisfies Readonly<Record<string, Kind>>;

/** @param graph with the open end `[v]`, and `[a]` where `hasSound`. @param options of the picture's encoder. @param muxing of its container */
export async function clipOf(
  graph: string,
  {
    kind = "mp4",
    hasSound = false,
    options = {},
    muxing = {},
  }: {
    kind?: keyof typeof KINDS;
    hasSound?: boolean;
    options?: object;
    muxing?: Readonly<Record<string, string>>;
  } = {},
): Promise<Uint8Array> {
  const { muxer, video, audio, ...more }: Kind = KINDS[kind];
  const path = join(folder, `clip-${++made}.${kind}`);
  const pixelFormat = more.pixelFormat === undefined ? {} : { pixelFormat: more.pixelFormat };
  await runFilterGraph({
    graph,
    streams: [
      { label: "v", encoder: video, ...pixelFormat, options: { ...more.options, ...options } },
      ...(hasSound ? [{ label: "a", encoder: audio, options: { b: "192k" } }] : []),
    ],
    output: { path, muxer, options: muxing },
    secondsMax: 3_600,
  });
  return readFileSync(path);
}

/** The source of a graph. */
function sourceOf(video: Uint8Array, kind: "video" | "audio"): string {
  const path = join(folder, `seen-${++made}`);
  writeFileSync(path, video);
  const isMatroska = Buffer.from(video.subarray(0, 4)).toString("hex") === "1a45dfa3";
  const isGif = Buffer.from(video.subarray(0, 3)).toString() === "GIF";
  return fileSource(kind, { path, container: isGif ? "gif" : isMatroska ? "matroska" : "mov" });
}

export interface Picture {
  readonly width: number;
  readonly height: number;
  /** Red, green and blue. */
  at(x: number, y: number): readonly [number, number, number];
}

/** Returns the picture that is seen at a time, in seconds. */
export async function frameAt(video: Uint8Array, seconds: number): Promise<Picture> {
  const path = join(folder, `frame-${++made}.png`);
  await runFilterGraph({
    graph: `${sourceOf(video, "video")},trim=start=${seconds},trim=end_frame=1[v]`,
    streams: [{ label: "v", encoder: "png", pixelFormat: "rgb24" }],
    output: { path, muxer: "image2", options: { update: "1" } },
    secondsMax: 120,
  });
  const { data, info } = await sharp(path).removeAlpha().raw().toBuffer({ resolveWithObject: true });
  const { width, height } = info;
  return {
    width,
    height,
    at: (x, y) => {
      const from = (y * width + x) * 3;
      return [data[from] ?? 0, data[from + 1] ?? 0, data[from + 2] ?? 0];
    },
  };
}

/** Names the plain colour of a pixel. */
export function nameOf([red, green, blue]: readonly [number, number, number]): string {
  const names = ["black", "blue", "lime", "aqua", "red", "magenta", "yellow", "white"] as const;
  return names[(red > 127 ? 4 : 0) + (green > 127 ? 2 : 0) + (blue > 127 ? 1 : 0)] ?? "";
}

/** All pixels of all frames. */
export async function pixelsOf(video: Uint8Array): Promise<Buffer> {
  const path = join(folder, `raw-${++made}`);
  await runFilterGraph({
    graph: `${sourceOf(video, "video")}[v]`,
    streams: [{ label: "v", encoder: "rawvideo" }],
    output: { path, muxer: "rawvideo" },
    secondsMax: 120,
  });
  return readFileSync(path);
}

const RATE = 8_000;

/** Returns the loudest sample and the pitch in hertz of the sound from one time to another. */
export async function soundOf(video: Uint8Array, from: number, to: number): Promise<{ peak: number; hertz: number }> {
  const path = join(folder, `sound-${++made}.wav`);
  await runFilterGraph({
    graph: `${sourceOf(video, "audio")},pan=mono|c0=c0,aresample=${RATE},atrim=start=${from}:end=${to}[a]`,
    streams: [{ label: "a", encoder: "pcm_s16le" }],
    output: { path, muxer: "wav" },
    secondsMax: 120,
  });
  const bytes = readFileSync(path);
  const at = bytes.indexOf("data") + 8;
  const samples = Array.from({ length: (bytes.length - at) >> 1 }, (_, i) => bytes.readInt16LE(at + i * 2) / 32_767);
  const crossed = samples.filter((one, i) => one >= 0 && (samples[i - 1] ?? 0) < 0).length;
  return { peak: Math.max(0, ...samples.map(Math.abs)), hertz: (crossed * RATE) / samples.length };
}

export async function probe(video: Uint8Array): Promise<Readonly<Record<string, unknown>>> {
  const { output } = await runCapability("video.probe", { video }, { count_frames: true });
  return output ?? {};
}

/** Red above, blue below; 1 s at 25 frames a second. */
export const HALVES = "color=c=red:s=160x60:r=25:d=1[u];color=c=blue:s=160x60:r=25:d=1[l];[u][l]vstack[v]";
/** Half a second of each of four colours. */
export const COLORS = ["red", "lime", "blue", "white"]
  .map((name, at) => `color=c=${name}:s=64x48:r=10:d=0.5[c${at}]`)
  .concat("[c0][c1][c2][c3]concat=n=4,fps=10[v]")
  .join(";");
