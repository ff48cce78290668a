import { createHash } from "node:crypto";
import { join } from "node:path";

import { MediaError } from "#shared/children/media-error.ts";
import { IMAGE_FRAMES_PIXELS_MAX } from "#shared/calls/capabilities/limits.ts";

import { defineCapability, input, type OutputFile } from "../define.ts";
import { integer } from "../params.ts";
import { checkFiles, numbered, PACK, packed } from "../pack.ts";
import { pagesOf, pagesParam } from "./pages.ts";
import { DOCUMENT_PRICE, REPORT } from "./pdf.ts";
import { withPdfium } from "./pdfium.ts";

export default defineCapability({
  id: "document.extract_images",
  display_name: "Extract PDF images",
  description: "Extracts the images embedded in a PDF as PNG, each one once.",
  output_modality: "archive",
  input: { document: input("document", "The PDF.") },
  params: {
    pages: pagesParam("Pages to search. Default: all."),
    min_width: integer("Minimum width; narrower images are skipped.", { min: 1, max: 16_384, unit: "px", default: 32 }),
    min_height: integer("Minimum height; lower images are skipped.", { min: 1, max: 16_384, unit: "px", default: 32 }),
    pack: PACK,
  },
  sample_input: REPORT,
  examples: [
    { title: "All images", params: {} },
    { title: "Large images of the first two pages", params: { pages: "1-2", min_width: 200, pack: "files" } },
  ],
  price: DOCUMENT_PRICE,
  engine: "pdf",
  async run({ params, inputs, folder, progress }) {
    const { pageImages, writePng } = await import("./pdf-images.ts");
    const seen = new Set<string>();
    const files: OutputFile[] = [];
    const facts: object[] = [];
    const undecoded = new Map<number, number>();
    let pixels = 0;
    await withPdfium(inputs.document, {}, async (document, count) => {
      const pages = [...new Set(pagesOf(params.pages, count))];
      for (const [at, page] of pages.entries()) {
        await pageImages(document, page, { width: params.min_width, height: params.min_height }, async (image) => {
          if (!image) {
            undecoded.set(page, (undecoded.get(page) ?? 0) + 1);
            return;
          }
          const { width, height } = image;
          const hash = createHash("sha256").update(`${width} ${height} `).update(image.pixels).digest("hex");
          if (seen.has(hash)) return;
          seen.add(hash);
          pixels += width * height;
          if (pixels > IMAGE_FRAMES_PIXELS_MAX) {
            throw new MediaError("too_large", `Expected at most ${IMAGE_FRAMES_PIXELS_MAX} pixels in all, got more.`);
          }
          const name = numbered("image", files.length + 1, "png");
          const path = join(folder, name);
          await writePng(image, path);
          files.push({ path, mediaType: "image/png", name });
          facts.push({ page, width, height });
          checkFiles("files", files.length);
        });
        progress((at + 1) / (pages.length + 1));
      }
    });
    const notes = [...undecoded].map(
      ([page, count]) =>
        `Page ${page}: ${count} ${count === 1 ? "image was" : "images were"} skipped: too large, or not decodable.`,
    );
    const packedFiles = files.length === 0 ? [] : await packed(folder, files, params.pack, "images.zip");
    return { output: { images: facts }, files: packedFiles, notes };
  },
});
