/** Shared parts of the adapters' tests: calls, their outcomes, and servers that end with their test. */
import { afterEach, expect } from "bun:test";

import type { ChatCompletionRequest } from "#schemas/generated/types.ts";
import type { Trait } from "#shared/calls/model.ts";
import { NO_USAGE, type TokenUsage } from "#shared/calls/pricing/usage.ts";
import type { Fields } from "#workers/providers/fields.ts";
import type {
  Artifact,
  DirectAdapter,
  MediaCall,
  MediaAdapter,
  Polled,
  ProviderJob,
  QueuedAdapter,
  StartCall,
} from "#workers/providers/media.ts";
import { type ChatCall, type ChatDelta, type ChatUsage, ProviderError } from "#workers/providers/provider.ts";

import type { Recorder } from "./recorder.ts";

type Owned = Pick<Recorder, "requests" | "faults" | "close">;

/** Ends servers with their test, which fails if one of them found a fault of its own or was led elsewhere. */
export function useServers(): <Server extends Owned>(server: Server) => Server {
  const servers: Owned[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) {
      server.close();
      expect(server.faults).toEqual([]);
      expect(server.requests.map(({ path }) => path)).not.toContain("/stolen");
    }
  });
  return (server) => {
    servers.push(server);
    return server;
  };
}

/** Signal of a caller that never gives up. */
export const never = new AbortController().signal;

export interface ChatOptions {
  readonly sourceModel?: string;
  readonly signal?: AbortSignal;
  readonly traits?: readonly Trait[];
  readonly outputTokensMax?: number;
  readonly adapt?: ChatCall["adapt"];
}

export const HELLO: ChatCompletionRequest = {
  model: "our-slug",
  messages: [{ role: "user", content: "hi" }],
};

/** A call with these members in its request; the rest is a plain hello. */
export function chatCall(request: object = {}, { traits, ...options }: ChatOptions = {}): ChatCall {
  return {
    request: { ...HELLO, ...request },
    sourceModel: "m",
    workspaceId: "0199a5b2-7e1d-7000-8000-00000000000b",
    outputTokensMax: 4_096,
    signal: never,
    traits: new Set(traits),
    takesAudio: true,
    adapt: () => undefined,
    ...options,
  };
}

export const usageOf = (usage: Partial<TokenUsage>): TokenUsage => ({ ...NO_USAGE, ...usage });

export interface GatheredCall {
  id: string;
  name: string;
  arguments: string;
  extra?: unknown;
}

/** Answer that a client would put together from a stream, and how the stream ended. */
export interface Gathered {
  readonly text: string;
  readonly reasoning: string;
  readonly thinking: readonly unknown[];
  readonly calls: readonly GatheredCall[];
  readonly finish: readonly string[];
  readonly usage: ChatUsage | undefined;
  readonly deltas: readonly ChatDelta[];
  readonly error: ProviderError | undefined;
}

export async function gather(stream: AsyncIterable<ChatDelta> | Iterable<ChatDelta>): Promise<Gathered> {
  const deltas: ChatDelta[] = [];
  let error: ProviderError | undefined;
  try {
    for await (const delta of stream) deltas.push(delta);
  } catch (fault) {
    error = fault as ProviderError;
  }
  return { ...joinedDeltas(deltas), deltas, error };
}

/** The pieces of one choice put together; without an index, of all. */
export function joinedDeltas(deltas: readonly ChatDelta[], index?: number): Omit<Gathered, "deltas" | "error"> {
  const choices = deltas
    .flatMap((delta) => delta.choices)
    .filter((one) => index === undefined || one["index"] === index);
  const pieces = choices.map((choice) => choice["delta"] as Record<string, unknown>);
  const textOf = (name: string): string =>
    pieces.map((piece) => (piece[name] as string | null | undefined) ?? "").join("");
  const calls: GatheredCall[] = [];
  for (const part of pieces.flatMap((piece) => (piece["tool_calls"] ?? []) as Record<string, unknown>[])) {
    const call = (calls[part["index"] as number] ??= { id: "", name: "", arguments: "" });
    const fn = (part["function"] ?? {}) as Record<string, string | undefined>;
    call.id = (part["id"] as string | undefined) ?? call.id;
    call.name += fn["name"] ?? "";
    call.arguments += fn["arguments"] ?? "";
    if (part["extra_content"] !== undefined) call.extra = part["extra_content"];
  }
  return {
    text: textOf("content"),
    reasoning: textOf("reasoning_content"),
    thinking: pieces.flatMap((piece) => (piece["thinking_blocks"] ?? []) as unknown[]),
    calls,
    finish: choices.map((choice) => choice["finish_reason"]).filter((reason) => reason !== null) as string[],
    usage: deltas.findLast(({ usage }) => usage !== undefined)?.usage,
  };
}

/** @throws Error when the call succeeds, or fails with something else */
export async function failureOf(call: Promise<unknown>): Promise<ProviderError> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof ProviderError) return error;
  throw new Error(`expected a ProviderError, got ${String(error)}`);
}

/** Changes of a test to a media call; `null` stands for a source that says nothing of fields. */
export type CallChanges = Omit<Partial<StartCall<never>>, "fields" | "input"> & { readonly fields?: Fields | null };

export function mediaCall<Input>(input: Input, { fields, ...call }: CallChanges = {}): StartCall<Input> {
  const noteStart = (): Promise<void> => Promise.resolve();
  const source = { sourceModel: "m", signal: never, traits: new Set<Trait>(), adapt: () => undefined, noteStart };
  return { input, ...source, ...call, ...(fields ? { fields } : {}) };
}

/** Sets members as the `overrides` of a source do. */
export function overriding(members: Readonly<Record<string, unknown>>): Pick<MediaCall<unknown>, "adapt"> {
  return { adapt: (body) => void Object.assign(body, members) };
}

/** @throws Error when the family does not offer this, or not in one exchange */
export function direct<Input, Output>(adapter: MediaAdapter<Input, Output> | undefined): DirectAdapter<Input, Output> {
  if (adapter && "run" in adapter) return adapter;
  throw new Error("expected an adapter that answers in one exchange");
}

/** @throws Error when the family does not offer this, or not by a queue */
export function queued<Input, Output>(adapter: MediaAdapter<Input, Output> | undefined): QueuedAdapter<Input, Output> {
  if (adapter && "start" in adapter) return adapter;
  throw new Error("expected an adapter that queues");
}

/** Returns what is left of a job when the process that began it is gone. */
export function stored(job: ProviderJob): ProviderJob {
  return JSON.parse(JSON.stringify(job)) as ProviderJob;
}

export function bytesOf(artifact: Artifact | undefined): Buffer {
  if (artifact && "bytes" in artifact) return Buffer.from(artifact.bytes);
  throw new Error("expected bytes");
}

/** The stream of what a job made. @throws Error when it is not done, or made nothing to open */
export async function openOf(polled: Polled<readonly Artifact[]>, signal = never): Promise<ReadableStream<Uint8Array>> {
  const artifact = polled.state === "done" ? polled.output[0] : undefined;
  if (artifact && "open" in artifact) return artifact.open(signal);
  throw new Error(`expected something to open, got ${JSON.stringify(polled)}`);
}

/** The states that a job tells when it is asked so often. */
export async function statesOf(poll: () => Promise<Polled<unknown>>, count: number): Promise<string[]> {
  const states: string[] = [];
  for (let at = 0; at < count; at += 1) states.push((await poll()).state);
  return states;
}
