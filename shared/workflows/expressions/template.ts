/** Texts of a definition with `${{ … }}`. A single expression keeps the type of its value. In other text, the value is inserted as text. */
import { runWhole } from "#shared/base/time-slices.ts";

import { compileCel } from "./cel.ts";
import { isRoot, type Reference, type Resolved, type Scope, UNSAFE_KEYS } from "./scope.ts";
import { Work, EXPRESSION_VALUE_BYTES_MAX } from "./work.ts";

export const EXPRESSION_CHARS_MAX = 2_000;
const PATH_SEGMENTS_MAX = 32;

/** Maximum work of all expressions in a step's params or input, in units. */
export const BINDING_WORK_MAX = 4_000_000;

export interface Template {
  /** True if the expression is the whole text, so that the result keeps the type of its value. Otherwise the result is text. */
  readonly isAlone: boolean;
  readonly references: readonly Reference[];
  /** Resolves the expressions of the text. @param work limit shared with other expressions */
  resolve(scope: Scope, work?: Work): Resolved;
}

const OPEN = "${{";
/** Escape for a literal `${{`. */
const ESCAPED = `$${OPEN}`;

/** Compiles a text. `$${{` is a literal `${{`. @returns undefined for a text without expressions; the reason if one is invalid */
export function compileTemplate(text: string): Template | { readonly fault: string } | undefined {
  return runWhole(compilingTemplate(text));
}

/**
 * Compiles like `compileTemplate`, but yields between parts so that other calls on the thread can run.
 * @param reading work limit for compiling, shared with other texts of the same request; default: no limit
 */
export function* compilingTemplate(
  text: string,
  reading?: Work,
): Generator<void, Template | { readonly fault: string } | undefined> {
  if (!text.includes(OPEN)) return undefined;
  const parts = split(text);
  if ("fault" in parts) return parts;
  const compiled: (string | Template)[] = [];
  for (const part of parts) {
    yield;
    const one = typeof part === "string" ? part : compileExpression(part.expression, reading);
    if (typeof one !== "string" && "fault" in one) return one;
    compiled.push(one);
  }
  const [only, ...others] = compiled;
  if (typeof only === "object" && others.length === 0) return only;
  return {
    isAlone: false,
    references: compiled.flatMap((part) => (typeof part === "string" ? [] : part.references)),
    resolve: (scope, work = new Work(BINDING_WORK_MAX)) => joined(compiled, scope, work),
  };
}

/** Compiles one expression, without the braces around it. */
function compileExpression(text: string, reading: Work | undefined): Template | { readonly fault: string } {
  if (text.length > EXPRESSION_CHARS_MAX) {
    return { fault: `Expected an expression of at most ${EXPRESSION_CHARS_MAX} characters, got ${text.length}.` };
  }
  const path = readPath(text.trim());
  if (path) {
    const reference = referenceOf(path);
    if ("fault" in reference) return reference;
    return { isAlone: true, references: [reference], resolve: (scope) => walk(path, scope) };
  }
  const cel = compileCel(text, reading);
  if ("fault" in cel) return cel;
  return { isAlone: true, references: cel.references, resolve: (scope, work) => cel.evaluate(scope, work) };
}

type Part = string | { readonly expression: string };

function split(text: string): readonly Part[] | { readonly fault: string } {
  const parts: Part[] = [];
  let literal = "";
  let at = 0;
  while (at < text.length) {
    if (text.startsWith(ESCAPED, at)) {
      literal += OPEN;
      at += ESCAPED.length;
    } else if (text.startsWith(OPEN, at)) {
      const end = endOf(text, at + OPEN.length);
      if (end === undefined) return { fault: "Expected }} after ${{." };
      if (literal !== "") parts.push(literal);
      literal = "";
      parts.push({ expression: text.slice(at + OPEN.length, end) });
      at = end + 2;
    } else {
      literal += text[at];
      at += 1;
    }
  }
  if (literal !== "") parts.push(literal);
  return parts;
}

