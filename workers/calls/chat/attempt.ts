/** Runs one provider call of a chat job: applies its timeouts, reads its result, and passes the chunks to the client. */
import type { ChatCompletionRequest, JobMessage } from "#schemas/generated/types.ts";
import { beforeAbort } from "#shared/base/abortable.ts";
import { chatInputTokensMax, withHeldLimit, withinOutputLimit } from "#shared/calls/kinds/chat/constraints.ts";
import { commonNow } from "#shared/base/clock.ts";
import type { ExactIntegers } from "#shared/json/serialize.ts";
import type { Model, Source } from "#shared/calls/model.ts";
import type { Config } from "#shared/config/config.ts";
import type { Price } from "#shared/calls/pricing/price.ts";
import { PROVIDER_BYTES_MAX } from "#workers/providers/http.ts";

import type { Answer } from "../answer.ts";
import { abortReasonOf, jobAbort } from "../../job.ts";
import { type ChatCall, type ChatDelta, type ChatProvider, ProviderError } from "../../providers/provider.ts";
import type { Candidate } from "../../routing/candidates.ts";
import type { Attempt } from "../../routing/try-candidates.ts";
import { startWatchdog } from "../watchdog.ts";

import { ChatMeter, type Metered, type TokenBounds } from "./meter.ts";
import type { Rendering } from "./render.ts";

/** Price, credit hold and output limit of a call for the model that currently serves it. */
export interface HeldPrice {
  readonly price: Price;
  readonly holdNano: bigint;
  readonly outputTokensMax: number;
}

export interface ChatAttempt {
  /** True if the request ends with the beginning of an answer that the model must continue. */
  readonly continues?: boolean;
  readonly job: JobMessage;
  readonly request: ChatCompletionRequest;
  readonly attempt: Attempt<ChatProvider>;
  readonly exactIntegers: ExactIntegers | undefined;
  readonly held: HeldPrice;
  readonly limits: Config["calls"];
  readonly signal: AbortSignal;
  /** Signal that aborts when this process shuts down and its running calls must end. */
  readonly stopping: AbortSignal | undefined;
  readonly rendering: Rendering;
  readonly answer: Pick<Answer, "write" | "hasBegun">;
  /**
   * Returns a promise that resolves when the publisher has capacity, or undefined if it has capacity now. The provider's answer is thus
   * read no faster than it is sent.
   */
  readonly drained: () => Promise<void> | undefined;
  readonly meter: ChatMeter;
  readonly checkFetched: NonNullable<ChatCall["checkFetched"]>;
  /** Time of the request to the first provider, from `performance.now()`. */
  readonly askedAt: number;
}

