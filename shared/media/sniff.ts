/** Detects the media type of bytes from their beginning. Ignores the sender's name and type. */
import { fileTypeFromBuffer } from "file-type";

/** Number of bytes at the beginning of a file that are read to detect its type. */
export const SNIFF_BYTES = 4_096;

/** API names of media types for which file-type uses another name. Variants that the API does not distinguish share a name. */
const NAMES: ReadonlyMap<string, string> = new Map([
  ["image/apng", "image/png"],
  ["image/heif", "image/heic"],
  ["image/heif-sequence", "image/heic"],
  ["image/heic-sequence", "image/heic"],
  ["audio/x-m4a", "audio/mp4"],
  ["video/x-m4v", "video/mp4"],
  ["video/3gpp", "video/mp4"],
  ["video/3gpp2", "video/mp4"],
  ["application/ogg", "audio/ogg"],
  ["video/matroska", "video/x-matroska"],
  ["video/vnd.avi", "video/x-msvideo"],
  ["application/x-ft-fbx", "model/vnd.fbx"],
]);

/**
 * Formats that are identified by their first bytes, in Latin-1. The package file-type would read beyond the given bytes: tags of a TIFF,
 * chunks of a PNG, and contents of ZIP and gzip files. It also does not know RF64, which is WAV above 4 GiB.
 */
const MARKS: readonly (readonly [mark: string, type: string])[] = [
  ["\u0089PNG\r\n\u001a\n", "image/png"],
  ["II*\0", "image/tiff"],
  ["MM\0*", "image/tiff"],
  ["PK\u0003\u0004", "application/zip"],
  ["PK\u0005\u0006", "application/zip"],
  ["\u001f\u008b", "application/gzip"],
  ["RF64", "audio/wav"],
  // Named in error messages, like the types detected by file-type.
  ["0&\u00b2u\u008ef\u00cf\u0011", "application/vnd.ms-asf"],
  ["caff", "audio/x-caf"],
];

/** Number of bytes in which PDF readers search for the header, because mail and print servers prepend data. */
const PDF_HEAD_WITHIN = 1_024;

/**
 * Returns the media type under the API's name, without parameters. Returns undefined for text and unknown formats. Reads only the first
 * SNIFF_BYTES.
 */
export async function sniffMediaType(bytes: Uint8Array): Promise<string | undefined> {
  const head = bytes.subarray(0, SNIFF_BYTES);
  const start = Buffer.from(head.subarray(0, 12)).toString("latin1");
  const marked = MARKS.find(([mark]) => start.startsWith(mark))?.[1];
  if (marked !== undefined) return marked;
  // file-type includes the size in the signature and detects AIFF below 16 MiB only.
  if (/^FORM[^]{4}AIF[FC]/.test(start)) return "audio/aiff";
  const found = (await fileTypeFromBuffer(head))?.mime.split(";", 1)[0];
  if (found === undefined) {
    // A tag may be followed by padding, where file-type expects a frame.
    if (start.startsWith("ID3")) return "audio/mpeg";
    return hasLatePdfHead(head) ? "application/pdf" : undefined;
  }
  if (found === "audio/vnd.dolby.dd-raw") return dolbyType(head);
  return isTextMistakenFor(found, start, head) ? undefined : (NAMES.get(found) ?? found);
}

/** Returns true if a PDF header begins a later line of data that is not text. The second line of a PDF marks it as binary. */
function hasLatePdfHead(head: Uint8Array): boolean {
  const early = Buffer.from(head.subarray(0, PDF_HEAD_WITHIN)).toString("latin1");
  return /[\r\n\0]%PDF-[12]\.\d/.test(early) && !isText(head, head.length >= SNIFF_BYTES);
}

/** Detects AC-3 and E-AC-3. Checks more than their first two bytes (ETSI TS 102 366, 4.4.1 and E.1.3.1). */
function dolbyType(head: Uint8Array): string | undefined {
  const [code = 0xff, version = 0xff] = head.subarray(4, 6);
  const stream = version >> 3;
  if (stream <= 10) return code >> 6 !== 3 && (code & 0x3f) < 38 ? "audio/ac3" : undefined;
  return stream <= 16 ? "audio/eac3" : undefined;
}

/** Header sizes of BMP versions, in bytes. The header follows the BMP's size. */
const BMP_HEADERS = [12, 40, 52, 56, 64, 108, 124];

/**
 * Returns true if the package file-type detected this type in bytes of another kind, such as text. The package detects GIF, QuickTime, BMP
 * and MPEG-TS by a few bytes, with which a text may begin.
 */
function isTextMistakenFor(found: string, start: string, head: Uint8Array): boolean {
  if (found === "image/bmp") return !BMP_HEADERS.includes(head[14] ?? 0) || isText(head, true);
  if (found === "video/mp2t") return isText(head, head.length >= SNIFF_BYTES);
  if (found === "image/gif") return !/^GIF8[79]a/.test(start);
  // The size of a box precedes its name, and no text begins with a byte below a blank.
  return found === "video/quicktime" && start.charCodeAt(0) >= 0x20;
}

/**
 * Returns true if bytes are text: UTF-8 without NUL, or UTF-16 with its byte order mark.
 * @param isCut true if the last character may be incomplete
 */
export function isText(bytes: Uint8Array, isCut = false): boolean {
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) return true;
  if (bytes.includes(0)) return false;
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: isCut });
    return true;
  } catch {
    return false;
  }
}

/**
 * Control characters that text may contain, by the MIME Sniffing Standard (section 3): tab, line feed, form feed, carriage return, escape.
 */
const TEXT_CONTROLS: ReadonlySet<number> = new Set([0x09, 0x0a, 0x0c, 0x0d, 0x1b]);

/** Returns true if bytes may be text in a charset with one or more bytes per character, such as windows-1252. */
export function isLegacyText(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte >= 0x20 || TEXT_CONTROLS.has(byte));
}
