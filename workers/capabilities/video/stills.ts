/** Writes frames of a scene as image files. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";

import { fileSource } from "#workers/children/file-source.ts";

import { runScene } from "./encode.ts";
import { muted, type Scene } from "./scene.ts";

interface StillsPlan {
  readonly name: string;
  readonly pixelFormat?: string;
  /** Label of an additional output whose times report the progress. It is needed for scenes that output frames only at their end. */
  readonly clock?: string;
  readonly onSeconds?: (seconds: number) => void;
}

/** Writes each frame as a PNG. @returns the paths in order. @throws MediaError corrupt, too_large */
export async function writeStills(
  folder: string,
  scene: Scene,
  { name, pixelFormat = "rgb24", clock, onSeconds }: StillsPlan,
): Promise<readonly string[]> {
  await runScene({
    scene: muted(scene),
    streams: [
      { label: scene.video, encoder: "png", pixelFormat },
      ...(clock === undefined ? [] : [{ label: clock, encoder: "rawvideo", isClock: true }]),
    ],
    output: { path: join(folder, `${name}-%05d.png`), muxer: "image2" },
    ...(onSeconds === undefined ? {} : { onSeconds }),
  });
  const names = await readdir(folder);
  const own = names.filter((one) => one.startsWith(`${name}-`) && one.endsWith(".png")).toSorted();
  return own.map((one) => join(folder, one));
}

/** Returns the filter that reads a still image as a video with one frame. */
export function stillSource(path: string): string {
  return fileSource("video", { path, container: "png_pipe" });
}
