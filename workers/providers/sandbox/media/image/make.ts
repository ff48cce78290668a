/** Generates an image from a prompt: a seeded scene with the prompt as its caption. */
import { addCaption } from "./caption.ts";
import { encodeImage, type Encoding } from "./encode.ts";
import { paintScene, type SceneParams } from "./scene.ts";

export interface ImageParams extends Omit<SceneParams, "isTransparent">, Encoding {
  readonly background?: "transparent" | "opaque" | undefined;
  readonly style?: "vivid" | "natural" | undefined;
}

const SATURATION = { vivid: 1.3, natural: 0.8 } as const;

/** Returns a file of exactly the requested size and format; equal parameters produce equal bytes. */
export async function makeImage(params: ImageParams): Promise<Uint8Array> {
  const isTransparent = params.background === "transparent";
  const scene = await paintScene({ ...params, isTransparent });
  const coloured = params.style === undefined ? scene : scene.modulate({ saturation: SATURATION[params.style] });
  const captioned = await addCaption(coloured, params);
  return encodeImage(isTransparent ? captioned : captioned.removeAlpha(), params);
}
