/** Text of PDFs whose pages are made by hand: what viewers show is what is read. */
import { describe, expect, test } from "bun:test";

import { PDFDocument, PDFName, PDFString } from "@cantoo/pdf-lib";

import { joinHyphenatedWords } from "#workers/capabilities/document/pdf-text.ts";
import { docxOf, pdfOfPages, WORD_NAMESPACES, wordText } from "#tests/support/hostile-files/documents.ts";

import { refused } from "./refused.ts";
import { runCapability } from "./in-folder.ts";

const read = async (document: Uint8Array, params: object = {}) =>
  (await runCapability("document.extract_text", { document }, params)).output;

const stream = (text: string, more = ""): string => `<< ${more} /Length ${text.length} >>\nstream\n${text}\nendstream`;

/** A page of these lines in Helvetica. */
function pageOf(...lines: readonly string[]): Buffer {
  const drawing = `BT /F 12 Tf 14 TL 20 180 Td ${lines.map((line) => `(${line}) Tj T*`).join(" ")} ET`;
  return pdfOfPages(
    "/Kids [3 0 R] /Count 1",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] /Resources << /Font << /F 5 0 R >> >> /Contents 4 0 R >>",
    stream(drawing),
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
  );
}

/** A page that shows glyphs 1 to 9 of a font without a table of their characters. @param first a line in Helvetica above them @param codes of other glyphs */
function unmappedPage(first = "", codes = "000100020003000400050006000700080009"): Buffer {
  const font = "<< /Type /Font /Subtype /Type0 /BaseFont /Odd /Encoding /Identity-H /DescendantFonts [7 0 R] >>";
  const drawing = `BT /F 12 Tf 20 180 Td (${first}) Tj ET BT /G 12 Tf 20 100 Td <${codes}> Tj ET`;
  return pdfOfPages(
    "/Kids [3 0 R] /Count 1",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] /Resources << /Font << /F 5 0 R /G 6 0 R >> >> /Contents 4 0 R >>",
    stream(drawing),
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    font,
    "<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Odd /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> /FontDescriptor 8 0 R /DW 500 >>",
    "<< /Type /FontDescriptor /FontName /Odd /Flags 4 /FontBBox [0 0 500 500] /ItalicAngle 0 /Ascent 500 /Descent 0 /CapHeight 500 /StemV 80 >>",
  );
}

describe("text of a PDF", () => {
  test.each<[string, readonly string[], string]>([
    ["a hyphen", ["The docu-", "ment is long."], "The document is long."],
    ["a soft hyphen", ["The docu\\255", "ment is long."], "The document is long."],
    ["a hyphen within a line", ["well-known words", "and more"], "well-known words\nand more"],
    ["a range of numbers", ["from 2020-", "2021 on"], "from 2020-\n2021 on"],
  ])("joins a hyphenated word at the end of a line: %s", async (_what, lines, text) => {
    expect((await read(pageOf(...lines)))?.["text"]).toBe(text);
  });

  test("has no hyphens that only a layout needs", () => {
    expect(joinHyphenatedWords("docu\ufffement, docu\u00adment, docu\u2010\nment, docu-\nment, A-\nB, 1-\n2")).toBe(
      "document, document, document, document, A-\nB, 1-\n2",
    );
  });

  test("has the values of form fields and typed texts, without hidden ones", async () => {
    const document = await PDFDocument.create();
    const page = document.addPage([300, 300]);
    page.drawText("An order", { x: 20, y: 250, size: 12 });
    const form = document.getForm();
    const field = (name: string, y: number, value: string) => {
      const one = form.createTextField(name);
      one.setText(value);
      one.addToPage(page, { x: 20, y, width: 100, height: 20 });
      return one;
    };
    field("customer.name", 200, "Ada Lovelace");
    field("note", 170, "");
    field("pin", 140, "1234").enablePassword();
    field("secret", 110, "hidden").acroField.getWidgets()[0]?.dict.set(PDFName.of("F"), document.context.obj(2));
    const box = form.createCheckBox("agreed");
    box.addToPage(page, { x: 20, y: 80 });
    box.check();
    const other = form.createCheckBox("letters");
    other.addToPage(page, { x: 60, y: 80 });
    const list = form.createOptionList("teas");
    list.addOptions(["green", "black", "white"]);
    list.enableMultiselect();
    list.select(["green", "white"]);
    list.addToPage(page, { x: 150, y: 200, width: 100, height: 60 });
    const typed = {
      Type: "Annot",
      Subtype: "FreeText",
      Rect: [150, 20, 280, 40],
      F: 4,
      DA: PDFString.of("/Helv 10 Tf"),
    };
    const note = document.context.obj({ ...typed, Contents: PDFString.of("By Friday") });
    page.node.addAnnot(document.context.register(note));
    expect((await read(await document.save()))?.["text"]).toBe(
      "An order\n\ncustomer.name: Ada Lovelace\nagreed: Yes\nteas: green, white\nBy Friday",
    );
  });

  test("without a Unicode mapping is rejected, or omitted with a note", async () => {
    const { text, notes } = (await read(unmappedPage("Tea"))) ?? {};
    expect([text, notes]).toEqual([
      "Tea",
      [
        "Page 1: 9 characters are left out: their font has no Unicode mapping. Render the pages with document.render_pages and read the images with image.ocr.",
      ],
    ]);
    expect(await refused(read(unmappedPage()))).toContain(
      "unsupported: Expected fonts with a Unicode mapping; no text of this PDF has one.",
    );
    expect(await read(unmappedPage("Tea"), { per_page: true })).toMatchObject({
      pages: [{ text: "Tea" }],
      notes: [expect.stringContaining("9 characters")],
    });
  });
});

