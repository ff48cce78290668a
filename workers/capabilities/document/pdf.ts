/** Opens and writes PDFs through pdf-lib. For child processes only. */
import {
  ParseSpeeds,
  PDFArray,
  PDFCatalog,
  type PDFContext,
  PDFDict,
  PDFDocument,
  PDFInvalidObject,
  PDFName,
  PDFNumber,
  type PDFObject,
  PDFPageLeaf,
  PDFPageTree,
  PDFRawStream,
  PDFRef,
} from "@cantoo/pdf-lib";
import { join } from "node:path";
import { inflateSync } from "node:zlib";

import { MediaError } from "#shared/children/media-error.ts";

import type { InputFile, OutputFile } from "../define.ts";
import { corruptOr } from "../faults.ts";

export const DOCUMENT_PAGES_MAX = 2_000;

/** Maximum side length of a page, in points: 200 inches, the limit of PDF viewers. */
export const DOCUMENT_PAGE_SIDE_POINTS_MAX = 14_400;

export const DOCUMENT_PRICE = { unit: "per_operation", operation_price: "0.1" } as const;
export const REPORT = { document: { file_id: "file-sample-report" } } as const;
export const PDF = "application/pdf";

export interface PdfPassword {
  readonly password?: string | undefined;
  readonly passwordParam?: string;
}

export interface OpenedPdf {
  readonly document: PDFDocument;
  readonly bytes: number;
  readonly version: string;
  readonly pages: number;
  /** True if the file was encrypted before it was opened. */
  readonly isEncrypted: boolean;
}

/** Reads the bytes of a PDF, and makes the checks that must precede parsing. @throws MediaError unsupported, too_large */
export async function pdfBytes(file: InputFile): Promise<Buffer> {
  const bytes = Buffer.from(await Bun.file(file.path).arrayBuffer());
  if (!bytes.subarray(0, 1_024).includes("%PDF-")) {
    throw new MediaError("unsupported", `Expected a PDF, got ${file.mediaType}.`);
  }
  checkStreams(bytes);
  return bytes;
}

/**
 * Opens a PDF with pdf-lib, and decrypts it if necessary.
 * @param options `password`: the document's password; `passwordParam`: name of the parameter for it
 * @throws MediaError unsupported, corrupt, too_large, invalid
 */
export async function openPdf(file: InputFile, options: PdfPassword = {}): Promise<OpenedPdf> {
  const bytes = await pdfBytes(file);
  const version = /%PDF-(\d\.\d)/.exec(bytes.subarray(0, 1_032).toString("latin1"))?.[1] ?? "";
  const opening = { updateMetadata: false, parseSpeed: ParseSpeeds.Fastest };
  const facts = { bytes: bytes.length, version };
  try {
    const locked = await PDFDocument.load(bytes, { ...opening, ignoreEncryption: true });
    if (!locked.isEncrypted) return { ...facts, document: locked, isEncrypted: false, pages: checkedPages(locked) };
    // Many PDFs are encrypted with an empty password, only to restrict printing or editing.
    const document = await PDFDocument.load(bytes, { ...opening, password: options.password ?? "" });
    settleObjects(document, locked);
    return { ...facts, document, isEncrypted: true, pages: checkedPages(document) };
  } catch (error) {
    if (error instanceof MediaError) throw error;
    if (/password/i.test(String(error))) throw wrongPassword(options.password, options.passwordParam, error);
    throw unreadable(error);
  }
}

/**
 * Returns the error for a missing or wrong password. @param param name of the parameter for the password; undefined if the capability has
 * none
 */
export function wrongPassword(password: string | undefined, param: string | undefined, cause: unknown): MediaError {
  const message =
    param === undefined
      ? "Expected a document without a password; document.decrypt_pdf removes it."
      : password === undefined || password === ""
        ? `Expected ${param} for an encrypted document, got none.`
        : `Expected ${param} to open the document; it does not.`;
  return new MediaError("invalid", message, { cause });
}

export function unreadable(cause: unknown): MediaError {
  return corruptOr(cause, "The PDF cannot be read.");
}

/**
 * Makes a decrypted document writable as a plain one. Deletes the encryption dictionary and the compressed reference tables, with which
 * readers could not open the result. Restores the reference to the document information.
 */
function settleObjects({ context }: PDFDocument, locked: PDFDocument): void {
  const { Encrypt: lock, Info: facts } = locked.context.trailerInfo;
  const tables = [PDFName.of("XRef"), PDFName.of("ObjStm")];
  for (const [ref, object] of context.enumerateIndirectObjects()) {
    const type = object instanceof PDFRawStream ? object.dict.get(PDFName.of("Type")) : undefined;
    const isTable = tables.some((table) => table === type);
    if (ref === lock || isTable || object instanceof PDFInvalidObject) context.delete(ref);
  }
  if (facts !== undefined) context.trailerInfo.Info = facts;
  delete context.trailerInfo.Encrypt;
}

