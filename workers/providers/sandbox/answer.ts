/** Creates the complete answer to a request: content, finish reason and token counts of each choice. */
import { countPrompt } from "#shared/tokens/count.ts";
import type { Tokenizer } from "#shared/tokens/tokenizer.ts";

import { createFacts } from "./facts.ts";
import { rejected, interruptedAfter } from "./faults.ts";
import type { SchemaWriter } from "./fill-schema.ts";
import { dictatedAnswer } from "./intent.ts";
import { isRecord } from "./json.ts";
import { SANDBOX_CONTEXT_TOKENS, type SandboxModel } from "./models.ts";
import { createRandom, hashText, type Random } from "./random.ts";
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
import { headAndTail, topicsOf } from "./words.ts";

export interface Choice {
  /** Reasoning that precedes the answer; null without reasoning. */
  readonly reasoning: string | null;
  /** Text of the choice; null when the choice has tool calls. */
  readonly text: string | null;
  readonly calls: readonly ToolCall[];
  readonly finish: "stop" | "length" | "tool_calls" | "content_filter";
  /** Number of output tokens, including reasoning. */
  readonly tokens: number;
  readonly reasoningTokens: number;
}

export interface Answer {
  readonly choices: readonly Choice[];
  readonly inputTokens: number;
}

const LONG_ANSWER_TOKENS = 2_000;

/** Request, model and tools from which an answer is created. */
export interface Desk {
  readonly request: SandboxRequest;
  readonly model: SandboxModel;
  readonly tokenizer: Tokenizer;
  /** Maximum number of output tokens of a choice. */
  readonly tokensMax: number;
  /** Schema writer, loaded only for requests with tools or a schema; otherwise undefined. */
  readonly schemas: SchemaWriter | undefined;
}

/**
 * Returns the answer to a request. Equal requests have equal answers.
 * @param body request as sent, for counting tokens
 * @throws ProviderError rejected, when the prompt exceeds the context
 */
export function createAnswer(body: Readonly<Record<string, unknown>>, desk: Desk): Answer {
  const { request, model, tokenizer } = desk;
  const inputTokens = countPrompt(tokenizer, body, (part) => {
    const media = request.mediaByPart.get(part);
    return media === undefined ? 0 : media.tokens + tokenizer.count(media.text ?? "");
  });
  const contextTokens = model.contextTokens ?? SANDBOX_CONTEXT_TOKENS;
  if (inputTokens > contextTokens) {
    const detail = `prompt is too long: ${inputTokens} tokens > ${contextTokens} maximum`;
    throw rejected("context_length_exceeded", "messages", detail);
  }
  const choices = Array.from({ length: request.choices }, (_, index) => createChoice(desk, index));
  return { choices, inputTokens };
}

function createChoice(desk: Desk, index: number): Choice {
  const { request, model, tokenizer, tokensMax, schemas } = desk;
  const question = request.messages.findLast((message) => message.role === "user") ?? request.messages.at(-1);
  const prompt = question?.text ?? "";
  const seed = (): Random => createRandom(index === 0 ? request.seed : hashText(String(index), request.seed));
  const text: TextMaterial = {
    prompt,
    random: seed(),
    media: question?.media.map((media) => media.phrase) ?? [],
    turn: request.messages.filter((message) => message.role === "user").length,
  };
  const material: Material = { prompt, seed, prose: () => composeOpening({ ...text, random: seed() }), schemas };

  const reasoning = model.writes === "reasoning first" ? cutText(composeReasoning(text), tokensMax, tokenizer) : null;
  const reasoningTokens = reasoning?.tokens ?? 0;
  const dictated = dictatedAnswer(prompt);
  const calls = planCalls(request, dictated !== null, material);
  const remainingTokens = tokensMax - reasoningTokens;
  const cut =
    calls.length > 0
      ? { text: null, ...cutCalls(calls, remainingTokens, tokenizer) }
      : {
          calls: [],
          ...cutText(
            continueOpening(cutAtStop(writeText(desk, dictated, text, material), request.stops), request),
            remainingTokens,
            tokenizer,
          ),
        };
  const isCut = cut.isCut || reasoning?.isCut === true;
  return {
    reasoning: reasoning?.text ?? null,
    reasoningTokens,
    text: cut.text,
    calls: cut.calls,
    finish: isCut ? "length" : calls.length > 0 ? "tool_calls" : "stop",
    tokens: reasoningTokens + cut.tokens,
  };
}

/**
 * Returns the remaining text of an answer after the beginning that the client put at the end of the messages. Returns the whole text if the
 * answer begins differently.
 */
function continueOpening(text: string, { opening }: SandboxRequest): string {
  return opening !== "" && text.startsWith(opening) ? text.slice(opening.length) : text;
}

function writeText(desk: Desk, dictated: string | null, text: TextMaterial, material: Material): string {
  const { request, model, tokenizer } = desk;
  const { format } = request;
  const results = toolResults(request.messages);
  // Tool results provide values for the next call, as the prompt does.
  const source = headAndTail([text.prompt, ...results.map((result) => result.text)].join("\n"));
  if (format.kind === "object") return writeObject(dictated, source, material);
  if (format.kind === "schema") return writeDocument(format.schema, dictated, source, material);
  if (model.writes === "at length") return composePage(text, LONG_ANSWER_TOKENS, (part) => tokenizer.count(part));
  return results.length > 0 ? composeFromResults(results) : (dictated ?? composeAnswer(text));
}

