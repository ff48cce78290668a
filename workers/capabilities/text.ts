/** Reads text inputs and writes text results of capabilities. */
import { isUtf8 } from "node:buffer";
import { join } from "node:path";

import { MediaError } from "#shared/children/media-error.ts";

import type { InputFile, RunOutput } from "./define.ts";
import { asMediaError } from "./faults.ts";
import { noteInput } from "./input-notes.ts";
import { CAPABILITY_TEXT_BYTES_MAX } from "./limits.ts";

/** Detected charsets of the inputs that were read as text. */
const charsets = new WeakMap<InputFile, string>();

/** Returns the charset with which `textOf` read the input; undefined if the input was not read as text. */
export function charsetUsed(file: InputFile): string | undefined {
  return charsets.get(file);
}

/**
 * Reads an input as text, and records its charset. If the sender named no charset, uses the charset that HTML or XML declares in its head,
 * unless the bytes are valid UTF-8. The encoding is removed from an XML declaration, because the returned text no longer has it.
 */
export async function textOf(file: InputFile): Promise<string> {
  const bytes = await Bun.file(file.path).bytes();
  const isValid = isUtf8(bytes);
  const isMarkup = MARKUP.test(Buffer.from(bytes.subarray(0, 256)).toString("latin1"));
  const inHead = isMarkup ? charsetIn(bytes) : undefined;
  // ISO-2022-JP consists of ASCII bytes, which are valid UTF-8.
  const isUsed = !isValid || (inHead === "iso-2022-jp" && bytes.every((byte) => byte < 0x80));
  const declared = knownCharset(file.charset) ?? (isUsed ? inHead : undefined);
  const { text, charset } = decodeText(bytes, { declared });
  charsets.set(file, charset);
  const replaced = isValid && charset === "utf-8" ? 0 : (text.match(/\ufffd/g)?.length ?? 0);
  if (replaced > 0) {
    const said = `${replaced} characters are not valid in the charset ${charset} and became U+FFFD. Check the charset of the file.`;
    noteInput(file, said);
  }
  return charset === "utf-8" ? text : text.replace(XML_ENCODING, "$1");
}

const MARKUP = /^\s*<[!?a-z]/i;
const XML_ENCODING = /^(<\?xml\s[^>]{0,200}?)\s+encoding\s*=\s*(?:"[^"]*"|'[^']*')/i;

export interface DecodedText {
  /** Text without byte order mark. */
  readonly text: string;
  /** Encoding name of the WHATWG Encoding Standard, such as `utf-8` or `windows-1252`. */
  readonly charset: string;
}

/**
 * Decodes bytes to text as browsers do. The charset is that of the byte order mark, else the declared one, else UTF-8 if valid, else
 * windows-1252. An unknown declared charset is ignored. Invalid bytes become U+FFFD.
 */
export function decodeText(
  bytes: Uint8Array,
  { declared }: { readonly declared?: string | undefined } = {},
): DecodedText {
  const charset = markedCharset(bytes) ?? knownCharset(declared);
  if (charset !== undefined) return { text: new TextDecoder(charset as "utf-8").decode(bytes), charset };
  try {
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(bytes), charset: "utf-8" };
  } catch {
    return { text: new TextDecoder("windows-1252").decode(bytes), charset: "windows-1252" };
  }
}

/** Returns the charset that a byte order mark indicates; undefined if there is none. */
function markedCharset([first, second, third]: Uint8Array): string | undefined {
  if (first === 0xef && second === 0xbb && third === 0xbf) return "utf-8";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  return first === 0xff && second === 0xfe ? "utf-16le" : undefined;
}

/** Returns the encoding name of a label such as `latin1`; undefined if browsers do not know the label. */
export function knownCharset(label: string | undefined): string | undefined {
  if (label === undefined) return undefined;
  try {
    return new TextDecoder(label as "utf-8").encoding;
  } catch {
    return undefined;
  }
}

