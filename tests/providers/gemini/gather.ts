/** What tests of the adapter put together: calls, replies, and what a client would make of a stream. */
import type { ChatCompletionRequest } from "#schemas/generated/types.ts";
import type { Trait } from "#shared/catalogue/catalogue.ts";
import { NO_USAGE, type TokenUsage } from "#shared/pricing/usage.ts";
import type { ChatCall, ChatDelta, ChatUsage, ProviderError } from "#workers/providers/provider.ts";

import type { Behaviour } from "./behaviour.ts";

export const HELLO: ChatCompletionRequest = { model: "our-slug", messages: [{ role: "user", content: "hi" }] };

export function callOf(
  request: object,
  options: {
    readonly model?: string;
    readonly signal?: AbortSignal;
    readonly traits?: readonly Trait[];
    readonly adapt?: ChatCall["adapt"];
  } = {},
): ChatCall {
  return {
    request: { ...HELLO, ...request },
    sourceModel: options.model ?? "gemini-m",
    workspaceId: "0199a5b2-7e1d-7000-8000-00000000000b",
    outputTokensMax: 100,
    signal: options.signal ?? new AbortController().signal,
    traits: new Set(options.traits),
    adapt: options.adapt ?? (() => undefined),
  };
}

export const usageOf = (usage: Partial<TokenUsage>): TokenUsage => ({ ...NO_USAGE, ...usage });

export const plainReply = (body: unknown): Behaviour => ({
  kind: "reply",
  status: 200,
  headers: { "content-type": "application/json; charset=UTF-8" },
  body: typeof body === "string" ? body : JSON.stringify(body),
});

export const eventsText = (events: readonly unknown[]): string =>
  events.map((event) => `data: ${typeof event === "string" ? event : JSON.stringify(event)}\r\n\r\n`).join("");

export const eventReply = (...events: readonly unknown[]): Behaviour => ({
  kind: "reply",
  status: 200,
  headers: { "content-type": "text/event-stream" },
  body: eventsText(events),
});

export interface GatheredCall {
  id: string;
  name: string;
  arguments: string;
  extra?: unknown;
}

export interface Gathered {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly GatheredCall[];
  readonly finish: readonly string[];
  readonly usage: ChatUsage | undefined;
  readonly deltas: readonly ChatDelta[];
  readonly error: ProviderError | undefined;
}

/** What a client would put together from a stream, and how the stream ended. */
export async function gather(stream: AsyncIterable<ChatDelta>): Promise<Gathered> {
  const deltas: ChatDelta[] = [];
  let error: ProviderError | undefined;
  try {
    for await (const delta of stream) deltas.push(delta);
  } catch (fault) {
    error = fault as ProviderError;
  }
  return { ...joined(deltas), deltas, error };
}

/** The pieces of one choice put together. */
export function joined(deltas: readonly ChatDelta[], index = 0): Omit<Gathered, "deltas" | "error"> {
  let text = "";
  let reasoning = "";
  let usage: ChatUsage | undefined;
  const calls: GatheredCall[] = [];
  const finish: string[] = [];
  for (const delta of deltas) {
    if (delta.usage !== undefined) usage = delta.usage;
    for (const choice of delta.choices.filter((candidate) => candidate["index"] === index)) {
      const piece = choice["delta"] as Record<string, unknown>;
      text += (piece["content"] as string | undefined) ?? "";
      reasoning += (piece["reasoning_content"] as string | undefined) ?? "";
      for (const part of (piece["tool_calls"] ?? []) as Record<string, unknown>[]) {
        const call = (calls[part["index"] as number] ??= { id: "", name: "", arguments: "" });
        const fn = (part["function"] ?? {}) as Record<string, string | undefined>;
        call.id += (part["id"] as string | undefined) ?? "";
        call.name += fn["name"] ?? "";
        call.arguments += fn["arguments"] ?? "";
        if (part["extra_content"] !== undefined) call.extra = part["extra_content"];
      }
      if (choice["finish_reason"] !== null) finish.push(choice["finish_reason"] as string);
    }
  }
  return { text, reasoning, calls, finish, usage };
}

/** The error a call ends with. @throws Error when it does not */
export async function errorOf(call: Promise<unknown>): Promise<ProviderError> {
  const error = await call.then(
    () => undefined,
    (fault: unknown) => fault as ProviderError,
  );
  if (!error) throw new Error("the call succeeded");
  return error;
}
