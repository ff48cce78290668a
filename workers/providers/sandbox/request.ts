/**
 * Reads the members of a chat request that the sandbox uses. The pool has validated the body; members without a schema are checked here.
 */
import { readImageHeader } from "#shared/media/image-header.ts";

import type { ProviderError } from "../provider.ts";
import { rejected } from "./faults.ts";
import { asList, asRecord, asText, isRecord, type JsonRecord } from "./json.ts";
import { hashText } from "./random.ts";

export interface SandboxMessage {
  readonly role: string;
  /** Text blocks joined by line breaks. */
  readonly text: string;
  readonly media: readonly Media[];
  /** Tool calls of an assistant message, with id and tool name. */
  readonly calls: readonly { readonly id: string; readonly name: string }[];
  /** Id of the tool call that a tool message answers; undefined for other messages. */
  readonly callId: string | undefined;
}

export interface SandboxTool {
  readonly type: "function" | "custom";
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments; undefined for a function without arguments. */
  readonly parameters: unknown;
}

/** Tool choice of a request. `names` restricts the callable tools; null allows all. */
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
  /** Beginning of an answer that the client put at the end of the messages, without trailing white space. Empty if there is none. */
  readonly opening: string;
  readonly tools: readonly SandboxTool[];
  readonly toolChoice: ToolChoice;
  readonly parallelCalls: boolean;
  readonly format: AnswerFormat;
  /** Maximum number of output tokens of each choice; null when the client set none. */
  readonly tokensMax: number | null;
  readonly stops: readonly string[];
  readonly choices: number;
  /** Seed for all choices of the sandbox. It is a hash of the messages and of the client's seed. */
  readonly seed: number;
  /** Seed that the client sent; null without one. */
  readonly requestedSeed: number | null;
  /** Number of requested alternatives per token; null if no log probabilities are requested. */
  readonly logprobs: number | null;
  /** Media by content block. Used for counting tokens. */
  readonly mediaByPart: ReadonlyMap<unknown, Media>;
}

/**
 * Parses a chat request.
 * @throws ProviderError `rejected` that names the parameter that the sandbox does not support
 */
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

// Content blocks other than text: their description for the answer, and their token cost. Never fetches an address.

interface Media {
  /** Short description of the content block that the sandbox's answer contains, such as "a 64×48 PNG image". */
  readonly phrase: string;
  /** Prompt tokens of the block, without those of `text`. */
  readonly tokens: number;
  /** Content of a text file; absent for other media. */
  readonly text?: string;
}

/**
 * Token cost of images, by OpenAI's published rule for vision models. An image costs 85 tokens, and 170 for every 512-pixel tile. Tiles are
 * counted after scaling into 2,048 × 2,048 and the shorter side to 768. With `detail: "low"`, an image costs only 85.
 */
const IMAGE_BASE_TOKENS = 85;
const IMAGE_TILE_TOKENS = 170;
/** Maximum token cost of an image: 4 × 2 tiles. */
export const SANDBOX_IMAGE_TOKENS_MAX = IMAGE_BASE_TOKENS + 8 * IMAGE_TILE_TOKENS;
/** Assumed side of an image behind a URL, in pixels. The real size is unknown, because the URL is not fetched. */
const UNSEEN_IMAGE_SIDE = 1_024;
/** Number of audio bytes per token. Audio costs ten tokens per second of 16 kB (an MP3 of 128 kbit/s). */
const AUDIO_BYTES_PER_TOKEN = 1_600;
/** Token cost of a document other than text. It does not depend on the size, because the content is not read. */
const FILE_TOKENS = 250;
/** Maximum number of characters before the data of a data URL: its type and parameters. */
const DATA_URL_HEAD_MAX = 256;

/**
 * Parses one content block; null for a block of an unknown type.
 * @param param path of the block in the request, which an error names
 * @throws ProviderError `rejected` for data that cannot be decoded or that do not match the declared type
 */
function readMedia(part: JsonRecord, param: string): Media | null {
  switch (part["type"]) {
    case "image_url":
      return readImage(part, `${param}.image_url.url`);
    case "input_audio":
      return readAudio(part, `${param}.input_audio.data`);
    case "file":
      return readFile(asRecord(part["file"]), `${param}.file`);
    default:
      return null;
  }
}

