/** Values that expressions see, and references to them. */

/** Values as they come from JSON. */
export interface Scope {
  readonly inputs: Readonly<Record<string, unknown>>;
  /** By id of the step; null output where it was skipped or failed and was passed over. */
  readonly steps: Readonly<Record<string, { readonly status: string; readonly output: unknown }>>;
  readonly run: { readonly id: string; readonly attempt: number };
  /** Within a step that runs for each item of a list. */
  readonly item?: unknown;
  readonly index?: number;
}

export type Root = keyof Scope;

const ROOTS: ReadonlySet<string> = new Set<Root>(["inputs", "steps", "run", "item", "index"]);

/** `name`: of an input or a step. */
export interface Reference {
  readonly root: Root;
  readonly name?: string;
}

/** A value, or why there is none, in words for the author of a definition. */
export type Resolved = { readonly value: unknown } | { readonly fault: string };

/** Keys that lead out of data. */
export const UNSAFE_KEYS: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

export function isRoot(name: string): name is Root {
  return ROOTS.has(name);
}
