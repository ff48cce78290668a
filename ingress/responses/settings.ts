/** Settings of the Responses API that chat has in other forms. Pure. */
import type {
  ChatCompletionRequest,
  ChatTool,
  ResponsesAllowedTool,
  ResponsesCustomTool,
  ResponsesFormat,
  ResponsesTool,
  ResponsesToolChoice,
} from "#schemas/generated/types.ts";
import { ApiError } from "#shared/errors.ts";

import { IMAGE_TOOL } from "./image-items.ts";

export function chatTools(tools: readonly ResponsesTool[] | null | undefined): ChatTool[] {
  return (tools ?? []).map((tool, at) => {
    if (tool.type === "sluice") return tool;
    if (tool.type === "image_generation") throw servedElsewhere(`tools[${at}].type`);
    if (tool.type === "custom") return customTool(tool);
    const { name, description, parameters, strict } = tool;
    return {
      type: "function",
      function: {
        name,
        ...(description == null ? {} : { description }),
        ...(parameters == null ? {} : { parameters }),
        ...(strict == null ? {} : { strict }),
      },
    };
  });
}

/** A function with one text, which every family knows; its calls are told as calls of a custom tool again. */
function customTool({ name, description, format }: ResponsesCustomTool): ChatTool {
  const grammar =
    format?.type === "grammar" ? `The input is a text of this ${format.syntax} grammar:\n${format.definition}` : "";
  const words = [description ?? "", grammar].filter((text) => text !== "").join("\n\n");
  const input = { type: "string", description: "Free text, exactly as the tool is to read it." };
  return {
    type: "function",
    function: {
      name,
      ...(words === "" ? {} : { description: words }),
      parameters: { type: "object", properties: { input }, required: ["input"], additionalProperties: false },
    },
  };
}

/** Custom tools are functions by then. */
export function chatToolChoice(choice: ResponsesToolChoice | null | undefined): ChatCompletionRequest["tool_choice"] {
  if (choice == null || typeof choice === "string") return choice ?? undefined;
  if (choice.type !== "allowed_tools") return { type: "function", function: { name: nameOf(choice) } };
  const { mode, tools } = choice;
  const allowed = tools.map((tool) => ({ type: "function", function: { name: nameOf(tool) } }));
  return { type: "allowed_tools", allowed_tools: { mode, tools: allowed } };
}

function nameOf(choice: ResponsesAllowedTool): string {
  return choice.type === "image_generation" ? IMAGE_TOOL : choice.name;
}

/** The refusal of a tool that makes images where no turns of a model are made. */
export function servedElsewhere(param: string): ApiError {
  const message = "Tools of type image_generation are served where their caller waits: by POST /v1/responses.";
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