function readImage(part: JsonRecord, param: string): Media {
  const source = part["image_url"];
  const { url: nested, detail } = asRecord(source);
  const url = asText(source) ?? asText(nested) ?? "";
  const isLow = detail === "low";
  const host = readHost(url);
  if (host !== null) {
    return { phrase: `an image at ${host}`, tokens: imageTokens(UNSEEN_IMAGE_SIDE, UNSEEN_IMAGE_SIDE, isLow) };
  }
  const { bytes } = readDataUrl(url, param);
  const header = readImageHeader(bytes);
  if (header === null) throw malformed("a PNG, JPEG, GIF or WebP image", param);
  return {
    phrase: `a ${header.width}×${header.height} ${header.format} image`,
    tokens: imageTokens(header.width, header.height, isLow),
  };
}

/** Returns the prompt tokens of an image with this many pixels. */
export function imageTokens(width: number, height: number, isLow: boolean): number {
  if (isLow) return IMAGE_BASE_TOKENS;
  const fit = Math.min(1, 2_048 / Math.max(width, height));
  const shrink = Math.min(1, 768 / (Math.min(width, height) * fit));
  const tiles = (side: number): number => Math.max(1, Math.ceil((side * fit * shrink) / 512 - 1e-9));
  return IMAGE_BASE_TOKENS + IMAGE_TILE_TOKENS * tiles(width) * tiles(height);
}

function readAudio(part: JsonRecord, param: string): Media {
  const { data, format } = asRecord(part["input_audio"]);
  const bytes = decodeBase64(asText(data) ?? "", param);
  if (bytes.length === 0) throw malformed("audio", param);
  return {
    phrase: `an audio file (${asText(format) ?? "unnamed format"}, ${bytes.length} bytes)`,
    tokens: Math.ceil(bytes.length / AUDIO_BYTES_PER_TOKEN),
  };
}

function readFile(file: JsonRecord, param: string): Media {
  const name = asText(file["filename"]);
  const data = asText(file["file_data"]) ?? asText(file["file_url"]);
  if (data === undefined) throw malformed("file_data: the sandbox cannot look up stored files", `${param}.file_id`);
  const host = readHost(data);
  if (host !== null) return { phrase: `a file at ${host}`, tokens: FILE_TOKENS };
  const { type, bytes } = readDataUrl(data, `${param}.file_data`);
  const phrase = `the file ${name === undefined ? "" : `${name} `}(${type}, ${bytes.length} bytes)`;
  if (!isText(type)) return { phrase, tokens: FILE_TOKENS };
  const text = new TextDecoder().decode(bytes);
  const words = text.slice(0, 400).match(/\S+/g) ?? [];
  const start = words.slice(0, 8).join(" ");
  return { phrase: start === "" ? phrase : `${phrase}, which begins with "${start}"`, tokens: 0, text };
}

function isText(type: string): boolean {
  return type.startsWith("text/") || /^application\/(?:json|xml|yaml|x-yaml|[a-z0-9.-]+\+(?:json|xml))$/.test(type);
}

/** Returns the host of an http(s) URL; null for any other value. */
function readHost(url: string): string | null {
  if (!/^https?:\/\//i.test(url)) return null;
  return URL.parse(url)?.host ?? null;
}

/**
 * Parses a data URL by RFC 2397.
 * @param param path of the URL in the request, which an error names
 * @throws ProviderError `rejected` for a malformed data URL
 */
function readDataUrl(url: string, param: string): { type: string; bytes: Uint8Array } {
  const comma = url.slice(0, DATA_URL_HEAD_MAX).indexOf(",");
  if (comma === -1 || !/^data:/i.test(url)) throw malformed("a data URL", param);
  const [type = "", ...attributes] = url.slice("data:".length, comma).toLowerCase().split(";");
  const payload = url.slice(comma + 1);
  const isBase64 = attributes.at(-1)?.trim() === "base64";
  return {
    type: type.trim() === "" ? "text/plain" : type.trim(),
    bytes: isBase64 ? decodeBase64(payload, param) : decodePercent(payload, param),
  };
}

function decodeBase64(text: string, param: string): Uint8Array {
  try {
    return Uint8Array.fromBase64(text);
  } catch (error) {
    throw malformed("base64", param, error);
  }
}

function decodePercent(text: string, param: string): Uint8Array {
  try {
    return new TextEncoder().encode(decodeURIComponent(text));
  } catch (error) {
    throw malformed("a percent-encoded data URL", param, error);
  }
}

function malformed(expected: string, param: string, cause?: unknown): ProviderError {
  const more = { say: `Expected ${expected}, got other data.`, ...(cause === undefined ? {} : { cause }) };
  return rejected("unsupported_value", param, `expected ${expected} at ${param}`, more);
}
