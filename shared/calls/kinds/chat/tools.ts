/** Checks that the tools or legacy functions which a call chooses are among its tools. Pure. */
import type { ChatCompletionRequest } from "#schemas/generated/types.ts";
import { arrived } from "#shared/json/contract-fault.ts";
import { ApiError } from "#shared/base/errors.ts";

type Tool = NonNullable<ChatCompletionRequest["tools"]>[number];

/**
 * Rejects tools of the type `sluice`. The ingress executes these tools itself and removes them from its own calls to models.
 * @throws ApiError `unsupported_value`
 */
export function checkNoServedTool({ tools = [] }: ChatCompletionRequest): void {
  const at = tools.findIndex(({ type }) => type === "sluice");
  if (at === -1) return;
  const message = "Tools of type sluice work only in direct calls of POST /v1/chat/completions and /v1/responses.";
  throw refuse(`tools[${at}].type`, message);
}

/** Checks that the chosen tool is in the call. @throws ApiError `unsupported_value` */
export function checkToolChoice({ tools = [], tool_choice: choice }: ChatCompletionRequest): void {
  if (choice == null || choice === "auto" || choice === "none") return;
  const names = tools.flatMap((tool) => (tool.type === "sluice" ? [] : [nameOf(tool)]));
  if (names.length === 0) {
    const wanted = typeof choice === "string" ? choice : choice.type;
    throw refuse("tool_choice", `Expected tools for a tool_choice of ${wanted}, got none.`);
  }
  if (typeof choice === "string") return;
  if (choice.type === "allowed_tools") return checkAllowedTools(choice.allowed_tools.tools, names);
  const name = choice.type === "function" ? choice.function.name : choice.custom.name;
  if (!names.includes(name)) throw unknownTool(`tool_choice.${choice.type}.name`, names, name);
}

/** Checks that the allowed tools are in the call. The provider checks entries that do not have the shape of a tool. */
function checkAllowedTools(allowed: readonly Readonly<Record<string, unknown>>[], names: readonly string[]): void {
  for (const [at, { type, ...tool }] of allowed.entries()) {
    const named = tool[type === "custom" ? "custom" : "function"];
    const name = typeof named === "object" && named !== null && "name" in named ? named.name : undefined;
    if (typeof name !== "string" || names.includes(name)) continue;
    throw unknownTool(`tool_choice.allowed_tools.tools[${at}]`, names, name);
  }
}

/** Checks that the function in `function_call` is among `functions`. */
export function checkFunctionCall({ tools = [], functions = [], function_call: choice }: ChatCompletionRequest): void {
  if (functions.length > 0 && tools.length > 0) throw refuse("functions", "Expected tools or functions, got both.");
  if (choice == null || choice === "auto" || choice === "none") return;
  if (typeof choice === "string") {
    const message = `Expected function_call to be none, auto or a name, got ${arrived("enum", choice)}.`;
    throw refuse("function_call", message);
  }
  const names = functions.map(({ name }) => name);
  if (names.length === 0) throw refuse("function_call", "Expected functions for a function_call, got none.");
  if (!names.includes(choice.name)) throw unknownTool("function_call.name", names, choice.name);
}

/** Returns the error for a choice of a tool that is not in the call. */
export function unknownTool(param: string, names: readonly string[], name: string): ApiError {
  const some = names.slice(0, NAMES_LISTED_MAX).join(", ");
  const others = names.length > NAMES_LISTED_MAX ? ` or ${names.length - NAMES_LISTED_MAX} others` : "";
  return refuse(param, `Expected the name of one of the tools (${some}${others}), got ${arrived("enum", name)}.`);
}

const NAMES_LISTED_MAX = 10;

function nameOf(tool: Exclude<Tool, { readonly type: "sluice" }>): string {
  return tool.type === "function" ? tool.function.name : tool.custom.name;
}

function refuse(param: string, message: string): ApiError {
  return new ApiError("unsupported_value", message, { param });
}
