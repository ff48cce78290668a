import { parser } from "@lezer/python";
import { RE2JS } from "re2js";

import { MediaError } from "#shared/children/media-error.ts";
import { CAPABILITY_PARAM_BYTES_MAX, CAPABILITY_TEXT_BYTES_MAX } from "#workers/capabilities/limits.ts";

import { defineCapability, input } from "../define.ts";
import { custom, number } from "../params.ts";
import { textOf } from "../text.ts";
import { runMonty, tooLargeValue } from "./monty.ts";
import { collectPrinted } from "./printed.ts";

export default defineCapability({
  id: "code.run_python",
  display_name: "Run Python subset",
  description: "Runs a script in a subset of Python in a sandbox and returns its last value and what it printed.",
  long_description:
    "The script runs in Monty, an interpreter for a subset of Python, in its own process. Supported: functions, simple classes, " +
    "comprehensions, exceptions, f-strings and a few modules such as `json`, `math` and `re`. Not supported: network, files, environment. " +
    "Constructs that behave differently from CPython are refused before the run with their line. Examples are decorators other than `dataclass` " +
    "and stored iterators, such as `m = map(…)`. Known differences: sets keep the insertion order, and equal keys such as 1 and True " +
    "keep the last one. Floats overflow to infinity, NaN equals itself in lists, and `$` of `re` matches only at the very end. " +
    "The limits are 64 MB of memory, five seconds of execution time, and 1,000 printed lines of 2,000 characters. `args` is a global. The result is the value of the last expression as " +
    "JSON: tuples and sets become arrays, bytes Base64, and integers that a double cannot hold text.",
  output_modality: "text",
  input: { code: input("text", "The script.", { takesText: true }) },
  params: {
    args: custom<object, { readonly default: object }>(
      {
        description: "Value of the global `args` in the script, as a dict, at most 65536 bytes as JSON.",
        type: "object",
      },
      { default: {} },
    ),
    timeout: number("Maximum execution time in seconds.", { min: 0.1, max: 5, unit: "s", default: 2 }),
  },
  rules: [{ rule: "short", path: "params.args", bytesMax: CAPABILITY_PARAM_BYTES_MAX }],
  sample_input: {
    code: { text: "n = args.get('n', 10)\nprint('up to', n)\nsum(range(n))" },
  },
  examples: [
    { title: "Without arguments", params: {} },
    { title: "With an argument", params: { args: { n: 100 } } },
  ],
  price: { unit: "per_second", second_price: "0.05" },
  engine: "python",
  async run({ params, inputs }) {
    const code = await textOf(inputs.code);
    checkPython(code);
    const printed = collectPrinted();
    const { timeout } = params;
    const value = await runMonty({ code, args: params.args, timeout, onPrint: (text) => printed.write(text) });
    const json = JSON.stringify(value);
    if (Buffer.byteLength(json) > CAPABILITY_TEXT_BYTES_MAX) throw tooLargeValue();
    const { lines, notes } = printed.end();
    return { output: { value: JSON.parse(json) as unknown, printed: lines }, notes };
  },
});

// Rejects Python that Monty accepts but runs differently from CPython. Monty itself rejects unsupported constructs.

type SyntaxNode = ReturnType<typeof parser.parse>["topNode"];

const names = (text: string): ReadonlySet<string> => new Set(text.split(" "));

/** Builtins that return lists in Monty and iterators in CPython. A script that depends on the difference is rejected. */
const LAZY = names("map filter zip enumerate reversed");
/** Callables that read their whole first argument at once. */
const READERS = names("list tuple set frozenset sorted sum min max dict Counter deque");
const READER_METHODS = names("join extend update union intersection difference fromkeys prod fsum Counter deque");
/** Functions that may stop before the end of their argument, or that read several arguments alternately. */
const STOPPING = names("any all map filter zip enumerate reversed");
const PURE = names("abs all any bool bytes chr dict divmod enumerate filter float frozenset hasattr int isinstance len list map max min ord pow range repr reversed round set sorted str sum tuple type zip"); // prettier-ignore
const MUTATORS = names("add append appendleft clear discard extend insert pop popitem popleft remove reverse rotate setdefault sort update"); // prettier-ignore
const COMPREHENSIONS = names("ArrayComprehensionExpression SetComprehensionExpression DictionaryComprehensionExpression ComprehensionExpression ArgList"); // prettier-ignore
const SPECIAL_METHODS = names("__init__ __repr__ __str__ __eq__ __lt__ __hash__ __iter__ __enter__ __exit__");
const SET_UPDATES = names("|= &= -= ^=");
const SETS = names("SetExpression SetComprehensionExpression");
const EMPTY_MATCHES = names("sub subn split findall finditer");
/** Methods whose results in Monty differ from CPython's, each with an alternative for the error message. */
const METHODS: ReadonlyMap<string, string> = new Map([
  ["casefold", "lower"],
  ["center", 'a format such as f"{x:^9}"'],
]);

