/**
 * Renders answers for clients of Anthropic's Messages API. OpenAI's choices and our usage become a message or its stream events, for models
 * of every provider. Source: docs.claude.com/en/api/messages, …/messages-streaming.
 */
import { completionTokens, NO_USAGE, type TokenUsage } from "#shared/calls/pricing/usage.ts";

import { arrange } from "../../providers/anthropic/order.ts";
import { type Members, membersOf, objectOf, parseObject, textOf } from "../../providers/json.ts";
import { ProviderError } from "../../providers/provider.ts";
import { CREDITS_PLACE } from "../credits-place.ts";

import { BlockStream, event, type Piece } from "./anthropic-blocks.ts";
import { type CallPiece, callsOf, firstChoice, signedBlock, thoughtOf } from "./answer-parts.ts";
import type { TextRendering } from "./render.ts";
import { contentText } from "./stream-so-far.ts";

/** Creates the renderer for one attempt of a call. */
export function createAnthropicRendering(call: {
  jobId: string;
  model: string;
  /** Stop sequences of the client's request. A provider may report which of them ended the answer. */
  stops: readonly string[];
}): TextRendering {
  const id = call.jobId.replaceAll("-", "");
  const newCallId = (at: number): string => `toolu_${id}${at}`;
  let tier = "standard";
  const note = (extra: Members | undefined): void => {
    if (typeof extra?.["service_tier"] === "string")
      tier = extra["service_tier"] === "priority" ? "priority" : "standard";
  };
  const message = (content: readonly unknown[], ending: Ending, usage: Members): Members => ({
    id: `msg_${id}`,
    type: "message",
    role: "assistant",
    model: call.model,
    content,
    ...ending,
    container: null,
    usage,
  });
  const blocks = new BlockStream(newCallId);
  let isBegun = false;
  let choiceAtEnd: Members = {};
  let isRefused = false;
  const begin = (usage: TokenUsage): string => {
    if (isBegun) return "";
    isBegun = true;
    return event("message_start", { message: message([], NOT_ENDED, anthropicUsage(usage, tier)) }) + event("ping");
  };
  return {
    completion(result, usage) {
      note(result.extra);
      const choice = firstChoice(result.choices);
      const answer = objectOf(choice["message"]);
      const calls = callsOf(answer);
      const uses = calls.map((one, at) => toolUse(one, () => newCallId(at)));
      const content = contentOf(answer, uses);
      const ending = endingOf(choice, calls.length > 0, isRefusal(answer), call.stops);
      return JSON.stringify(message(content, ending, finalUsage(usage, tier)));
    },
    chunk(delta) {
      note(delta.extra);
      const reported = typeof delta.usage === "object" ? delta.usage : null;
      let events = begin(reported ?? delta.inputUsage ?? NO_USAGE);
      const choice = firstChoice(delta.choices);
      const added = objectOf(choice["delta"]);
      isRefused ||= isRefusal(added);
      if (typeof choice["finish_reason"] === "string") choiceAtEnd = choice;
      for (const piece of piecesOf(added)) events += blocks.add(piece);
      return events;
    },
    end(usage) {
      const { hasCalls } = blocks;
      const lastBlockEvents = begin(usage) + blocks.end();
      const ending = endingOf(choiceAtEnd, hasCalls, isRefused, call.stops);
      return (
        lastBlockEvents +
        event("message_delta", { delta: ending, usage: finalUsage(usage, tier) }) +
        event("message_stop")
      );
    },
  };
}

/** Converts our usage to Anthropic's format, in which no token is counted in two members. */
function anthropicUsage(usage: TokenUsage, tier: string): Record<string, unknown> {
  return {
    input_tokens: usage.input + usage.audioInput + usage.imageInput,
    cache_creation_input_tokens: usage.cacheWrite5m + usage.cacheWrite1h,
    cache_read_input_tokens: usage.cachedInput,
    cache_creation: {
      ephemeral_5m_input_tokens: usage.cacheWrite5m,
      ephemeral_1h_input_tokens: usage.cacheWrite1h,
    },
    output_tokens: completionTokens(usage),
    output_tokens_details: { thinking_tokens: usage.reasoning },
    server_tool_use: null,
    service_tier: tier,
  };
}

