/** Errors of a media job that may have been paid for: whether they end the job, and what its caller and the ledger receive. Pure. */
import { isResumed } from "#shared/calls/kinds/kinds.ts";
import { ApiError } from "#shared/errors.ts";
import type { UsageStatus } from "#shared/ledger/settle.ts";

import { abortReasonOf } from "../../job.ts";
import { ProviderError, type ProviderErrorClass } from "../../providers/provider.ts";

import { isStoreAway } from "./artifacts.ts";
import type { FailureFrame } from "../answer.ts";
import { explainFailure } from "../failure.ts";

export interface Situation {
  /** Abort reason of the job's signal. */
  readonly reason: unknown;
  readonly kind: string;
  /** True when the job runs or has run at a provider and can be polled. */
  readonly isAtProvider: boolean;
  /** True when a start was sent to a provider's queue and its response has not arrived. */
  readonly isAsking: boolean;
}

/**
 * Returns the error to throw if the job continues: at its provider, in another worker, or with an unknown outcome. Returns undefined if it
 * has failed.
 */
export function outcomeAfterError(error: unknown, { reason: why, kind, isAtProvider, isAsking }: Situation): unknown {
  if (error instanceof ProviderError && error.kind === "unknown") return error;
  const reason = abortReasonOf(why);
  // The store is unavailable, but the provider still has the result.
  if (isAtProvider && (reason === "shutdown" || isStoreAway(error))) return error;
  const hasNoVerdict = error instanceof ProviderError && error.kind === "aborted";
  if (hasNoVerdict && isAtProvider && reason !== undefined) return unknown(error);
  // A caller that disconnected is not charged; we bear the cost. After our own deadline or shutdown, the outcome is unknown.
  const isOpen = isAsking && (reason === "deadline" || reason === "shutdown");
  return isOpen && isResumed(kind) ? unknown(error) : undefined;
}

/** True if the error of one provider may not occur at another one: in `tryCandidates`, the kinds that move a call on. */
export function mayServeElsewhere(error: unknown): error is ProviderError {
  return error instanceof ProviderError && !STAYS.has(error.kind);
}

const STAYS: ReadonlySet<ProviderErrorClass> = new Set(["aborted", "unknown", "rejected", "no_route"]);

function unknown(cause: unknown): ProviderError {
  return new ProviderError("unknown", "paid work may exist that nobody has a verdict on", { cause });
}

/** Adapters name an input of a call by its usual parameter; returns the file parameter if the caller sent a stored file. */
export function asSent(param: string | null, request: Readonly<Record<string, unknown>>): string | null {
  if (param === null || param in request) return param;
  const stored = param.replace(/_(?:url|base64)$/, "_file_id");
  return stored in request ? stored : param;
}

/** Returns the failure for the caller. @throws errors of our own, neither a provider's nor the call's; the job may then be handed back */
export function explained(
  error: unknown,
  signal: AbortSignal,
): { readonly failure: FailureFrame; readonly status: UsageStatus } {
  if (error instanceof ApiError) {
    const { code, message, param } = error;
    return { failure: { code, message, param, retry: false }, status: "failed" };
  }
  if (!(error instanceof ProviderError) && !signal.aborted) throw error;
  const failure = explainFailure(error, signal.reason);
  return { failure, status: failure.status };
}

/** Returns the failure when a streamed result was not stored. Our own errors count as failures too, since the job is over. */
export function whyNotKept(error: unknown, signal: AbortSignal): FailureFrame {
  const isNoRoute = error instanceof ProviderError && error.kind === "no_route";
  const isOurs = !(error instanceof ApiError || isNoRoute) && !signal.aborted;
  if (!isOurs) return explained(error, signal).failure;
  return { code: "internal_error", message: "The result could not be stored.", param: null, retry: false };
}
