/** Documents that are odd, not hostile: what came out of them was wrong, or an error of ours. */
import { describe, expect, test } from "bun:test";

import { PDFDocument, PDFName, PDFNumber } from "@cantoo/pdf-lib";
import { utils, write } from "@e965/xlsx";
import sharp from "sharp";

import { inflateSync } from "node:zlib";

import { DOCUMENT_TAGS_MAX } from "#workers/capabilities/limits.ts";
import { zipOf } from "#tests/support/hostile-files/documents.ts";

import { five, pagesOf, pdfOf, unzipped } from "./document-files.ts";
import { refused } from "./refused.ts";
import { runCapability } from "./in-folder.ts";

const convert = (document: Uint8Array | { text: string }, params: object) =>
  runCapability("document.convert_spreadsheet", { document }, params);
const toHtml = async (text: string): Promise<string> => {
  const made = await runCapability("document.markdown_to_html", { markdown: { text } }, { standalone: false });
  return Buffer.from(made.bytes()).toString();
};
const toDocx = async (text: string) =>
  unzipped((await runCapability("document.markdown_to_docx", { markdown: { text } })).bytes());
const textOf = async (text: string) =>
  (await runCapability("document.extract_text", { document: { text } })).output?.["text"];

describe("a sheet", () => {
  test("keeps numeric text if its cells declare their type", async () => {
    const book = write(utils.book_new(utils.aoa_to_sheet([["1.10", 2.5]])), {
      type: "buffer",
      bookType: "xlsx",
    }) as Uint8Array;
    const ods = (await convert(book, { to: "ods" })).bytes();
    expect(Buffer.from((await convert(ods, { to: "csv" })).bytes()).toString()).toBe("1.10,2.5\n");
  });

  test("of CSV keeps numbers of more digits than a double as text", async () => {
    const xlsx = (await convert({ text: "123456789012345.123,1.5\n" }, { to: "xlsx" })).bytes();
    expect(Buffer.from((await convert(xlsx, { to: "csv" })).bytes()).toString()).toBe("123456789012345.123,1.5\n");
  });

  test("of more columns or longer texts than a workbook allows is rejected as the caller's error", async () => {
    const wide = { text: `${"a,".repeat(16_384)}b\n` };
    expect(await refused(convert(wide, { to: "xlsx" }))).toBe("too_large: Expected at most 16384 columns, got 16385.");
    const long = { text: `${"x".repeat(40_000)}\n` };
    expect(await refused(convert(long, { to: "xlsx" }))).toBe(
      "too_large: Expected at most 32767 letters in a cell, got 40000.",
    );
    expect((await convert(long, { to: "csv" })).bytes().length).toBe(40_001);
  });
});

describe("Markdown", () => {
  test("has its entities decoded once, in addresses and names of images too", async () => {
    expect(await toHtml("[a](https://e.org/?a=1&amp;b=2) ![p &amp; q](https://e.org/i.png)")).toBe(
      '<p><a href="https://e.org/?a=1&amp;b=2">a</a> <img src="https://e.org/i.png" alt="p &amp; q"></p>\n',
    );
    expect(await toHtml("[a](javascript&#58;x) [b](java&#1;script&#58;x)")).not.toContain("href");
    const links = (await toDocx("[a](https://e.org/?a=1&amp;b=2)")).get("word/_rels/document.xml.rels");
    expect(links).toContain('Target="https://e.org/?a=1&amp;b=2"');
  });

  test.each([
    ["brackets", `<div\n${"<".repeat(1_900_000)}`],
    ["spaces", `a${" ".repeat(1_900_000)}b`],
  ])("of many %s takes linear time", async (_what, text) => {
    expect(await toHtml(text)).not.toBe("");
  });

  test("with terminal output becomes a readable Word document", async () => {
    const xml = (await toDocx("```\na\u001b[0m\tb\n```\n\nx\ty\uffff\n")).get("word/document.xml") ?? "";
    expect(xml).not.toMatch(/[^\P{Cc}\n]|[\ufffe\uffff]/u);
    expect(xml).toContain("a[0m    b");
    expect(xml).toContain("x y");
  });

  test("has lists in Word with their own start numbers, at every level", async () => {
    const xml = (await toDocx("- a\n\n  5. x\n- b\n\n  7. y\n\n3. z\n")).get("word/numbering.xml") ?? "";
    const starts = [...xml.matchAll(/<w:lvl w:ilvl="1"[^>]*><w:start w:val="(\d+)"\/><w:numFmt w:val="decimal"/g)];
    expect(starts.map(([, start]) => Number(start)).toSorted((one, other) => one - other)).toEqual([3, 5, 7]);
  });
});

test("HTML returns no text of its drawings", async () => {
  expect(await textOf("<!doctype html><p>a</p><svg><title>b</title><text>c</text></svg><p>d</p>")).toBe("a\n\nd");
});

