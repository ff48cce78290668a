/** What of a step is known before a run: what its expressions read of inputs, and of the items of a list that is known. */
import { compileBinding } from "../bindings.ts";
import type { Scope } from "../expressions/scope.ts";

/** Inputs whose values are known. */
export interface Known {
  readonly inputs: Readonly<Record<string, unknown>>;
  /** Inputs that there are, and whose values are not known. */
  readonly unknown: ReadonlySet<string>;
}

export interface KnownItem {
  readonly item: unknown;
  readonly index: number;
}

/** A value, or that it is not known; a value that cannot be worked out counts as not known. */
export type Found = { readonly value: unknown } | undefined;

/** @param item undefined outside of a list, or for one that is not known */
export function resolveKnown(value: unknown, known: Known, item: KnownItem | undefined): Found {
  const binding = compileBinding(value, "");
  if ("faults" in binding) return undefined;
  const isKnown = binding.references.every(({ reference: { root, name = "" } }) => {
    if (root === "inputs") return !known.unknown.has(name);
    return (root === "item" || root === "index") && item !== undefined;
  });
  if (!isKnown) return undefined;
  const scope: Scope = { inputs: known.inputs, steps: {}, run: { id: "", attempt: 1 }, ...item };
  const resolved = binding.resolve(scope);
  return "fault" in resolved ? undefined : resolved;
}

/** Members that are known, and the names of those that are not. */
export interface Members {
  readonly known: Readonly<Record<string, unknown>>;
  readonly unknown: readonly string[];
}

export function resolveMembers(
  members: Readonly<Record<string, unknown>>,
  known: Known,
  item: KnownItem | undefined,
): Members {
  const values: Record<string, unknown> = {};
  const unknown: string[] = [];
  for (const [name, member] of Object.entries(members)) {
    const found = resolveKnown(member, known, item);
    if (found) values[name] = found.value;
    else unknown.push(name);
  }
  return { known: values, unknown };
}