/** Returns the charset named in a content type, or in a tag of HTML or XML. */
export function charsetOf(text: string): string | undefined {
  return /(?:charset|encoding)\s{0,9}=\s{0,9}["']?\s{0,9}([a-z0-9_:.+-]{1,40})/i.exec(text)?.[1];
}

/**
 * Number of bytes at the start of HTML or XML that are searched for a charset declaration. Browsers search 1,024 bytes first. If a
 * declaration follows a long script, they parse the page again (HTML standard, 13.2.3.2 and 13.2.3.4).
 */
const HEAD_BYTES = 16_384;

/** Returns the charset declared in the head of HTML or XML. Declarations in comments and unknown names are ignored. */
export function charsetIn(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, HEAD_BYTES)).toString("latin1");
  const tags = head.replaceAll(/<!--[^]*?-->/g, "").match(/<\?xml\s[^>]*>|<meta\s[^>]*>/gi) ?? [];
  const named = tags.map((tag) => knownCharset(charsetOf(tag))).find((name) => name !== undefined);
  // A declaration that is readable as single bytes cannot be UTF-16 (HTML standard, 13.2.3.2).
  if (named?.startsWith("utf-16") === true) return "utf-8";
  return named === "x-user-defined" ? "windows-1252" : named;
}

/** Returns a text as `output.text`, or as a file if the text is long. */
export async function writeTextResult(
  folder: string,
  text: string,
  { name, mediaType, more = {} }: { readonly name: string; readonly mediaType: string; readonly more?: object },
): Promise<RunOutput> {
  const bytes = Buffer.byteLength(text);
  if (bytes <= CAPABILITY_TEXT_BYTES_MAX) return { output: { ...more, text } };
  const path = join(folder, name);
  await Bun.write(path, text);
  return { output: { ...more, bytes }, files: [{ path, mediaType, name }] };
}

/** Returns the error for input that cannot be parsed, with the parser's message. */
export function unreadable(what: string, error: unknown): MediaError {
  const fault = asMediaError(error);
  if (fault instanceof MediaError) return fault;
  const [said = ""] = String(error instanceof Error ? error.message : error).split("\n");
  const sentence = said.trim().slice(0, 200).replace(/[.:]$/, "");
  return new MediaError("corrupt", `The ${what} cannot be read: ${sentence}.`, { cause: error });
}

/**
 * Returns the error for input that cannot be parsed. Its message contains the line and column, which are taken from the different error
 * formats of the parsers.
 */
export function unreadableAt(what: string, error: unknown): MediaError {
  const { errors: [first] = [], loc } = error as {
    readonly errors?: readonly { readonly text: string; readonly location?: Place | null }[];
    readonly loc?: Place & { readonly start?: Place };
  };
  const { line, column } = first?.location ?? loc?.start ?? loc ?? {};
  const fault = unreadable(what, first?.text ?? error);
  if (fault.fault !== "corrupt" || line === undefined) return fault;
  // Prettier reports the position at the end of its message, which may be cut off.
  const said = fault.message.replace(/\s*\(\d+:\d+\)\.$|\.$/, "");
  const at = column === undefined ? `line ${line}` : `line ${line}, column ${column}`;
  return new MediaError("corrupt", `${said} (${at}).`, { cause: error });
}

interface Place {
  readonly line?: number;
  readonly column?: number;
}

/** Parses XML. Elements become objects, with attributes as `@name` and text as `#text`. @throws Error if the text is not XML */
export function xmlOf(text: string): unknown {
  if (/<!DOCTYPE|<!ENTITY/i.test(text)) throw new Error("document types are not read");
  const reader = (Bun as unknown as { XML?: { parse(text: string): unknown } }).XML;
  if (!reader) throw new Error("this build reads no XML");
  return reader.parse(text);
}

export const CODE_PRICE = { unit: "per_operation", operation_price: "0.02" } as const;
