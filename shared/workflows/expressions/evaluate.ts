/**
 * Evaluates a parsed expression. The library is used only for parsing: its evaluation does not limit work, and keeps a type for every shape
 * of value for the life of the process (45 KB for 30 levels, measured).
 */
import type { ASTNode } from "@marcbachmann/cel-js";

import { FUNCTIONS, METHODS } from "./functions.ts";
import { applyBinary, isObject, keysOf, negate } from "./operators.ts";
import { type Scope, UNSAFE_KEYS } from "./scope.ts";
import { ExpressionFault, FAULT_UNITS, ITEM_UNITS, NODE_UNITS, typeOf, type Work, WorkExceeded } from "./work.ts";

export interface Evaluation {
  readonly scope: Scope;
  readonly work: Work;
}

/** A variable of a macro, and those of enclosing macros. */
interface Bound {
  readonly name: string;
  readonly value: unknown;
  readonly outer: Bound | undefined;
}

/** Macros: each evaluates its last arguments for every item of a list. */
export const LIST_MACROS = ["all", "exists", "exists_one", "filter", "map"] as const;
type ListMacro = (typeof LIST_MACROS)[number];

/** @throws ExpressionFault */
export function evaluate(node: ASTNode, on: Evaluation, bound?: Bound): unknown {
  const { work } = on;
  work.spend(NODE_UNITS);
  const of = (one: ASTNode): unknown => evaluate(one, on, bound);
  switch (node.op) {
    case "value":
      return node.args;
    case "id":
      return variable(node.args, on, bound);
    case ".":
      return memberOf(of(node.args[0]), node.args[1], node.args[1]);
    case "[]": {
      const [list, key] = node.args;
      return memberOf(of(list), of(key), key.op === "value" ? String(key.args) : "The member in []");
    }
    case "list":
      return node.args.map(of);
    case "map":
      return Object.fromEntries(node.args.map(([key, value]) => [nameOf(of(key)), of(value)]));
    case "?:":
      return truth(of(node.args[0]), "?") ? of(node.args[1]) : of(node.args[2]);
    case "||":
    case "&&":
      return decide(node.op === "||", node.args, (one) => truth(of(one), node.op), work);
    case "!_":
      return !truth(of(node.args), "!");
    case "-_":
      return negate(of(node.args));
    case "call":
      return call(node.args[0], node.args[1], on, bound);
    case "rcall":
      return callMethod(node.args, on, bound);
    case ".?":
    case "[?]":
      throw new Error(`no expression that is compiled has the operator ${node.op}`);
    default:
      return applyBinary(node.op, of(node.args[0]), of(node.args[1]), work);
  }
}

function variable(name: string, { scope }: Evaluation, bound: Bound | undefined): unknown {
  for (let one = bound; one !== undefined; one = one.outer) if (one.name === name) return one.value;
  return memberOf(scope, name, name);
}

/** Own members only; members of null are null, so that a skipped step reads as null. */
function memberOf(value: unknown, key: unknown, shown: string): unknown {
  if (value === null) return null;
  if (Array.isArray(value) && (typeof key === "bigint" || typeof key === "number")) {
    const at = Number(key);
    if (Number.isInteger(at) && at >= 0 && at < value.length) return value[at];
  }
  if (isObject(value) && typeof key === "string" && Object.hasOwn(value, key) && value[key] !== undefined) {
    return value[key];
  }
  throw new ExpressionFault(`${shown} does not exist.`);
}

function nameOf(value: unknown): string {
  if (typeof value !== "string") throw new ExpressionFault(`Expected text as a member's name, got ${typeOf(value)}.`);
  if (UNSAFE_KEYS.has(value)) throw new ExpressionFault(`Expected no member named ${value}.`);
  return value;
}

function truth(value: unknown, where: string): boolean {
  if (typeof value === "boolean") return value;
  throw new ExpressionFault(`Expected true or false for ${where}, got ${typeOf(value)}.`);
}

/** Evaluates `||` and exists() (decided by true), `&&` and all() (decided by false): a deciding part outweighs faults of others. */
function decide<T>(by: boolean, parts: readonly T[], judge: (part: T) => boolean, work: Work): boolean {
  let fault: ExpressionFault | undefined;
  for (const part of parts) {
    try {
      if (judge(part) === by) return by;
    } catch (error) {
      if (!(error instanceof ExpressionFault) || error instanceof WorkExceeded) throw error;
      work.spend(FAULT_UNITS);
      fault ??= error;
    }
  }
  if (fault) throw fault;
  return !by;
}

function call(name: string, args: readonly ASTNode[], on: Evaluation, bound: Bound | undefined): unknown {
  if (name === "has") return isThere(args[0], on, bound);
  const values = args.map((one) => evaluate(one, on, bound));
  return found(FUNCTIONS.get(name), name).run(on.work, ...values);
}

/** `has(a.b)`: returns true if `a` has an own member `b`. */
function isThere(member: ASTNode | undefined, on: Evaluation, bound: Bound | undefined): boolean {
  if (member?.op !== ".") throw new Error("no expression that is compiled has has() of another form");
  const [of, name] = member.args;
  // `inputs` and `steps` can be tested without being referenced.
  const value = of.op === "id" ? variable(of.args, on, bound) : evaluate(of, on, bound);
  return isObject(value) && Object.hasOwn(value, name) && value[name] !== undefined;
}

function callMethod(
  [name, receiver, args]: readonly [string, ASTNode, readonly ASTNode[]],
  on: Evaluation,
  bound: Bound | undefined,
): unknown {
  const [first, second, third] = args;
  if (name === "bind" && first?.op === "id" && second && third) {
    return evaluate(third, on, { name: first.args, value: evaluate(second, on, bound), outer: bound });
  }
  const value = evaluate(receiver, on, bound);
  if (isListMacro(name) && first?.op === "id" && second) {
    const items = itemsOf(name, value, on.work);
    const inside = (part: ASTNode) => (item: unknown) =>
      evaluate(part, on, { name: first.args, value: item, outer: bound });
    return goThrough(name, items, inside(second), third && inside(third), on.work);
  }
  const values = args.map((one) => evaluate(one, on, bound));
  return found(METHODS.get(name), name).run(on.work, value, ...values);
}

/** Returns the items of a list, or the keys of an object. */
function itemsOf(name: string, value: unknown, work: Work): readonly unknown[] {
  if (Array.isArray(value)) return value;
  if (isObject(value)) return keysOf(value, work);
  throw new ExpressionFault(`Expected a list or an object for ${name}(), got ${typeOf(value)}.`);
}

type OfItem = (item: unknown) => unknown;

function goThrough(name: ListMacro, items: readonly unknown[], body: OfItem, last: OfItem | undefined, work: Work) {
  const holds = (item: unknown): boolean => {
    work.spend(ITEM_UNITS);
    return truth(body(item), `${name}()`);
  };
  switch (name) {
    case "all":
      return decide(false, items, holds, work);
    case "exists":
      return decide(true, items, holds, work);
    case "exists_one":
      return items.filter(holds).length === 1;
    case "filter":
      return items.filter(holds);
    case "map":
      return last ? items.filter(holds).map(last) : items.map(body);
    default:
      return name satisfies never;
  }
}

export function isListMacro(name: string): name is ListMacro {
  return (LIST_MACROS as readonly string[]).includes(name);
}

function found<T>(one: T | undefined, name: string): T {
  if (one === undefined) throw new Error(`no expression that is compiled calls ${name}()`);
  return one;
}
