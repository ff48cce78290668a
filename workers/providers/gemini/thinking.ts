/** `reasoning_effort` → thinkingConfig. Source: ai.google.dev/gemini-api/docs/thinking, …/docs/openai. */
import type { Trait } from "#shared/calls/model.ts";

import type { Members } from "../json.ts";
import { unsupported } from "./rejected.ts";

/** Tokens of thought for each effort, as Google's own OpenAI-compatible endpoint sets them. */
const BUDGETS: Readonly<Record<string, number>> = { none: 0, minimal: 1_024, low: 1_024, medium: 8_192, high: 24_576 };
const LEVELS: Readonly<Record<string, string>> = {
  none: "minimal",
  minimal: "minimal",
  low: "low",
  medium: "medium",
  high: "high",
};

/**
 * Undefined leaves the model its ways. Thoughts are shown wherever the model surely has any: asked for where there are
 * none, they are an error.
 * @throws ProviderError `rejected` for an effort the model has not
 */
export function thinkingConfig(effort: string | undefined, traits: ReadonlySet<Trait>): Members | undefined {
  if (traits.has("no_reasoning")) {
    if (effort === undefined || effort === "none") return undefined;
    throw unsupported("reasoning_effort", `This model does not reason; expected none, got ${quote(effort)}.`);
  }
  const isBudgeted = traits.has("reasoning_by_budget");
  const isAlways = traits.has("reasoning_always");
  if (effort === undefined) return isBudgeted && !isAlways ? undefined : { includeThoughts: true };
  if (!Object.hasOwn(BUDGETS, effort) || (effort === "none" && isAlways)) {
    const known = Object.keys(BUDGETS).filter((name) => name !== "none" || !isAlways);
    throw unsupported("reasoning_effort", `Expected one of ${known.join(", ")} for this model, got ${quote(effort)}.`);
  }
  const shown = effort === "none" ? {} : { includeThoughts: true };
  if (isBudgeted) return { thinkingBudget: BUDGETS[effort], ...shown };
  // Models that always think have no level below low.
  return { thinkingLevel: isAlways && effort === "minimal" ? "low" : LEVELS[effort], ...shown };
}

function quote(text: string): string {
  return JSON.stringify(text);
}
