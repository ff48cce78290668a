import { createHash } from "node:crypto";
import { join } from "node:path";

import sharp from "sharp";

import { MediaError } from "#shared/children/media-error.ts";
import { IMAGE_PIXELS_MAX, IMAGE_FRAMES_PIXELS_MAX } from "#shared/calls/capabilities/limits.ts";

import { defineCapability, input, type MadeFile } from "../define.ts";
import { integer } from "../params.ts";
import { checkFiles, numbered, PACK, packed } from "../pack.ts";
import { pagesOf, pagesParam } from "./pages.ts";
import { DOCUMENT_PRICE, openPdf, pdfBytes, REPORT, unreadable } from "./pdf.ts";

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
    const { pages: count, isEncrypted } = await openPdf(inputs.document);
    const pages = [...new Set(pagesOf(params.pages, count))];
    const { extractImages, getDocumentProxy } = await import("unpdf");
    const bytes = new Uint8Array(await pdfBytes(inputs.document));
    // Errors of single pictures are not told: what cannot be decoded is left out.
    const reading = { isEvalSupported: false, maxImageSize: IMAGE_PIXELS_MAX, verbosity: 0, stopAtErrors: false };
    const proxy = await getDocumentProxy(bytes, isEncrypted ? { ...reading, password: "" } : reading).catch(
      (error: unknown) => {
        throw unreadable(error);
      },
    );
    const seen = new Set<string>();
    const files: MadeFile[] = [];
    const facts: object[] = [];
    let pixels = 0;
    for (const [at, page] of pages.entries()) {
      const found = await extractImages(proxy, page).catch((error: unknown) => {
        throw unreadable(error);
      });
      for (const { data, width, height, channels } of found) {
        if (width < params.min_width || height < params.min_height) continue;
        const hash = createHash("sha256").update(`${width} ${height} `).update(data).digest("hex");
        if (seen.has(hash)) continue;
        seen.add(hash);
        pixels += width * height;
        if (pixels > IMAGE_FRAMES_PIXELS_MAX) {
          throw new MediaError("too_large", `Expected at most ${IMAGE_FRAMES_PIXELS_MAX} pixels in all, got more.`);
        }
        const name = numbered("image", files.length + 1, "png");
        const path = join(folder, name);
        await sharp(data, { raw: { width, height, channels } }).png().toFile(path);
        files.push({ path, mediaType: "image/png", name });
        facts.push({ page, width, height });
        checkFiles("files", files.length);
      }
      proxy.cleanup().catch(() => undefined);
      progress((at + 1) / (pages.length + 1));
    }
    const made = files.length === 0 ? [] : await packed(folder, files, params.pack, "images.zip");
    return { output: { images: facts }, files: made };
  },
});
