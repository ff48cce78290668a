/**
 * Converts a request body of Anthropic's Messages API into a chat request, which every provider family can serve. `top_k`, hints on tool_use blocks and members outside the schema are omitted, because other families do not know them. Pure.
 */
import { createHash } from "node:crypto";

import type { ChatCompletionRequest, ChatTool, CountTokensRequest, MessagesRequest } from "#schemas/generated/types.ts";
import { unknownTool } from "#shared/calls/kinds/chat/tools.ts";
import { ApiError } from "#shared/base/errors.ts";

import { clientTool, isServerTool } from "./client-tools.ts";
import { messagesOf, type PlacedMessage, systemMessage } from "./turns.ts";

interface Translated {
  readonly request: ChatCompletionRequest;
  /** Converts the path of a parameter of the chat request into its path in the caller's body. */
  readonly paramOf: (param: string) => string;
  /** Distinct types of tools that were omitted because they run at Anthropic. */
  readonly omittedToolTypes: readonly string[];
}

/** Converts a body of the Messages API into a chat request. @throws ApiError with status 400 that names the caller's parameter */
export function chatRequestOf(body: MessagesRequest): Translated {
  refuseCompaction(body);
  const placed = conversationOf(body);
  if (body.cache_control != null) hintAtEnd(placed, body.cache_control);
  const stops = body.stop_sequences ?? [];
  const request: ChatCompletionRequest = {
    model: body.model,
    ...(body.models == null ? {} : { models: body.models }),
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
    ...(body.service_tier == null ? {} : { service_tier: body.service_tier === "auto" ? "auto" : "default" }),
  };
  return { request, paramOf: (param) => callersParam(param, placed, body), omittedToolTypes: omittedToolTypesOf(body) };
}

/**
 * Rejects requests for server-side compaction. If it were ignored, the client would send a growing conversation until no model accepts it.
 */
function refuseCompaction({ context_management: management }: MessagesRequest): void {
  const at = (management?.edits ?? []).findIndex(({ type }) => type?.startsWith("compact_") === true);
  if (at < 0) return;
  const message =
    "This service does not compact conversations; remove the edit and compact the conversation in the client.";
  throw new ApiError("unsupported_value", message, { param: `context_management.edits[${at}].type` });
}

/** Converts the members that count as model input: messages, tools and response format. @throws the errors of `chatRequestOf` */
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

/** Moves a cache hint of the whole request to the last block of the last message. */
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

/**
 * Converts the path of a tool in the chat request into its path in the caller's body. The indexes differ if the chat request omits some of
 * the caller's tools.
 */
function callersPlace([index = "", ...members]: readonly string[], { tools }: CountTokensRequest): string[] {
  const kept = (tools ?? []).flatMap((tool, at) => (isServerTool(tool) ? [] : [at]));
  const at = kept[Number(/\d+/.exec(index)?.[0])];
  return [at === undefined ? index : `[${at}]`, ...members];
}

// Converts settings of Anthropic's API that have other names or formats in chat. Pure.

/**
 * Converts the tools and the tool choice. Without tools, the tool choice is ignored.
 * @throws ApiError `unsupported_value` for an unsupported tool or for the choice of a tool that is not in the request,
 * `missing_required_parameter`
 */
function toolSettings({
  tools,
  tool_choice: choice,
}: Pick<MessagesRequest, "tools" | "tool_choice">): Partial<ChatCompletionRequest> {
  refuseLeftOut(choice, tools ?? []);
  // A tool search that runs at Anthropic is omitted; without it, no model could find a deferred tool.
  const mayDefer = !(tools ?? []).some((tool) => tool.type?.startsWith("tool_search_tool") === true);
  const chatTools = (tools ?? []).flatMap((tool, at) => {
    if (isServerTool(tool)) return [];
    const isDeferred = mayDefer && tool.defer_loading === true;
    return [{ ...toolOf(tool, at), ...(isDeferred ? { defer_loading: true } : {}) }];
  });
  const isDemand = choice?.type === "any" || choice?.type === "tool";
  if (chatTools.length === 0) {
    if (!isDemand) return {};
    throw new ApiError("unsupported_value", `Expected tools for a tool_choice of ${choice.type}, got none.`, {
      param: "tool_choice",
    });
  }
  return {
    tools: chatTools,
    ...(choice == null ? {} : { tool_choice: choiceOf(choice, chatTools) }),
    ...(choice?.disable_parallel_tool_use === true ? { parallel_tool_calls: false } : {}),
  };
}

/** Rejects a tool choice that names a tool omitted from the request because it runs at Anthropic. @throws ApiError `unsupported_value` */
function refuseLeftOut(choice: MessagesRequest["tool_choice"], tools: NonNullable<MessagesRequest["tools"]>): void {
  if (choice?.type !== "tool") return;
  const named = tools.find((tool) => isServerTool(tool) && tool.name === choice.name);
  if (named === undefined) return;
  const message = `Expected the name of a tool that runs at the client. Tools of type ${named.type} run at Anthropic and are ignored.`;
  throw new ApiError("unsupported_value", message, { param: "tool_choice.name" });
}

