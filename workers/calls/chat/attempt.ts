/** One provider call of a chat job: its deadlines, what comes of it, and what the client reads. */
import type { ChatCompletionRequest, JobMessage } from "#schemas/generated/types.ts";
import { beforeAbort } from "#shared/abortable.ts";
import { chatInputTokensMax, withinOutputLimit } from "#shared/calls/kinds/chat/constraints.ts";
import { commonNow } from "#shared/clock.ts";
import type { ExactIntegers } from "#shared/exact-integers.ts";
import type { Model, Source } from "#shared/calls/model.ts";
import type { Config } from "#shared/config.ts";
import type { Price } from "#shared/calls/pricing/price.ts";
import { PROVIDER_BYTES_MAX } from "#workers/providers/http.ts";

import type { Answer } from "../answer.ts";
import { abortReasonOf, jobAbort } from "../../job.ts";
import { type ChatCall, type ChatDelta, type ChatProvider, ProviderError } from "../../providers/provider.ts";
import type { Attempt } from "../../routing/try-candidates.ts";
import { startWatchdog } from "../watchdog.ts";

import { ChatMeter, type Metered, type TokenBounds } from "./meter.ts";
import type { Rendering } from "./render.ts";

/** Price, hold and output limit of a call while one model serves it. */
export interface HeldPrice {
  readonly price: Price;
  readonly holdNano: bigint;
  readonly outputTokensMax: number;
}

export interface ChatAttempt {
  /** The request ends in the beginning of an answer, with which the source is to go on. */
  readonly continues?: boolean;
  readonly job: JobMessage;
  readonly request: ChatCompletionRequest;
  readonly attempt: Attempt<ChatProvider>;
  readonly exactIntegers: ExactIntegers | undefined;
  readonly held: HeldPrice;
  readonly limits: Config["calls"];
  readonly signal: AbortSignal;
  /** Aborts when running work is to be cut because the process stops. */
  readonly stopping: AbortSignal | undefined;
  readonly rendering: Rendering;
  readonly answer: Pick<Answer, "write" | "hasBegun">;
  /** Resolves when there is room, as of a BufferedPublisher: the provider is read no faster than its answer leaves. */
  readonly drained: () => Promise<void> | undefined;
  readonly meter: ChatMeter;
  readonly checkFetched: NonNullable<ChatCall["checkFetched"]>;
  /** performance.now() when the first provider was asked. */
  readonly askedAt: number;
}

export function meterOf(request: ChatCompletionRequest, model: Model, held: HeldPrice): ChatMeter {
  return new ChatMeter(
    request,
    held.price,
    held.holdNano,
    model.tokens_per_image_max,
    tokenBounds(model, held, request),
  );
}

/** Result of a successful attempt. */
export interface Finale {
  /** Renders the last part of the answer, once the usage of the call is known. */
  readonly render: (metered: Metered) => string;
  /** The client had left before its provider's end: the rest was read for the bill alone. */
  readonly wasDrained: boolean;
}

/**
 * Runs one attempt to the end of what its provider says. Pieces of a stream go out as they come.
 * @throws ProviderError; of kind `timeout` when a limit of this attempt, though not of the call, has passed
 */
export async function runChatAttempt(run: ChatAttempt): Promise<Finale> {
  const { attempt, request, meter, rendering } = run;
  const { candidate } = attempt;
  const isDrained = request.stream === true && candidate.provider.on_disconnect === "drain";
  const signal = isDrained ? drainSignal(run) : run.signal;
  const limits = limitsOf(run);
  // A plain answer that nobody else could give has its call's limit alone, which its signal has already.
  const watchdog =
    request.stream === true || limits.firstByteMs < limits.totalMs ? startWatchdog(limits, signal) : undefined;
  try {
    const call: ChatCall = {
      request: withinOutputLimit(request, candidate.model),
      ...(run.exactIntegers ? { exactIntegers: run.exactIntegers } : {}),
      workspaceId: run.job.workspace_id,
      sourceModel: candidate.source.model,
      traits: new Set(candidate.source.traits),
      adapt: (body) => applySource(body, candidate.source, run.continues),
      takesAudio: candidate.model.allowed_params.supported_inputs?.includes("audio") === true,
      checkFetched: run.checkFetched,
      outputTokensMax: run.held.outputTokensMax,
      signal: watchdog?.signal ?? signal,
    };
    if (request.stream === true) {
      const wasDrained = await relayStream(run, candidate.adapter.stream(call), () => watchdog?.touch());
      return { render: (metered) => rendering.end(metered.usage), wasDrained };
    }
    const result = await candidate.adapter.complete(call);
    meter.add(result.choices);
    meter.report = result.usage;
    return { render: (metered) => rendering.completion(result, metered.usage), wasDrained: false };
  } catch (error) {
    if (watchdog?.expired() === undefined || signal.aborted) throw error;
    throw new ProviderError("timeout", `no answer within the limit: ${watchdog.expired()}`, { cause: error });
  } finally {
    watchdog?.stop();
  }
}

/**
 * Passes deltas on until the provider is done. Pieces without content wait for the first one with: until then a failure
 * has a status. Returns whether pieces came that nobody was there to read.
 */
