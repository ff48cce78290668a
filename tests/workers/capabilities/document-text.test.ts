import { describe, expect, test } from "bun:test";

import { read, utils, write } from "@e965/xlsx";
import mammoth from "mammoth";

import { markdownOf } from "#workers/capabilities/html.ts";
import { zipOf } from "#tests/support/hostile-files/documents.ts";

import { pagesOf, unzipped } from "./document-files.ts";
import { refused } from "./refused.ts";
import { runCapability } from "./in-folder.ts";

const REPORT = { file_id: "file-sample-report" } as const;
const LETTER = { file_id: "file-sample-letter" } as const;
const SHEET = { file_id: "file-sample-sheet" } as const;

describe("text", () => {
  test("of a PDF is exact, page by page", async () => {
    const { output } = await runCapability("document.extract_text", { document: REPORT }, { per_page: true, pages: "2,1" }); // prettier-ignore
    expect(output).toEqual({
      pages: [
        { page: 2, text: "Prices\nA small box costs 4.50 EUR, a large one 12.00 EUR." },
        { page: 1, text: "Report on tea\nThree boxes of tea were sold in the first week.\nTwo of them were large." },
      ],
    });
  });

  test("of a letter, a sheet, HTML and plain text is exact", async () => {
    const text = async (document: Parameters<typeof runCapability>[1][string]) =>
      (await runCapability("document.extract_text", { document })).output?.["text"];
    expect(await text(LETTER)).toContain("thank you for your order of three boxes. Our shop sends:");
    expect(await text(SHEET)).toBe(
      "Customer\tBox\tCount\tPaid\tDay\nAda\tlarge\t2\tTRUE\t2026-11-03\nGrace\tsmall\t1\tFALSE\t2026-11-04\n\nBox\tPrice\nsmall\t4.5\nlarge\t12",
    );
    const html =
      "<!doctype html><title>no</title><script>no()</script><h1>Tea &amp; co</h1><p>one<br>two</p><ul><li>a<li>b</ul>";
    expect(await text({ text: html })).toBe("Tea & co\n\none\ntwo\n\na\nb");
    expect(await text({ text: "just *words*" })).toBe("just *words*");
  });
});