describe("more tags than the memory limit are rejected", () => {
  const max = DOCUMENT_TAGS_MAX;
  const paragraphs = Array.from({ length: max / 2 + 1 }, (_, at) => `<w:p>${at * 7_919}</w:p>`).join("");

  test("in an office document", async () => {
    const document = zipOf({ "word/document.xml": `<w:document><w:body>${paragraphs}</w:body></w:document>` });
    const said = `too_large: Expected a Word document of at most ${max} tags, got more.`;
    expect(await refused(runCapability("document.docx_to_markdown", { document }))).toBe(said);
  });

  test("in HTML", async () => {
    const text = `<!doctype html><html>${paragraphs}`;
    const read = runCapability("document.extract_text", { document: Buffer.from(text) });
    expect(await refused(read)).toContain(`too_large: Expected at most ${max} tags, got `);
  });
});

describe("a PDF", () => {
  test.each([
    ["in no quarter", PDFNumber.of(45)],
    ["by no number", PDFName.of("x")],
  ])("with a page turned %s is rejected when it is turned", async (_what, angle) => {
    const document = await PDFDocument.load(five);
    document.getPage(0).node.set(PDFName.of("Rotate"), angle);
    const turned = runCapability(
      "document.select_pages",
      { document: await document.save() },
      { pages: "1", rotate: 90 },
    );
    expect(await refused(turned)).toBe("corrupt: The PDF cannot be read.");
  });

  test("whose pages link to others is split without the link targets, and remaining links work", async () => {
    const document = await PDFDocument.load(five);
    const pages = document.getPages();
    for (const [at, page] of pages.entries()) {
      const target = pages[(at + 1) % pages.length]?.ref;
      const link = document.context.obj({
        Type: "Annot",
        Subtype: "Link",
        Rect: [0, 0, 9, 9],
        Dest: [target ?? null, "Fit"],
      });
      page.node.set(PDFName.of("Annots"), document.context.obj([document.context.register(link)]));
    }
    const linked = await document.save();
    const split = await runCapability("document.split_pdf", { document: linked }, { pack: "files" });
    const leaves = async (bytes: Uint8Array) => {
      const { context } = await PDFDocument.load(bytes);
      return context.enumerateIndirectObjects().filter(([, object]) => String(object).includes("/Type /Page\n")).length;
    };
    expect(await leaves(split.bytes(0))).toBe(1);
    expect(await pagesOf(split.bytes(0))).toEqual(["one"]);
    const kept = await runCapability("document.select_pages", { document: linked }, { pages: "2,1,2" });
    expect([await leaves(kept.bytes()), await pagesOf(kept.bytes())]).toEqual([3, ["two", "one", "two"]]);
    const made = await PDFDocument.load(kept.bytes());
    const [second, first] = made.getPages();
    expect(String(made.context.lookup(first?.node.Annots()?.get(0)))).toContain(`/Dest [ ${String(second?.ref)} `);
  });

  test("smaller than its margins is marked upright", async () => {
    const document = await pdfOf(["x"], [20, 20]);
    const made = await runCapability("document.watermark", { document }, { text: "Draft", angle: 0 });
    const raw = Buffer.from(made.bytes()).toString("latin1");
    const drawn = [...raw.matchAll(/stream\r?\n([\s\S]*?)\r?\nendstream/g)].map(([, packed = ""]) => {
      try {
        return inflateSync(Buffer.from(packed, "latin1")).toString("latin1");
      } catch {
        return "";
      }
    });
    const size = /\/Helvetica-\d+ (-?[\d.]+) Tf\n(?:(?!Tf)[\s\S])*$/.exec(
      drawn.find((text) => text.includes("4472616674") || text.includes("Draft")) ?? "",
    )?.[1];
    expect(Number(size)).toBeGreaterThan(0);
  });

  test("rejects an empty mark", async () => {
    expect(await refused(runCapability("document.watermark", { document: five }, { text: " \t " }))).toBe(
      "invalid: Expected params.text to have letters, got spaces alone.",
    );
  });

  test("contains the values of its form fields", async () => {
    const fill = { document: { file_id: "file-sample-report" } };
    const ink = async (fields: object): Promise<number> => {
      const { file_id } = fill.document;
      const made = await runCapability("document.fill_form", { document: { file_id } }, { fields, flatten: false });
      const drawn = await runCapability(
        "document.render_pages",
        { document: made.bytes() },
        { dpi: 72, pack: "files" },
      );
      const pages = (drawn.files ?? []).map((_, at) => sharp(drawn.bytes(at)).greyscale().raw().toBuffer());
      return Buffer.concat(await Promise.all(pages)).reduce((sum, level) => sum + (level < 100 ? 1 : 0), 0);
    };
    expect((await ink({ customer: "WWWWWW" })) - (await ink({ customer: "." }))).toBeGreaterThan(50);
  });

  test("offers no background colour for pages, which are white", async () => {
    const drawn = runCapability("document.render_pages", { document: five }, { background: "red" });
    expect(await refused(drawn)).toContain("params.background");
  });
});

test("a PDF with a late header is read, rendered and rewritten", async () => {
  const report = Buffer.from(await pdfOf(["one", "two"]));
  const document = Buffer.concat([Buffer.from("@PJL SET X\n".repeat(60)), report]);
  expect((await runCapability("document.info", { document })).output).toMatchObject({ pages: 2 });
  expect((await runCapability("document.render_pages", { document })).output?.["pages"]).toHaveLength(2);
  const picked = await runCapability("document.select_pages", { document }, { pages: "2" });
  expect((await runCapability("document.info", { document: picked.bytes() })).output).toMatchObject({ pages: 1 });
});
