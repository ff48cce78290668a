/** Frames of a scene as pictures on the disk. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";

import { fileSource } from "#workers/children/file-source.ts";

import { runScene } from "./encode.ts";
import { muted, type Scene } from "./scene.ts";

/** Writes each frame of the scene as a PNG. @returns their paths, in order. @throws MediaError corrupt, too_large */
export async function writeStills(
  folder: string,
  scene: Scene,
  { name, pixelFormat = "rgb24" }: { readonly name: string; readonly pixelFormat?: string },
): Promise<readonly string[]> {
  await runScene({
    scene: muted(scene),
    streams: [{ label: scene.video, encoder: "png", pixelFormat }],
    output: { path: join(folder, `${name}-%05d.png`), muxer: "image2" },
  });
  const names = await readdir(folder);
  const own = names.filter((one) => one.startsWith(`${name}-`) && one.endsWith(".png")).toSorted();
  return own.map((one) => join(folder, one));
}

/** A still picture as a source of a graph; it shows for one frame. */
export function stillSource(path: string): string {
  return fileSource("video", { path, container: "png_pipe" });
}
