/** Builds the body for an OpenAI-compatible source. It is the client's body without members that are meant for us or for other families. */
import type { ChatMessage, UserMessage } from "#schemas/generated/types.ts";
import { stringifyExact } from "#shared/json/serialize.ts";
import { isMembers, type Members } from "../json.ts";
import { placeInstructions, reminder } from "../late-instructions.ts";
import type { ChatCall } from "../provider.ts";
import type { JsonRequest } from "../http.ts";
import { writesForAnHour } from "./cache-hints.ts";
import { unsupported } from "./rejected.ts";

/**
 * Request fields by which a caller could choose the server, account or model that we call. `models`, `fallbacks`, `route`, `provider` and
 * `preset` make a router such as OpenRouter serve another model and bill us for it.
 */
const STEERING_FIELDS = [
  "api_base",
  "base_url",
  "api_key",
  "api_version",
  "extra_headers",
  "custom_llm_provider",
  "models",
  "fallbacks",
  "route",
  "provider",
  "preset",
  "plugins",
  "transforms",
  "effort_only",
] as const;

/**
 * Builds the body with the source's model name. A stream always requests usage.
 * @throws ProviderError `rejected` for an effort that the model does not have, and for cache hints with different ttls
 */
export function chatRequest(
  call: Pick<ChatCall, "request" | "sourceModel" | "adapt" | "traits" | "exactIntegers">,
  isStream: boolean,
): JsonRequest {
  // Evaluated again for the response; hints that it rejects must not be sent.
  writesForAnHour(call);
  const body: Record<string, unknown> = { ...call.request, model: call.sourceModel };
  for (const field of STEERING_FIELDS) delete body[field];
  const messages = call.traits.has("system_first") ? withReminders(call.request.messages) : call.request.messages;
  body["messages"] = withoutForeignMembers(messages, call.traits);
  if (call.traits.has("no_reasoning")) takeOutEffort(body);
  const hints = call.traits.has("cache_control") ? [] : ["cache_control"];
  for (const hint of hints) delete body[hint];
  body["tools"] = withoutMembers(body["tools"], ["client_tool", "defer_loading", ...hints]);
  if (body["tools"] === undefined) delete body["tools"];
  if (isStream) {
    body["stream"] = true;
    body["stream_options"] = { ...call.request.stream_options, include_usage: true };
  } else {
    delete body["stream"];
    delete body["stream_options"];
  }
  call.adapt(body);
  return { path: "/chat/completions", body: stringifyExact(body, call.exactIntegers) };
}

/** Removes the reasoning effort for a model without reasoning, because OpenAI's models reject the member. */
function takeOutEffort(body: Record<string, unknown>): void {
  const effort = body["reasoning_effort"];
  if (typeof effort === "string" && effort !== "none") {
    throw unsupported("reasoning_effort", `This model does not reason; expected none, got ${JSON.stringify(effort)}.`);
  }
  delete body["reasoning_effort"];
}

/**
 * Moves instructions in the middle of a conversation into the adjacent user message, as text. Separate messages would fail at servers whose
 * chat templates require alternating roles.
 */
function withReminders(messages: readonly ChatMessage[]): ChatMessage[] {
  const settled: ChatMessage[] = [];
  let isReminder = false;
  for (const { message, isLate } of placeInstructions(messages)) {
    const last = settled.at(-1);
    const said = isLate ? remindersOf(message) : message.content;
    if (last?.role === "user" && (isLate || (isReminder && message.role === "user"))) {
      const content = joinedContent(last.content, said as UserContent);
      const whole: UserMessage = { ...(message.role === "user" ? message : last), content };
      settled[settled.length - 1] = whole;
      isReminder &&= isLate;
    } else {
      settled.push(isLate ? { role: "user", content: said as UserContent } : message);
      isReminder = isLate;
    }
  }
  return settled;
}

type UserContent = UserMessage["content"];

