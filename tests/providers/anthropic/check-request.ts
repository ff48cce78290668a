/**
 * Refuses what Anthropic would refuse, so an adapter that builds a wrong request fails its test instead of passing by
 * accident. Sources: platform.claude.com/docs/en/api/messages, anthropics/anthropic-sdk-typescript (messages.ts).
 */
import type { Members } from "../engine/behaviour.ts";
import { isObject } from "../engine/content.ts";

export interface MessagesBody {
  readonly model: string;
  readonly max_tokens: number;
  readonly messages: readonly {
    readonly role: string;
    readonly content: string | readonly Readonly<Record<string, unknown>>[];
  }[];
  readonly stream?: boolean;
  readonly tools?: readonly { readonly name: string }[];
}

const MEMBERS: ReadonlySet<string> = new Set([
  "model",
  "max_tokens",
  "messages",
  "system",
  "stream",
  "stop_sequences",
  "temperature",
  "top_p",
  "top_k",
  "tools",
  "tool_choice",
  "thinking",
  "output_config",
  "metadata",
  "service_tier",
]);

const BLOCKS: Readonly<Record<string, ReadonlySet<string>>> = {
  user: new Set(["text", "image", "document", "tool_result"]),
  assistant: new Set(["text", "thinking", "redacted_thinking", "tool_use"]),
  system: new Set(["text"]),
};

const IMAGES = new Set(["image/jpeg", "image/png", "image/gif", "image/webp"]);
const EFFORTS: ReadonlySet<unknown> = new Set(["low", "medium", "high", "xhigh", "max"]);

/** The fault Anthropic would name first, or null. */
export function checkMessages(contentType: string | undefined, body: unknown): string | null {
  if (!contentType?.startsWith("application/json")) return `unsupported content type ${contentType ?? "none"}`;
  if (!isObject(body)) return "the body is no JSON object";
  for (const name of Object.keys(body)) if (!MEMBERS.has(name)) return `${name}: Extra inputs are not permitted`;
  if (typeof body["model"] !== "string" || body["model"] === "") return "model: Field required";
  const limit = body["max_tokens"];
  if (!Number.isInteger(limit) || Number(limit) < 1) return "max_tokens: Field required";
  return (
    checkSystem(body["system"]) ??
    checkTurns(body["messages"]) ??
    checkTools(body) ??
    checkDeferred(body) ??
    checkSettings(body, Number(limit))
  );
}

function checkSystem(system: unknown): string | null {
  if (system === undefined || typeof system === "string") return null;
  if (!Array.isArray(system) || system.length === 0) return "system: expected a string or blocks";
  return system.map((block: unknown) => checkBlock(block, new Set(["text"]))).find((fault) => fault !== null) ?? null;
}

function checkTurns(turns: unknown): string | null {
  if (!Array.isArray(turns) || turns.length === 0) return "messages: at least one message is required";
  let open: string[] = [];
  for (const [at, turn] of (turns as unknown[]).entries()) {
    if (!isObject(turn)) return `messages.${at}: expected an object`;
    const role = String(turn["role"]);
    const fault = checkRole(role, turns as Members[], at);
    if (fault) return fault;
    const blocks = turn["content"];
    if (!Array.isArray(blocks) || blocks.length === 0) return `messages.${at}.content: expected blocks`;
    for (const block of blocks as unknown[]) {
      const fault = checkBlock(block, BLOCKS[role] ?? new Set());
      if (fault) return `messages.${at}.content: ${fault}`;
    }
    const unanswered = role === "system" ? null : checkResults(blocks as Members[], open);
    if (unanswered) return `messages.${at}: ${unanswered}`;
    open = (blocks as Members[]).filter(({ type }) => type === "tool_use").map(({ id }) => String(id));
  }
  return null;
}

/** Instructions stand behind a user's turn, and at the end or before an assistant's; without them roles alternate. */
function checkRole(role: string, turns: readonly Members[], at: number): string | null {
  const [before, next] = [turns[at - 1]?.["role"], turns[at + 1]?.["role"]];
  if (role === "system") {
    return before === "user" && next !== "user" ? null : "messages: a system message must follow a user's turn";
  }
  const last = before === "system" ? turns[at - 2]?.["role"] : before;
  const isTaken = role === "assistant" ? last === "user" : role === "user" && last !== "user";
  return isTaken ? null : "messages: roles must alternate, the user first";
}

/** Every use is answered in the next turn, before anything else is said there. */
function checkResults(blocks: readonly Members[], open: readonly string[]): string | null {
  const results = blocks.filter(({ type }) => type === "tool_result").map((block) => String(block["tool_use_id"]));
  if (blocks.slice(0, results.length).some(({ type }) => type !== "tool_result")) return "tool results must come first";
  if (open.some((id) => !results.includes(id))) return "`tool_use` ids were found without `tool_result` blocks";
  return results.some((id) => !open.includes(id)) ? "unexpected `tool_use_id` found in `tool_result` blocks" : null;
}

