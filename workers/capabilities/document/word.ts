/** Converts Word documents to HTML. External files are not read, and links to scripts are removed. */
import mammoth from "mammoth";

import { MediaError } from "#shared/children/media-error.ts";

import type { InputFile } from "../define.ts";
import { corruptOr } from "../faults.ts";
import { safeLink } from "./markdown.ts";
import { isZip, openOffice } from "./office.ts";

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
    const { value } = await mammoth.convertToHtml({ buffer: bytes }, options);
    // Brackets and quotes of text are escaped, so every match is a tag.
    return value.replaceAll(/<img\b[^>]*\ssrc=""[^>]*>/g, "").replaceAll(/<a ([^>]*)>/g, (tag, rest: string) => {
      const href = /(?:^|\s)href="([^"]*)"/.exec(rest)?.[1];
      return href === undefined || href.startsWith("#") || safeLink(href) !== undefined ? tag : "<a>";
    });
  } catch (error) {
    throw corruptOr(error, "The Word document cannot be read.");
  }
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
    await mammoth.convertToHtml({ buffer: bytes }, { transformDocument, externalFileAccess: false });
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
