/** Measures the content of zipped office documents before a parser opens them. */
import { MediaError } from "#shared/children/media-error.ts";
import { DOCUMENT_TAGS_MAX } from "#workers/capabilities/limits.ts";

import { readArchive } from "../archive/read.ts";
import type { InputFile } from "../define.ts";
import { countFormulas, type Formulas } from "./formulas.ts";

/** Maximum unpacked size of a zipped office document, in bytes. Parsers use several times as much memory. */
const DOCUMENT_UNPACKED_BYTES_MAX = 200 * 1_048_576;

export type OfficeKind = "docx" | "xlsx" | "pptx" | "odt" | "ods" | "odp";

const ODF = "application/vnd.oasis.opendocument";
/** OpenDocument formats by the text of the entry `mimetype`. */
const ODF_KINDS: ReadonlyMap<string, OfficeKind> = new Map([
  [`${ODF}.text`, "odt"],
  [`${ODF}.spreadsheet`, "ods"],
  [`${ODF}.presentation`, "odp"],
]);
/** Patterns of the main zip entry of Office Open XML formats. Some programs add a number to its name. */
const OOXML_KINDS: readonly (readonly [RegExp, OfficeKind])[] = [
  [/^word\/document\d*\.xml$/, "docx"],
  [/^xl\/workbook\d*\.xml$/, "xlsx"],
  [/^ppt\/presentation\d*\.xml$/, "pptx"],
];
const MANIFEST = "META-INF/manifest.xml";
/** Zip entries whose text is read to detect the format and encryption. */
const READ = ["mimetype", "content.xml", MANIFEST];

/** Signature of compound files ([MS-CFB] 2.2). `ENCRYPTED` and `OLD_FORMATS` name the streams that identify their format. */
const COMPOUND = Buffer.from("d0cf11e0a1b11ae1", "hex");
const ENCRYPTED = "EncryptedPackage";
const OLD_FORMATS = [
  ["WordDocument", "doc", "docx"],
  ["Workbook", "xls", "xlsx"],
  ["Book", "xls", "xlsx"],
  ["PowerPoint Document", "ppt", "pptx"],
] as const;

/** Names of the XML entries of a Word document, and of the sheets of an xlsx. */
const WORDS = /^word\/.*\.xml$/;
const SHEETS = /^xl\/worksheets\/.*\.xml$/;
const TAG = 0x3c;

function tagsIn(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(TAG); at !== -1; at = bytes.indexOf(TAG, at + 1)) count += 1;
  return count;
}

export interface OfficeFile {
  /** Format of the document; undefined if the zip is not an office document. */
  readonly kind: OfficeKind | undefined;
  readonly bytes: Buffer;
  /** Text of the zip entry `content.xml`, which contains the sheets of an ods; empty if absent. */
  readonly content: string;
  /** Formulas in the sheets of an xlsx. */
  readonly formulas: Formulas;
}

/**
 * True if the file is a zip, the container of current office formats. False for other files, except the rejected ones.
 * @throws MediaError invalid for a password-protected file, unsupported for a format of Office 97 to 2003
 */
export async function isZip(file: InputFile): Promise<boolean> {
  const head = Buffer.from(await Bun.file(file.path).slice(0, COMPOUND.length).arrayBuffer());
  if (!head.equals(COMPOUND)) return head.subarray(0, 4).toString("latin1") === "PK\u0003\u0004";
  const bytes = Buffer.from(await Bun.file(file.path).arrayBuffer());
  const has = (stream: string): boolean => bytes.includes(Buffer.from(stream, "utf16le"));
  if (has(ENCRYPTED)) throw isProtected();
  const [, old, wanted] = OLD_FORMATS.find(([stream]) => has(stream)) ?? [];
  if (old === undefined) return false;
  throw new MediaError(
    "unsupported",
    `Expected a ${wanted}, got a ${old} of Office 97 to 2003. Save the document as ${wanted}.`,
  );
}

function isProtected(): MediaError {
  const message =
    "Expected an office document without a password, got a protected one. Save the document without its password.";
  return new MediaError("invalid", message);
}

function damaged(what: string, cause?: unknown): MediaError {
  return new MediaError(
    "corrupt",
    `The office document is damaged: ${what}. Send the original file, or save it again.`,
    { cause },
  );
}

/** Unzips an office document and detects its format. @throws MediaError corrupt, too_large; invalid for a password-protected file */
export async function openOffice(file: InputFile, folder: string): Promise<OfficeFile> {
  return unzipped(file, folder).catch((error: unknown) => {
    const isOurs = error instanceof MediaError && error.cause === undefined;
    throw isOurs || !(error instanceof MediaError) || error.fault !== "corrupt"
      ? error
      : damaged("its zip archive cannot be read", error);
  });
}

async function unzipped(file: InputFile, folder: string): Promise<OfficeFile> {
  const { counter, entries } = await readArchive(file, folder, undefined);
  const names = new Set<string>();
  const texts = new Map<string, string>();
  const max = DOCUMENT_UNPACKED_BYTES_MAX;
  const tagsMax = DOCUMENT_TAGS_MAX;
  const formulas = countFormulas();
  let [total, tags] = [0, 0];
  for await (const entry of entries) {
    if (entry.kind !== "file") continue;
    names.add(entry.name);
    if (entry.encryption !== undefined) throw isProtected();
    const pieces: Uint8Array[] = [];
    await entry.read(async (bytes) => {
      counter.bytes(bytes.length);
      total += bytes.length;
      if (total > max) throw new MediaError("too_large", `Expected at most ${max} bytes unpacked, got more.`);
      if (WORDS.test(entry.name)) tags += tagsIn(bytes);
      if (tags > tagsMax) {
        throw new MediaError("too_large", `Expected a Word document of at most ${tagsMax} tags, got more.`);
      }
      if (SHEETS.test(entry.name)) formulas.add(bytes);
      if (READ.includes(entry.name)) pieces.push(bytes);
    });
    formulas.end();
    if (pieces.length > 0) texts.set(entry.name, Buffer.concat(pieces).toString());
  }
  const bytes = Buffer.from(await Bun.file(file.path).arrayBuffer());
  const content = texts.get("content.xml");
  const mimetype = texts.get("mimetype")?.trim();
  if (mimetype?.startsWith(ODF) === true && /<(?:\w+:)?encryption-data\b/.test(texts.get(MANIFEST) ?? ""))
    throw isProtected();
  const kind = kindOf(names, mimetype, content);
  if (kind === undefined && (names.has("[Content_Types].xml") || mimetype?.startsWith(ODF) === true)) {
    throw damaged("its main part is missing");
  }
  return { kind, bytes, content: content ?? "", formulas: formulas.counted() };
}

function kindOf(
  names: ReadonlySet<string>,
  mimetype: string | undefined,
  content: string | undefined,
): OfficeKind | undefined {
  const odf = content === undefined ? undefined : ODF_KINDS.get(mimetype ?? "");
  return odf ?? OOXML_KINDS.find(([main]) => [...names].some((name) => main.test(name)))?.[1];
}
