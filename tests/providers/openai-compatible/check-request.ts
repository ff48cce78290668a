/**
 * Refuses what OpenAI would refuse, so an adapter that builds a wrong request fails its test instead of passing by
 * accident. Source: openai/openai-openapi, CreateChatCompletionRequest.
 */
import type { Members, UsageReport } from "../engine/behaviour.ts";
import { isObject } from "../engine/content.ts";
import { isText } from "../engine/jobs.ts";

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

export function fault(param: string | null, message: string): RequestFault {
  return { param, message };
}

type CheckBody = (contentType: string | undefined, body: unknown) => RequestFault | null;

/** A check of a body that has a model and no members but these. @param known may hang on the model */
export function checkBody(
  known: readonly string[] | ((body: Members) => readonly string[]),
  check: (body: Members) => RequestFault | null,
  type = "application/json",
): CheckBody {
  return (contentType, body) => {
    if (!contentType?.startsWith(type)) return fault(null, `unsupported mimetype ('${contentType ?? ""}')`);
    if (!isObject(body)) return fault(null, "the body is no object");
    const names = typeof known === "function" ? known(body) : known;
    const stranger = Object.keys(body).find((name) => !names.includes(name));
    if (stranger !== undefined) return fault(stranger, `Unknown parameter: '${stranger}'.`);
    return isText(body["model"]) ? check(body) : fault("model", "you must provide a model parameter");
  };
}

/** The `usage` of a media answer: as it is, left out, or exactly these members. */
export function usageMember(usage: UsageReport | undefined, honest: Members): { readonly usage?: Members } {
  return usage === "missing" ? {} : { usage: typeof usage === "object" ? usage : honest };
}
