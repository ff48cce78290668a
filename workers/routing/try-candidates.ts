/**
 * One implementation of retries, sources and fallback chains for every kind of call: candidates are tried in
 * order until one serves. Only the provider's own failures move a call on; once a client has seen something, nothing
 * does.
 */
import { sleep } from "#shared/abortable.ts";
import type { Model } from "#shared/calls/model.ts";
import { commonNow } from "#shared/clock.ts";

import { abortReasonOf } from "../job.ts";
import { ProviderError, type ProviderErrorClass } from "../providers/provider.ts";

import type { Breaker } from "./breaker.ts";
import type { RepeatBudget } from "./repeat-budget.ts";
import type { Candidate } from "./candidates.ts";

/** A busy source is asked again when it says it will be free within this; else the next one is. */
export const PROVIDER_RETRY_HINT_MS = 2_000;

/** Full jitter of the one retry that has no hint. */
export const PROVIDER_RETRY_JITTER_MS = 500;

export interface Attempt<Adapter> {
  readonly candidate: Candidate<Adapter>;
  /** Fallback models tried so far, this one included; 0 while the model asked for is tried. */
  readonly depth: number;
  /** No candidate comes after this one. */
  readonly isLast: boolean;
  /** To be told when the source has begun to answer: a long stream must not keep its source in doubt until its end. */
  readonly onBegun: () => void;
  /** To be told when it is not known whether the source took the call, and that is to be found out: it counts as failed at once. */
  readonly onDoubt: () => void;
}

export interface Serving<Adapter, Result> {
  readonly candidates: readonly Candidate<Adapter>[];
  /** Progress of the call before: the model of its hold (absent: of none of these candidates), its depth in the chain, its last failure. */
  readonly from?: { readonly model?: Model; readonly depth: number; readonly error: ProviderError };
  readonly breaker: Pick<Breaker, "admit" | "record" | "down" | "forget" | "retryInMs" | "isRefused">;
  /** Budget for asking the same source once more when it fails; absent for calls that may have been paid for. */
  readonly repeats?: { readonly budget: RepeatBudget; readonly deadlineMs: number };
  /** Ends the call whatever is being tried: its client left, its deadline passed, we are stopping. */
  readonly signal: AbortSignal;
  /** Before the first candidate of a fallback: re-prices and moves the hold. False: this model cannot take the call. */
  enter(model: Model): Promise<boolean>;
  /** @throws ProviderError, anything else ends the call */
  attempt(attempt: Attempt<Adapter>): Promise<Result>;
  /** A piece has reached the client: a failure from here on is final. */
  hasBegun(): boolean;
  /** For logs and metrics. `next`: what becomes of the call. */
  onFailure(attempt: Attempt<Adapter>, error: ProviderError, next: "retried" | "moved" | "ended"): void;
}

/**
 * @throws ProviderError of the last candidate that failed, of the first one where all who were asked refused the request;
 * ProviderError `no_route` when no source could be asked; whatever else an attempt throws
 */
export async function tryCandidates<Adapter, Result>(serving: Serving<Adapter, Result>): Promise<Result> {
  const { candidates, signal } = serving;
  let depth = serving.from?.depth ?? 0;
  const first = candidates[0]?.isFallback === false ? candidates[0].model : undefined;
  let entered = serving.from ? serving.from.model : first;
  /** Models that cannot take this call. */
  const passedOver = new Set<Model>();
  const failures = serving.from ? [serving.from.error] : [];
  let hasRepeated = false;
  /** The circuit of a source that would have been asked first is open: the one that stands in may know less. */
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
      // The client left, or the deadline came, before a source was asked (again).
      if (isProbe) breaker.forget(candidate.name);
      throw failures.at(-1) ?? new ProviderError("aborted", "the call ended before its source was asked");
    }
    // Who stands in for a source that failed may know less than it; the client asked for that one.
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
        // Only a larger model can take what is too long for this one.
        if (isTooLong) for (const model of notLarger(candidates, candidate.model)) passedOver.add(model);
        const mayMove = isTooLong && candidates.slice(at + 1).some(({ model }) => !passedOver.has(model));
        const isFirstWord = error.kind === "rejected" && !isStandIn && !mayMove;
        if (serving.hasBegun() || ENDS_A_CALL.has(error.kind) || isFirstWord) {
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
  const told = failures.every(isRefusal) ? failures[0] : failures.at(-1);
  if (told !== undefined) throw told;
  const open = candidates.filter(({ name }) => serving.breaker.retryInMs(name) > 0);
  const retryAfterMs = open.length === 0 ? 0 : Math.min(...open.map(({ name }) => serving.breaker.retryInMs(name)));
  const isSetup = open.length > 0 && open.every(({ name }) => serving.breaker.isRefused(name));
  throw new ProviderError("no_route", "no source is in rotation", { retryAfterMs, isSetup });
}

