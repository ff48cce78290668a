/** Items of OpenAI's Responses API → chat messages. Items of one turn of the model become one message. Pure. */
import type {
  ChatMessage,
  ResponsesContentPart,
  ResponsesInputFile,
  ResponsesInputImage,
  ResponsesItem,
  ResponsesMessage,
  ResponsesReasoning,
  ResponsesSluiceCall,
  ToolCall,
} from "#schemas/generated/types.ts";
import { parse } from "#shared/contracts.ts";
import { ApiError } from "#shared/errors.ts";
import { openSealed, openSummary } from "#shared/responses/sealed.ts";

import { compact, type Placed, textPart } from "../messages/blocks.ts";
import { AssistantDraft, type PlacedMessage, toolTurn } from "../messages/turns.ts";
import { withParam } from "../with-param.ts";

import { runOf, withoutResult } from "./image-items.ts";

type Input = string | readonly Readonly<Record<string, unknown>>[];

/**
 * Checks the form of an input's items, each against the schema of its kind. It stops between items, since others wait while it goes on.
 * @throws ApiError naming the member at fault
 */
export function* readingItems(input: Input): Generator<void, ResponsesItem[]> {
  if (typeof input === "string") return [{ type: "message", role: "user", content: input }];
  const items: ResponsesItem[] = [];
  for (const [at, item] of input.entries()) {
    try {
      const isMessage = item["type"] === undefined || item["type"] === "message";
      items.push(withoutResult(isMessage ? parse("ResponsesMessage", item) : parse("ResponsesTypedItem", item)));
    } catch (error) {
      throw withParam(error, (param) => `${inputPlace(at)}.${param}`);
    }
    yield;
  }
  return items;
}

export interface PlacedItem {
  readonly item: ResponsesItem;
  /** Its place in the caller's body. */
  readonly from: string;
}

export function inputPlace(at: number): string {
  return `input[${at}]`;
}

/** Stops between items. @param items without references. @throws ApiError naming the item at fault */
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

/** The words of a compaction. @throws ApiError for one of another service: nothing else tells what came before */
export function summaryOf(sealed: string, from: string): string {
  const summary = openSummary(sealed);
  if (summary !== undefined) return summary;
  throw new ApiError("unsupported_value", "Expected a compaction that this service has made.", {
    param: `${from}.encrypted_content`,
  });
}

class Conversation {
  private readonly messages: PlacedMessage[] = [];
  private readonly callIds = new Set<string>();
  /** The turn of the model that is being read. */
  private draft: AssistantDraft | undefined;
  /** Runs of one turn of the model, whose results come behind all of them. */
  private runs: { readonly item: ResponsesSluiceCall; readonly from: string }[] = [];
  /** Images and files that tools returned, until their results are over. */
  private media: { readonly from: string; readonly parts: Placed[] } | undefined;

  add(message: PlacedMessage): void {
    this.closeRuns();
    this.closeDraft();
    this.closeResults();
    this.messages.push(message);
  }

  read(given: ResponsesItem, from: string): void {
    const item = given.type === "image_generation_call" ? runOf(given, this.callIds.size) : given;
    if (item.type !== "sluice_call" || this.runs.some((run) => run.item.round !== item.round)) this.closeRuns();
    switch (item.type) {
      case "sluice_call":
        this.call(item.call_id, item.name, item.arguments, item["extra_content"], from);
        this.runs.push({ item, from });
        break;
      case "function_call":
        this.call(item.call_id, item.name, item.arguments, item["extra_content"], from);
        break;
      case "custom_tool_call":
        this.call(item.call_id, item.name, JSON.stringify({ input: item.input }), item["extra_content"], from);
        break;
      case "function_call_output":
      case "custom_tool_call_output":
        this.result(item.call_id, item.output, from);
        break;
      case "reasoning":
        this.think(item, from);
        break;
      case "compaction": {
        const content = `The conversation so far, in summary:\n\n${summaryOf(item.encrypted_content, from)}`;
        this.add({ message: { role: "user", content }, from, parts: [] });
        break;
      }
      case "item_reference":
        throw new Error("a reference was not resolved");
      default:
        this.say(item, from);
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
      // The form of the parts was checked: only a user's message holds more than texts.
      const message = { role, content: said } as ChatMessage;
      this.add({ message, from, parts: placed.map((part) => part.from) });
      return;
    }
    // Messages that follow each other stay apart.
    if (this.draft?.endsInText === true) this.closeDraft();
    const draft = this.turn(from);
    const parts = typeof content === "string" ? [{ type: "output_text" as const, text: content }] : content;
    for (const [at, part] of parts.entries()) {
      const place = typeof content === "string" ? from : `${from}.content[${at}]`;
      if (part.type === "input_image" || part.type === "input_file") throw textsOnly(role, place);
      draft.addText(textPart(part.type === "refusal" ? part.refusal : part.text, null), place);
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
    this.callIds.add(id);
    this.turn(from).addCall(call);
  }

  private result(id: string, output: string | readonly ResponsesContentPart[], from: string): void {
    if (!this.callIds.has(id)) {
      throw new ApiError("invalid_request", "Expected the call_id of a call among the earlier items, got another.", {
        param: `${from}.call_id`,
      });
    }
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
    case "refusal":
      return { part: textPart(part.refusal, null), from: place };
    default:
      return { part: textPart(part.text, null), from: place };
  }
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
  // A stored file has a name of its own.
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
