/** Pictures that stand in audio files. */
import sharp from "sharp";

import type { Picture } from "#workers/children/copy-audio.ts";

import type { InputFile } from "../define.ts";
import { asMediaError } from "../faults.ts";
import { openImage } from "../image/sharp.ts";

/** Players show no larger ones, and some refuse them. */
const SIDE_PIXELS_MAX = 1_400;

/** A caller's image as players take it. @throws MediaError as openImage */
export async function artworkOf(file: InputFile): Promise<Picture> {
  const { image, format: given } = await openImage(file);
  const format = given === "png" ? "png" : "jpeg";
  const fitted = image
    .resize({ width: SIDE_PIXELS_MAX, height: SIDE_PIXELS_MAX, fit: "inside", withoutEnlargement: true })
    .toColourspace("srgb");
  const encoded = format === "png" ? fitted.png() : fitted.flatten({ background: "white" }).jpeg({ quality: 90 });
  try {
    const { data, info } = await encoded.toBuffer({ resolveWithObject: true });
    return { format, bytes: data, width: info.width, height: info.height };
  } catch (error) {
    throw asMediaError(error);
  }
}

/** The pictures that a file has, but for those of formats that few players show. */
export async function keptPictures(all: readonly Buffer[]): Promise<readonly Picture[]> {
  const pictures = await Promise.all(
    all.map(async (bytes) => {
      // Its header alone is read.
      const { format, width, height } = await sharp(bytes, { limitInputPixels: false })
        .metadata()
        .catch(() => NONE);
      return format === "jpeg" || format === "png" ? [{ format, bytes, width, height } as const] : [];
    }),
  );
  return pictures.flat();
}

const NONE = { format: undefined, width: 0, height: 0 } as const;

/** FLAC's block of a picture, as the comments of Ogg hold it. */
export function pictureComment({ format, bytes, width, height }: Picture): string {
  const number = (value: number): Buffer => {
    const four = Buffer.alloc(4);
    four.writeUInt32BE(value);
    return four;
  };
  const type = Buffer.from(`image/${format}`);
  const bits = format === "png" ? 32 : 24;
  const head = [number(FRONT_COVER), number(type.length), type, number(0), number(width), number(height), number(bits)];
  return Buffer.concat([...head, number(0), number(bytes.length), bytes]).toString("base64");
}

const FRONT_COVER = 3;
