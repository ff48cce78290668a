/**
 * Names of a call's tools. Chat supports functions with names of at most 64 characters; the Responses API also has namespaces, custom tools
 * and a tool search. The ingress sends every tool to the model as a function. The worker reports tool calls with the caller's names.
 */
import { createHash } from "node:crypto";

/** A tool whose function name for the model differs from the caller's name. */
export interface RenamedTool {
  /** Name of the function that the model receives. */
  readonly shown: string;
  readonly type: "function" | "custom" | "tool_search";
  readonly namespace?: string;
  readonly name: string;
}

/** Name of the function that represents the tool search. */
export const SEARCH_TOOL = "tool_search";

const FUNCTION_NAME_LENGTH_MAX = 64;
/** Hexadecimal digits of the hash that makes shortened names unique. */
const HASH_DIGITS = 8;

/**
 * Returns the function name under which the model receives a tool. A tool always has the same function name, because earlier tool calls in
 * the history contain it.
 */
export function toFunctionName({
  namespace,
  name,
}: {
  readonly namespace?: string | null | undefined;
  readonly name: string;
}): string {
  if (namespace == null) return name.length <= FUNCTION_NAME_LENGTH_MAX ? name : shortened(name, [name]);
  const joined = `${namespace}__${name}`;
  return /^[a-zA-Z0-9_-]{1,64}$/.test(joined) ? joined : shortened(joined, [namespace, name]);
}

function shortened(text: string, parts: readonly string[]): string {
  const hash = createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, HASH_DIGITS);
  return `${text.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, FUNCTION_NAME_LENGTH_MAX - 1 - HASH_DIGITS)}_${hash}`;
}
