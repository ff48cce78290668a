/** Converts items of OpenAI's Responses API into chat messages. Consecutive items of one model turn become one message. Pure. */
import type {
  ChatMessage,
  ResponsesContentPart,
  ResponsesInputFile,
  ResponsesInputImage,
  ResponsesItem,
  ResponsesMessage,
  ResponsesReasoning,
  ResponsesSluiceCall,
  ResponsesToolSearchOutput,
  ToolCall,
} from "#schemas/generated/types.ts";
import { parse } from "#shared/json/contracts.ts";
import { ApiError } from "#shared/base/errors.ts";
import { openSealed, openSummary } from "#shared/responses/sealed.ts";
import { SEARCH_TOOL, toFunctionName } from "#shared/responses/tool-names.ts";

import { compact, type Placed, textPart } from "../messages/blocks.ts";
import { AssistantDraft, type PlacedMessage, toolTurn } from "../messages/turns.ts";
import { withParam } from "../../core/with-param.ts";

import { servedForm, unknownForm, UNREADABLE_SUMMARY, unsealedText } from "./foreign-items.ts";
import { runOf, withoutResult } from "./image-items.ts";
import { foundNames } from "./declared-tools.ts";
import { isKnownType } from "./stored-items.ts";

type Input = string | readonly Readonly<Record<string, unknown>>[];

/**
 * Checks the items of an input against the schemas of their types. Yields between items, so that the thread can serve other requests.
 * @throws ApiError that names the invalid member
 */
export function* readingItems(input: Input): Generator<void, ResponsesItem[]> {
  if (typeof input === "string") return [{ type: "message", role: "user", content: input }];
  const items: ResponsesItem[] = [];
  for (const [at, item] of input.entries()) {
    try {
      items.push(withoutResult(readItem(item)));
    } catch (error) {
      throw withParam(error, (param) => `${inputPlace(at)}.${param}`);
    }
    yield;
  }
  return items;
}

function readItem(item: Readonly<Record<string, unknown>>): ResponsesItem {
  const { type } = item;
  if (type === undefined || type === null || type === "message") return parse("ResponsesMessage", item);
  const isUnknown = typeof type === "string" && TYPE_NAME.test(type) && !isKnownType(type);
  return isUnknown ? unknownForm(item) : parse("ResponsesTypedItem", item);
}

/** Pattern of item type names that clients use. */
const TYPE_NAME = /^[a-z][a-z0-9_]{0,63}$/;

export interface PlacedItem {
  readonly item: ResponsesItem;
  /** JSON path of the item in the caller's body. */
  readonly from: string;
}

export function inputPlace(at: number): string {
  return `input[${at}]`;
}

/**
 * Converts items into chat messages and yields between items.
 * @param items without references.
 * @throws ApiError that names the invalid item
 */
export function* placingItems(
  items: readonly PlacedItem[],
  instructions: string | null | undefined,
): Generator<void, PlacedMessage[]> {
  const conversation = new Conversation();
  if (instructions != null && instructions !== "") {
    const message: ChatMessage = { role: "system", content: instructions };
    conversation.add({ message, from: "instructions", parts: [] });
  }
  for (const { item, from } of items) {
    conversation.read(item, from);
    yield;
  }
  return conversation.end();
}

/** Returns the result of a tool search as a text for the model. */
export function foundText(output: ResponsesToolSearchOutput): string {
  const names = foundNames(output);
  return names.length === 0 ? "No tools were found." : `These tools can be called now: ${names.join(", ")}.`;
}

type Output = string | readonly ResponsesContentPart[];

interface Ids {
  readonly call_id?: string | null | undefined;
  readonly id?: string | null | undefined;
}

class Conversation {
  private readonly messages: PlacedMessage[] = [];
  /** Ids of the tool calls so far. The value is true if the result of the call has been added. */
  private readonly calls = new Map<string, boolean>();
  /** Assistant message under construction, which collects the items of one model turn. */
  private draft: AssistantDraft | undefined;
  /** Tool runs of one model turn. Their results are added after all runs of the turn. */
  private runs: { readonly item: ResponsesSluiceCall; readonly from: string }[] = [];
  /** Images and files that tools returned. They are added as a user message after the tool results. */
  private media: { readonly from: string; readonly parts: Placed[] } | undefined;

  add(message: PlacedMessage): void {
    this.closeRuns();
    this.closeDraft();
    this.closeResults();
    this.messages.push(message);
  }

