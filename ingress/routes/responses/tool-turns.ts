/**
 * Answers Responses calls with tools that the service runs. Each model turn is an unstored Responses call, and the turns are combined into
 * one response.
 */
import type {
  ModelResponse,
  ResponseItem,
  ResponsesItem,
  ResponsesRequest,
  ResponsesTool,
  SluiceCall,
  SluiceSummary,
} from "#schemas/generated/types.ts";
import { ApiError } from "#shared/base/errors.ts";
import type { ExactIntegers } from "#shared/json/serialize.ts";

import { json } from "../../core/answers.ts";
import { dataOf, DONE } from "../../core/sse.ts";
import type { ApiClient } from "../../tools/api-client.ts";
import { answerInEvents, servedBy, toEnd } from "../../tools/answer.ts";
import { creditsText, sum } from "../../tools/chat.ts";
import {
  type AskedCall,
  type ToolLoopFormat,
  failureIn,
  laterChoice,
  type Loop,
  type Turn,
  TurnsFailed,
} from "../../tools/loop.ts";
import type { ToolSet } from "../../tools/tool-set.ts";
import { withParam } from "../../core/with-param.ts";

import { IMAGE_TOOL, imageItem, type ImageItemFields, withoutResult, withoutResults } from "./image-items.ts";
import { event, failureEventsOf } from "../../core/response-object.ts";

export interface TurnsAsked {
  readonly asked: ResponsesRequest;
  /** Items of the whole conversation. */
  readonly items: readonly ResponsesItem[];
  readonly toolSet: ToolSet<ResponsesTool>;
  /** Maximum cost of all turns and runs, in nano-credits. */
  readonly maxNano: bigint | undefined;
  readonly integers: ExactIntegers | undefined;
  /** Incomplete response object of the call, which the result of the model turns completes. */
  readonly response: ModelResponse;
  /** Stores the complete response. Absent if the response is not stored. @throws ApiError */
  readonly keep?: (response: ModelResponse) => Promise<void>;
}

/** Runs the model turns and returns the combined response. @throws the errors of the model turns */
export async function answerInTurns(
  { context, call }: Pick<Loop, "context" | "call">,
  turns: TurnsAsked,
): Promise<Response> {
  const { asked, toolSet, maxNano } = turns;
  const format = new ResponsesToolLoopFormat(turns);
  const runs = Math.min(toolSet.limits.runs, asked.max_tool_calls ?? toolSet.limits.runs);
  const loop = { context, call, tools: toolSet.tools, limits: { ...toolSet.limits, runs, maxNano } };
  if (asked.stream === true) return answerInEvents(loop, format, format);
  const summary = await toEnd({ ...loop, clientSignal: call.request.signal }, format);
  return json(await format.whole(summary), { ...format.served, "x-credits-used": creditsText(summary) });
}

/** Returns the type of the tool that the service runs, for a request that has such a tool. */
export function servedType({ tools }: ResponsesRequest): string {
  return tools?.some(({ type }) => type === "sluice") === true ? "sluice" : IMAGE_TOOL;
}

/**
 * Rejects settings that require a job. Model turns run only in this process, so a crash would leave a conversation locked.
 * @throws ApiError `unsupported_value`
 */
export function checkTurns(asked: ResponsesRequest): void {
  const { background, conversation } = asked;
  const type = servedType(asked);
  if (background === true) {
    const message = `Tools of type ${type} do not work in the background; remove background or set it to false.`;
    throw new ApiError("unsupported_value", message, { param: "background" });
  }
  if (conversation != null) {
    const message = `Tools of type ${type} do not support conversation; use previous_response_id.`;
    throw new ApiError("unsupported_value", message, { param: "conversation" });
  }
}

/** Returns the functions under which the model sees the tools that the service runs. */
export function functionsOf({ tools }: ToolSet<ResponsesTool>): ResponsesTool[] {
  return [...tools.values()].map(({ name, description, parameters }) => ({
    type: "function",
    name,
    description,
    parameters: { ...parameters },
  }));
}

