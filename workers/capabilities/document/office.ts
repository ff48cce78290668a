/** Zipped office documents: what is inside is counted before any parser opens them. */
import { MediaError } from "#shared/children/media-error.ts";
import { DOCUMENT_TAGS_MAX } from "#workers/capabilities/limits.ts";

import { readArchive } from "../archive/read.ts";
import type { InputFile } from "../define.ts";

/** A zipped office document, unpacked: parsers hold several times as much. */
const DOCUMENT_UNPACKED_BYTES_MAX = 200 * 1_048_576;

export type OfficeKind = "docx" | "xlsx" | "pptx" | "odt" | "ods" | "odp";

const ODF = "application/vnd.oasis.opendocument";
/** By the entry `mimetype` of theirs. */
const ODF_KINDS: ReadonlyMap<string, OfficeKind> = new Map([
  [`${ODF}.text`, "odt"],
  [`${ODF}.spreadsheet`, "ods"],
  [`${ODF}.presentation`, "odp"],
]);
/** Main parts; some writers number them. */
const OOXML_KINDS: readonly (readonly [RegExp, OfficeKind])[] = [
  [/^word\/document\d*\.xml$/, "docx"],
  [/^xl\/workbook\d*\.xml$/, "xlsx"],
  [/^ppt\/presentation\d*\.xml$/, "pptx"],
];
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
  /** Text of `content.xml`, as an ods has it; empty without one. */
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
  const max = DOCUMENT_UNPACKED_BYTES_MAX;
  const tagsMax = DOCUMENT_TAGS_MAX;
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
  const bytes = Buffer.from(await Bun.file(file.path).arrayBuffer());
  const content = texts.get("content.xml");
  return { kind: kindOf(names, texts.get("mimetype")?.trim(), content), bytes, content: content ?? "" };
}

function kindOf(
  names: ReadonlySet<string>,
  mimetype: string | undefined,
  content: string | undefined,
): OfficeKind | undefined {
  const odf = content === undefined ? undefined : ODF_KINDS.get(mimetype ?? "");
  return odf ?? OOXML_KINDS.find(([main]) => [...names].some((name) => main.test(name)))?.[1];
}
