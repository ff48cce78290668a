/**
 * Tries candidates in order until one serves the call. Used for every kind of call, with retries, sources and fallback chains. Only
 * failures of a provider lead to the next candidate. After the client has received a part of the answer, no other candidate is tried.
 */
import { sleep } from "#shared/base/abortable.ts";
import type { Model } from "#shared/calls/model.ts";
import { commonNow } from "#shared/base/clock.ts";

import { abortReasonOf } from "../job.ts";
import { ProviderError, type ProviderErrorClass } from "../providers/provider.ts";

import type { Breaker } from "./breaker.ts";
import type { RepeatBudget } from "./repeat-budget.ts";
import type { Candidate } from "./candidates.ts";

/**
 * Maximum `retry-after` of a busy source for which the same source is retried, in milliseconds. For a longer delay, the next source is
 * tried.
 */
export const PROVIDER_RETRY_HINT_MS = 2_000;

/** Maximum delay of a retry without `retry-after`, in milliseconds. The delay has full jitter. */
export const PROVIDER_RETRY_JITTER_MS = 500;

export interface Attempt<Adapter> {
  readonly candidate: Candidate<Adapter>;
  /** Number of fallback models tried so far, including the current one; 0 for the requested model. */
  readonly depth: number;
  /** True if this is the last candidate. */
  readonly isLast: boolean;
  /** Reports that the source has begun to answer. A long stream then counts as a success before its end. */
  readonly onBegun: () => void;
  /** Reports that it is unknown whether the source accepted the call. The call then counts as a failure immediately. */
  readonly onDoubt: () => void;
}

export interface Serving<Adapter, Result> {
  readonly candidates: readonly Candidate<Adapter>[];
  /**
   * State of a call for which candidates were tried before. `model` is the model for whose price credits are held; absent if no candidate
   * has it. `depth` is the number of fallback models tried, `error` the last failure.
   */
  readonly from?: { readonly model?: Model; readonly depth: number; readonly error: ProviderError };
  readonly breaker: Pick<Breaker, "admit" | "record" | "down" | "forget" | "retryInMs" | "isRefused">;
  /** Budget for retries at the same source. Absent for calls that the provider may have charged. */
  readonly repeats?: { readonly budget: RepeatBudget; readonly deadlineMs: number };
  /** Aborts the call when its client disconnects, its deadline passes, or the worker stops. */
  readonly signal: AbortSignal;
  /**
   * Called before the first candidate of a fallback model. Adjusts the held credits to the price of that model. Returns false if the model
   * cannot serve the call.
   */
  enter(model: Model): Promise<boolean>;
  /** Calls one candidate. @throws ProviderError for a failure of the provider; any other error ends the call */
  attempt(attempt: Attempt<Adapter>): Promise<Result>;
  /** Returns true after the client has received a part of the answer. From then on, any failure is final. */
  hasBegun(): boolean;
  /**
   * Called after each failure, for logs and metrics. `next`: the same source is tried again (`retried`), the next candidate is tried
   * (`moved`), or the call ends with the error (`ended`).
   */
  onFailure(attempt: Attempt<Adapter>, error: ProviderError, next: "retried" | "moved" | "ended"): void;
}

/**
 * Tries the candidates in order.
 * @throws ProviderError of the last failed candidate, or of the first one if all refused the request; ProviderError `no_route` if no source
 * was available; any other error of an attempt
 */
