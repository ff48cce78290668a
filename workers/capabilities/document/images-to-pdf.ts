import { MediaError } from "#shared/children/media-error.ts";
import { IMAGE_FRAMES_PIXELS_MAX } from "#shared/calls/capabilities/limits.ts";

import { defineCapability, inputs } from "../define.ts";
import { openImage } from "../image/sharp.ts";
import { choice, number } from "../params.ts";
import { DOCUMENT_PRICE, newPdf, savePdf, DOCUMENT_PAGE_SIDE_POINTS_MAX } from "./pdf.ts";
import { MM, PAGE_POINTS } from "./page-size.ts";

/** Points per pixel at 96 dpi. */
const PIXEL = 0.75;

export default defineCapability({
  id: "document.images_to_pdf",
  display_name: "Images to PDF",
  description: "Makes a PDF from images, one per page.",
  output_modality: "document",
  input: { images: inputs("image", "The images, in page order.", [1, 200]) },
  params: {
    page_size: choice("Page size; `fit` uses the size of each image.", ["fit", "a4", "letter"], { default: "fit" }),
    orientation: choice(
      "Page orientation, unless `page_size` is fit; `auto` follows each image.",
      ["auto", "portrait", "landscape"],
      {
        default: "auto",
      },
    ),
    margin: number("Margin around each image.", { min: 0, max: 50, unit: "mm", default: 0 }),
  },
  sample_input: { images: [{ file_id: "file-sample-photo" }, { file_id: "file-sample-scan" }] },
  examples: [
    { title: "Pages of the size of the images", params: {} },
    { title: "On A4 with a margin", params: { page_size: "a4", margin: 15 } },
  ],
  price: DOCUMENT_PRICE,
  engine: "pdf",
  async run({ params, inputs: runInputs, folder, progress }) {
    const document = await newPdf();
    const margin = params.margin * MM;
    let pixels = 0;
    for (const [at, file] of runInputs.images.entries()) {
      const opened = await openImage(file);
      pixels += opened.width * opened.height;
      if (pixels > IMAGE_FRAMES_PIXELS_MAX) {
        throw new MediaError(
          "too_large",
          `Expected at most ${IMAGE_FRAMES_PIXELS_MAX} pixels in all images, got more.`,
        );
      }
      const srgb = opened.image.toColourspace("srgb");
      const isPhoto = opened.format === "jpeg";
      const bytes = await (isPhoto ? srgb.jpeg({ quality: 90 }) : srgb.png()).toBuffer().catch((error: unknown) => {
        throw new MediaError("corrupt", `The image input.images[${at}] cannot be decoded.`, { cause: error });
      });
      const image = isPhoto ? await document.embedJpg(bytes) : await document.embedPng(bytes);
      const size = pageOf(params, image, margin);
      const [width, height] = [size.width - 2 * margin, size.height - 2 * margin];
      const share = Math.min(width / image.width, height / image.height);
      const box = { width: image.width * share, height: image.height * share };
      const page = document.addPage([size.width, size.height]);
      page.drawImage(image, { ...box, x: (size.width - box.width) / 2, y: (size.height - box.height) / 2 });
      progress((at + 1) / (runInputs.images.length + 1));
    }
    return { output: { pages: runInputs.images.length }, files: [await savePdf(folder, document)] };
  },
});

interface Size {
  readonly width: number;
  readonly height: number;
}

function pageOf(
  params: { readonly page_size: "fit" | "a4" | "letter"; readonly orientation: "auto" | "portrait" | "landscape" },
  image: Size,
  margin: number,
): Size {
  if (params.page_size === "fit") {
    const most = DOCUMENT_PAGE_SIDE_POINTS_MAX - 2 * margin;
    const share = Math.min(PIXEL, most / image.width, most / image.height);
    return { width: image.width * share + 2 * margin, height: image.height * share + 2 * margin };
  }
  const [short, long] = PAGE_POINTS[params.page_size];
  const isWide = params.orientation === "landscape" || (params.orientation === "auto" && image.width > image.height);
  return isWide ? { width: long, height: short } : { width: short, height: long };
}