function toolOf(tool: NonNullable<MessagesRequest["tools"]>[number], at: number): ChatTool {
  const { type, name, input_schema: parameters, description, strict, cache_control: cacheControl } = tool;
  const own = clientTool(tool);
  if (type != null && type !== "custom" && own === undefined) {
    const message =
      "Expected a custom tool, or one of the types bash, memory and text_editor; other types are not supported.";
    throw new ApiError("unsupported_value", message, { param: `tools[${at}].type` });
  }
  for (const [member, value] of Object.entries(own ? { name } : { name, input_schema: parameters })) {
    if (value !== undefined) continue;
    const param = `tools[${at}].${member}`;
    throw new ApiError("missing_required_parameter", `Missing required parameter: ${param}.`, { param });
  }
  if (own) return { ...own, ...(cacheControl == null ? {} : { cache_control: cacheControl }) };
  return {
    type: "function",
    function: {
      name: name ?? "",
      ...(description == null ? {} : { description }),
      ...(parameters === undefined ? {} : { parameters }),
      ...(strict == null ? {} : { strict }),
    },
    ...(cacheControl == null ? {} : { cache_control: cacheControl }),
  };
}

/** Returns the distinct types of the request's tools that are omitted because they run at Anthropic. */
function omittedToolTypesOf({ tools }: Pick<MessagesRequest, "tools">): string[] {
  return [...new Set((tools ?? []).filter(isServerTool).map(({ type }) => type ?? ""))];
}

function choiceOf(
  choice: NonNullable<MessagesRequest["tool_choice"]>,
  tools: readonly ChatTool[],
): NonNullable<ChatCompletionRequest["tool_choice"]> {
  if (choice.type === "auto" || choice.type === "none") return choice.type;
  if (choice.type === "any") return "required";
  const { name } = choice;
  if (name === undefined) {
    const param = "tool_choice.name";
    throw new ApiError("missing_required_parameter", `Missing required parameter: ${param}.`, { param });
  }
  const names = tools.flatMap((tool) => (tool.type === "function" ? [tool.function.name] : []));
  if (!names.includes(name)) throw unknownTool("tool_choice.name", names, name);
  return { type: "function", function: { name } };
}

/** Reasoning effort for thinking budgets below each number of tokens. A larger budget means `high`. */
const EFFORT_OF_BUDGET = [
  [4_096, "low"],
  [16_384, "medium"],
] as const;

/** Reasoning effort used for adaptive thinking, which is also the default of Anthropic's models. */
const EFFORT_OF_ADAPTIVE = "high";

/**
 * Maps the thinking settings to a reasoning effort. Precedence: `disabled`, the caller's effort, the budget. At Anthropic an effort alone
 * does not enable thinking, so `effort_only` reports that case to Anthropic's adapter. Other providers have a single setting.
 * @throws ApiError `missing_required_parameter` for `enabled` without a budget
 */
function reasoningEffort({
  thinking,
  output_config: output,
}: Pick<MessagesRequest, "thinking" | "output_config">): Partial<ChatCompletionRequest> {
  if (thinking?.type === "disabled") return { reasoning_effort: "none" };
  const budget = thinking?.budget_tokens;
  if (thinking?.type === "enabled" && budget == null) {
    const param = "thinking.budget_tokens";
    throw new ApiError("missing_required_parameter", `Missing required parameter: ${param}.`, { param });
  }
  if (output?.effort != null) {
    return { reasoning_effort: output.effort, ...(thinking == null ? { effort_only: true } : {}) };
  }
  if (thinking?.type === "adaptive") return { reasoning_effort: EFFORT_OF_ADAPTIVE };
  if (thinking?.type !== "enabled" || budget == null) return {};
  return { reasoning_effort: EFFORT_OF_BUDGET.find(([below]) => budget < below)?.[1] ?? "high" };
}

function responseFormat({ output_config: output }: Pick<MessagesRequest, "output_config">) {
  if (output?.format == null) return {};
  const format = {
    type: "json_schema" as const,
    json_schema: { name: "answer", schema: output.format.schema, strict: true },
  };
  return { response_format: format };
}

/** Maximum length of OpenAI's `user`, in characters. Longer ids of Anthropic's clients are replaced by 64 hex digits of their hash. */
const USER_CHARACTERS_MAX = 64;

function endUser({ metadata }: Pick<MessagesRequest, "metadata">): { user?: string } {
  const id = metadata?.user_id;
  if (id == null || id === "") return {};
  return { user: id.length <= USER_CHARACTERS_MAX ? id : createHash("sha256").update(id).digest("hex") };
}
