/** Works out the whole answer to a request: what each choice says, where it stops, and what it costs. */
import { countPrompt } from "#shared/tokens/count.ts";
import type { Tokenizer } from "#shared/tokens/tokenizer.ts";

import { ProviderError } from "../provider.ts";
import { createFacts } from "./facts.ts";
import { dictatedAnswer } from "./intent.ts";
import { writeDocument, writeObject } from "./json-mode.ts";
import { cutAtStop, cutText, type Cut } from "./limit.ts";
import { SANDBOX_CONTEXT_TOKENS, type SandboxModel } from "./models.ts";
import { createRandom, hashText } from "./random.ts";
import type { SandboxMessage, SandboxRequest } from "./request.ts";
import {
  composeAnswer,
  composeFromResults,
  composeOpening,
  composePage,
  composeReasoning,
  type TextMaterial,
  type ToolResult,
} from "./text.ts";
import { type Material, planCalls, type ToolCall } from "./tools.ts";

export interface Choice {
  /** Thinking shown before the answer. */
  readonly reasoning: string | null;
  /** null when the choice calls tools. */
  readonly text: string | null;
  readonly calls: readonly ToolCall[];
  readonly finish: "stop" | "length" | "tool_calls" | "content_filter";
  /** Output tokens, reasoning included. */
  readonly tokens: number;
  readonly reasoningTokens: number;
}

export interface Answer {
  readonly choices: readonly Choice[];
  readonly inputTokens: number;
}

const LONG_ANSWER_TOKENS = 2_000;

/**
 * The answer to a request, the same for the same request.
 * @param body the request as sent, for counting
 * @param tokensMax most output tokens of a choice
 * @throws ProviderError rejected, when the prompt does not fit the context
 */
export function createAnswer(
  body: Readonly<Record<string, unknown>>,
  request: SandboxRequest,
  model: SandboxModel,
  tokenizer: Tokenizer,
  tokensMax: number,
): Answer {
  const inputTokens = countInput(body, request, tokenizer);
  const contextTokens = model.contextTokens ?? SANDBOX_CONTEXT_TOKENS;
  if (inputTokens > contextTokens) {
    throw new ProviderError("rejected", `the prompt has ${inputTokens} tokens, the context ${contextTokens}`, {
      code: "context_length_exceeded",
      param: "messages",
      status: 400,
    });
  }
  const choices = Array.from({ length: request.choices }, (_, index) =>
    createChoice(request, model, tokenizer, tokensMax, index),
  );
  return { choices, inputTokens };
}

function countInput(body: Readonly<Record<string, unknown>>, request: SandboxRequest, tokenizer: Tokenizer): number {
  return countPrompt(tokenizer, body, (part) => {
    const media = request.mediaByPart.get(part);
    if (media === undefined) return 0;
    return media.tokens + (media.text === undefined ? 0 : tokenizer.count(media.text));
  });
}

function createChoice(
  request: SandboxRequest,
  model: SandboxModel,
  tokenizer: Tokenizer,
  tokensMax: number,
  index: number,
): Choice {
  const prompt = request.messages.findLast((message) => message.role === "user") ?? request.messages.at(-1);
  const facts = createFacts(prompt?.text ?? "");
  const random = createRandom(index === 0 ? request.seed : hashText(String(index), request.seed));
  const text: TextMaterial = {
    facts,
    random,
    media: prompt?.media.map((media) => media.phrase) ?? [],
    turn: request.messages.filter((message) => message.role === "user").length,
  };
  const material: Material = { facts, random, prose: () => composeOpening(text) };

  const reasoning = model.writes === "reasoning first" ? cutText(composeReasoning(text), tokensMax, tokenizer) : null;
  const spent = reasoning?.tokens ?? 0;
  const left = tokensMax - spent;
  const head = { reasoning: reasoning?.text ?? null, reasoningTokens: spent };

  const dictated = prompt === undefined ? null : dictatedAnswer(prompt.text);
  const calls = planCalls(request, dictated !== null, material);
  if (calls.length > 0) {
    const cut = cutCalls(calls, left, tokenizer);
    const finish = cut.isCut || reasoning?.isCut === true ? "length" : "tool_calls";
    return { ...head, text: null, calls: cut.calls, finish, tokens: spent + cut.tokens };
  }
  const written = writeText(request, model, dictated, text, material, tokenizer);
  const cut = cutText(cutAtStop(written, request.stops), left, tokenizer);
  return {
    ...head,
    text: cut.text,
    calls: [],
    finish: cut.isCut || reasoning?.isCut === true ? "length" : "stop",
    tokens: spent + cut.tokens,
  };
}

function writeText(
  request: SandboxRequest,
  model: SandboxModel,
  dictated: string | null,
  text: TextMaterial,
  material: Material,
  tokenizer: Tokenizer,
): string {
  const results = toolResults(request.messages);
  const { format } = request;
  if (format.kind !== "text") {
    // What the tools returned is as good a source of values as the prompt.
    const source = [text.facts.text, ...results.map((result) => result.text)].join("\n");
    const facts = results.length === 0 ? text.facts : createFacts(source);
    return format.kind === "object"
      ? writeObject(dictated, { ...material, facts })
      : writeDocument(format.schema, dictated, { ...material, facts });
  }
  if (model.writes === "at length") return writePage(text, tokenizer);
  if (results.length > 0) return composeFromResults(results);
  return dictated ?? composeAnswer(text);
}

function writePage(text: TextMaterial, tokenizer: Tokenizer): string {
  return composePage(text, LONG_ANSWER_TOKENS, (part) => tokenizer.count(part));
}

/** The results at the end of the conversation, with the names of the tools they came from. */
function toolResults(messages: readonly SandboxMessage[]): readonly ToolResult[] {
  const isResult = (message: SandboxMessage): boolean => message.role === "tool" || message.role === "function";
  const start = messages.findLastIndex((message) => !isResult(message)) + 1;
  const calls = messages.flatMap((message) => message.calls);
  return messages
    .slice(start)
    .map((message) => ({ name: calls.findLast((call) => call.id === message.callId)?.name ?? "", text: message.text }));
}

/** Calls in order as far as the tokens reach; the last one may end in the middle, as with a real model. */
function cutCalls(
  calls: readonly ToolCall[],
  tokensMax: number,
  tokenizer: Tokenizer,
): { readonly calls: readonly ToolCall[]; readonly tokens: number; readonly isCut: boolean } {
  const kept: ToolCall[] = [];
  let tokens = 0;
  for (const call of calls) {
    const name = tokenizer.count(call.name);
    if (tokens + name > tokensMax) return { calls: kept, tokens, isCut: true };
    const input: Cut = cutText(call.input, tokensMax - tokens - name, tokenizer);
    kept.push({ ...call, input: input.text });
    tokens += name + input.tokens;
    if (input.isCut) return { calls: kept, tokens, isCut: true };
  }
  return { calls: kept, tokens, isCut: false };
}
