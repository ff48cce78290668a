/** Scripts, the capabilities that draw text, and the picture that each makes of a word: for the tests of letters. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { PDFDocument, PDFHexString, PDFName } from "@cantoo/pdf-lib";
import { afterAll, expect } from "bun:test";
import sharp from "sharp";

import { type OneChild, openChild } from "./in-child.ts";
import { runCapability, type TestInputs } from "./in-folder.ts";
import { refused } from "./refused.ts";
import { clipOf, LOSSLESS } from "./video-clips.ts";

/** Two words of each script, of as many letters and without a common one: boxes would look alike. */
export const SCRIPTS = {
  Greek: ["αβγδ", "λμξψ"],
  Chinese: ["中文", "汉字"],
  Japanese: ["ひらが", "カタナ"],
  Korean: ["한국", "서울"],
  Thai: ["ขวา", "ซ้ย"],
  Devanagari: ["हिन", "कुछ"],
  Tamil: ["தமி", "கொழ"],
  Khmer: ["ខ្មែ", "គោលច"],
  Arabic: ["مرحبا", "ديفنك"],
  Urdu: ["ہے", "کے"],
  Hebrew: ["שלום", "בגדר"],
  emoji: ["🎉", "🚲"],
} as const;
export type Script = keyof typeof SCRIPTS;
export const NAMES = Object.keys(SCRIPTS) as Script[];
/** A letter that no font has. */
export const NO_LETTER = "\u{e123}";

export interface Row {
  readonly id: string;
  readonly engine: string;
  readonly call: (text: string) => Promise<{ readonly input: TestInputs; readonly params?: object }>;
  readonly as: "image" | "pdf" | "video";
  /** Scripts of the gate; the nightly test asks all. A row of the browser has none: its one page has all scripts. */
  readonly sample?: readonly Script[];
  /** Scripts that the capability refuses, with the name that the refusal contains. */
  readonly refuses?: Partial<Readonly<Record<Script, string>>>;
  readonly refusesLetter: string;
  /** Scripts that are asked, where another row asks all others of the same code. */
  readonly only?: readonly Script[];
  /** Scripts that a program draws with fonts from fontconfig: it may draw the code of a missing letter in its box, which no two letters share. */
  readonly byFontconfig?: "all" | "shaped";
}

const photo = { file_id: "file-sample-photo" };
const page = (async () => {
  const document = await PDFDocument.create();
  document.addPage([200, 60]);
  return document.save();
})();

/** A PDF with a text field, a list of options, and a field that has a value and no appearance. */
async function form(option: string, value = ""): Promise<Uint8Array> {
  const document = await PDFDocument.create();
  const sheet = document.addPage([200, 120]);
  const fields = document.getForm();
  fields.createTextField("name").addToPage(sheet, { x: 5, y: 5, width: 190, height: 24 });
  const list = fields.createDropdown("list");
  list.addToPage(sheet, { x: 5, y: 40, width: 190, height: 24 });
  list.acroField.setOptions([{ value: PDFHexString.fromText(option), display: PDFHexString.fromText(option) }]);
  const kept = fields.createTextField("kept");
  kept.addToPage(sheet, { x: 5, y: 80, width: 190, height: 24 });
  kept.acroField.setValue(PDFHexString.fromText(value));
  for (const widget of kept.acroField.getWidgets()) widget.dict.delete(PDFName.of("AP"));
  return document.save({ updateFieldAppearances: false });
}

let made: Promise<Uint8Array> | undefined;
const clip = (): Promise<Uint8Array> => (made ??= clipOf("color=c=black:s=160x64:r=5:d=0.4[v]"));
const INSTALLED = (what: string) =>
  `Expected ${what} in letters that an installed font has, got ${NO_LETTER} (U+E123).`;

