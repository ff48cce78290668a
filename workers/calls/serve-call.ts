/** Sends a call to its providers, in the same way for all kinds: order of candidates, metrics and logs. */
import type { JobMessage } from "#schemas/generated/types.ts";
import { commonNow } from "#shared/base/clock.ts";
import { ApiError } from "#shared/base/errors.ts";
import { attemptFacts, operationOf } from "#shared/tracing/attributes.ts";
import { beginPart, errorName, jobSpan, NO_SPAN, type Span } from "#shared/tracing/tracing.ts";

import type { WorkerContext } from "../context.ts";
import { type Failure, freeFailure } from "../outcome.ts";
import { failureFacts } from "../providers/failure-facts.ts";
import { ProviderError } from "../providers/provider.ts";
import type { Candidate } from "../routing/candidates.ts";
import { type Attempt, type Serving, tryCandidates } from "../routing/try-candidates.ts";
import { startWatchdog, type Watchdog } from "./watchdog.ts";

import { noteAttempt, noteFailedAttempt } from "./failed-attempts.ts";
import { explainFailure, tooLongMessage } from "./failure.ts";

type CallContext = Pick<WorkerContext, "breaker" | "repeats" | "metrics" | "log">;
type CallFacts = Pick<JobMessage, "kind" | "job_id" | "request_id" | "deadline_ms" | "request">;

export interface CallServing<Adapter, Result> extends Pick<
  Serving<Adapter, Result>,
  "candidates" | "from" | "signal" | "enter" | "attempt"
> {
  /**
   * Returns true if the client has received a chunk of the answer. Absent for kinds of calls that send no chunk before the answer is
   * complete.
   */
  readonly hasBegun?: () => boolean;
  /**
   * True if a call with a single source may be sent to it again after a failure. Never true for calls that may already have been paid for.
   */
  readonly mayRepeat: boolean;
  /** Value of the `mode` label in the metric of provider latency. */
  readonly mode: "complete" | "stream" | "embed" | "plain";
  /**
   * Returns the time at which the request was sent to the provider, from `performance.now()`; undefined if none was sent. If this function
   * is absent, the start of the attempt is used.
   */
  readonly askedAt?: () => number | undefined;
}

/**
 * Serves a call by trying its candidates in order.
 * @throws the errors of `tryCandidates`
 */
export function serveCall<Adapter, Result>(
  context: CallContext,
  job: CallFacts,
  serving: CallServing<Adapter, Result>,
): Promise<Result> {
  const { mayRepeat, mode, hasBegun = () => false, askedAt, attempt, ...to } = serving;
  let attempts = 0;
  return tryCandidates<Adapter, Result>({
    ...to,
    hasBegun,
    breaker: context.breaker,
    ...(mayRepeat ? { repeats: { budget: context.repeats, deadlineMs: job.deadline_ms } } : {}),
    onFailure: ({ candidate }, error, next) => reportFailure(context, job, candidate, error, next),
    async attempt(current) {
      const { source, model } = current.candidate;
      const startedAt = performance.now();
      attempts += 1;
      noteAttempt(job);
      const span = openSpan(job, current, attempts);
      try {
        const result = await attempt(current);
        span.end();
        return result;
      } catch (error) {
        span.end(errorName(error));
        noteFailedAttempt(job, { source: current.candidate.name, error, signal: serving.signal, startedAt });
        throw error;
      } finally {
        const since = askedAt ? askedAt() : startedAt;
        if (since !== undefined) {
          const seconds = (performance.now() - since) / 1_000;
          context.metrics.providerSeconds.observe(seconds, source.provider, model.slug, mode);
        }
      }
    },
  });
}

function openSpan(job: CallFacts, { candidate, depth }: Attempt<unknown>, attempt: number): Span {
  const parent = jobSpan(job.job_id);
  if (parent.traceparent === undefined) return NO_SPAN;
  const { source, model } = candidate;
  const { kind, request } = job;
  const facts = { kind, provider: source.provider, model: model.slug, sourceModel: source.model, attempt, request };
  const name = `${operationOf(kind)} ${model.slug}`;
  return beginPart(parent, name, "client", attemptFacts({ ...facts, fallbackDepth: depth }));
}

/** Returns the error for a model that was removed from the catalogue, or lost all its sources, after admission. */
export function modelGone(): ApiError {
  return new ApiError("model_unavailable", "The model is no longer available.", { param: "model", shouldRetry: false });
}

/**
 * Counts and logs an error of a provider.
 * @param next next step of the call after the error, for the log
 */
export function reportFailure(
  { metrics, log }: Pick<CallContext, "metrics" | "log">,
  { job_id: jobId, request_id: requestId }: Pick<CallFacts, "job_id" | "request_id">,
  { source, provider, name }: Pick<Candidate<unknown>, "source" | "provider" | "name">,
  error: ProviderError,
  next: string,
): void {
  metrics.providerErrors.inc(source.provider, error.kind);
  log.warn(
    { request_id: requestId, job_id: jobId, source: name, next, ...failureFacts(error) },
    "provider call failed",
  );
  const { kind, status } = error;
  if (kind !== "misconfigured" || (status !== 401 && status !== 403)) return;
  metrics.providerKeyRefusals.inc(source.provider);
  // Logs the name of the variable that contains the key, never the key.
  log.error({ source: name, status, setting: provider.api_key_env ?? null }, "a provider rejects our API key");
}

/** Returns a watchdog with a single timeout: from now until the deadline of the call. */
export function watchCall({ deadline_ms: deadlineMs }: Pick<CallFacts, "deadline_ms">, signal: AbortSignal): Watchdog {
  const totalMs = Math.max(1, deadlineMs - commonNow());
  return startWatchdog({ totalMs, firstByteMs: totalMs, stallMs: totalMs }, signal);
}

/**
 * Returns the failure of a call that no source has served. The caller is not charged, unless a kind of call requires it.
 * @throws `error` if it is an internal error that callers must not receive
 */
export function failedCall(
  { metrics, log }: Pick<CallContext, "metrics" | "log">,
  { kind, api, request_id: requestId, model: from }: Pick<JobMessage, "api" | "kind" | "request_id" | "model">,
  error: unknown,
  signal: AbortSignal,
  last: Attempt<unknown> | undefined,
): Failure {
  const fallback = last && last.depth > 0 ? { fallback: { from, depth: last.depth } } : {};
  if (error instanceof ApiError && !signal.aborted) {
    const { code, message, param, shouldRetry } = error;
    return freeFailure({ code, message, param, retry: shouldRetry !== false, ...fallback }, last?.candidate.name);
  }
  const isOurs = signal.aborted || (error instanceof ProviderError && error.kind === "no_route");
  if (!isOurs && !(error instanceof ProviderError)) throw error;
  const explained = explainFailure(error, signal.reason);
  const isTooLong = api === "anthropic" && explained.code === "context_length_exceeded";
  const detail = error instanceof ProviderError ? error.detail : "";
  const failure = isTooLong
    ? { ...explained, message: tooLongMessage(detail, last?.candidate.model.max_context_tokens) }
    : explained;
  const source = last?.candidate.name ?? null;
  // Provider errors were counted and logged when they occurred.
  if (isOurs) {
    metrics.providerErrors.inc(last?.candidate.source.provider ?? "none", failure.kind);
    log.warn({ request_id: requestId, call: kind, source, kind: failure.kind }, "call failed");
  }
  return { status: failure.status, source, charge: undefined, failure: { ...failure, ...fallback } };
}