  read(input: ResponsesItem, from: string): void {
    const item = input.type === "image_generation_call" ? runOf(input, this.calls.size) : input;
    if (item.type !== "sluice_call" || this.runs.some((run) => run.item.round !== item.round)) this.closeRuns();
    switch (item.type) {
      case "sluice_call":
        this.call(item.call_id, item.name, item.arguments, item["extra_content"], from);
        this.runs.push({ item, from });
        break;
      case "function_call":
        this.call(this.idOf(item), toFunctionName(item), item.arguments, item["extra_content"], from);
        break;
      case "custom_tool_call": {
        const text = JSON.stringify({ input: item.input });
        this.call(this.idOf(item), toFunctionName(item), text, item["extra_content"], from);
        break;
      }
      case "tool_search_call": {
        const { arguments: args } = item;
        const text = typeof args === "string" ? args : JSON.stringify(args ?? {});
        this.call(this.idOf(item), SEARCH_TOOL, text, item["extra_content"], from);
        break;
      }
      case "function_call_output":
      case "custom_tool_call_output":
        this.resultOf(item, item.output, from);
        break;
      case "tool_search_output":
        this.resultOf({ ...item, name: SEARCH_TOOL }, foundText(item), from);
        break;
      case "additional_tools":
        break;
      case "reasoning":
        this.think(item, from);
        break;
      case "compaction": {
        const summary = openSummary(item.encrypted_content);
        const content =
          summary === undefined ? UNREADABLE_SUMMARY : `The conversation so far, in summary:\n\n${summary}`;
        this.add({ message: { role: "user", content }, from, parts: [] });
        break;
      }
      case "item_reference":
        throw new Error("a reference was not resolved");
      case undefined:
      case "message":
        this.say(item, from);
        break;
      default: {
        const served = servedForm(item, this.calls.size);
        if (served) this.read(served, from);
      }
    }
  }

  end(): PlacedMessage[] {
    this.closeRuns();
    this.closeDraft();
    this.closeResults();
    return this.messages;
  }

  private say(item: ResponsesMessage, from: string): void {
    const { role, content } = item;
    if (role !== "assistant") {
      const placed = typeof content === "string" ? [] : content.map((part, at) => partOf(part, role, from, at));
      if (typeof content !== "string" && placed.length === 0) throw empty(from);
      const said = typeof content === "string" ? content : compact(placed.map(({ part }) => part));
      // The schema has checked the parts: only a user's message may contain more than text.
      const message = { role, content: said } as ChatMessage;
      this.add({ message, from, parts: placed.map((part) => part.from) });
      return;
    }
    // Consecutive messages remain separate.
    if (this.draft?.endsInText === true) this.closeDraft();
    const draft = this.turn(from);
    const parts = typeof content === "string" ? [{ type: "output_text" as const, text: content }] : content;
    for (const [at, part] of parts.entries()) {
      const place = typeof content === "string" ? from : `${from}.content[${at}]`;
      if (part.type === "input_image" || part.type === "input_file") throw textsOnly(role, place);
      draft.addText(textPart(textIn(part), null), place);
    }
  }

  private think({ summary, content, encrypted_content: sealed }: ResponsesReasoning, from: string): void {
    const draft = this.turn(from);
    const texts = (content ?? []).length > 0 ? (content ?? []) : summary;
    const thought = texts.map(({ text }) => text).join("\n\n");
    if (thought !== "") draft.addThought(thought);
    const block = openSealed(sealed);
    if (block) draft.addSealed(block);
  }

  private call(id: string, name: string, text: string, extra: unknown, from: string): void {
    const call: ToolCall = { id, type: "function", function: { name, arguments: text } };
    if (extra !== undefined) call["extra_content"] = extra;
    this.calls.set(id, false);
    this.turn(from).addCall(call);
  }

  /**
   * Returns the `call_id` of a tool call, or else its `id`, or else a generated id. Clients omit `call_id` if the item has an `id`, or if
   * there is only one call.
   */
  private idOf({ call_id: callId, id }: Ids): string {
    return callId ?? id ?? `call_${this.calls.size}`;
  }

