import { mkdir, rename } from "node:fs/promises";
import { join } from "node:path";

import sharp from "sharp";

import { MediaError } from "#shared/children/media-error.ts";
import { CAPABILITY_FILES_MAX } from "#workers/capabilities/limits.ts";
import { IMAGE_PIXELS_MAX } from "#shared/calls/capabilities/limits.ts";

import { defineCapability, input, type OutputFile } from "../define.ts";
import { checkSide } from "../image/operation.ts";
import { FORMATS, OUTPUT, writeImage } from "../image/sharp.ts";
import { choice, integer, text } from "../params.ts";
import { numbered, PACK, packed } from "../pack.ts";
import { pagesOf, pagesParam } from "./pages.ts";
import { REPORT, unreadable } from "./pdf.ts";
import { countUndecoded } from "./pdf-images.ts";
import { pageSize, withPdfium } from "./pdfium.ts";

const { quality, lossless } = OUTPUT;

export default defineCapability({
  id: "document.render_pages",
  display_name: "PDF pages to images",
  description: "Renders pages of a PDF as images, at most 200.",
  output_modality: "archive",
  input: { document: input("document", "The PDF.") },
  params: {
    pages: pagesParam("Pages to render. Default: all."),
    dpi: integer("Resolution in pixels per inch.", { min: 36, max: 300, unit: "dpi", default: 144 }),
    password: text("Password, if the document is encrypted.", { max: 127 }),
    pack: PACK,
    format: choice("Format of the images.", FORMATS, { default: "png" }),
    quality,
    lossless,
  },
  sample_input: REPORT,
  examples: [
    { title: "Each page as PNG", params: {} },
    { title: "A small image of the first page", params: { pages: "1", dpi: 48, format: "webp", pack: "files" } },
  ],
  price: { unit: "per_operation", operation_price: "0.4" },
  engine: "pdf",
  async run({ params, inputs, folder, progress }) {
    const opening = { password: params.password, passwordParam: "params.password" };
    return withPdfium(inputs.document, opening, async (document, count) => {
      const pages = pagesOf(params.pages, count);
      const max = CAPABILITY_FILES_MAX;
      if (pages.length > max) {
        throw new MediaError("too_large", `Expected at most ${max} pages in params.pages, got ${pages.length}.`);
      }
      const scale = params.dpi / 72;
      for (const page of pages) {
        const { width, height } = pageSize(document, page);
        checkPixels(Math.ceil(width * scale), Math.ceil(height * scale));
      }
      const files: OutputFile[] = [];
      const notes: string[] = [];
      const sizes: { page: number; width: number; height: number }[] = [];
      for (const [at, page] of pages.entries()) {
        const { width, height, data } = await document
          .getPage(page - 1)
          .render({ scale, render: "bitmap", renderFormFields: true })
          .catch((error: unknown) => {
            throw unreadable(error);
          });
        const image = sharp(data, { raw: { width, height, channels: 4 } }).removeAlpha();
        const from = { format: params.format, width, height, pages: 1 } as const;
        const own = join(folder, `page-${at}`);
        await mkdir(own);
        const [written] =
          (await writeImage(own, image, from, { ...params, background: "white", keep_metadata: false })).files ?? [];
        if (!written) throw new Error("the page was not written");
        const name = numbered("page", at + 1, written.name.split(".").at(-1) ?? "");
        await rename(written.path, join(folder, name));
        files.push({ ...written, path: join(folder, name), name });
        sizes.push({ page, width, height });
        const lost = await countUndecoded(document, page);
        if (lost > 0)
          notes.push(`Page ${page}: ${lost} ${lost === 1 ? "image is" : "images are"} missing: not decodable.`);
        progress((at + 1) / (pages.length + 1));
      }
      return {
        output: { pages: sizes },
        files: await packed(folder, files, params.pack, "pages.zip"),
        notes,
      };
    });
  },
});

function checkPixels(width: number, height: number): void {
  checkSide(width, height);
  const max = IMAGE_PIXELS_MAX;
  if (width * height <= max) return;
  throw new MediaError(
    "too_large",
    `Expected a page of at most ${max} pixels, got ${width * height}; lower params.dpi.`,
  );
}
