/** Expressions in CEL: bounded in what is written when they are compiled, and in what they do when they run. */
import { Environment } from "@marcbachmann/cel-js";

import { LIMITS } from "#shared/limits.ts";

import { evaluate } from "./evaluate.ts";
import { inspect } from "./inspect.ts";
import type { Reference, Resolved, Scope } from "./scope.ts";
import { plain } from "./values.ts";
import { ExpressionFault, PARSED_UNITS, Work } from "./work.ts";

export interface CelExpression {
  readonly references: readonly Reference[];
  /** @param work what it may do together with others */
  evaluate(scope: Scope, work?: Work): Resolved;
}

const { expressionNodesMax: maxAstNodes, expressionDepthMax: maxDepth, expressionItemsMax: maxListElements } = LIMITS;
const parser = new Environment({
  limits: { maxAstNodes, maxDepth, maxListElements, maxMapEntries: maxListElements },
});

/**
 * @param reading what may be done for all that is read together
 * @returns the expression, or why it may not stand in a definition
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
  const { expressionWorkMax, constantWorkMax } = LIMITS;
  if (references.length === 0) {
    // What names nothing has one value, or one fault, now and in every run.
    const work = new Work(constantWorkMax, reading);
    const constant = resolve({ inputs: {}, steps: {}, run: { id: "", attempt: 1 } }, work);
    if (isTooMuch(reading)) return TOO_MUCH;
    if ("fault" in constant) return constant;
    return { references, evaluate: () => constant };
  }
  return { references, evaluate: (scope, within) => resolve(scope, new Work(expressionWorkMax, within)) };
}

const TOO_MUCH = {
  fault:
    "Expected expressions that are read with less work in all: fewer or shorter ones, and inputs or steps in place of constants.",
};

function isTooMuch(reading: Work | undefined): boolean {
  return reading !== undefined && reading.left < 0;
}

function firstLine(error: unknown): string {
  const [line = ""] = (error instanceof Error ? error.message : String(error)).split("\n", 1);
  return line.endsWith(".") ? line : `${line}.`;
}
