/** Compiles JSON values whose texts contain expressions, and resolves them. */
import { memberParam } from "#shared/json/contract-fault.ts";

import type { Reference, Resolved, Scope } from "./expressions/scope.ts";
import { UNSAFE_KEYS } from "./expressions/scope.ts";
import { compilingTemplate, BINDING_WORK_MAX } from "./expressions/template.ts";
import { bytesOf } from "./expressions/values.ts";
import { Work } from "./expressions/work.ts";

/** Maximum total bytes of all resolved expressions in a step's params or input. */
const BINDING_BYTES_MAX = 8_388_608;

/** An error in a definition, and its location. */
export interface DefinitionFault {
  /** JSON path of the error, such as `definition.steps[2].params.width`. */
  readonly param: string;
  readonly message: string;
}

/** A reference in an expression, and the location of the expression. */
export interface Placed {
  readonly reference: Reference;
  readonly param: string;
}

/** Location of a value that is known only during a run. */
export interface OpenPlace {
  /** JSON path of the value, within the bound value. */
  readonly path: readonly (string | number)[];
  /** The same JSON path, in the form used in error messages. */
  readonly param: string;
  /** True for an expression within other text. Its result is then known to be a text. */
  readonly isText: boolean;
}

/** Expressions that resolve to a value, and the references in them. */
export interface Resolvable {
  readonly references: readonly Placed[];
  /** Resolves the expressions. @param within work limit shared with other expressions */
  readonly resolve: (scope: Scope, within?: Work) => Resolved;
}

/** A text that contains expressions. */
export type BoundPlace = OpenPlace & Resolvable;

/** A value that contains expressions. Resolving it returns a copy of the value. */
export interface Binding extends Resolvable {
  /** JSON paths of texts that consist of a single expression. Before a run, the type of their value is unknown. */
  readonly open: readonly string[];
  /** All locations with expressions. */
  readonly places: readonly BoundPlace[];
}

/**
 * Bytes and evaluation work that the expressions may still use. A short definition can name a long value, or iterate over a list, many
 * times.
 */
interface Budget {
  bytes: number;
  readonly work: Work;
}

function budgetOf(within: Work | undefined): Budget {
  return { bytes: BINDING_BYTES_MAX, work: new Work(BINDING_WORK_MAX, within) };
}

type Resolve = (scope: Scope, budget: Budget) => Resolved;

const NO_SCOPE: Scope = { inputs: {}, steps: {}, run: { id: "", attempt: 1 } };

/**
 * Returns the value of a binding without references, which is the same in every run. Returns undefined if the binding contains references.
 */
export function constantOf({ references, resolve }: Binding): Resolved | undefined {
  return references.length === 0 ? resolve(NO_SCOPE) : undefined;
}

/** Error for a value whose expressions cannot be compiled. */
class BindingFault extends Error {
  readonly fault: DefinitionFault;

  constructor(fault: DefinitionFault) {
    super(fault.message);
    this.fault = fault;
  }
}

/**
 * Compiles a value that contains expressions, and yields between parts so that other calls on the thread can run. Returns the first error
 * if there is one.
 * @param at location of the value in the definition
 * @param reading work limit for compiling, shared with other values that are compiled for the same request; default: no limit
 */
export function* compilingBinding(
  value: unknown,
  at: string,
  reading?: Work,
): Generator<void, Binding | { readonly fault: DefinitionFault }> {
  try {
    return yield* compilingValue(value, at, reading);
  } catch (error) {
    if (error instanceof BindingFault) return { fault: error.fault };
    throw error;
  }
}

function* compilingValue(value: unknown, at: string, reading: Work | undefined): Generator<void, Binding> {
  const references: Placed[] = [];
  const open: string[] = [];
  const places: BoundPlace[] = [];

  const compileText = function* (text: string, place: string, path: OpenPlace["path"]): Generator<void, Resolve> {
    const template = yield* compilingTemplate(text, reading);
    if (template === undefined) return () => ({ value: text });
    if ("fault" in template) throw new BindingFault({ param: place, message: template.fault });
    const named = template.references.map((reference) => ({ reference, param: place }));
    for (const one of named) references.push(one);
    if (template.isAlone) open.push(place);
    const resolveText: Resolve = (scope, budget) => {
      const resolved = template.resolve(scope, budget.work);
      if ("fault" in resolved) return resolved;
      budget.bytes -= bytesOf(resolved.value, budget.bytes);
      if (budget.bytes >= 0) return resolved;
      return { fault: `Expected expressions to return at most ${BINDING_BYTES_MAX} bytes in total.` };
    };
    places.push({
      path,
      param: paramOf(path),
      isText: !template.isAlone,
      references: named,
      resolve: (scope, within) => resolveText(scope, budgetOf(within)),
    });
    return resolveText;
  };
  const compile = function* (one: unknown, place: string, path: OpenPlace["path"]): Generator<void, Resolve> {
    if (typeof one === "string") return yield* compileText(one, place, path);
    if (typeof one !== "object" || one === null) return () => ({ value: one });
    yield;
    if (Array.isArray(one)) {
      const items: Resolve[] = [];
      for (const [index, item] of one.entries())
        items.push(yield* compile(item, `${place}[${index}]`, [...path, index]));
      return (scope, budget) => resolveAll(items, scope, budget);
    }
    const keys = Object.keys(one);
    const unsafe = keys.find((name) => UNSAFE_KEYS.has(name));
    if (unsafe !== undefined) throw new BindingFault({ param: place, message: `Expected no member named ${unsafe}.` });
    const members: Resolve[] = [];
    for (const [key, member] of Object.entries(one))
      members.push(yield* compile(member, `${place}.${key}`, [...path, key]));
    return (scope, budget) => {
      const resolved = resolveAll(members, scope, budget);
      if ("fault" in resolved) return resolved;
      return { value: Object.fromEntries(keys.map((key, index) => [key, resolved.value[index]])) };
    };
  };

  const resolve = yield* compile(value, at, []);
  return {
    references,
    open,
    places,
    resolve: (scope, within) => resolve(scope, budgetOf(within)),
  };
}

function paramOf(path: OpenPlace["path"]): string {
  let param: string | null = null;
  for (const key of path) param = memberParam(param, String(key), typeof key === "number");
  return param ?? "";
}

function resolveAll(
  parts: readonly Resolve[],
  scope: Scope,
  budget: Budget,
): { readonly value: unknown[] } | { readonly fault: string } {
  const value: unknown[] = [];
  for (const part of parts) {
    const resolved = part(scope, budget);
    if ("fault" in resolved) return resolved;
    value.push(resolved.value);
  }
  return { value };
}
