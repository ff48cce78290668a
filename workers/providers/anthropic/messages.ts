/**
 * Converts a conversation in OpenAI's format to Anthropic's `system` and alternating turns. Source:
 * platform.claude.com/docs/en/api/messages.
 */
import type { ChatMessage } from "#schemas/generated/types.ts";
import { decodeText } from "#workers/capabilities/text.ts";

import { isMembers, type Members, membersOf, parseObject, textOf } from "../json.ts";
import { placeInstructions, reminder } from "../late-instructions.ts";
import { ProviderError } from "../provider.ts";
import { cacheControl } from "./cache-control.ts";
import { arrange, type BlocksByKind } from "./order.ts";
import { unsupported } from "./rejected.ts";

interface Turn {
  readonly role: "user" | "assistant" | "system";
  readonly content: Members[];
}

export interface Conversation {
  readonly system: Members[];
  readonly messages: Turn[];
}

export interface ConversationOptions {
  /** True if the model accepts instructions only at the beginning of the conversation. */
  readonly isSystemFirst?: boolean;
  /** Names of the call's deferred tools, which the model sees only after a tool result refers to them. */
  readonly deferred?: ReadonlySet<unknown>;
}

/**
 * Converts the messages of a request.
 * @throws ProviderError `rejected` that names the unsupported message
 */
export function convertMessages(
  chatMessages: readonly ChatMessage[],
  { isSystemFirst = false, deferred = new Set() }: ConversationOptions = {},
): Conversation {
  const system: Members[] = [];
  let messages: Turn[] = [];
  /**
   * Appends blocks to the conversation. Adjacent messages of one role become one turn. Messages without blocks are skipped, because an
   * empty turn would be rejected.
   */
  const add = (role: Turn["role"], blocks: readonly Members[]): void => {
    const last = messages.at(-1);
    if (blocks.length === 0) return;
    if (last?.role === role) last.content.push(...blocks);
    else messages.push({ role, content: [...blocks] });
  };
  for (const { message, at, isLate } of placeInstructions(chatMessages)) {
    const param = `messages[${at}]`;
    switch (message.role) {
      case "system":
      case "developer":
        if (isLate) add("system", contentBlocks(message, param));
        else system.push(...contentBlocks(message, param));
        break;
      case "user":
        add("user", contentBlocks(message, param));
        break;
      case "assistant":
        add("assistant", assistantBlocks(message, param));
        break;
      case "tool": {
        const { result, more } = toolResult(message, param, deferred);
        addToolResult(messages, result);
        add("user", more);
        break;
      }
      case "function":
        throw unsupported(`${param}.role`, "Expected the role tool: this model supports tools, not functions.");
    }
  }
  messages = withReminders(messages, isSystemFirst);
  if (messages.length === 0) throw unsupported("messages", "Expected at least one user message with content.");
  trimLast(messages);
  return { system, messages };
}

/**
 * Places system messages within a conversation. After a user turn that is not followed by another one, they stay separate turns if the
 * model allows it. Elsewhere they become text of the user turn. Source:
 * platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages.
 */
function withReminders(turns: readonly Turn[], isSystemFirst: boolean): Turn[] {
  const settled: Turn[] = [];
  for (const [at, { role, content }] of turns.entries()) {
    const last = settled.at(-1);
    const next = turns[at + 1];
    const mayStay = !isSystemFirst && last?.role === "user" && next?.role !== "user";
    const isReminder = role === "system" && !mayStay;
    const turn = isReminder ? ({ role: "user", content: content.map(asReminder) } as const) : { role, content };
    if (last?.role === turn.role) last.content.push(...turn.content);
    else settled.push(turn);
  }
  return settled;
}

function asReminder(block: Members): Members {
  return { ...block, text: reminder(textOf(block["text"])) };
}

/** Adds a tool result to a user turn, before any other content of the turn. The provider would reject any other order. */
function addToolResult(messages: Turn[], result: Members): void {
  const last = messages.at(-1);
  if (last?.role !== "user") {
    messages.push({ role: "user", content: [result] });
    return;
  }
  const behind = last.content.findIndex(({ type }) => type !== "tool_result");
  last.content.splice(behind < 0 ? last.content.length : behind, 0, result);
}

/** Removes trailing white space from an answer that the model must continue, because it would be rejected. */
function trimLast(messages: readonly Turn[]): void {
  const last = messages.at(-1);
  const block = last?.content.at(-1);
  if (last?.role === "assistant" && block?.["type"] === "text") block["text"] = textOf(block["text"]).trimEnd();
}

type Holder = Readonly<Record<string, unknown>>;

