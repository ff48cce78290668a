/** Why nothing was made, in the caller's words and in the ledger's. */
import { ApiError } from "#shared/errors.ts";
import type { UsageStatus } from "#shared/ledger/settle.ts";

import type { FailureFrame } from "../answer.ts";
import { ProviderError } from "../../providers/provider.ts";

import { explainFailure } from "../failure.ts";

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
  return { code: "internal_error", message: "What was made could not be kept.", param: null, retry: false };
}
