/** Renders an answer in OpenAI's format, either complete or as deltas of a stream with the same content. */
import { NO_USAGE } from "#shared/calls/pricing/usage.ts";
import type { TokenPiece, Tokenizer } from "#shared/tokens/tokenizer.ts";

import { readOpenAiUsage } from "../openai-compatible/usage.ts";
import type { ChatDelta, ChatResult, ChatUsage } from "../provider.ts";
import type { Answer, Choice } from "./answer.ts";
import type { SandboxModel } from "./models.ts";
import type { ToolCall } from "./tools.ts";

/** One delta and its number of output tokens. Streams are paced by this number. */
export interface PacedDelta {
  readonly delta: ChatDelta;
  readonly tokens: number;
}

export function renderResult(
  answer: Answer,
  model: SandboxModel,
  logprobs: number | null,
  tokenizer: Tokenizer,
): ChatResult {
  const choices = answer.choices.map((choice, index) => ({
    index,
    message: {
      role: "assistant",
      content: choice.text,
      refusal: null,
      ...(choice.reasoning === null ? {} : { reasoning_content: choice.reasoning }),
      ...(choice.calls.length === 0 ? {} : { tool_calls: choice.calls.map(renderCall) }),
    },
    logprobs: choice.text === null ? null : renderLogprobs(tokenizer, choice.text, logprobs),
    finish_reason: choice.finish,
  }));
  return { choices, usage: reportUsage(answer, model) };
}

/**
 * Yields the deltas of a stream. Each choice has a role, chunks of content and a finish reason. Choices are interleaved, and usage follows
 * alone at the end.
 */
export function* renderDeltas(
  answer: Answer,
  model: SandboxModel,
  logprobs: number | null,
  tokenizer: Tokenizer,
): Generator<PacedDelta, void, void> {
  const isInterleaved = model.writes === "interleaved calls";
  const streams = answer.choices.map((choice, index) =>
    choiceDeltas(choice, index, isInterleaved, logprobs, tokenizer),
  );
  for (const delta of takeInTurn(streams)) yield delta;
  const usage = reportUsage(answer, model);
  if (usage !== null) yield { delta: { choices: [], usage }, tokens: 0 };
}

function reportUsage(answer: Answer, model: SandboxModel): ChatUsage {
  const input = answer.inputTokens;
  const output = outputTokens(answer);
  const { reports } = model;
  if (reports === undefined) return { ...NO_USAGE, input, output, reasoning: reasoningTokens(answer) };
  return readOpenAiUsage(BAD_REPORTS[reports](input, output));
}

/** Usage reports of test models, in OpenAI's format. They are parsed like the reports of any provider. */
const BAD_REPORTS: Readonly<
  Record<NonNullable<SandboxModel["reports"]>, (input: number, output: number) => object | null>
> = {
  "no usage": () => null,
  "zero usage": () => ({ prompt_tokens: 0, completion_tokens: 0 }),
  "negative usage": (input, output) => ({ prompt_tokens: input, completion_tokens: -1 - output }),
  "fractional usage": (input, output) => ({ prompt_tokens: input, completion_tokens: output + 0.5 }),
  "absurd usage": (input) => ({ prompt_tokens: input, completion_tokens: 1e18 }),
};

export function outputTokens(answer: Answer): number {
  return answer.choices.reduce((sum, choice) => sum + choice.tokens, 0);
}

function reasoningTokens(answer: Answer): number {
  return answer.choices.reduce((sum, choice) => sum + choice.reasoningTokens, 0);
}

function* choiceDeltas(
  choice: Choice,
  index: number,
  isInterleaved: boolean,
  logprobs: number | null,
  tokenizer: Tokenizer,
): Generator<PacedDelta, void, void> {
  const event = (delta: Record<string, unknown>, tokens: number, more: Record<string, unknown> = {}): PacedDelta => ({
    delta: { choices: [{ index, delta, finish_reason: null, ...more }] },
    tokens,
  });
  yield event({ role: "assistant", content: choice.text === null ? null : "" }, 0);
  for (const { text, tokens } of choice.reasoning === null ? [] : tokenizer.pieces(choice.reasoning)) {
    yield event({ reasoning_content: text }, tokens);
  }
  for (const piece of choice.text === null ? [] : tokenizer.pieces(choice.text)) {
    yield event(
      { content: piece.text },
      piece.tokens,
      logprobs === null ? {} : { logprobs: logprobsOf([piece], logprobs) },
    );
  }
  const calls = choice.calls.map((call, at) => callDeltas(call, at, tokenizer));
  for (const { call, tokens } of isInterleaved ? takeInTurn(calls) : calls.flatMap((deltas) => [...deltas])) {
    yield event({ tool_calls: [call] }, tokens);
  }
  yield event({}, 0, { finish_reason: choice.finish });
}

interface CallDelta {
  readonly call: Record<string, unknown>;
  readonly tokens: number;
}

/** Yields the deltas of a tool call: its id and name first, then its arguments in chunks. */
function* callDeltas(call: ToolCall, index: number, tokenizer: Tokenizer): Generator<CallDelta, void, void> {
  const head = renderCall({ ...call, input: "" });
  yield { call: { index, ...head }, tokens: tokenizer.count(call.name) };
  for (const { text, tokens } of tokenizer.pieces(call.input)) {
    const piece = call.type === "function" ? { function: { arguments: text } } : { custom: { input: text } };
    yield { call: { index, ...piece }, tokens };
  }
}

function renderCall({ id, type, name, input }: ToolCall): Record<string, unknown> {
  return type === "function"
    ? { id, type, function: { name, arguments: input } }
    : { id, type, custom: { name, input } };
}

function renderLogprobs(tokenizer: Tokenizer, text: string, logprobs: number | null): unknown {
  return logprobs === null ? null : logprobsOf(tokenizer.pieces(text), logprobs);
}

/** Returns log probabilities. The answer is deterministic, so every token has probability 1 and is its own only alternative. */
function logprobsOf(pieces: readonly TokenPiece[], alternatives: number): unknown {
  const content = pieces.map(({ text }) => {
    const token = { token: text, logprob: 0, bytes: [...new TextEncoder().encode(text)] };
    return { ...token, top_logprobs: alternatives > 0 ? [token] : [] };
  });
  return { content, refusal: null };
}

/** Yields one item of each sequence in turn until all sequences have ended. */
function* takeInTurn<T>(sequences: readonly Iterator<T, void, void>[]): Generator<T, void, void> {
  let open = sequences;
  while (open.length > 0) {
    const next: Iterator<T, void, void>[] = [];
    for (const sequence of open) {
      const step = sequence.next();
      if (step.done === true) continue;
      yield step.value;
      next.push(sequence);
    }
    open = next;
  }
}
