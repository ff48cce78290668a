/** The chat pool without its surroundings: what its tests share. */
import type { JobMessage } from "#schemas/generated/types.ts";
import type { CallSettlement } from "#shared/ledger/settle.ts";
import { createLogger, type Logger } from "#shared/base/logger.ts";
import { createMetrics } from "#shared/metrics/metrics.ts";
import { NO_USAGE } from "#shared/calls/pricing/usage.ts";
import type { Frame } from "#shared/queue/frames.ts";
import { BASE, build } from "#tests/shared/calls/catalogue/build-catalogue.ts";
import { chatJob, REQUEST } from "#tests/workers/runner/job-message.ts";
import { fakeBreaker } from "#tests/workers/routing/fake-breaker.ts";
import { controllerOf, type FakeIngress, fakeIngress, callOf } from "#tests/workers/runner/fake-ingress.ts";
import type { WorkerContext } from "#workers/context.ts";
import { createChatHandler } from "#workers/calls/chat/chat.ts";
import { type LiveCalls, openLiveCalls } from "#workers/runner/live-calls.ts";
import { type ChatCall, type ChatDelta, type ChatProvider, ProviderError } from "#workers/providers/provider.ts";

/** The base model with its first source alone: what fails there fails. */
export const ONE_SOURCE = BASE.replace("      - provider: play\n        model: sandbox-chat\n", "");

/**
 * A model that may stand in for `one`, at 1,000 and 2,000 nano-credits a token.
 * @param ofSource more members of its source, each behind a comma
 */
export const standIn = (slug: string, ofSource = ""): string => `  - slug: ${slug}
    modality: text
    owned_by: acme
    created: 1700000000
    supports_chat: true
    supports_streaming: true
    max_context_tokens: 1000
    max_output_tokens: 500
    pricing: { unit: per_token, input_per_million: "1", output_per_million: "2" }
    allowed_params: { supported_inputs: [text] }
    sources: [{ provider: acme, model: acme-${slug}${ofSource} }]
`;

/** Closers of what each test opened. */
const closing: (() => void)[] = [];

/** For `afterEach`. */
export function closeBenches(): void {
  for (const close of closing.splice(0)) close();
}

export interface Bench {
  readonly live: LiveCalls;
  readonly frames: FakeIngress["frames"];
  readonly settlements: CallSettlement[];
  /** Calls that the provider got. */
  readonly calls: ChatCall[];
  /** Runs a job to its end, with the address of an ingress. */
  readonly run: (job?: JobMessage, signal?: AbortSignal, stopping?: AbortSignal) => Promise<void>;
  readonly text: () => string;
  readonly kinds: () => string[];
  /** The error frame; fails when there is none. */
  readonly failure: () => Extract<Frame, { t: "error" }>;
  readonly metric: (name: string) => Promise<string>;
}

export interface Surroundings {
  readonly limits?: Partial<WorkerContext["config"]["calls"]>;
  readonly catalogue?: string;
  /** Answer of the ingress to a question; an error is no answer. */
  readonly ingress?: string | Error;
  readonly progress?: object[];
  /** Returns the database's rows for each statement in turn, in place of `progress`. */
  readonly rows?: () => object[];
  /** Answers of the breaker, by source; those not named are in rotation. */
  readonly breaker?: Parameters<typeof fakeBreaker>[0];
  readonly settle?: (settlement: CallSettlement) => Promise<{ takenNano: bigint; wasClosed: boolean }>;
  readonly storage?: unknown;
  /** Delays further publishing until it resolves; absent: there is room. */
  readonly waitForDrain?: () => Promise<void> | undefined;
  /** Pages that every document has; without it no document is looked at. */
  readonly pdfPages?: number;
  readonly log?: Logger;
  readonly responses?: Partial<NonNullable<WorkerContext["responses"]>>;
  readonly conversations?: Partial<NonNullable<WorkerContext["conversations"]>>;
}

