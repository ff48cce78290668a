/** Plain paths, which most expressions are: `steps.art.output.data[0].url`. */
import { LIMITS } from "#shared/limits.ts";

import { isRoot, type Reference, type Resolved, type Scope, UNSAFE_KEYS } from "./scope.ts";

const PATH = /^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*|\[(?:0|[1-9]\d{0,8})\])*$/;

/** Words that are values. */
const LITERALS: ReadonlySet<string> = new Set(["true", "false", "null"]);

export type Path = readonly (string | number)[];

/** Undefined for what is no plain path. */
export function readPath(text: string): Path | undefined {
  if (!PATH.test(text) || LITERALS.has(text)) return undefined;
  return Array.from(text.matchAll(/\w+/g), ([part]) => (/^\d/.test(part) ? Number(part) : part));
}

/** Returns what a path names, or why it may not stand in a definition. */
export function referenceOf(path: Path): Reference | { readonly fault: string } {
  const [root, name] = path;
  if (path.length > LIMITS.pathSegmentsMax) {
    return { fault: `Expected a path of at most ${LIMITS.pathSegmentsMax} parts, got ${path.length}.` };
  }
  const unsafe = path.find((part) => UNSAFE_KEYS.has(String(part)));
  if (unsafe !== undefined) return { fault: `Expected a path without ${unsafe}.` };
  if (!isRoot(String(root))) {
    return { fault: `Expected a path that begins with inputs, steps, run, item or index, got ${String(root)}.` };
  }
  if (root !== "inputs" && root !== "steps") return { root: root as Reference["root"] };
  if (typeof name === "string") return { root, name };
  return { fault: `Expected ${root} to be followed by a name, as in ${root}.name.` };
}

/** Own members alone; null stays null whatever is asked of it, so that a skipped step reads as null. */
export function walk(path: Path, scope: Scope): Resolved {
  let value: unknown = scope;
  for (const [at, part] of path.entries()) {
    if (value === null) return { value: null };
    const isThere =
      typeof part === "number"
        ? Array.isArray(value) && part < value.length
        : typeof value === "object" && !Array.isArray(value) && Object.hasOwn(value, part);
    if (!isThere) return { fault: `${written(path.slice(0, at + 1))} is not there.` };
    value = (value as Record<string | number, unknown>)[part];
  }
  return { value };
}

function written(path: Path): string {
  return path.map((part, at) => (typeof part === "number" ? `[${part}]` : at === 0 ? part : `.${part}`)).join("");
}
