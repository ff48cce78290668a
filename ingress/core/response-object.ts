/**
 * Builds the response object before a Responses call runs, and the last events of a failed stream. The result of the call later completes
 * the response object. The functions have no side effects.
 */
import type {
  ModelResponse,
  ResponsesCustomTool,
  ResponsesFormat,
  ResponsesFunctionTool,
  ResponsesRequest,
  ResponsesTool,
} from "#schemas/generated/types.ts";
import { ApiError, errorEnvelope } from "#shared/base/errors.ts";
import { responseId } from "#shared/responses/ids.ts";

/** Maximum size of the settings that a response repeats, in bytes. The message to the worker contains them in addition to the request. */
const REPEATED_BYTES_MAX = 262_144;

/** Checks that the repeated settings do not exceed REPEATED_BYTES_MAX. @throws ApiError if they do */
export function checkRepeated(response: ModelResponse): void {
  if (Buffer.byteLength(JSON.stringify(response)) <= REPEATED_BYTES_MAX) return;
  throw new ApiError(
    "invalid_request",
    `Expected instructions, tools and other members that the response repeats to have at most ${REPEATED_BYTES_MAX} bytes, got more.`,
  );
}

/** Builds the response object with the applied settings, including defaults. */
export function responseOf(body: ResponsesRequest, requestId: string, createdS: number): ModelResponse {
  return {
    id: responseId(requestId),
    object: "response",
    created_at: createdS,
    completed_at: null,
    status: "in_progress",
    error: null,
    incomplete_details: null,
    model: body.model,
    output: [],
    usage: null,
    instructions: body.instructions ?? null,
    previous_response_id: body.previous_response_id ?? null,
    conversation: conversationIn(body),
    tools: (body.tools ?? []).flatMap((tool) => appliedTool(tool) ?? []),
    tool_choice: body.tool_choice ?? "auto",
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    max_tool_calls: body.max_tool_calls ?? null,
    text: { format: formatOf(body.text?.format), verbosity: body.text?.verbosity ?? "medium" },
    reasoning: {
      effort: body.reasoning?.effort ?? null,
      summary: body.reasoning?.summary ?? body.reasoning?.generate_summary ?? null,
    },
    temperature: body.temperature ?? 1,
    top_p: body.top_p ?? 1,
    presence_penalty: body.presence_penalty ?? 0,
    frequency_penalty: body.frequency_penalty ?? 0,
    top_logprobs: body.top_logprobs ?? 0,
    max_output_tokens: body.max_output_tokens ?? null,
    truncation: "disabled",
    store: body.store ?? true,
    background: body.background ?? false,
    service_tier: body.service_tier == null || body.service_tier === "auto" ? "default" : body.service_tier,
    metadata: body.metadata ?? {},
    user: body.user ?? null,
    safety_identifier: body.safety_identifier ?? null,
    prompt_cache_key: body.prompt_cache_key ?? null,
  };
}

function conversationIn({ conversation }: ResponsesRequest): { id: string } | null {
  if (conversation == null) return null;
  return { id: typeof conversation === "string" ? conversation : conversation.id };
}

/** Returns the text format without a null description, because OpenAI omits an absent description. */
function formatOf(format: ResponsesFormat | null | undefined): ResponsesFormat {
  if (!format) return { type: "text" };
  if (format.type !== "json_schema" || format.description !== null) return format;
  const { description: _none, ...described } = format;
  return described;
}

/** Returns a tool as the response object repeats it; undefined if the service omits the tool. */
function appliedTool(tool: ResponsesTool): ResponsesTool | undefined {
  switch (tool.type) {
    case "function":
    case "custom":
      return namedTool(tool);
    case "namespace": {
      const { type, name, description, tools } = tool;
      return { type, name, description: description ?? "", tools: tools.map(namedTool) };
    }
    case "tool_search":
      return tool.execution === "client" ? tool : undefined;
    case "sluice":
    case "image_generation":
      return tool;
    default:
      return undefined;
  }
}

function namedTool(tool: ResponsesFunctionTool | ResponsesCustomTool): ResponsesFunctionTool | ResponsesCustomTool {
  const { name } = tool;
  const description = tool.description ?? null;
  if (tool.type === "custom") {
    const format = tool.format ?? { type: "text" };
    return { type: "custom", name, ...(description === null ? {} : { description }), format };
  }
  return { type: "function", name, description, parameters: tool.parameters ?? null, strict: tool.strict ?? false };
}

/** Builds the last events of a failed stream from the error, the serving model and the number of earlier events. */
export type FailureEvents = (error: ApiError, model: string, eventsBefore: number) => string;

/** Returns the function that renders the last events of a failed stream of this response. */
export function failureEventsOf(response: ModelResponse): FailureEvents {
  return (error, model, eventsBefore) => {
    const { error: nested } = errorEnvelope(error.code, error.message, error.param);
    const { code, message, param } = nested;
    const failed = { ...response, model, status: "failed", error: { code, message } };
    const errorEvent = event("error", eventsBefore, { code, message, param, error: nested });
    return `${errorEvent}${event("response.failed", eventsBefore + 1, { response: failed })}data: [DONE]\n\n`;
  };
}

/** Builds an event that contains the complete response object. */
export function responseEvent(type: string, sequence: number, response: ModelResponse): string {
  return event(type, sequence, { response });
}

export function event(type: string, sequence: number, members: Readonly<Record<string, unknown>>): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence, ...members })}\n\n`;
}
