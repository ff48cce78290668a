/**
 * A capability: what is published of it, and what runs it in a child process. One file each; `list.ts` names them all, and
 * `npm run generate` writes what the ingress serves.
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

import { asMediaError } from "./faults.ts";
import { objectSchema, type Params, type ParamsOf } from "./params.ts";
import type { Tools } from "./tools.ts";

/** An input in the child's folder. */
export interface InputFile {
  readonly path: string;
  /** By its own bytes. */
  readonly mediaType: string;
  readonly bytes: number;
  /** File name given by its owner or by us; never a path. */
  readonly name: string;
  /** Address it was fetched from, redirects followed; absent if it was not fetched. */
  readonly address?: string;
}

/** A page that was fetched for the run: the file holds its body. */
export interface InputPage extends InputFile {
  /** Address it was fetched from, redirects followed. */
  readonly address: string;
  readonly status: number;
  /** Content type from the server, with its parameters; empty when the server sends none. */
  readonly contentType: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A file that a run made, in the child's folder. */
export interface MadeFile {
  readonly path: string;
  readonly mediaType: string;
  /** Ours, such as `page-001.png`. */
  readonly name: string;
}

export interface RunOutput {
  /** Facts and text for the caller. */
  readonly output?: Readonly<Record<string, unknown>>;
  readonly files?: readonly MadeFile[];
  /** Pixels to bill by the megapixel: the larger of input and output, times the number of operations. */
  readonly pixels?: number;
  /** Plain sentences about what the result leaves out or changes; the caller reads them as `output.notes`. */
  readonly notes?: readonly string[];
}

/** Arguments of a handler. */
export interface Run<P, I> {
  readonly params: P;
  readonly inputs: I;
  /** Empty but for the inputs, and the child's own. */
  readonly folder: string;
  /** Reports the share of the work that is done, 0 to 1. */
  readonly progress: (share: number) => void;
  /** Programs that are there. */
  readonly tools: Tools;
  /** A socket at which a page may ask for its parts; undefined where it may not. */
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

/** One file. */
export function input<const O extends MemberOptions>(
  kind: CapabilityModality,
  description: string,
  options?: O,
): Member<One<O>> {
  const { optional, takesText = kind === "text" ? true : undefined } = options ?? {};
  return { kind, description, isRequired: optional !== true, takesText: takesText === true };
}

/** An ordered list of files. */
export function inputs<const O extends MemberOptions>(
  kind: CapabilityModality,
  description: string,
  [min, max]: readonly [number, number],
  options?: O,
): Member<Many<O>> {
  const { optional, takesText } = options ?? {};
  return { kind, description, isRequired: optional !== true, takesText: takesText === true, many: { min, max } };
}

/** Files by names that the caller chooses. */
export function named(
  kind: CapabilityModality,
  description: string,
  max: number,
  { takesText = false }: { readonly takesText?: boolean } = {},
): Member<Readonly<Record<string, InputFile>> | undefined> {
  return { kind, description, isRequired: false, takesText, named: { max } };
}

/** The address of a page, as a plain string. */
export function address(description: string): Member<InputPage> {
  return { kind: "text", description, isRequired: true, takesText: false, isAddress: true };
}

interface Definition<P extends Params, M extends Members> {
  /** `<category>.<operation>`. */
  readonly id: string;
  readonly display_name: string;
  /** One line. */
  readonly description: string;
  /** Markdown. */
  readonly long_description?: string;
  readonly output_modality: CapabilityModality;
  readonly composite?: true;
  readonly input: M;
  readonly params: P;
  /** Groups of params that spell one value in several ways. */
  readonly valueSources?: readonly string[];
  readonly rules?: readonly Rule[];
  readonly sample_input: Readonly<Record<keyof M & string, unknown>> | Readonly<Record<string, unknown>>;
  /** At least two, the one with the fewest params first. */
  readonly examples: readonly { readonly title: string; readonly params: Readonly<Record<string, unknown>> }[];
  readonly price: Readonly<Record<string, string>>;
  readonly engine: string;
  readonly engineBy?: EngineBy;
  /** @throws MediaError `unsupported`, `corrupt`, `too_large`, `invalid` for what its caller can mend */
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
    run: async (given) => {
      try {
        return withNotes(await run(given));
      } catch (error) {
        throw asMediaError(error);
      }
    },
  };
}

/** Notes that a caller reads; the last one says how many more there are. */
const NOTES_MAX = 20;

function withNotes({ notes = [], ...made }: RunOutput): RunOutput {
  if (notes.length === 0) return made;
  const isLong = notes.length > NOTES_MAX;
  const more = isLong ? [`${notes.length - NOTES_MAX + 1} more notes are not listed.`] : [];
  return {
    ...made,
    output: { ...made.output, notes: [...notes.slice(0, isLong ? NOTES_MAX - 1 : NOTES_MAX), ...more] },
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
        // A text may have no letters, and a file of any kind no bytes.
        ...(takesText || kind === "any" ? {} : { minLength: 1 }),
      },
      mime_type: {
        description: "Media type of the base64 data. Optional: the type is detected from the bytes.",
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