/**
 * Returns the offset at which the expression that begins at `from` ends. Skips braces and quotes inside the expression. Returns undefined
 * if the expression has no end.
 */
function endOf(text: string, from: number): number | undefined {
  let depth = 0;
  let quote: string | undefined;
  for (let at = from; at < text.length; at += 1) {
    const sign = text[at];
    if (quote !== undefined) {
      if (sign === "\\") at += 1;
      else if (sign === quote) quote = undefined;
    } else if (sign === '"' || sign === "'") quote = sign;
    else if (sign === "{") depth += 1;
    else if (sign === "}" && depth > 0) depth -= 1;
    else if (sign === "}") return text[at + 1] === "}" ? at : undefined;
  }
  return undefined;
}

function joined(parts: readonly (string | Template)[], scope: Scope, work: Work): Resolved {
  let text = "";
  for (const part of parts) {
    if (typeof part === "string") {
      text += part;
      continue;
    }
    const resolved = part.resolve(scope, work);
    if ("fault" in resolved) return resolved;
    text += inserted(resolved.value);
    if (text.length > EXPRESSION_VALUE_BYTES_MAX) {
      return { fault: `Expected a text of at most ${EXPRESSION_VALUE_BYTES_MAX} characters.` };
    }
  }
  return { value: text };
}

function inserted(value: unknown): string {
  if (value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

// Plain paths, which most expressions are: `steps.art.output.data[0].url`.

const PATH = /^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*|\[(?:0|[1-9]\d{0,8})\])*$/;

/** Identifiers that are literals and not names. */
const LITERALS: ReadonlySet<string> = new Set(["true", "false", "null"]);

type Path = readonly (string | number)[];

/** Parses a plain path such as `inputs.name`. Returns undefined for other expressions. */
function readPath(text: string): Path | undefined {
  if (!PATH.test(text) || LITERALS.has(text)) return undefined;
  return Array.from(text.matchAll(/\w+/g), ([part]) => (/^\d/.test(part) ? Number(part) : part));
}

/** Returns the reference that a path contains, or the reason why the path is invalid. */
function referenceOf(path: Path): Reference | { readonly fault: string } {
  const [root, name] = path;
  if (path.length > PATH_SEGMENTS_MAX) {
    return { fault: `Expected a path of at most ${PATH_SEGMENTS_MAX} parts, got ${path.length}.` };
  }
  const unsafe = path.find((part) => UNSAFE_KEYS.has(String(part)));
  if (unsafe !== undefined) return { fault: `Expected a path without ${unsafe}.` };
  if (!isRoot(String(root))) {
    return { fault: `Expected a path that begins with inputs, steps, run, item or index, got ${String(root)}.` };
  }
  if (root !== "inputs" && root !== "steps")
    return { root: root as Reference["root"], members: membersOf(path.slice(1)) };
  if (typeof name === "string") return { root, name, members: membersOf(path.slice(2)) };
  return { fault: `Expected ${root} to be followed by a name, as in ${root}.name.` };
}

/** Returns the names at the start of a path, up to its first index. */
function membersOf(path: Path): readonly string[] {
  const end = path.findIndex((part) => typeof part === "number");
  return path.slice(0, end === -1 ? undefined : end).map(String);
}

/** Returns the value at a path. Reads only own members. Members of null are null, so that the output of a skipped step reads as null. */
function walk(path: Path, scope: Scope): Resolved {
  let value: unknown = scope;
  for (const [at, part] of path.entries()) {
    if (value === null) return { value: null };
    const isThere =
      typeof part === "number"
        ? Array.isArray(value) && part < value.length
        : typeof value === "object" && !Array.isArray(value) && Object.hasOwn(value, part);
    if (!isThere) return { fault: `${written(path.slice(0, at + 1))} does not exist.` };
    value = (value as Record<string | number, unknown>)[part];
  }
  return { value };
}

function written(path: Path): string {
  return path.map((part, at) => (typeof part === "number" ? `[${part}]` : at === 0 ? part : `.${part}`)).join("");
}
