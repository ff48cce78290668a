/**
 * Types of a capability definition: its published fields, and the function that a child process runs. Each capability has its own file.
 * `list.ts` lists all capabilities, and `npm run generate` writes the catalogue that the ingress serves.
 */
import type {
  Capability,
  CapabilityModality,
  EngineBy,
  InputMember,
  Rule,
  Schema,
} from "#shared/calls/capabilities/entry.ts";
import { CATEGORIES } from "#shared/calls/capabilities/entry.ts";
import { bmpToPng } from "#workers/children/bmp.ts";

import { asMediaError } from "./faults.ts";
import { notesAbout } from "./input-notes.ts";
import { objectSchema, type Params, type ParamsOf } from "./params.ts";
import { charsetUsed } from "./text.ts";
import type { Tools } from "./tools.ts";

/** Input file in the run's folder. */
export interface InputFile {
  readonly path: string;
  /** Media type, detected from the file's bytes. */
  readonly mediaType: string;
  readonly bytes: number;
  /** File name that the file's owner chose, or a generated one; never a path. */
  readonly name: string;
  /** Final URL after redirects; absent if the file was not fetched from a URL. */
  readonly address?: string;
  /** Charset from the sender's content type; absent if unknown. */
  readonly charset?: string;
}

/** Web page that was fetched for the run. The file contains the response body. */
export interface InputPage extends InputFile {
  /** Final URL after redirects. */
  readonly address: string;
  readonly status: number;
  /** Content type from the server, including parameters; empty if the server sent none. */
  readonly contentType: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Result file in the run's folder. */
export interface OutputFile {
  readonly path: string;
  readonly mediaType: string;
  /** Generated file name, such as `page-001.png`. */
  readonly name: string;
}

export interface RunOutput {
  /** Facts and text that the caller receives as `output`. */
  readonly output?: Readonly<Record<string, unknown>>;
  readonly files?: readonly OutputFile[];
  /**
   * Number of pixels that a price per megapixel charges. It is the larger pixel count of input and output, times the number of operations.
   */
  readonly pixels?: number;
  /** Sentences about data that the result omits or changes, returned as `output.notes`. */
  readonly notes?: readonly string[];
}

/** Arguments of a capability's `run` function. */
export interface Run<P, I> {
  readonly params: P;
  readonly inputs: I;
  /** Working directory of the run. At the start, it contains only the inputs. */
  readonly folder: string;
  /** Reports progress as a fraction from 0 to 1. */
  readonly progress: (share: number) => void;
  /** Programs that are installed on this machine, such as a browser. */
  readonly tools: Tools;
  /** Path of the socket through which a page's requests are checked and forwarded. Undefined if the page may not load further resources. */
  readonly guard: string | undefined;
}

export interface Member<T> extends InputMember {
  readonly description: string;
  readonly type?: T;
}

type Members = Readonly<Record<string, Member<unknown>>>;
type InputsOf<M extends Members> = { readonly [Name in keyof M]: M[Name] extends Member<infer T> ? T : never };

interface MemberOptions {
  readonly optional?: true;
  readonly takesText?: true;
}

type One<O> = O extends { readonly optional: true } ? InputFile | undefined : InputFile;
type Many<O> = O extends { readonly optional: true } ? readonly InputFile[] | undefined : readonly InputFile[];

/** Declares an input member that accepts one file. */
export function input<const O extends MemberOptions>(
  kind: CapabilityModality,
  description: string,
  options?: O,
): Member<One<O>> {
  const { optional, takesText = kind === "text" ? true : undefined } = options ?? {};
  return { kind, description, isRequired: optional !== true, takesText: takesText === true };
}

/** Declares an input member with an ordered list of files. */
export function inputs<const O extends MemberOptions>(
  kind: CapabilityModality,
  description: string,
  [min, max]: readonly [number, number],
  options?: O,
): Member<Many<O>> {
  const { optional, takesText } = options ?? {};
  return { kind, description, isRequired: optional !== true, takesText: takesText === true, many: { min, max } };
}

/** Declares an input member with files under names that the caller chooses. */
export function named(
  kind: CapabilityModality,
  description: string,
  max: number,
  { takesText = false }: { readonly takesText?: boolean } = {},
): Member<Readonly<Record<string, InputFile>> | undefined> {
  return { kind, description, isRequired: false, takesText, named: { max } };
}

/** Declares an input member that accepts the URL of a page as a plain string. */
export function address(description: string): Member<InputPage> {
  return { kind: "text", description, isRequired: true, takesText: false, isAddress: true };
}

interface Definition<P extends Params, M extends Members> {
  /** Capability id of the form `<category>.<operation>`. */
  readonly id: string;
  readonly display_name: string;
  /** Description of the capability in one line. */
  readonly description: string;
  /** Longer description, in Markdown. */
  readonly long_description?: string;
  readonly output_modality: CapabilityModality;
  readonly composite?: true;
  readonly input: M;
  readonly params: P;
  /** Parameters that express the same value in different ways. A call may set only one of them. */
  readonly valueSources?: readonly string[];
  readonly rules?: readonly Rule[];
  readonly sample_input: Readonly<Record<keyof M & string, unknown>> | Readonly<Record<string, unknown>>;
  /** At least two examples. The one with the fewest parameters comes first. */
  readonly examples: readonly { readonly title: string; readonly params: Readonly<Record<string, unknown>> }[];
  readonly price: Readonly<Record<string, string>>;
  readonly engine: string;
  readonly engineBy?: EngineBy;
  /** Runs the capability. @throws MediaError `unsupported`, `corrupt`, `too_large` or `invalid` for errors that the caller can fix */
  readonly run: (run: Run<ParamsOf<P>, InputsOf<M>>) => Promise<RunOutput>;
}

export interface DefinedCapability extends Capability {
  readonly run: (run: Run<never, never>) => Promise<RunOutput>;
}

export function defineCapability<const P extends Params, const M extends Members>(
  definition: Definition<P, M>,
): DefinedCapability {
  const { input: members, params, price, valueSources, rules = [], run, ...published } = definition;
  const category = CATEGORIES.find((one) => definition.id.startsWith(`${one}.`));
  if (category === undefined) throw new Error(`${definition.id} has no category`);
  const kinds = [...new Set(Object.values(members).map(({ kind }) => kind))];
  const [only] = kinds;
  return {
    ...published,
    category,
    input_modality: kinds.length === 1 && only !== undefined ? only : kinds,
    params_schema: objectSchema(params, valueSources === undefined ? {} : { "x-svc-value-sources": valueSources }),
    input_schema: inputSchema(members),
    members: Object.fromEntries(Object.entries(members).map(([name, member]) => [name, bare(member)])),
    rules,
    pricing: { currency: "credits", ...price },
    run: async (args) => {
      try {
        const readable = category === "archive" ? args : await withReadableImages(args);
        const result = await run(readable);
        return withNotes(withInputNotes(readable.inputs, withCharset(members, readable.inputs, result)));
      } catch (error) {
        throw asMediaError(error);
      }
    },
  };
}

type Inputs = Readonly<
  Record<string, InputFile | readonly InputFile[] | Readonly<Record<string, InputFile>> | undefined>
>;

/**
 * Adds the detected charsets of inputs that are not UTF-8 to the output: `charset`, or `charsets` by input name if several inputs accept
 * text.
 */
function withCharset(members: Members, inputs: Inputs, result: RunOutput): RunOutput {
  const used = filesOf(inputs).flatMap(({ member, file }) => {
    const charset = charsetUsed(file);
    return charset === undefined || charset === "utf-8" ? [] : [[member, charset] as const];
  });
  const [first] = used;
  if (!first) return result;
  const isOne = Object.values(members).filter(({ takesText }) => takesText).length < 2;
  const charset = isOne ? { charset: first[1] } : { charsets: Object.fromEntries(used) };
  return { ...result, output: { ...result.output, ...charset } };
}

/** Adds the notes about inputs to the output, such as `input.images[1]: Only the first of 3 frames or pages is read.` */
function withInputNotes(inputs: Inputs, result: RunOutput): RunOutput {
  const more = filesOf(inputs).flatMap(({ place, file }) => notesAbout(file).map((text) => `${place}: ${text}`));
  return more.length === 0 ? result : { ...result, notes: [...(result.notes ?? []), ...more] };
}

interface PlacedFile {
  /** Name of the input member. */
  readonly member: string;
  /** Path of the file in the request, such as `input.images[1]`. */
  readonly place: string;
  readonly file: InputFile;
}

function filesOf(inputs: Inputs): readonly PlacedFile[] {
  return Object.entries(inputs).flatMap(([member, value]): readonly PlacedFile[] => {
    if (value === undefined) return [];
    const place = `input.${member}`;
    if (Array.isArray(value)) {
      return (value as readonly InputFile[]).map((file, at) => ({ member, place: `${place}[${at}]`, file }));
    }
    if (typeof (value as InputFile).path === "string") return [{ member, place, file: value as InputFile }];
    return Object.entries(value).map(([name, file]) => ({
      member,
      place: `${place}.${name}`,
      file: file as InputFile,
    }));
  });
}

/**
 * Returns the run with each BMP input converted to a PNG of the same pixels.
 * @throws the errors of `bmpToPng`
 */
async function withReadableImages<I>(args: Run<never, I>): Promise<Run<never, I>> {
  const readable = async (value: unknown): Promise<unknown> => {
    if (Array.isArray(value)) return Promise.all(value.map(readable));
    if (typeof value !== "object" || value === null) return value;
    if ("mediaType" in value) {
      const { mediaType, path } = value as InputFile;
      return mediaType === "image/bmp" ? { ...value, path: await bmpToPng(path), mediaType: "image/png" } : value;
    }
    const named = Object.entries(value).map(async ([name, one]) => [name, await readable(one)] as const);
    return Object.fromEntries(await Promise.all(named));
  };
  return { ...args, inputs: (await readable(args.inputs)) as I };
}

/** Maximum number of notes in one result. If there are more, the last note counts the omitted ones. */
const NOTES_MAX = 20;

function withNotes({ notes = [], ...result }: RunOutput): RunOutput {
  if (notes.length === 0) return result;
  const isLong = notes.length > NOTES_MAX;
  const more = isLong ? [`${notes.length - NOTES_MAX + 1} more notes are not listed.`] : [];
  return {
    ...result,
    output: { ...result.output, notes: [...notes.slice(0, isLong ? NOTES_MAX - 1 : NOTES_MAX), ...more] },
  };
}

function bare({ kind, isRequired, takesText, many, named: names, isAddress }: InputMember): InputMember {
  const more = {
    ...(many === undefined ? {} : { many }),
    ...(names === undefined ? {} : { named: names }),
    ...(isAddress === undefined ? {} : { isAddress }),
  };
  return { kind, isRequired, takesText, ...more };
}

function inputSchema(members: Members): Schema {
  const required = Object.entries(members).flatMap(([name, { isRequired }]) => (isRequired ? [name] : []));
  return {
    type: "object",
    properties: Object.fromEntries(Object.entries(members).map(([name, member]) => [name, memberSchema(member)])),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  };
}

function memberSchema({ kind, description, takesText, many, named: names, isAddress }: Member<unknown>): Schema {
  if (isAddress === true) return { description, type: "string", minLength: 1, maxLength: 8_000 };
  const ways = ["file_id", "url", "base64", ...(takesText ? ["text"] : [])];
  const one = {
    type: "object",
    properties: {
      file_id: {
        description: "ID of a stored file of the workspace, or of a sample such as `file-sample-photo`.",
        type: "string",
        minLength: 1,
        maxLength: 100,
      },
      url: {
        description: "Public http or https address to fetch, or a link of this service.",
        type: "string",
        minLength: 1,
        maxLength: 8_000,
      },
      base64: {
        description: "The bytes in base64 or as a base64 data URL, at most 10 MB of them.",
        type: "string",
        // A text input may be empty, and so may a file of any kind.
        ...(takesText || kind === "any" ? {} : { minLength: 1 }),
      },
      mime_type: {
        description: `Media type of the base64 data${takesText ? ", which may name its charset" : ""}. Optional: the type is detected from the bytes.`,
        type: "string",
        maxLength: 200,
      },
      ...(takesText ? { text: { description: "The text itself.", type: "string", maxLength: 2_097_152 } } : {}),
    },
    additionalProperties: false,
    "x-svc-value-sources": ways,
  };
  if (names !== undefined) {
    const propertyNames = { pattern: "^[a-zA-Z0-9_-]{1,40}$" };
    return { description, type: "object", additionalProperties: one, propertyNames, maxProperties: names.max };
  }
  if (many === undefined) return { description, ...one };
  return { description, type: "array", items: one, minItems: many.min, maxItems: many.max };
}
