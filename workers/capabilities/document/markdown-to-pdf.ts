import { join } from "node:path";

import { MediaError } from "#shared/children/media-error.ts";

import { defineCapability, input } from "../define.ts";
import { allFonts, fontPath, fontRuns } from "../fonts.ts";
import { choice, integer, number, text } from "../params.ts";
import { textOf } from "../text.ts";
import { type Block, blocksOf, MARKDOWN, type Run, TEXT_PRICE, titleOf } from "./markdown.ts";
import { MM, PAGE_POINTS, PAGE_SIZES } from "./page-size.ts";

/**
 * Maximum characters of a word without a break in a PDF. Layout of 5,000 characters takes 0.4 s and 30 MB; layout of 20,000 takes 7 s and
 * 1.2 GB.
 */
export const PDF_WORD_LETTERS_MAX = 5_000;

/** Content in pdfmake's format. */
type Content = Readonly<Record<string, unknown>>;

/** Font files of the two main typefaces, by style. All other fonts have only one style. */
const SANS = {
  normal: "DejaVuSans.ttf",
  bold: "DejaVuSans-Bold.ttf",
  italics: "DejaVuSans-Oblique.ttf",
  bolditalics: "DejaVuSans-BoldOblique.ttf",
} as const;
const MONO = {
  normal: "DejaVuSansMono.ttf",
  bold: "DejaVuSansMono-Bold.ttf",
  italics: "DejaVuSansMono-Oblique.ttf",
  bolditalics: "DejaVuSansMono-BoldOblique.ttf",
} as const;

export default defineCapability({
  id: "document.markdown_to_pdf",
  display_name: "Markdown to PDF",
  description:
    "Converts Markdown to a PDF with headings, lists, tables, code and footnotes. Images are replaced by their alternative text. " +
    "Arabic, Hebrew, Gurmukhi, Khmer, Malayalam, Myanmar and N’Ko letters are refused; `document.html_to_pdf` prints them.",
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
      Sans: pathsOf(SANS),
      Mono: pathsOf(MONO),
      ...Object.fromEntries(
        allFonts().map((file) => [file, pathsOf({ normal: file, bold: file, italics: file, bolditalics: file })]),
      ),
    });
    pdfmake.setUrlAccessPolicy(() => false);
    const files = new Set(allFonts().map(fontPath));
    pdfmake.setLocalAccessPolicy((path) => files.has(path));
    const definition = {
      pageSize: { width, height },
      pageMargins: margin,
      defaultStyle: { font: "Sans", fontSize: params.font_size, lineHeight: 1.25 },
      // Fixed date, so that the same text gives the same bytes.
      info: { title, creationDate: new Date(0), producer: "", creator: "" },
      content: content.length === 0 ? [{ text: " " }] : content,
    };
    const bytes = await pdfmake
      .createPdf(definition)
      .getBuffer()
      .catch((error: unknown) => {
        // fontkit, which shapes text for pdfmake, does not support every table of a font.
        throw error instanceof TypeError ? notSet("letters whose combination it cannot place", error) : error;
      });
    const path = join(folder, "document.pdf");
    await Bun.write(path, bytes);
    return { output: { title }, files: [{ path, mediaType: "application/pdf", name: "document.pdf" }] };
  },
});

const SCALES = [2, 1.6, 1.35, 1.15, 1, 0.9] as const;

