/** A turn as Anthropic's Messages API says it; members and their order as in tests/providers/anthropic/fixtures. */
import { BEYOND_TOKENS, joined, pieces, type Report, type Told, type Turn, whole, words } from "./turn.ts";

type Members = Readonly<Record<string, unknown>>;

const HEAD = { model: "claude-local-20260101", id: "msg_01Golden", type: "message", role: "assistant" };
export const THINKING_SIGNATURE = "EvQBCkYICxgCKkAxhD4NUKFzudtZ6NzbZdEiBACIScTz";
const tierOf = ({ tier = "default" }: Turn): Members => ({
  service_tier: tier === "default" ? "standard" : tier,
  inference_geo: "not_available",
});

interface Block {
  readonly whole: Members;
  readonly start: Members;
  readonly deltas: readonly Members[];
}

export function tellAnthropic(turn: Turn, report: Report = "honest"): Told {
  const blocks = blocksOf(turn);
  const ending = { stop_reason: (turn.calls ?? []).length > 0 ? "tool_use" : "end_turn", stop_sequence: null };
  const usage = usageMembers(turn, report);
  const split = report === "unsplit" ? {} : { cache_creation: splitOf(turn) };
  const body = JSON.stringify({
    ...HEAD,
    content: blocks.map((block) => block.whole),
    ...ending,
    ...(usage === undefined ? {} : { usage: { ...usage, ...split, ...tierOf(turn) } }),
  });
  const events: Members[] = [
    { type: "message_start", message: startOf(turn, split) },
    ...joined(blocks.map(eventsOf), report === "interleaved"),
  ];
  const silence = report === "late" ? { silenceBefore: events.length + 1 } : {};
  events.push(...endOf(turn, report, ending, usage), { type: "message_stop" });
  return {
    body,
    events: events.map((event) => `event: ${String(event["type"])}\ndata: ${JSON.stringify(event)}\n\n`),
    ...silence,
  };
}

function eventsOf(block: Block, index: number): Members[] {
  return [
    { type: "content_block_start", index, content_block: block.start },
    ...(index === 0 ? [{ type: "ping" }] : []),
    ...block.deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
    { type: "content_block_stop", index },
  ];
}

function blocksOf({ thought, text, calls = [] }: Turn): Block[] {
  const blocks: Block[] = [];
  if (thought !== undefined) {
    blocks.push({
      whole: { type: "thinking", thinking: thought, signature: THINKING_SIGNATURE },
      start: { type: "thinking", thinking: "", signature: "" },
      deltas: [
        ...words(thought).map((thinking) => ({ type: "thinking_delta", thinking })),
        { type: "signature_delta", signature: THINKING_SIGNATURE },
      ],
    });
  }
  if (text !== undefined) {
    blocks.push({
      whole: { type: "text", text },
      start: { type: "text", text: "" },
      deltas: words(text).map((word) => ({ type: "text_delta", text: word })),
    });
  }
  for (const { id, name, args } of calls) {
    const head = { type: "tool_use", id, name };
    blocks.push({
      whole: { ...head, input: args, caller: { type: "direct" } },
      start: { ...head, input: {}, caller: { type: "direct" } },
      // The first piece is always empty.
      deltas: ["", ...pieces(JSON.stringify(args))].map((piece) => ({ type: "input_json_delta", partial_json: piece })),
    });
  }
  return blocks;
}

/** It knows the prompt only roughly (43 there, 61 in the end), no output yet, and alone how long writes last. */
function startOf(turn: Turn, split: Members): Members {
  const { took } = turn;
  const { cached, write5m, write1h } = whole(took);
  const usage = {
    input_tokens: Math.max(0, inputOf(took) - 18),
    cache_creation_input_tokens: write5m + write1h,
    cache_read_input_tokens: cached,
    ...split,
    output_tokens: 1,
    ...tierOf(turn),
  };
  return { ...HEAD, content: [], stop_reason: null, stop_sequence: null, usage };
}

function endOf(turn: Turn, report: Report, ending: Members, usage: Members | undefined): Members[] {
  const none = { stop_reason: null, stop_sequence: null };
  const event = (delta: Members, counts: Members | undefined): Members => ({
    type: "message_delta",
    delta,
    ...(counts === undefined ? {} : { usage: counts }),
  });
  if (report === "late") return [event(ending, undefined), event(none, usage)];
  if (report === "growing") {
    return [event(none, { ...usage, output_tokens: Math.floor(whole(turn.took).output / 2) }), event(ending, usage)];
  }
  return [event(ending, usage)];
}

/** Pictures are input like any other; it reports no kinds. */
function inputOf(took: Turn["took"]): number {
  const { input, image, audio } = whole(took);
  return input + image + audio;
}

/** `input_tokens` leave out what the cache was read and written for; `output_tokens` contain thoughts. */
function usageMembers({ took }: Turn, report: Report): Members | undefined {
  const { cached, write5m, write1h, output, thinking } = whole(took);
  const honest = {
    input_tokens: inputOf(took),
    cache_creation_input_tokens: write5m + write1h,
    cache_read_input_tokens: cached,
    output_tokens: output,
    ...(thinking > 0 ? { output_tokens_details: { thinking_tokens: thinking } } : {}),
  };
  switch (report) {
    case "missing":
      return undefined;
    case "zero":
      return { input_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 0 };
    case "negative":
      return { ...honest, output_tokens: -output };
    case "fractional":
      return { ...honest, input_tokens: honest.input_tokens + 0.5 };
    case "huge":
      return { ...honest, input_tokens: 1e18, output_tokens: 1e18 };
    case "beyond":
      return { ...honest, output_tokens: BEYOND_TOKENS };
    default:
      return honest;
  }
}

function splitOf({ took }: Turn): Members {
  const { write5m, write1h } = whole(took);
  return { ephemeral_5m_input_tokens: write5m, ephemeral_1h_input_tokens: write1h };
}
