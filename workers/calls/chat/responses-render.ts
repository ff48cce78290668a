/** Renders answers for clients of OpenAI's Responses API, for all families: a response or its events. */
import type { ModelResponse, ResponseLogprob } from "#schemas/generated/types.ts";
import { completionTokens, promptTokens, type TokenUsage } from "#shared/calls/pricing/usage.ts";
import type { RenamedTool } from "#shared/responses/tool-names.ts";

import { arrange } from "../../providers/anthropic/order.ts";
import { isMembers, type Members, membersOf, objectOf, textOf } from "../../providers/json.ts";

import { callsOf, firstChoice, signedBlock, thoughtOf } from "./answer-parts.ts";
import type { TextRendering } from "./render.ts";
import { type ItemPiece, ItemStream, type WriteEvent } from "./responses-items.ts";
import { contentText } from "./stream-so-far.ts";

/**
 * Creates the rendering of one attempt.
 * @param call `response`: object that the answer completes; `renamed`: tools with other names for the client; `logprobs`: requested;
 * `firstEvent`: number of the first event, if others sent the event of the creation; `onWhole`: called with the complete response
 */
export function createResponsesRendering(call: {
  readonly response: ModelResponse;
  readonly renamed?: readonly RenamedTool[];
  readonly model: string;
  readonly logprobs: boolean;
  readonly firstEvent?: number;
  readonly onWhole?: (response: ModelResponse) => void;
}): TextRendering {
  const begun: ModelResponse = { ...call.response, model: call.model };
  const facts = {
    id: begun.id.slice(begun.id.indexOf("_") + 1),
    summarises: begun.reasoning.summary !== null,
    renamed: new Map((call.renamed ?? []).map((tool) => [tool.shown, tool])),
  };
  const { firstEvent = 0 } = call;
  let sequence = firstEvent;
  const write: WriteEvent = (type, members) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence++, ...members })}\n\n`;
  const items = new ItemStream(facts, write);
  let reason: unknown = null;
  const begin = (): string => {
    if (sequence > firstEvent) return "";
    const created = firstEvent === 0 ? write("response.created", { response: begun }) : "";
    return created + write("response.in_progress", { response: begun });
  };
  return {
    completion(result, usage) {
      const choice = firstChoice(result.choices);
      const whole = new ItemStream(facts, () => "");
      for (const piece of wholePieces(choice, call.logprobs)) whole.add(piece);
      const ending = endingOf(choice["finish_reason"]);
      whole.end(ending.status === "incomplete");
      const response: ModelResponse = { ...begun, ...ending, output: whole.output, usage: usageOf(usage) };
      call.onWhole?.(response);
      return JSON.stringify(response);
    },
    chunk(delta) {
      let events = begin();
      const choice = firstChoice(delta.choices);
      if (typeof choice["finish_reason"] === "string") reason = choice["finish_reason"];
      for (const piece of piecesOf(choice, call.logprobs)) events += items.add(piece);
      return events;
    },
    end(usage) {
      const ending = endingOf(reason);
      const rest = begin() + items.end(ending.status === "incomplete");
      const response: ModelResponse = { ...begun, ...ending, output: items.output, usage: usageOf(usage) };
      call.onWhole?.(response);
      return `${rest}${write(`response.${ending.status}`, { response })}data: [DONE]\n\n`;
    },
  };
}

function endingOf(
  reason: unknown,
): Pick<ModelResponse, "completed_at" | "incomplete_details"> & { readonly status: "completed" | "incomplete" } {
  const limit = reason === "length" ? "max_output_tokens" : reason === "content_filter" ? "content_filter" : undefined;
  if (limit !== undefined) return { status: "incomplete", completed_at: null, incomplete_details: { reason: limit } };
  return { status: "completed", completed_at: Math.floor(Date.now() / 1_000), incomplete_details: null };
}

function usageOf(usage: TokenUsage): ModelResponse["usage"] {
  const input = promptTokens(usage);
  const output = completionTokens(usage);
  return {
    input_tokens: input,
    input_tokens_details: {
      cached_tokens: usage.cachedInput,
      cache_write_tokens: usage.cacheWrite5m + usage.cacheWrite1h,
    },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: input + output,
  };
}

/** Yields the pieces of one delta in the order of a Responses stream. */
function* piecesOf(choice: Members, logprobs: boolean): Generator<ItemPiece> {
  const delta = objectOf(choice["delta"]);
  const thought = thoughtOf(delta);
  yield { kind: "thought", text: thought };
  for (const { block } of membersOf(delta["thinking_blocks"]).flatMap(signedBlock)) {
    const piece = pieceOfBlock(block);
    // Without a signature, the block only repeats the text beside it.
    if (piece.kind === "sealed" || thought === "") yield piece;
  }
  yield* wordsOf(choice, delta, logprobs);
  yield* callsOf(delta);
}

/** Yields the pieces of a whole message: thinking comes first if the source does not report its position. */
function* wholePieces(choice: Members, logprobs: boolean): Generator<ItemPiece> {
  const message = objectOf(choice["message"]);
  const thinking = membersOf(message["thinking_blocks"]).flatMap(signedBlock);
  const calls = callsOf(message);
  if (!thinking.some(({ block }) => block["type"] === "thinking")) yield { kind: "thought", text: thoughtOf(message) };
  if (!thinking.some(({ after }) => after !== undefined)) {
    for (const { block } of thinking) yield pieceOfBlock(block);
    yield* wordsOf(choice, message, logprobs);
    yield* calls;
    return;
  }
  const texts = [{ type: "text", text: contentText(message["content"]) }].filter(({ text }) => text !== "");
  for (const block of arrange({ thinking, texts, calls: calls.map((call) => ({ ...call })) }, undefined)) {
    const call = calls.find((one) => one.call === block["call"]);
    if (call) yield call;
    else if (block["type"] === "text") yield { kind: "text", text: textOf(block["text"]), logprobs: [] };
    else yield pieceOfBlock(block);
  }
  yield { kind: "refusal", text: textOf(message["refusal"]) };
}

function pieceOfBlock(block: Members): ItemPiece {
  const text = textOf(block["thinking"]);
  if (block["type"] === "redacted_thinking" || block["signature"] !== "") return { kind: "sealed", block, text };
  return { kind: "thought", text };
}

function* wordsOf(choice: Members, message: Members, asked: boolean): Generator<ItemPiece> {
  yield { kind: "text", text: contentText(message["content"]), logprobs: asked ? logprobsOf(choice) : [] };
  yield { kind: "refusal", text: textOf(message["refusal"]) };
  const list = membersOf(message["annotations"]).map(annotationOf);
  if (list.length > 0) yield { kind: "annotations", list };
}

function logprobsOf(choice: Members): ResponseLogprob[] {
  return membersOf(objectOf(choice["logprobs"])["content"]).map((one) => ({
    ...logprobOf(one),
    top_logprobs: membersOf(one["top_logprobs"]).map(logprobOf),
  }));
}

function logprobOf({ token, logprob, bytes }: Members): { token: string; logprob: number; bytes: number[] } {
  return {
    token: textOf(token),
    logprob: typeof logprob === "number" ? logprob : 0,
    bytes: Array.isArray(bytes) ? bytes.filter((byte) => typeof byte === "number") : [],
  };
}

/** Flattens an annotation: Chat puts the contents of a citation under its type. */
function annotationOf(annotation: Members): Members {
  const { type } = annotation;
  const inner = typeof type === "string" ? annotation[type] : undefined;
  return isMembers(inner) ? { type, ...inner } : annotation;
}