export function meterOf(
  request: ChatCompletionRequest,
  { model, source }: Pick<Candidate<ChatProvider>, "model" | "source">,
  held: HeldPrice,
): ChatMeter {
  // A source that never receives the requested tier serves the call at the published price.
  const isTierDropped = source.drop_params?.includes("service_tier") === true;
  return new ChatMeter(
    isTierDropped ? { ...request, service_tier: null } : request,
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
  /** True if the client disconnected before the provider's answer ended, so that the remaining answer was read only for its usage. */
  readonly wasDrained: boolean;
}

/**
 * Runs one attempt until the provider's answer ends. Chunks of a stream are sent as they arrive.
 * @throws ProviderError; its kind is `timeout` if a timeout of this attempt has passed, but not the deadline of the call
 */
export async function runChatAttempt(run: ChatAttempt): Promise<Finale> {
  const { attempt, request, meter, rendering } = run;
  const { candidate } = attempt;
  const isDrained = request.stream === true && candidate.provider.on_disconnect === "drain";
  const signal = isDrained ? drainSignal(run) : run.signal;
  const limits = limitsOf(run);
  // Without another source, an unstreamed answer has only the deadline of its call, which `signal` already enforces.
  const watchdog =
    request.stream === true || limits.firstByteMs < limits.totalMs ? startWatchdog(limits, signal) : undefined;
  try {
    const call: ChatCall = {
      request: withServiceTier(
        withinOutputLimit(
          run.job.max_nano === undefined ? request : withHeldLimit(request, run.held.outputTokensMax),
          candidate.model,
        ),
        run,
      ),
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
    meter.servedTier = result.extra?.["service_tier"];
    return { render: (metered) => rendering.completion(result, metered.usage), wasDrained: false };
  } catch (error) {
    if (watchdog?.expired() === undefined || signal.aborted) throw error;
    throw new ProviderError("timeout", `no answer within the limit: ${watchdog.expired()}`, { cause: error });
  } finally {
    watchdog?.stop();
  }
}

/** Value of `service_tier` that requests processing at the published price. */
const STANDARD_TIER = "default";

/**
 * Returns the request with the service tier that the provider receives. A request without a tier must not be served in a tier with another
 * price, which providers otherwise may choose. Providers of models without priced tiers may not know the tiers of Anthropic's API.
 */
function withServiceTier(
  request: ChatCompletionRequest,
  { job, held, attempt: { candidate } }: Pick<ChatAttempt, "job" | "held" | "attempt">,
): ChatCompletionRequest {
  const { service_tier: tier, ...others } = request;
  if (held.price.serviceTiers !== undefined) return tier == null ? { ...others, service_tier: STANDARD_TIER } : request;
  return tier != null && job.api === "anthropic" && candidate.provider.family !== "anthropic" ? others : request;
}

/**
 * Sends deltas until the provider's stream ends. Chunks without content are buffered until the first chunk with content, so that an earlier
 * failure can still set the HTTP status. Returns true if chunks arrived after the client had disconnected.
 */
async function relayStream(run: ChatAttempt, deltas: AsyncIterable<ChatDelta>, onDelta: () => void): Promise<boolean> {
  const { meter, rendering, answer, signal } = run;
  const bytesMax = outputBytesMax(run);
  let held = "";
  let isHeld = false;
  let wasDrained = false;
  // Anthropic's streams report the input tokens in their first event, when no other family knows them yet.
  let countsInput = run.job.api === "anthropic" && run.continues !== true;
  const counting =
    countsInput && run.attempt.candidate.provider.family !== "anthropic" ? meter.countedInput() : undefined;
  counting?.catch(() => undefined);
  for await (let delta of deltas) {
    onDelta();
    if (delta.usage !== undefined) meter.report = delta.usage;
    if (delta.inputUsage !== undefined) meter.inputReport = delta.inputUsage;
    const tier = delta.extra?.["service_tier"];
    if (tier !== undefined) meter.servedTier = tier;
    if (delta.choices.length === 0) continue;
    const isOutput = meter.add(delta.choices);
    if (meter.outputBytes > bytesMax)
      throw new ProviderError("failed", "the stream is longer than the model can answer");
    // Only the stream of a provider with `on_disconnect: drain` continues after its client has left.
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
    // A model that continues an answer may have repeated old text only.
    if (!isHeld) continue;
    if (!isOutput && !answer.hasBegun && held.length < HELD_CHARACTERS_MAX) continue;
    answer.write(held, performance.now() - run.askedAt);
    held = "";
    isHeld = false;
    const drain = run.drained();
    if (!drain) continue;
    await beforeAbort(drain, signal).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
    // The pause was ours, not the provider's, so the stall timeout restarts.
    onDelta();
  }
  return wasDrained;
}

/** Maximum characters of buffered chunks without content; see `relayStream`. */
const HELD_CHARACTERS_MAX = 65_536;

/**
 * Returns the abort signal for providers that charge for the whole answer even if the connection is closed. A client that disconnects after
 * the first chunk does not abort the stream, so that the usage can be read. A client that disconnects earlier aborts it, because it
 * received nothing and its hold may already be released.
 */
function drainSignal({ signal, stopping, answer }: ChatAttempt): AbortSignal {
  const controller = new AbortController();
  const onAbort = (): void => {
    const reason: unknown = signal.reason;
    const abort = abortReasonOf(reason);
    const hasCallerDisconnected = abort === "caller_left" || abort === "caller_gone";
    if (!hasCallerDisconnected || !answer.hasBegun) controller.abort(reason);
  };
  const onStop = (): void => controller.abort(jobAbort("shutdown"));
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  if (stopping?.aborted === true) onStop();
  else stopping?.addEventListener("abort", onStop, { once: true });
  return controller.signal;
}

/**
 * Returns the maximum token counts that a usage report may state. An output limit of the caller above the model's limit is lowered to it.
 */
function tokenBounds(model: Model, held: HeldPrice, request: ChatCompletionRequest): TokenBounds {
  return {
    input: model.max_context_tokens,
    output: Math.max(held.outputTokensMax, model.max_output_tokens * (request.n ?? 1)),
    ownInput: () => chatInputTokensMax(request, model, Buffer.byteLength(JSON.stringify(request))),
  };
}

/**
 * Maximum bytes that a model writes per token. A stream with more bytes than its token limit allows is aborted, because it would never end
 * by itself.
 */
const BYTES_PER_TOKEN_MAX = 64;

function outputBytesMax({ attempt, held, request }: ChatAttempt): number {
  const tokens = Math.max(held.outputTokensMax, attempt.candidate.model.max_output_tokens) * (request.n ?? 1);
  return Math.min(PROVIDER_BYTES_MAX, Math.max(65_536, tokens * BYTES_PER_TOKEN_MAX));
}

/**
 * Returns the timeouts of an attempt. An answer without streaming is limited only by the deadline of the call, because its first byte
 * arrives at its end. If another provider could serve the call, the timeout is shorter, so that a provider that sends nothing does not use
 * up the whole time.
 */
function limitsOf({ job, request, limits, attempt }: ChatAttempt) {
  const totalMs = Math.max(1, job.deadline_ms - commonNow());
  const plainMs = attempt.isLast ? totalMs : limits.plainMs;
  const firstByteMs = request.stream === true ? streamWaitMs(limits, attempt) : plainMs;
  return { totalMs, firstByteMs: Math.min(totalMs, firstByteMs), stallMs: limits.stallMs };
}

/**
 * Returns the timeout for the first byte of a stream: the model's or provider's setting, else a default. The default is shorter if another
 * provider could serve.
 */
function streamWaitMs(limits: Config["calls"], { candidate, isLast }: Attempt<ChatProvider>): number {
  const own = candidate.model.first_byte_ms ?? candidate.provider.first_byte_ms;
  return own ?? (isLast ? limits.firstByteMs : Math.min(limits.firstByteMs, limits.firstByteNextMs));
}

/**
 * Adapts a request body to its source, as the catalogue specifies: removes, renames and overrides parameters.
 * @param continues true if the request continues an answer; the source's parameters for continuations are then set too
 */
function applySource(body: Record<string, unknown>, source: Source, continues: boolean | undefined): void {
  // The hold covers the limit under the newer name; a source that reads the older name must receive the same limit.
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
