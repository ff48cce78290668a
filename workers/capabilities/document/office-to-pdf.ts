import { mkdirSync } from "node:fs";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";

import { MediaError } from "#shared/media/media-error.ts";

import { defineCapability, input, type InputFile } from "../define.ts";

import { isZip, openOffice } from "./office.ts";
import { openPdf, PDF } from "./pdf.ts";

const OOXML = "application/vnd.openxmlformats-officedocument";
const ODF = "application/vnd.oasis.opendocument";

/** By what their names end in: LibreOffice goes by it. */
const ENDINGS: Readonly<Record<string, string>> = {
  [`${OOXML}.wordprocessingml.document`]: "docx",
  [`${OOXML}.spreadsheetml.sheet`]: "xlsx",
  [`${OOXML}.presentationml.presentation`]: "pptx",
  [`${ODF}.text`]: "odt",
  [`${ODF}.spreadsheet`]: "ods",
  [`${ODF}.presentation`]: "odp",
  "application/rtf": "rtf",
  "text/rtf": "rtf",
};

export default defineCapability({
  id: "document.office_to_pdf",
  display_name: "Office to PDF",
  description:
    "Prints a document of Word, Excel, PowerPoint or LibreOffice as a PDF. Its macros are not run, and nothing is fetched for it.",
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
    const ending = await endingOf(document, folder);
    const made = join(folder, "made");
    mkdirSync(made);
    const source = join(folder, `document.${ending}`);
    await copyFile(document.path, source);
    const office = Bun.spawn(
      [
        tools.soffice ?? "",
        "--headless",
        "--norestore",
        "--nolockcheck",
        "--nodefault",
        `-env:UserInstallation=file://${join(folder, "profile")}`,
        "--convert-to",
        "pdf",
        "--outdir",
        made,
        source,
      ],
      { stdio: ["ignore", "ignore", "ignore"], env: { HOME: folder, TMPDIR: folder, PATH: "/usr/bin:/bin" } },
    );
    await office.exited;
    const path = join(made, "document.pdf");
    const bytes = Bun.file(path).size;
    if (bytes === 0) throw new MediaError("corrupt", `The document cannot be read as ${ending}.`);
    const { pages } = await openPdf({ path, mediaType: PDF, bytes, name: "document.pdf" });
    return { output: { pages, bytes }, files: [{ path, mediaType: PDF, name: "document.pdf" }] };
  },
});

/** Zipped ones are counted before they are opened. @throws MediaError unsupported, corrupt, too_large */
async function endingOf(document: InputFile, folder: string): Promise<string> {
  if (await isZip(document)) await openOffice(document, folder);
  const ending = ENDINGS[document.mediaType];
  if (ending !== undefined) return ending;
  throw new MediaError("unsupported", `Expected a docx, xlsx, pptx, odt, ods, odp or rtf, got ${document.mediaType}.`);
}
