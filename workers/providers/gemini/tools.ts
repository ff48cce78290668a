/** Tools and tool choice. Source: ai.google.dev/gemini-api/docs/function-calling. */
import type { ChatCompletionRequest } from "#schemas/generated/types.ts";
import type { Trait } from "#shared/calls/model.ts";

import { textIn, isMembers, type Members, membersOf } from "../json.ts";
import { unsupported } from "./rejected.ts";
import { toOpenApi } from "./schema.ts";

type Choice = NonNullable<ChatCompletionRequest["tool_choice"]>;

/** Returns `tools` and `toolConfig`, or nothing. @throws ProviderError `rejected` for tools with free text as input */
export function toolMembers(request: ChatCompletionRequest, traits: ReadonlySet<Trait>): Members {
  const { tools = [], tool_choice: choice } = request;
  const allowed = allowedNames(choice);
  // Allowed names require a mandatory call; otherwise the disallowed tools are omitted.
  const isNarrowed = allowed !== undefined && !isRequired(choice);
  const functionDeclarations = tools
    .map((tool, index) => {
      if (tool.type === "function") return declaration(tool.function, `tools[${index}].function`, traits);
      throw unsupported(`tools[${index}].type`, "This model supports functions only, not custom tools.");
    })
    .filter(({ name }) => !isNarrowed || allowed.includes(String(name)));
  if (functionDeclarations.length === 0) return {};
  if (choice === undefined) return { tools: [{ functionDeclarations }] };
  const functionCallingConfig = {
    mode: modeOf(choice),
    ...(allowed && !isNarrowed ? { allowedFunctionNames: allowed } : {}),
  };
  return { tools: [{ functionDeclarations }], toolConfig: { functionCallingConfig } };
}

function declaration(
  fn: { readonly name: string; readonly description?: string; readonly parameters?: object },
  param: string,
  traits: ReadonlySet<Trait>,
): Members {
  const { name, description, parameters } = fn;
  return {
    name,
    ...(description === undefined ? {} : { description }),
    ...(parameters === undefined || Object.keys(parameters).length === 0
      ? {}
      : traits.has("json_by_converted_schema")
        ? openApiParameters(parameters as Members, `${param}.parameters`)
        : { parametersJsonSchema: parameters }),
  };
}

/** Returns parameters unless they are an empty object, which Gemini rejects: such a function has no parameters. */
function openApiParameters(schema: Members, param: string): Members {
  const parameters = toOpenApi(schema, param);
  const members = parameters["properties"];
  const isEmpty = parameters["type"] === "OBJECT" && (!isMembers(members) || Object.keys(members).length === 0);
  return isEmpty ? {} : { parameters };
}

/** Returns the functions to which a choice is limited; undefined for all functions. */
function allowedNames(choice: Choice | undefined): string[] | undefined {
  if (!isMembers(choice)) return undefined;
  if (choice["type"] === "function" && isMembers(choice["function"])) return [choice["function"]["name"]];
  if (choice["type"] !== "allowed_tools" || !isMembers(choice["allowed_tools"])) {
    throw unsupported("tool_choice", "This model supports functions only, not custom tools.");
  }
  return membersOf(choice["allowed_tools"]["tools"]).map((tool) => {
    const name = isMembers(tool["function"]) ? textIn(tool["function"]["name"]) : undefined;
    if (name !== undefined) return name;
    throw unsupported("tool_choice", "Expected functions with names in tool_choice.allowed_tools.");
  });
}

function isRequired(choice: Choice | undefined): boolean {
  return choice !== undefined && modeOf(choice) === "ANY";
}

function modeOf(choice: Choice): "AUTO" | "NONE" | "ANY" {
  if (choice === "none") return "NONE";
  if (choice === "auto") return "AUTO";
  const isOptional =
    isMembers(choice) && isMembers(choice["allowed_tools"]) && choice["allowed_tools"]["mode"] === "auto";
  return isOptional ? "AUTO" : "ANY";
}