type Members = Record<string, unknown>;

class ResponsesToolLoopFormat implements ToolLoopFormat {
  served: Readonly<Record<string, string>> = {};
  private readonly turns: TurnsAsked;
  private readonly output: ResponseItem[] = [];
  private response: ModelResponse;
  private usage: Members = {};
  private sequence = 0;

  constructor(turns: TurnsAsked) {
    this.turns = turns;
    this.response = turns.response;
  }

  async *ask(api: ApiClient, round: number, clientSignal: AbortSignal): AsyncGenerator<Uint8Array, Turn> {
    const answer = await this.post(api, round, clientSignal);
    this.served = servedBy(answer);
    if (this.turns.asked.stream === true) return yield* this.relay(answer, clientSignal);
    const turn = (await answer.json()) as ModelResponse;
    for (const item of turn.output) if (!this.isOurs(item)) this.output.push(this.placed(item, this.output.length));
    return this.close(turn);
  }

  formatCall(call: SluiceCall, itemFields?: object): Uint8Array {
    const isOver = call.status !== "in_progress";
    const isImage = call.tool === IMAGE_TOOL;
    const item = isImage ? imageItem(call, itemFields as ImageItemFields | undefined) : call;
    const at = this.output.length;
    if (isOver) this.output.push(item);
    const imageEvents = (...states: string[]): Uint8Array[] =>
      (isImage ? states : []).map((state) =>
        this.event(`response.image_generation_call.${state}`, { output_index: at, item_id: item.id }),
      );
    const itemEvent = (what: string): Uint8Array =>
      this.event(`response.output_item.${what}`, { output_index: at, item });
    if (!isOver) return Buffer.concat([itemEvent("added"), ...imageEvents("in_progress", "generating")]);
    return Buffer.concat([...imageEvents(...(call.status === "completed" ? ["completed"] : [])), itemEvent("done")]);
  }

  /** Stores the combined response of all turns, if the call stores responses, and returns it. @throws ApiError if it cannot be stored */
  async whole(summary: SluiceSummary): Promise<ModelResponse> {
    const { ended_by: endedBy } = summary;
    const limit = endedBy === "max_rounds" || endedBy === "max_credits" ? endedBy : undefined;
    const response: ModelResponse = {
      ...this.response,
      ...(limit === undefined
        ? {}
        : { status: "incomplete", completed_at: null, incomplete_details: { reason: limit } }),
      output: this.output,
      usage: { ...this.usage, credits: summary.credits_used } as unknown as NonNullable<ModelResponse["usage"]>,
      sluice: withoutCalls(summary),
    };
    await this.turns.keep?.(withoutResults(response));
    return response;
  }

  async *end(summary: SluiceSummary): AsyncGenerator<Uint8Array> {
    const response = await this.whole(summary);
    yield this.event(`response.${response.status}`, { response });
    yield DONE;
  }

  fail(error: ApiError): Uint8Array {
    const summary = error instanceof TurnsFailed ? { sluice: withoutCalls(error.summary) } : {};
    const events = failureEventsOf({ ...this.turns.response, output: this.output, ...summary });
    return Buffer.from(events(error, this.response.model, this.sequence));
  }

  private async post(api: ApiClient, round: number, clientSignal: AbortSignal): Promise<Response> {
    const { asked, items, toolSet, integers } = this.turns;
    const { previous_response_id: _previous, max_tool_calls: _max, ...rest } = asked;
    const body = {
      ...rest,
      input: [...items, ...this.output.map((item) => withoutResult(item))],
      tools: [...toolSet.others, ...functionsOf(toolSet)],
      store: false,
      ...(round > 1 && asked.tool_choice != null ? { tool_choice: laterChoiceOf(asked.tool_choice) } : {}),
    };
    try {
      return await api.ask("createResponse", { body, integers, signal: clientSignal });
    } catch (error) {
      throw withParam(error, toolSet.paramOf);
    }
  }

