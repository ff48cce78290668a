/** The grammar of a Responses stream as a small state machine: reads one, or throws at the first event out of place. */
import type { ModelResponse, ResponseItem, ResponseStreamEvent } from "#schemas/generated/types.ts";
import { parse } from "#shared/json/contracts.ts";
import { frameFaults } from "#tests/support/published/check.ts";

export interface StreamedResponse {
  /** The whole response that its last event holds. */
  readonly response: ModelResponse;
  readonly events: readonly ResponseStreamEvent[];
}

/** Events of a stream that ended with `[DONE]`, each as our schema and the published ones say and under the number that it must have. */
export function eventsOf(text: string): ResponseStreamEvent[] {
  const frames = text.split("\n\n").filter((frame) => frame !== "" && !frame.startsWith(":"));
  if (frames.pop() !== "data: [DONE]") throw new Error("the stream has no [DONE] at its end");
  return frames.map((frame, at) => {
    const [, name, data = ""] = /^event: (\S+)\ndata: (.*)$/.exec(frame) ?? [];
    const event = parse("ResponseStreamEvent", JSON.parse(data));
    for (const fault of frameFaults("response", event)) throw new Error(fault);
    if (event.type !== name) throw new Error(`${event.type} is called ${name}`);
    if (event.sequence_number !== at) throw new Error(`${name} is number ${event.sequence_number}, expected ${at}`);
    return event;
  });
}

type Members = Record<string, unknown>;

/** One item as its events build it. */
class ItemReader {
  done: ResponseItem | undefined;
  private readonly id: string;
  private readonly parts: { text: string; isDone: boolean; isTextDone: boolean }[] = [];
  private argumentsText = "";
  private readonly imageStates: string[] = [];

  constructor(item: ResponseItem) {
    this.id = item.id;
    if ("status" in item && item.status !== "in_progress") throw new Error(`${item.id} begins as ${item.status}`);
  }

  read(event: Members): void {
    if (event["item_id"] !== undefined && event["item_id"] !== this.id) throw new Error("an event of another item");
    if (this.done) throw new Error(`${String(event["type"])} behind the end of its item`);
    const [kind = "", what = ""] = String(event["type"])
      .replace(/^response\./, "")
      .split(/\.(?=[a-z_]+$)/);
    const at = Number(event["content_index"] ?? event["summary_index"] ?? 0);
    if (kind === "content_part" || kind === "reasoning_summary_part") this.readPart(what, at, event);
    else if (/arguments|custom_tool/.test(kind)) this.readArguments(what, event);
    else if (kind === "image_generation_call") this.imageStates.push(what);
    else if (kind !== "output_text.annotation") this.readText(what, at, event);
  }

  end(item: ResponseItem): void {
    if (item.id !== this.id) throw new Error("an item under another id");
    if (this.parts.some(({ isDone }) => !isDone)) throw new Error("an item ends before its parts");
    const texts = this.parts.map(({ text }) => text);
    if (JSON.stringify(textsOf(item)) !== JSON.stringify(texts)) throw new Error("an item holds other texts than came");
    if (item.type === "function_call" && item.arguments !== this.argumentsText) throw new Error("other arguments");
    if (item.type === "custom_tool_call" && item.input !== this.argumentsText) throw new Error("another input");
    if (item.type === "image_generation_call") {
      const states = ["in_progress", "generating", ...(item.status === "completed" ? ["completed"] : [])];
      if (this.imageStates.join() !== states.join()) throw new Error("an image in other states than it has");
    }
    this.done = item;
  }

  private readPart(what: string, at: number, event: Members): void {
    if (what === "added") {
      if (at !== this.parts.length || this.parts.some(({ isDone }) => !isDone)) throw new Error("a part out of order");
      this.parts.push({ text: "", isDone: false, isTextDone: false });
      return;
    }
    const part = this.parts[at];
    if (!part?.isTextDone || partText(event["part"] as Members) !== part.text) throw new Error("a part ends early");
    part.isDone = true;
  }

  private readText(what: string, at: number, event: Members): void {
    const part = this.parts[at];
    if (!part || part.isTextDone) throw new Error("text outside of a part");
    if (what === "delta") {
      part.text += String(event["delta"]);
      return;
    }
    if ((event["text"] ?? event["refusal"]) !== part.text) throw new Error("a text is not the sum of its pieces");
    part.isTextDone = true;
  }

  private readArguments(what: string, event: Members): void {
    if (what === "delta") this.argumentsText += String(event["delta"]);
    else if ((event["arguments"] ?? event["input"]) !== this.argumentsText) throw new Error("arguments do not add up");
  }
}

function partText(part: Members): unknown {
  return part["text"] ?? part["refusal"];
}

function textsOf(item: ResponseItem): unknown[] {
  if (item.type === "message") return item.content.map((part) => partText(part));
  if (item.type !== "reasoning") return [];
  const parts = [...item.summary, ...(item.content ?? [])];
  return parts.map(({ text }) => text);
}

/** A stream that ended well, checked from end to end. */
export function readStream(text: string): StreamedResponse {
  const events = eventsOf(text);
  const [created, started, ...rest] = events;
  if (created?.type !== "response.created" || started?.type !== "response.in_progress") throw new Error("no beginning");
  if (created.response.output.length > 0 || created.response.usage !== null) throw new Error("it begins with an end");
  const last = rest.pop();
  if (last?.type !== "response.completed" && last?.type !== "response.incomplete") throw new Error("no end");
  if (last.type !== `response.${last.response.status}`) throw new Error("the end has another status");
  const items: ItemReader[] = [];
  for (const event of rest) {
    if (!("output_index" in event)) throw new Error(`${event.type} within a stream`);
    const index = Number(event.output_index);
    if (event.type === "response.output_item.added") {
      if (index !== items.length) throw new Error("an item out of order");
      items.push(new ItemReader(event.item));
      continue;
    }
    const item = items[index];
    if (!item) throw new Error(`${event.type} of an item that has not begun`);
    if (event.type === "response.output_item.done") item.end(event.item);
    else item.read(event);
  }
  if (JSON.stringify(items.map(({ done }) => done)) !== JSON.stringify(last.response.output)) {
    throw new Error("the response holds other items than came");
  }
  return { response: last.response, events };
}