const ALL_ROWS: readonly Row[] = [
  {
    id: "image.watermark",
    engine: "sharp",
    call: async (text) => ({ input: { image: photo }, params: { text, opacity: 1, gravity: "center", size: 24 } }),
    as: "image",
    sample: ["Devanagari", "Khmer"],
    refusesLetter: INSTALLED("params.text"),
    byFontconfig: "all",
  },
  {
    id: "image.render_svg",
    engine: "sharp",
    call: async (text) => ({ input: { svg: { text: `<svg xmlns="http://www.w3.org/2000/svg" width="160" height="40"><text x="5" y="30" font-size="20">a <tspan>${text}</tspan></text></svg>` } } }), // prettier-ignore
    as: "image",
    sample: ["Tamil", "emoji"],
    refusesLetter: INSTALLED("the text of input.svg"),
    byFontconfig: "all",
  },
  {
    id: "document.watermark",
    engine: "pdf",
    call: async (text) => ({ input: { document: await page }, params: { text, angle: 0, size: 24, opacity: 1 } }),
    as: "pdf",
    sample: ["Chinese", "Arabic"],
    refusesLetter: INSTALLED("params.text"),
    byFontconfig: "all",
  },
  {
    id: "document.fill_form",
    engine: "pdf",
    call: async (text) => ({ input: { document: await form("a") }, params: { fields: { name: text } } }),
    as: "pdf",
    sample: ["Korean", "Thai"],
    refusesLetter: INSTALLED("params.fields.name"),
    byFontconfig: "shaped",
  },
  {
    id: "document.fill_form",
    engine: "pdf",
    call: async (text) => ({ input: { document: await form(text) }, params: { fields: { list: text } } }),
    as: "pdf",
    sample: ["Chinese", "Thai"],
    refusesLetter: INSTALLED("params.fields.list"),
    only: ["Chinese", "Thai"],
    byFontconfig: "shaped",
  },
  {
    id: "document.fill_form",
    engine: "pdf",
    call: async (text) => ({ input: { document: await form("a", text) }, params: { fields: { list: "a" } } }),
    as: "pdf",
    sample: ["Greek", "Thai"],
    refusesLetter: INSTALLED("the form's field kept"),
    only: ["Greek", "Thai"],
    byFontconfig: "shaped",
  },
  {
    id: "document.markdown_to_pdf",
    engine: "office",
    call: async (text) => ({ input: { markdown: { text: `a **${text}** \`${text}\`` } } }),
    as: "pdf",
    sample: ["Japanese", "Hebrew"],
    refusesLetter: INSTALLED("input.markdown"),
    refuses: {
      Arabic: "the script Arabic",
      Urdu: "the script Arabic",
      Hebrew: "the script Hebrew",
      Khmer: "the script Khmer",
    },
  },
  {
    id: "video.text",
    engine: "ffmpeg",
    call: async (text) => ({ input: { video: await clip() }, params: { text: `a ${text}`, size: 24, margin: 4, ...LOSSLESS } }), // prettier-ignore
    as: "video",
    sample: ["Urdu", "Devanagari"],
    refusesLetter: INSTALLED("params.text"),
    byFontconfig: "all",
  },
  {
    id: "video.subtitle",
    engine: "ffmpeg",
    call: async (text) => ({ input: { video: await clip(), subtitles: { text: `1\n00:00:00,000 --> 00:00:01,000\n${text}` } }, params: { size: 24, ...LOSSLESS } }), // prettier-ignore
    as: "video",
    sample: ["Greek", "Tamil"],
    refusesLetter: INSTALLED("input.subtitles"),
    byFontconfig: "all",
  },
  {
    id: "web.screenshot",
    engine: "browser",
    call: async (text) => ({ input: { url: { address: "https://example.com/", html: pageOf(text) } }, params: { width: 320, height: 800, javascript: false, missing_letters: "refuse" } }), // prettier-ignore
    as: "image",
    refusesLetter: `Expected a page in letters that an installed font has, got ${NO_LETTER} (U+E123).`,
  },
  {
    id: "document.html_to_pdf",
    engine: "browser",
    call: async (text) => ({ input: { html: { text: pageOf(text) } } }),
    as: "pdf",
    refusesLetter: `Expected a page in letters that an installed font has, got ${NO_LETTER} (U+E123).`,
  },
];

