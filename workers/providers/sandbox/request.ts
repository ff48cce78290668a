/** Part of a chat request that the sandbox uses. The pool has validated the body; members without a schema are read defensively. */
import { rejected } from "./faults.ts";
import { asList, asRecord, asText, isRecord, type JsonRecord } from "./json.ts";
import { type Media, readMedia } from "./media.ts";
import { hashText } from "./random.ts";

export interface SandboxMessage {
  readonly role: string;
  /** Text blocks joined by line breaks. */
  readonly text: string;
  readonly media: readonly Media[];
  /** Calls of an assistant message: id and tool name. */
  readonly calls: readonly { readonly id: string; readonly name: string }[];
  /** Id of the call that a tool message answers. */
  readonly callId: string | undefined;
}

export interface SandboxTool {
  readonly type: "function" | "custom";
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments; undefined for a function without arguments. */
  readonly parameters: unknown;
}

/** `names` restricts the callable tools; null allows all. */
export interface ToolChoice {
  readonly mode: "none" | "auto" | "required";
  readonly names: ReadonlySet<string> | null;
}

export type AnswerFormat =
  | { readonly kind: "text" }
  | { readonly kind: "object" }
  | { readonly kind: "schema"; readonly schema: unknown };

export interface SandboxRequest {
  readonly messages: readonly SandboxMessage[];
  /** Beginning of an answer at the end of the messages, without trailing white space; empty without one. */
  readonly opening: string;
  readonly tools: readonly SandboxTool[];
  readonly toolChoice: ToolChoice;
  readonly parallelCalls: boolean;
  readonly format: AnswerFormat;
  /** Most output tokens of each choice, null when the client set none. */
  readonly tokensMax: number | null;
  readonly stops: readonly string[];
  readonly choices: number;
  /** Seed of all choices of the sandbox: a hash of the messages and of the client's seed. */
  readonly seed: number;
  /** Seed of the client. */
  readonly requestedSeed: number | null;
  /** Number of requested alternatives per token; null without log probabilities. */
  readonly logprobs: number | null;
  /** Media by content block, for counting tokens. */
  readonly mediaByPart: ReadonlyMap<unknown, Media>;
}

/** @throws ProviderError rejected, with the parameter that the sandbox does not support */
export function readRequest(request: JsonRecord): SandboxRequest {
  if (asList(request["modalities"]).includes("audio")) {
    throw rejected("unsupported_value", "modalities", "the sandbox's chat models write, they do not speak");
  }
  const mediaByPart = new Map<unknown, Media>();
  const messages = asList(request["messages"]).map((message, at) => readMessage(asRecord(message), at, mediaByPart));
  const last = messages.at(-1);
  const isOpened = messages.length > 1 && last?.role === "assistant" && last.calls.length === 0;
  const tools = asList(request["tools"]).flatMap(readTool);
  const seed = request["seed"];
  const requestedSeed = typeof seed === "number" && Number.isFinite(seed) ? seed : null;
  return {
    messages,
    opening: isOpened ? last.text.trimEnd() : "",
    tools,
    toolChoice: readToolChoice(request["tool_choice"], tools),
    parallelCalls: request["parallel_tool_calls"] !== false,
    format: readFormat(request["response_format"]),
    tokensMax: positive(request["max_completion_tokens"]) ?? positive(request["max_tokens"]),
    stops: readStops(request["stop"]),
    choices: Math.min(128, positive(request["n"]) ?? 1),
    // An answer continues with the seed with which it began.
    seed: hashMessages(isOpened ? messages.slice(0, -1) : messages, requestedSeed),
    requestedSeed,
    logprobs: request["logprobs"] === true ? (positive(request["top_logprobs"]) ?? 0) : null,
    mediaByPart,
  };
}

function readMessage(message: JsonRecord, at: number, mediaByPart: Map<unknown, Media>): SandboxMessage {
  const { role, content } = message;
  const texts: string[] = [];
  const media: Media[] = [];
  if (typeof content === "string") texts.push(content.toWellFormed());
  asList(content).forEach((part, index) => {
    const text = asText(asRecord(part)["text"]);
    if (text !== undefined) texts.push(text);
    else {
      const found = readMedia(asRecord(part), `messages[${at}].content[${index}]`);
      if (found !== null) {
        media.push(found);
        mediaByPart.set(part, found);
      }
    }
  });
  const calls = asList(message["tool_calls"]).map((value) => {
    const call = asRecord(value);
    const target = asRecord(call["function"] ?? call["custom"]);
    return { id: asText(call["id"]) ?? "", name: asText(target["name"]) ?? "" };
  });
  return {
    role: asText(role) ?? "user",
    text: texts.length === 1 ? (texts[0] ?? "") : texts.join("\n"),
    media,
    calls,
    callId: asText(message["tool_call_id"]),
  };
}

function readTool(value: unknown): SandboxTool[] {
  const tool = asRecord(value);
  const type = tool["type"] === "custom" ? "custom" : "function";
  const target = asRecord(tool[type]);
  const name = asText(target["name"]);
  if (name === undefined || name === "") return [];
  return [{ type, name, description: asText(target["description"]) ?? "", parameters: target["parameters"] }];
}

function readToolChoice(value: unknown, tools: readonly SandboxTool[]): ToolChoice {
  if (value === "none" || value === "required") return { mode: value, names: null };
  if (!isRecord(value)) return { mode: "auto", names: null };
  const allowed = asRecord(value["allowed_tools"]);
  const isAllowedList = value["type"] === "allowed_tools";
  const named = isAllowedList ? asList(allowed["tools"]).map(asRecord) : [value];
  const names = new Set<string>();
  for (const choice of named) {
    const name = asText(asRecord(choice["function"] ?? choice["custom"])["name"]) ?? asText(choice["name"]);
    if (name === undefined) continue;
    if (!tools.some((tool) => tool.name === name)) {
      const detail = `tool_choice names a tool that is not among the ${tools.length} given`;
      throw rejected("unsupported_value", "tool_choice", detail);
    }
    names.add(name);
  }
  if (names.size === 0) return { mode: "auto", names: null };
  return { mode: isAllowedList && allowed["mode"] !== "required" ? "auto" : "required", names };
}

function readFormat(value: unknown): AnswerFormat {
  const format = asRecord(value);
  if (format["type"] === "json_object") return { kind: "object" };
  if (format["type"] !== "json_schema") return { kind: "text" };
  return { kind: "schema", schema: asRecord(format["json_schema"])["schema"] ?? { type: "object" } };
}

function readStops(value: unknown): readonly string[] {
  const stops = typeof value === "string" ? [value] : asList(value);
  return stops.filter((stop) => typeof stop === "string" && stop !== "").map((stop) => String(stop));
}

function hashMessages(messages: readonly SandboxMessage[], requestedSeed: number | null): number {
  let hash = requestedSeed === null ? 0 : hashText(String(requestedSeed), 1);
  for (const { role, text, media } of messages) {
    hash = hashText(text, hashText(role, hash));
    for (const { phrase } of media) hash = hashText(phrase, hash);
  }
  return hash;
}

function positive(value: unknown): number | null {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : null;
}
