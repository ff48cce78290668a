import { defineCapability, input } from "../define.ts";
import { flag } from "../params.ts";
import { withColorProfile } from "./kept.ts";
import { MEGAPIXEL_PRICE, PHOTO } from "./operation.ts";
import { openImage, writeImage } from "./sharp.ts";

export default defineCapability({
  id: "image.strip_metadata",
  display_name: "Strip metadata",
  description: "Removes all metadata (camera, location and others) from an image, after applying its EXIF orientation.",
  output_modality: "image",
  input: { image: input("image", "The image.") },
  params: { keep_color_profile: flag("Keep the colour profile.", true) },
  sample_input: PHOTO,
  examples: [
    { title: "Keep the colour profile only", params: {} },
    { title: "Remove the colour profile too", params: { keep_color_profile: false } },
  ],
  price: MEGAPIXEL_PRICE,
  engine: "sharp",
  async run({ params, inputs, folder }) {
    const opened = await openImage(inputs.image, { frames: true, depthFor: { format: undefined } });
    const image = params.keep_color_profile ? await withColorProfile(opened.image) : opened.image;
    const output = { format: undefined, quality: 92, lossless: true, background: "white", keep_metadata: false };
    return writeImage(folder, image, opened, output);
  },
});