/** Pages of the browser have all words at once, each in a line of its own, since a browser takes seconds to start. */
export const LINE_PIXELS = 40;
function pageOf(text: string): string {
  const lines = text.split(" ").map((word) => `<div style="height:${LINE_PIXELS}px">${word}</div>`);
  return `<!doctype html><meta charset="utf-8"><body style="margin:0;font:24px/1 serif">${lines.join("")}`;
}

const children = new Map<string, OneChild>();
const scratch = mkdtempSync(join(tmpdir(), "sluice-letters-"));
afterAll(async () => {
  for (const child of children.values()) await child.close();
  rmSync(scratch, { recursive: true });
});

export const CONF = fileURLToPath(new URL("../../../workers/children/fonts.conf", import.meta.url));
/** The fonts that Latin text is drawn with, alone: a letter that they lack becomes a box. */
function latinConf(): string {
  const path = join(scratch, "latin.conf");
  const folder = fileURLToPath(new URL("../../../node_modules/dejavu-fonts-ttf/ttf", import.meta.url));
  writeFileSync(path, `<?xml version="1.0"?><fontconfig><dir>${folder}</dir></fontconfig>`);
  return path;
}

/** Child of an engine with the fonts of the installation, or of another configuration. It is closed after the tests. */
export function childOf(engine: string, conf = CONF): OneChild {
  const key = `${engine} ${conf}`;
  const child = children.get(key) ?? openChild(engine, { FONTCONFIG_FILE: conf });
  children.set(key, child);
  return child;
}

export interface Picture {
  /** Grey, a byte for each pixel. */
  readonly data: Buffer;
  readonly width: number;
}

export async function drawn({ id, engine, call, as }: Row, text: string, conf = CONF): Promise<Picture> {
  const child = childOf(engine, conf);
  const { input, params = {} } = await call(text);
  const { bytes } = await child.run(id, input, params);
  const picture =
    as === "image"
      ? bytes
      : as === "pdf"
        ? (await runCapability("document.render_pages", { document: bytes }, { pack: "files", dpi: 96, pages: "1" })).bytes() // prettier-ignore
        : (await runCapability("video.thumbnail", { video: bytes }, { mode: "time", time: 0, format: "png" })).bytes();
  const grey = sharp(picture).flatten({ background: "white" }).toColourspace("b-w");
  const { data, info } = await grey.raw().toBuffer({ resolveWithObject: true });
  return { data, width: info.width };
}

/** Rows with their name; two rows of one capability differ by their place. */
export const ROWS = ALL_ROWS.filter(({ engine }) => engine !== "browser").map(
  (row, at) => [`${row.id} (${at})`, row] as const,
);
/** Rows of the browser, whose pages have all scripts at once. */
export const PAGE_ROWS = ALL_ROWS.filter(({ engine }) => engine === "browser").map((row) => [row.id, row] as const);

/** Checks that a row draws the letters of a script, or refuses the script by its name. */
export async function expectDrawn(row: Row, script: Script): Promise<void> {
  const [word, other] = SCRIPTS[script];
  const named = row.refuses?.[script];
  if (named !== undefined) return expect(await refused(drawn(row, word))).toContain(named);
  const { data: own } = await drawn(row, word);
  const others = row.byFontconfig === "all" ? [] : BESIDE_ONE_ANOTHER;
  const isByFontconfig = row.byFontconfig !== undefined && ![...IN_LATIN_FONT, ...others].includes(script);
  const boxes = isByFontconfig ? await drawn(row, word, latinConf()) : await drawn(row, other);
  expect(own.equals(boxes.data)).toBe(false);
}

/** Scripts of DejaVu Sans. */
const IN_LATIN_FONT: readonly Script[] = ["Greek", "Arabic", "Hebrew"];
/** Scripts whose letters need no shaping. */
const BESIDE_ONE_ANOTHER: readonly Script[] = ["Chinese", "Japanese", "Korean", "emoji"];

/** Pixels of the line of a page that `pageOf` made, counted from 0. */
export function lineOf(row: Row, picture: Picture, at: number): Buffer {
  // A printed page has its margin of 10 mm, at the same scale.
  const top = (row.as === "pdf" ? 38 : 0) + at * LINE_PIXELS;
  return picture.data.subarray(top * picture.width, (top + LINE_PIXELS) * picture.width);
}
