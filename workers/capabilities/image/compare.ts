import { defineCapability, input, type InputFile } from "../define.ts";
import { integer } from "../params.ts";
import { MEGAPIXEL_PRICE } from "./operation.ts";
import { openImage } from "./sharp.ts";

export default defineCapability({
  id: "image.compare",
  display_name: "Compare images",
  description: "Measures how much two images differ: share of different pixels, PSNR and perceptual hash distance.",
  output_modality: "text",
  input: {
    image: input("image", "The image."),
    other: input("image", "The image to compare it with. It is scaled to the size of the first."),
  },
  params: {
    tolerance: integer("Maximum channel difference at which pixels still count as equal.", {
      min: 0,
      max: 255,
      default: 8,
    }),
  },
  sample_input: { image: { file_id: "file-sample-photo" }, other: { file_id: "file-sample-chart" } },
  examples: [
    { title: "Default tolerance", params: {} },
    { title: "Exact", params: { tolerance: 0 } },
  ],
  price: MEGAPIXEL_PRICE,
  engine: "sharp",
  async run({ params, inputs }) {
    const { width, height } = await openImage(inputs.image);
    const [one, other] = [await pixelsOf(inputs.image, width, height), await pixelsOf(inputs.other, width, height)];
    let [different, squares] = [0, 0];
    for (let at = 0; at < one.length; at += 3) {
      let most = 0;
      for (let channel = 0; channel < 3; channel++) {
        const gap = Math.abs((one[at + channel] ?? 0) - (other[at + channel] ?? 0));
        squares += gap * gap;
        most = Math.max(most, gap);
      }
      if (most > params.tolerance) different += 1;
    }
    const error = squares / one.length;
    const [first, second] = [await hashOf(inputs.image), await hashOf(inputs.other)];
    return {
      output: {
        different_share: different / (one.length / 3),
        // The PSNR of equal images is infinite.
        ...(error === 0 ? {} : { psnr: Math.round(10 * Math.log10((255 * 255) / error) * 100) / 100 }),
        is_equal: squares === 0,
        hash_distance: first.filter((bit, at) => bit !== second[at]).length,
      },
      pixels: width * height,
    };
  },
});

/** Returns the RGB pixels of an image, scaled to the size of the first image. */
async function pixelsOf(file: InputFile, width: number, height: number): Promise<Uint8Array> {
  const { image } = await openImage(file);
  const sized = image.flatten({ background: "white" }).toColourspace("srgb").resize({ width, height, fit: "fill" });
  return new Uint8Array(await sized.removeAlpha().raw().toBuffer());
}

/**
 * Returns a 64-bit hash of an image, which is stable under scaling and compression. A bit is true if a grey pixel is darker than the next
 * one.
 */
async function hashOf(file: InputFile): Promise<readonly boolean[]> {
  const { image } = await openImage(file);
  const small = image.flatten({ background: "white" }).greyscale().resize({ width: 9, height: 8, fit: "fill" });
  const data = await small.extractChannel(0).raw().toBuffer();
  const bits: boolean[] = [];
  for (let y = 0; y < 8; y++)
    for (let x = 0; x < 8; x++) bits.push((data[y * 9 + x] ?? 0) < (data[y * 9 + x + 1] ?? 0));
  return bits;
}
