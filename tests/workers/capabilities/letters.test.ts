/** Every capability that draws text draws it in letters of many scripts, or refuses it by name: never as boxes. */
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { PDFDocument, PDFHexString, PDFName } from "@cantoo/pdf-lib";
import { afterAll, describe, expect, test } from "bun:test";
import sharp from "sharp";

import { CAPABILITIES } from "#shared/calls/capabilities/list.ts";
import { allFonts, fontPath } from "#workers/capabilities/fonts.ts";

import { type OneChild, openChild } from "./in-child.ts";
import { runCapability, type TestInputs } from "./in-folder.ts";
import { refused } from "./refused.ts";
import { clipOf, LOSSLESS } from "./video-clips.ts";

/** Two words of each script, of as many letters and without a common one: boxes would look alike. */
const SCRIPTS = {
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
type Script = keyof typeof SCRIPTS;
const NAMES = Object.keys(SCRIPTS) as Script[];
/** A letter that no font has. */
const NO_LETTER = "\u{e123}";

interface Row {
  readonly id: string;
  readonly engine: string;
  readonly call: (text: string) => Promise<{ readonly input: TestInputs; readonly params?: object }>;
  readonly as: "image" | "pdf" | "video";
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

const ROWS: readonly Row[] = [
  {
    id: "image.watermark",
    engine: "sharp",
    call: async (text) => ({ input: { image: photo }, params: { text, opacity: 1, gravity: "center", size: 24 } }),
    as: "image",
    refusesLetter: INSTALLED("params.text"),
    byFontconfig: "all",
  },
  {
    id: "image.render_svg",
    engine: "sharp",
    call: async (text) => ({ input: { svg: { text: `<svg xmlns="http://www.w3.org/2000/svg" width="160" height="40"><text x="5" y="30" font-size="20">a <tspan>${text}</tspan></text></svg>` } } }), // prettier-ignore
    as: "image",
    refusesLetter: INSTALLED("the text of input.svg"),
    byFontconfig: "all",
  },
  {
    id: "document.watermark",
    engine: "pdf",
    call: async (text) => ({ input: { document: await page }, params: { text, angle: 0, size: 24, opacity: 1 } }),
    as: "pdf",
    refusesLetter: INSTALLED("params.text"),
    byFontconfig: "all",
  },
  {
    id: "document.fill_form",
    engine: "pdf",
    call: async (text) => ({ input: { document: await form("a") }, params: { fields: { name: text } } }),
    as: "pdf",
    refusesLetter: INSTALLED("params.fields.name"),
    byFontconfig: "shaped",
  },
  {
    id: "document.fill_form",
    engine: "pdf",
    call: async (text) => ({ input: { document: await form(text) }, params: { fields: { list: text } } }),
    as: "pdf",
    refusesLetter: INSTALLED("params.fields.list"),
    only: ["Chinese", "Thai"],
    byFontconfig: "shaped",
  },
  {
    id: "document.fill_form",
    engine: "pdf",
    call: async (text) => ({ input: { document: await form("a", text) }, params: { fields: { list: "a" } } }),
    as: "pdf",
    refusesLetter: INSTALLED("the form's field kept"),
    only: ["Greek", "Thai"],
    byFontconfig: "shaped",
  },
  {
    id: "document.markdown_to_pdf",
    engine: "office",
    call: async (text) => ({ input: { markdown: { text: `a **${text}** \`${text}\`` } } }),
    as: "pdf",
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
    refusesLetter: INSTALLED("params.text"),
    byFontconfig: "all",
  },
  {
    id: "video.subtitle",
    engine: "ffmpeg",
    call: async (text) => ({ input: { video: await clip(), subtitles: { text: `1\n00:00:00,000 --> 00:00:01,000\n${text}` } }, params: { size: 24, ...LOSSLESS } }), // prettier-ignore
    as: "video",
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
const LINE_PIXELS = 40;
function pageOf(text: string): string {
  const lines = text.split(" ").map((word) => `<div style="height:${LINE_PIXELS}px">${word}</div>`);
  return `<!doctype html><meta charset="utf-8"><body style="margin:0;font:24px/1 serif">${lines.join("")}`;
}

/** Draw no text of callers but that of the fonts that they bring, or none. */
const DRAW_NONE = new Map([
  ["image.barcode", "labels are ASCII: other texts of code128 are refused, and other types have digits or no label"],
  ["web.to_markdown", "reads the page that a browser has loaded, and shows none"],
  ["document.office_to_pdf", "LibreOffice is no part of the installation, and has the fonts of its system"],
]);

/** Modules that draw text themselves; the engines below draw it for them. */
const DRAWS = /textOverlay|drawText|embedStandardFont|AppearanceProvider|"drawtext"|"subtitles"|withPage|pdfmake|toSVG|sharp\(\{ text: |sharp\(data, \{ density/; // prettier-ignore
const ENGINES_THAT_DRAW = ["browser", "libreoffice"];

const FOLDER = fileURLToPath(new URL("../../../workers/capabilities", import.meta.url));

test("the table has every capability that draws text", () => {
  const drawing = CAPABILITIES.filter(({ id, engine, engineBy }) => {
    if (ENGINES_THAT_DRAW.includes(engine) || ENGINES_THAT_DRAW.includes(engineBy?.engine ?? "")) return true;
    const file = join(FOLDER, `${id.replace(".", "/").replaceAll("_", "-")}.ts`);
    return DRAWS.test(readFileSync(file, "utf8"));
  });
  const known = new Set([...ROWS.map(({ id }) => id), ...DRAW_NONE.keys()]);
  expect(drawing.map(({ id }) => id).toSorted()).toEqual([...known].toSorted());
});

test("every link leads to a font that the image keeps: it deletes other weights than the regular one", () => {
  for (const font of allFonts()) {
    const target = realpathSync(fontPath(font));
    expect(target).toMatch(/dejavu-fonts-ttf|Regular\.[ot]tf$/);
    expect(readFileSync(target).length).toBeGreaterThan(10_000);
  }
});

const children = new Map<string, OneChild>();
const scratch = mkdtempSync(join(tmpdir(), "sluice-letters-"));
afterAll(async () => {
  for (const child of children.values()) await child.close();
  rmSync(scratch, { recursive: true });
});

const CONF = fileURLToPath(new URL("../../../workers/children/fonts.conf", import.meta.url));
/** The fonts that Latin text is drawn with, alone: a letter that they lack becomes a box. */
function latinConf(): string {
  const path = join(scratch, "latin.conf");
  const folder = fileURLToPath(new URL("../../../node_modules/dejavu-fonts-ttf/ttf", import.meta.url));
  writeFileSync(path, `<?xml version="1.0"?><fontconfig><dir>${folder}</dir></fontconfig>`);
  return path;
}

interface Picture {
  /** Grey, a byte for each pixel. */
  readonly data: Buffer;
  readonly width: number;
}

async function drawn({ id, engine, call, as }: Row, text: string, conf = CONF): Promise<Picture> {
  const key = `${engine} ${conf}`;
  const child = children.get(key) ?? openChild(engine, { FONTCONFIG_FILE: conf });
  children.set(key, child);
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

describe.each(ROWS.filter(({ engine }) => engine !== "browser").map((row, at) => [`${row.id} (${at})`, row] as const))(
  "%s",
  (_, row) => {
    test.each(row.only ?? NAMES)("draws %s, or refuses it by name", async (script) => {
      const [word, other] = SCRIPTS[script];
      const named = row.refuses?.[script];
      if (named !== undefined) return expect(await refused(drawn(row, word))).toContain(named);
      const { data: own } = await drawn(row, word);
      const others = row.byFontconfig === "all" ? [] : BESIDE_ONE_ANOTHER;
      const isByFontconfig = row.byFontconfig !== undefined && ![...IN_LATIN_FONT, ...others].includes(script);
      const boxes = isByFontconfig ? await drawn(row, word, latinConf()) : await drawn(row, other);
      expect(own.equals(boxes.data)).toBe(false);
    });

    test("refuses a letter that no font has", async () => {
      expect(await refused(drawn(row, `a${NO_LETTER}`))).toContain(row.refusesLetter);
    });
  },
);

describe.each(ROWS.filter(({ engine }) => engine === "browser").map((row) => [row.id, row] as const))(
  "%s",
  (_, row) => {
    test("draws every script", async () => {
      const [words, others] = [0, 1].map((at) => NAMES.map((name) => SCRIPTS[name][at]).join(" "));
      const [one, two] = [await drawn(row, words ?? ""), await drawn(row, others ?? "")];
      const alike = NAMES.filter((_name, at) => {
        const line = (picture: Picture): Buffer => {
          // A page has its margin of 10 mm, at the same scale.
          const top = (row.as === "pdf" ? 38 : 0) + at * LINE_PIXELS;
          return picture.data.subarray(top * picture.width, (top + LINE_PIXELS) * picture.width);
        };
        return line(one).equals(line(two));
      });
      expect(alike).toEqual([]);
    }, 60_000);

    test("refuses a letter that no font has, or draws its box where that is asked for", async () => {
      expect(await refused(drawn(row, `a${NO_LETTER}`))).toContain(row.refusesLetter);
      const asked: Row = {
        ...row,
        call: async (text) => withParams(await row.call(text), { missing_letters: "draw" }),
      };
      const [one, two] = [await drawn(asked, NO_LETTER), await drawn(asked, "\u{e124}")];
      expect(one.data.equals(two.data)).toBe(true);
    }, 60_000);
  },
);

test("a screenshot names the letters that it draws as boxes, and those alone that are seen", async () => {
  const font = readFileSync(fontPath("DejaVuSansMono.ttf")).toString("base64");
  const styles = [
    ..."display:none;visibility:hidden;opacity:0;font-size:0;text-indent:-9999px;font-family:icons".split(";"),
    "position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)",
  ];
  const unseen = styles.map((style, at) => `<p style="${style}">${String.fromCodePoint(0xe200 + at)}</p>`).join("");
  const face = `<style>@font-face{font-family:icons;src:url(data:font/ttf;base64,${font})}</style>`;
  const more = "<script type=application/json>\ue301</script><noscript>\ue302</noscript><template>\ue303</template>";
  const frame = `<iframe srcdoc="<meta charset=utf-8>\ue124"></iframe>`;
  const html = `<!doctype html><meta charset="utf-8">${face}<title>\ue304</title>${unseen}${more}`;
  const child = children.get(`browser ${CONF}`) ?? openChild("browser", { FONTCONFIG_FILE: CONF });
  children.set(`browser ${CONF}`, child);
  const names = async (body: string): Promise<unknown> => {
    const { output } = await child.run("web.screenshot", { url: { address: "https://example.com/", html: body } });
    return output?.["missing_letters"];
  };
  const seen = `${html}<p>a${NO_LETTER}${NO_LETTER}</p>${frame}`;
  expect(await names(seen)).toEqual(["\ue123 (U+E123)", "\ue124 (U+E124)"]);
  expect(await names(html)).toBeUndefined();
}, 60_000);

function withParams<T extends { readonly params?: object }>(call: T, more: object): T {
  return { ...call, params: { ...call.params, ...more } };
}

/** Scripts of DejaVu Sans. */
const IN_LATIN_FONT: readonly Script[] = ["Greek", "Arabic", "Hebrew"];
/** Scripts whose letters need no shaping. */
const BESIDE_ONE_ANOTHER: readonly Script[] = ["Chinese", "Japanese", "Korean", "emoji"];
