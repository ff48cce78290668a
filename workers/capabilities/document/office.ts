/** Zipped office documents: what is inside is counted before any parser opens them. */
import { MediaError } from "#shared/media/media-error.ts";
import { LIMITS } from "#shared/limits.ts";

import { readArchive } from "../archive/read.ts";
import type { InputFile } from "../define.ts";

type OfficeKind = "docx" | "xlsx" | "ods";

const ODS = "application/vnd.oasis.opendocument.spreadsheet";
/** Entries whose text tells more. */
const READ = ["mimetype", "content.xml"];

/** Parts of a Word document. */
const WORDS = /^word\/.*\.xml$/;
const TAG = 0x3c;

function tagsIn(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(TAG); at !== -1; at = bytes.indexOf(TAG, at + 1)) count += 1;
  return count;
}

export interface OfficeFile {
  /** Undefined for another zip. */
  readonly kind: OfficeKind | undefined;
  readonly bytes: Buffer;
  /** Of an ods. */
  readonly content: string;
}

export async function isZip(file: InputFile): Promise<boolean> {
  return (await Bun.file(file.path).slice(0, 4).text()) === "PK\u0003\u0004";
}

/** @throws MediaError corrupt, too_large */
export async function openOffice(file: InputFile, folder: string): Promise<OfficeFile> {
  const { counter, entries } = await readArchive(file, folder, undefined);
  const names = new Set<string>();
  const texts = new Map<string, string>();
  const { documentUnpackedBytesMax: max, documentTagsMax: tagsMax } = LIMITS;
  let [total, tags] = [0, 0];
  for await (const entry of entries) {
    if (entry.kind !== "file") continue;
    names.add(entry.name);
    const pieces: Uint8Array[] = [];
    await entry.read(async (bytes) => {
      counter.bytes(bytes.length);
      total += bytes.length;
      if (total > max) throw new MediaError("too_large", `Expected at most ${max} bytes unpacked, got more.`);
      if (WORDS.test(entry.name)) tags += tagsIn(bytes);
      if (tags > tagsMax) {
        throw new MediaError("too_large", `Expected a Word document of at most ${tagsMax} tags, got more.`);
      }
      if (READ.includes(entry.name)) pieces.push(bytes);
    });
    if (pieces.length > 0) texts.set(entry.name, Buffer.concat(pieces).toString());
  }
  const isOds = texts.get("mimetype")?.trim() === ODS && names.has("content.xml");
  const kind = isOds
    ? "ods"
    : names.has("word/document.xml")
      ? "docx"
      : names.has("xl/workbook.xml")
        ? "xlsx"
        : undefined;
  const bytes = Buffer.from(await Bun.file(file.path).arrayBuffer());
  return { kind, bytes, content: texts.get("content.xml") ?? "" };
}
