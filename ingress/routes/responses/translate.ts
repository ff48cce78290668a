/**
 * Converts a body of OpenAI's Responses API into two objects: a chat request, which every provider family can serve, and the response
 * object that the result completes. Pure.
 */
import type { ChatCompletionRequest, ResponsesRequest } from "#schemas/generated/types.ts";

import { ApiError } from "#shared/base/errors.ts";

import type { PlacedMessage } from "../messages/turns.ts";

import { type PlacedItem, placingItems } from "./items.ts";
import { type DeclaredTool, convertTools } from "./declared-tools.ts";
import { chatFormat, chatToolChoice } from "./settings.ts";

export interface Translated {
  readonly request: ChatCompletionRequest;
  readonly tools: readonly DeclaredTool[];
  /** Types of tools that are omitted from the chat request. */
  readonly omittedToolTypes: readonly string[];
  /** Converts the path of a parameter of the chat request into its path in the caller's body. */
  readonly paramOf: (param: string) => string;
}

/**
 * Converts a body and yields between items. @param items the whole conversation. @throws ApiError with status 400 that names the caller's
 * parameter
 */
export function* translatingRequest(body: ResponsesRequest, items: readonly PlacedItem[]): Generator<void, Translated> {
  if (items.length === 0 && body.generate !== false) {
    throw new ApiError("invalid_request", "Expected input to have at least 1 item, got an array of 0 items.", {
      param: "input",
    });
  }
  const placed = yield* placingItems(items, body.instructions);
  const { tools, omittedToolTypes } = convertTools(body.tools ?? [], items);
  const asksLogprobs = body.include?.includes("message.output_text.logprobs") === true || (body.top_logprobs ?? 0) > 0;
  const request: ChatCompletionRequest = {
    model: body.model,
    ...optionalMember("models", body.models),
    messages: placed.map(({ message }) => message),
    ...(body.stream === true ? { stream: true } : {}),
    ...optionalMember("max_completion_tokens", body.max_output_tokens),
    ...optionalMember("temperature", body.temperature),
    ...optionalMember("top_p", body.top_p),
    ...optionalMember("presence_penalty", body.presence_penalty),
    ...optionalMember("frequency_penalty", body.frequency_penalty),
    ...(asksLogprobs ? { logprobs: true, ...optionalMember("top_logprobs", body.top_logprobs) } : {}),
    ...(tools.length === 0
      ? {}
      : { tools: tools.map(({ chat }) => chat), ...optionalMember("parallel_tool_calls", body.parallel_tool_calls) }),
    ...optionalMember("tool_choice", chatToolChoice(body.tool_choice, tools)),
    ...optionalMember("response_format", chatFormat(body.text?.format)),
    ...optionalMember("verbosity", body.text?.verbosity),
    ...optionalMember("reasoning_effort", body.reasoning?.effort),
    ...optionalMember("service_tier", body.service_tier),
    ...optionalMember("user", body.user),
    ...optionalMember("safety_identifier", body.safety_identifier),
    ...optionalMember("prompt_cache_key", body.prompt_cache_key),
  };
  return { request, tools, omittedToolTypes, paramOf: (param) => callersParam(param, placed, tools) };
}

/** Returns an object with one member, or an empty object if the value is null, which means the same as absent. */
function optionalMember<N extends string, V>(name: N, value: V): { readonly [K in N]?: NonNullable<V> } {
  return value == null ? {} : ({ [name]: value } as { readonly [K in N]?: NonNullable<V> });
}

const NAMES: Readonly<Record<string, string>> = {
  max_completion_tokens: "max_output_tokens",
  response_format: "text.format",
  verbosity: "text.verbosity",
  reasoning_effort: "reasoning.effort",
  logprobs: "include",
};

/** Maps members of a chat content part to members of the Responses content part that it was converted from. */
const PART_MEMBERS: Readonly<Record<string, string>> = {
  ".image_url.url": ".image_url",
  ".file.file_id": ".file_id",
  ".file.file_data": ".file_data",
  ".file.file_url": ".file_url",
};

function callersParam(param: string, placed: readonly PlacedMessage[], tools: readonly DeclaredTool[]): string {
  const [, message, part, rest = ""] = /^messages\[(\d+)\](?:\.content\[(\d+)\])?(.*)$/.exec(param) ?? [];
  const origin = message === undefined ? undefined : placed[Number(message)];
  if (origin !== undefined) {
    const place = part === undefined ? undefined : origin.parts[Number(part)];
    return place === undefined ? origin.from : place + (PART_MEMBERS[rest] ?? "");
  }
  const [head = "", ...members] = param.split(/(?=[.[])/);
  if (head === "messages") return "input";
  if (head === "tools" || head === "tool_choice") {
    const own = param.replace(/\.(function|custom|allowed_tools)(?=\.|$)/, "");
    return own.replace(/^tools\[(\d+)\]/, (whole, at: string) => tools[Number(at)]?.from ?? whole);
  }
  const name = NAMES[head];
  return name === undefined || head === "response_format" ? (name ?? param) : [name, ...members].join("");
}
