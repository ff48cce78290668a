import { MediaError } from "#shared/children/media-error.ts";

import { defineCapability, inputs } from "../define.ts";
import { list, text } from "../params.ts";
import { copiedPages } from "./copied-pages.ts";
import { DOCUMENT_PRICE, newPdf, openPdf, savePdf, DOCUMENT_PAGES_MAX } from "./pdf.ts";

export default defineCapability({
  id: "document.merge_pdf",
  display_name: "Merge PDFs",
  description:
    "Merges several PDFs into one, in order. Filled form fields stay visible but are no longer editable; `notes` lists what is not kept, such as bookmarks.",
  output_modality: "document",
  input: { documents: inputs("document", "The PDFs, in order.", [2, 50]) },
  params: {
    passwords: list(
      "One password per document, in the same order; empty for documents without one.",
      text("Password of one document, or an empty string.", { min: 0, max: 127, required: true }),
      { max: 50 },
    ),
  },
  sample_input: { documents: [{ file_id: "file-sample-report" }, { file_id: "file-sample-report" }] },
  examples: [
    { title: "Two reports", params: {} },
    { title: "With passwords for those that are encrypted", params: { passwords: ["", ""] } },
  ],
  price: DOCUMENT_PRICE,
  engine: "pdf",
  async run({ params, inputs: runInputs, folder, progress }) {
    const { documents } = runInputs;
    const { passwords } = params;
    if (passwords !== undefined && passwords.length !== documents.length) {
      const got = `${passwords.length} for ${documents.length}`;
      throw new MediaError("invalid", `Expected params.passwords to have one for each document, got ${got}.`);
    }
    const merged = await newPdf();
    const notes: string[] = [];
    let pages = 0;
    for (const [at, file] of documents.entries()) {
      const one = await openPdf(file, { password: passwords?.[at], passwordParam: `params.passwords[${at}]` });
      pages += one.pages;
      if (pages > DOCUMENT_PAGES_MAX) {
        throw new MediaError("too_large", `Expected at most ${DOCUMENT_PAGES_MAX} pages in all, got more.`);
      }
      const all = one.document.getPageIndices().map((index) => index + 1);
      const lost = await copiedPages(merged, one.document, all, { keepsForm: false });
      notes.push(...lost.map((sentence) => `Document ${at + 1}: ${sentence}`));
      progress((at + 1) / (documents.length + 1));
    }
    return { output: { pages }, files: [await savePdf(folder, merged)], notes };
  },
});