function checkBlock(block: unknown, allowed: ReadonlySet<string>): string | null {
  if (!isObject(block)) return "expected a block";
  const type = String(block["type"]);
  if (!allowed.has(type)) return `a block of type ${type} is not allowed here`;
  const source = isObject(block["source"]) ? block["source"] : {};
  switch (type) {
    case "text":
      return typeof block["text"] !== "string" || block["text"].trim() === ""
        ? "text content blocks must contain non-whitespace text"
        : null;
    case "thinking":
      return typeof block["signature"] === "string" ? null : "thinking.signature: Field required";
    case "image":
      if (source["type"] !== "base64" || !IMAGES.has(String(source["media_type"]))) return "image.source is wrong";
      return isBase64(source["data"]) ? null : "image.source.base64: invalid base64 data";
    case "document": {
      if (source["type"] === "text") return source["media_type"] === "text/plain" ? null : "document.source is wrong";
      const isPdf = source["type"] === "base64" && source["media_type"] === "application/pdf";
      return isPdf && isBase64(source["data"]) ? null : "document.source is wrong";
    }
    case "tool_use":
      if (!/^[a-zA-Z0-9_-]+$/.test(String(block["id"]))) return "tool_use.id: String should match pattern";
      return isObject(block["input"]) ? null : "tool_use.input: Input should be a valid dictionary";
    case "tool_result": {
      const content = block["content"] ?? [];
      if (typeof content === "string") return null;
      const inside = new Set(["text", "image", "document", "tool_reference"]);
      const types = new Set((content as Members[]).map((inner) => inner["type"]));
      if (types.has("tool_reference") && types.size > 1) return "tool_reference cannot be mixed with other content";
      return (content as unknown[]).map((inner) => checkBlock(inner, inside)).find((fault) => fault !== null) ?? null;
    }
    default:
      return null;
  }
}

function checkTools({ tools, tool_choice: choice, thinking }: Members): string | null {
  for (const tool of (tools ?? []) as unknown[]) {
    if (!isObject(tool) || !/^[a-zA-Z0-9_-]{1,128}$/.test(String(tool["name"]))) return "tools: name is wrong";
    const schema = tool["input_schema"];
    if (!isObject(schema) || schema["type"] !== "object") return "tools: input_schema.type: Field required";
  }
  if (choice === undefined) return null;
  if (tools === undefined) return "tool_choice may only be specified while providing tools";
  const { type } = choice as { type?: unknown };
  if (!["auto", "any", "tool", "none"].includes(String(type))) return "tool_choice.type is wrong";
  const thinks = isObject(thinking) && thinking["type"] !== "disabled";
  return thinks && (type === "any" || type === "tool")
    ? "Thinking may not be enabled when tool_choice forces tool use."
    : null;
}

/** Conversation with deferred tools, one tool that is not deferred, and references to the deferred ones. No cache marks. */
function checkDeferred({ tools: offered, messages }: Members): string | null {
  const tools = (offered ?? []) as Members[];
  const deferred = tools.filter((tool) => tool["defer_loading"] === true);
  if (tools.length > 0 && deferred.length === tools.length) return "At least one tool must not be deferred";
  if (deferred.some((tool) => tool["cache_control"] !== undefined))
    return "tools: defer_loading excludes cache_control";
  const names = new Set(deferred.map(({ name }) => name));
  const results = (messages as Members[]).flatMap(({ content }) => content as Members[]);
  const referred = results.flatMap(({ content }) => (Array.isArray(content) ? (content as Members[]) : []));
  const unknown = referred.find(({ type, tool_name }) => type === "tool_reference" && !names.has(tool_name));
  return unknown ? `Tool reference '${String(unknown["tool_name"])}' not found in available tools` : null;
}

function checkSettings(body: Members, limit: number): string | null {
  const { temperature, thinking, stop_sequences: stops, output_config: config, service_tier: tier } = body;
  if (temperature !== undefined && !(Number(temperature) >= 0 && Number(temperature) <= 1)) return "temperature: range";
  if (isObject(thinking) && thinking["type"] === "enabled") {
    const budget = Number(thinking["budget_tokens"]);
    if (!(budget >= 1_024)) return "thinking.budget_tokens: at least 1024";
    if (budget >= limit) return "`max_tokens` must be greater than `thinking.budget_tokens`";
  }
  if (((stops ?? []) as string[]).some((stop) => stop.trim() === "")) return "stop_sequences: non-whitespace";
  if (isObject(config) && config["effort"] !== undefined && !EFFORTS.has(config["effort"])) return "effort";
  return tier === undefined || tier === "auto" || tier === "standard_only" ? null : "service_tier";
}

function isBase64(value: unknown): boolean {
  return typeof value === "string" && value !== "" && /^[A-Za-z0-9+/]+=*$/.test(value);
}
