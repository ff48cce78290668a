/** Expressions in CEL, with bounded size at compilation and bounded work at evaluation. */
import { Environment } from "@marcbachmann/cel-js";

import { evaluate } from "./evaluate.ts";
import { inspect } from "./inspect.ts";
import type { Reference, Resolved, Scope } from "./scope.ts";
import { plain } from "./values.ts";
import { ExpressionFault, PARSED_UNITS, Work } from "./work.ts";

export const EXPRESSION_NODES_MAX = 200;
export const EXPRESSION_DEPTH_MAX = 20;

/** Maximum items of a list literal. */
const EXPRESSION_ITEMS_MAX = 1_000;

/** Units of one evaluation: a character costs 1, an item 4, a member or a node of the expression 10. At most 30 ms and 25 MB, measured. */
export const EXPRESSION_WORK_MAX = 2_000_000;

/** Units of an expression without references, which is evaluated when the definition is read. */
export const CONSTANT_WORK_MAX = 10_000;

export interface CelExpression {
  readonly references: readonly Reference[];
  /** @param work limit shared with other expressions */
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
 * @param reading work limit shared by everything read together
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
  return reading !== undefined && reading.left < 0;
}

function firstLine(error: unknown): string {
  const [line = ""] = (error instanceof Error ? error.message : String(error)).split("\n", 1);
  return line.endsWith(".") ? line : `${line}.`;
}
