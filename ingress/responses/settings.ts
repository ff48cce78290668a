/** Settings of the Responses API that chat has in other forms. Pure. */
import type {
  ChatCompletionRequest,
  ResponsesAllowedTool,
  ResponsesFormat,
  ResponsesToolChoice,
} from "#schemas/generated/types.ts";
import { ApiError } from "#shared/errors.ts";
import { type RenamedTool, SEARCH_TOOL, shownName } from "#shared/responses/tool-names.ts";

import { IMAGE_TOOL } from "./image-items.ts";

/** @param tools those of the call, which are functions by then */
export function chatToolChoice(
  choice: ResponsesToolChoice | null | undefined,
  tools: readonly RenamedTool[],
): ChatCompletionRequest["tool_choice"] {
  if (choice == null || typeof choice === "string") return choice ?? undefined;
  if (choice.type !== "allowed_tools") return { type: "function", function: { name: shownOf(choice, tools) } };
  const { mode, tools: listed } = choice;
  const allowed = listed.map((tool) => ({ type: "function", function: { name: shownOf(tool, tools) } }));
  return { type: "allowed_tools", allowed_tools: { mode, tools: allowed } };
}

/** The name under which the model is shown the tool that is chosen; what is none of the tools is refused with the chat request. */
function shownOf(choice: ResponsesAllowedTool, tools: readonly RenamedTool[]): string {
  if (choice.type === "image_generation") return IMAGE_TOOL;
  if (choice.type === "tool_search") return SEARCH_TOOL;
  const { name, namespace } = choice;
  if (namespace != null) return shownName({ namespace, name });
  const named = tools.filter((tool) => tool.name === name);
  const [only] = named.length === 1 ? named : named.filter((tool) => tool.namespace === undefined);
  return only?.shown ?? shownName({ name });
}

/** The refusal of a tool that makes images where no turns of a model are made. */
export function servedElsewhere(param: string): ApiError {
  const message = "Tools of type image_generation work only in direct calls of POST /v1/responses.";
  return new ApiError("unsupported_value", message, { param });
}

export function chatFormat(format: ResponsesFormat | undefined): ChatCompletionRequest["response_format"] {
  if (format?.type !== "json_schema") return format;
  const { name, description, schema, strict } = format;
  return {
    type: "json_schema",
    json_schema: {
      name,
      schema,
      ...(description == null ? {} : { description }),
      ...(strict == null ? {} : { strict }),
    },
  };
}
