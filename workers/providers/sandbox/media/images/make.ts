/** A picture from a prompt. */
import { encodePicture, type Encoding } from "./encode.ts";
import { rasterise } from "./raster.ts";

export interface PictureWish extends Encoding {
  readonly prompt: string;
  readonly negativePrompt?: string | undefined;
  readonly seed: number;
  readonly width: number;
  readonly height: number;
  readonly background?: "transparent" | "opaque" | undefined;
  readonly style?: "vivid" | "natural" | undefined;
  readonly steps?: number | undefined;
}

const SATURATION = { vivid: 1.3, natural: 0.8 } as const;

export async function makePicture(wish: PictureWish): Promise<Uint8Array> {
  const isTransparent = wish.background === "transparent";
  const drawing = await rasterise({ ...wish, isTransparent, hasCaption: true });
  const coloured = wish.style === undefined ? drawing : drawing.modulate({ saturation: SATURATION[wish.style] });
  return encodePicture(isTransparent ? coloured : coloured.flatten({ background: "#ffffff" }), wish);
}
