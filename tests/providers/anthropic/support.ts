/** What the adapter's tests share: calls, recorded answers, and a client that puts a stream together. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

import type { ChatCompletionRequest } from "#schemas/generated/types.ts";
import type { Trait } from "#shared/catalogue/catalogue.ts";
import { createProviders } from "#workers/providers/index.ts";
import type { ChatCall, ChatDelta, ChatProvider, ChatUsage, ProviderError } from "#workers/providers/provider.ts";

import type { Behaviour } from "./behaviour.ts";
import { type AnthropicServer, startAnthropicServer } from "./server.ts";

const HELLO: ChatCompletionRequest = { model: "our-slug", messages: [{ role: "user", content: "say hello there" }] };

export interface CallOptions {
  readonly sourceModel?: string;
  readonly signal?: AbortSignal;
  readonly traits?: readonly Trait[];
  readonly outputTokensMax?: number;
  readonly adapt?: ChatCall["adapt"];
}

/** A call with these members in its request; the rest is a plain hello. */
export function callOf(request: object = {}, options: CallOptions = {}): ChatCall {
  return {
    request: { ...HELLO, ...request },
    sourceModel: options.sourceModel ?? "claude-m",
    workspaceId: "0199a5b2-7e1d-7000-8000-00000000000b",
    outputTokensMax: options.outputTokensMax ?? 4_096,
    signal: options.signal ?? new AbortController().signal,
    traits: new Set(options.traits ?? []),
    adapt: options.adapt ?? (() => undefined),
  };
}

/** A server that checks its calls, and a provider at it as the catalogue would make one. */
export function startPair(...behaviours: readonly Behaviour[]): { server: AnthropicServer; provider: ChatProvider } {
  const server = startAnthropicServer({ apiKey: "sk-ant-ours" });
  server.next(...behaviours);
  const entry = { id: "anthropic", family: "anthropic", base_url: server.url, api_key_env: "KEY_API_KEY" } as const;
  const provider = createProviders(() => "sk-ant-ours").chat(entry);
  if (!provider) throw new Error("the family offers no chat");
  return { server, provider };
}

export function fixture(name: string): string {
  return readFileSync(join(import.meta.dir, "fixtures", name), "utf8");
}

/** A recorded answer as the server's behaviour: `.sse` is a stream, `.json` a plain answer. */
export function recorded(name: string): Behaviour {
  const type = name.endsWith(".sse") ? "text/event-stream; charset=utf-8" : "application/json";
  return { kind: "reply", status: 200, headers: { "content-type": type }, body: fixture(name) };
}

/** What a client would put together from a stream, and how the stream ended. */
export interface Gathered {
  readonly text: string;
  readonly reasoning: string;
  readonly thinking: readonly unknown[];
  readonly calls: readonly { id: string; name: string; arguments: string }[];
  readonly finish: readonly string[];
  readonly usage: ChatUsage | undefined;
  readonly deltas: readonly ChatDelta[];
  readonly error: ProviderError | undefined;
}

export async function gather(stream: AsyncIterable<ChatDelta> | Iterable<ChatDelta>): Promise<Gathered> {
  let text = "";
  let reasoning = "";
  let usage: ChatUsage | undefined;
  let error: ProviderError | undefined;
  const thinking: unknown[] = [];
  const calls: { id: string; name: string; arguments: string }[] = [];
  const finish: string[] = [];
  const deltas: ChatDelta[] = [];
  try {
    for await (const delta of stream) {
      deltas.push(delta);
      if (delta.usage !== undefined) usage = delta.usage;
      for (const choice of delta.choices) {
        const piece = choice["delta"] as Record<string, unknown>;
        text += (piece["content"] as string | undefined) ?? "";
        reasoning += (piece["reasoning_content"] as string | undefined) ?? "";
        thinking.push(...((piece["thinking_blocks"] as unknown[] | undefined) ?? []));
        for (const part of (piece["tool_calls"] ?? []) as Record<string, unknown>[]) {
          const call = (calls[part["index"] as number] ??= { id: "", name: "", arguments: "" });
          const fn = (part["function"] ?? {}) as Record<string, string | undefined>;
          call.id += (part["id"] as string | undefined) ?? "";
          call.name += fn["name"] ?? "";
          call.arguments += fn["arguments"] ?? "";
        }
        if (choice["finish_reason"] !== null) finish.push(choice["finish_reason"] as string);
      }
    }
  } catch (fault) {
    error = fault as ProviderError;
  }
  return { text, reasoning, thinking, calls, finish, usage, deltas, error };
}

export async function errorOf(call: Promise<unknown>): Promise<ProviderError> {
  const error = await call.then(
    () => undefined,
    (fault: unknown) => fault as ProviderError,
  );
  if (!error) throw new Error("the call succeeded");
  return error;
}