/** Returns the tool results at the end of the conversation, with the names of their tools. */
function toolResults(messages: readonly SandboxMessage[]): readonly ToolResult[] {
  const isResult = (message: SandboxMessage): boolean => message.role === "tool" || message.role === "function";
  const start = messages.findLastIndex((message) => !isResult(message)) + 1;
  const calls = messages.flatMap((message) => message.calls);
  return messages
    .slice(start)
    .map((message) => ({ name: calls.findLast((call) => call.id === message.callId)?.name ?? "", text: message.text }));
}

/** Cuts tool calls at the token limit, in order. The last call may be incomplete, as with a real model. */
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

// JSON answers, with and without a schema.

/** Returns a document that meets a schema, as JSON text. A document dictated by the prompt is used unchanged if it meets the schema. */
function writeDocument(schema: unknown, dictated: string | null, source: string, material: Material): string {
  const { schemas } = material;
  if (dictated !== null && schemas?.meets(schema, parseJson(dictated))) return dictated;
  const value = schemas?.fill(schema, { ...material, facts: createFacts(source), optional: "all" });
  return JSON.stringify(value) ?? "null";
}

/** Returns an object for JSON mode without a schema. It contains the requested keys, or an answer and its topics. */
function writeObject(dictated: string | null, source: string, material: Material): string {
  if (dictated !== null && isRecord(parseJson(dictated))) return dictated;
  const keys = wantedKeys(source);
  if (keys.length === 0) {
    return JSON.stringify({ answer: dictated ?? material.prose(), topics: topicsOf(material.prompt).slice(0, 5) });
  }
  const properties = Object.fromEntries(keys.map((key) => [key, { type: NUMBER_KEY.test(key) ? "number" : "string" }]));
  return writeDocument({ type: "object", properties, required: keys }, null, source, material);
}

const KEY_LIST =
  /\b(?:keys?|fields?|properties|attributes)\b(?:\s+(?:named|called|are|of))?\s*:?\s*((?:["'`]?[A-Za-z_][\w-]*["'`]?(?:\s*,\s*(?:and\s+)?|\s+and\s+)?){1,12})/i;
const NUMBER_KEY = /(?:^|_)(?:age|count|number|amount|price|total|quantity|year|score|size|length|width|height)$/i;

function wantedKeys(prompt: string): readonly string[] {
  const listed = KEY_LIST.exec(prompt)?.[1] ?? "";
  const keys = /["'`]/.test(listed)
    ? listed.match(/(?<=["'`])[A-Za-z_][\w-]*(?=["'`])/g)
    : listed.match(/[A-Za-z_][\w-]*/g);
  return [...new Set(keys ?? [])].filter((key) => key !== "and");
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Damages an answer as the model's settings require, and counts the remaining tokens. */
export function spoil(answer: Answer, model: SandboxModel, tokenizer: Tokenizer): Answer {
  const { spoils } = model;
  if (spoils === undefined) return answer;
  const change = (choice: Choice): Choice =>
    spoils === "filtered"
      ? filter(choice, model, tokenizer)
      : withInputs(choice, tokenizer, spoils === "empty arguments" ? () => "{}" : firstHalf);
  return { ...answer, choices: answer.choices.map(change) };
}

/** Returns a choice as if a content filter had cut it: only the first tokens of the text, and no tool calls. */
function filter(choice: Choice, model: SandboxModel, tokenizer: Tokenizer): Choice {
  const cut = cutText(choice.text ?? "", interruptedAfter(model, choice.tokens - choice.reasoningTokens), tokenizer);
  const tokens = choice.reasoningTokens + cut.tokens;
  return { ...choice, text: cut.text, calls: [], finish: "content_filter", tokens };
}

/** Changes the arguments of function calls. Inputs of custom tools stay unchanged, because they have no format to violate. */
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

/** Returns the first half of a JSON object, which is never valid JSON. */
function firstHalf(input: string): string {
  return input.slice(0, Math.ceil(input.length / 2)).toWellFormed();
}

/** Text of an answer that ends at a stop sequence or at the token limit. */
interface Cut {
  readonly text: string;
  /** Number of output tokens. For a cut text it is the full limit, even if the last token completed no character. */
  readonly tokens: number;
  readonly isCut: boolean;
}

/** Returns the text before the earliest stop sequence. */
function cutAtStop(text: string, stops: readonly string[]): string {
  let end = text.length;
  for (const stop of stops) {
    const at = text.indexOf(stop);
    if (at !== -1 && at < end) end = at;
  }
  return text.slice(0, end);
}

/** Returns the first `tokensMax` tokens of a text. */
function cutText(text: string, tokensMax: number, tokenizer: Tokenizer): Cut {
  // A token has at least one byte, and a UTF-16 unit at most three: a shorter text cannot exceed the limit.
  const tokens = text.length > 64 * tokensMax + 64 ? Infinity : tokenizer.count(text);
  if (tokens <= tokensMax) return { text, tokens, isCut: false };
  const pieces = tokenizer.pieces(text, tokensMax);
  return { text: pieces.map((piece) => piece.text).join(""), tokens: Math.max(0, tokensMax), isCut: true };
}