function isRefusal({ kind }: ProviderError): boolean {
  return kind === "refused" || kind === "rejected";
}

/** Models that read no more than this one, which is among them. */
function notLarger(candidates: readonly Candidate<unknown>[], { max_context_tokens: most }: Model): Model[] {
  return candidates.map(({ model }) => model).filter((model) => !(model.max_context_tokens > most));
}

function siblingsOf<Adapter>(candidates: readonly Candidate<Adapter>[], model: Model): readonly Candidate<Adapter>[] {
  return candidates.filter((candidate) => candidate.model === model);
}

/** Failures that end a call: what may have been paid for is not begun a second time. */
const ENDS_A_CALL: ReadonlySet<ProviderErrorClass> = new Set(["aborted", "unknown"]);

/** Returns true if the candidate's model takes the call. A probe that is not used is given back. */
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

/** Another candidate could still serve: neither passed over nor open. */
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
 * Tells the breaker what a failed call says of its source. A client that left, our own stop, a bad request and a refusal by policy do
 * not speak against it; a call that never reached the provider says nothing. The call's deadline is the source's failure.
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
 * Returns the wait before the same source is asked once more; undefined: it is not. A paid request is repeated only
 * where it definitely was not served: the source was busy and says when to come back, or nothing was sent.
 */
export function retryWaitMs(error: ProviderError, isLast: boolean, random: number = Math.random()): number | undefined {
  if (error.kind === "busy" && error.retryAfterMs !== undefined) {
    return error.retryAfterMs <= PROVIDER_RETRY_HINT_MS ? error.retryAfterMs : undefined;
  }
  // Without a hint the next source is the better guess; the last one is asked again, with full jitter.
  const mayRepeat = error.kind === "busy" || error.isUnsent;
  return mayRepeat && isLast ? random * PROVIDER_RETRY_JITTER_MS : undefined;
}

/** A 504, or another of a gateway before the source, may stand for work that goes on behind it. */
const FAILED_ITSELF: ReadonlySet<number> = new Set([500, 502, 503]);

/**
 * Returns the wait before a source that failed is asked once more; undefined: it is not. Only one that said so itself is asked: an
 * answer that broke off or cannot be read may have been paid for. It must be in rotation and within its budget, and as much
 * time must be left for the next candidate as the repeat may take.
 */
function repeatWaitMs(
  { repeats }: Pick<Serving<unknown, unknown>, "repeats">,
  breaker: Pick<Breaker, "retryInMs">,
  { source, error, tookMs }: { readonly source: string; readonly error: ProviderError; readonly tookMs: number },
): number | undefined {
  const hasSaidSo = error.kind === "failed" && FAILED_ITSELF.has(error.status ?? 0);
  if (repeats === undefined || !hasSaidSo || breaker.retryInMs(source) > 0) return undefined;
  const leftMs = repeats.deadlineMs - commonNow() - PROVIDER_RETRY_JITTER_MS;
  if (2 * tookMs > leftMs || !repeats.budget.take(source)) return undefined;
  return (0.2 + 0.8 * Math.random()) * PROVIDER_RETRY_JITTER_MS;
}
