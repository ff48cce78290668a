import { degrees } from "@cantoo/pdf-lib";

import { MediaError } from "#shared/children/media-error.ts";

import { defineCapability, input } from "../define.ts";
import { choice } from "../params.ts";
import { pagesOf, requiredPages } from "./pages.ts";
import { copiedPages } from "./copied-pages.ts";
import { DOCUMENT_PRICE, newPdf, openPdf, REPORT, savePdf, unreadable } from "./pdf.ts";

export default defineCapability({
  id: "document.select_pages",
  display_name: "Select pages",
  description:
    "Keeps, reorders, deletes or rotates pages of a PDF. Form fields on the pages stay editable; `notes` lists what is not kept, such as bookmarks.",
  output_modality: "document",
  input: { document: input("document", "The PDF.") },
  params: {
    pages: requiredPages("Pages to keep (in this order) or to delete."),
    mode: choice("Keep or delete the given pages.", ["keep", "delete"], { default: "keep" }),
    rotate: choice("Clockwise rotation of the resulting pages in degrees.", [0, 90, 180, 270], { default: 0 }),
  },
  sample_input: REPORT,
  examples: [
    { title: "The last page first", params: { pages: "-1,1-2" } },
    { title: "Without the first page, rotated", params: { pages: "1", mode: "delete", rotate: 90 } },
  ],
  price: DOCUMENT_PRICE,
  engine: "pdf",
  async run({ params, inputs, folder }) {
    const { document, pages: count } = await openPdf(inputs.document);
    const named = pagesOf(params.pages, count);
    const kept = params.mode === "keep" ? named : pagesOf(undefined, count).filter((page) => !named.includes(page));
    if (kept.length === 0)
      throw new MediaError("invalid", "Expected params.pages to leave at least one page, got all pages.");
    const target = await newPdf();
    const notes = await copiedPages(target, document, kept, { keepsForm: true });
    if (params.rotate !== 0) {
      try {
        for (const page of target.getPages())
          page.setRotation(degrees((page.getRotation().angle + params.rotate) % 360));
      } catch (error) {
        throw unreadable(error);
      }
    }
    return { output: { pages: kept.length }, files: [await savePdf(folder, target)], notes };
  },
});
