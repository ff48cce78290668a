/** Converts tools and the tool choice. Source: platform.claude.com/docs/en/agents-and-tools/tool-use. */
import type { ChatCompletionRequest } from "#schemas/generated/types.ts";

import { isMembers, type Members, membersOf, textOf } from "../json.ts";
import type { ChatCall } from "../provider.ts";
import { cacheControl } from "./cache-control.ts";
import { unsupported } from "./rejected.ts";
import { closedSchema } from "./schema.ts";

export interface Tooling {
  /** Members `tools` and `tool_choice` of the request body. */
  readonly members: Members;
  /** True if the model must call a tool, which excludes thinking. */
  readonly isForced: boolean;
  /** Names of tools that the model sees only after a tool result refers to them. */
  readonly deferred: ReadonlySet<unknown>;
}

/**
 * Converts the tools and the tool choice of a call.
 * @throws ProviderError `rejected` that names the unsupported tool or choice
 */
export function convertTools({ request, traits }: Pick<ChatCall, "request" | "traits">): Tooling {
  const narrowed = allowedNames(request.tool_choice);
  const tools = membersOf(request.tools)
    .map((tool, at) => convertTool(tool, `tools[${at}]`, traits.has("json_by_tool")))
    .filter(({ name }) => narrowed === undefined || narrowed.has(textOf(name)));
  const answerTool = answerToolOf({ request, traits });
  if (answerTool !== undefined) tools.push({ ...answerTool });
  if (tools.length === 0) return { members: {}, isForced: false, deferred: new Set() };
  // At least one tool must not be deferred.
  if (tools.every(isDeferred)) for (const tool of tools) delete tool["defer_loading"];
  const choice = answerTool === undefined ? convertChoice(request) : answerChoice(request, textOf(answerTool["name"]));
  // The caller decides about parallel calls, but the tool with the answer must be called alone.
  const isAnswerOnly = answerTool !== undefined && choice["type"] === "tool";
  if (choice["type"] !== "none" && (request.parallel_tool_calls === false || isAnswerOnly)) {
    choice["disable_parallel_tool_use"] = true;
  }
  const isPlain = choice["type"] === "auto" && Object.keys(choice).length === 1;
  return {
    members: { tools, ...(isPlain ? {} : { tool_choice: choice }) },
    isForced: choice["type"] === "any" || choice["type"] === "tool",
    deferred: new Set(tools.filter(isDeferred).map(({ name }) => name)),
  };
}

function isDeferred(tool: Members): boolean {
  return tool["defer_loading"] === true;
}

function convertTool(tool: Members, param: string, isOlder: boolean): Members {
  if (tool["type"] !== "function") {
    throw unsupported(`${param}.type`, "Expected a function tool: this model does not support custom tools.");
  }
  const fn = isMembers(tool["function"]) ? tool["function"] : {};
  const own = clientTool(tool["client_tool"]);
  // A deferred tool is not cached, and a cache mark on it is rejected.
  const loading = isDeferred(tool) ? { defer_loading: true } : cacheControl(tool, param);
  if (own) return { ...own, name: textOf(fn["name"]), ...loading };
  const parameters = isMembers(fn["parameters"]) ? fn["parameters"] : { type: "object", properties: {} };
  const schema = parameters["type"] === undefined ? { type: "object", ...parameters } : parameters;
  if (schema["type"] !== "object") {
    throw unsupported(`${param}.function.parameters`, "Expected parameters of type object.");
  }
  // Older models follow a schema without guarantee.
  const isStrict = fn["strict"] === true && !isOlder;
  return {
    name: textOf(fn["name"]),
    ...(typeof fn["description"] === "string" && fn["description"] !== "" ? { description: fn["description"] } : {}),
    input_schema: isStrict ? closedSchema(schema, `${param}.function.parameters`) : schema,
    ...(isStrict ? { strict: true } : {}),
    ...(isDeferred(tool) ? {} : cacheControl(fn, `${param}.function`)),
    ...loading,
  };
}

/**
 * Returns type and settings of a tool that Anthropic defines and the client executes (bash, memory, text editor). Undefined for other
 * tools. Tools that run at Anthropic are excluded, because Anthropic charges for them.
 */
function clientTool(value: unknown): Members | undefined {
  if (!isMembers(value) || !/^(?:bash|memory|text_editor)_\d{8}$/.test(textOf(value["type"]))) return undefined;
  const most = value["max_characters"];
  return { type: value["type"], ...(typeof most === "number" ? { max_characters: most } : {}) };
}

/** Returns the names of the tools that the model may call; undefined if all are allowed. */
function allowedNames(choice: ChatCompletionRequest["tool_choice"]): ReadonlySet<string> | undefined {
  if (typeof choice !== "object" || choice.type !== "allowed_tools") return undefined;
  return new Set(
    membersOf(choice.allowed_tools.tools).map((tool) => textOf((tool["function"] as Members | undefined)?.["name"])),
  );
}

function convertChoice({ tool_choice: choice }: ChatCompletionRequest): Members {
  switch (choiceMode(choice)) {
    case "none":
      return { type: "none" };
    case "required":
      return { type: "any" };
    case "named":
      return { type: "tool", name: (choice as { function: { name: string } }).function.name };
    default:
      return { type: "auto" };
  }
}

function choiceMode(choice: ChatCompletionRequest["tool_choice"]): "none" | "auto" | "required" | "named" {
  if (choice === undefined || choice === null) return "auto";
  if (typeof choice === "string") return choice;
  if (choice.type === "function") return "named";
  if (choice.type === "allowed_tools") return choice.allowed_tools.mode;
  throw unsupported("tool_choice", "Expected a function tool: this model does not support custom tools.");
}

const ANSWER_TOOL = "json_answer";

/**
 * Returns the answer tool, for models without JSON output by schema. The tool has the requested schema, and its input is the answer.
 * Undefined if no schema was requested, or if the model must call a tool of the caller.
 */
export function answerToolOf({ request, traits }: Pick<ChatCall, "request" | "traits">): Members | undefined {
  const format = request.response_format;
  if (format?.type !== "json_schema" || !traits.has("json_by_tool")) return undefined;
  const mode = choiceMode(request.tool_choice);
  if (membersOf(request.tools).length > 0 && (mode === "required" || mode === "named")) return undefined;
  const schema = format.json_schema.schema ?? { type: "object" };
  if (schema["type"] !== "object") {
    throw unsupported("response_format.json_schema.schema", "Expected a schema of type object.");
  }
  const taken = new Set(membersOf(request.tools).map((tool) => (tool["function"] as Members | undefined)?.["name"]));
  let name = ANSWER_TOOL;
  while (taken.has(name)) name += "_";
  const description = format.json_schema.description ?? "";
  return {
    name,
    description: `Gives the answer; call it once, with the whole answer. ${description}`.trimEnd(),
    input_schema: schema,
  };
}

/**
 * Returns the tool choice of a call with an answer tool. The model must call the answer tool, or any tool if the caller's tools may be
 * called first.
 */
function answerChoice(request: ChatCompletionRequest, name: string): Members {
  const mayCall = membersOf(request.tools).length > 0 && choiceMode(request.tool_choice) !== "none";
  return mayCall ? { type: "any" } : { type: "tool", name };
}
