/** Texts as inputs and results of capabilities. */
import { join } from "node:path";

import { MediaError } from "#shared/children/media-error.ts";

import type { InputFile, RunOutput } from "./define.ts";
import { asMediaError } from "./faults.ts";
import { CAPABILITY_TEXT_BYTES_MAX } from "./limits.ts";

/** UTF-8, without a byte order mark. @throws MediaError corrupt */
export async function textOf({ path }: InputFile): Promise<string> {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await Bun.file(path).arrayBuffer());
  } catch (error) {
    throw new MediaError("corrupt", "Expected text in UTF-8.", { cause: error });
  }
}

export interface DecodedText {
  /** Without a byte order mark. */
  readonly text: string;
  /** Name of the encoding by the WHATWG Encoding Standard, such as `utf-8` or `windows-1252`. */
  readonly charset: string;
}

/**
 * Decodes bytes as browsers do: by the byte order mark, else the declared charset, else as UTF-8 if the bytes are valid UTF-8, else as
 * windows-1252. An unknown declared charset counts as none. Bytes that are not valid in the charset become U+FFFD.
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

/** Charset named by the byte order mark. */
function markedCharset([first, second, third]: Uint8Array): string | undefined {
  if (first === 0xef && second === 0xbb && third === 0xbf) return "utf-8";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  return first === 0xff && second === 0xfe ? "utf-16le" : undefined;
}

/** Name of the charset that a label such as `latin1` stands for; undefined if browsers do not know the label. */
export function knownCharset(label: string | undefined): string | undefined {
  if (label === undefined) return undefined;
  try {
    return new TextDecoder(label as "utf-8").encoding;
  } catch {
    return undefined;
  }
}

/** Returns text as `output.text`, or as a file if it is long. */
export async function madeText(
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

/** A caller's code that cannot be read: what its reader said, in a sentence. */
export function unreadable(what: string, error: unknown): MediaError {
  const fault = asMediaError(error);
  if (fault instanceof MediaError) return fault;
  const [said = ""] = String(error instanceof Error ? error.message : error).split("\n");
  const sentence = said.trim().slice(0, 200).replace(/[.:]$/, "");
  return new MediaError("corrupt", `The ${what} cannot be read: ${sentence}.`, { cause: error });
}

/** The same with the line of it, as the readers of code tell it in their own ways. */
export function unreadableAt(what: string, error: unknown): MediaError {
  const { errors: [first] = [], loc } = error as {
    readonly errors?: readonly { readonly text: string; readonly location?: Place | null }[];
    readonly loc?: Place & { readonly start?: Place };
  };
  const { line, column } = first?.location ?? loc?.start ?? loc ?? {};
  const fault = unreadable(what, first?.text ?? error);
  if (fault.fault !== "corrupt" || line === undefined) return fault;
  // Prettier names the place at the end of its sentence, which may be cut.
  const said = fault.message.replace(/\s*\(\d+:\d+\)\.$|\.$/, "");
  const at = column === undefined ? `line ${line}` : `line ${line}, column ${column}`;
  return new MediaError("corrupt", `${said} (${at}).`, { cause: error });
}

interface Place {
  readonly line?: number;
  readonly column?: number;
}

/** Elements as objects, attributes with an @, words as #text. @throws Error for what is no XML */
export function xmlOf(text: string): unknown {
  if (/<!DOCTYPE|<!ENTITY/i.test(text)) throw new Error("document types are not read");
  const reader = (Bun as unknown as { XML?: { parse(text: string): unknown } }).XML;
  if (!reader) throw new Error("this build reads no XML");
  return reader.parse(text);
}

export const CODE_PRICE = { unit: "per_operation", operation_price: "0.02" } as const;
