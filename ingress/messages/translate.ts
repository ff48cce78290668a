/**
 * Converts a body of Anthropic's Messages API into a chat request, which every provider family serves. Omitted, because no other family
 * knows them: `top_k`, `service_tier`, hints on tool_use blocks, and members outside the schema. Pure.
 */
import type { ChatCompletionRequest, CountTokensRequest, MessagesRequest } from "#schemas/generated/types.ts";
import { ApiError } from "#shared/errors.ts";

import { isServerTool } from "./client-tools.ts";
import { endUser, leftOutTools, reasoningEffort, responseFormat, toolSettings } from "./settings.ts";
import { messagesOf, type PlacedMessage, systemMessage } from "./turns.ts";

export interface Translated {
  readonly request: ChatCompletionRequest;
  /** Returns the caller's name of a parameter of the chat request. */
  readonly paramOf: (param: string) => string;
  /** Distinct types of omitted tools. */
  readonly leftOut: readonly string[];
}

/** Converts a body. @throws ApiError 400 with the caller's parameter */
export function chatRequestOf(body: MessagesRequest): Translated {
  refuseCompaction(body);
  const placed = conversationOf(body);
  if (body.cache_control != null) hintAtEnd(placed, body.cache_control);
  const stops = body.stop_sequences ?? [];
  const request: ChatCompletionRequest = {
    model: body.model,
    messages: placed.map(({ message }) => message),
    max_completion_tokens: body.max_tokens,
    ...(body.stream === true ? { stream: true } : {}),
    ...(stops.length === 0 ? {} : { stop: [...stops] }),
    ...(body.temperature == null ? {} : { temperature: body.temperature }),
    ...(body.top_p == null ? {} : { top_p: body.top_p }),
    ...toolSettings(body),
    ...reasoningEffort(body),
    ...responseFormat(body),
    ...endUser(body),
  };
  return { request, paramOf: (param) => callersParam(param, placed, body), leftOut: leftOutTools(body) };
}

/** Refuses compaction by the service: such a client would send a growing conversation until no model accepts it. */
function refuseCompaction({ context_management: management }: MessagesRequest): void {
  const at = (management?.edits ?? []).findIndex(({ type }) => type?.startsWith("compact_") === true);
  if (at < 0) return;
  const message =
    "This service does not compact conversations; remove the edit and compact the conversation in the client.";
  throw new ApiError("unsupported_value", message, { param: `context_management.edits[${at}].type` });
}

/** Converts the members that a model reads. @throws ApiError as `chatRequestOf` */
export function readPartOf(body: CountTokensRequest): {
  readonly request: Pick<ChatCompletionRequest, "messages" | "tools" | "response_format">;
  readonly paramOf: Translated["paramOf"];
} {
  const placed = conversationOf(body);
  const request = {
    messages: placed.map(({ message }) => message),
    ...toolSettings(body),
    ...responseFormat(body),
  };
  return { request, paramOf: (param) => callersParam(param, placed, body) };
}

function conversationOf(body: CountTokensRequest): PlacedMessage[] {
  const turns = body.messages.flatMap(messagesOf);
  if (turns.length === 0) {
    throw new ApiError("invalid_request", "Expected a turn with content, got none.", { param: "messages" });
  }
  return [...systemMessage(body.system), ...turns];
}

/** Applies a cache hint on the whole request to its last block. */
function hintAtEnd(placed: readonly PlacedMessage[], cacheControl: object): void {
  const message = placed.at(-1)?.message;
  if (!message?.content) return;
  if (typeof message.content === "string") {
    Object.assign(message, { content: [{ type: "text", text: message.content, cache_control: cacheControl }] });
    return;
  }
  const part = message.content.at(-1);
  if (part && !("cache_control" in part)) Object.assign(part, { cache_control: cacheControl });
}

const NAMES: Readonly<Record<string, string>> = {
  max_completion_tokens: "max_tokens",
  stop: "stop_sequences",
  parallel_tool_calls: "tool_choice.disable_parallel_tool_use",
  response_format: "output_config.format",
  user: "metadata.user_id",
};

function callersParam(param: string, placed: readonly PlacedMessage[], body: CountTokensRequest): string {
  const [, message, part, rest] = /^messages\[(\d+)\](?:\.content\[(\d+)\])?(.*)$/.exec(param) ?? [];
  const origin = message === undefined ? undefined : placed[Number(message)];
  if (origin !== undefined) {
    const place = (part === undefined ? undefined : origin.parts[Number(part)]) ?? origin.from;
    return /^\.(image_url|file)/.test(rest ?? "") ? `${place}.source` : place;
  }
  const [head = "", ...members] = param.split(/(?=[.[])/);
  if (head === "reasoning_effort") return body.output_config?.effort == null ? "thinking" : "output_config.effort";
  if (head === "tools") return ["tools", ...callersPlace(members, body)].join("");
  const name = NAMES[head];
  return name === undefined || head === "response_format" ? (name ?? param) : [name, ...members].join("");
}

/** Replaces the index among the converted tools by the index among all tools of the caller. */
function callersPlace([index = "", ...members]: readonly string[], { tools }: CountTokensRequest): string[] {
  const kept = (tools ?? []).flatMap((tool, at) => (isServerTool(tool) ? [] : [at]));
  const at = kept[Number(/\d+/.exec(index)?.[0])];
  return [at === undefined ? index : `[${at}]`, ...members];
}
