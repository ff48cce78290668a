/** Calls to the sandbox as the pool makes them, a clock without waiting, and streams put together as clients do it. */
import type { ChatCompletionRequest } from "#schemas/generated/types.ts";
import type { TokenUsage } from "#shared/calls/pricing/usage.ts";
import type { ChatCall, ChatDelta, ChatProvider, ProviderError } from "#workers/providers/provider.ts";
import { createSandbox } from "#workers/providers/sandbox/index.ts";

export interface FakeClock {
  readonly now: () => number;
  readonly delay: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Every wait so far, in milliseconds. */
  readonly waits: number[];
}

/** Time that passes at once. */
export function createClock(): FakeClock {
  let time = 0;
  const waits: number[] = [];
  return {
    now: () => time,
    delay: async (ms) => {
      waits.push(ms);
      time += ms;
    },
    waits,
  };
}

export type Body = Record<string, unknown>;

export interface CallOptions {
  readonly model?: string;
  readonly signal?: AbortSignal;
  readonly outputTokensMax?: number;
}

export function callOf(
  body: Body,
  { model = "sandbox-chat", signal, outputTokensMax = 8_192 }: CallOptions = {},
): ChatCall {
  return {
    request: { model, ...body } as unknown as ChatCompletionRequest,
    sourceModel: model,
    outputTokensMax,
    signal: signal ?? new AbortController().signal,
    workspaceId: "0199a5b2-7e1d-7000-8000-00000000000b",
    traits: new Set(),
    takesAudio: true,
    adapt: () => {},
  };
}

/** A request with one user message. */
export function ask(content: unknown, more: Body = {}): Body {
  return { messages: [{ role: "user", content }], ...more };
}

export const sandbox: ChatProvider = createSandbox(createClock());

export interface AnsweredChoice {
  index: number;
  role: string;
  content: string | null;
  reasoning: string | null;
  calls: { id: string; type: string; name: string; input: string }[];
  finish: string | null;
}

interface WireCall {
  index?: number;
  id?: string;
  type?: string;
  function?: { name?: string; arguments?: string };
  custom?: { name?: string; input?: string };
}

interface WireMessage {
  role?: string;
  content?: string | null;
  reasoning_content?: string;
  tool_calls?: WireCall[];
}

/** The choices of a plain answer. */
export async function answersTo(body: Body, options: CallOptions = {}): Promise<AnsweredChoice[]> {
  const { choices } = await sandbox.complete(callOf(body, options));
  return choices.map((choice) => {
    const message = choice["message"] as WireMessage;
    return {
      index: choice["index"] as number,
      role: message.role ?? "",
      content: message.content ?? null,
      reasoning: message.reasoning_content ?? null,
      calls: (message.tool_calls ?? []).map(readCall),
      finish: choice["finish_reason"] as string,
    };
  });
}

/** The one choice of a plain answer. */
export async function answerTo(body: Body, options: CallOptions = {}): Promise<AnsweredChoice> {
  const [choice] = await answersTo(body, options);
  if (choice === undefined) throw new Error("no choice");
  return choice;
}

/** The usage a plain answer reports. */
export async function usageOf(body: Body, options: CallOptions = {}): Promise<TokenUsage> {
  const { usage } = await sandbox.complete(callOf(body, options));
  if (usage === null || usage === "impossible") throw new Error(`expected a usage, got ${String(usage)}`);
  return usage;
}

export async function textOf(body: Body, options: CallOptions = {}): Promise<string | null> {
  return (await answerTo(body, options)).content;
}

export async function deltasOf(
  body: Body,
  options: CallOptions = {},
  provider: ChatProvider = sandbox,
): Promise<ChatDelta[]> {
  const deltas: ChatDelta[] = [];
  for await (const delta of provider.stream(callOf(body, options))) deltas.push(delta);
  return deltas;
}

/** Deltas → choices, by the rules a client follows: texts are appended, calls are found by their index. */
export function putTogether(deltas: readonly ChatDelta[]): AnsweredChoice[] {
  const answered = new Map<number, AnsweredChoice>();
  for (const choice of deltas.flatMap((delta) => delta.choices)) {
    const index = choice["index"] as number;
    const delta = choice["delta"] as WireMessage;
    const known = answered.get(index) ?? { index, role: "", content: null, reasoning: null, calls: [], finish: null };
    answered.set(index, known);
    known.role += delta.role ?? "";
    if (typeof delta.content === "string") known.content = (known.content ?? "") + delta.content;
    if (delta.reasoning_content !== undefined) known.reasoning = (known.reasoning ?? "") + delta.reasoning_content;
    for (const piece of delta.tool_calls ?? []) appendCall(known, piece);
    if (typeof choice["finish_reason"] === "string") known.finish = choice["finish_reason"];
  }
  return [...answered.values()].toSorted((a, b) => a.index - b.index);
}

function appendCall(choice: AnsweredChoice, piece: WireCall): void {
  const at = piece.index ?? -1;
  if (piece.id !== undefined) {
    if (at !== choice.calls.length) throw new Error(`call ${at} follows ${choice.calls.length} others`);
    choice.calls.push(readCall(piece));
    return;
  }
  const call = choice.calls[at];
  if (call === undefined) throw new Error(`a piece of call ${at} came before its first`);
  call.input += piece.function?.arguments ?? piece.custom?.input ?? "";
}

function readCall(call: WireCall): AnsweredChoice["calls"][number] {
  return {
    id: call.id ?? "",
    type: call.type ?? "",
    name: call.function?.name ?? call.custom?.name ?? "",
    input: call.function?.arguments ?? call.custom?.input ?? "",
  };
}

/** Returns the error that a promise was rejected with. */
export async function failureOf(promise: Promise<unknown>): Promise<ProviderError> {
  try {
    await promise;
  } catch (error) {
    return error as ProviderError;
  }
  throw new Error("expected a failure");
}
