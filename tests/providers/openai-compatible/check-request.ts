/**
 * Refuses what OpenAI would refuse, so an adapter that builds a wrong request fails its test instead of passing by
 * accident. Source: openai/openai-openapi, CreateChatCompletionRequest.
 */
export interface ChatRequestBody {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly stream?: boolean;
  readonly stream_options?: { readonly include_usage?: boolean } | null;
  readonly max_tokens?: number | null;
  readonly max_completion_tokens?: number | null;
  readonly n?: number | null;
  readonly tools?: readonly { readonly type: string; readonly function: { readonly name: string } }[];
}

export interface ChatMessage {
  readonly role: string;
  readonly content?: string | readonly { readonly type: string; readonly text?: string }[] | null;
}

export interface RequestFault {
  readonly message: string;
  readonly param: string | null;
}

const ROLES = new Set(["developer", "system", "user", "assistant", "tool", "function"]);

/** The fault OpenAI would name first, or null. */
export function checkChatRequest(contentType: string | undefined, body: unknown): RequestFault | null {
  if (!contentType?.startsWith("application/json"))
    return fault(null, `unsupported content type ${contentType ?? "none"}`);
  if (!isObject(body)) return fault(null, "the body is no JSON object");
  if (typeof body["model"] !== "string" || body["model"] === "")
    return fault("model", "you must provide a model parameter");
  const messages = body["messages"];
  if (!Array.isArray(messages) || messages.length === 0) return fault("messages", "expected a non-empty array");
  for (const [index, message] of messages.entries()) {
    const found = checkMessage(`messages[${index}]`, message);
    if (found) return found;
  }
  for (const name of ["max_tokens", "max_completion_tokens", "n"]) {
    const value = body[name];
    if (value !== undefined && value !== null && !(Number.isInteger(value) && Number(value) > 0)) {
      return fault(name, "expected a positive integer");
    }
  }
  if (body["stream"] !== undefined && body["stream"] !== null && typeof body["stream"] !== "boolean") {
    return fault("stream", "expected a boolean");
  }
  const options = body["stream_options"];
  if (options !== undefined && options !== null) {
    if (body["stream"] !== true) return fault("stream_options", "only allowed when stream is enabled");
    if (!isObject(options)) return fault("stream_options", "expected an object");
  }
  return null;
}

function checkMessage(path: string, message: unknown): RequestFault | null {
  if (!isObject(message)) return fault(path, "expected an object");
  const { role, content } = message as { role?: unknown; content?: unknown };
  if (typeof role !== "string" || !ROLES.has(role)) return fault(`${path}.role`, "unknown role");
  if (role === "tool" && typeof message["tool_call_id"] !== "string") return fault(`${path}.tool_call_id`, "missing");
  const callsTools = Array.isArray(message["tool_calls"]);
  if (content === undefined || content === null) {
    return role === "assistant" && (callsTools || content === null)
      ? null
      : fault(`${path}.content`, "expected a string, got null");
  }
  if (typeof content !== "string" && !Array.isArray(content))
    return fault(`${path}.content`, "expected a string or an array");
  return null;
}

function fault(param: string | null, message: string): RequestFault {
  return { param, message };
}

/** A JSON object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
