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

/** @throws MediaError unsupported, corrupt, too_large */
export async function docxBytes(file: InputFile, folder: string): Promise<Buffer> {
  const office = (await isZip(file)) ? await openOffice(file, folder) : undefined;
  if (office?.kind === "docx") return office.bytes;
  throw new MediaError("unsupported", `Expected a Word document (docx), got ${office?.kind ?? file.mediaType}.`);
}

export async function wordHtml(bytes: Buffer, images: "drop" | "embed"): Promise<string> {
  const convertImage = mammoth.images.imgElement(async (image) => {
    const isKept = images === "embed" && PICTURES.includes(image.contentType);
    return { src: isKept ? `data:${image.contentType};base64,${await image.readAsBase64String()}` : "" };
  });
  try {
    const options = { convertImage, externalFileAccess: false, includeEmbeddedStyleMap: false };
    const { value } = await mammoth.convertToHtml(await openWord(bytes), options);
    // Brackets and quotes of text are escaped, so every match is a tag.
    return value.replaceAll(/<img\b[^>]*\ssrc=""[^>]*>/g, "").replaceAll(/<a ([^>]*)>/g, (tag, rest: string) => {
      const href = /(?:^|\s)href="([^"]*)"/.exec(rest)?.[1];
      return href === undefined || href.startsWith("#") || safeLink(href) !== undefined ? tag : "<a>";
    });
  } catch (error) {
    throw corruptOr(error, "The Word document cannot be read.");
  }
}

type Input = Parameters<typeof mammoth.convertToHtml>[0];

/** Returns an opened zip, which mammoth accepts as `file` (untyped). Elements that mammoth ignores are rewritten during reading. */
async function openWord(bytes: Buffer): Promise<Input> {
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
  return { file } as unknown as Input;
}

/**
 * Keeps the content of simple fields, text directions and ruby text, which mammoth ignores with all of their runs. They become smart tags,
 * whose content mammoth reads. A ruby reading follows its text in parentheses.
 */
function withWholeText(xml: string): string {
  if (!/<w:(?:fldSimple|ruby|dir|bdo)\b/.test(xml)) return xml;
  const bracket = (text: string): string => `<w:r><w:t>${text}</w:t></w:r>`;
  return xml
    .replaceAll(
      /<w:rt>([^]{0,4000}?)<\/w:rt>\s*<w:rubyBase>([^]{0,4000}?)<\/w:rubyBase>/g,
      (_all, reading: string, text: string) => `${text}${bracket("(")}${reading}${bracket(")")}`,
    )
    .replaceAll(/<(\/?)w:(?:fldSimple|ruby|rubyBase|rt|dir|bdo)(?=[\s>/])/g, "<$1w:smartTag");
}

/** Element of mammoth's document tree. */
interface Element {
  readonly type: string;
  readonly value?: string;
  readonly children?: readonly Element[];
}

/** Returns the text with line breaks, which the library's own text omits. */
export async function wordText(bytes: Buffer): Promise<string> {
  let root: Element | undefined;
  const transformDocument = (document: Element): Element => {
    root = document;
    return { ...document, children: [] };
  };
  try {
    await mammoth.convertToHtml(await openWord(bytes), { transformDocument, externalFileAccess: false });
  } catch (error) {
    throw corruptOr(error, "The Word document cannot be read.");
  }
  return root === undefined ? "" : textOf(root).replaceAll("\u00ad", "");
}

function textOf({ type, value, children = [] }: Element): string {
  if (type === "text") return value ?? "";
  if (type === "tab") return "\t";
  if (type === "break") return "\n";
  return children.map(textOf).join("") + (type === "paragraph" ? "\n\n" : "");
}
