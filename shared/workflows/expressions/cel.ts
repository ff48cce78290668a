/** Expressions in CEL: bounded in what is written when they are compiled, and in what they do when they run. */
import { Environment } from "@marcbachmann/cel-js";

import { LIMITS } from "#shared/limits.ts";

import { evaluate } from "./evaluate.ts";
import { inspect } from "./inspect.ts";
import type { Reference, Resolved, Scope } from "./scope.ts";
import { plain } from "./values.ts";
import { ExpressionFault, Work } from "./work.ts";

export interface CelExpression {
  readonly references: readonly Reference[];
  evaluate(scope: Scope): Resolved;
}

const { expressionNodesMax: maxAstNodes, expressionDepthMax: maxDepth, expressionItemsMax: maxListElements } = LIMITS;
const parser = new Environment({
  limits: { maxAstNodes, maxDepth, maxListElements, maxMapEntries: maxListElements },
});

/** @returns the expression, or why it may not stand in a definition */
export function compileCel(text: string): CelExpression | { readonly fault: string } {
  let ast;
  try {
    ({ ast } = parser.parse(text));
  } catch (error) {
    return { fault: `Expected an expression in CEL: ${firstLine(error)}` };
  }
  const inspected = inspect(ast);
  if ("fault" in inspected) return inspected;
  const { references } = inspected;
  const resolve = (scope: Scope): Resolved => {
    try {
      return plain(evaluate(ast, { scope, work: new Work() }));
    } catch (error) {
      if (!(error instanceof ExpressionFault)) throw error;
      return { fault: error.message };
    }
  };
  if (references.length > 0) return { references, evaluate: resolve };
  // What names nothing has one value, or one fault, now and in every run.
  const constant = resolve({ inputs: {}, steps: {}, run: { id: "", attempt: 1 } });
  return "fault" in constant ? constant : { references, evaluate: () => constant };
}

function firstLine(error: unknown): string {
  const [line = ""] = (error instanceof Error ? error.message : String(error)).split("\n", 1);
  return line.endsWith(".") ? line : `${line}.`;
}
