/**
 * Names of a call's tools. Chat knows functions with one name of at most 64 characters, the Responses API namespaces, custom tools and
 * a search for tools. The ingress shows every tool as a function, and the worker tells its calls under the caller's names again.
 */
import { createHash } from "node:crypto";

/** A tool that the caller does not know as a function of the name that the model is shown. */
export interface RenamedTool {
  /** Name of the function that the model is shown. */
  readonly shown: string;
  readonly type: "function" | "custom" | "tool_search";
  readonly namespace?: string;
  readonly name: string;
}

/** Name of the function for a search for tools. */
export const SEARCH_TOOL = "tool_search";

const SHOWN_MAX = 64;
/** Hexadecimal digits of the hash that keeps shortened names apart. */
const HASH_DIGITS = 8;

/** The name under which a model is shown a tool. Always the same for the same tool, since earlier calls bear it too. */
export function shownName({
  namespace,
  name,
}: {
  readonly namespace?: string | null | undefined;
  readonly name: string;
}): string {
  if (namespace == null) return name.length <= SHOWN_MAX ? name : shortened(name, [name]);
  const joined = `${namespace}__${name}`;
  return /^[a-zA-Z0-9_-]{1,64}$/.test(joined) ? joined : shortened(joined, [namespace, name]);
}

function shortened(text: string, parts: readonly string[]): string {
  const hash = createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, HASH_DIGITS);
  return `${text.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, SHOWN_MAX - 1 - HASH_DIGITS)}_${hash}`;
}
