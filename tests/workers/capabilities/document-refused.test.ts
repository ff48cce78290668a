import { describe, expect, test } from "bun:test";
import { deflateSync } from "node:zlib";

import { PDFDocument, StandardFonts } from "@cantoo/pdf-lib";

import { DOCUMENT_PAGES_MAX, DOCUMENT_STREAM_BYTES_MAX } from "#workers/capabilities/document/pdf.ts";
import { MARKDOWN_TABLE_ROWS_MAX, MARKDOWN_TABLE_CELLS_MAX } from "#workers/capabilities/html-parts.ts";
import { DOCUMENT_CELLS_MAX } from "#workers/capabilities/csv.ts";
import { docxOf, zipOf } from "#tests/support/hostile-files/documents.ts";

import { five, pdfOf } from "./document-files.ts";
import { refused } from "./refused.ts";
import { runCapability } from "./in-folder.ts";

const REPORT = { file_id: "file-sample-report" } as const;
const LETTER = { file_id: "file-sample-letter" } as const;
const SHEET = { file_id: "file-sample-sheet" } as const;
const PHOTO = { file_id: "file-sample-photo" } as const;

describe("rejected:", () => {
  const pages = async (count: number) => {
    const document = await PDFDocument.create();
    for (let at = 0; at < count; at += 1) document.addPage([10, 10]);
    return document.save();
  };
  const bombs = async () => {
    const document = await PDFDocument.create();
    document.embedStandardFont(StandardFonts.Helvetica);
    document.addPage([10, 10]);
    const packed = deflateSync(new Uint8Array(DOCUMENT_STREAM_BYTES_MAX + 1));
    document.context.register(document.context.stream(packed, { Filter: "FlateDecode" }));
    return document.save();
  };
  const ods = (row: string) =>
    zipOf({
      mimetype: "application/vnd.oasis.opendocument.spreadsheet",
      "content.xml": `<office:document-content><table:table table:name="a">${row}</table:table></office:document-content>`,
    });
  /** A table of so many rows. */
  const letterOf = (rows: number, columns: number) => {
    const cells = (row: number) =>
      Array.from({ length: columns }, (_, column) => `<w:tc><w:p><w:r><w:t>${row * column}</w:t></w:r></w:p></w:tc>`);
    const table = Array.from({ length: rows }, (_, row) => `<w:tr>${cells(row).join("")}</w:tr>`).join("");
    return docxOf(`<w:tbl>${table}</w:tbl>`);
  };
  const info = (document: Uint8Array) => runCapability("document.info", { document });
  const select = (params: object) => runCapability("document.select_pages", { document: five }, params);
  const mark = (params: object) => runCapability("document.watermark", { document: five }, params);
  const fill = (fields: object) => runCapability("document.fill_form", { document: REPORT }, { fields });
  const convert = (document: Uint8Array | { text: string }, params: object = { to: "csv" }) =>
    runCapability("document.convert_spreadsheet", { document }, params);

  test("a document above the maximum number of pages, and not one at the maximum", async () => {
    const max = DOCUMENT_PAGES_MAX;
    expect((await info(await pages(max))).output).toMatchObject({ pages: max });
    expect(await refused(info(await pages(max + 1)))).toBe(`too_large: Expected at most ${max} pages, got ${max + 1}.`);
  }, 30_000);

  test.each<[string, () => Promise<unknown>, string]>([
    [
      "a page that is not there",
      () => select({ pages: "7" }),
      "invalid: Expected params.pages to name pages of 1 to 5, got 7.",
    ],
    ["page zero", () => select({ pages: "0" }), "invalid: Expected params.pages to name pages of 1 to 5, got 0."],
    [
      "a range that goes down",
      () => select({ pages: "3-2" }),
      "invalid: Expected params.pages to have ascending ranges, got 3-2.",
    ],
    ["words for pages", () => select({ pages: "all" }), "params.pages"],
    [
      "the deletion of all pages",
      () => select({ pages: "1-5", mode: "delete" }),
      "invalid: Expected params.pages to leave at least one page",
    ],
    [
      "a split in two ways",
      () => runCapability("document.split_pdf", { document: five }, { every: 2, ranges: ["1"] }),
      "invalid_request params.every",
    ],
    [
      "passwords for some",
      () => runCapability("document.merge_pdf", { documents: [five, five] }, { passwords: ["a"] }),
      "invalid: Expected params.passwords to have one for each document, got 1 for 2.",
    ],
    [
      "a mark of nothing",
      () => mark({}),
      "invalid: Expected one of params.text, input.logo and params.page_numbers, got none.",
    ],
    ["a mark of words and numbers", () => mark({ text: "a", page_numbers: "n" }), "got several."],
    [
      "a mark in no colour",
      () => mark({ text: "a", color: "bluish" }),
      "invalid: Expected params.color to be a colour",
    ],
    [
      "a document that is not encrypted",
      () => runCapability("document.decrypt_pdf", { document: five }, { password: "x" }),
      "invalid: Expected an encrypted document",
    ],
    [
      "a field that is not there",
      () => fill({ nobody: "x" }),
      "invalid: Expected params.fields to name fields of the form (customer, size, agreed), got nobody.",
    ],
    [
      "a value of the wrong kind",
      () => fill({ agreed: "yes" }),
      "invalid: Expected params.fields.agreed to be true or false.",
    ],
    [
      "an option that is none",
      () => fill({ size: "huge" }),
      "invalid: Expected params.fields.size to be one of small, large.",
    ],
    [
      "letters that no font has",
      () => fill({ customer: "Чай \u{10380}" }),
      "invalid: Expected params.fields.customer in letters that an installed font has, got \u{10380} (U+10380).",
    ],
    [
      "a form without one",
      () => runCapability("document.fill_form", { document: five }, { fields: { a: "b" } }),
      "invalid: Expected a PDF with a form.",
    ],
    ["words for a PDF", () => info(Buffer.from("words")), "unsupported: Expected a PDF, got text/plain."],
    ["a PDF that is cut", () => info(Buffer.from(five.subarray(0, 300))), "corrupt"],
    ["a PDF of nothing", () => info(Buffer.from("%PDF-1.7\n%%EOF")), "corrupt"],
    [
      "a PDF of nothing, to be drawn",
      () => runCapability("document.render_pages", { document: Buffer.from("%PDF-1.7\n%%EOF") }),
      "corrupt",
    ],
    [
      "a page larger than any, to be drawn",
      async () => runCapability("document.render_pages", { document: await pdfOf(["a"], [14_401, 10]) }),
      "too_large: Expected pages of at most 14400 points on a side, got 14401 × 10.",
    ],
    [
      "a page of too many pixels",
      async () =>
        runCapability("document.render_pages", { document: await pdfOf(["a"], [5_000, 5_000]) }, { dpi: 300 }),
      "too_large: Expected a result of at most 16384 pixels",
    ],
    [
      "a PDF that inflates too far",
      async () => info(await bombs()),
      "too_large: Expected at most 33554432 bytes of a stream of the PDF unpacked",
    ],
    [
      "pages of what has none",
      () => runCapability("document.extract_text", { document: LETTER }, { pages: "1" }),
      "invalid: Expected a PDF with params.pages",
    ],
    [
      "a picture to be read",
      () => runCapability("document.extract_text", { document: PHOTO }),
      "unsupported: Expected pdf, docx",
    ],
    [
      "a sheet for a letter",
      () => runCapability("document.docx_to_markdown", { document: SHEET }),
      "unsupported: Expected a Word document (docx), got xlsx.",
    ],
    [
      "a letter that is cut",
      () => runCapability("document.docx_to_markdown", { document: zipOf({ "word/document.xml": "<w:" }) }),
      "corrupt: The Word document cannot be read.",
    ],
    [
      "a letter with tables of too many rows, as Markdown",
      () => runCapability("document.docx_to_markdown", { document: letterOf(MARKDOWN_TABLE_ROWS_MAX + 1, 1) }),
      `too_large: Expected at most ${MARKDOWN_TABLE_ROWS_MAX} table rows, got ${MARKDOWN_TABLE_ROWS_MAX + 1}.`,
    ],
    [
      "a letter with tables of too many cells, as Markdown",
      () => runCapability("document.docx_to_markdown", { document: letterOf(200, 61) }),
      `too_large: Expected at most ${MARKDOWN_TABLE_CELLS_MAX} table cells, got 12200.`,
    ],
    [
      "a sheet that is not there",
      () => runCapability("document.convert_spreadsheet", { document: SHEET }, { to: "csv", sheet: "None" }),
      "invalid: Expected params.sheet to be one of Orders, Prices, got None.",
    ],
    [
      "another zip",
      () => convert(zipOf({ a: "b" })),
      "unsupported: Expected a spreadsheet as xlsx, ods or csv, got a zip.",
    ],
    ["a CSV with an open quote", () => convert({ text: 'a,"b\n' }), "corrupt: The CSV cannot be read"],
    [
      "a CSV of too many cells",
      () => convert({ text: "a,\n".repeat(DOCUMENT_CELLS_MAX / 2 + 1) }),
      "too_large: Expected at most 1000000 cells",
    ],
    [
      "a cell that stands for millions",
      () =>
        convert(
          ods(
            '<table:table-row table:number-rows-repeated="1048576"><table:table-cell table:number-columns-repeated="16384" office:value-type="float" office:value="1"><text:p>1</text:p></table:table-cell></table:table-row>',
          ),
        ),
      "too_large: Expected at most 1000000 cells",
    ],
    [
      "a zip that unpacks too far",
      () => convert(zipOf({ "xl/workbook.xml": "a".repeat(11 * 1_048_576) })),
      "too_large: Expected no more than 200 bytes of each packed one",
    ],
    [
      "quotes in quotes without end",
      () => runCapability("document.markdown_to_html", { markdown: { text: `${">".repeat(3_000)} a` } }),
      "too_large: Expected lists and quotes nested at most 30 deep.",
    ],
  ])(
    "%s",
    async (_what, run, said) => {
      expect(await refused(run())).toContain(said);
    },
    30_000,
  );
});
