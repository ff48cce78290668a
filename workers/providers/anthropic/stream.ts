/** Converts the events of one streamed answer to deltas. Source: platform.claude.com/docs/en/build-with-claude/streaming. */
import { promptTokens } from "#shared/calls/pricing/usage.ts";
import { PROVIDER_BYTES_MAX } from "#workers/providers/http.ts";

import type { ChatStreamReader } from "../chat-wire.ts";
import { isMembers, type Members, membersOf, parseObject, textOf } from "../json.ts";
import { type ChatCall, type ChatDelta, ProviderError } from "../provider.ts";
import { declined, signedBlock } from "./answer.ts";
import { classifyErrorMember } from "./errors.ts";
import { finishReason, serviceTierOf, stopSequenceOf } from "./finish.ts";
import { afterMembers } from "./order.ts";
import { answerToolOf } from "./tools.ts";
import { readAnthropicUsage } from "./usage.ts";

/** Maximum number of tool calls in one stream. A stream with more is treated as a provider failure. */
const TOOL_CALLS_MAX = 1_024;

/** Content block of the stream that has not ended yet. Kinds that are not forwarded to the client are not stored. */
type Block =
  | { readonly kind: "text" }
  | { readonly kind: "thinking"; readonly block: Members; readonly after: Members; thinking: string; signature: string }
  | { readonly kind: "call"; readonly index: number; readonly input: unknown; hasArguments: boolean }
  | { readonly kind: "answer"; readonly input: unknown; hasArguments: boolean };

export function createReader(call: Pick<ChatCall, "request" | "traits">): ChatStreamReader {
  return new MessageStream(textOf(answerToolOf(call)?.["name"]));
}

class MessageStream implements ChatStreamReader {
  /** Name of the tool whose input is the JSON answer; empty if the call has no such tool. */
  private readonly answerTool: string;
  private readonly blocks = new Map<unknown, Block>();
  private start: Members | undefined;
  private calls = 0;
  /** Number of thinking blocks that were sent to the client. */
  private thoughts = 0;
  /** Number of characters of content that were sent to the client. */
  private saidLength = 0;
  private hasContent = false;
  private hasOutput = false;
  private hasAnswer = false;
  private isFinished = false;
  private malformed = 0;
  /** Answer text that is withheld. It is dropped if the model answers by the answer tool, and otherwise sent to the client. */
  private held = "";
  private hiddenLength = 0;

  constructor(answerTool: string) {
    this.answerTool = answerTool;
  }

  read({ data }: { readonly data: string }): ChatDelta | "done" | undefined {
    const event = parseObject(data);
    if (!event) {
      // One broken event is skipped; if it was essential, the missing stop reason reveals it.
      this.malformed += 1;
      return undefined;
    }
    switch (event["type"]) {
      case "message_start":
        return this.begin(event["message"]);
      case "content_block_start":
        // Kept until the block is closed, which may never happen.
        this.hide(data);
        return this.open(event["index"], event["content_block"]);
      case "content_block_delta":
        return this.add(event["index"], event["delta"]);
      case "content_block_stop":
        return this.close(event["index"]);
      case "message_delta":
        return this.finish(event);
      case "message_stop":
        return "done";
      case "error":
        throw classifyErrorMember(event["error"]);
      default:
        return undefined;
    }
  }

  end(): void {
    if (this.isFinished) return;
    const detail = `the stream ended without a stop reason (${this.malformed} malformed events)`;
    throw new ProviderError("failed", detail);
  }

  private begin(message: unknown): ChatDelta | undefined {
    const start = isMembers(message) ? message : {};
    if (this.start === undefined) {
      this.start = start;
      return { ...delta({ role: "assistant" }), ...inputUsageOf(start["usage"]), ...serviceTierOf(start["usage"]) };
    }
    // A repeated start is harmless; a second answer within the stream cannot be separated from the first.
    if (start["id"] === this.start["id"] || !this.hasContent) return undefined;
    throw new ProviderError("failed", "another message began before the first had ended");
  }

  private open(index: unknown, rawBlock: unknown): ChatDelta | undefined {
    const block = isMembers(rawBlock) ? rawBlock : {};
    const { type, input } = block;
    this.hasContent = true;
    this.blocks.delete(index);
    if (type === "text") {
      this.blocks.set(index, { kind: "text" });
      return this.say(textOf(block["text"]));
    }
    if (type === "thinking" || type === "redacted_thinking") {
      // If a tool contains the answer, positions in the surrounding text have no meaning.
      const after = this.answerTool === "" ? afterMembers(this.saidLength, this.calls) : {};
      this.blocks.set(index, { kind: "thinking", block, after, thinking: "", signature: textOf(block["signature"]) });
      return this.think(index, textOf(block["thinking"]));
    }
    if (type !== "tool_use") return undefined;
    if (this.answerTool !== "" && block["name"] === this.answerTool) {
      // Only the first call is the answer; a second would invalidate it.
      if (!this.hasAnswer) this.blocks.set(index, { kind: "answer", input, hasArguments: false });
      this.hasAnswer = true;
      return undefined;
    }
    if (this.calls >= TOOL_CALLS_MAX) throw new ProviderError("failed", "the stream opens too many tool calls");
    const ours = this.calls++;
    this.blocks.set(index, { kind: "call", index: ours, input, hasArguments: false });
    const fn = { name: textOf(block["name"]), arguments: "" };
    return this.output({ tool_calls: [{ index: ours, id: textOf(block["id"]), type: "function", function: fn }] });
  }

