/** Checks the names and calls of a parsed expression: a definition may use only what is listed here. */
import type { ASTNode } from "@marcbachmann/cel-js";

import { isListMacro, LIST_MACROS } from "./evaluate.ts";
import { FUNCTIONS, METHODS } from "./functions.ts";
import { isRoot, type Reference, UNSAFE_KEYS } from "./scope.ts";

type Names = ReadonlySet<string>;

const CALLED = ["has", ...FUNCTIONS.keys()];
const METHOD_NAMES = [...METHODS.keys(), ...LIST_MACROS, "cel.bind"];
/** Integers have 64 bits; the minimum is written as the negation of this. */
const INTEGER_MAX = 2n ** 63n;

class Refusal extends Error {}

/** @returns the references, or the reason why the expression is invalid */
export function inspect(root: ASTNode): { readonly references: readonly Reference[] } | { readonly fault: string } {
  const references: Reference[] = [];
  try {
    visit(root, new Set(), references);
    return { references };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { fault: error.message };
  }
}

function visit(node: ASTNode, names: Names, into: Reference[]): void {
  const all = (nodes: readonly ASTNode[]): void => {
    for (const one of nodes) visit(one, names, into);
  };
  const named = memberOf(node);
  if (named) {
    into.push(named);
    return;
  }
  switch (node.op) {
    case "value":
      checkLiteral(node.args);
      return;
    case "id":
      if (!names.has(node.args)) into.push(rootNamed(node.args));
      return;
    case ".":
      visit(node.args[0], names, into);
      return;
    case "map":
      for (const [key, value] of node.args) {
        if (key.op === "value") checkName(key.args);
        all([key, value]);
      }
      return;
    case "call":
      checkCall(node.args[0], node.args[1]);
      all(node.args[1]);
      return;
    case "rcall":
      visitMethod(node.args, names, into);
      return;
    case "!_":
    case "-_":
      visit(node.args, names, into);
      return;
    case ".?":
    case "[?]":
      throw new Refusal(`Expected no ${node.op} in an expression.`);
    default:
      all(node.args);
  }
}

function visitMethod(
  [name, receiver, args]: readonly [string, ASTNode, readonly ASTNode[]],
  names: Names,
  into: Reference[],
): void {
  const [variable, ...parts] = args;
  const inner = (): Names => new Set([...names, variableOf(name, variable)]);
  if (name === "bind" && receiver.op === "id" && receiver.args === "cel") {
    if (args.length !== 3) throw new Refusal("Expected cel.bind() with a name, its value and an expression.");
    const [value, body] = parts;
    if (value) visit(value, names, into);
    if (body) visit(body, inner(), into);
    return;
  }
  visit(receiver, names, into);
  if (isListMacro(name)) {
    if (args.length !== 2 && !(name === "map" && args.length === 3)) {
      throw new Refusal(`Expected ${name}() with a name for the item and an expression.`);
    }
    const within = inner();
    for (const part of parts) visit(part, within, into);
    return;
  }
  checkArguments(`.${name}`, METHODS.get(name)?.args, args.length, METHOD_NAMES);
  for (const one of args) visit(one, names, into);
}

function variableOf(name: string, node: ASTNode | undefined): string {
  if (node?.op !== "id") throw new Refusal(`Expected a name as the first argument of ${name}().`);
  if (isRoot(node.args) || node.args === "cel") {
    throw new Refusal(`Expected a name other than inputs, steps, run, item, index and cel in ${name}().`);
  }
  return node.args;
}

function checkCall(name: string, args: readonly ASTNode[]): void {
  if (name !== "has") {
    checkArguments(name, FUNCTIONS.get(name)?.args, args.length, CALLED);
    return;
  }
  if (args.length !== 1 || args[0]?.op !== ".")
    throw new Refusal("Expected has() of a member, as in has(inputs.name).");
}

function checkArguments(
  name: string,
  takes: { readonly min: number; readonly max: number } | undefined,
  count: number,
  known: readonly string[],
): void {
  if (!takes) throw new Refusal(`Expected one of ${known.join(", ")}, got ${name.slice(0, 40)}().`);
  if (count >= takes.min && count <= takes.max) return;
  const expected = takes.min === takes.max ? `${takes.min}` : `${takes.min} or ${takes.max}`;
  throw new Refusal(`Expected ${name}() with ${expected} arguments, got ${count}.`);
}

function checkLiteral(value: unknown): void {
  if (typeof value === "bigint" && value > INTEGER_MAX) throw new Refusal("Expected integers of 64 bits.");
  if (typeof value === "object" && value !== null) {
    throw new Refusal("Expected text, numbers, true, false or null, got bytes or an unsigned integer.");
  }
}

function checkName(value: unknown): void {
  if (typeof value !== "string") throw new Refusal("Expected the names of members to be text.");
  if (UNSAFE_KEYS.has(value)) throw new Refusal(`Expected no member named ${value}.`);
}

function rootNamed(name: string): Reference {
  if (!isRoot(name)) {
    throw new Refusal(`Expected a name that begins with inputs, steps, run, item or index, got ${name}.`);
  }
  if (name === "inputs" || name === "steps") {
    throw new Refusal(`Expected ${name} to be followed by a name, as in ${name}.name.`);
  }
  return { root: name };
}

/** `inputs.name`, `steps["name"]`. */
function memberOf(node: ASTNode): (Reference & { readonly name: string }) | undefined {
  if (node.op !== "." && node.op !== "[]") return undefined;
  const [of, member] = node.args;
  if (of.op !== "id" || (of.args !== "inputs" && of.args !== "steps")) return undefined;
  const name = typeof member === "string" ? member : member.op === "value" ? member.args : undefined;
  return typeof name === "string" ? { root: of.args, name } : undefined;
}
