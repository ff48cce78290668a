/** Every capability that draws text draws letters or refuses them by name, never boxes: a sample. The nightly test asks every script. */
import { readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { describe, expect, test } from "bun:test";

import { CAPABILITIES } from "#shared/calls/capabilities/list.ts";
import { allFonts, fontPath } from "#workers/capabilities/fonts.ts";

import { drawn, expectDrawn, lineOf, NAMES, NO_LETTER, PAGE_ROWS, ROWS, SCRIPTS } from "./letters.ts";
import { refused } from "./refused.ts";

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

test("the table has every capability that renders text", () => {
  const drawing = CAPABILITIES.filter(({ id, engine, engineBy }) => {
    if (ENGINES_THAT_DRAW.includes(engine) || ENGINES_THAT_DRAW.includes(engineBy?.engine ?? "")) return true;
    const file = join(FOLDER, `${id.replace(".", "/").replaceAll("_", "-")}.ts`);
    return DRAWS.test(readFileSync(file, "utf8"));
  });
  const known = new Set([...[...ROWS, ...PAGE_ROWS].map(([, { id }]) => id), ...DRAW_NONE.keys()]);
  expect(drawing.map(({ id }) => id).toSorted()).toEqual([...known].toSorted());
});

test("every link points to a font that the image keeps: it deletes other weights than the regular one", () => {
  for (const font of allFonts()) {
    const target = realpathSync(fontPath(font));
    expect(target).toMatch(/dejavu-fonts-ttf|Regular\.[ot]tf$/);
    expect(readFileSync(target).length).toBeGreaterThan(10_000);
  }
});

test("the samples have every script", () => {
  const asked = new Set(ROWS.flatMap(([, { sample = [] }]) => sample));
  expect(NAMES.filter((name) => !asked.has(name))).toEqual([]);
  expect(ROWS.filter(([, { sample, only = NAMES }]) => !sample?.every((name) => only.includes(name)))).toEqual([]);
});

describe.each(ROWS)("%s", (_, row) => {
  test.each(row.sample ?? [])("renders %s, or rejects it by name", (script) => expectDrawn(row, script));

  test("rejects a letter without a font", async () => {
    expect(await refused(drawn(row, `a${NO_LETTER}`))).toContain(row.refusesLetter);
  });
});

describe.each(PAGE_ROWS)("%s", (_, row) => {
  test("renders every script", async () => {
    const words = [0, 1].flatMap((at) => NAMES.map((name) => SCRIPTS[name][at] ?? ""));
    const picture = await drawn(row, words.join(" "));
    const line = (at: number) => lineOf(row, picture, at);
    expect(NAMES.filter((_name, at) => line(at).equals(line(at + NAMES.length)))).toEqual([]);
  }, 60_000);

  test("rejects a letter without a font", async () => {
    expect(await refused(drawn(row, `a${NO_LETTER}`))).toContain(row.refusesLetter);
  }, 60_000);
});
