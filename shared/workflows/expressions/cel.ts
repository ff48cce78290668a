/**
 * Expressions in CEL, bounded before they run: the library bounds what is written, but neither what its functions cost nor what is
 * done for each item of a list.
 */
import { type ASTNode, Environment } from "@marcbachmann/cel-js";

import { LIMITS } from "#shared/limits.ts";

import { type Path, referenceOf, walk } from "./path.ts";
import { isRoot, type Reference, type Resolved, type Scope, UNSAFE_KEYS } from "./scope.ts";
import { measure, plain } from "./values.ts";

export interface CelExpression {
  readonly references: readonly Reference[];
  evaluate(scope: Scope): Resolved;
}

/** Each does its last argument for every item of a list. */
const MACROS: ReadonlySet<string> = new Set(["all", "exists", "exists_one", "filter", "map"]);

/** What takes time or room that its arguments do not bound is not among them: regular expressions, dates, formats, named values. */
const FUNCTIONS: ReadonlySet<string> = new Set([
  ...MACROS,
  ..."has size int double string bool".split(" "),
  ..."contains startsWith endsWith indexOf lastIndexOf substring trim lowerAscii upperAscii split join".split(" "),
]);

const environment = openEnvironment();

/** @returns the expression, or why it may not stand in a definition */
export function compileCel(text: string): CelExpression | { readonly fault: string } {
  const run = attempt(() => environment.parse(text));
  if ("fault" in run) return run;
  const found = inspect(run.ast);
  if ("fault" in found) return found;
  const checked = attempt(() => run.check());
  if ("fault" in checked) return checked;
  if (!checked.valid) return misread(checked.error);
  return {
    references: found.references,
    evaluate(scope) {
      const fault = tooMuch(found, scope);
      if (fault !== undefined) return { fault };
      try {
        return plain(run(scope));
      } catch (error) {
        return { fault: firstLine(error) };
      }
    },
  };
}

function attempt<T extends object>(read: () => T): T | { readonly fault: string } {
  try {
    return read();
  } catch (error) {
    return misread(error);
  }
}

function misread(error: unknown): { readonly fault: string } {
  return { fault: `Expected an expression in CEL: ${firstLine(error)}` };
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
    const mixed = [`double ${sign} int`, `int ${sign} double`];
    for (const pair of sign === "%" ? [...mixed, "double % double"] : mixed) {
      opened.registerOperator(`${pair}: double`, (a: unknown, b: unknown) => of(Number(a), Number(b)));
    }
  }
  return opened;
}

interface Inspected {
  readonly references: readonly Reference[];
  /** Of all values that it names. */
  readonly paths: readonly Path[];
  readonly loops: readonly Loop[];
}

/** A function that goes through a list. */
interface Loop {
  /** Undefined for a list that the expression writes out. */
  readonly list: Path | undefined;
  /** Values that are named for each item. */
  readonly paths: readonly Path[];
  readonly nodes: number;
}

function inspect(root: ASTNode): Inspected | { readonly fault: string } {
  const seen = new Inspection();
  seen.visit(root, {});
  const { fault, references, paths, loops } = seen;
  return fault === undefined ? { references, paths, loops } : { fault };
}

/** Where a node stands: the variable of the loop that it is in, and that loop. */
interface Within {
  /** Lists and objects around it that the expression writes out. */
  readonly depth?: number;
  readonly variable?: string;
  readonly loop?: { nodes: number; readonly paths: Path[] };
}

class Inspection {
  readonly references: Reference[] = [];
  readonly paths: Path[] = [];
  readonly loops: Loop[] = [];
  fault: string | undefined;
  private additions = 0;

  visit(node: ASTNode, within: Within): void {
    if (within.loop) within.loop.nodes += 1;
    const path = pathOf(node);
    if (path && path[0] !== within.variable) {
      this.name(path, within);
      return;
    }
    switch (node.op) {
      case "value":
        return;
      case "id":
        if (node.args !== within.variable) this.name([node.args], within);
        return;
      case "call":
        this.call(node.args[0], undefined, node.args[1], within);
        return;
      case "rcall":
        this.call(node.args[0], node.args[1], node.args[2], within);
        return;
      case "list":
        break;
      case "map":
        for (const [key] of node.args) {
          if (key.op === "value" && UNSAFE_KEYS.has(String(key.args)))
            this.refuse(`Expected no key ${String(key.args)}.`);
        }
        break;
      case "+":
        this.additions += 1;
        if (this.additions > LIMITS.expressionAdditionsMax) {
          this.refuse(`Expected at most ${LIMITS.expressionAdditionsMax} additions in one expression.`);
        }
        break;
      default:
    }
    const depth = (within.depth ?? 0) + (node.op === "list" || node.op === "map" ? 1 : 0);
    if (depth > LITERAL_DEPTH_MAX) this.refuse(`Expected lists and objects of at most ${LITERAL_DEPTH_MAX} levels.`);
    for (const child of childrenOf(node.args)) this.visit(child, { ...within, depth });
  }

  private refuse(why: string): void {
    this.fault ??= why;
  }

  private name(path: Path, { loop }: Within): void {
    const reference = referenceOf(path);
    if ("fault" in reference) {
      this.refuse(reference.fault);
      return;
    }
    this.references.push(reference);
    this.paths.push(path);
    loop?.paths.push(path);
  }