/**
 * Checks that Monty runs a script with the same result as CPython.
 * @throws MediaError `unsupported` that names the construct and its line
 */
function checkPython(code: string): void {
  const root = parser.parse(code).topNode;
  checkDepth(root);
  const text = (node: SyntaxNode | null | undefined): string => (node ? code.slice(node.from, node.to) : "");
  const { defined, sets, isPure } = readScript(root, text);
  const isBuiltin = (node: SyntaxNode | null, of: ReadonlySet<string>): boolean =>
    node?.name === "VariableName" && of.has(text(node)) && !defined.has(text(node));

  const refuse = (node: SyntaxNode, what: string, instead = ""): never => {
    const line = code.slice(0, node.from).split("\n").length;
    const hint = instead === "" ? "" : ` Use ${instead}.`;
    throw new MediaError("unsupported", `Expected Python without ${what}, which does not run here as in CPython (line ${line}).${hint}`); // prettier-ignore
  };

  const checkLazy = (node: SyntaxNode, what: string): void => {
    const use = useOf(node, text, isBuiltin);
    if (use === undefined) refuse(node, `${what} that is kept or passed on`, "list(…) around it");
    if (use !== "in turns") return;
    const callback = ["map", "filter"].includes(what) ? node.lastChild?.firstChild?.nextSibling : undefined;
    if (!isPure(node, callback)) {
      refuse(node, `${what} with side effects whose values are used one by one`, "a list comprehension in brackets");
    }
    const body = node.parent?.name === "ForStatement" ? node.parent.getChild("Body") : null;
    const changed =
      body && [...argumentsOf(node)].find((one) => one.name === "VariableName" && changes(body, text(one), text));
    if (changed) refuse(node, `${what} of a list that its loop changes`, "a copy of the list");
  };

  const rules: Readonly<Record<string, (node: SyntaxNode) => void>> = {
    Decorator(node) {
      const isDataclass = /^@\s*(?:dataclasses\.)?dataclass\b/.test(text(node)) && !defined.has("def dataclass");
      if (!isDataclass || !node.parent?.getChild("ClassDefinition"))
        refuse(node, `the decorator ${text(node).trim().split("(")[0]}`);
    },
    ComprehensionExpression: (node) => checkLazy(node, "a generator expression"),
    ArgList: (node) => node.getChild("for") && checkLazy(node, "a generator expression"),
    CallExpression(node) {
      const callee = node.firstChild;
      if (isBuiltin(callee, LAZY)) checkLazy(node, text(callee));
      if (callee?.name !== "MemberExpression") return;
      const method = text(callee.lastChild);
      const instead = METHODS.get(method);
      if (instead !== undefined) refuse(node, `the method ${method}`, instead);
      if (text(callee.firstChild) === "re") checkPattern(node, method);
    },
    UpdateStatement(node) {
      const [target, update, value] = [node.firstChild, node.getChild("UpdateOp"), node.lastChild];
      const isSet = isSetOf(value, text) || (target?.name === "VariableName" && sets.has(text(target)));
      if (isSet && SET_UPDATES.has(text(update)))
        refuse(node, `${text(update)} of a set`, `x = x ${text(update)[0]} y`);
    },
    FunctionDefinition(node) {
      const name = text(node.getChild("VariableName"));
      const isMethod = node.parent?.parent?.name === "ClassDefinition";
      if (isMethod && name.startsWith("__") && !SPECIAL_METHODS.has(name)) refuse(node, `the method ${name}`);
    },
    AssignStatement(node) {
      const name = text(node.firstChild);
      const isField = node.parent?.parent?.name === "ClassDefinition";
      if (isField && name.startsWith("__")) refuse(node, `the class attribute ${name}`);
    },
    VariableName(node) {
      // Under another name, the function would not be recognized.
      if (isBuiltin(node, LAZY) && isValue(node))
        refuse(node, `${text(node)} as a value`, "a lambda that returns list(…)");
    },
    TypeDef(node) {
      if (text(node).includes("(")) refuse(node, "a call in an annotation");
    },
    PropertyName(node) {
      if (/^__.*(?<!__)$/.test(text(node)))
        refuse(node, `the private attribute ${text(node)}`, "a name with one underscore");
    },
  };

  const checkPattern = (node: SyntaxNode, method: string): void => {
    const [first] = argumentsOf(node);
    const literal = first?.name === "String" ? /^([rR]?)("""|'''|"|')([^]*)\2$/.exec(text(first)) : null;
    if (!literal || !EMPTY_MATCHES.has(method)) return;
    const pattern = literal[1] === "" ? (literal[3] ?? "").replaceAll("\\\\", "\\") : (literal[3] ?? "");
    if (method === "split" && /(?<!\\)(?:\\\\)*\((?!\?)/.test(pattern)) refuse(node, "re.split with groups");
    if (matchesEmpty(pattern)) refuse(node, `re.${method} with a pattern that matches the empty text`);
  };

  root.cursor().iterate((at) => {
    rules[at.name]?.(at.node);
  });
}

/** Maximum depth of a script's syntax tree. Visiting a node takes time in proportion to its depth. */
const DEPTH_MAX = 1_000;

function checkDepth(root: SyntaxNode): void {
  let depth = 0;
  root.cursor().iterate(
    () => {
      depth += 1;
      if (depth > DEPTH_MAX) throw new MediaError("too_large", `Expected Python nested at most ${DEPTH_MAX} deep.`);
    },
    () => {
      depth -= 1;
    },
  );
}

type Text = (node: SyntaxNode | null | undefined) => string;

/** Returns the time at which the values of an iterator are read: `at once`, `in turns` with other code, or undefined for later. */
function useOf(node: SyntaxNode, text: Text, isBuiltin: (node: SyntaxNode | null, of: ReadonlySet<string>) => boolean) {
  const isArguments = node.name === "ArgList";
  const list = isArguments ? node : node.parent;
  const before = isArguments ? null : node.prevSibling;
  if (list?.name === "ParenthesizedExpression") return undefined;
  if (text(before) === "*") return "at once";
  if (text(before) === "in" && list) {
    return COMPREHENSIONS.has(list.name) || ["ForStatement", "BinaryExpression"].includes(list.name)
      ? "in turns"
      : undefined;
  }
  if (list?.name === "UpdateStatement") return "at once";
  if (list?.name === "AssignStatement") {
    const unpacks = list.getChild(",") !== null || /^(?:Tuple|Array)Expression$/.test(list.firstChild?.name ?? "");
    const isOnly =
      list.getChildren("AssignOp").length === 1 && before?.name === "AssignOp" && node.nextSibling === null;
    return unpacks && isOnly ? "at once" : undefined;
  }
  if (list?.name !== "ArgList" || before?.name === "AssignOp") return undefined;
  const callee = list.parent?.firstChild ?? null;
  if (isBuiltin(callee, STOPPING)) return "in turns";
  const isFirst = isArguments || text(before) === "(";
  const isReader =
    callee?.name === "MemberExpression" ? READER_METHODS.has(text(callee.lastChild)) : isBuiltin(callee, READERS);
  return isFirst && (isReader || (callee?.name === "VariableName" && READERS.has(text(callee))))
    ? "at once"
    : undefined;
}

const HOLDERS = names("AssignStatement NamedExpression ArgList ReturnStatement ArrayExpression TupleExpression DictionaryExpression SetExpression ConditionalExpression LambdaExpression ParamList"); // prettier-ignore

/** True if a name is read as a value, and neither called nor defined nor the name of an argument. */
function isValue(node: SyntaxNode): boolean {
  return HOLDERS.has(node.parent?.name ?? "") && !isTarget(node);
}

function isTarget({ parent, prevSibling, nextSibling }: SyntaxNode): boolean {
  if (/^(?:AssignOp|TypeDef)$/.test(nextSibling?.name ?? "")) return true;
  return parent?.name === "ParamList" && prevSibling?.name !== "AssignOp";
}

function* argumentsOf(call: SyntaxNode): Generator<SyntaxNode> {
  const list = call.name === "ArgList" ? call : call.getChild("ArgList");
  for (let node = list?.firstChild?.nextSibling; node; node = node.nextSibling) yield node;
}

function isSetOf(node: SyntaxNode | null, text: Text): boolean {
  return node !== null && (SETS.has(node.name) || (node.name === "CallExpression" && text(node.firstChild) === "set"));
}

/** True if the loop body calls a method that changes the list over which the loop iterates. */
function changes(body: SyntaxNode, list: string, text: Text): boolean {
  let found = false;
  body.cursor().iterate((at) => {
    if (at.name !== "MemberExpression") return;
    const { node } = at;
    if (node.parent?.name === "CallExpression")
      found ||= text(node.firstChild) === list && MUTATORS.has(text(node.lastChild));
  });
  return found;
}

/** Names of syntax nodes that define names or have side effects. */
const READ =
  /^(?:(?:Assign|Update|Scope|Delete|Yield)Statement|(?:Named|Await|Call)Expression|(?:Function|Class)Definition)$/;
/**
 * Maximum rounds of the search for functions that have side effects through other functions. If the search has not finished by then, all
 * functions count as having side effects.
 */
const ROUNDS_MAX = 10;

/** Analyses the script. Returns the names that it defines, the variables that are sets, and a function that tests for side effects. */
function readScript(root: SyntaxNode, text: Text) {
  const defined = new Set<string>();
  const sets = new Set<string>();
  const functions = new Map<string, readonly [number, number]>();
  /** Positions of side effects, and of calls of functions by name, in the order of the script. */
  const effects: { readonly at: number; readonly calls?: string }[] = [];
  root.cursor().iterate((visited) => {
    const { name, from } = visited;
    if (!READ.test(name)) return;
    const { node } = visited;
    const { firstChild } = node;
    if (name === "FunctionDefinition" || name === "ClassDefinition") {
      const own = text(node.getChild("VariableName"));
      defined.add(own).add(`def ${own}`);
      const body = node.getChild("Body");
      if (name === "FunctionDefinition" && body) functions.set(own, [body.from, body.to]);
    } else if (name === "AssignStatement" || name === "UpdateStatement") {
      for (let one = firstChild; one && !/^(?:Assign|Update)Op$/.test(one.name); one = one.nextSibling) {
        if (one.name === "VariableName") defined.add(text(one));
        if (one.name === "MemberExpression") effects.push({ at: from });
      }
      if (isSetOf(node.lastChild, text)) sets.add(text(firstChild));
    } else if (name !== "CallExpression") effects.push({ at: from });
    else if (firstChild?.name === "VariableName") effects.push({ at: from, calls: text(firstChild) });
    else {
      const isMethod = firstChild?.name === "MemberExpression" && !MUTATORS.has(text(firstChild.lastChild));
      if (!isMethod) effects.push({ at: from });
    }
  });
  const pure = new Set(functions.keys());
  const isPureName = (name: string): boolean => pure.has(name) || (PURE.has(name) && !defined.has(name));
  let isPureRange = (_from: number, _to: number): boolean => true;
  for (let round = 0; ; round++) {
    const impureAt = effects.filter(({ calls }) => calls === undefined || !isPureName(calls)).map(({ at }) => at);
    isPureRange = (from, to) => (impureAt[firstFrom(impureAt, from)] ?? to) >= to;
    const impure = [...pure].filter((name) => !isPureRange(...(functions.get(name) ?? [0, 0])));
    if (impure.length === 0) break;
    for (const name of round < ROUNDS_MAX ? impure : [...pure]) pure.delete(name);
  }
  const isPure = (node: SyntaxNode, callback: SyntaxNode | null | undefined): boolean => {
    if (callback?.name === "VariableName" && !isPureName(text(callback))) return false;
    if (callback?.name === "MemberExpression" && MUTATORS.has(text(callback.lastChild))) return false;
    return isPureRange(node.from, node.to);
  };
  return { defined, sets, isPure };
}

/** Returns the index of the first position at or after `from`. */
function firstFrom(positions: readonly number[], from: number): number {
  let [low, high] = [0, positions.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((positions[middle] ?? 0) < from) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** True if the pattern matches an empty text. False also for patterns that RE2 does not support, such as look-around. */
function matchesEmpty(pattern: string): boolean {
  try {
    return RE2JS.compile(pattern).matcher("").find();
  } catch {
    return false;
  }
}
