/** PDFs of other projects: facts and texts, as poppler reads them. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import type { DebianSource } from "#tests/support/debian-source.ts";

import { runCapability } from "../in-folder.ts";
import { type Case, type Counts, testCorpus } from "./corpus.ts";
import { poppler } from "./poppler.ts";

const PYPDF: DebianSource = { name: "pypdf", version: "5.4.0", release: "trixie", folder: "resources" };
const PDFMINER: DebianSource = {
  name: "pdfminer",
  version: "20221105+dfsg",
  release: "trixie",
  folder: "samples",
};
/** Small files, most of them damaged or of rare structure. */
const QPDF: DebianSource = { name: "qpdf", version: "12.2.0", release: "trixie", folder: "qpdf/qtest/qpdf" };

const PDFJS: DebianSource = { name: "pdf.js", version: "2.14.305+dfsg", release: "trixie", folder: "test/pdfs" };

const facts: Check = { judge: (path) => poppler("pdfinfo", ["-enc", "UTF-8", path]), isRight: hasFacts };
const text: Check = { judge: (path) => poppler("pdftotext", ["-enc", "UTF-8", path, "-"]), isRight: hasText };

// Refused: passwords, a file that is encrypted without an id, damaged files, and pages that only show numbers of glyphs, which poppler prints as
// if they were characters. Wrong: options of lists and captions of buttons that are not values, words that the two set apart differently, hidden
// layers, and text in fonts that one side cannot read; of the facts, a page tree in a loop, whose count poppler believes.
const TABLE: readonly (readonly [title: string, source: DebianSource, check: Check, expected: Counts])[] = [
  ["facts of pypdf's PDFs", PYPDF, facts, { right: 53, refused: 3, wrong: 0 }],
  ["texts of pypdf's PDFs", PYPDF, text, { right: 50, refused: 2, wrong: 4 }],
  ["facts of pdfminer's PDFs", PDFMINER, facts, { right: 26, refused: 1, wrong: 0 }],
  ["texts of pdfminer's PDFs", PDFMINER, text, { right: 20, refused: 1, wrong: 6 }],
  ["facts of PDF.js's PDFs", PDFJS, facts, { right: 519, refused: 6, wrong: 1 }],
  ["texts of PDF.js's PDFs", PDFJS, text, { right: 439, refused: 36, wrong: 51 }],
  ["facts of qpdf's PDFs", QPDF, facts, { right: 550, refused: 22, wrong: 0 }],
];
for (const [title, source, check, expected] of TABLE) {
  await testCorpus(title, source, expected, (folder) => cases(folder, check));
}

interface Check {
  readonly judge: (path: string) => Promise<string | undefined>;
  /** @param told what the judge has printed */
  readonly isRight: (path: string, told: string) => Promise<boolean>;
}

/** PDFs that poppler reads; it has no opinion on others. */
async function* cases(folder: string, { judge, isRight }: Check): AsyncIterable<Case> {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => /\.pdf$/i.test(name));
  for (const name of names.toSorted()) {
    const path = join(folder, name);
    const told = await judge(path);
    if (told !== undefined) yield { name, isRight: () => isRight(path, told) };
  }
}

/** Number of pages, encryption and title. */
async function hasFacts(path: string, told: string): Promise<boolean> {
  const { output } = await runCapability("document.info", { document: readFileSync(path) });
  const line = (name: string): string => new RegExp(`^${name}: +(.*)$`, "m").exec(told)?.[1]?.trim() ?? "";
  const { pages, is_encrypted: isEncrypted, title = "" } = output as unknown as Facts;
  const own = [pages, isEncrypted, letters(title)];
  const theirs = [Number(line("Pages")), line("Encrypted").startsWith("yes"), letters(line("Title"))];
  if (!Bun.deepEquals(own, theirs)) throw new Error(JSON.stringify([own, theirs]));
  return true;
}

interface Facts {
  readonly pages: number;
  readonly is_encrypted: boolean;
  readonly title?: string;
}

/** Share of the words of each side that the other has too. */
const SAME_WORDS = 0.95;

/**
 * Words of the pages. The capability writes the value of a form field behind its name. Words that poppler lacks count only where it has most
 * words: without its own data it reads no Chinese, Japanese or Korean in fonts that are not embedded.
 */
async function hasText(path: string, told: string): Promise<boolean> {
  const made = await runCapability("document.extract_text", { document: readFileSync(path) });
  const text = (made.output?.["text"] as string | undefined) ?? Buffer.from(made.bytes()).toString();
  const hasForm = !/^Form: +none$/m.test((await poppler("pdfinfo", [path])) ?? "");
  const [own, theirs] = [wordsOf(text), wordsOf(told)];
  const lost = lacking(theirs, own);
  const invented = hasForm || theirs.length < own.length / 2 ? [] : lacking(own, theirs);
  const allowed = (1 - SAME_WORDS) * Math.max(own.length, theirs.length);
  if (Math.max(lost.length, invented.length) > allowed) {
    throw new Error(`lost ${lost.slice(0, 8).join(" ")}; invented ${invented.slice(0, 8).join(" ")}`);
  }
  return true;
}

const letters = (text: string): string => text.normalize("NFKC").replaceAll(/[^\p{L}\p{N}]/gu, "");

function wordsOf(text: string): readonly string[] {
  const joined = text.normalize("NFKC").replaceAll(/[-\u00ad\u2010]\s*\n/g, "");
  return joined.match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
}

/** Words that the other list has less often. */
function lacking(words: readonly string[], others: readonly string[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const word of others) counts.set(word, (counts.get(word) ?? 0) + 1);
  return words.filter((word) => {
    const count = counts.get(word) ?? 0;
    counts.set(word, count - 1);
    return count <= 0;
  });
}
