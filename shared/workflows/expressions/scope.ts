/** Values visible to expressions, and references to them. */

/** Values as parsed from JSON. */
export interface Scope {
  readonly inputs: Readonly<Record<string, unknown>>;
  /** By step id; the output is null for a skipped step, and for a failed one that was ignored. */
  readonly steps: Readonly<Record<string, { readonly status: string; readonly output: unknown }>>;
  readonly run: { readonly id: string; readonly attempt: number };
  /** Current item, within a step that runs for each item of a list. */
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

/** A value, or the reason for its absence, as a message for the author of a definition. */
export type Resolved = { readonly value: unknown } | { readonly fault: string };

/** Keys that would escape from data. */
export const UNSAFE_KEYS: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

export function isRoot(name: string): name is Root {
  return ROOTS.has(name);
}