/** Returns the usage of a complete answer, with the place of its charge. */
function finalUsage(usage: TokenUsage, tier: string): Members {
  return { ...anthropicUsage(usage, tier), credits: CREDITS_PLACE };
}

interface Ending {
  readonly stop_reason: string | null;
  readonly stop_sequence: string | null;
  readonly stop_details: Members | null;
}

const NOT_ENDED: Ending = { stop_reason: null, stop_sequence: null, stop_details: null };

/** Member names in which Anthropic, vLLM and SGLang report the stop sequence that ended the answer. */
const MET_STOP = ["stop_sequence", "stop_reason", "matched_stop"] as const;

function endingOf(choice: Members, hasCalls: boolean, isRefused: boolean, stops: readonly string[]): Ending {
  const because = choice["finish_reason"];
  if (because === "length") return { ...NOT_ENDED, stop_reason: "max_tokens" };
  if (because === "content_filter" || isRefused) {
    const details = { type: "refusal", category: null, explanation: null };
    return { stop_reason: "refusal", stop_sequence: null, stop_details: details };
  }
  // A call that the request forced by name ends with OpenAI's `stop`, but clients of this API expect `tool_use`.
  if (hasCalls) return { ...NOT_ENDED, stop_reason: "tool_use" };
  const met = MET_STOP.map((name) => choice[name]).find((value) => stops.some((stop) => stop === value));
  if (typeof met === "string") return { ...NOT_ENDED, stop_reason: "stop_sequence", stop_sequence: met };
  return { ...NOT_ENDED, stop_reason: "end_turn" };
}

function isRefusal(message: Members): boolean {
  return textOf(message["refusal"]) !== "";
}

/** Returns the content blocks of a complete message. Thinking comes first if the provider does not report its position. */
function contentOf(message: Members, uses: readonly Members[]): Members[] {
  const thinking = membersOf(message["thinking_blocks"]).flatMap(signedBlock);
  const thought = thoughtOf(message);
  // The signed blocks contain the same text again.
  const hasThoughts = thought !== "" && !thinking.some(({ block }) => block["type"] === "thinking");
  const text = contentText(message["content"]) + textOf(message["refusal"]);
  const texts = text === "" ? [] : [{ type: "text", text }];
  return [
    ...(hasThoughts ? [{ type: "thinking", thinking: thought, signature: "" }] : []),
    ...arrange({ thinking, texts, calls: uses }, undefined),
  ];
}

/** Converts a tool call to its content block. @throws ProviderError `failed` if the call has no name, because no client could execute it */
function toolUse({ id, name, text }: CallPiece, newId: () => string): Members {
  if (name === undefined) throw new ProviderError("failed", "the answer holds a tool call without a name");
  return { type: "tool_use", id: id ?? newId(), name, input: inputOf(text) };
}

/** Parses a tool's input. Text that is no JSON object, or too deep to be serialized again, is wrapped as in Anthropic's documentation. */
function inputOf(text: string): Members {
  return text.trim() === "" ? {} : (parseObject(text) ?? { INVALID_JSON: text });
}

/** Yields the chunks of one delta in the order of an Anthropic stream. */
function* piecesOf(delta: Members): Generator<Piece> {
  const thought = thoughtOf(delta);
  yield { kind: "thinking", text: thought };
  for (const block of membersOf(delta["thinking_blocks"])) {
    if (block["type"] === "redacted_thinking") yield { kind: "redacted", data: textOf(block["data"]) };
    if (block["type"] !== "thinking") continue;
    const text = textOf(block["thinking"]);
    const signature = textOf(block["signature"]);
    if (signature !== "") yield { kind: "signature", text, signature };
    else if (thought === "") yield { kind: "thinking", text };
  }
  yield { kind: "text", text: contentText(delta["content"]) + textOf(delta["refusal"]) };
  yield* callsOf(delta);
}
