/** Texts of a definition with `${{ … }}` in them: one alone keeps its type, among other text it is inserted. */
import { LIMITS } from "#shared/limits.ts";
import { runWhole } from "#shared/time-slices.ts";

import { compileCel } from "./cel.ts";
import { readPath, referenceOf, walk } from "./path.ts";
import type { Reference, Resolved, Scope } from "./scope.ts";
import { Work } from "./work.ts";

export interface Template {
  /** It is the whole of its text, and gives whatever it gives; otherwise text. */
  readonly isAlone: boolean;
  readonly references: readonly Reference[];
  /** @param work what its expressions may do together with others */
  resolve(scope: Scope, work?: Work): Resolved;
}

const OPEN = "${{";
/** Stands for `${{` itself. */
const ESCAPED = `$${OPEN}`;

/** @returns undefined for text without an expression; `$${{` is an expression's mark as text */
export function compileTemplate(text: string): Template | { readonly fault: string } | undefined {
  return runWhole(compilingTemplate(text));
}

/**
 * The same with stops, for a thread that others wait for.
 * @param reading what may be done for all that is read together
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
    resolve: (scope, work = new Work(LIMITS.bindingWorkMax)) => joined(compiled, scope, work),
  };
}

/** One expression, without the braces around it. */
function compileExpression(text: string, reading: Work | undefined): Template | { readonly fault: string } {
  const { expressionCharsMax } = LIMITS;
  if (text.length > expressionCharsMax) {
    return { fault: `Expected an expression of at most ${expressionCharsMax} characters, got ${text.length}.` };
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
      if (end === undefined) return { fault: "Expected }} behind ${{." };
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

/** Returns the end of the expression that begins at `from`: braces and quotes of its own are passed over. Undefined: there is none. */
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
    if (text.length > LIMITS.expressionValueBytesMax) {
      return { fault: `Expected a text of at most ${LIMITS.expressionValueBytesMax} characters.` };
    }
  }
  return { value: text };
}

function inserted(value: unknown): string {
  if (value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}
