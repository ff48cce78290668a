/** Compiles and evaluates CEL expressions, with limited size at compilation and limited work at evaluation. */
import { type ASTNode, Environment } from "@marcbachmann/cel-js";

import { FUNCTIONS, METHODS } from "./functions.ts";
import { applyBinary, isObject, keysOf, negate } from "./operators.ts";
import { isRoot, type Reference, type Resolved, type Scope, UNSAFE_KEYS } from "./scope.ts";
import { plain } from "./values.ts";
import {
  ExpressionFault,
  FAULT_UNITS,
  ITEM_UNITS,
  NODE_UNITS,
  PARSED_UNITS,
  typeOf,
  Work,
  WorkExceeded,
} from "./work.ts";

export const EXPRESSION_NODES_MAX = 200;
export const EXPRESSION_DEPTH_MAX = 20;

/** Maximum number of items in a list literal. */
const EXPRESSION_ITEMS_MAX = 1_000;

/**
 * Maximum work of one evaluation, in units. A character costs 1, an item 4, a member or a node of the expression 10. The maximum takes 30
 * ms and 25 MB, measured.
 */
export const EXPRESSION_WORK_MAX = 2_000_000;

/** Maximum work of an expression without references, in units. It is evaluated when the definition is read. */
export const CONSTANT_WORK_MAX = 10_000;

interface CelExpression {
  readonly references: readonly Reference[];
  /** Evaluates the expression. @param work limit shared with other expressions */
  evaluate(scope: Scope, work?: Work): Resolved;
}

const parser = new Environment({
  limits: {
    maxAstNodes: EXPRESSION_NODES_MAX,
    maxDepth: EXPRESSION_DEPTH_MAX,
    maxListElements: EXPRESSION_ITEMS_MAX,
    maxMapEntries: EXPRESSION_ITEMS_MAX,
  },
});

/**
 * Compiles a CEL expression.
 * @param reading work limit for compiling, shared with other expressions of the same request; default: no limit
 * @returns the expression, or the reason why it is invalid
 */
export function compileCel(text: string, reading?: Work): CelExpression | { readonly fault: string } {
  reading?.count(text.length * PARSED_UNITS);
  if (isTooMuch(reading)) return TOO_MUCH;
  let ast;
  try {
    ({ ast } = parser.parse(text));
  } catch (error) {
    return { fault: `Expected an expression in CEL: ${firstLine(error)}` };
  }
  const inspected = inspect(ast);
  if ("fault" in inspected) return inspected;
  const { references } = inspected;
  const resolve = (scope: Scope, work: Work): Resolved => {
    try {
      return plain(evaluate(ast, { scope, work }));
    } catch (error) {
      if (!(error instanceof ExpressionFault)) throw error;
      return { fault: error.message };
    }
  };
  if (references.length === 0) {
    // An expression without references has the same value, or the same fault, in every run.
    const work = new Work(CONSTANT_WORK_MAX, reading);
    const constant = resolve({ inputs: {}, steps: {}, run: { id: "", attempt: 1 } }, work);
    if (isTooMuch(reading)) return TOO_MUCH;
    if ("fault" in constant) return constant;
    return { references, evaluate: () => constant };
  }
  return { references, evaluate: (scope, within) => resolve(scope, new Work(EXPRESSION_WORK_MAX, within)) };
}

const TOO_MUCH = {
  fault: "The expressions are too complex. Use fewer or shorter ones, and inputs or steps instead of constants.",
};

function isTooMuch(reading: Work | undefined): boolean {
  return reading !== undefined && reading.remaining < 0;
}

function firstLine(error: unknown): string {
  const [line = ""] = (error instanceof Error ? error.message : String(error)).split("\n", 1);
  return line.endsWith(".") ? line : `${line}.`;
}

// Checks the names and calls of a parsed expression: a definition may use only what is listed here.

type Names = ReadonlySet<string>;

const CALLED = ["has", ...FUNCTIONS.keys()];
/** List macros. Each evaluates its last arguments for every item of a list. */
const LIST_MACROS = ["all", "exists", "exists_one", "filter", "map"] as const;
const METHOD_NAMES = [...METHODS.keys(), ...LIST_MACROS, "cel.bind"];
/** Limit of 64-bit integers. The minimum is written as the negation of this value. */
const INTEGER_MAX = 2n ** 63n;

