import { MediaError } from "#shared/children/media-error.ts";

import { defineCapability, input, type OutputFile } from "../define.ts";
import { integer, list, text } from "../params.ts";
import { checkFiles, numbered, PACK, packed } from "../pack.ts";
import { PAGES_PATTERN, pagesOf } from "./pages.ts";
import { copiedPages } from "./copied-pages.ts";
import { DOCUMENT_PRICE, newPdf, openPdf, REPORT, savePdf } from "./pdf.ts";

export default defineCapability({
  id: "document.split_pdf",
  display_name: "Split PDF",
  description:
    "Splits a PDF into several: by page ranges, every n pages, or one file per page. Form fields stay editable; `notes` lists what is not kept, such as bookmarks.",
  output_modality: "archive",
  input: { document: input("document", "The PDF.") },
  params: {
    ranges: list(
      "Page ranges of the parts.",
      text("Pages of one part, such as 1-3,7,-1.", { max: 200, required: true, pattern: PAGES_PATTERN }),
      { max: 200 },
    ),
    every: integer("Number of pages per part. Default: 1, unless `ranges` is given.", { min: 1, max: 500 }),
    pack: PACK,
  },
  valueSources: ["ranges", "every"],
  sample_input: REPORT,
  examples: [
    { title: "One file per page", params: {} },
    { title: "The first page, and the rest", params: { ranges: ["1", "2-"], pack: "files" } },
  ],
  price: DOCUMENT_PRICE,
  engine: "pdf",
  async run({ params, inputs, folder, progress }) {
    const { document, pages: count } = await openPdf(inputs.document);
    const parts =
      params.ranges?.map((range, at) => pagesOf(range, count, `params.ranges[${at}]`)) ??
      chunks(pagesOf(undefined, count), params.every ?? 1);
    const pages = parts.flat().length;
    if (pages > count * 10) {
      throw new MediaError(
        "too_large",
        `Expected params.ranges to name ${count * 10} pages in all at most, got ${pages}.`,
      );
    }
    checkFiles(params.pack, parts.length);
    const files: OutputFile[] = [];
    let notes: readonly string[] = [];
    for (const [at, part] of parts.entries()) {
      const target = await newPdf();
      notes = await copiedPages(target, document, part, { keepsForm: true });
      files.push(await savePdf(folder, target, numbered("part", at + 1, "pdf")));
      progress((at + 1) / (parts.length + 1));
    }
    return {
      output: { parts: parts.length, pages: parts.map((part) => part.length) },
      files: await packed(folder, files, params.pack, "parts.zip"),
      notes,
    };
  },
});

function chunks(pages: readonly number[], every: number): number[][] {
  return Array.from({ length: Math.ceil(pages.length / every) }, (_, at) => pages.slice(at * every, (at + 1) * every));
}
