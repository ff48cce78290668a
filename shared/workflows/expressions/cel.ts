/**
 * Expressions in CEL, bounded before they run: the library bounds what is written, but neither regular expressions nor what
 * is done for each item of a list.
 */
import { type ASTNode, Environment } from "@marcbachmann/cel-js";

import { LIMITS } from "#shared/limits.ts";

import { isRoot, type Reference, type Resolved, type Scope } from "./scope.ts";
import { measure, plain } from "./values.ts";

export interface CelExpression {
  readonly references: readonly Reference[];
  evaluate(scope: Scope): Resolved;
}

/** Each does its last argument for every item of a list, or names a value. */
const MACROS: ReadonlySet<string> = new Set(["all", "exists", "exists_one", "filter", "map", "bind"]);

const environment = openEnvironment();

/** @returns the expression, or why it may not stand in a definition */
export function compileCel(text: string): CelExpression | { readonly fault: string } {
  let parsed;
  try {
    parsed = environment.parse(text);
    const { valid, error } = parsed.check();
    if (!valid) throw error;
  } catch (error) {
    return { fault: `Expected an expression in CEL: ${firstLine(error)}` };
  }
  const found = inspect(parsed.ast);
  if ("fault" in found) return found;
  const run = parsed;
  return {
    references: found.references,
    evaluate(scope) {
      if (found.hasMacro) {
        const fault = tooMuch(found.references, scope);
        if (fault !== undefined) return { fault };
      }
      try {
        return plain(run(scope));
      } catch (error) {
        return { fault: firstLine(error) };
      }
    },
  };
}

/** Numbers of JSON are doubles to CEL, and literals are integers: here they go together. */
function openEnvironment(): Environment {
  const { expressionNodesMax: maxAstNodes, expressionDepthMax: maxDepth, expressionItemsMax: maxListElements } = LIMITS;
  const opened = new Environment({
    unlistedVariablesAreDyn: true,
    homogeneousAggregateLiterals: false,
    limits: { maxAstNodes, maxDepth, maxListElements, maxMapEntries: maxListElements },
  });
  const arithmetic: Readonly<Record<string, (a: number, b: number) => number>> = {
    "+": (a, b) => a + b,
    "-": (a, b) => a - b,
    "*": (a, b) => a * b,
    "/": (a, b) => a / b,
    "%": (a, b) => a % b,
  };
  for (const [sign, of] of Object.entries(arithmetic)) {
    for (const pair of [`double ${sign} int`, `int ${sign} double`]) {
      opened.registerOperator(`${pair}: double`, (a: unknown, b: unknown) => of(Number(a), Number(b)));
    }
  }
  return opened;
}

interface Inspected {
  readonly references: Reference[];
  readonly hasMacro: boolean;
}

function inspect(root: ASTNode): Inspected | { readonly fault: string } {
  const references: Reference[] = [];
  let hasMacro = false;
  let fault: string | undefined;
  const refuse = (why: string): void => {
    fault ??= why;
  };

  const visit = (node: ASTNode, bound: ReadonlySet<string>, isInMacro: boolean): void => {
    const named = memberOf(node);
    if (named && !bound.has(named.root)) {
      references.push(named);
      return;
    }
    switch (node.op) {
      case "value":
        return;
      case "id":
        if (bound.has(node.args)) return;
        if (!isRoot(node.args)) {
          refuse(`Expected a name that begins with inputs, steps, run, item or index, got ${node.args}.`);
        } else if (node.args === "inputs" || node.args === "steps") {
          refuse(`Expected ${node.args} to be followed by a name, as in ${node.args}.name.`);
        } else references.push({ root: node.args });
        return;
      case "rcall":
        visitCall(node.args, bound, isInMacro);
        return;
      default:
        for (const child of childrenOf(node.args)) visit(child, bound, isInMacro);
    }
  };

  const visitCall = (
    [name, receiver, args]: readonly [string, ASTNode, readonly ASTNode[]],
    bound: ReadonlySet<string>,
    isInMacro: boolean,
  ): void => {
    // Native regular expressions take seconds on 27 characters.
    if (name === "matches")
      refuse("Expected an expression without matches(); contains(), startsWith() and endsWith() are there.");
    const isMacro = MACROS.has(name) && args.length > 1;
    if (isMacro && isInMacro) refuse(`Expected no ${name}() within another function that goes through a list.`);
    if (name !== "bind") visit(receiver, bound, isInMacro);
    hasMacro ||= isMacro;
    const variable = isMacro ? args[0] : undefined;
    const inside = variable?.op === "id" ? new Set([...bound, variable.args]) : bound;
    for (const one of isMacro ? args.slice(1) : args) visit(one, inside, isInMacro || isMacro);
  };

  visit(root, new Set(), false);
  return fault === undefined ? { references, hasMacro } : { fault };
}

/** `inputs.name`, `steps["name"]`. */
function memberOf(node: ASTNode): (Reference & { readonly name: string }) | undefined {
  if (node.op !== "." && node.op !== "[]") return undefined;
  const [of, member] = node.args;
  if (of.op !== "id" || (of.args !== "inputs" && of.args !== "steps")) return undefined;
  const name = typeof member === "string" ? member : member.op === "value" ? member.args : undefined;
  return typeof name === "string" ? { root: of.args, name } : undefined;
}

/** Arguments are nodes, lists of them, and names. */
function childrenOf(args: unknown): ASTNode[] {
  if (Array.isArray(args)) return args.flatMap(childrenOf);
  return typeof args === "object" && args !== null && "op" in args ? [args as ASTNode] : [];
}

/** Why an expression that goes through lists may not be run on these values. */
function tooMuch(references: readonly Reference[], scope: Scope): string | undefined {
  const { macroItemsMax, macroBytesMax } = LIMITS;
  const values = references.map(({ root, name }) => {
    const of = scope[root];
    return name === undefined ? of : (of as Readonly<Record<string, unknown>>)[name];
  });
  const { items, bytes } = measure(values, { itemsMax: macroItemsMax + references.length, bytesMax: macroBytesMax });
  if (items > macroItemsMax + references.length) {
    return `Expected lists of at most ${macroItemsMax} items in all where an expression goes through them; use for_each for more.`;
  }
  if (bytes > macroBytesMax) {
    return `Expected values of at most ${macroBytesMax} bytes in all where an expression goes through a list.`;
  }
  return undefined;
}

function firstLine(error: unknown): string {
  const [line = ""] = (error instanceof Error ? error.message : String(error)).split("\n", 1);
  return line.endsWith(".") ? line : `${line}.`;
}
