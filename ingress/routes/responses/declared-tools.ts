/**
 * Converts tools of a Responses call into functions, which every chat family supports. The tools come from the request, from the
 * conversation, and from tool searches. Pure.
 */
import type {
  ChatTool,
  ResponsesCustomTool,
  ResponsesFunctionTool,
  ResponsesItem,
  ResponsesSearchTool,
  ResponsesTool,
  ResponsesToolSearchOutput,
} from "#schemas/generated/types.ts";
import { tryParse } from "#shared/json/contracts.ts";
import { ApiError } from "#shared/base/errors.ts";
import { type RenamedTool, SEARCH_TOOL, toFunctionName } from "#shared/responses/tool-names.ts";

import type { PlacedItem } from "./items.ts";
import { servedElsewhere } from "./settings.ts";

export interface DeclaredTool extends RenamedTool {
  readonly chat: ChatTool;
  /** JSON path of the tool in the caller's body. */
  readonly from: string;
}

export interface DeclaredTools {
  readonly tools: readonly DeclaredTool[];
  /** Distinct types of tools that are omitted from the chat request. */
  readonly omittedToolTypes: readonly string[];
}

/**
 * Converts the tools. A later definition of a tool replaces an earlier one. A tool of type `sluice` is kept, and the check of the chat
 * request rejects it.
 * @throws ApiError `unsupported_value`; `invalid_request` if two tools have the same name for the model
 */
export function convertTools(tools: readonly ResponsesTool[], items: readonly PlacedItem[]): DeclaredTools {
  const collector = new ToolCollector();
  for (const [at, tool] of tools.entries()) collector.add(tool, `tools[${at}]`);
  for (const { item, from } of items) {
    for (const [at, tool] of toolsIn(item)) {
      const place = `${from}.tools[${at}]`;
      if (tool.type === "sluice" || tool.type === "image_generation") collector.omit(tool);
      else collector.add(tool, place);
    }
  }
  return { tools: [...collector.tools.values()], omittedToolTypes: [...collector.omittedToolTypes] };
}

/** Returns the tools whose calls the worker converts to the caller's name or format. */
export function renamedTools(tools: readonly DeclaredTool[]): RenamedTool[] {
  return tools.flatMap(({ type, namespace, name, shown, chat }) => {
    if (chat.type === "sluice" || (type === "function" && shown === name)) return [];
    return [{ type, ...(namespace === undefined ? {} : { namespace }), name, shown }];
  });
}

/** Returns the names under which the model sees the tools that a search has found. */
export function foundNames(output: ResponsesToolSearchOutput): string[] {
  return foundTools(output).flatMap(([, tool]) => {
    if (tool.type === "function" || tool.type === "custom") return [toFunctionName(tool)];
    if (tool.type !== "namespace") return [];
    return tool.tools.map(({ name }) => toFunctionName({ namespace: tool.name, name }));
  });
}

function toolsIn(item: ResponsesItem): Iterable<[number, ResponsesTool]> {
  if (item.type === "additional_tools") return item.tools.entries();
  return item.type === "tool_search_output" ? foundTools(item) : [];
}

/**
 * Returns the found tools that can be converted. Other tools are ignored instead of rejected, because the search is over and no retry would
 * change its result.
 */
function foundTools({ tools }: ResponsesToolSearchOutput): [number, ResponsesTool][] {
  return tools.flatMap((tool, at) => {
    const read = tryParse("ResponsesTool", tool);
    return "fault" in read ? [] : [[at, read.value]];
  });
}

class ToolCollector {
  /** Tools by the name that the model sees. */
  readonly tools = new Map<string, DeclaredTool>();
  readonly omittedToolTypes = new Set<string>();

  add(tool: ResponsesTool, from: string): void {
    switch (tool.type) {
      case "function":
      case "custom":
        this.addFunction(tool, from);
        break;
      case "namespace":
        for (const [at, own] of tool.tools.entries()) {
          const descriptions = at === 0 ? [tool.description, own.description] : [own.description];
          const description = descriptions.filter((text) => text != null && text !== "").join("\n\n");
          this.addFunction(
            { ...own, description: description === "" ? null : description },
            `${from}.tools[${at}]`,
            tool.name,
          );
        }
        break;
      case "tool_search":
        if (tool.execution === "client")
          this.set({ type: tool.type, name: SEARCH_TOOL, shown: SEARCH_TOOL, chat: searchTool(tool), from });
        else this.omit(tool);
        break;
      case "sluice":
        this.set({ type: "function", name: tool.type, shown: from, chat: tool, from });
        break;
      case "image_generation":
        throw servedElsewhere(`${from}.type`);
      default:
        this.omit(tool);
    }
  }

  omit({ type }: ResponsesTool): void {
    this.omittedToolTypes.add(type);
  }

  private addFunction(tool: ResponsesFunctionTool | ResponsesCustomTool, from: string, namespace?: string): void {
    const { type, name } = tool;
    const functionName = toFunctionName({ namespace, name });
    const chat = type === "custom" ? customTool(tool, functionName) : functionTool(tool, functionName);
    this.set({ type, name, ...(namespace === undefined ? {} : { namespace }), shown: functionName, chat, from });
  }

  private set(tool: DeclaredTool): void {
    const other = this.tools.get(tool.shown);
    if (
      other &&
      (other.namespace !== tool.namespace || other.name !== tool.name || isSearch(other) !== isSearch(tool))
    ) {
      const message = `Expected tools with different names: ${titleOf(other)} and ${titleOf(tool)} are both sent as ${tool.shown}.`;
      throw new ApiError("invalid_request", message, { param: tool.from });
    }
    this.tools.set(tool.shown, tool);
  }
}

function isSearch({ type }: DeclaredTool): boolean {
  return type === "tool_search";
}

function titleOf({ type, namespace, name }: DeclaredTool): string {
  if (type === "tool_search") return "the search for tools";
  return namespace === undefined ? name : `${name} of the namespace ${namespace}`;
}

function functionTool({ description, parameters, strict }: ResponsesFunctionTool, name: string): ChatTool {
  return {
    type: "function",
    function: {
      name,
      ...(description == null ? {} : { description }),
      ...(parameters == null ? {} : { parameters }),
      ...(strict == null ? {} : { strict }),
    },
  };
}

/**
 * Represents a custom tool as a function with one text argument. The worker converts calls of the function back into calls of the custom
 * tool.
 */
function customTool({ description, format }: ResponsesCustomTool, name: string): ChatTool {
  const grammar =
    format?.type === "grammar" ? `The input is a text of this ${format.syntax} grammar:\n${format.definition}` : "";
  const fullDescription = [description ?? "", grammar].filter((text) => text !== "").join("\n\n");
  const input = { type: "string", description: "Free text, exactly as the tool is to read it." };
  return {
    type: "function",
    function: {
      name,
      ...(fullDescription === "" ? {} : { description: fullDescription }),
      parameters: { type: "object", properties: { input }, required: ["input"], additionalProperties: false },
    },
  };
}

function searchTool({ description, parameters }: ResponsesSearchTool): ChatTool {
  return {
    type: "function",
    function: {
      name: SEARCH_TOOL,
      description: description ?? "Searches for tools by what they do. Tools that it finds can be called afterwards.",
      parameters: parameters ?? {
        type: "object",
        properties: { query: { type: "string", description: "What the tool is for." } },
        required: ["query"],
      },
    },
  };
}
