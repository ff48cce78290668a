/** Facts about a capability that are available without running it. They are generated from the definitions in workers/capabilities. */

/** Categories of capabilities, in the order of `GET /v1/tools`. */
export const CATEGORIES = ["video", "audio", "image", "document", "archive", "web", "code"] as const;
export type Category = (typeof CATEGORIES)[number];

/** Kinds of input and output, as named in the catalogue. */
export type CapabilityModality = "video" | "audio" | "image" | "document" | "text" | "archive" | "any";

/** A JSON Schema, draft-07. */
export type Schema = Readonly<Record<string, unknown>>;

/** Properties of a member of a capability's `input`. */
export interface InputMember {
  readonly kind: CapabilityModality;
  readonly isRequired: boolean;
  /** Minimum and maximum length of an ordered list; absent for a single input. */
  readonly many?: { readonly min: number; readonly max: number };
  /** Maximum number of files in an object whose member names the caller chooses; absent for other inputs. */
  readonly named?: { readonly max: number };
  /** True if the caller may send the input as `{text}`. */
  readonly takesText: boolean;
  /** True if the input is the URL of a web page, which is fetched for the run. */
  readonly isAddress?: true;
}

/**
 * A rule that the published JSON Schema does not express. Paths start at the run's body, for example `params.width`.
 * - some: at least one of the paths is present.
 * - one: at most one of the paths is present.
 * - less: the first value is below the second.
 * - fits: the value of `path` is one of those that the value of `by` allows.
 * - without: the object at `path` has none of these names, case-insensitive; a final `*` matches any suffix.
 * - short: the value of `path` has at most this many bytes as JSON.
 */
export type Rule =
  | { readonly rule: "some" | "one"; readonly of: readonly string[] }
  | { readonly rule: "less"; readonly of: readonly [string, string] }
  | {
      readonly rule: "fits";
      readonly path: string;
      readonly by: string;
      readonly values: Readonly<Record<string, readonly (string | number)[]>>;
    }
  | { readonly rule: "without"; readonly path: string; readonly names: readonly string[] }
  | { readonly rule: "short"; readonly path: string; readonly bytesMax: number };

export interface EngineBy {
  readonly param: string;
  readonly engine: string;
}

export interface Capability {
  readonly id: string;
  readonly category: Category;
  readonly display_name: string;
  readonly description: string;
  readonly long_description?: string;
  readonly input_modality: CapabilityModality | readonly CapabilityModality[];
  readonly output_modality: CapabilityModality;
  readonly composite?: true;
  readonly params_schema: Schema;
  readonly input_schema: Schema;
  readonly sample_input: Readonly<Record<string, unknown>>;
  readonly examples: readonly { readonly title: string; readonly params: Readonly<Record<string, unknown>> }[];
  /** Properties of each input. They are not published. */
  readonly members: Readonly<Record<string, InputMember>>;
  readonly rules: readonly Rule[];
  /** Price in the notation of a catalogue file. */
  readonly pricing: Readonly<Record<string, string>>;
  /** Name of the engine that runs the capability. Each child process is started for one engine. */
  readonly engine: string;
  /** Another engine, which runs the capability if a certain param is true. */
  readonly engineBy?: EngineBy;
}

/** Returns the engine for a run with these params. */
export function engineOf(
  { engine, engineBy }: Pick<Capability, "engine" | "engineBy">,
  params: Readonly<Record<string, unknown>>,
): string {
  return engineBy !== undefined && params[engineBy.param] === true ? engineBy.engine : engine;
}
