import { copyFile } from "node:fs/promises";
import { join } from "node:path";

import { MediaError } from "#shared/children/media-error.ts";

import { defineCapability, input, type InputFile } from "../define.ts";

import { printOffice } from "./libreoffice.ts";
import { isZip, type OfficeKind, openOffice } from "./office.ts";
import { openPdf, PDF } from "./pdf.ts";

export default defineCapability({
  id: "document.office_to_pdf",
  display_name: "Office to PDF",
  description:
    "Converts a Word, Excel, PowerPoint or LibreOffice document to PDF. Macros are not run, and linked external images are dropped.",
  output_modality: "document",
  input: { document: input("document", "A docx, xlsx, pptx, odt, ods, odp or rtf.") },
  params: {},
  sample_input: { document: { file_id: "file-sample-letter" } },
  examples: [
    { title: "A letter", params: {} },
    { title: "Another time", params: {} },
  ],
  price: { unit: "per_operation", operation_price: "0.4" },
  engine: "libreoffice",
  async run({ inputs: { document }, folder, tools }) {
    const kind = await kindOf(document, folder);
    const source = join(folder, `document.${kind}`);
    await copyFile(document.path, source);
    const path = await printOffice(tools.libreoffice, { folder, source, kind });
    const bytes = Bun.file(path).size;
    if (bytes === 0) throw new MediaError("corrupt", `The document cannot be read as ${kind}.`);
    const { pages } = await openPdf({ path, mediaType: PDF, bytes, name: "document.pdf" });
    return { output: { pages, bytes }, files: [{ path, mediaType: PDF, name: "document.pdf" }] };
  },
});

/**
 * Detects the format of an office document from its content. The size of a zipped document is checked before parsing. @throws MediaError
 * unsupported, corrupt, too_large
 */
async function kindOf(document: InputFile, folder: string): Promise<OfficeKind | "rtf"> {
  const kind = (await isZip(document)) ? (await openOffice(document, folder)).kind : undefined;
  if (kind !== undefined) return kind;
  if ((await Bun.file(document.path).slice(0, 5).text()) === "{\\rtf") return "rtf";
  throw new MediaError("unsupported", `Expected a docx, xlsx, pptx, odt, ods, odp or rtf, got ${document.mediaType}.`);
}