  private add(index: unknown, rawDelta: unknown): ChatDelta | undefined {
    const piece = isMembers(rawDelta) ? rawDelta : {};
    const block = this.blocks.get(index);
    switch (piece["type"]) {
      case "text_delta":
        return this.say(textOf(piece["text"]));
      case "thinking_delta":
        return this.think(index, textOf(piece["thinking"]));
      case "signature_delta":
        if (block?.kind === "thinking") block.signature += this.hide(textOf(piece["signature"]));
        return undefined;
      case "input_json_delta":
        return block && this.argue(block, textOf(piece["partial_json"]));
      default:
        return undefined;
    }
  }

  private say(text: string): ChatDelta | undefined {
    if (text === "") return undefined;
    if (this.answerTool === "") return this.output({ content: text });
    this.held += this.hide(text);
    return undefined;
  }

  private think(index: unknown, text: string): ChatDelta | undefined {
    if (text === "") return undefined;
    const block = this.blocks.get(index);
    if (block?.kind === "thinking") block.thinking += this.hide(text);
    return this.output({ reasoning_content: text });
  }

  private argue(block: Block, text: string): ChatDelta | undefined {
    if (text === "" || (block.kind !== "call" && block.kind !== "answer")) return undefined;
    block.hasArguments = true;
    if (block.kind === "answer") return this.output({ content: text });
    return this.output({ tool_calls: [{ index: block.index, function: { arguments: text } }] });
  }

  private close(index: unknown): ChatDelta | undefined {
    const block = this.blocks.get(index);
    if (!block) return undefined;
    this.blocks.delete(index);
    const wholeDelta = this.whole(block);
    if (wholeDelta) return wholeDelta;
    if (block.kind !== "thinking") return undefined;
    const { thinking, signature, after } = block;
    // Clients that merge lists by OpenAI's rule require an index on each item.
    const signed = signedBlock({ ...block.block, thinking, signature }, { index: this.thoughts, ...after });
    this.thoughts += signed.length;
    // Invisible to the client, so it is no output: a refusal may still follow.
    return signed.length > 0 ? delta({ thinking_blocks: signed }) : undefined;
  }

  /**
   * Returns the arguments that the first event of a tool call contained, or `{}` for a call without arguments. Clients can then parse the
   * arguments as JSON. Undefined if arguments were already sent.
   */
  private whole(block: Block): ChatDelta | undefined {
    if ((block.kind !== "call" && block.kind !== "answer") || block.hasArguments) return undefined;
    return this.argue(block, JSON.stringify(isMembers(block.input) ? block.input : {}));
  }

  private finish(event: Members): ChatDelta | undefined {
    const ending = isMembers(event["delta"]) ? event["delta"] : {};
    const stopReason = textOf(ending["stop_reason"]);
    const hasUsage = event["usage"] !== undefined && event["usage"] !== null;
    const usage = hasUsage ? { usage: readAnthropicUsage(event["usage"], this.start?.["usage"]) } : {};
    if (stopReason === "" || this.isFinished) return hasUsage ? { choices: [], ...usage } : undefined;
    this.isFinished = true;
    const isUnsaid = this.held === "" || this.hasAnswer;
    if (stopReason === "refusal" && !this.hasOutput && isUnsaid) throw declined(ending["stop_details"]);
    const unfinished = [...this.blocks.keys()].flatMap((index) => this.close(index)?.choices ?? []);
    const remainder = mergePieces(unfinished, isUnsaid ? "" : this.held);
    return { ...delta(remainder, finishReason(stopReason, this.calls > 0), stopSequenceOf(ending)), ...usage };
  }

  private output(piece: Members): ChatDelta {
    this.hasOutput = true;
    this.saidLength += textOf(piece["content"]).length;
    return delta(piece);
  }

  /**
   * Counts the characters that a stream makes us store without sending them, and returns the text unchanged.
   * @throws ProviderError `failed` above the limit
   */
  private hide(text: string): string {
    this.hiddenLength += text.length;
    if (this.hiddenLength > PROVIDER_BYTES_MAX) {
      throw new ProviderError("failed", "the stream thinks more than any answer holds");
    }
    return text;
  }
}

/** Merges the unsent deltas of blocks that have not ended, and the withheld text, into one delta. */
function mergePieces(choices: readonly Members[], text: string): Members {
  const pieces = choices.map((choice) => choice["delta"] as Members);
  const content = pieces.map((piece) => textOf(piece["content"])).join("") + text;
  const calls = pieces.flatMap((piece) => membersOf(piece["tool_calls"]));
  const thinking = pieces.flatMap((piece) => membersOf(piece["thinking_blocks"]));
  return {
    ...(content === "" ? {} : { content }),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
    ...(thinking.length > 0 ? { thinking_blocks: thinking } : {}),
  };
}

function delta(piece: Members, finish: string | null = null, more: Members = {}): ChatDelta {
  return { choices: [{ index: 0, delta: piece, logprobs: null, finish_reason: finish, ...more }] };
}

/** Returns the input usage that is reported at the beginning of a stream, including cache reads and writes; empty if unknown. */
function inputUsageOf(report: unknown): Pick<ChatDelta, "inputUsage"> {
  const usage = readAnthropicUsage(report);
  if (usage === null || usage === "impossible" || promptTokens(usage) === 0) return {};
  return { inputUsage: { ...usage, output: 0, reasoning: 0 } };
}
