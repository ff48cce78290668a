/** Converts settings of the Responses API that have another format in chat requests. Pure. */
import type {
  ChatCompletionRequest,
  ResponsesAllowedTool,
  ResponsesFormat,
  ResponsesToolChoice,
} from "#schemas/generated/types.ts";
import { ApiError } from "#shared/base/errors.ts";
import { type RenamedTool, SEARCH_TOOL, toFunctionName } from "#shared/responses/tool-names.ts";

import { IMAGE_TOOL } from "./image-items.ts";

/** Converts the tool choice. @param tools tools of the call, already converted into functions */
export function chatToolChoice(
  choice: ResponsesToolChoice | null | undefined,
  tools: readonly RenamedTool[],
): ChatCompletionRequest["tool_choice"] {
  if (choice == null || typeof choice === "string") return choice ?? undefined;
  if (choice.type !== "allowed_tools") return { type: "function", function: { name: functionNameOf(choice, tools) } };
  const { mode, tools: listed } = choice;
  const allowed = listed.map((tool) => ({ type: "function", function: { name: functionNameOf(tool, tools) } }));
  return { type: "allowed_tools", allowed_tools: { mode, tools: allowed } };
}

/**
 * Returns the name under which the model sees the chosen tool. A tool that is not in the request is rejected by the check of the chat
 * request.
 */
function functionNameOf(choice: ResponsesAllowedTool, tools: readonly RenamedTool[]): string {
  if (choice.type === "image_generation") return IMAGE_TOOL;
  if (choice.type === "tool_search") return SEARCH_TOOL;
  const { name, namespace } = choice;
  if (namespace != null) return toFunctionName({ namespace, name });
  const named = tools.filter((tool) => tool.name === name);
  const [only] = named.length === 1 ? named : named.filter((tool) => tool.namespace === undefined);
  return only?.shown ?? toFunctionName({ name });
}

/** Returns the error for an image tool in a request that cannot run model turns. */
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