/** Returns the blocks of a message's content, without empty texts, which would be rejected. */
function contentBlocks(message: Holder, param: string): Members[] {
  const { content } = message;
  const blocks = Array.isArray(content)
    ? membersOf(content).flatMap((part, at) => partBlocks(part, `${param}.content[${at}]`))
    : textBlocks(textOf(content));
  return markLast(blocks, cacheControl(message, param));
}

/** Adds a message's `cache_control` to its last block that supports it. Thinking blocks do not support it. */
function markLast(blocks: Members[], mark: Members): Members[] {
  const last = blocks.findLast(({ type }) => type !== "thinking" && type !== "redacted_thinking");
  if (last) Object.assign(last, mark);
  return blocks;
}

function textBlocks(text: string): Members[] {
  return text.trim() === "" ? [] : [{ type: "text", text }];
}

function partBlocks(part: Members, param: string): Members[] {
  const mark = cacheControl(part, param);
  switch (part["type"]) {
    case "text":
      return markLast(textBlocks(textOf(part["text"])), mark);
    case "refusal":
      return markLast(textBlocks(textOf(part["refusal"])), mark);
    case "image_url":
      return [{ ...imageBlock(membersIn(part["image_url"])["url"], `${param}.image_url.url`), ...mark }];
    case "file":
      return [{ ...fileBlock(part["file"], `${param}.file`), ...mark }];
    case "input_audio":
      throw new ProviderError("rejected", "audio in a message", {
        code: "audio_not_supported_by_model",
        param,
        say: "This model does not accept audio; transcribe it first and send the text.",
      });
    default:
      throw unsupported(`${param}.type`, "Expected a block of text, an image or a file.");
  }
}

function assistantBlocks(message: Holder, param: string): Members[] {
  if (message["audio"] != null) {
    throw unsupported(`${param}.audio`, "This model does not accept earlier spoken answers; send their text.");
  }
  if (message["function_call"] != null) {
    throw unsupported(`${param}.function_call`, "Expected tool_calls: this model supports tools, not functions.");
  }
  const { cache_control: _mark, ...unmarked } = message;
  const byKind = {
    thinking: thinkingBlocks(message["thinking_blocks"], param),
    texts: [...contentBlocks(unmarked, param), ...textBlocks(textOf(message["refusal"]))],
    calls: membersOf(message["tool_calls"]).map((call, at) => toolUse(call, `${param}.tool_calls[${at}]`)),
  };
  const blocks = arrange(byKind, message["block_order"]).filter(isSaid);
  return markLast(blocks, cacheControl(message, param));
}

/** True unless the block is a text that contains only white space. Such a text may result from a cut, and the provider rejects it. */
function isSaid({ type, text }: Members): boolean {
  return type !== "text" || textOf(text).trim() !== "";
}

/**
 * Returns the thinking blocks of an earlier answer unchanged, because Anthropic rejects changed blocks.
 * @throws ProviderError `rejected` that names a block with another form
 */
function thinkingBlocks(value: unknown, param: string): BlocksByKind["thinking"] {
  return membersOf(value).map(({ type, thinking, signature, data, after }, at) => {
    if (type === "thinking" && typeof thinking === "string" && typeof signature === "string") {
      return { block: { type, thinking, signature }, after };
    }
    if (type === "redacted_thinking" && typeof data === "string") return { block: { type, data }, after };
    throw unsupported(
      `${param}.thinking_blocks[${at}]`,
      "Expected an unchanged block from an earlier response of this model.",
    );
  });
}

function toolUse(call: Members, param: string): Members {
  if (call["type"] !== "function") {
    throw unsupported(`${param}.type`, "Expected a function call: this model does not support custom tools.");
  }
  const fn = membersIn(call["function"]);
  return {
    type: "tool_use",
    id: toolId(call["id"]),
    name: textOf(fn["name"]),
    input: parseArguments(textOf(fn["arguments"]), `${param}.function.arguments`),
    ...cacheControl(call, param),
  };
}

function parseArguments(text: string, param: string): Members {
  if (text.trim() === "") return {};
  const value = parseObject(text);
  if (value !== undefined) return value;
  throw unsupported(param, "Expected the arguments to be a JSON object for this model.");
}

/**
 * Replaces characters in tool call ids that Anthropic rejects, such as ids from other providers. Calls and results are changed in the same
 * way, so that they still match.
 */
function toolId(value: unknown): string {
  return textOf(value).replaceAll(/[^a-zA-Z0-9_-]/g, "_") || "_";
}

/**
 * Converts a message of role `tool` to a result block. A result with references to deferred tools must have no other content. Other content
 * is therefore returned as `more`, and follows the results of the turn. Source:
 * platform.claude.com/docs/en/agents-and-tools/tool-use/tool-search-tool.
 */
