/**
 * Answers chat completions with a tool of type `sluice`. Each model turn is a chat call, and the turns are combined into the caller's
 * response.
 */
import type {
  ChatCompletion,
  ChatCompletionChunk,
  ChatCompletionRequest,
  ChatMessage,
  ChatTool,
  SluiceCall,
  SluiceSummary,
  ToolCall,
} from "#schemas/generated/types.ts";
import { CHAT } from "#shared/calls/kinds/chat.ts";
import { lowerMax, takeMaxCredits } from "#shared/calls/max-credits.ts";
import { ApiError, errorEnvelope } from "#shared/base/errors.ts";
import { type ExactIntegers, exactIntegersOf } from "#shared/json/serialize.ts";
import { SMALL_BODY_BYTES_MAX } from "#shared/json/tokens.ts";
import { formatCredits, parseCredits } from "#shared/base/money.ts";

import { json } from "../core/answers.ts";
import type { ReadBody } from "../core/body.ts";
import type { IngressContext } from "../context.ts";
import type { RouteCall } from "../core/call.ts";
import { headerMax } from "../core/max-credits.ts";
import { dataOf, DONE, sseEvent } from "../core/sse.ts";
import { readLabels } from "../core/labels.ts";
import { withParam } from "../core/with-param.ts";
import type { ApiClient } from "./api-client.ts";
import { answerInEvents, servedBy, toEnd } from "./answer.ts";
import { type AskedCall, type ToolLoopFormat, failureIn, laterChoice, type Turn, TurnsFailed } from "./loop.ts";
import { type ToolSet, readToolSet } from "./tool-set.ts";

/** True if a request body has a tool of type `sluice`. The format of the tool is not checked. */
export function asksTools(value: unknown): boolean {
  const tools: unknown = (value as { tools?: unknown } | null)?.tools;
  return Array.isArray(tools) && tools.some((tool: unknown) => (tool as { type?: unknown } | null)?.type === "sluice");
}

/**
 * Runs a chat call that has a tool of type `sluice`, and returns its response.
 * @throws ApiError for invalid tools; the errors of the model turns
 */
export async function answerChatWithTools(
  context: IngressContext,
  call: RouteCall,
  { value, text, textBytes }: ReadBody,
): Promise<Response> {
  if (textBytes > TOOLS_BODY_BYTES_MAX) throw tooLarge("request");
  const { request, maxNano: ownNano } = takeMaxCredits(CHAT.read(value));
  const maxNano = lowerMax(ownNano, headerMax(call.request));
  if ((request.n ?? 1) > 1) {
    throw new ApiError("unsupported_value", "Expected n to be 1 with a tool of type sluice.", { param: "n" });
  }
  const toolSet = await readToolSet(context, call, request.tools ?? [], { nameOf });
  if (!toolSet) throw new Error("a call without such a tool");
  const format = new ChatToolLoopFormat(request, toolSet, exactIntegersOf(text));
  const labels = readLabels(call, request);
  const turns = {
    ...call,
    affinity: call.requestId,
    drawId: call.requestId,
    ...(labels === undefined ? {} : { labels }),
  };
  const loop = { context, call: turns, tools: toolSet.tools, limits: { ...toolSet.limits, maxNano } };
  if (request.stream !== true)
    return format.answer(await toEnd({ ...loop, clientSignal: call.request.signal }, format));
  return answerInEvents(loop, format, format);
}

/** Maximum size of a body with a tool that the service runs, in bytes. The body stays in memory because each turn sends it again. */
export const TOOLS_BODY_BYTES_MAX = SMALL_BODY_BYTES_MAX;

/** Returns the error for a body above TOOLS_BODY_BYTES_MAX. @param type type of the tool that the service runs */
export function tooLarge(noun: string, type = "sluice"): ApiError {
  const message = `Expected a ${noun} of at most ${TOOLS_BODY_BYTES_MAX} bytes with a tool of type ${type}, got more. Send larger files by file_id or URL.`;
  return new ApiError("request_too_large", message);
}

