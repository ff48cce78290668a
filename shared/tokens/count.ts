/**
 * Counts the tokens of a chat request by OpenAI's published rule (openai-cookbook, "How to count tokens with tiktoken"). The sum is three
 * per message, one per name, three for the start of the response, and the texts. Tools and response schemas count as compact JSON, as in
 * open chat templates.
 */
import type { Tokenizer } from "./tokenizer.ts";

const TOKENS_PER_MESSAGE = 3;
const TOKENS_PER_NAME = 1;
const TOKENS_OPENING_ANSWER = 3;

/** Members of a request that count as prompt tokens. A member with an unexpected type counts as zero. */
export interface CountedRequest {
  readonly messages?: unknown;
  readonly tools?: unknown;
  readonly response_format?: unknown;
}

/**
 * Returns the number of prompt tokens of a chat request.
 * @param partTokens tokens of a content block other than text and refusal: an image, audio, a file
 */
export function countPrompt(
  tokenizer: Pick<Tokenizer, "count">,
  request: CountedRequest,
  partTokens: (part: Readonly<Record<string, unknown>>) => number,
): number {
  let tokens = TOKENS_OPENING_ANSWER;
  for (const message of listOf(request.messages)) tokens += countMessage(tokenizer, message, partTokens);
  const tools = listOf(request.tools);
  if (tools.length > 0) tokens += tokenizer.count(JSON.stringify(tools));
  const schema = recordOf(recordOf(request.response_format)["json_schema"])["schema"];
  if (schema !== undefined) tokens += tokenizer.count(JSON.stringify(schema));
  return tokens;
}

/** Counts like `countPrompt`, but yields between parts so that other calls on the thread can run. */
export function* countingPrompt(
  tokenizer: Pick<Tokenizer, "counting">,
  request: CountedRequest,
  partTokens: (part: Readonly<Record<string, unknown>>) => number,
): Generator<void, number> {
  const texts: string[] = [];
  const count = (text: string): number => {
    texts.push(text);
    return 0;
  };
  let tokens = countPrompt({ count }, request, partTokens);
  for (const text of texts) {
    yield;
    tokens += yield* tokenizer.counting(text);
  }
  return tokens;
}

function countMessage(
  tokenizer: Pick<Tokenizer, "count">,
  value: unknown,
  partTokens: (part: Readonly<Record<string, unknown>>) => number,
): number {
  const message = recordOf(value);
  const { role, name, content } = message;
  let tokens = TOKENS_PER_MESSAGE;
  if (typeof role === "string") tokens += tokenizer.count(role);
  if (typeof name === "string") tokens += tokenizer.count(name) + TOKENS_PER_NAME;
  if (typeof content === "string") tokens += tokenizer.count(content);
  for (const block of listOf(content)) {
    const part = recordOf(block);
    const text = part["text"] ?? part["refusal"];
    tokens += typeof text === "string" ? tokenizer.count(text) : partTokens(part);
  }
  for (const call of listOf(message["tool_calls"])) tokens += countCall(tokenizer, call);
  return tokens;
}

/** Counts a tool call of an earlier turn of the conversation: its name and arguments. */
function countCall(tokenizer: Pick<Tokenizer, "count">, value: unknown): number {
  const call = recordOf(value);
  const target = recordOf(call["function"] ?? call["custom"]);
  const { name, arguments: text = target["input"] } = target;
  return (
    (typeof name === "string" ? tokenizer.count(name) : 0) + (typeof text === "string" ? tokenizer.count(text) : 0)
  );
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}