class Refusal extends Error {}

/** Checks an expression and finds its references. @returns the references, or the reason why the expression is invalid */
function inspect(root: ASTNode): { readonly references: readonly Reference[] } | { readonly fault: string } {
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
  const named = referenceOf(node);
  if (named && node.op !== "id") {
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
      if (node.args[0] === "has") into.push(...testedBy(node.args[1], names));
      else all(node.args[1]);
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

/** Returns the references of the argument of has(). The member that it tests may be absent, so it is no part of the reference. */
function testedBy(args: readonly ASTNode[], names: Names): readonly Reference[] {
  const found: Reference[] = [];
  for (const one of args) visit(one, names, found);
  const [tested] = args;
  const isWhole = tested !== undefined && referenceOf(tested) !== undefined;
  return isWhole ? found.map((one) => ({ ...one, members: one.members.slice(0, -1) })) : found;
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
  return { root: name, members: [] };
}

/**
 * Returns the reference of a syntax node such as `inputs.name`, `steps["name"].output` or `run.id`; undefined for other nodes. Names of
 * roots are no variables of macros.
 */
function referenceOf(node: ASTNode): Reference | undefined {
  if (node.op === "id") return isRoot(node.args) ? { root: node.args, members: [] } : undefined;
  if (node.op !== "." && node.op !== "[]") return undefined;
  const [of, member] = node.args;
  const value = typeof member === "string" ? member : member.op === "value" ? member.args : undefined;
  const owner = referenceOf(of);
  if (typeof value !== "string" || !owner) return undefined;
  const isNamed = owner.root !== "inputs" && owner.root !== "steps";
  if (isNamed || owner.name !== undefined) return { ...owner, members: [...owner.members, value] };
  return { root: owner.root, name: value, members: [] };
}

// Evaluates a parsed expression. The library is used only for parsing: its evaluation does not limit work, and keeps a type for every shape
// of value for the life of the process (45 KB for 30 levels, measured).

interface Evaluation {
  readonly scope: Scope;
  readonly work: Work;
}

/** Variable of a macro, and variables of the enclosing macros. */
interface Bound {
  readonly name: string;
  readonly value: unknown;
  readonly outer: Bound | undefined;
}

type ListMacro = (typeof LIST_MACROS)[number];

/**
 * Evaluates a syntax node and returns its value.
 * @param bound innermost variable of the enclosing macros; undefined outside of macros
 * @throws ExpressionFault
 */
function evaluate(node: ASTNode, on: Evaluation, bound?: Bound): unknown {
  const { work } = on;
  work.spend(NODE_UNITS);
  const of = (one: ASTNode): unknown => evaluate(one, on, bound);
  switch (node.op) {
    case "value":
      return node.args;
    case "id":
      return variable(node.args, on, bound);
    case ".":
      return memberValue(of(node.args[0]), node.args[1], node.args[1]);
    case "[]": {
      const [list, key] = node.args;
      return memberValue(of(list), of(key), key.op === "value" ? String(key.args) : "The member in []");
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
  return memberValue(scope, name, name);
}

/**
 * Returns a member of an object or an item of a list. Inherited members do not exist. Members of null are null, so that a skipped step
 * reads as null.
 * @throws ExpressionFault if there is no such member or item
 */
function memberValue(value: unknown, key: unknown, displayedKey: string): unknown {
  if (value === null) return null;
  if (Array.isArray(value) && (typeof key === "bigint" || typeof key === "number")) {
    const at = Number(key);
    if (Number.isInteger(at) && at >= 0 && at < value.length) return value[at];
  }
  if (isObject(value) && typeof key === "string" && Object.hasOwn(value, key) && value[key] !== undefined) {
    return value[key];
  }
  throw new ExpressionFault(`${displayedKey} does not exist.`);
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

/**
 * Evaluates `||` and exists() (decided by true), and `&&` and all() (decided by false). If one operand decides the result, errors of the
 * others are ignored.
 */
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

/** Evaluates `has(a.b)`: returns true if `a` has an own member `b`. */
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

function isListMacro(name: string): name is ListMacro {
  return (LIST_MACROS as readonly string[]).includes(name);
}

function found<T>(one: T | undefined, name: string): T {
  if (one === undefined) throw new Error(`no expression that is compiled calls ${name}()`);
  return one;
}