  /**
   * Adds the result of a tool call. A result without a `call_id` belongs to the first call that has no result yet. If there is no such
   * call, the result becomes a user message.
   * @throws ApiError if no earlier item is a call with the result's `call_id`
   */
  private resultOf(item: Ids & { readonly name?: string | null | undefined }, output: Output, from: string): void {
    const { call_id: callId, id, name } = item;
    const open = [...this.calls].find(([, isAnswered]) => !isAnswered)?.[0];
    const call = [callId, id].find((one) => one != null && this.calls.has(one)) ?? (callId == null ? open : undefined);
    if (call != null) return this.result(call, output, from);
    if (callId != null) {
      throw new ApiError("invalid_request", "Expected the call_id of a call among the earlier items, got another.", {
        param: `${from}.call_id`,
      });
    }
    const title = `Returned by ${name ?? "a tool"}:`;
    const parts = typeof output === "string" ? [{ type: "input_text" as const, text: output }] : output;
    this.say({ role: "user", content: [{ type: "input_text", text: title }, ...parts] }, from);
  }

  private result(id: string, output: Output, from: string): void {
    this.calls.set(id, true);
    this.closeDraft();
    const placed =
      typeof output === "string"
        ? [{ part: textPart(output, null), from }]
        : output.map((part, at) => partOf(part, "user", from, at, "output"));
    const { message, media } = toolTurn(id, placed, from);
    this.messages.push(message);
    if (media.length === 0) return;
    this.media ??= { from, parts: [] };
    this.media.parts.push(...media);
  }

  private turn(from: string): AssistantDraft {
    this.closeResults();
    this.draft ??= new AssistantDraft(from);
    return this.draft;
  }

  private closeRuns(): void {
    for (const { item, from } of this.runs.splice(0)) this.result(item.call_id, item.output, from);
  }

  private closeDraft(): void {
    if (this.draft) this.messages.push(this.draft.end());
    this.draft = undefined;
  }

  private closeResults(): void {
    const { media } = this;
    this.media = undefined;
    if (!media) return;
    const message: ChatMessage = { role: "user", content: compact(media.parts.map(({ part }) => part)) };
    this.messages.push({ message, from: media.from, parts: media.parts.map((part) => part.from) });
  }
}

function partOf(
  part: ResponsesContentPart,
  role: Exclude<ResponsesMessage["role"], "assistant">,
  from: string,
  at: number,
  member = "content",
): Placed {
  const place = `${from}.${member}[${at}]`;
  switch (part.type) {
    case "input_image":
      if (role !== "user") throw textsOnly(role, place);
      return { part: imagePart(part, place), from: place };
    case "input_file":
      if (role !== "user") throw textsOnly(role, place);
      return { part: filePart(part, place), from: place };
    default:
      return { part: textPart(textIn(part), null), from: place };
  }
}

export function textIn(part: Exclude<ResponsesContentPart, ResponsesInputImage | ResponsesInputFile>): string {
  if (part.type === "encrypted_content") return unsealedText(part.encrypted_content);
  return part.type === "refusal" ? part.refusal : part.text;
}

function imagePart({ image_url: url, file_id: id, detail }: ResponsesInputImage, param: string): Placed["part"] {
  if (url != null && id != null) throw severalPlaces("image_url or file_id", param);
  if (id != null) return { type: "file", file: { file_id: id } };
  if (url == null) throw noPlace("image_url or file_id", param);
  return { type: "image_url", image_url: { url, ...(detail == null ? {} : { detail }) } };
}

function filePart(file: ResponsesInputFile, param: string): Placed["part"] {
  const { file_id: id, file_data: data, file_url: url, filename } = file;
  const name = filename == null ? {} : { filename };
  if ([id, data, url].filter((one) => one != null).length > 1) {
    throw severalPlaces("file_id, file_data or file_url", param);
  }
  // A stored file already has a name.
  if (id != null) return { type: "file", file: { file_id: id } };
  if (data != null) return { type: "file", file: { file_data: data, ...name } };
  if (url != null) return { type: "file", file: { file_url: url, ...name } };
  throw noPlace("file_id, file_data or file_url", param);
}

function textsOnly(role: string, param: string): ApiError {
  return new ApiError("unsupported_value", `Expected text in a message of the ${role}.`, { param: `${param}.type` });
}

function empty(from: string): ApiError {
  return new ApiError("invalid_request", `${from}.content must have at least 1 item, got an array of 0 items.`, {
    param: `${from}.content`,
  });
}

function noPlace(names: string, param: string): ApiError {
  return new ApiError("missing_required_parameter", `Missing required parameter: ${names}.`, { param });
}

function severalPlaces(names: string, param: string): ApiError {
  return new ApiError("unsupported_value", `Expected one of ${names}, got several of them.`, { param });
}