/** @param shift from the codes of characters to the numbers of glyphs */
const codesOf = (text: string, shift = 0): string =>
  Array.from(text, (letter) => (letter.charCodeAt(0) + shift).toString(16).padStart(4, "0")).join("");

test("text without a Unicode mapping is read if its codes are characters, and not if they number glyphs", async () => {
  expect((await read(unmappedPage("", codesOf("Booked and read"))))?.["text"]).toBe("Booked and read");
  // The usual order of glyphs: a space is 3, A is 36.
  for (const text of ["Booked and read", "BOOKED", "booked"]) {
    expect(await refused(read(unmappedPage("", codesOf(text, -29))))).toStartWith("unsupported: ");
  }
});

test("text of a Word document keeps its line breaks and tabs", async () => {
  const breaks =
    "<w:t>one</w:t><w:br/><w:t>two</w:t><w:tab/><w:t>th</w:t><w:softHyphen/><w:t>ree</w:t><w:br w:type='page'/><w:t>four</w:t>";
  const document = docxOf(`<w:p><w:r>${breaks}</w:r></w:p><w:p><w:r><w:t>five</w:t><w:br/><w:t>six</w:t></w:r></w:p>`);
  expect((await read(document))?.["text"]).toBe("one\ntwo\tthree\nfour\n\nfive\nsix");
});

test("text of a Word document includes fields, text directions and ruby text", async () => {
  const run = (text: string) => `<w:r><w:t>${text}</w:t></w:r>`;
  const field = `<w:fldSimple w:instr=" AUTHOR ">${run("Ada")}</w:fldSimple>`;
  const turned = `<w:bdo w:val="rtl">${run("abc")}</w:bdo>`;
  const reading = `<w:r><w:ruby><w:rubyPr/><w:rt>${run("とうきょう")}</w:rt><w:rubyBase>${run("東京")}</w:rubyBase></w:ruby></w:r>`;
  const document = docxOf(`<w:p>${field}${run(" ")}${turned}${run(" ")}${reading}</w:p>`);
  expect((await read(document))?.["text"]).toBe("Ada abc 東京(とうきょう)");
  const { output } = await runCapability("document.docx_to_markdown", { document }, {});
  expect(output?.["text"]).toContain("Ada abc 東京(とうきょう)");
});

test("text of a Word document has its footnotes, endnotes and formulas, and notes name what it lacks", async () => {
  const part = (root: string, content: string) => `<w:${root} ${WORD_NAMESPACES}>${content}</w:${root}>`;
  const notes = (kind: string, texts: readonly string[]) =>
    part(`${kind}s`, texts.map((text, at) => `<w:${kind} w:id="${at + 1}">${text}</w:${kind}>`).join(""));
  const reference = (kind: string, id: number) => `<w:r><w:${kind}Reference w:id="${id}"/></w:r>`;
  const formula = (text: string) => `<m:r><w:rPr/><m:t>${text}</m:t></m:r>`;
  const fraction = `<m:oMath><m:f><m:fPr><m:ctrlPr/></m:fPr><m:num>${formula("a")}</m:num><m:den>${formula("b")}</m:den></m:f><m:sSup><m:e>${formula("c")}</m:e><m:sup>${formula("2")}</m:sup></m:sSup></m:oMath>`;
  const body = `<w:p><w:r><w:t>One</w:t></w:r>${reference("footnote", 2)}${reference("endnote", 1)}${reference("footnote", 2)}</w:p><w:p><m:oMathPara>${fraction}</m:oMathPara></w:p>`;
  const parts = {
    "word/footnotes.xml": notes("footnote", [
      wordText("unused"),
      `<w:p>${reference("footnote", 3)}</w:p>`,
      wordText("deep"),
    ]),
    "word/endnotes.xml": notes("endnote", [wordText("last")]),
    "word/header1.xml": part("hdr", wordText("Head")),
    "word/footer1.xml": part("ftr", "<w:p/>"),
    "word/comments.xml": notes("comment", [wordText("Why?")]),
  };
  const document = docxOf(body, "", parts);
  const lacking = [
    "Not kept: headers and footers, comments.",
    "Formulas are written as their characters in one line, without their layout.",
  ];
  const text = "One[1][2][1]\n\na/bc^2\n\n[1] [3]\n\n[2] last\n\n[3] deep";
  expect(await read(document)).toMatchObject({ text, notes: lacking });
  for (const to of ["markdown", "html"]) {
    const { output } = await runCapability("document.docx_to_markdown", { document }, { to });
    expect(output?.["notes"]).toEqual(lacking);
    for (const word of ["a/bc^2", "last", "One"]) expect(String(output?.["text"]).replaceAll("\\", "")).toContain(word);
  }
  const plain = await read(docxOf(wordText("tea"), "", { "word/header1.xml": part("hdr", "<w:p/>") }));
  expect(plain).not.toHaveProperty("notes");
});
