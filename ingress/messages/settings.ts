/** Converts settings of Anthropic's API that have other names or formats in chat. Pure. */
import { createHash } from "node:crypto";

import type { ChatCompletionRequest, ChatTool, MessagesRequest } from "#schemas/generated/types.ts";
import { unknownTool } from "#shared/calls/kinds/chat/tools.ts";
import { ApiError } from "#shared/errors.ts";

import { clientTool, isServerTool } from "./client-tools.ts";

/**
 * Returns the tools and the tool choice; without tools, a choice has no effect.
 * @throws ApiError `unsupported_value` for unsupported tools or for the choice of a tool that is not in the request,
 * `missing_required_parameter`
 */
export function toolSettings({
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

/** Refuses the choice of an omitted tool. @throws ApiError `unsupported_value` */
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

/** Returns the distinct types of the request's tools that run at Anthropic. */
export function leftOutTools({ tools }: Pick<MessagesRequest, "tools">): string[] {
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

/** Effort of a thinking budget below each number of tokens; a larger budget is `high`. */
const EFFORT_OF_BUDGET = [
  [4_096, "low"],
  [16_384, "medium"],
] as const;

/** Effort of adaptive thinking: the default of the models. */
const EFFORT_OF_ADAPTIVE = "high";

/**
 * Maps the thinking settings to a reasoning effort. Precedence: `disabled`, the caller's effort, the budget. An effort alone does not
 * enable thinking at Anthropic, where both are separate: `effort_only` informs its adapter; other providers have one setting.
 * @throws ApiError `missing_required_parameter` for `enabled` without a budget
 */
export function reasoningEffort({
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

export function responseFormat({ output_config: output }: Pick<MessagesRequest, "output_config">) {
  if (output?.format == null) return {};
  const format = {
    type: "json_schema" as const,
    json_schema: { name: "answer", schema: output.format.schema, strict: true },
  };
  return { response_format: format };
}

/** Most characters of OpenAI's `user`. Anthropic's clients send more: longer ids are replaced by 64 hex digits of their hash. */
const USER_CHARACTERS_MAX = 64;

export function endUser({ metadata }: Pick<MessagesRequest, "metadata">): { user?: string } {
  const id = metadata?.user_id;
  if (id == null || id === "") return {};
  return { user: id.length <= USER_CHARACTERS_MAX ? id : createHash("sha256").update(id).digest("hex") };
}
