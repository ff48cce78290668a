/** Decides whether an error ends a job that may have been paid for, or the job goes on without this worker. Pure. */
import { isResumed } from "#shared/calls/kinds/kinds.ts";

import { abortReasonOf } from "../../job.ts";
import { ProviderError, type ProviderErrorClass } from "../../providers/provider.ts";

import { isStoreAway } from "./artifacts.ts";

export interface Situation {
  /** Abort reason of the job's signal. */
  readonly reason: unknown;
  readonly kind: string;
  /** It runs there, or has, and can be asked about. */
  readonly isAtProvider: boolean;
  /** A provider's queue has been asked to begin it, and no answer has come. */
  readonly isAsking: boolean;
}

/**
 * Returns the error to throw if the job goes on: at its provider, in another worker, or as one of unknown outcome. Undefined: it
 * has failed.
 */
export function outcomeAfterError(error: unknown, { reason: why, kind, isAtProvider, isAsking }: Situation): unknown {
  if (error instanceof ProviderError && error.kind === "unknown") return error;
  const reason = abortReasonOf(why);
  // What the store cannot take now the provider still has.
  if (isAtProvider && (reason === "shutdown" || isStoreAway(error))) return error;
  const hasNoVerdict = error instanceof ProviderError && error.kind === "aborted";
  if (hasNoVerdict && isAtProvider && reason !== undefined) return unknown(error);
  // A caller that left is billed for nothing; what it cost us is ours. After our own deadline or stop the outcome is unknown.
  const isOpen = isAsking && (reason === "deadline" || reason === "shutdown");
  return isOpen && isResumed(kind) ? unknown(error) : undefined;
}

/** A verdict of one provider that another need not share: of `tryCandidates` the kinds that move a call on. */
export function mayServeElsewhere(error: unknown): error is ProviderError {
  return error instanceof ProviderError && !STAYS.has(error.kind);
}

const STAYS: ReadonlySet<ProviderErrorClass> = new Set(["aborted", "unknown", "rejected", "no_route"]);

function unknown(cause: unknown): ProviderError {
  return new ProviderError("unknown", "paid work may exist that nobody has a verdict on", { cause });
}