function toolResult(message: Holder, param: string, deferred: ReadonlySet<unknown>): ToolResult {
  const { cache_control: _mark, ...unmarked } = message;
  const blocks = contentBlocks(unmarked, param).map(({ cache_control: _inner, ...block }) => block);
  // A cache mark is allowed only on the result itself, and counts even if its part is empty and omitted.
  const marks = [message, ...membersOf(message["content"])].map((holder) => cacheControl(holder, param));
  const names = Array.isArray(message["tool_references"]) ? (message["tool_references"] as unknown[]) : [];
  const found = names.filter((name) => deferred.has(name)).map((name) => ({ type: "tool_reference", tool_name: name }));
  const content = found.length > 0 ? found : blocks;
  const result = {
    type: "tool_result",
    tool_use_id: toolId(message["tool_call_id"]),
    ...(content.length > 0 ? { content } : {}),
    ...Object.assign({}, ...marks),
  };
  return { result, more: found.length > 0 ? blocks : [] };
}

interface ToolResult {
  readonly result: Members;
  readonly more: readonly Members[];
}

function membersIn(value: unknown): Members {
  return isMembers(value) ? value : {};
}

// Converts images and files of a request, already data URLs, to `image` and `document` blocks.

const DATA_URL = /^data:([^;,]*)((?:;[^;,]*)*),/i;

const IMAGE_TYPES: ReadonlySet<string> = new Set(["image/jpeg", "image/png", "image/gif", "image/webp"]);

/** Matches media types of text that models can read, including types outside `text/`. */
const TEXT_TYPE =
  /^text\/|^application\/(json|xml|yaml|x-yaml|javascript|x-ndjson|sql|toml|x-sh|ld\+json)$|\+(json|xml)$/;

/** Converts an image to a block. @throws ProviderError `rejected` for types other than JPEG, PNG, GIF and WebP */
function imageBlock(url: unknown, param: string): Members {
  const media = readDataUrl(textOf(url), param);
  if (!IMAGE_TYPES.has(media.type)) {
    throw unsupported(param, `Expected an image of type JPEG, PNG, GIF or WebP, got ${media.type.slice(0, 100)}.`);
  }
  return { type: "image", source: { type: "base64", media_type: media.type, data: media.base64() } };
}

/**
 * Converts a file to a block: a PDF or a text becomes a document block, and an image an image block. @throws ProviderError `rejected` for
 * other types
 */
function fileBlock(file: unknown, param: string): Members {
  const members = isMembers(file) ? file : {};
  const name = typeof members["file_data"] === "string" ? "file_data" : "file_url";
  const media = readDataUrl(textOf(members[name]), `${param}.${name}`);
  const title = textOf(members["filename"]);
  const named = title === "" ? {} : { title };
  if (media.type === "application/pdf") {
    const source = { type: "base64", media_type: media.type, data: media.base64() };
    return { type: "document", source, ...named };
  }
  if (TEXT_TYPE.test(media.type)) {
    return { type: "document", source: { type: "text", media_type: "text/plain", data: media.text() }, ...named };
  }
  if (IMAGE_TYPES.has(media.type)) return imageBlock(members[name], `${param}.${name}`);
  const got = media.type.slice(0, 100);
  throw unsupported(`${param}.${name}`, `Expected a PDF, a text or an image as file, got ${got}.`);
}

interface Media {
  readonly type: string;
  base64(): string;
  text(): string;
}

function readDataUrl(url: string, param: string): Media {
  const head = DATA_URL.exec(url.slice(0, 1_024));
  if (!head) throw unsupported(param, "Expected a data URL such as data:image/png;base64,….");
  const written = (head[1] ?? "").toLowerCase() || "text/plain";
  const payload = url.slice(head[0].length);
  const isBase64 = /;base64$/i.test(head[2] ?? "");
  const bytes = (): Buffer => (isBase64 ? Buffer.from(payload, "base64") : Buffer.from(decodePercent(payload, param)));
  const declared = /;charset=([^;]+)/i.exec(head[2] ?? "")?.[1];
  return {
    type: written === "image/jpg" ? "image/jpeg" : written,
    base64: () => (isBase64 ? payload : bytes().toString("base64")),
    text: () => (isBase64 ? decodeText(bytes(), { declared }).text : decodePercent(payload, param)),
  };
}

function decodePercent(payload: string, param: string): string {
  try {
    return decodeURIComponent(payload);
  } catch {
    throw unsupported(param, "Expected a data URL with valid percent-encoding.");
  }
}