/** The chat pool over a provider of the test's own, a ledger that takes what it is asked, and a wire that is watched. */
export function bench(provider: Partial<ChatProvider>, around: Surroundings = {}): Bench {
  const settlements: CallSettlement[] = [];
  const calls: ChatCall[] = [];
  const metrics = createMetrics("test");
  closing.push(() => metrics.close());
  const catalogue = build([around.catalogue ?? ONE_SOURCE]);
  const { replies, answers, frames } = fakeIngress({
    word: "taken",
    answer: around.ingress ?? new Error("no answer"),
    waitForDrain: around.waitForDrain,
  });
  const context = {
    responses: around.responses,
    conversations: around.conversations ?? {},
    config: {
      responseRetentionHours: 720,
      calls: {
        totalMs: 60_000,
        firstByteMs: 60_000,
        firstByteNextMs: 60_000,
        stallMs: 60_000,
        plainMs: 60_000,
        queueMs: 60_000,
        ...around.limits,
      },
    },
    log: around.log ?? createLogger({ level: "silent", role: "test" }),
    metrics,
    database: { query: async () => around.rows?.() ?? around.progress ?? [] },
    ledger: {
      settle: (settlement: CallSettlement) => {
        settlements.push(settlement);
        return (
          around.settle?.(settlement) ?? Promise.resolve({ takenNano: settlement.usedNano ?? 0n, wasClosed: false })
        );
      },
    },
    storage: around.storage ?? {},
    probes: { pdfPages: () => Promise.resolve(around.pdfPages) },
    catalogue: { current: () => catalogue },
    providers: {
      chat: () => ({
        complete: (call: ChatCall) => {
          calls.push(call);
          return provider.complete?.(call);
        },
        stream: (call: ChatCall) => {
          calls.push(call);
          return provider.stream?.(call);
        },
      }),
    },
    breaker: fakeBreaker(around.breaker),
    repeats: { succeeded: () => undefined, take: () => false },
    replies,
    answers,
    failures: { record: () => Promise.resolve() },
  } as unknown as WorkerContext;
  const live = openLiveCalls({
    context,
    handler: createChatHandler(context),
    cancels: { onCancel: () => () => undefined, subject: "_INBOX.wk.test.cancel" },
  });
  closing.push(() => live.close());
  return {
    live,
    frames,
    settlements,
    calls,
    run: (job = chatJob(), signal = new AbortController().signal, stopping = new AbortController().signal) =>
      live.run(callOf(job), controllerOf(signal), stopping),
    text: () => new TextDecoder().decode(Buffer.concat(frames.map(({ data }) => data))),
    kinds: () => frames.map(({ frame }) => frame.t),
    failure: () => {
      const last = frames.at(-1)?.frame;
      if (last?.t !== "error") throw new Error(`expected an error frame, got ${last?.t ?? "none"}`);
      return last;
    },
    metric: (name) => metrics.registry.getSingleMetricAsString(name),
  };
}

export const delta = (members: object, finish_reason: string | null = null): ChatDelta => ({
  choices: [{ index: 0, delta: members, finish_reason }],
});
export const ROLE = delta({ role: "assistant", content: "" });
export const END = delta({}, "stop");
export const USED = { ...NO_USAGE, input: 7, output: 11 };
export const STREAM = { request: { ...REQUEST, stream: true } };
export const WITH_USAGE = { request: { ...REQUEST, stream: true, stream_options: { include_usage: true } } };

/** Lists the model that each call asked for, by its source's name. */
export const asked = (calls: readonly ChatCall[]): string[] => calls.map(({ sourceModel }) => sourceModel);

/** A stream of these pieces; an error is thrown, a function is waited for. */
export function streamOf(
  ...pieces: readonly (ChatDelta | Error | ((call: ChatCall) => Promise<unknown>))[]
): ChatProvider["stream"] {
  return async function* stream(call) {
    for (const piece of pieces) {
      if (piece instanceof Error) throw piece;
      if (typeof piece === "function") await piece(call);
      else yield piece;
    }
  };
}

/** Waits as an adapter does that hangs on its connection. */
export const untilAborted = (call: ChatCall): Promise<never> =>
  new Promise((_resolve, reject) => {
    const end = (): void => reject(new ProviderError("aborted", "the call was aborted"));
    if (call.signal.aborted) end();
    else call.signal.addEventListener("abort", end, { once: true });
  });

export const WHOLE = {
  choices: [{ index: 0, message: { role: "assistant", content: "Eight." }, finish_reason: "stop" }],
  usage: USED,
};