/** Converts a block to pdfmake's format. @param width text width in points */
function contentOf(block: Block, size: number, width: number): Content {
  const below = [0, 0, 0, size * 0.6];
  switch (block.kind) {
    case "heading": {
      const scale = SCALES[block.depth - 1] ?? 1;
      return {
        text: inlineContent(block.runs),
        bold: true,
        fontSize: size * scale,
        margin: [0, size * 0.6, 0, size * 0.4],
      };
    }
    case "paragraph":
      return { text: inlineContent(block.runs), margin: below };
    case "code": {
      const code = {
        text: block.text === "" ? " " : pieces(block.text, MONO.normal),
        font: "Mono",
        fontSize: size * 0.85,
        preserveLeadingSpaces: true,
      };
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
        text: inlineContent(runs),
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

/** Matches text without a possible line break. */
const WORD = /[^\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}-]+/gu;

/** Checks the length of the words in a text. @throws MediaError too_large */
function checkWords(text: string): void {
  const max = PDF_WORD_LETTERS_MAX;
  for (const [word] of text.matchAll(WORD)) {
    if (word.length <= max) continue;
    throw new MediaError("too_large", `Expected words of at most ${max} letters, got one of ${word.length}.`);
  }
}

function inlineContent(runs: readonly Run[]): readonly Content[] {
  return runs.map((run) => {
    const style = run.isBold ? (run.isItalic ? "bolditalics" : "bold") : run.isItalic ? "italics" : "normal";
    return {
      text: pieces(run.text, (run.isCode ? MONO : SANS)[style]),
      ...(run.isBold === true ? { bold: true } : {}),
      ...(run.isItalic === true ? { italics: true } : {}),
      ...(run.isStruck === true ? { decoration: "lineThrough" } : {}),
      ...(run.isCode === true ? { font: "Mono", background: "#f3f4f6" } : {}),
      ...(run.isRaised === true ? { sup: true } : {}),
      ...(run.link === undefined ? {} : { link: run.link, color: "#0b57d0", decoration: "underline" }),
    };
  });
}

/**
 * Returns the text itself if the font has all its characters, otherwise runs of text in several fonts. @throws MediaError invalid,
 * too_large
 */
function pieces(text: string, font: string): string | readonly Content[] {
  checkWords(text);
  const script = UNSET.find(([, letters]) => letters.test(text))?.[0];
  if (script !== undefined) throw notSet(`the script ${script}`);
  const runs = fontRuns("input.markdown", text, font);
  if (runs.every((run) => run.font === font)) return text;
  return runs.map((run) => (run.font === font ? { text: run.text } : { text: breakable(run.text), font: run.font }));
}

/**
 * Scripts that PDF output does not support. pdfmake places words from left to right in reading order, and its shaper misplaces glyphs or
 * fails.
 */
const UNSET = ["Arabic", "Hebrew", "Nko", "Gurmukhi", "Khmer", "Malayalam", "Myanmar"].map(
  (name) => [name, new RegExp(String.raw`\p{Script=${name}}`, "u")] as const,
);

function notSet(what: string, cause?: unknown): MediaError {
  const why = `Expected input.markdown in a script that this capability can set, got ${what}.`;
  return new MediaError("invalid", `${why} Use document.markdown_to_html and then document.html_to_pdf.`, { cause });
}

const WITHOUT_SPACES = /[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]+/gu;
const ZERO_WIDTH_SPACE = "\u200b";

/** Inserts zero-width spaces between the words of scripts that have no spaces, so that lines can break there. */
function breakable(text: string): string {
  const segmenter = new Intl.Segmenter("und", { granularity: "word" });
  const marked = text.replaceAll(WITHOUT_SPACES, (part) =>
    Array.from(segmenter.segment(part), ({ segment }) => segment).join(ZERO_WIDTH_SPACE),
  );
  // Decomposes the vowel am before a tone mark: the shaper would place the vowel's circle above the tone mark.
  return marked
    .replaceAll(/([\u0e48-\u0e4b])\u0e33/g, "\u0e4d$1\u0e32")
    .replaceAll(/([\u0ec8-\u0ecb])\u0eb3/g, "\u0ecd$1\u0eb2");
}

type Styles = Readonly<Record<"normal" | "bold" | "italics" | "bolditalics", string>>;

function pathsOf({ normal, bold, italics, bolditalics }: Styles): Styles {
  return {
    normal: fontPath(normal),
    bold: fontPath(bold),
    italics: fontPath(italics),
    bolditalics: fontPath(bolditalics),
  };
}
