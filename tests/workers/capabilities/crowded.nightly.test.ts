/** Small inputs that would take a minute are refused at what can be counted in them, before any work; what is at the bound is done. */
import { describe, expect, test } from "bun:test";

import {
  MARKDOWN_CELLS_MAX,
  MARKDOWN_EMPHASIS_MAX,
  DOCUMENT_DEPTH_MAX,
} from "#workers/capabilities/document/markdown.ts";
import { PDF_WORD_LETTERS_MAX } from "#workers/capabilities/document/markdown-to-pdf.ts";
import { SVG_EFFECTS_MEGAPIXELS_MAX } from "#workers/capabilities/image/render-svg.ts";

import { runCapability } from "./in-folder.ts";
import { refused } from "./refused.ts";

// prettier-ignore

const html = (text: string) => runCapability("document.markdown_to_html", { markdown: { text } });
const pdf = (text: string) => runCapability("document.markdown_to_pdf", { markdown: { text } });
const docx = (text: string) => runCapability("document.markdown_to_docx", { markdown: { text } });

/** Rows below a head of three columns and its line; each counts, as it is filled up. */
const table = (rows: number): string => `|a|b|c|\n|-|:-:|--:|\n${"|x|\n".repeat(rows)}\n`;
const emphasis = (count: number): string => "*a* ".repeat(Math.floor(count / 2)) + (count % 2 === 0 ? "" : "*a");
const svg = (count: number, side: number): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="${side}" height="${side}"><filter id="f" x="0" y="0" width="1" height="1">${'<feGaussianBlur stdDeviation="1"/>'.repeat(count)}</filter><rect width="9" height="9" filter="url(#f)"/></svg>`;

describe("Markdown", () => {
  test("has a limited number of table cells, including filled ones", async () => {
    const rows = Math.floor(MARKDOWN_CELLS_MAX / 3) - 1;
    expect((await html(table(rows))).files).toHaveLength(1);
    for (const make of [html, pdf, docx]) {
      expect(await refused(make(table(rows + 1)))).toBe(
        `too_large: Expected at most ${MARKDOWN_CELLS_MAX} table cells, got ${3 * (rows + 2)}.`,
      );
    }
    // Bars elsewhere are none.
    expect((await html(`${"a | b | c\n".repeat(MARKDOWN_CELLS_MAX)}\n`)).files).toHaveLength(1);
  }, 60_000);

  test("has a limited number of emphasis marks in one paragraph, and more in several", async () => {
    expect((await html(emphasis(MARKDOWN_EMPHASIS_MAX))).files).toHaveLength(1);
    expect((await html(`${emphasis(MARKDOWN_EMPHASIS_MAX - 1)}\n\n- *a*\n- **b**\n`)).files).toHaveLength(1);
    expect((await html("- *a*: b\n".repeat(MARKDOWN_EMPHASIS_MAX))).files).toHaveLength(1);
    for (const make of [html, pdf, docx]) {
      expect(await refused(make("**a* ".repeat(20_000)))).toContain("marks of emphasis in a paragraph");
      expect(await refused(make(emphasis(MARKDOWN_EMPHASIS_MAX + 1)))).toBe(
        `too_large: Expected at most ${MARKDOWN_EMPHASIS_MAX} marks of emphasis in a paragraph, got ${MARKDOWN_EMPHASIS_MAX + 1}.`,
      );
    }
  }, 60_000);

  test("has no longer words than can be rendered, of scripts with words", async () => {
    expect((await pdf("[".repeat(PDF_WORD_LETTERS_MAX))).files).toHaveLength(1);
    const said = `too_large: Expected words of at most ${PDF_WORD_LETTERS_MAX} letters, got one of`;
    expect(await refused(pdf("[".repeat(PDF_WORD_LETTERS_MAX + 1)))).toBe(`${said} ${PDF_WORD_LETTERS_MAX + 1}.`);
    expect(await refused(pdf(`- > \`${"a".repeat(50_000)}\``))).toBe(`${said} 50000.`);
    expect(await refused(pdf(`\`\`\`\n${"a".repeat(50_000)}\n\`\`\``))).toBe(`${said} 50000.`);
    expect(await refused(pdf(`|a|\n|-|\n|${"a".repeat(50_000)}|`))).toBe(`${said} 50000.`);
    expect((await pdf("茶".repeat(PDF_WORD_LETTERS_MAX + 1))).files).toHaveLength(1);
    expect((await docx("a".repeat(50_000))).files).toHaveLength(1);
  }, 60_000);

  test("has limited nesting of quotes, also with blanks between", async () => {
    for (const text of [">".repeat(100_000), "> ".repeat(100_000), `${"> ".repeat(DOCUMENT_DEPTH_MAX + 1)}a`]) {
      expect(await refused(html(`a\n\n${text} b`))).toBe(
        `too_large: Expected lists and quotes nested at most ${DOCUMENT_DEPTH_MAX} deep.`,
      );
    }
    expect((await html(`\`\`\`\n${">".repeat(DOCUMENT_DEPTH_MAX + 10)}\n\`\`\``)).files).toHaveLength(1);
  }, 60_000);
});

describe("an SVG", () => {
  const draw = (text: string, params: object = {}) => runCapability("image.render_svg", { svg: { text } }, params);

  test("has a limited number of effects per megapixel of its image", async () => {
    expect((await draw(svg(SVG_EFFECTS_MEGAPIXELS_MAX, 10))).files).toHaveLength(1);
    expect(await refused(draw(svg(SVG_EFFECTS_MEGAPIXELS_MAX + 1, 10)))).toBe(
      `too_large: Expected at most ${SVG_EFFECTS_MEGAPIXELS_MAX} blurs and other effects for an image of this size, got ${SVG_EFFECTS_MEGAPIXELS_MAX + 1}.`,
    );
    // What counts is how large it is drawn.
    expect(await refused(draw(svg(SVG_EFFECTS_MEGAPIXELS_MAX / 4 + 1, 10), { width: 2_000 }))).toBe(
      `too_large: Expected at most ${SVG_EFFECTS_MEGAPIXELS_MAX / 4} blurs and other effects for an image of this size, got ${SVG_EFFECTS_MEGAPIXELS_MAX / 4 + 1}.`,
    );
  }, 60_000);
});