export function creditsText({ credits_used: credits }: SluiceSummary): string {
  return formatCredits(parseCredits(String(credits)));
}

function nameOf(tool: Exclude<ChatTool, { readonly type: "sluice" }>): string {
  return tool.type === "function" ? tool.function.name : tool.custom.name;
}

type Members = Record<string, unknown>;

/** Message of the model, assembled from the chunks that have arrived. */
interface Draft {
  readonly message: Members;
  readonly calls: ToolCall[];
  finish: string;
}

class ChatToolLoopFormat implements ToolLoopFormat {
  served: Readonly<Record<string, string>> = {};
  private readonly request: ChatCompletionRequest;
  private readonly toolSet: ToolSet<ChatTool>;
  private readonly integers: ExactIntegers | undefined;
  /** Messages of the completed turns. */
  private readonly messages: ChatMessage[] = [];
  private ended: SluiceCall[] = [];
  private draft: Draft = { message: {}, calls: [], finish: "stop" };
  private usage: Members = {};
  /** Members that all chunks have in common, for a streamed call. The model's latest completion, for a call without streaming. */
  private head: ChatCompletion | ChatCompletionChunk | undefined;
  private hasText = false;

  constructor(request: ChatCompletionRequest, toolSet: ToolSet<ChatTool>, integers: ExactIntegers | undefined) {
    this.request = request;
    this.toolSet = toolSet;
    this.integers = integers;
  }

  async *ask(api: ApiClient, round: number, clientSignal: AbortSignal): AsyncGenerator<Uint8Array, Turn> {
    this.closeTurn();
    const answer = await this.post(api, round, clientSignal);
    this.served = servedBy(answer);
    this.draft = { message: {}, calls: [], finish: "stop" };
    if (this.request.stream === true) yield* this.relay(answer, round, clientSignal);
    else this.take((await answer.json()) as ChatCompletion);
    const { calls, finish } = this.draft;
    // A truncated response has incomplete arguments.
    if (finish === "length" || finish === "content_filter") return { asked: [], handsOver: false };
    const asked = calls.flatMap((one) => (this.isOurs(one) ? [askedOf(one)] : []));
    return { asked, handsOver: asked.length < calls.length };
  }

  formatCall(call: SluiceCall): Uint8Array {
    if (call.status !== "in_progress") this.ended.push(call);
    return this.event({ choices: [], sluice: call });
  }

  /** Returns the response of a call without streaming. */
  answer(summary: SluiceSummary): Response {
    this.closeTurn(summary.ended_by === "handover");
    const handed = this.draft.calls.filter((one) => !this.isOurs(one));
    const body = {
      ...this.head,
      choices: [
        {
          ...(this.head?.choices[0] as Members | undefined),
          index: 0,
          message: {
            content: null,
            ...this.draft.message,
            role: "assistant",
            ...(handed.length === 0 ? {} : { tool_calls: handed }),
          },
          finish_reason: this.finishOf(summary),
        },
      ],
      usage: { ...this.usage, credits: summary.credits_used },
      sluice: { ...summary, messages: this.messages },
    };
    return json(body, { ...this.served, "x-credits-used": creditsText(summary) });
  }

  /** Yields the last events of a successful stream. */
  *end(summary: SluiceSummary): Generator<Uint8Array> {
    this.closeTurn(summary.ended_by === "handover");
    const { calls: _calls, ...rest } = summary;
    yield this.event({ choices: [{ index: 0, delta: {}, finish_reason: this.finishOf(summary) }] });
    yield this.event({ choices: [], sluice: { ...rest, messages: this.messages } });
    const usage = { ...this.usage, credits: summary.credits_used };
    if (this.request.stream_options?.include_usage === true) yield this.event({ choices: [], usage });
    yield DONE;
  }

