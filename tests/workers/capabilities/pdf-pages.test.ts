/** Pages of a PDF that go into another one, and PDFs that writers got wrong. */
import { describe, expect, test } from "bun:test";

import { PDFDict, PDFDocument, PDFHexString, PDFName } from "@cantoo/pdf-lib";

import { bytesOf } from "#tests/support/file-parts.ts";
import { documentOf, pdfOf, pdfOfPages } from "#tests/support/hostile-files/documents.ts";
import { MediaError } from "#shared/children/media-error.ts";

import { five } from "./document-files.ts";
import { refused } from "./refused.ts";
import { runCapability } from "./in-folder.ts";

/** Three pages; fields `customer.<n>` and `note` on each, one text field over the last two, and things that copies lose. */
async function orderForm(): Promise<Uint8Array> {
  const document = await PDFDocument.create({ updateMetadata: false });
  const form = document.getForm();
  const shared = form.createTextField("shared");
  shared.setText("on two pages");
  for (const at of [1, 2, 3]) {
    const page = document.addPage([300, 300]);
    const own = form.createTextField(`customer.${at}`);
    own.setText(`value ${at}`);
    own.addToPage(page, { x: 20, y: 200, width: 100, height: 20 });
    if (at > 1) shared.addToPage(page, { x: 20, y: 100, width: 100, height: 20 });
  }
  const { context, catalog } = document;
  const first = context.register(context.obj({ Title: PDFHexString.fromText("One") }));
  catalog.set(PDFName.of("Outlines"), context.register(context.obj({ First: first, Last: first, Count: 1 })));
  catalog.set(PDFName.of("PageLabels"), context.obj({ Nums: [] }));
  await document.attach(Buffer.from("x"), "x.txt", { mimeType: "text/plain" });
  return document.save();
}

const fieldsOf = async (bytes: Uint8Array) => {
  const form = (await PDFDocument.load(bytes)).getForm();
  return Object.fromEntries(
    form.getFields().map((field) => [field.getName(), form.getTextField(field.getName()).getText()]),
  );
};

const NOTE = "Not kept: bookmarks, page labels, attachments.";

describe("form fields of pages", () => {
  test("stay editable if the pages are selected, and those of other pages are removed from the file", async () => {
    const document = await orderForm();
    const made = await runCapability("document.select_pages", { document }, { pages: "3,1" });
    expect(await fieldsOf(made.bytes())).toEqual({
      "customer.3": "value 3",
      "customer.1": "value 1",
      shared: "on two pages",
    });
    expect(made.output).toEqual({ pages: 2, notes: [NOTE] });
    const { context } = await PDFDocument.load(made.bytes());
    const dicts = context.enumerateIndirectObjects().map(([, object]) => object);
    expect(dicts.filter((one) => one instanceof PDFDict && one.toString().includes("Widget")).length).toBe(3);
    expect(dicts.map(String).join("")).not.toContain(PDFHexString.fromText("value 2").toString());
    const fields = { "customer.3": "Grace" };
    const filled = await runCapability("document.fill_form", { document: made.bytes() }, { fields, flatten: false });
    expect((await fieldsOf(filled.bytes()))["customer.3"]).toBe("Grace");
    const { text } = (await runCapability("document.extract_text", { document: filled.bytes() })).output ?? {};
    expect(text).toBe("customer.3: Grace\nshared: on two pages\n\ncustomer.1: value 1");
  });

  test("are moved into the part of their page", async () => {
    const document = await orderForm();
    const made = await runCapability("document.split_pdf", { document }, { pack: "files" });
    expect(await Promise.all([0, 1, 2].map((at) => fieldsOf(made.bytes(at))))).toEqual([
      { "customer.1": "value 1" },
      { "customer.2": "value 2", shared: "on two pages" },
      { "customer.3": "value 3", shared: "on two pages" },
    ]);
    expect(made.output?.["notes"]).toEqual([NOTE]);
  });

  test("become a part of merged pages, with a note", async () => {
    const made = await runCapability("document.merge_pdf", { documents: [five, await orderForm()] });
    expect(made.output).toEqual({
      pages: 8,
      notes: [`Document 2: ${NOTE}`, "Document 2: Form fields stay visible, but can no longer be edited."],
    });
    expect(await fieldsOf(made.bytes())).toEqual({});
  });
});

const PAGES = "/Kids [3 0 R] /Count 1";
const page = (more: string): string => `<< /Type /Page /Parent 2 0 R ${more} >>`;
const A4 = "/MediaBox [0 0 595 842]";
const honest = pdfOfPages(PAGES, page(A4));
const edited = (from: string | RegExp, to: string): Buffer =>
  Buffer.from(honest.toString("latin1").replace(from, to), "latin1");