describe("Markdown", () => {
  const markdown = {
    text: "# Tea & <co>\n\n**bold** [go](javascript:alert(1)) [x](https://e.org/?a=1&b=2) <img src=x onerror=y>\n\n1. one\n   - [x] sub\n\n|a|b|\n|-|-:|\n|c|d|\n",
  };

  test("becomes HTML without scripts, exactly", async () => {
    const made = await runCapability("document.markdown_to_html", { markdown }, { standalone: false });
    expect(made.bytes().toString()).toBe(
      '<h1>Tea &amp; &lt;co&gt;</h1>\n<p><strong>bold</strong> go <a href="https://e.org/?a=1&amp;b=2">x</a> &lt;img src=x onerror=y&gt;</p>\n<ol>\n<li>one<ul>\n<li><input checked="" disabled="" type="checkbox"> sub</li>\n</ul>\n</li>\n</ol>\n<table>\n<thead>\n<tr>\n<th>a</th>\n<th align="right">b</th>\n</tr>\n</thead>\n<tbody><tr>\n<td>c</td>\n<td align="right">d</td>\n</tr>\n</tbody></table>\n',
    );
    const page = await runCapability("document.markdown_to_html", { markdown }, { allow_html: true });
    expect(page.bytes().toString()).toContain("<img src=x onerror=y>");
  });

  const notes = {
    text: 'A[^one] b[^"x] c[^one] d[^none]\n\n[^one]: The *first*.\n\n    More.\n[^"x]: Second.\n[^unused]: Third.\n\nEnd `[^one]`',
  };

  test("has its footnotes at the end, as GitHub has them", async () => {
    const made = await runCapability("document.markdown_to_html", { markdown: notes }, { standalone: false });
    const html = made.bytes().toString();
    expect(html).toStartWith(
      '<p>A<sup><a id="footnote-ref-one" href="#footnote-one" data-footnote-ref aria-describedby="footnote-label">1</a></sup> ' +
        'b<sup><a id="footnote-ref-%22x" href="#footnote-%22x" data-footnote-ref aria-describedby="footnote-label">2</a></sup> ' +
        'c<sup><a id="footnote-ref-one-2" href="#footnote-one" data-footnote-ref aria-describedby="footnote-label">1</a></sup> d[^none]</p>\n' +
        "<p>End <code>[^one]</code></p>\n" +
        '<section class="footnotes" data-footnotes>\n<h2 id="footnote-label" class="sr-only">Footnotes</h2>\n<ol>\n' +
        '<li id="footnote-one">\n<p>The <em>first</em>.</p>\n<p>More. <a href="#footnote-ref-one" data-footnote-backref aria-label="Back to reference">↩</a>',
    );
    // A label is no way out of an attribute, and a footnote without a reference is not there.
    expect(html).not.toMatch(/="[^">]*"x|Third/);
  });

  test("has its footnotes in PDF and Word", async () => {
    const [page = ""] = await pagesOf((await runCapability("document.markdown_to_pdf", { markdown: notes })).bytes());
    expect(page.replaceAll(/\s+/g, " ")).toMatch(
      /A ?\[1\] b ?\[2\] c ?\[1\] d\[\^none\] End \[\^one\] 1\. The first\. More\. 2\. Second\./,
    );
    const word = (await runCapability("document.markdown_to_docx", { markdown: notes })).bytes();
    const { value } = await mammoth.convertToHtml({ buffer: Buffer.from(word) });
    expect(value).toContain("<p>A<sup>[1]</sup> b<sup>[2]</sup> c<sup>[1]</sup> d[^none]</p>");
    expect(value).toContain("<li>The <em>first</em>.</li>");
    expect(value).not.toContain("Third");
  });

  test("has a limit of footnotes, and one text's are not in the next", async () => {
    const html = (text: string) => runCapability("document.markdown_to_html", { markdown: { text } });
    expect(await refused(html("[^a]".repeat(2_001)))).toContain(
      "Expected at most 2000 footnotes and references, got 2001.",
    );
    expect((await html(`${"[^a]".repeat(1_999)}\n\n[^a]: b`)).bytes().toString()).toContain('id="footnote-a"');
    expect((await html("[^\ud800]\n\n[^\ud800]: b")).bytes().toString()).toContain("footnotes");
    expect((await html("[^a] c")).bytes().toString()).toContain("<p>[^a] c</p>");
  });

  test("contains no script in an address", async () => {
    const addresses = ["JaVaScRiPt:x", "java\u0001script:x", "data:text/html,x", "vbscript:x", "javascript&colon;x"];
    const text = addresses.map((address) => `[a](<${address}>) ![b](<${address}>)`).join("\n\n");
    const made = await runCapability("document.markdown_to_html", { markdown: { text } }, { standalone: false });
    expect(made.bytes().toString()).not.toMatch(/<(?:a|img)[^>]*(?:script:|data:)/i);
  });

  test("becomes a PDF of its text, with the same bytes each time", async () => {
    const make = () => runCapability("document.markdown_to_pdf", { markdown });
    const [made, again] = [await make(), await make()];
    expect(Buffer.compare(made.bytes(), again.bytes())).toBe(0);
    const [page = ""] = await pagesOf(made.bytes());
    for (const words of ["Tea &", "bold", "one", "☑ sub", "c", "d"]) expect(page).toContain(words);
  });

  test("becomes a Word document with the same text, with the same bytes each time", async () => {
    const make = () => runCapability("document.markdown_to_docx", { markdown });
    const [made, again] = [await make(), await make()];
    expect(Buffer.compare(made.bytes(), again.bytes())).toBe(0);
    const { value } = await mammoth.convertToHtml({ buffer: Buffer.from(made.bytes()) });
    expect(value).toContain("<strong>bold</strong> go <a href=\"https://e.org/?a=1&amp;b=2\">x</a>"); // prettier-ignore
    expect(value).toContain("<ol><li>one<ul><li>☑ sub</li></ul></li></ol>");
  });

  test("of a letter has its headings, links, lists and table", async () => {
    const { output } = await runCapability("document.docx_to_markdown", { document: LETTER });
    const text = String(output?.["text"]);
    expect(text).toContain("# A letter about tea");
    expect(text).toContain("**order** of _three boxes_. Our [shop](https://example.com/shop) sends:");
    expect(text).toMatch(/1\. +two large boxes\n2\. +one small box/);
    expect(text).toContain("| large | 24.00 |");
  });
});

