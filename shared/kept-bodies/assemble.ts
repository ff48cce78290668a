/**
 * Assembles the answer of an event stream, so that it is kept in the form of a response without a stream. Chat chunks become a completion,
 * events of the Messages API a message, and events of the Responses API the response object. Other streams become the list of their events.
 */
import type { TimeSlices } from "#shared/base/time-slices.ts";

type Members = Record<string, unknown>;

export interface AssembledStream {
  readonly value: unknown;
  /** True if an event reports an error. */
  readonly isFailed: boolean;
}

export async function assembleStream(text: string, slices: TimeSlices): Promise<AssembledStream> {
  const events: unknown[] = [];
  let isFailed = false;
  for (let from = 0; from < text.length;) {
    await slices.yieldIfOver();
    const blank = text.indexOf("\n\n", from);
    const end = blank < 0 ? text.length : blank;
    const event = eventOf(text.slice(from, end));
    from = end + 2;
    if (event === undefined) continue;
    events.push(event);
    isFailed ||= reportsError(event);
  }
  const objects = events.filter(isObject);
  const value =
    responseIn(objects) ?? (await completionOf(objects, slices)) ?? (await messageOf(objects, slices)) ?? events;
  return { value, isFailed };
}

/** Returns true if the value of an event or a JSON-RPC message reports an error. */
export function reportsError(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { error, result, status, type } = value;
  if (error !== undefined && error !== null) return true;
  if (isObject(result) && result["isError"] === true) return true;
  return status === "failed" || type === "error" || type === "response.failed" || type === "run.failed";
}

/** Returns the data of an event; undefined for comments and end markers. */
function eventOf(text: string): unknown {
  const data = text
    .split("\n")
    .filter((line) => line.startsWith("data:"))
    .map((line) => line.slice("data:".length).trimStart())
    .join("\n");
  if (data === "" || data === "[DONE]") return undefined;
  try {
    return JSON.parse(data) as unknown;
  } catch {
    return data;
  }
}

// Responses API.

/** Returns the response object of the last event that contains the whole response. */
function responseIn(events: readonly Members[]): unknown {
  const last = events.findLast(({ type }) => typeof type === "string" && RESPONSE_ENDS.has(type));
  return last?.["response"];
}

const RESPONSE_ENDS: ReadonlySet<string> = new Set(["response.completed", "response.incomplete", "response.failed"]);

// Chat completions.

async function completionOf(events: readonly Members[], slices: TimeSlices): Promise<Members | undefined> {
  const chunks = events.filter(({ object }) => object === "chat.completion.chunk");
  if (chunks.length === 0) return undefined;
  const completion: Members = {};
  const choices: Members[] = [];
  for (const { choices: parts, ...members } of chunks) {
    await slices.yieldIfOver();
    for (const [name, value] of Object.entries(members)) if (value !== null) completion[name] = value;
    for (const { index, delta, ...part } of listOf(parts)) {
      const choice = at(choices, index);
      Object.assign(choice, part);
      const message = (choice["message"] ??= {}) as Members;
      if (isObject(delta)) addDelta(message, delta);
    }
  }
  const error = events.find((event) => reportsError(event))?.["error"];
  return { ...completion, object: "chat.completion", choices, ...(error === undefined ? {} : { error }) };
}

/** Members of a delta that are whole values, whereas other texts continue the text before. */
const WHOLE: ReadonlySet<string> = new Set(["role", "id", "type", "name"]);

function addDelta(target: Members, delta: Members): void {
  for (const [name, value] of Object.entries(delta)) {
    // The prototype belongs to all objects: a provider must not change it.
    if (name === "index" || name === "__proto__" || value === null || value === undefined) continue;
    const before = target[name];
    if (typeof value === "string" && typeof before === "string" && !WHOLE.has(name)) target[name] = before + value;
    else if (Array.isArray(value)) addItems((target[name] ??= []) as unknown[], value);
    else if (isObject(value)) addDelta((target[name] ??= {}) as Members, value);
    else target[name] = value;
  }
}

function addItems(target: unknown[], items: readonly unknown[]): void {
  for (const item of items) {
    if (isObject(item) && typeof item["index"] === "number") addDelta(at(target as Members[], item["index"]), item);
    else target.push(item);
  }
}

// Messages API.

async function messageOf(events: readonly Members[], slices: TimeSlices): Promise<Members | undefined> {
  const start = events.find(({ type }) => type === "message_start")?.["message"];
  if (!isObject(start)) return undefined;
  const message: Members = { ...start };
  const blocks: Members[] = [];
  for (const event of events) {
    await slices.yieldIfOver();
    const { type, index, content_block: block, delta, usage, error } = event;
    if (type === "content_block_start" && isObject(block)) Object.assign(at(blocks, index), block);
    else if (type === "content_block_delta" && isObject(delta)) addToBlock(at(blocks, index), delta);
    else if (type === "content_block_stop") endBlock(at(blocks, index));
    else if (type === "message_delta") {
      Object.assign(message, delta);
      message["usage"] = { ...(message["usage"] as Members), ...(usage as Members) };
    } else if (type === "error") message["error"] = error;
  }
  return { ...message, content: blocks };
}

/** Member of a block that contains the JSON text of its input until the block ends. */
const INPUT_TEXT = "partial_json";

function addToBlock(block: Members, { type: _type, ...delta }: Members): void {
  for (const [name, value] of Object.entries(delta)) {
    const before = block[name];
    if (name === "citation") block["citations"] = [...((block["citations"] as unknown[] | null) ?? []), value];
    else block[name] = typeof value === "string" && typeof before === "string" ? before + value : value;
  }
}

function endBlock(block: Members): void {
  const { [INPUT_TEXT]: text } = block;
  if (typeof text !== "string") return;
  delete block[INPUT_TEXT];
  try {
    block["input"] = text === "" ? {} : JSON.parse(text);
  } catch {
    block["input"] = text;
  }
}

/** Largest index of a list in a stream; events with a larger index belong to the last item. */
const INDEX_MAX = 1_023;

/** Returns the item with this index, and adds it if it is missing. */
function at(items: Members[], index: unknown): Members {
  const position = Math.min(typeof index === "number" && index >= 0 ? Math.trunc(index) : 0, INDEX_MAX);
  while (items.length <= position) items.push({ index: items.length });
  return items[position] ?? {};
}

function listOf(value: unknown): readonly Members[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function isObject(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
