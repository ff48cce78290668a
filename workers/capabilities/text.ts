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