  /** Returns the last events of a failed stream. */
  fail(error: ApiError): Uint8Array {
    const errorEvent = Buffer.from(sseEvent(errorEnvelope(error.code, error.message, error.param)));
    if (!(error instanceof TurnsFailed)) return errorEvent;
    this.closeTurn();
    const { calls: _calls, ...rest } = error.summary;
    return Buffer.concat([this.event({ choices: [], sluice: { ...rest, messages: this.messages } }), errorEvent]);
  }

  private async post(api: ApiClient, round: number, clientSignal: AbortSignal): Promise<Response> {
    const { toolSet, request, messages } = this;
    const functions = [...toolSet.tools.values()].map(({ name, description, parameters }) => ({
      type: "function",
      function: { name, description, parameters },
    }));
    const isStream = request.stream === true;
    const body = {
      ...request,
      messages: [...request.messages, ...messages],
      tools: [...toolSet.others, ...functions],
      ...(round > 1 && request.tool_choice !== undefined ? { tool_choice: laterChoiceOf(request.tool_choice) } : {}),
      ...(isStream ? { stream_options: { ...request.stream_options, include_usage: true } } : {}),
    };
    try {
      return await api.ask("createChatCompletion", { body, integers: this.integers, signal: clientSignal });
    } catch (error) {
      throw withParam(error, toolSet.paramOf);
    }
  }

  private take(completion: ChatCompletion): void {
    this.head = { ...completion, ...(this.head ? { id: this.head.id, created: this.head.created } : {}) };
    this.usage = sum(this.usage, completion.usage);
    const [choice] = completion.choices;
    const { tool_calls: calls = [], ...message } = choice?.message ?? { role: "assistant", content: null };
    this.draft = { message, calls: [...calls], finish: choice?.finish_reason ?? "stop" };
  }

  private async *relay(answer: Response, round: number, clientSignal: AbortSignal): AsyncGenerator<Uint8Array, void> {
    const places = new Map<number, ToolCall>();
    const handed = new Map<number, number>();
    let isWhole = false;
    for await (const data of dataOf(answer, clientSignal)) {
      if (data === "[DONE]") {
        isWhole = true;
        continue;
      }
      const chunk = JSON.parse(data) as ChatCompletionChunk & { readonly error?: Members };
      if (chunk.error) throw failureIn(chunk.error);
      const { usage, choices, ...head } = chunk;
      this.head ??= { ...head, choices: [] };
      this.usage = sum(this.usage, usage);
      const [choice] = choices;
      if (!choice) continue;
      if (choice.finish_reason !== null) this.draft.finish = choice.finish_reason;
      const { tool_calls: pieces = [], ...delta } = choice.delta;
      append(this.draft.message, delta);
      const own = pieces.flatMap((piece) => {
        const known = places.get(piece.index);
        const one = known ?? openCall(piece);
        if (!known) {
          places.set(piece.index, one);
          this.draft.calls.push(one);
          if (!this.isOurs(one)) handed.set(piece.index, handed.size);
        } else appendCall(one, piece);
        const index = handed.get(piece.index);
        return index === undefined ? [] : [{ ...piece, index }];
      });
      const callerDelta = this.toCallerDelta(delta, own, round);
      if (Object.keys(callerDelta).length > 0 || choice.logprobs != null) {
        yield this.event({ ...head, choices: [{ ...choice, delta: callerDelta, finish_reason: null }] });
      }
    }
    if (!isWhole) throw new ApiError("internal_error", "A part of the response was lost; try again.");
  }

  /**
   * Converts a delta of the model into a delta for the caller. The combined response has one role, and a blank line between the texts of
   * its turns.
   */
  private toCallerDelta(delta: Members, calls: readonly object[], round: number): Members {
    const { role, content, ...rest } = delta;
    const isText = typeof content === "string" && content !== "";
    const isFirstText = isText && round > 1 && this.hasText && this.draft.message["content"] === content;
    if (isText) this.hasText = true;
    return {
      ...(role === undefined || round > 1 ? {} : { role }),
      ...(content === undefined ? {} : { content: isFirstText ? `\n\n${content}` : content }),
      ...rest,
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    };
  }

