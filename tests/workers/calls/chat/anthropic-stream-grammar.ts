/** The grammar of an Anthropic stream as a small state machine: reads one, or throws at the first event out of place. */
import { validate } from "#shared/json/contracts.ts";

export interface Block {
  readonly type: string;
  [member: string]: unknown;
}

export interface StreamedMessage {
  readonly id: unknown;
  readonly content: readonly Block[];
  readonly stop_reason: unknown;
  readonly stop_sequence: unknown;
  readonly startUsage: Readonly<Record<string, unknown>>;
  readonly usage: Readonly<Record<string, unknown>>;
}

type Members = Readonly<Record<string, unknown>>;

/** Member of a block that each kind of delta adds to; a call's input is gathered as text. */
const TARGETS: Readonly<Record<string, readonly [block: string, member: string, source: string]>> = {
  text_delta: ["text", "text", "text"],
  thinking_delta: ["thinking", "thinking", "thinking"],
  signature_delta: ["thinking", "signature", "signature"],
  input_json_delta: ["tool_use", "input", "partial_json"],
};

/** A stream that ended well, put together. */
export function readStream(text: string): StreamedMessage {
  const events = eventsOf(text);
  const content: Block[] = [];
  let start: Members | undefined;
  let end: { delta: Members; usage: Members } | undefined;
  let openIndex: number | undefined;
  let isStopped = false;
  for (const { type, members } of events) {
    const out = (why: string): never => {
      throw new Error(`${type} out of place: ${why}`);
    };
    if (isStopped) out("behind message_stop");
    if (start === undefined && type !== "message_start") out("before message_start");
    if (end !== undefined && type !== "message_stop") out("behind message_delta");
    switch (type) {
      case "message_start":
        if (start !== undefined) out("a second one");
        start = members["message"] as Members;
        if ((start["content"] as unknown[]).length > 0) out("content before its events");
        break;
      case "ping":
        break;
      case "content_block_start":
        if (openIndex !== undefined) out("another block is open");
        if (members["index"] !== content.length) out("an index with gaps");
        openIndex = content.length;
        content.push({ ...(members["content_block"] as Block), ...emptyInput(members["content_block"] as Block) });
        break;
      case "content_block_delta": {
        if (openIndex === undefined || members["index"] !== openIndex) out("not of the open block");
        const delta = members["delta"] as Members;
        const [kind, member, source] = TARGETS[String(delta["type"])] ?? out("an unknown delta");
        const block = content[openIndex ?? -1];
        if (block?.type !== kind) return out("a delta of another kind of block");
        if (block["signature"] !== undefined && block["signature"] !== "") out("behind the signature");
        block[member] = String(block[member]) + String(delta[source]);
        break;
      }
      case "content_block_stop":
        if (openIndex === undefined || members["index"] !== openIndex) out("not of the open block");
        openIndex = undefined;
        break;
      case "message_delta":
        if (openIndex !== undefined) out("a block is open");
        end = members as unknown as { delta: Members; usage: Members };
        break;
      case "message_stop":
        if (end === undefined) out("before message_delta");
        isStopped = true;
        break;
      default:
        out("unknown");
    }
  }
  if (!start || !end || !isStopped) throw new Error("the stream is not whole");
  const { stop_reason, stop_sequence } = end.delta;
  return {
    id: start["id"],
    content,
    stop_reason,
    stop_sequence,
    startUsage: start["usage"] as Members,
    usage: end.usage,
  };
}

function emptyInput(block: Block): object {
  return block.type === "tool_use" ? { input: "" } : {};
}

function eventsOf(text: string): { type: string; members: Members }[] {
  if (!text.endsWith("\n\n")) throw new Error("the stream ends inside an event");
  return text
    .slice(0, -2)
    .split("\n\n")
    .map((lines) => {
      // A line ends with \n alone: U+2028 may stand in it.
      const match = /^event: ([a-z_]+)\ndata: ([^\n]*)$/.exec(lines);
      if (!match) throw new Error(`no event: ${lines.slice(0, 80)}`);
      const members = JSON.parse(match[2] ?? "") as Members;
      const fault = validate("MessageStreamEvent", members);
      if (fault) throw new Error(`${match[1]}: ${fault.message}`);
      if (members["type"] !== match[1]) throw new Error(`${match[1]} says it is ${String(members["type"])}`);
      return { type: match[1] ?? "", members };
    });
}