describe("Markdown of HTML", () => {
  test.each([
    [
      "with a head and sides",
      "<table><thead><tr><th>a<th align=right>b</thead><tr><td>c|d<td>e</table>",
      "| a   | b   |\n| --- | ---: |\n| c\\|d | e   |\n",
    ],
    [
      "without a head, of lines and lists",
      "<table><tr><td>a<br>b<td><ul><li>c<li>d</ul></table>",
      "|     |     |\n| --- | --- |\n| a<br>b | -   c<br>-   d |\n",
    ],
    [
      "of cells that span",
      "<table><tr><th colspan=2>a<tr><td>b<td>c</table>",
      "| a   |     |\n| --- | --- |\n| b   | c   |\n",
    ],
    [
      "around others",
      "<table><tr><td>a<td><table><tr><td>b<td>c</table></table>",
      "a\n\n|     |     |\n| --- | --- |\n| b   | c   |\n",
    ],
    [
      "with words above it",
      "<table><caption>Tea</caption><tr><th>a<th>b</table>",
      "Tea\n\n| a   | b   |\n| --- | --- |\n",
    ],
  ])("has tables: %s", (_what, html, markdown) => {
    expect(markdownOf(html)).toBe(markdown);
  });

  test("writes a limited number of columns, for any declared span", () => {
    expect(markdownOf("<table><tr><td colspan=1000000000>a<td>b</table>").length).toBeLessThan(2_000);
  });

  test("is written for the largest accepted table", () => {
    const row = `<tr>${"<td>x".repeat(60)}`;
    expect(markdownOf(`<table>${row.repeat(200)}</table>`).split("\n").length).toBe(203);
  });
});

describe("a sheet", () => {
  test("becomes exact CSV and JSON", async () => {
    const convert = (params: object) => runCapability("document.convert_spreadsheet", { document: SHEET }, params);
    const csv = await convert({ to: "csv", delimiter: "semicolon" });
    expect(csv.bytes().toString()).toBe(
      "Customer;Box;Count;Paid;Day\nAda;large;2;TRUE;2026-11-03\nGrace;small;1;FALSE;2026-11-04\n",
    );
    const json = await convert({ to: "json", sheet: "Prices" });
    expect(JSON.parse(json.bytes().toString())).toEqual([
      { Box: "small", Price: 4.5 },
      { Box: "large", Price: 12 },
    ]);
  });

  test.each(["xlsx", "ods"])("of CSV becomes %s with numbers, and no formulas", async (to) => {
    const document = { text: "name,count,code\ntea,12.5,007\n=1+1,-3,x\n" };
    const make = () => runCapability("document.convert_spreadsheet", { document }, { to });
    const [made, again] = [await make(), await make()];
    expect(Buffer.compare(made.bytes(), again.bytes())).toBe(0);
    const { Sheets, SheetNames } = read(made.bytes());
    const sheet = Sheets[SheetNames[0] ?? ""] ?? {};
    expect(utils.sheet_to_json(sheet, { header: 1 })).toEqual([
      ["name", "count", "code"],
      ["tea", 12.5, "007"],
      ["=1+1", -3, "x"],
    ]);
    expect(Object.values(sheet).some((cell) => typeof cell === "object" && cell !== null && "f" in cell)).toBe(false);
    const back = await runCapability("document.convert_spreadsheet", { document: made.bytes() }, { to: "csv" });
    expect(back.bytes().toString()).toBe("name,count,code\ntea,12.5,007\n=1+1,-3,x\n");
  });

  test("that declares all rows has its actual cells", async () => {
    const book = write(utils.book_new(utils.aoa_to_sheet([["a"]])), { type: "buffer", bookType: "xlsx" }) as Uint8Array;
    const entries = await unzipped(book);
    const name = "xl/worksheets/sheet1.xml";
    const claimed = entries.get(name)?.replace(/<dimension ref="[^"]*"/, '<dimension ref="A1:XFD1048576"') ?? "";
    expect(claimed).toContain("XFD1048576");
    const bytes = zipOf({ ...Object.fromEntries(entries), [name]: claimed });
    const made = await runCapability("document.convert_spreadsheet", { document: bytes }, { to: "csv" });
    expect(made.bytes().toString()).toBe("a\n");
  });
});