function remindersOf({ content }: ChatMessage): UserContent {
  if (typeof content === "string") return reminder(content);
  return (content ?? []).flatMap((part) => (part.type === "text" ? [{ ...part, text: reminder(part.text) }] : []));
}

/** Joins two contents. Returns a text if both are texts, because every server accepts texts; otherwise a list of parts. */
function joinedContent(first: UserContent, second: UserContent): UserContent {
  if (typeof first === "string" && typeof second === "string") return `${first}\n\n${second}`;
  return [first, second].flatMap((content) =>
    typeof content === "string" ? [{ type: "text" as const, text: content }] : content,
  );
}

/**
 * Returns the names of message members that only other provider families accept. They are removed before sending, because OpenAI rejects
 * unknown members.
 */
function foreignMembers(traits: ChatCall["traits"]): readonly string[] {
  return [
    "thinking_blocks",
    "block_order",
    "tool_references",
    ...(traits.has("reasoning_details_back") ? [] : ["reasoning_details"]),
    ...(traits.has("reasoning_back") ? [] : ["reasoning_content"]),
    ...(traits.has("cache_control") ? [] : ["cache_control"]),
  ];
}

/** Removes members of other families from the messages. Returns the same array in the most common case, when nothing has to be removed. */
function withoutForeignMembers(messages: readonly unknown[], traits: ChatCall["traits"]): readonly unknown[] {
  const foreign = foreignMembers(traits);
  return mapChanged(messages, (message) => {
    if (!isMembers(message)) return message;
    let copy = without(message, foreign);
    const calls = copy["tool_calls"];
    if (Array.isArray(calls)) {
      const kept = mapChanged(calls, (call) => (isMembers(call) ? without(call, ["extra_content"]) : call));
      if (kept !== calls) copy = { ...copy, tool_calls: kept };
    }
    const { content } = copy;
    if (!Array.isArray(content)) return copy;
    const kept = mapChanged(traits.has("cache_control") ? content : withoutMembers(content, ["cache_control"]), asSent);
    return kept === content ? copy : { ...copy, content: kept };
  });
}

/**
 * Returns a content part as it is sent. A file gets a name, because OpenAI otherwise reports a missing id. Its URL is removed, because its
 * content has already been fetched. An image in `original` becomes `high`: few models support `original`, whose tokens have no limit.
 */
function asSent(part: unknown): unknown {
  const image = isMembers(part) && part["type"] === "image_url" ? part["image_url"] : undefined;
  if (isMembers(image) && image["detail"] === "original") {
    return { ...(part as Members), image_url: { ...image, detail: "high" } };
  }
  const file = isMembers(part) && part["type"] === "file" ? part["file"] : undefined;
  if (!isMembers(file) || typeof file["file_data"] !== "string") return part;
  if (typeof file["filename"] === "string" && file["file_url"] === undefined) return part;
  const isPdf = /^data:application\/pdf[;,]/i.test(file["file_data"].slice(0, 64));
  return { ...(part as Members), file: { filename: isPdf ? "file.pdf" : "file", ...without(file, ["file_url"]) } };
}

/** Removes the named members from each item of a list, for example cache hints, which only routers accept. */
function withoutMembers<Value>(value: Value, names: readonly string[]): Value | readonly unknown[] {
  if (!Array.isArray(value)) return value;
  return mapChanged(value, (item) => (isMembers(item) ? without(item, names) : item));
}

function without(members: Members, names: readonly string[]): Members {
  if (!names.some((name) => name in members)) return members;
  return Object.fromEntries(Object.entries(members).filter(([name]) => !names.includes(name)));
}

function mapChanged(items: readonly unknown[], change: (item: unknown) => unknown): readonly unknown[] {
  let isChanged = false;
  const mapped = items.map((item) => {
    const changed = change(item);
    isChanged ||= changed !== item;
    return changed;
  });
  return isChanged ? mapped : items;
}
