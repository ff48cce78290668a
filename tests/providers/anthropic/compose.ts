/** A behaviour → the message it stands for, as JSON texts. Checked against recorded traffic. */
import type { MessageBehaviour, MockToolUse } from "./behaviour.ts";
import type { MessagesBody } from "./check-request.ts";
import { split, startUsage, usageMembers } from "./usage.ts";

const DEFAULT_TEXT = "A local answer, word by word, with an é and a 🙂 in it.";

type Members = Readonly<Record<string, unknown>>;

interface Block {
  /** As in a plain answer. */
  readonly whole: Members;
  /** As in `content_block_start`. */
  readonly start: Members;
  readonly deltas: readonly Members[];
}

export interface Composed {
  /** The body of a plain answer. */
  readonly body: string;
  /** The data of each event of a stream, `message_stop` included. */
  readonly events: readonly string[];
  /** `message_start` of another message. */
  readonly otherStart: string;
}

/** A token limit of the request is obeyed: one word is one token. */
export function compose(behaviour: MessageBehaviour, request: MessagesBody, sequence: number): Composed {
  const report = behaviour.usage ?? "honest";
  const all = behaviour.isEmpty ? [] : wordsOf(behaviour, request);
  const words = all.slice(0, request.max_tokens);
  const uses = usesOf(behaviour, request);
  const blocks = [...thinkingBlocks(behaviour), ...textBlock(words), ...uses.map(useBlock)];
  const natural = words.length < all.length ? "max_tokens" : uses.length > 0 ? "tool_use" : "end_turn";
  const stopReason = behaviour.stopReason === undefined ? natural : behaviour.stopReason;
  const input = Math.ceil(JSON.stringify(request.messages).length / 4);
  const output = words.length + uses.length * 20 + (behaviour.thinking?.length ?? 0);
  const head = { model: request.model, id: `msg_mock${sequence}`, type: "message", role: "assistant" };
  const ending = { stop_reason: stopReason, stop_sequence: null };
  const usage = usageMembers(report, input, output);
  const start = (id: string): string =>
    JSON.stringify({
      type: "message_start",
      message: {
        ...head,
        id,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: startUsage(report, input),
      },
    });
  return {
    body: JSON.stringify({
      ...head,
      content: blocks.map(({ whole }) => whole),
      ...ending,
      ...(usage === undefined ? {} : { usage: { ...usage, cache_creation: split(report), service_tier: "standard" } }),
    }),
    events: [
      start(head.id),
      ...(behaviour.interleaved ? interleavedEvents(blocks) : blockEvents(blocks)),
      ...endEvents(report, ending, usage, output),
      JSON.stringify({ type: "message_stop" }),
    ],
    otherStart: start("msg_other"),
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

function blockEvents(blocks: readonly Block[]): string[] {
  return blocks.flatMap((block, index) => {
    const [start, ...rest] = ownEvents(block, index);
    return [start ?? "", ...(index === 0 ? [JSON.stringify({ type: "ping" })] : []), ...rest];
  });
}

/** One event of each block in turn. */
function interleavedEvents(blocks: readonly Block[]): string[] {
  const queues = blocks.map(ownEvents);
  const length = Math.max(...queues.map((queue) => queue.length));
  return Array.from({ length }, (_, at) => queues.flatMap((queue) => queue[at] ?? [])).flat();
}

function ownEvents(block: Block, index: number): string[] {
  return [
    JSON.stringify({ type: "content_block_start", index, content_block: block.start }),
    ...block.deltas.map((delta) => JSON.stringify({ type: "content_block_delta", index, delta })),
    JSON.stringify({ type: "content_block_stop", index }),
  ];
}

function thinkingBlocks({ thinking, redacted }: MessageBehaviour): Block[] {
  const signature = "EvQBCkYICxgCKkAxhD4N";
  const shown = thinking === undefined ? [] : [{ type: "thinking", thinking, signature }];
  const hidden = redacted === undefined ? [] : [{ type: "redacted_thinking", data: redacted }];
  return [
    ...shown.map((whole) => ({
      whole,
      start: { type: "thinking", thinking: "", signature: "" },
      deltas: [
        ...split5(whole.thinking).map((piece) => ({ type: "thinking_delta", thinking: piece })),
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

function useBlock(use: MockToolUse, at: number): Block {
  const head = { type: "tool_use", id: use.id ?? `toolu_mock${at}`, name: use.name };
  return {
    whole: { ...head, input: parse(use.input) },
    start: { ...head, input: {} },
    // The first piece is always empty, as recorded.
    deltas: ["", ...split5(use.input)].map((piece) => ({ type: "input_json_delta", partial_json: piece })),
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text || "{}") as unknown;
  } catch {
    return {};
  }
}

function usesOf({ toolUses }: MessageBehaviour, request: MessagesBody): readonly MockToolUse[] {
  if (toolUses !== "requested") return toolUses ?? [];
  return (request.tools ?? []).map(({ name }) => ({ name, input: "{}" }));
}

function wordsOf(behaviour: MessageBehaviour, request: MessagesBody): string[] {
  if (behaviour.tokens !== undefined) {
    return Array.from({ length: behaviour.tokens }, (_, at) => (at === 0 ? "tok" : " tok"));
  }
  if (behaviour.toolUses !== undefined && behaviour.text === undefined) return [];
  const content = request.messages.findLast(({ role }) => role === "user")?.content;
  const texts = typeof content === "string" ? [content] : (content ?? []).map(({ text }) => text);
  const asked = texts.filter((text) => typeof text === "string").join("");
  const said = /^say ([\s\S]*)$/i.exec(asked)?.[1];
  return (behaviour.text ?? said ?? DEFAULT_TEXT).match(/\s*\S+|\s+$/gu) ?? [];
}

function split5(text: string): string[] {
  return text.match(/[\s\S]{1,5}/gu) ?? [];
}