function checkedPages(document: PDFDocument): number {
  settlePages(document);
  const pages = document.getPageCount();
  if (pages === 0) throw new MediaError("corrupt", "Expected a PDF with pages, got none.");
  checkPageCount(pages);
  return pages;
}

/** Checks the number of pages of a document. @throws MediaError too_large */
export function checkPageCount(pages: number): void {
  const max = DOCUMENT_PAGES_MAX;
  if (pages > max) throw new MediaError("too_large", `Expected at most ${max} pages, got ${pages}.`);
}

/** Checks a page size in points. @throws MediaError too_large, corrupt */
export function checkPageSize(width: number, height: number): void {
  const max = DOCUMENT_PAGE_SIDE_POINTS_MAX;
  if (!(width > 0 && height > 0)) throw new MediaError("corrupt", "Expected pages with a size.");
  if (width <= max && height <= max) return;
  const got = `${Math.round(width)} × ${Math.round(height)}`;
  throw new MediaError("too_large", `Expected pages of at most ${max} points on a side, got ${got}.`);
}

/** Creates a document without dates, so that the same content gives the same bytes. */
export async function newPdf(): Promise<PDFDocument> {
  return PDFDocument.create({ updateMetadata: false });
}

export async function savePdf(folder: string, document: PDFDocument, name = "document.pdf"): Promise<OutputFile> {
  const path = join(folder, name);
  let bytes: Uint8Array;
  try {
    bytes = await document.save({ addDefaultPage: false, updateFieldAppearances: false });
  } catch (error) {
    // Errors in objects that were not parsed yet occur during saving.
    throw unreadable(error);
  }
  await Bun.write(path, bytes);
  return { path, mediaType: PDF, name };
}

/** Maximum decompressed size of a PDF stream that is not an image, in bytes. */
const DOCUMENT_CONTENT_BYTES_MAX = 32 * 1_048_576;

/** Maximum decompressed size of an image stream, and of all streams together, in bytes. */
export const DOCUMENT_STREAM_BYTES_MAX = 256 * 1_048_576;
const DOCUMENT_STREAMS_BYTES_MAX = 1_024 * 1_048_576;

/** Maximum number of nested compressions of a PDF stream. Valid PDFs have one, or two for images. */
const LAYERS_MAX = 3;

/** Checks the decompressed sizes of a PDF's streams before the PDF is parsed. @throws MediaError too_large */
export function checkStreams(bytes: Buffer): void {
  let [at, total] = [bytes.indexOf("stream"), 0];
  while (at !== -1) {
    if (bytes.subarray(at - 3, at).toString("latin1") === "end") {
      at = bytes.indexOf("stream", at + 6);
      continue;
    }
    const start = at + 6 + (bytes[at + 6] === 13 ? 2 : 1);
    const found = bytes.indexOf("endstream", start);
    const end = found === -1 ? bytes.length : found;
    const bytesMax = isPicture(bytes, at) ? DOCUMENT_STREAM_BYTES_MAX : DOCUMENT_CONTENT_BYTES_MAX;
    total += inflated(bytes.subarray(start, end), LAYERS_MAX, bytesMax);
    if (total > DOCUMENT_STREAMS_BYTES_MAX) throw tooMuch("all streams", DOCUMENT_STREAMS_BYTES_MAX);
    at = bytes.indexOf("stream", end + 9);
  }
}

/**
 * True if the stream is an image. Other streams have a lower size limit, because drawing instructions use far more memory in a renderer
 * than pixels do.
 */
function isPicture(bytes: Buffer, streamAt: number): boolean {
  const before = bytes.subarray(Math.max(0, streamAt - DICTIONARY_BYTES_MAX), streamAt).toString("latin1");
  return before.slice(before.lastIndexOf(" obj") + 1).includes("/Image");
}

const DICTIONARY_BYTES_MAX = 4_096;

function inflated(bytes: Buffer, layers: number, bytesMax: number): number {
  const [first = 0, second = 0] = bytes;
  const isPacked = (first & 0x0f) === 8 && ((first << 8) | second) % 31 === 0;
  if (!isPacked) return 0;
  try {
    const plain = inflateSync(bytes, { maxOutputLength: bytesMax });
    return plain.length + (layers > 1 ? inflated(plain, layers - 1, bytesMax) : 0);
  } catch (error) {
    if (error instanceof MediaError) throw error;
    const isTooLarge = (error as { readonly code?: string }).code === "ERR_BUFFER_TOO_LARGE";
    if (isTooLarge) throw tooMuch("a stream", bytesMax);
    // Invalid data counts as empty: the parser reports the error.
    return 0;
  }
}

