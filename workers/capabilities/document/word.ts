/** Converts Word documents to HTML. External files are not read, and links to scripts are removed. */
import { configure, Uint8ArrayReader, Uint8ArrayWriter, ZipReader } from "@zip.js/zip.js";
import mammoth from "mammoth";

import { MediaError } from "#shared/children/media-error.ts";

import type { InputFile } from "../define.ts";
import { corruptOr } from "../faults.ts";
import { safeLink } from "./markdown.ts";
import { isZip, openOffice } from "./office.ts";

configure({ useWebWorkers: false });

const PICTURES = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/** Reads a Word document, and makes the checks that must precede parsing. @throws MediaError unsupported, corrupt, too_large */
export async function docxBytes(file: InputFile, folder: string): Promise<Buffer> {
  const office = (await isZip(file)) ? await openOffice(file, folder) : undefined;
  if (office?.kind === "docx") return office.bytes;
  throw new MediaError("unsupported", `Expected a Word document (docx), got ${office?.kind ?? file.mediaType}.`);
}

export interface WordContent {
  /** HTML or plain text. */
  readonly content: string;
  /** Sentences about parts of the document that the content lacks. */
  readonly notes: readonly string[];
}

export async function wordHtml(bytes: Buffer, images: "drop" | "embed"): Promise<WordContent> {
  const convertImage = mammoth.images.imgElement(async (image) => {
    const isKept = images === "embed" && PICTURES.includes(image.contentType);
    return { src: isKept ? `data:${image.contentType};base64,${await image.readAsBase64String()}` : "" };
  });
  try {
    const options = { convertImage, externalFileAccess: false, includeEmbeddedStyleMap: false };
    const { input, notes } = await openWord(bytes);
    const { value } = await mammoth.convertToHtml(input, options);
    // Brackets and quotes of text are escaped, so every match is a tag.
    const content = value
      .replaceAll(/<img\b[^>]*\ssrc=""[^>]*>/g, "")
      .replaceAll(/<a ([^>]*)>/g, (tag, attributes: string) => {
        const href = /(?:^|\s)href="([^"]*)"/.exec(attributes)?.[1];
        return href === undefined || href.startsWith("#") || safeLink(href) !== undefined ? tag : "<a>";
      });
    return { content, notes };
  } catch (error) {
    throw corruptOr(error, "The Word document cannot be read.");
  }
}

type Input = Parameters<typeof mammoth.convertToHtml>[0];

/**
 * Opens the bytes of a Word document as a zip, in the form of mammoth's option `file`, which mammoth's types lack. Elements that mammoth
 * would ignore are rewritten while entries are read.
 */
async function openWord(bytes: Buffer): Promise<{ readonly input: Input; readonly notes: readonly string[] }> {
  const found = await new ZipReader(new Uint8ArrayReader(bytes)).getEntries();
  const entries = new Map(found.flatMap((entry) => (entry.directory ? [] : [[entry.filename, entry]])));
  const file = {
    exists: (name: string): boolean => entries.has(name),
    async read(name: string, encoding?: string): Promise<string | Uint8Array> {
      const entry = entries.get(name);
      if (entry === undefined) throw new Error(`it has no ${name}`);
      const data = await entry.getData(new Uint8ArrayWriter());
      if (encoding === undefined) return data;
      if (encoding === "base64") return Buffer.from(data).toString("base64");
      return withWholeText(new TextDecoder(encoding as "utf-8").decode(data));
    },
  };
  const lost = new Set<string>();
  let hasFormula = false;
  for (const [name, entry] of entries) {
    const part = PARTS.find(([pattern]) => pattern.test(name))?.[1];
    if (part === undefined || (part !== "" && lost.has(part))) continue;
    const xml = Buffer.from(await entry.getData(new Uint8ArrayWriter()));
    if (part === "") hasFormula ||= FORMULA.test(xml.toString());
    else if (TEXT.test(xml.toString())) lost.add(part);
  }
  const notes = [
    ...(lost.size === 0 ? [] : [`Not kept: ${[...lost].join(", ")}.`]),
    ...(hasFormula ? ["Formulas are written as their characters in one line, without their layout."] : []),
  ];
  return { input: { file } as unknown as Input, notes };
}

/**
 * Patterns of zip entries with text, each with the name of a part that is not converted. The name is empty for parts that are converted.
 */