/** PDFs as careless writers make them. */
const CARELESS: Readonly<Record<string, Buffer>> = {
  "nothing wrong": honest,
  "no size": pdfOfPages(PAGES, page("")),
  "a size from its upper corner": pdfOfPages(PAGES, page("/MediaBox [0 842 595 0]")),
  "a size of the list of pages": pdfOfPages(`${PAGES} ${A4}`),
  "a size of three numbers": pdfOfPages(PAGES, page("/MediaBox [0 0 595]")),
  "a size of words": pdfOfPages(PAGES, page("/MediaBox (A4)")),
  "a size of nothing": pdfOfPages(PAGES, page("/MediaBox [0 0 0 0]")),
  "a page without its type": pdfOfPages(PAGES, `<< /Parent 2 0 R ${A4} >>`),
  "a page without its parent": pdfOfPages(PAGES, `<< /Type /Page ${A4} >>`),
  "a list of pages without its type": pdfOf(["<< /Type /Catalog /Pages 2 0 R >>", `<< ${PAGES} >>`, page(A4)]),
  "a list of pages without a count": pdfOfPages("/Kids [3 0 R]", page(A4)),
  "a wrong count": pdfOfPages("/Kids [3 0 R] /Count 7", page(A4)),
  "a page that is missing": pdfOfPages("/Kids [3 0 R 9 0 R] /Count 2", page(A4)),
  "a page that is there twice": pdfOfPages("/Kids [3 0 R 3 0 R] /Count 2", page(A4)),
  "a catalogue without its type": pdfOf(["<< /Pages 2 0 R >>", `<< /Type /Pages ${PAGES} >>`, page(A4)]),
  "no index of objects": documentOf(1),
  "a wrong index": edited(/\d{10} 00000 n/g, "0000000001 00000 n"),
  "a wrong start of the index": edited(/startxref\n\d+/, "startxref\n7"),
  "no trailer": edited(/trailer\n<<.*>>\n/, ""),
  "words before its head": bytesOf("some words\n", honest),
  "words behind its end": bytesOf(honest, "<html>".repeat(500)),
  "lines that end in CR": edited(/\n/g, "\r"),
  "an object that does not end": edited("endobj\n3 0 obj", "3 0 obj"),
  "a form of no fields": pdfOf([
    `<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields null >> >>`,
    `<< /Type /Pages ${PAGES} >>`,
    page(A4),
  ]),
  "a form that is missing": pdfOf([
    `<< /Type /Catalog /Pages 2 0 R /AcroForm 9 0 R >>`,
    `<< /Type /Pages ${PAGES} >>`,
    page(A4),
  ]),
  "facts of the wrong type": edited("/Root 1 0 R", "/Root 1 0 R /Info << /Title 7 /CreationDate /Now /Author [1] >>"),
  "annotations that are missing": pdfOfPages(PAGES, page(`${A4} /Annots [9 0 R null 5]`)),
  "a cut in its page": honest.subarray(0, 130),
};

/** Runs that only read. */
const READERS: readonly (readonly [id: string, input: string, params: object])[] = [
  ["document.info", "document", {}],
  ["document.select_pages", "document", { pages: "1" }],
  ["document.split_pdf", "document", {}],
  ["document.merge_pdf", "documents", {}],
  ["document.render_pages", "document", { dpi: 36 }],
  ["document.extract_images", "document", {}],
  ["document.encrypt_pdf", "document", { user_password: "tea" }],
];

test("a page listed twice is two pages", async () => {
  const document = pdfOfPages("/Kids [3 0 R 3 0 R] /Count 2", page(A4));
  expect((await runCapability("document.info", { document })).output).toMatchObject({ pages: 2 });
  const made = await runCapability("document.select_pages", { document }, { pages: "2,1,2" });
  expect((await PDFDocument.load(made.bytes())).getPageCount()).toBe(3);
});

describe("every operation accepts the PDFs that another one reads", () => {
  test.each(Object.entries(CARELESS))("with %s", async (_what, document) => {
    const verdict = async (id: string, name: string, params: object) => {
      const input = { [name]: name === "documents" ? [five, document] : document };
      const made = runCapability(id, input, params);
      return made.then(() => "read", (error: unknown) => (error instanceof MediaError ? error.fault : String(error))); // prettier-ignore
    };
    const wanted = await verdict("document.extract_text", "document", {});
    const verdicts = await Promise.all(
      READERS.map(async ([id, name, params]) => [id, await verdict(id, name, params)]),
    );
    expect(Object.fromEntries(verdicts)).toEqual(Object.fromEntries(READERS.map(([id]) => [id, wanted])));
  });

  test("with a page larger than viewers support, which is not rendered", async () => {
    const document = pdfOfPages(PAGES, page("/MediaBox [0 0 14500 10]"));
    const { output } = await runCapability("document.info", { document });
    expect(output?.["page_sizes"]).toEqual([{ width: 14_500, height: 10, rotation: 0, pages: 1 }]);
    expect(await refused(runCapability("document.render_pages", { document }))).toStartWith("too_large");
  });
});
