/** Reads BMP images through FFmpeg, because sharp does not support them. For child processes only. */
import { IMAGE_PIXELS_MAX } from "#shared/calls/capabilities/limits.ts";
import { MediaError } from "#shared/children/media-error.ts";
import { readImageExtent } from "#shared/media/image-extent.ts";

import { loadFfmpeg } from "./ffmpeg.ts";
import { type FileSource, fileSource, whitelists } from "./file-source.ts";
import { runFilterGraph } from "./filter-graph.ts";

/** Converts a BMP file to a PNG file in the same folder. @returns the path of the PNG. @throws MediaError corrupt, too_large */
export async function bmpToPng(bmp: string): Promise<string> {
  const source = { path: bmp, container: "bmp_pipe" } as const;
  await checkSize(bmp);
  const pixelFormat = await pixelFormatOf(source);
  const path = `${bmp}.png`;
  await runFilterGraph({
    graph: `${fileSource("video", source)}[v]`,
    streams: [{ label: "v", encoder: "png", pixelFormat }],
    output: { path, muxer: "image2", options: { update: "1" } },
    secondsMax: 1,
  }).catch((error: unknown) => {
    throw damaged(error);
  });
  return path;
}

const HEAD_BYTES = 64;

/**
 * Checks the image size in the header of a BMP. FFmpeg would decode the image as soon as it opens the file. @throws MediaError corrupt,
 * too_large
 */
async function checkSize(bmp: string): Promise<void> {
  const file = Bun.file(bmp);
  const extent = readImageExtent(await file.slice(0, HEAD_BYTES).bytes(), file.size);
  if (extent === undefined) throw damaged();
  const pixels = extent.width * extent.height;
  if (pixels <= IMAGE_PIXELS_MAX) return;
  throw new MediaError("too_large", `Expected at most ${IMAGE_PIXELS_MAX} pixels, got ${pixels}.`);
}

/** Returns the pixel format for the PNG, based on the header of the BMP. @throws MediaError corrupt */
async function pixelFormatOf(source: FileSource): Promise<string> {
  const { lib } = await loadFfmpeg();
  const { Demuxer } = await import("node-av/api");
  const options = { format: source.container, options: whitelists(source.container) };
  const demuxer = await Demuxer.open(source.path, options).catch((error: unknown) => {
    throw damaged(error);
  });
  try {
    const picture = demuxer.video()?.codecpar;
    if (picture === undefined) throw damaged();
    const name = lib.avGetPixFmtName(picture.format as Parameters<typeof lib.avGetPixFmtName>[0]) ?? "";
    return /^(?:bgra|rgba|argb|abgr)$/.test(name) ? "rgba" : "rgb24";
  } finally {
    await demuxer.close();
  }
}

function damaged(cause?: unknown): MediaError {
  return new MediaError("corrupt", "The BMP cannot be read.", { cause });
}
