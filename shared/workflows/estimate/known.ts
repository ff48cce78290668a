/** Resolves values of a step that are known before a run: results of expressions on inputs, and on the items of a known list. */
import type { Binding, OpenPlace, Resolvable } from "../bindings.ts";
import type { Resolved, Scope } from "../expressions/scope.ts";
import { bytesOf } from "../expressions/values.ts";
import type { EstimateWork } from "./work.ts";

/** Inputs of a run whose values are known. */
export interface Known {
  readonly inputs: Readonly<Record<string, unknown>>;
  /** Names of inputs that are present but whose values are unknown. */
  readonly unknown: ReadonlySet<string>;
}

export interface KnownItem {
  readonly item: unknown;
  readonly index: number;
}

type Members = Readonly<Record<string, unknown>>;

/** Values of a call. Unknown values are replaced by their expression. */
export interface KnownParams {
  readonly value: Members;
  readonly open: readonly OpenPlace[];
}

/**
 * Returns a value, or an error that occurs in every run with the same input. Returns undefined if the value is unknown.
 * @param item undefined outside of a list, or for an unknown item
 */
export function resolveKnown(
  { references, resolve }: Resolvable,
  known: Known,
  item: KnownItem | undefined,
  work: EstimateWork,
): Resolved | undefined {
  const isKnown = references.every(({ reference: { root, name = "" } }) => {
    if (root === "inputs") return !known.unknown.has(name);
    return (root === "item" || root === "index") && item !== undefined;
  });
  if (!isKnown || (references.length > 0 && work.isSpent)) return undefined;
  const scope: Scope = { inputs: known.inputs, steps: {}, run: { id: "", attempt: 1 }, ...item };
  const resolved = resolve(scope, work);
  if ("fault" in resolved) return work.isSpent ? undefined : resolved;
  if (references.length > 0) work.count(unitsOf(resolved.value));
  return resolved;
}

/** Resolves each expression separately. Expressions that cannot be computed count as unknown. */
export async function resolveParams(
  value: Members,
  { places }: Binding,
  known: Known,
  item: KnownItem | undefined,
  work: EstimateWork,
): Promise<KnownParams> {
  if (places.length === 0) return { value, open: [] };
  const copy = structuredClone(value) as Record<string, unknown>;
  const open: OpenPlace[] = [];
  for (const place of places) {
    const found = resolveKnown(place, known, item, work);
    if (found === undefined || "fault" in found) open.push(place);
    else put(copy, place.path, found.value);
    await work.slices.yieldIfOver();
  }
  return { value: copy, open };
}

/** Returns the names of members that are unknown, completely or in part. */
export function openNames({ open }: KnownParams): readonly string[] {
  return [...new Set(open.map(({ path: [name] }) => String(name)))];
}

/** Returns the members that are completely known. */
export function knownMembers(params: KnownParams): Members {
  const names = new Set(openNames(params));
  return Object.fromEntries(Object.entries(params.value).filter(([name]) => !names.has(name)));
}

const COUNTED_BYTES_MAX = 16_777_216;

/** Returns the units of work for copying a value and serializing it once or twice. */
export function unitsOf(value: unknown): number {
  return bytesOf(value, COUNTED_BYTES_MAX) / 2;
}

function put(holder: Record<string, unknown>, path: OpenPlace["path"], value: unknown): void {
  const at = path
    .slice(0, -1)
    .reduce<unknown>((one, key) => (one as Record<string | number, unknown>)[key], holder) as Record<
    string | number,
    unknown
  >;
  at[path.at(-1) ?? ""] = value;
}
