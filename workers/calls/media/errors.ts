/** Errors of a media job that may have been paid for: whether it ends by one, and what its caller and the ledger are told. Pure. */
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

/** Adapters name media of a call by its usual member; it may have come as a stored file. */
export function asSent(param: string | null, request: Readonly<Record<string, unknown>>): string | null {
  if (param === null || param in request) return param;
  const stored = param.replace(/_(?:url|base64)$/, "_file_id");
  return stored in request ? stored : param;
}

/** @throws what is neither a provider's word nor ours: our own trouble, in which the job may be handed back */
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

/** Why what was made, and has been heard, is not kept: our own trouble too, since the job is over. */
export function whyNotKept(error: unknown, signal: AbortSignal): FailureFrame {
  const isNoRoute = error instanceof ProviderError && error.kind === "no_route";
  const isOurs = !(error instanceof ApiError || isNoRoute) && !signal.aborted;
  if (!isOurs) return explained(error, signal).failure;
  return { code: "internal_error", message: "The result could not be stored.", param: null, retry: false };
}
