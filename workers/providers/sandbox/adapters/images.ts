/** Image adapter of the sandbox. It runs jobs like a provider's queue and returns images of exactly the requested size and format. */
import { readImageHeader } from "#shared/media/image-header.ts";

import type { Artifact, ImageEditInput, ImageInput, MediaAdapters } from "../../media.ts";
import type { ImageFormat } from "../media/image/encode.ts";
import type { SandboxMedia } from "../media/index.ts";
import { keepsJobs } from "./own-jobs.ts";
import { mediaModel, type Tools } from "./faults.ts";

const USUAL = { width: 1_024, height: 1_024 };
/** Sizes in pixels by resolution label. */
const LABELLED: Readonly<Record<string, typeof USUAL>> = {
  "1K": USUAL,
  "2K": { width: 2_048, height: 2_048 },
};

export function createSandboxImages({ media, delay }: Tools): Pick<MediaAdapters, "images" | "imageEdits"> {
  return {
    images: keepsJobs<ImageInput>(({ input, signal }) => paint(input, media(), signal), delay),
    imageEdits: keepsJobs<ImageEditInput>(
      ({ input, sourceModel, signal }) => change(input, mediaModel(sourceModel).enlarges, media(), signal),
      delay,
      (_input, fault) => (/\bThe mask\b/.test(fault) ? "mask_base64" : "image_base64"),
    ),
  };
}

function paint(input: ImageInput, media: SandboxMedia, signal: AbortSignal): Promise<readonly Artifact[]> {
  const { prompt, outputCompression: quality } = input;
  const background = known(input.background, ["transparent", "opaque"] as const);
  const style = known(input.style, ["vivid", "natural"] as const);
  const params = { prompt, background, style, quality, ...sizeOf(input) };
  return severally(input, (one) => media.makeImage({ ...params, ...one }, signal));
}

function change(
  input: ImageEditInput,
  enlarges: number | undefined,
  media: SandboxMedia,
  signal: AbortSignal,
): Promise<readonly Artifact[]> {
  const { prompt, image, mask } = input;
  const strength = enlarges === undefined ? input.strength : 0;
  // Without a size, or with "auto", the image keeps its size.
  const isSized = /^\d+x\d+$/.test(input.size ?? "");
  const size = enlarges === undefined ? (isSized ? sizeOf(input) : undefined) : enlarged(image.bytes, enlarges);
  const edit = { prompt, strength, size, image: image.bytes, mask: mask?.bytes };
  return severally(input, (one) => media.editImage({ ...edit, ...one }, signal));
}

/** Generates the requested number of images. Each image has a different seed, because equal seeds produce equal images. */
function severally(
  { n, seed = 0, outputFormat: format = "png" }: Pick<ImageInput, "n" | "seed" | "outputFormat">,
  make: (one: { readonly seed: number; readonly format: ImageFormat }) => Promise<{ readonly bytes: Uint8Array }>,
): Promise<readonly Artifact[]> {
  return Promise.all(
    Array.from({ length: n }, async (_, at): Promise<Artifact> => {
      const { bytes } = await make({ seed: seed + at, format });
      return { bytes, contentType: `image/${format}` };
    }),
  );
}

function known<T extends string>(value: string | undefined, values: readonly T[]): T | undefined {
  return values.find((one) => one === value);
}

function sizeOf({ size, imageSize = "" }: Pick<ImageInput, "size" | "imageSize">): typeof USUAL {
  const [, width, height] = /^(\d+)x(\d+)$/.exec(size ?? "") ?? [];
  if (width === undefined || height === undefined) return LABELLED[imageSize] ?? USUAL;
  return { width: Number(width), height: Number(height) };
}

/** Returns the size of an image enlarged by a factor. Undefined for an unreadable header; the decoder reports its error. */
function enlarged(bytes: Uint8Array, times: number): typeof USUAL | undefined {
  const header = readImageHeader(bytes);
  return header ? { width: times * header.width, height: times * header.height } : undefined;
}