  private event(members: Members): Uint8Array {
    const { head } = this;
    return sseEvent({ ...head, ...members, id: head?.id, created: head?.created, object: "chat.completion.chunk" });
  }

  /**
   * Adds the finished turn to the messages: the model's message with its tool calls, and the results of the tools.
   * @param isHandover true if the caller receives the turn's text directly in the response; the added message then omits the text
   */
  private closeTurn(isHandover = false): void {
    const { ended, draft } = this;
    this.ended = [];
    if (ended.length === 0) return;
    const ids = new Set(ended.map(({ call_id: id }) => id));
    const calls = draft.calls.filter((one) => this.isOurs(one) && ids.has(one.id));
    const content = isHandover ? null : (draft.message["content"] ?? null);
    this.messages.push({ ...draft.message, role: "assistant", content, tool_calls: calls } as ChatMessage);
    for (const { call_id: id, output } of ended) {
      this.messages.push({ role: "tool", tool_call_id: id, content: output ?? "" });
    }
  }

  private isOurs(call: ToolCall): call is Extract<ToolCall, { readonly type: "function" }> {
    return call.type === "function" && this.toolSet.tools.has(call.function.name);
  }

  private finishOf({ ended_by: endedBy }: SluiceSummary): string {
    if (endedBy === "handover") return "tool_calls";
    return endedBy === "answer" ? this.draft.finish : "length";
  }
}

function laterChoiceOf(choice: NonNullable<ChatCompletionRequest["tool_choice"]>) {
  if (typeof choice === "string") return laterChoice(choice);
  if (choice.type !== "allowed_tools") return "auto";
  return { ...choice, allowed_tools: { ...choice.allowed_tools, mode: "auto" } };
}

function askedOf({ id, function: { name, arguments: text } }: Extract<ToolCall, { type: "function" }>): AskedCall {
  return { callId: id, name, text };
}

type CallPiece = NonNullable<ChatCompletionChunk["choices"][number]["delta"]["tool_calls"]>[number];

function openCall({ index: _index, ...piece }: CallPiece): ToolCall {
  const { id = "", function: target, custom } = piece;
  if (custom) {
    return { ...piece, id, type: "custom", custom: { name: custom.name ?? "", input: custom.input ?? "" } };
  }
  const { name = "", arguments: text = "" } = target ?? {};
  return { ...piece, id, type: "function", function: { ...target, name, arguments: text } };
}

function appendCall(
  call: ToolCall,
  { function: target, custom, index: _index, id: _id, type: _type, ...rest }: CallPiece,
): void {
  Object.assign(call, rest);
  if (call.type === "function") call.function.arguments += target?.arguments ?? "";
  else call.custom.input += custom?.input ?? "";
}

/** Merges a delta into a message. Texts and arrays are appended; other members are replaced. */
function append(message: Members, delta: Members): void {
  for (const [name, piece] of Object.entries(delta)) {
    const earlier = message[name];
    if (typeof piece === "string" && typeof earlier === "string" && name !== "role") message[name] = earlier + piece;
    else if (Array.isArray(piece) && Array.isArray(earlier))
      message[name] = [...(earlier as unknown[]), ...(piece as unknown[])];
    else if (piece !== null || earlier === undefined) message[name] = piece;
  }
}

/** Adds the numbers of two objects member by member, at every depth. */
export function sum(one: Members, other: unknown): Members {
  const total: Members = { ...one };
  for (const [name, value] of Object.entries((other ?? {}) as Members)) {
    const earlier = total[name];
    if (typeof value === "number") total[name] = (typeof earlier === "number" ? earlier : 0) + value;
    else if (typeof value === "object" && value !== null) total[name] = sum((earlier ?? {}) as Members, value);
  }
  return total;
}
