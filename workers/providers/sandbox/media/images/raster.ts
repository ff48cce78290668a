/** A scene as pixels. */
import sharp, { type Sharp } from "sharp";

import { drawScene, type SceneWish } from "./scene.ts";

/**
 * librsvg is asked for tiles of 2,000 pixels and draws the whole picture again for each: 4,096 × 4,096 took 12 s, drawn
 * at this size and enlarged it takes 2.
 */
const DRAWN_SIDE_MAX = 2_000;

/** From a buffer, where librsvg can follow no reference out of the drawing. */
export async function rasterise(wish: SceneWish): Promise<Sharp> {
  const { width, height } = wish;
  const scale = Math.min(1, DRAWN_SIDE_MAX / Math.max(width, height));
  if (scale === 1) return sharp(Buffer.from(drawScene(wish)));
  const drawn = { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) };
  // In one chain sharp would have the drawing itself enlarged.
  const { data, info } = await sharp(Buffer.from(drawScene({ ...wish, ...drawn })))
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  return sharp(data, { raw: { width: info.width, height: info.height, channels: 4 } }).resize(width, height, {
    fit: "fill",
  });
}
