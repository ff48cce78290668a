/** Settings of Anthropic's API that chat has under other names or in other forms. Pure. */
import { createHash } from "node:crypto";

import type { ChatCompletionRequest, ChatTool, MessagesRequest } from "#schemas/generated/types.ts";
import { unknownTool } from "#shared/calls/kinds/chat/tools.ts";
import { ApiError } from "#shared/errors.ts";

import { clientTool, isServerTool } from "./client-tools.ts";

/**
 * Tools and how they may be called; a choice without tools says nothing.
 * @throws ApiError `unsupported_value` for tools that are not the caller's own or a choice that is none of them,
 * `missing_required_parameter`
 */
export function toolSettings({
  tools,
  tool_choice: choice,
}: Pick<MessagesRequest, "tools" | "tool_choice">): Partial<ChatCompletionRequest> {
  refuseLeftOut(choice, tools ?? []);
  // Where the search for tools runs at Anthropic it is left out, and a deferred tool would never be found.
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

/** @throws ApiError `unsupported_value` for a choice of a tool that is left out */
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

/** Returns the types of the request's tools that run at Anthropic, each once. */
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

/** Budgets of thinking below these become the effort beside them, larger ones `high`. */
const EFFORT_OF_BUDGET = [
  [4_096, "low"],
  [16_384, "medium"],
] as const;

/** Effort for callers who leave it to the model: the one that models themselves use by default. */
const EFFORT_OF_ADAPTIVE = "high";

/**
 * Maps the settings of thinking to a level of effort. `disabled` wins, then a level that the caller named, then a budget. A
 * level alone asks for no thinking where the two are apart: `effort_only` tells the Anthropic adapter, others have one setting.
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

/** OpenAI takes at most 64 characters, and Anthropic's own clients send more: those go on as 64 of their digest. */
const USER_CHARACTERS_MAX = 64;

export function endUser({ metadata }: Pick<MessagesRequest, "metadata">): { user?: string } {
  const id = metadata?.user_id;
  if (id == null || id === "") return {};
  return { user: id.length <= USER_CHARACTERS_MAX ? id : createHash("sha256").update(id).digest("hex") };
}
