/** Creates base-colour textures from an image of the call, or from a small seeded pattern. */
import sharp from "sharp";

import type { Random } from "../../random.ts";
import { decodeImage } from "../image/decode.ts";
import { encodeImage } from "../image/encode.ts";

export interface TextureFile {
  readonly bytes: Uint8Array;
  readonly mimeType: "image/png" | "image/jpeg";
}

/** Longer side of a texture, in pixels. It has more detail than a screen shows, and takes 100 to 300 KB. */
const TEXTURE_SIDE_PIXELS = 1_024;

/** Matches colour names of CSS. */
const COLOURS =
  /\b(?:red|crimson|orange|gold|yellow|lime|green|olive|teal|turquoise|cyan|blue|navy|indigo|violet|purple|magenta|pink|coral|brown|beige|ivory|white|silver|gray|grey|black)\b/i;

/** Motifs over the main colour, in a repeating tile of 64 × 64 pixels. */
const MOTIFS = [
  `<rect width="32" height="64"/>`,
  `<path d="M0 0h32v32h-32zM32 32h32v32h-32z"/>`,
  `<circle cx="32" cy="32" r="18"/>`,
  `<path d="M0 16h64v32h-64z"/>`,
] as const;

/**
 * Returns the image upright, in sRGB and scaled to texture size.
 * @param what subject of error messages, such as "The image"
 * @throws MediaError unsupported, too_large, corrupt
 */
export async function imageTexture(bytes: Uint8Array, what: string): Promise<TextureFile> {
  const { data, width, height, hasAlpha } = await decodeImage(bytes, what);
  const image = sharp(data, { raw: { width, height, channels: 4 } }).resize({
    width: TEXTURE_SIDE_PIXELS,
    height: TEXTURE_SIDE_PIXELS,
    fit: "inside",
    withoutEnlargement: true,
  });
  const format = hasAlpha ? "png" : "jpeg";
  return { bytes: await encodeImage(image, { format }), mimeType: `image/${format}` };
}

/** Returns a seeded motif over the first colour in the prompt, or over a seeded colour. */
export async function patternTexture(prompt: string, random: Random): Promise<TextureFile> {
  const colour = COLOURS.exec(prompt)?.[0].toLowerCase() ?? `hsl(${random.below(360)},55%,50%)`;
  const [motif, paint] = [random.pick(MOTIFS), random.pick(["white", "black"])];
  const opacity = (15 + random.below(20)) / 100;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="256" height="256">
    <pattern id="motif" width="64" height="64" patternUnits="userSpaceOnUse" fill="${paint}">${motif}</pattern>
    <rect width="256" height="256" fill="${colour}"/>
    <rect width="256" height="256" fill="url(#motif)" opacity="${opacity}"/>
  </svg>`;
  const file = await sharp(Buffer.from(svg)).removeAlpha().png().toBuffer();
  return { bytes: new Uint8Array(file), mimeType: "image/png" };
}