  private call(name: string, receiver: ASTNode | undefined, args: readonly ASTNode[], within: Within): void {
    if (!FUNCTIONS.has(name)) {
      this.refuse(`Expected a function among ${[...FUNCTIONS].join(", ")}, got ${name.slice(0, 50)}.`);
      return;
    }
    if (receiver && args.length > 1 && MACROS.has(name)) {
      this.loop(name, receiver, args, within);
      return;
    }
    if (name === "join" && args[0] && !isShortText(args[0])) {
      this.refuse(`Expected join() with a text of at most ${SEPARATOR_CHARS_MAX} characters that is written out.`);
    }
    if (receiver) this.visit(receiver, within);
    for (const one of args) this.visit(one, within);
  }

  private loop(name: string, list: ASTNode, [variable, ...body]: readonly ASTNode[], within: Within): void {
    if (within.loop) this.refuse(`Expected no ${name}() within another function that goes through a list.`);
    if (!isSteadyList(list)) {
      this.refuse(`Expected ${name}() of a list that is named or written out, or of its filter().`);
    }
    const own = variable?.op === "id" ? variable.args : "";
    if (isRoot(own)) this.refuse(`Expected a variable of ${name}() other than inputs, steps, run, item and index.`);
    this.visit(list, within);
    const loop = { nodes: 1, paths: [] };
    for (const one of body) this.visit(one, { variable: own, loop });
    this.loops.push({ list: listOf(list), ...loop });
  }
}

/** It holds no more than what it is made of: a `map` may give a list for each item, and so on. */
function isSteadyList(node: ASTNode): boolean {
  if (node.op === "list" || pathOf(node)) return true;
  return node.op === "rcall" && node.args[0] === "filter" && isSteadyList(node.args[1]);
}

function listOf(node: ASTNode): Path | undefined {
  return node.op === "rcall" ? listOf(node.args[1]) : pathOf(node);
}

const SEPARATOR_CHARS_MAX = 100;
/** The library keeps a type for every shape of value that it meets, for good: the number of shapes is bounded by their depth. */
const LITERAL_DEPTH_MAX = 4;
const VALUE_DEPTH_MAX = 8;

function isShortText(node: ASTNode): boolean {
  return node.op === "value" && typeof node.args === "string" && node.args.length <= SEPARATOR_CHARS_MAX;
}

/** `inputs.name`, `steps["name"].output[0]`; undefined for whatever is no plain path. */
function pathOf(node: ASTNode): Path | undefined {
  if (node.op !== "." && node.op !== "[]") return undefined;
  const [of, member] = node.args;
  const part = typeof member === "string" ? member : member.op === "value" ? member.args : undefined;
  const before = of.op === "id" ? [of.args] : pathOf(of);
  if (!before) return undefined;
  if (typeof part === "string") return [...before, part];
  return typeof part === "bigint" ? [...before, Number(part)] : undefined;
}

/** Arguments are nodes, lists of them, and names. */
function childrenOf(args: unknown): ASTNode[] {
  if (Array.isArray(args)) return args.flatMap(childrenOf);
  return typeof args === "object" && args !== null && "op" in args ? [args as ASTNode] : [];
}

/** Why the expression may not be run on these values: it would take too long, or too much room. */
function tooMuch({ paths, loops }: Inspected, scope: Scope): string | undefined {
  const { celBytesMax, loopItemsMax, loopWorkMax } = LIMITS;
  if (paths.some((path) => isDeep(walk(path, scope), VALUE_DEPTH_MAX + 1))) {
    return `Expected values of at most ${VALUE_DEPTH_MAX} levels in an expression that is no plain path.`;
  }
  if (sizeOf(paths, scope, celBytesMax) > celBytesMax) {
    return `Expected values of at most ${celBytesMax} bytes in all in an expression that is no plain path.`;
  }
  for (const { list, paths: named, nodes } of loops) {
    const resolved = list && walk(list, scope);
    const value = resolved && "value" in resolved && Array.isArray(resolved.value) ? (resolved.value as unknown[]) : [];
    if (value.length > loopItemsMax) {
      return `Expected a list of at most ${loopItemsMax} items where an expression goes through it; use for_each for more.`;
    }
    // Of a list that is written out its items are values that the expression names.
    const items = list ? Math.max(1, value.length) : LIMITS.expressionNodesMax;
    const largest = list
      ? Math.max(0, ...value.map((one) => bytesOf(one, celBytesMax)))
      : sizeOf(paths, scope, celBytesMax);
    if (items * nodes * (sizeOf(named, scope, celBytesMax) + largest) > loopWorkMax) {
      return "Expected smaller values where an expression goes through a list: it would read them too often.";
    }
  }
  return undefined;
}

function sizeOf(paths: readonly Path[], scope: Scope, bytesMax: number): number {
  let bytes = 0;
  for (const path of paths) {
    const resolved = walk(path, scope);
    if ("value" in resolved) bytes += bytesOf(resolved.value, bytesMax - bytes);
    if (bytes > bytesMax) return bytes;
  }
  return bytes;
}

function isDeep(value: unknown, depthMax: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return depthMax === 0 || Object.values(value).some((one) => isDeep(one, depthMax - 1));
}

function bytesOf(value: unknown, bytesMax: number): number {
  return measure(value, { itemsMax: Infinity, bytesMax }).bytes;
}

function firstLine(error: unknown): string {
  const [line = ""] = (error instanceof Error ? error.message : String(error)).split("\n", 1);
  return line.endsWith(".") ? line : `${line}.`;
}