export async function tryCandidates<Adapter, Result>(serving: Serving<Adapter, Result>): Promise<Result> {
  const { candidates, signal } = serving;
  let depth = serving.from?.depth ?? 0;
  const first = candidates[0]?.isFallback === false ? candidates[0].model : undefined;
  let entered = serving.from ? serving.from.model : first;
  /** Models that were found unable to serve this call. */
  const passedOver = new Set<Model>();
  const failures = serving.from ? [serving.from.error] : [];
  let hasRepeated = false;
  /** True after a source with an open circuit was skipped. The source that replaces it may support less. */
  let hasSkipped = false;
  for (const [at, candidate] of candidates.entries()) {
    if (passedOver.has(candidate.model)) continue;
    const breaker = candidate.provider.breaker === "off" ? NEVER_OPEN : serving.breaker;
    const admitted = await breaker.admit(candidate.name);
    if (admitted === "open") {
      hasSkipped = true;
      continue;
    }
    if (candidate.model !== entered) {
      const hasEntered = await enter(serving, breaker, candidate, admitted === "probe");
      if (!hasEntered) {
        passedOver.add(candidate.model);
        continue;
      }
      entered = candidate.model;
      depth += 1;
    }
    let isRecorded = false;
    let isDoubted = false;
    const isProbe = admitted === "probe";
    const onBegun = (): void => {
      if (!isRecorded) breaker.record(candidate.name, "ok", isProbe);
      isRecorded = true;
    };
    const onDoubt = (): void => {
      breaker.record(candidate.name, "failed", isProbe);
      [isRecorded, isDoubted] = [true, true];
    };
    const isLast = !isAnyReady(candidates.slice(at + 1), passedOver, serving);
    const attempt = { candidate, depth, isLast, onBegun, onDoubt };
    if (signal.aborted) {
      // The client disconnected, or the deadline passed, before this attempt.
      if (isProbe) breaker.forget(candidate.name);
      throw failures.at(-1) ?? new ProviderError("aborted", "the call ended before its source was asked");
    }
    // A replacement for a failed source may support less than the requested one, so its refusal is not final.
    const isStandIn = failures.length > 0 || (hasSkipped && candidate.isFallback);
    for (let tries = 0; ; tries++) {
      const startedAt = performance.now();
      try {
        const result = await serving.attempt(attempt);
        onBegun();
        serving.repeats?.budget.succeeded(candidate.name);
        return result;
      } catch (error) {
        if (!isDoubted) account({ breaker, source: candidate.name, isProbe, error, signal });
        if (!(error instanceof ProviderError) || signal.aborted) throw error;
        const isTooLong = error.code === "context_length_exceeded" && !isStandIn;
        // Only a model with a larger context can accept this request.
        if (isTooLong) for (const model of notLarger(candidates, candidate.model)) passedOver.add(model);
        const mayMove = isTooLong && candidates.slice(at + 1).some(({ model }) => !passedOver.has(model));
        const isRejectedByRequestedModel = error.kind === "rejected" && !isStandIn && !mayMove;
        if (serving.hasBegun() || ENDS_A_CALL.has(error.kind) || isRejectedByRequestedModel) {
          serving.onFailure(attempt, error, "ended");
          throw error;
        }
        if (error.kind === "rejected") {
          serving.onFailure(attempt, error, "moved");
          passedOver.add(candidate.model);
          if (!isStandIn) failures.push(error);
          break;
        }
        let waitMs = tries === 0 ? retryWaitMs(error, attempt.isLast) : undefined;
        if (waitMs === undefined && !hasRepeated && !isProbe && tries === 0) {
          const hasSibling = isAnyReady(siblingsOf(candidates.slice(at + 1), candidate.model), passedOver, serving);
          const tookMs = performance.now() - startedAt;
          waitMs = hasSibling ? undefined : repeatWaitMs(serving, breaker, { source: candidate.name, error, tookMs });
          hasRepeated = waitMs !== undefined;
        }
        failures.push(error);
        serving.onFailure(attempt, error, waitMs !== undefined ? "retried" : attempt.isLast ? "ended" : "moved");
        if (waitMs === undefined) break;
        await sleep(waitMs, signal).catch(() => Promise.reject(error));
      }
    }
  }
  const reportedError = failures.every(isRefusal) ? failures[0] : failures.at(-1);
  if (reportedError !== undefined) throw reportedError;
  const open = candidates.filter(({ name }) => serving.breaker.retryInMs(name) > 0);
  const retryAfterMs = open.length === 0 ? 0 : Math.min(...open.map(({ name }) => serving.breaker.retryInMs(name)));
  const isSetup = open.length > 0 && open.every(({ name }) => serving.breaker.isRefused(name));
  throw new ProviderError("no_route", "no source is in rotation", { retryAfterMs, isSetup });
}

function isRefusal({ kind }: ProviderError): boolean {
  return kind === "refused" || kind === "rejected";
}

/** Returns the models whose context is not larger than the context of the given model, including that model. */
function notLarger(candidates: readonly Candidate<unknown>[], { max_context_tokens: most }: Model): Model[] {
  return candidates.map(({ model }) => model).filter((model) => !(model.max_context_tokens > most));
}

function siblingsOf<Adapter>(candidates: readonly Candidate<Adapter>[], model: Model): readonly Candidate<Adapter>[] {
  return candidates.filter((candidate) => candidate.model === model);
}

/** Failures that end a call. The call is not repeated, because the provider may have charged for it. */
const ENDS_A_CALL: ReadonlySet<ProviderErrorClass> = new Set(["aborted", "unknown"]);

