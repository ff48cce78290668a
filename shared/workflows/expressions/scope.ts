/** Values that expressions can read, and references to these values. */

/** Values that expressions can read, as parsed from JSON. */
export interface Scope {
  readonly inputs: Readonly<Record<string, unknown>>;
  /** Status and output of steps, by step id. The output is null for a skipped step, and for a failed step whose error was ignored. */
  readonly steps: Readonly<Record<string, { readonly status: string; readonly output: unknown }>>;
  readonly run: { readonly id: string; readonly attempt: number };
  /** Current item, in a step that runs for each item of a list; otherwise undefined. */
  readonly item?: unknown;
  readonly index?: number;
}

export type Root = keyof Scope;

const ROOTS: ReadonlySet<string> = new Set<Root>(["inputs", "steps", "run", "item", "index"]);

/** Reference to a value. */
export interface Reference {
  readonly root: Root;
  /** Name of an input or a step. */
  readonly name?: string;
  /** Names of members that are read of the value, up to the first index. For `steps.a.output.list[0].x` these are `output` and `list`. */
  readonly members: readonly string[];
}

/** Result of an expression: a value, or the reason why there is none, as a message for the author of the definition. */
export type Resolved = { readonly value: unknown } | { readonly fault: string };

/** Member names that expressions must not read, because they lead from data to JavaScript's own objects. */
export const UNSAFE_KEYS: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

export function isRoot(name: string): name is Root {
  return ROOTS.has(name);
}
