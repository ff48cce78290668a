import { join } from "node:path";
import { createRequire } from "node:module";

import { MediaError } from "#shared/children/media-error.ts";

import { defineCapability, input } from "../define.ts";
import { choice, integer, number, text } from "../params.ts";
import { textOf } from "../text.ts";
import { type Block, blocksOf, MARKDOWN, type Run, TEXT_PRICE, titleOf } from "./markdown.ts";
import { MM, PAGE_POINTS, PAGE_SIZES } from "./page-size.ts";

/** Letters of a word without a break in a PDF: to set 20,000 takes 7 s and 1.2 GB, to set these 0.4 s and 30 MB. */
export const PDF_WORD_LETTERS_MAX = 5_000;

/** Content in the form that pdfmake takes. */
type Content = Readonly<Record<string, unknown>>;

const FONTS = join(createRequire(import.meta.url).resolve("dejavu-fonts-ttf/package.json"), "../ttf");
const font = (name: string): string => join(FONTS, `${name}.ttf`);

export default defineCapability({
  id: "document.markdown_to_pdf",
  display_name: "Markdown to PDF",
  description:
    "Converts Markdown to a PDF with headings, lists, tables, code and footnotes. Images are replaced by their alternative text.",
  output_modality: "document",
  input: { markdown: input("text", "The Markdown.", { takesText: true }) },
  params: {
    page_size: choice("Size of the pages.", PAGE_SIZES, { default: "a4" }),
    margin: number("Page margins.", { min: 0, max: 50, unit: "mm", default: 20 }),
    font_size: integer("Font size of body text in points.", { min: 6, max: 24, default: 11 }),
    title: text("Document title. Default: the first heading.", { max: 200 }),
  },
  sample_input: MARKDOWN,
  examples: [
    { title: "On A4", params: {} },
    { title: "On letter paper, larger text", params: { page_size: "letter", font_size: 14, title: "Tea" } },
  ],
  price: TEXT_PRICE,
  engine: "office",
  async run({ params, inputs, folder }) {
    const blocks = blocksOf(await textOf(inputs.markdown));
    const title = params.title ?? titleOf(blocks) ?? "Document";
    const margin = params.margin * MM;
    const [width, height] = PAGE_POINTS[params.page_size];
    const content = blocks.map((block) => contentOf(block, params.font_size, width - 2 * margin));
    const { default: pdfmake } = await import("pdfmake");
    pdfmake.setFonts({
      Sans: {
        normal: font("DejaVuSans"),
        bold: font("DejaVuSans-Bold"),
        italics: font("DejaVuSans-Oblique"),
        bolditalics: font("DejaVuSans-BoldOblique"),
      },
      Mono: {
        normal: font("DejaVuSansMono"),
        bold: font("DejaVuSansMono-Bold"),
        italics: font("DejaVuSansMono-Oblique"),
        bolditalics: font("DejaVuSansMono-BoldOblique"),
      },
    });
    pdfmake.setUrlAccessPolicy(() => false);
    pdfmake.setLocalAccessPolicy((path) => path.startsWith(FONTS));
    const definition = {
      pageSize: { width, height },
      pageMargins: margin,
      defaultStyle: { font: "Sans", fontSize: params.font_size, lineHeight: 1.25 },
      // A date of no meaning, so that the same text makes the same bytes.
      info: { title, creationDate: new Date(0), producer: "", creator: "" },
      content: content.length === 0 ? [{ text: " " }] : content,
    };
    const bytes = await pdfmake.createPdf(definition).getBuffer();
    const path = join(folder, "document.pdf");
    await Bun.write(path, bytes);
    return { output: { title }, files: [{ path, mediaType: "application/pdf", name: "document.pdf" }] };
  },
});

const SCALES = [2, 1.6, 1.35, 1.15, 1, 0.9] as const;

/** @param width of the text, in points */
function contentOf(block: Block, size: number, width: number): Content {
  const below = [0, 0, 0, size * 0.6];
  switch (block.kind) {
    case "heading": {
      const scale = SCALES[block.depth - 1] ?? 1;
      return { text: words(block.runs), bold: true, fontSize: size * scale, margin: [0, size * 0.6, 0, size * 0.4] };
    }
    case "paragraph":
      return { text: words(block.runs), margin: below };
    case "code": {
      checkWords(block.text);
      const code = { text: block.text || " ", font: "Mono", fontSize: size * 0.85, preserveLeadingSpaces: true };
      return {
        table: { widths: ["*"], body: [[{ ...code, fillColor: "#f3f4f6" }]] },
        layout: "noBorders",
        margin: below,
      };
    }
    case "quote": {
      const inner = block.blocks.map((one) => contentOf(one, size, width - size));
      return { stack: inner, color: "#555555", margin: [size * 1.2, 0, 0, 0] };
    }
    case "list": {
      const items = block.items.map((item) => ({ stack: item.map((one) => contentOf(one, size, width - size * 2)) }));
      return block.start === undefined
        ? { ul: items, margin: below }
        : { ol: items, start: block.start, margin: below };
    }
    case "table": {
      const cell = (runs: readonly Run[], at: number, bold: boolean) => ({
        text: words(runs),
        alignment: block.align[at] ?? "left",
        bold,
      });
      const body = [
        block.head.map((one, at) => cell(one, at, true)),
        ...block.rows.map((row) => block.head.map((_, at) => cell(row[at] ?? [], at, false))),
      ];
      return { table: { headerRows: 1, body }, layout: "lightHorizontalLines", margin: below };
    }
    case "rule": {
      const line = { type: "line", x1: 0, y1: 0, x2: Math.max(1, width), y2: 0, lineWidth: 0.7, lineColor: "#999999" };
      return { canvas: [line], margin: [0, size * 0.5, 0, size * 0.8] };
    }
    default:
      return block satisfies never;
  }
}

/** No line breaks within. */
const WORD = /[^\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}-]+/gu;

/** @throws MediaError too_large */
function checkWords(text: string): void {
  const max = PDF_WORD_LETTERS_MAX;
  for (const [word] of text.matchAll(WORD)) {
    if (word.length <= max) continue;
    throw new MediaError("too_large", `Expected words of at most ${max} letters, got one of ${word.length}.`);
  }
}

function words(runs: readonly Run[]): readonly Content[] {
  for (const { text } of runs) checkWords(text);
  return runs.map((run) => ({
    text: run.text,
    ...(run.isBold === true ? { bold: true } : {}),
    ...(run.isItalic === true ? { italics: true } : {}),
    ...(run.isStruck === true ? { decoration: "lineThrough" } : {}),
    ...(run.isCode === true ? { font: "Mono", background: "#f3f4f6" } : {}),
    ...(run.isRaised === true ? { sup: true } : {}),
    ...(run.link === undefined ? {} : { link: run.link, color: "#0b57d0", decoration: "underline" }),
  }));
}
