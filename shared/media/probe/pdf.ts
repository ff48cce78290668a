/**
 * Counts the pages of a PDF along its page tree. Objects are found in one pass through the file, without the cross-reference table, which
 * may be damaged or false. Source: ISO 32000-1, 7.5 (objects, object streams) and 7.7.3 (page tree).
 */
import { inflateSync } from "node:zlib";

import { PROBE_LIMITS } from "../limits.ts";
import { MediaError } from "#shared/children/media-error.ts";

import { type Budget, isReference, type PdfDictionary, PdfReader, type PdfValue } from "./pdf-values.ts";

/** Text and offset of an object's value. */
interface Place {
  readonly text: string;
  readonly at: number;
}

interface Found {
  readonly objects: Map<number, Place>;
  /** Root of the newest trailer, which is the last one in the file. */
  root: PdfValue | undefined;
  isEncrypted: boolean;
  inflatedLeft: number;
}

/**
 * Returns the number of pages; stops counting above `pagesMax`.
 * @throws MediaError corrupt, unsupported, too_large: the pages cannot be counted
 */
export function countPdfPages(bytes: Uint8Array, pagesMax: number): number {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
  // Damaged values may be parsed again from inside: a few times the file's size is enough for every file that is not malicious.
  const budget: Budget = { left: PROBE_LIMITS.pdfStepsBase + PROBE_LIMITS.pdfStepsPerByte * text.length };
  const found = findObjects(text, budget);
  const catalog = dictionaryAt(found, found.root, budget);
  const pages = countLeaves(found, catalog?.get("Pages"), pagesMax, budget);
  if (pages > 0) return pages;
  if (found.isEncrypted) throw new MediaError("unsupported", "The PDF is encrypted, and its pages cannot be counted.");
  throw new MediaError("corrupt", "The pages of the PDF cannot be found.");
}

const MARK = /(?<![0-9])(\d{1,10})[\0\t\n\f\r ]{1,8}\d{1,5}[\0\t\n\f\r ]{1,8}obj(?![A-Za-z])|\btrailer\b/g;

/** Finds objects by number; of several with the same number, the last one counts. */
function findObjects(text: string, budget: Budget): Found {
  const { pdfInflatedBytesMax: inflatedLeft } = PROBE_LIMITS;
  const found: Found = { objects: new Map(), root: undefined, isEncrypted: false, inflatedLeft };
  const marks = new RegExp(MARK);
  for (let mark = marks.exec(text); mark !== null; mark = marks.exec(text)) {
    const reader = new PdfReader(text, marks.lastIndex, budget);
    const value = read(reader);
    const number = mark[1];
    if (number !== undefined) found.objects.set(Number(number), { text, at: marks.lastIndex });
    if (!isDictionary(value)) continue;
    if (number === undefined || value.get("Type") === "XRef") takeTrailer(found, value);
    marks.lastIndex = reader.at;
    reader.space();
    if (number === undefined || !reader.word("stream")) continue;
    if (!reader.word("\r\n")) reader.word("\n");
    const end = endOfStream(text, reader.at, value);
    if (value.get("Type") === "ObjStm") takeObjects(found, text.slice(reader.at, end), value, budget);
    marks.lastIndex = end;
  }
  return found;
}

function takeTrailer(found: Found, trailer: PdfDictionary): void {
  found.root = trailer.get("Root") ?? found.root;
  found.isEncrypted ||= trailer.has("Encrypt");
}

/** Returns the offset of a stream's end, whose content may look like objects. The stated length is used if the stream ends there. */
function endOfStream(text: string, from: number, dictionary: PdfDictionary): number {
  const length = dictionary.get("Length");
  if (
    typeof length === "number" &&
    /^[\0\t\n\f\r ]{0,8}endstream/.test(text.slice(from + length, from + length + 20))
  ) {
    return from + length;
  }
  const end = text.indexOf("endstream", from);
  return end < 0 ? text.length : end;
}

/** Reads the objects of a compressed stream. An unreadable stream, as in encrypted files, has no relevant objects. */
function takeObjects(found: Found, stream: string, dictionary: PdfDictionary, budget: Budget): void {
  const text = inflated(found, stream, dictionary);
  const [count, first] = [dictionary.get("N"), dictionary.get("First")];
  if (text === undefined || typeof count !== "number" || typeof first !== "number") return;
  const reader = new PdfReader(text, 0, budget);
  for (let at = 0; at < count; at += 1) {
    const [number, offset] = [read(reader), read(reader)];
    if (typeof number !== "number" || typeof offset !== "number") return;
    found.objects.set(number, { text, at: first + offset });
  }
}

function inflated(found: Found, stream: string, dictionary: PdfDictionary): string | undefined {
  const named = dictionary.get("Filter");
  const filter = Array.isArray(named) && named.length === 1 ? (named as readonly PdfValue[])[0] : named;
  if (filter === undefined) return stream;
  if (filter !== "FlateDecode" || dictionary.has("DecodeParms")) return undefined;
  try {
    const bytes = inflateSync(Buffer.from(stream, "latin1"), { maxOutputLength: Math.max(1, found.inflatedLeft) });
    found.inflatedLeft -= bytes.length;
    return bytes.toString("latin1");
  } catch (error) {
    if ((error as { readonly code?: string }).code !== "ERR_BUFFER_TOO_LARGE") return undefined;
    throw new MediaError("too_large", "The unpacked PDF is too large to be inspected.", { cause: error });
  }
}

/** Counts leaves below a node, each as often as it is referenced: a cycle is counted until the budget or `pagesMax` ends it. */
function countLeaves(found: Found, root: PdfValue | undefined, pagesMax: number, budget: Budget): number {
  let pages = 0;
  const nodes = [root];
  while (nodes.length > 0 && pages <= pagesMax) {
    const node = dictionaryAt(found, nodes.pop(), budget);
    if (node === undefined) continue;
    const kids = resolved(found, node.get("Kids"), budget);
    if (Array.isArray(kids)) for (const kid of kids as readonly PdfValue[]) nodes.push(kid);
    else if (node.get("Type") !== "Pages") pages += 1;
    if (nodes.length > PROBE_LIMITS.pdfNodesMax) {
      throw new MediaError("too_large", "The PDF has more pages than can be counted.");
    }
  }
  return pages;
}

function dictionaryAt(found: Found, value: PdfValue | undefined, budget: Budget): PdfDictionary | undefined {
  const known = resolved(found, value, budget);
  return isDictionary(known) ? known : undefined;
}

function resolved({ objects }: Found, value: PdfValue | undefined, budget: Budget): PdfValue | undefined {
  if (!isReference(value)) return value;
  const place = objects.get(value.object);
  return place && read(new PdfReader(place.text, place.at, budget));
}

/** Returns undefined for a damaged value; a used-up budget throws. */
function read(reader: PdfReader): PdfValue | undefined {
  try {
    return reader.value();
  } catch (error) {
    if (error instanceof MediaError && error.fault === "corrupt") return undefined;
    throw error;
  }
}

function isDictionary(value: PdfValue | undefined): value is PdfDictionary {
  return value instanceof Map;
}
