/** Spoils an answer that was written well: the filter stops it, or its calls lose their arguments. */
import type { Tokenizer } from "#shared/tokens/tokenizer.ts";

import type { Answer, Choice } from "./answer.ts";
import { interruptedAfter } from "./faults.ts";
import { cutText } from "./limit.ts";
import type { SandboxModel } from "./models.ts";
import type { ToolCall } from "./tools.ts";

/** The answer as the model gives it; its tokens are those that are left. */
export function spoil(answer: Answer, model: SandboxModel, tokenizer: Tokenizer): Answer {
  const { spoils } = model;
  if (spoils === undefined) return answer;
  const change = (choice: Choice): Choice =>
    spoils === "filtered"
      ? filter(choice, model, tokenizer)
      : withInputs(choice, tokenizer, spoils === "empty arguments" ? () => "{}" : firstHalf);
  return { ...answer, choices: answer.choices.map(change) };
}

/** The first tokens of the text; calls are not made. */
function filter(choice: Choice, model: SandboxModel, tokenizer: Tokenizer): Choice {
  const cut = cutText(choice.text ?? "", interruptedAfter(model, choice.tokens - choice.reasoningTokens), tokenizer);
  const tokens = choice.reasoningTokens + cut.tokens;
  return { ...choice, text: cut.text, calls: [], finish: "content_filter", tokens };
}

/** Functions alone: what a custom tool is given has no form to miss. */
function withInputs(choice: Choice, tokenizer: Tokenizer, inputOf: (input: string) => string): Choice {
  let { tokens } = choice;
  const calls = choice.calls.map((call): ToolCall => {
    if (call.type !== "function") return call;
    const input = inputOf(call.input);
    tokens += tokenizer.count(input) - tokenizer.count(call.input);
    return { ...call, input };
  });
  return { ...choice, calls, tokens };
}

/** The beginning of a JSON object is never JSON. */
function firstHalf(input: string): string {
  return input.slice(0, Math.ceil(input.length / 2)).toWellFormed();
}