async function relayStream(run: ChatAttempt, deltas: AsyncIterable<ChatDelta>, onDelta: () => void): Promise<boolean> {
  const { meter, rendering, answer, signal } = run;
  const bytesMax = outputBytesMax(run);
  let held = "";
  let isHeld = false;
  let wasDrained = false;
  // Anthropic's streams say at their beginning how long the input is, which no other family knows by then.
  let countsInput = run.job.api === "anthropic" && run.continues !== true;
  const counting =
    countsInput && run.attempt.candidate.provider.family !== "anthropic" ? meter.countedInput() : undefined;
  counting?.catch(() => undefined);
  for await (let delta of deltas) {
    onDelta();
    if (delta.usage !== undefined) meter.report = delta.usage;
    if (delta.inputUsage !== undefined) meter.inputReport = delta.inputUsage;
    if (delta.choices.length === 0) continue;
    const isOutput = meter.add(delta.choices);
    if (meter.outputBytes > bytesMax)
      throw new ProviderError("failed", "the stream is longer than the model can answer");
    // Only a stream that is drained goes on without a reader.
    if (signal.aborted) {
      wasDrained = true;
      continue;
    }
    if (countsInput) {
      countsInput = false;
      const isKnown = delta.inputUsage !== undefined || (typeof delta.usage === "object" && delta.usage !== null);
      if (!isKnown) delta = { ...delta, inputUsage: await (counting ?? meter.countedInput()) };
    }
    const text = rendering.chunk(delta);
    isHeld ||= text !== "";
    held += text ?? "";
    // A model that goes on may have said nothing new yet.
    if (!isHeld) continue;
    if (!isOutput && !answer.hasBegun && held.length < HELD_CHARACTERS_MAX) continue;
    answer.write(held, performance.now() - run.askedAt);
    held = "";
    isHeld = false;
    const room = run.drained();
    if (!room) continue;
    await beforeAbort(room, signal).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
    // The silence was ours.
    onDelta();
  }
  return wasDrained;
}

/** Pieces without content are held back for the sake of a later failure's status, up to here. */
const HELD_CHARACTERS_MAX = 65_536;

/**
 * For providers that charge for the whole whether we read it or not: a client that leaves a stream which has begun ends
 * nothing. One that leaves before has seen nothing, and its hold may be gone already.
 */
function drainSignal({ signal, stopping, answer }: ChatAttempt): AbortSignal {
  const controller = new AbortController();
  const onAbort = (): void => {
    const reason: unknown = signal.reason;
    const abort = abortReasonOf(reason);
    const hasLeft = abort === "caller_left" || abort === "caller_gone";
    if (!hasLeft || !answer.hasBegun) controller.abort(reason);
  };
  const onStop = (): void => controller.abort(jobAbort("shutdown"));
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  if (stopping?.aborted === true) onStop();
  else stopping?.addEventListener("abort", onStop, { once: true });
  return controller.signal;
}

/** Returns the most tokens that a usage report may state. A larger limit of the caller is lowered to the model's. */
function tokenBounds(model: Model, held: HeldPrice, request: ChatCompletionRequest): TokenBounds {
  return {
    input: model.max_context_tokens,
    output: Math.max(held.outputTokensMax, model.max_output_tokens * (request.n ?? 1)),
    ownInput: () => chatInputTokensMax(request, model, Buffer.byteLength(JSON.stringify(request))),
  };
}

/** No model writes more than about this many bytes a token; a stream beyond it never ends by itself. */
const BYTES_PER_TOKEN_MAX = 64;

function outputBytesMax({ attempt, held, request }: ChatAttempt): number {
  const tokens = Math.max(held.outputTokensMax, attempt.candidate.model.max_output_tokens) * (request.n ?? 1);
  return Math.min(PROVIDER_BYTES_MAX, Math.max(65_536, tokens * BYTES_PER_TOKEN_MAX));
}

/**
 * A plain answer's first byte is its last, so only the total counts, unless somebody else could serve in its place:
 * then a source that never answers costs one limit and not the call.
 */
function limitsOf({ job, request, limits, attempt }: ChatAttempt) {
  const totalMs = Math.max(1, job.deadline_ms - commonNow());
  const plainMs = attempt.isLast ? totalMs : limits.plainMs;
  const firstByteMs = request.stream === true ? streamWaitMs(limits, attempt) : plainMs;
  return { totalMs, firstByteMs: Math.min(totalMs, firstByteMs), stallMs: limits.stallMs };
}

/** A model or provider may need longer than the settings say; a source that another could stand in for gets less. */
function streamWaitMs(limits: Config["calls"], { candidate, isLast }: Attempt<ChatProvider>): number {
  const own = candidate.model.first_byte_ms ?? candidate.provider.first_byte_ms;
  return own ?? (isLast ? limits.firstByteMs : Math.min(limits.firstByteMs, limits.firstByteNextMs));
}

/** The source's own gaps, names and defaults, as the catalogue lists them. */
function applySource(body: Record<string, unknown>, source: Source, continues: boolean | undefined): void {
  // The hold was made for the newer name; a source that reads the older one must not be told another limit.
  if (body["max_completion_tokens"] != null) delete body["max_tokens"];
  for (const name of source.drop_params ?? []) delete body[name];
  for (const [from, to] of Object.entries(source.rename_params ?? {})) {
    if (body[from] === undefined) continue;
    body[to] ??= body[from];
    delete body[from];
  }
  Object.assign(body, source.overrides);
  if (continues !== true) return;
  Object.assign(body, source.continue_overrides);
  const messages = body["messages"];
  const last: unknown = Array.isArray(messages) ? messages.at(-1) : undefined;
  if (!source.continue_message || !Array.isArray(messages) || typeof last !== "object") return;
  body["messages"] = [...(messages.slice(0, -1) as unknown[]), { ...last, ...source.continue_message }];
}
