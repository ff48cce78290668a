/**
 * Supports `functions` and `function_call`, the deprecated predecessors of tools. Requests are converted to tools, which every provider
 * supports, and answers are converted back.
 */
import type { ChatCompletionRequest } from "#schemas/generated/types.ts";

import type { TextRendering } from "./render.ts";

type Message = ChatCompletionRequest["messages"][number];
type Members = Readonly<Record<string, unknown>>;

export function usesFunctions({ functions }: ChatCompletionRequest): boolean {
  return (functions?.length ?? 0) > 0;
}

/** Converts functions in the settings and messages of a request to tools. Returns the same object if it has no functions. */
export function withTools(request: ChatCompletionRequest): ChatCompletionRequest {
  const hasTurns = request.messages.some(
    (message) => message.role === "function" || (message.role === "assistant" && message.function_call != null),
  );
  if (request.functions === undefined && request.function_call === undefined && !hasTurns) return request;
  const { functions = [], function_call: choice, ...rest } = request;
  const messages = hasTurns ? turnsOf(request.messages) : request.messages;
  if (functions.length === 0) return { ...rest, messages };
  return {
    ...rest,
    messages,
    tools: functions.map((definition) => ({ type: "function", function: definition })),
    ...(choice === undefined ? {} : { tool_choice: choiceOf(choice) }),
    // The old form supports one call only.
    parallel_tool_calls: false,
  };
}

/** Wraps a renderer so that the first tool call of a choice becomes its `function_call`. */
export function inOldForm(rendering: TextRendering): TextRendering {
  return {
    ...rendering,
    completion: (result, usage) => rendering.completion({ ...result, choices: result.choices.map(oldChoice) }, usage),
    chunk: (delta) => rendering.chunk({ ...delta, choices: delta.choices.map(oldChoice) }),
  };
}

function choiceOf(
  choice: NonNullable<ChatCompletionRequest["function_call"]>,
): NonNullable<ChatCompletionRequest["tool_choice"]> {
  if (typeof choice !== "string") return { type: "function", function: { name: choice.name } };
  return choice === "none" ? "none" : "auto";
}

/**
 * Converts messages with deprecated function calls to messages with tool calls. Function calls have no ids, so a function result is
 * assigned to the latest function call before it.
 */
function turnsOf(messages: readonly Message[]): Message[] {
  let id = "call_0";
  return messages.map((message, at) => {
    if (message.role === "function") return { role: "tool", tool_call_id: id, content: message.content ?? "" };
    if (message.role !== "assistant" || message.function_call == null) return message;
    const { function_call: call, ...rest } = message;
    id = `call_${at}`;
    return { ...rest, tool_calls: [...(rest.tool_calls ?? []), { id, type: "function", function: call }] };
  });
}

function oldChoice(choice: Members): Record<string, unknown> {
  const { message, delta, finish_reason: reason, ...rest } = choice;
  return {
    ...rest,
    ...(message === undefined ? {} : { message: oldMessage(message as Members) }),
    ...(delta === undefined ? {} : { delta: oldMessage(delta as Members) }),
    finish_reason: reason === "tool_calls" ? "function_call" : reason,
  };
}

function oldMessage({ tool_calls: calls, ...rest }: Members): Members {
  const first = (calls as readonly Members[] | undefined)?.find(({ index = 0 }) => index === 0);
  return first === undefined ? rest : { ...rest, function_call: first["function"] };
}