function tooMuch(what: string, max: number): MediaError {
  return new MediaError("too_large", `Expected at most ${max} bytes of ${what} of the PDF unpacked, got more.`);
}

// Repairs page trees that pdfium reads and pdf-lib rejects: nodes without type, parent or count, missing kids, and pages without a usable
// size. For child processes only.

const name = (text: string): PDFName => PDFName.of(text);
/** Maximum number of nodes in the page tree, and its maximum depth. A deeper tree is assumed to contain a cycle. */
const NODES_MAX = 100_000;
const NESTED_MAX = 100;
/** US letter size in points, which pdfium uses for pages without a size. */
const LETTER = [0, 0, 612, 792];

/**
 * Repairs the page tree of a PDF before its pages are read: wrong types, missing parents, duplicate pages and missing sizes.
 * @throws MediaError corrupt if the PDF has no catalog
 */
function settlePages(document: PDFDocument): void {
  const { context } = document;
  const root = context.trailerInfo.Root;
  const catalog = context.lookup(root);
  if (!(catalog instanceof PDFDict)) throw new MediaError("corrupt", "Expected a PDF with pages, got none.");
  if (!(catalog instanceof PDFCatalog)) {
    const typed = PDFCatalog.fromMapWithContext(catalog.asMap(), context);
    if (root instanceof PDFRef) context.assign(root, typed);
    Object.assign(document, { catalog: typed });
  }
  const pagesEntry = document.catalog.get(name("Pages"));
  const pages =
    pagesEntry instanceof PDFRef ? pagesEntry : pagesEntry === undefined ? undefined : context.register(pagesEntry);
  if (pages === undefined) return;
  document.catalog.set(name("Pages"), pages);
  settle(context, pages, { seen: new Set(), depth: 0 });
}

interface Walk {
  readonly seen: Set<PDFRef>;
  readonly depth: number;
  readonly parent?: PDFRef;
  readonly box?: PDFArray;
}

/**
 * Repairs a node of the page tree and all nodes below it. Returns the number of pages in this subtree; 0 if the object is not a node, or
 * was visited before.
 */
function settle(context: PDFContext, ref: PDFRef, { seen, depth, parent, box }: Walk): number {
  const node = context.lookup(ref);
  if (!(node instanceof PDFDict) || seen.has(ref) || seen.size > NODES_MAX || depth > NESTED_MAX) return 0;
  seen.add(ref);
  const kids = context.lookup(node.get(name("Kids")));
  const isTree = kids instanceof PDFArray;
  const own = boxOf(context, node) ?? box;
  const typed = isTree
    ? node instanceof PDFPageTree ? node : PDFPageTree.fromMapWithContext(node.asMap(), context)
    : node instanceof PDFPageLeaf ? node : PDFPageLeaf.fromMapWithContext(node.asMap(), context); // prettier-ignore
  if (typed !== node) context.assign(ref, typed);
  typed.set(name("Type"), name(isTree ? "Pages" : "Page"));
  if (parent) typed.set(name("Parent"), parent);
  else typed.delete(name("Parent"));
  if (!isTree) {
    if (own) typed.set(name("MediaBox"), own);
    else typed.set(name("MediaBox"), context.obj(LETTER));
    return 1;
  }
  let count = 0;
  const kept = context.obj([]);
  for (const kid of kids.asArray()) {
    const at = pageOfItsOwn(context, kid, seen);
    const more = settle(context, at, { seen, depth: depth + 1, parent: ref, ...(own ? { box: own } : {}) });
    if (more === 0) continue;
    count += more;
    kept.push(at);
  }
  typed.set(name("Kids"), kept);
  typed.set(name("Count"), PDFNumber.of(count));
  return count;
}

/**
 * Returns the reference to a child of a page tree node. If a page occurs in the tree twice, creates a copy of it and returns the copy's
 * reference.
 */
function pageOfItsOwn(context: PDFContext, kid: PDFObject, seen: ReadonlySet<PDFRef>): PDFRef {
  if (!(kid instanceof PDFRef)) return context.register(kid);
  const node = seen.has(kid) && seen.size <= NODES_MAX ? context.lookup(kid) : undefined;
  return node instanceof PDFPageLeaf ? context.register(node.clone(context)) : kid;
}

/** Returns the node's media box; undefined if its size is invalid. */
function boxOf(context: PDFContext, node: PDFDict): PDFArray | undefined {
  const box = context.lookup(node.get(name("MediaBox")));
  if (!(box instanceof PDFArray) || box.size() !== 4) return undefined;
  const sides = box.asArray().map((side) => context.lookup(side));
  const [left, bottom, right, top] = sides.map((side) => (side instanceof PDFNumber ? side.asNumber() : Number.NaN));
  const isBox = Math.abs(Number(right) - Number(left)) > 0 && Math.abs(Number(top) - Number(bottom)) > 0;
  return isBox ? box : undefined;
}
