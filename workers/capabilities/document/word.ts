/** Word documents as HTML: nothing outside of the document is read, and no link leads to a script. */
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
    // Every bracket and quote of the text is escaped, so these are tags.
    return value.replaceAll(/<img\b[^>]*\ssrc=""[^>]*>/g, "").replaceAll(/<a ([^>]*)>/g, (tag, rest: string) => {
      const href = /(?:^|\s)href="([^"]*)"/.exec(rest)?.[1];
      return href === undefined || href.startsWith("#") || safeLink(href) !== undefined ? tag : "<a>";
    });
  } catch (error) {
    throw corruptOr(error, "The Word document cannot be read.");
  }
}

export async function wordText(bytes: Buffer): Promise<string> {
  try {
    return (await mammoth.extractRawText({ buffer: bytes })).value;
  } catch (error) {
    throw corruptOr(error, "The Word document cannot be read.");
  }
}