/** Returns true if the candidate's model can serve the call. Otherwise releases the candidate's probe if this call was to be the probe. */
async function enter<Adapter>(
  serving: Serving<Adapter, unknown>,
  breaker: Pick<Breaker, "forget">,
  candidate: Candidate<Adapter>,
  isProbe: boolean,
): Promise<boolean> {
  let hasEntered = false;
  try {
    hasEntered = await serving.enter(candidate.model);
  } finally {
    if (!hasEntered && isProbe) breaker.forget(candidate.name);
  }
  return hasEntered;
}

const NEVER_OPEN: Serving<unknown, unknown>["breaker"] = {
  admit: () => "closed",
  record: () => undefined,
  down: () => undefined,
  forget: () => undefined,
  retryInMs: () => 0,
  isRefused: () => false,
};

/** Returns true if any candidate could still serve the call: its model was not skipped and its circuit is closed. */
function isAnyReady<Adapter>(
  candidates: readonly Candidate<Adapter>[],
  passedOver: ReadonlySet<Model>,
  { breaker }: Pick<Serving<Adapter, unknown>, "breaker">,
): boolean {
  return candidates.some(
    (candidate) =>
      !passedOver.has(candidate.model) &&
      (candidate.provider.breaker === "off" || breaker.retryInMs(candidate.name) === 0),
  );
}

/**
 * Records a failed call at the breaker. A disconnected client, a stopping worker, an invalid request and a refusal by policy do not count
 * against the source. A call that never reached the provider does not count at all. A missed deadline counts as a failure of the source.
 */
function account(ended: {
  readonly breaker: Pick<Breaker, "record" | "down" | "forget">;
  readonly source: string;
  readonly isProbe: boolean;
  readonly error: unknown;
  readonly signal: AbortSignal;
}): void {
  const { breaker, source, isProbe, error, signal } = ended;
  const forget = (): void => {
    if (isProbe) breaker.forget(source);
  };
  if (signal.aborted) {
    const reason: unknown = signal.reason;
    if (abortReasonOf(reason) === "deadline") breaker.record(source, "failed", isProbe);
    else forget();
  } else if (!(error instanceof ProviderError) || error.kind === "aborted") forget();
  else if (error.kind === "misconfigured") breaker.down(source, isProbe, error.status);
  else if (error.kind === "rejected" && error.isUnsent) forget();
  else if (error.kind === "rejected" || error.kind === "refused") breaker.record(source, "ok", isProbe);
  else breaker.record(source, "failed", isProbe);
}

/**
 * Returns the delay before a retry at the same source, in milliseconds; undefined for no retry. A paid request is repeated only if it was
 * certainly not served. This is certain if the source was busy and sent `retry-after`, or if nothing was sent.
 */
export function retryWaitMs(error: ProviderError, isLast: boolean, random: number = Math.random()): number | undefined {
  if (error.kind === "busy" && error.retryAfterMs !== undefined) {
    return error.retryAfterMs <= PROVIDER_RETRY_HINT_MS ? error.retryAfterMs : undefined;
  }
  // Without `retry-after`, the next source is the better choice; the last source is retried with full jitter.
  const mayRepeat = error.kind === "busy" || error.isUnsent;
  return mayRepeat && isLast ? random * PROVIDER_RETRY_JITTER_MS : undefined;
}

/**
 * HTTP statuses with which a source reports its own failure. 504 is excluded, because the source may continue its work after a gateway's
 * timeout.
 */
const FAILED_ITSELF: ReadonlySet<number> = new Set([500, 502, 503]);

/**
 * Returns the delay before a retry at a failed source, in milliseconds; undefined for no retry. Only a failure that the source itself
 * reported is retried, because a truncated or unreadable answer may have been charged. The source must be in rotation and within its retry
 * budget. Enough time must be left for the next candidate.
 */
function repeatWaitMs(
  { repeats }: Pick<Serving<unknown, unknown>, "repeats">,
  breaker: Pick<Breaker, "retryInMs">,
  { source, error, tookMs }: { readonly source: string; readonly error: ProviderError; readonly tookMs: number },
): number | undefined {
  const hasSaidSo = error.kind === "failed" && FAILED_ITSELF.has(error.status ?? 0);
  if (repeats === undefined || !hasSaidSo || breaker.retryInMs(source) > 0) return undefined;
  const remainingMs = repeats.deadlineMs - commonNow() - PROVIDER_RETRY_JITTER_MS;
  if (2 * tookMs > remainingMs || !repeats.budget.take(source)) return undefined;
  return (0.2 + 0.8 * Math.random()) * PROVIDER_RETRY_JITTER_MS;
}
