/** Videos for tests, as others make them, and what attackers make of those. */
import { join } from "node:path";

import { temporaryDirectory } from "#tests/support/infrastructure.ts";
import { type FilterGraphPlan, runFilterGraph } from "#workers/children/filter-graph.ts";

const KINDS = {
  mp4: { encoder: "libx264", options: { preset: "ultrafast" } },
  webm: { encoder: "libvpx", options: { b: "400k" } },
} as const;

/** @param frames an FFmpeg filter chain @param sound another, where the video is to have sound (in MP4) */
export async function encoded(muxer: keyof typeof KINDS, frames: string, sound?: string): Promise<Uint8Array> {
  const audio = { label: "a", encoder: "aac" };
  return written({
    graph: sound === undefined ? `${frames}[v]` : `${frames}[v];${sound}[a]`,
    streams: [{ label: "v", ...KINDS[muxer] }, ...(sound === undefined ? [] : [audio])],
    output: { muxer },
    secondsMax: 60,
  });
}

/** The file of a plan. */
export async function written(
  plan: Omit<FilterGraphPlan, "output"> & { readonly output: Omit<FilterGraphPlan["output"], "path"> },
): Promise<Uint8Array> {
  const folder = temporaryDirectory();
  const path = join(folder.directory, "output");
  try {
    await runFilterGraph({ ...plan, output: { ...plan.output, path } });
    return new Uint8Array(await Bun.file(path).arrayBuffer());
  } finally {
    folder.remove();
  }
}

/** With the matrix of a camera that was held upright: shown a quarter turn clockwise. */
export function turned(mp4: Uint8Array): Uint8Array {
  const result = mp4.slice();
  const at = Buffer.from(result.buffer).indexOf("tkhd") + 4 + 40;
  const view = new DataView(result.buffer);
  [0, 0x1_0000, 0, -0x1_0000, 0, 0, 0, 0, 0x4000_0000].forEach((value, index) => view.setInt32(at + 4 * index, value));
  return result;
}

/** With another width and height in the header. */
export function resized(mp4: Uint8Array, width: number, height: number): Uint8Array {
  const result = mp4.slice();
  const at = Buffer.from(result.buffer).indexOf("avc1", 100) + 28;
  const view = new DataView(result.buffer);
  view.setUint16(at, width);
  view.setUint16(at + 2, height);
  return result;
}

/** With noise for data. */
export function noisy(mp4: Uint8Array): Uint8Array {
  const start = Buffer.from(mp4).indexOf("mdat") + 4;
  return mp4.map((value, at) => (at < start ? value : (at * 7_919) % 251));
}
