import { join } from "node:path";

import { MediaError } from "#shared/children/media-error.ts";
import { CAPABILITY_TEXT_BYTES_MAX } from "#workers/capabilities/limits.ts";

import { defineCapability, input, type InputFile, type RunOutput } from "../define.ts";
import { flag, text } from "../params.ts";
import { writeTextResult, textOf } from "../text.ts";
import { pagesOf, pagesParam } from "./pages.ts";
import { DOCUMENT_PRICE, REPORT, unreadable } from "./pdf.ts";

export default defineCapability({
  id: "document.extract_text",
  display_name: "Extract text",
  description:
    "Extracts the text of a PDF, Word document, spreadsheet, HTML or Markdown file, with the values of PDF form fields. Scanned pages contain no text: use image.ocr for them.",
  output_modality: "text",
  input: { document: input("document", "A document: pdf, docx, xlsx, ods, html, md or txt.", { takesText: true }) },
  params: {
    pages: pagesParam("Pages of a PDF to read. Default: all."),
    per_page: flag("Return the text of each PDF page or each sheet separately.", false),
    password: text("Password, if the PDF is encrypted.", { max: 127 }),
  },
  sample_input: REPORT,
  examples: [
    { title: "The whole text", params: {} },
    { title: "The first two pages, page by page", params: { pages: "1-2", per_page: true } },
  ],
  price: DOCUMENT_PRICE,
  engine: "pdf",
  async run({ params, inputs, folder, progress }) {
    const { document: file } = inputs;
    const head = Buffer.from(await Bun.file(file.path).slice(0, 1_024).arrayBuffer());
    if (head.includes("%PDF-") && !file.mediaType.startsWith("text/")) {
      return result(folder, await pdfPages(file, params, progress), "page", params.per_page);
    }
    if (params.pages !== undefined) {
      throw new MediaError("invalid", `Expected a PDF with params.pages, got ${file.mediaType}.`);
    }
    const { isZip, openOffice } = await import("./office.ts");
    if (!(await isZip(file))) {
      return result(folder, { parts: [{ name: 1, text: await plainText(file) }] }, "page", params.per_page);
    }
    const office = await openOffice(file, folder);
    if (office.kind === undefined) {
      throw new MediaError("unsupported", `Expected pdf, docx, xlsx, ods, html, md or txt, got ${file.mediaType}.`);
    }
    if (office.kind === "docx") {
      const { wordText } = await import("./word.ts");
      const { content, notes } = await wordText(office.bytes);
      return result(folder, { parts: [{ name: 1, text: content.trim() }], notes }, "page", params.per_page);
    }
    const { cellText, officeSheets } = await import("./sheets.ts");
    const { sheets, notes } = officeSheets(office);
    const parts = sheets.map(({ name, rows }) => ({
      name,
      text: rows.map((row) => row.map(cellText).join("\t").trimEnd()).join("\n"),
    }));
    return result(folder, { parts, notes }, "sheet", params.per_page);
  },
});

interface Part {
  readonly name: number | string;
  readonly text: string;
}

interface Extract {
  readonly parts: readonly Part[];
  readonly notes?: readonly string[];
}

const RENDER = "Render the pages with document.render_pages and read the images with image.ocr.";

async function pdfPages(
  file: InputFile,
  params: { readonly pages: string | undefined; readonly password: string | undefined },
  progress: (share: number) => void,
): Promise<Extract> {
  const [{ withPdfium }, { pageText }] = await Promise.all([import("./pdfium.ts"), import("./pdf-text.ts")]);
  const opening = { password: params.password, passwordParam: "params.password" };
  return withPdfium(file, opening, async (document, count) => {
    const pages = pagesOf(params.pages, count);
    const parts: Part[] = [];
    const notes: string[] = [];
    for (const [at, page] of pages.entries()) {
      progress(at / pages.length);
      const { text: extracted, unreadable: lost } = await pageText(document, page).catch((error: unknown) => {
        throw unreadable(error);
      });
      parts.push({ name: page, text: extracted });
      if (lost > 0)
        notes.push(`Page ${page}: ${lost} characters are left out: their font has no Unicode mapping. ${RENDER}`);
    }
    if (notes.length > 0 && parts.every((part) => part.text === "")) {
      throw new MediaError(
        "unsupported",
        `Expected fonts with a Unicode mapping; no text of this PDF has one. ${RENDER}`,
      );
    }
    return { parts, notes };
  });
}

async function plainText(file: InputFile): Promise<string> {
  const { mediaType } = file;
  if (!/^(?:text\/|application\/(?:json|jsonl|xml|yaml)$)/.test(mediaType)) {
    throw new MediaError("unsupported", `Expected pdf, docx, xlsx, ods, html, md or txt, got ${mediaType}.`);
  }
  const content = await textOf(file);
  if (mediaType === "text/html" || /^\s*<(?:!doctype html|html)\b/i.test(content)) {
    const { textOfHtml } = await import("../html.ts");
    return textOfHtml(content);
  }
  if (mediaType !== "text/markdown") return content;
  const { blocksText } = await import("./plain.ts");
  return blocksText(content);
}

async function result(
  folder: string,
  { parts, notes = [] }: Extract,
  kind: "page" | "sheet",
  isSplit: boolean,
): Promise<RunOutput> {
  if (!isSplit) {
    const text = parts.map((part) => part.text).join("\n\n");
    const textResult = await writeTextResult(folder, text, {
      name: "text.txt",
      mediaType: "text/plain",
      more: { [`${kind}s`]: parts.length, characters: text.length },
    });
    return { ...textResult, notes };
  }
  const output = { [`${kind}s`]: parts.map(({ name, text }) => ({ [kind]: name, text })) };
  const json = JSON.stringify(output);
  if (Buffer.byteLength(json) <= CAPABILITY_TEXT_BYTES_MAX) return { output, notes };
  const path = join(folder, "text.json");
  await Bun.write(path, `${json}\n`);
  const files = [{ path, mediaType: "application/json", name: "text.json" }];
  return { output: { count: parts.length }, files, notes };
}