  private async *relay(answer: Response, clientSignal: AbortSignal): AsyncGenerator<Uint8Array, Turn> {
    /** Maps the index of an item in its turn to its index in the combined output. Calls of tools that the service runs have no entry. */
    const places = new Map<unknown, number>();
    let turn: ModelResponse | undefined;
    for await (const data of dataOf(answer, clientSignal)) {
      if (data === "[DONE]") continue;
      const { type, sequence_number: _number, ...members } = JSON.parse(data) as Members & { type: string };
      const item = members["item"] as ResponseItem | undefined;
      const index = members["output_index"];
      switch (type) {
        case "response.created":
        case "response.in_progress":
          this.response = { ...this.response, model: (members["response"] as ModelResponse).model };
          if (this.sequence < BEGINNING) yield this.event(type, { response: this.response });
          break;
        case "error":
          throw failureIn(members);
        case "response.completed":
        case "response.incomplete":
          turn = members["response"] as ModelResponse;
          break;
        default: {
          if (type === "response.output_item.added" && item && !this.isOurs(item)) {
            places.set(index, this.output.length);
            this.output.push(item);
          }
          const place = places.get(index);
          if (place === undefined) break;
          const placedItem = item && this.placed(item, place);
          if (placedItem) this.output[place] = placedItem;
          yield this.event(type, {
            ...members,
            output_index: place,
            ...(placedItem ? { item: placedItem } : {}),
            ...("item_id" in members ? { item_id: this.output[place]?.id } : {}),
          });
        }
      }
    }
    if (turn) return this.close(turn);
    throw new ApiError("internal_error", "A part of the response was lost; try again.");
  }

  private close(turn: ModelResponse): Turn {
    const { status, completed_at, incomplete_details, model, usage, output } = turn;
    this.response = { ...this.response, status, completed_at, incomplete_details, model };
    this.usage = sum(this.usage, usage);
    // A truncated response has incomplete arguments.
    if (status === "incomplete") return { asked: [], handsOver: false };
    const asked = output.flatMap((item) => (this.isOurs(item) ? [askedOf(item)] : []));
    const handsOver = output.some((item) => isCall(item) && !this.isOurs(item));
    return { asked, handsOver };
  }

  /** Returns the item with a new id, made of the item's type, the id of the combined response, and the item's index. */
  private placed(item: ResponseItem, place: number): ResponseItem {
    const [prefix = ""] = item.id.split("_");
    return { ...item, id: `${prefix}_${this.turns.response.id.replace(/^resp_/, "")}_${place}` };
  }

  private isOurs(item: ResponseItem): item is FunctionCall {
    return item.type === "function_call" && item.namespace === undefined && this.turns.toolSet.tools.has(item.name);
  }

  private event(type: string, members: Members): Uint8Array {
    return Buffer.from(event(type, this.sequence++, members));
  }
}

type FunctionCall = Extract<ResponseItem, { readonly type: "function_call" }>;

/** Number of events that announce the start of a response. They are sent once, not for every turn. */
const BEGINNING = 2;

/** Removes the tool runs from the summary, because the response's output already contains them as items. */
function withoutCalls({ calls: _items, ...rest }: SluiceSummary): SluiceSummary {
  return rest;
}

function isCall({ type }: ResponseItem): boolean {
  return type === "function_call" || type === "custom_tool_call" || type === "tool_search_call";
}

function laterChoiceOf(choice: NonNullable<ResponsesRequest["tool_choice"]>) {
  if (typeof choice === "string") return laterChoice(choice);
  return choice.type === "allowed_tools" ? { ...choice, mode: "auto" } : "auto";
}

function askedOf({ call_id: callId, name, arguments: text, extra_content: extra }: FunctionCall): AskedCall {
  return { callId, name, text, ...(extra === undefined ? {} : { extra }) };
}
