/** A behaviour → the message it stands for, as JSON texts. Checked against recorded traffic. */
import type { AnswerBehaviour, Members, MockToolCall, UsageReport } from "../engine/behaviour.ts";
import { bent, contentOf, joined, pieces } from "../engine/content.ts";
import type { MessagesBody } from "./check-request.ts";

interface Block {
  /** The block of a plain answer. */
  readonly whole: Members;
  /** The block of `content_block_start`. */
  readonly start: Members;
  readonly deltas: readonly Members[];
}

export interface Composed {
  /** The body of a plain answer. */
  readonly body: string;
  /** The data of each event of a stream. */
  readonly events: readonly string[];
}

export function compose(behaviour: AnswerBehaviour, request: MessagesBody, sequence: number): Composed {
  const { usage: report = "honest", startAgain, finishReason, thoughts = "" } = behaviour;
  const {
    pieces: words,
    toolCalls,
    isCut,
  } = contentOf(behaviour, {
    text: lastTextOf(request),
    tools: (request.tools ?? []).map(({ name }) => name),
    tokensMax: request.max_tokens,
  });
  const blocks = [...thinkingBlocks(behaviour), ...textBlock(words), ...toolCalls.map(useBlock)];
  const natural = isCut ? "max_tokens" : toolCalls.length > 0 ? "tool_use" : "end_turn";
  const ending = { stop_reason: finishReason === undefined ? natural : finishReason, stop_sequence: null };
  const input = Math.ceil(JSON.stringify(request.messages).length / 4);
  const output = words.length + toolCalls.length * 20 + thoughts.length;
  const usage = usageMember(report, input, output);
  const head = { model: request.model, id: `msg_mock${sequence}`, type: "message", role: "assistant" };
  const start = (id: string): string =>
    JSON.stringify({
      type: "message_start",
      message: { ...head, id, content: [], stop_reason: null, stop_sequence: null, usage: startUsage(report, input) },
    });
  const events = [
    start(head.id),
    ...blockEvents(blocks, behaviour.interleaved),
    ...endEvents(report, ending, usage, output),
    ...(behaviour.omitEnd ? [] : [JSON.stringify({ type: "message_stop" })]),
  ];
  if (startAgain) events.splice(startAgain.afterFrame + 1, 0, start(startAgain.as === "other" ? "msg_other" : head.id));
  const tier = { cache_creation: split(report), service_tier: "standard" };
  const content = blocks.map(({ whole }) => whole);
  return {
    body: JSON.stringify({
      ...head,
      content,
      ...ending,
      ...(usage === undefined ? {} : { usage: { ...usage, ...tier } }),
    }),
    events,
  };
}

const CACHED = { cache_creation_input_tokens: 300, cache_read_input_tokens: 2_000 };
const UNCACHED = { cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };

/** Returns the final `usage` of a message; undefined when it is left out. */
function usageMember(report: UsageReport, input: number, output: number): Members | undefined {
  if (report === "missing" || typeof report === "object") return report === "missing" ? undefined : report;
  const counts = bent(report, input, output);
  return {
    input_tokens: counts.input,
    ...(report === "cached" ? CACHED : UNCACHED),
    output_tokens: counts.output,
  };
}

/** Usage in `message_start`: no output yet, but how long cache entries live, which no later event repeats. */
function startUsage(report: UsageReport, input: number): Members {
  return {
    input_tokens: input,
    ...(report === "cached" ? CACHED : UNCACHED),
    cache_creation: split(report),
    output_tokens: 1,
    service_tier: "standard",
    inference_geo: "not_available",
  };
}

function split(report: UsageReport): Members {
  return {
    ephemeral_5m_input_tokens: report === "cached" ? 100 : 0,
    ephemeral_1h_input_tokens: report === "cached" ? 200 : 0,
  };
}

function endEvents(report: unknown, ending: Members, usage: Members | undefined, output: number): string[] {
  const event = (delta: Members, counts: Members | undefined): string =>
    JSON.stringify({ type: "message_delta", delta, ...(counts === undefined ? {} : { usage: counts }) });
  const none = { stop_reason: null, stop_sequence: null };
  if (report === "late") return [event(ending, undefined), event(none, usage)];
  if (report === "growing") {
    return [event(none, { ...usage, output_tokens: Math.ceil(output / 2) }), event(ending, usage)];
  }
  return ending["stop_reason"] === null ? [] : [event(ending, usage)];
}

/** Returns the events of all blocks; of calls that alternate, one event of each block in turn, else a ping follows the first. */
function blockEvents(blocks: readonly Block[], isInterleaved = false): string[] {
  const [first, ...rest] = joined(blocks.map(ownEvents), isInterleaved);
  if (first === undefined) return [];
  return isInterleaved ? [first, ...rest] : [first, JSON.stringify({ type: "ping" }), ...rest];
}

function ownEvents(block: Block, index: number): string[] {
  return [
    JSON.stringify({ type: "content_block_start", index, content_block: block.start }),
    ...block.deltas.map((delta) => JSON.stringify({ type: "content_block_delta", index, delta })),
    JSON.stringify({ type: "content_block_stop", index }),
  ];
}

function thinkingBlocks({ thoughts: thinking, redacted }: AnswerBehaviour): Block[] {
  const signature = "EvQBCkYICxgCKkAxhD4N";
  const shown = thinking === undefined ? [] : [{ type: "thinking", thinking, signature }];
  const hidden = redacted === undefined ? [] : [{ type: "redacted_thinking", data: redacted }];
  return [
    ...shown.map((whole) => ({
      whole,
      start: { type: "thinking", thinking: "", signature: "" },
      deltas: [
        ...pieces(whole.thinking).map((piece) => ({ type: "thinking_delta", thinking: piece })),
        { type: "signature_delta", signature },
      ],
    })),
    ...hidden.map((whole) => ({ whole, start: whole, deltas: [] })),
  ];
}

function textBlock(words: readonly string[]): Block[] {
  if (words.length === 0) return [];
  const deltas = words.map((text) => ({ type: "text_delta", text }));
  return [{ whole: { type: "text", text: words.join("") }, start: { type: "text", text: "" }, deltas }];
}

function useBlock(use: MockToolCall, at: number): Block {
  const head = { type: "tool_use", id: use.id ?? `toolu_mock${at}`, name: use.name };
  return {
    whole: { ...head, input: parse(use.arguments) },
    start: { ...head, input: {} },
    // The first piece is always empty, as recorded.
    deltas: ["", ...pieces(use.arguments)].map((piece) => ({ type: "input_json_delta", partial_json: piece })),
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text || "{}") as unknown;
  } catch {
    return {};
  }
}

/** Text of the last user turn. */
function lastTextOf({ messages }: MessagesBody): string {
  const { content = "" } = messages.findLast(({ role }) => role === "user") ?? {};
  const texts = typeof content === "string" ? [content] : content.map(({ text }) => text);
  return texts.filter((text) => typeof text === "string").join("");
}