const PARTS: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/^word\/(?:header|footer)\d*\.xml$/, "headers and footers"],
  [/^word\/comments\.xml$/, "comments"],
  [/^word\/(?:document|footnotes|endnotes)\d*\.xml$/, ""],
];
const TEXT = /<w:t(?:\s[^<>]*)?>[^<]/;
const FORMULA = /<m:t(?:\s[^<>]*)?>[^<]/;

/**
 * Rewrites simple fields, text directions, formulas and ruby text as smart tags. Mammoth reads the content of smart tags, but would omit
 * these elements with all of their text. A ruby reading follows its text in parentheses.
 */
function withWholeText(xml: string): string {
  if (!/<w:(?:fldSimple|ruby|dir|bdo)\b|<m:t\b/.test(xml)) return xml;
  const bracket = (text: string): string => `<w:r><w:t>${text}</w:t></w:r>`;
  return (
    xml
      .replaceAll(/<m:t(?=[\s>])[^<>]*>([^<]*)<\/m:t>/g, (_all, text: string) => bracket(text))
      // Properties of a formula contain no text, and mammoth ignores them.
      .replaceAll(/<(\/?)m:(\w+)(?<!Pr)(?=[\s>/])/g, (_all, close: string, name: string) => {
        const sign = close === "" ? SIGNS[name] : undefined;
        return `${sign === undefined ? "" : bracket(sign)}<${close}w:smartTag`;
      })
      .replaceAll(
        /<w:rt>([^]{0,4000}?)<\/w:rt>\s*<w:rubyBase>([^]{0,4000}?)<\/w:rubyBase>/g,
        (_all, reading: string, text: string) => `${text}${bracket("(")}${reading}${bracket(")")}`,
      )
      .replaceAll(/<(\/?)w:(?:fldSimple|ruby|rubyBase|rt|dir|bdo)(?=[\s>/])/g, "<$1w:smartTag")
  );
}

/** Signs before parts of a formula, by their element (ECMA-376 part 1, 22.1). */
const SIGNS: Readonly<Record<string, string>> = { den: "/", sup: "^", sub: "_", rad: "√" };

/** Element of mammoth's document tree. */
interface Element {
  readonly type: string;
  readonly value?: string;
  readonly children?: readonly Element[];
  /** Type and id of the footnote or endnote to which a reference points. */
  readonly noteType?: string;
  readonly noteId?: string;
  /** Footnotes and endnotes of the document. Only the root element has this member. */
  readonly notes?: { resolve(reference: Element): { readonly body: readonly Element[] } | null };
}

/**
 * Returns the text of a Word document with line breaks, which mammoth's own text output omits. Footnotes and endnotes follow the text with
 * their numbers.
 */
export async function wordText(bytes: Buffer): Promise<WordContent> {
  let root: Element | undefined;
  let opened: Awaited<ReturnType<typeof openWord>>;
  const transformDocument = (document: Element): Element => {
    root = document;
    return { ...document, children: [] };
  };
  try {
    opened = await openWord(bytes);
    await mammoth.convertToHtml(opened.input, { transformDocument, externalFileAccess: false });
  } catch (error) {
    throw corruptOr(error, "The Word document cannot be read.");
  }
  if (root === undefined) return { content: "", notes: opened.notes };
  const notes: Notes = new Map();
  const texts = [textOf(root, notes)];
  // A note may refer to further notes, which the loop then reads too. Each note is written once.
  for (const { number, reference } of notes.values()) {
    const parts = root.notes?.resolve(reference)?.body ?? [];
    const text = parts.map((part) => textOf(part, notes)).join("");
    texts.push(`[${number}] ${text.trim()}\n\n`);
  }
  return { content: texts.join("").replaceAll("\u00ad", ""), notes: opened.notes };
}

/** References to footnotes and endnotes, by type and id of the note, with the number of each note. */
type Notes = Map<string, { readonly number: number; readonly reference: Element }>;

/**
 * Returns the text of an element and its children. A reference to a note becomes its number in brackets.
 * @param notes map to which the references to notes are added
 */
function textOf(element: Element, notes: Notes): string {
  const { type, value, noteType, noteId, children = [] } = element;
  if (type === "text") return value ?? "";
  if (type === "tab") return "\t";
  if (type === "break") return "\n";
  if (type === "noteReference") {
    const key = `${noteType} ${noteId}`;
    const note = notes.get(key) ?? { number: notes.size + 1, reference: element };
    notes.set(key, note);
    return `[${note.number}]`;
  }
  return children.map((child) => textOf(child, notes)).join("") + (type === "paragraph" ? "\n\n" : "");
}
