/** Cancels runs that tools have started, and presents their errors. */
import { ApiError } from "#shared/base/errors.ts";

import { errorResponse } from "../core/answers.ts";
import type { ApiClient } from "./api-client.ts";

export interface ErrorBody {
  readonly code: string;
  readonly message: string;
}

/** Converts an error into the format of the HTTP API. Details that are not meant for clients are only logged. */
export async function errorBodyOf({ context, call }: ApiClient, error: unknown): Promise<ErrorBody> {
  return ((await errorResponse(error, context.log, call.requestId).json()) as { error: ErrorBody }).error;
}

/** Route and parameters that cancel a run. */
export interface WorkEnd {
  readonly operationId: string;
  readonly params: Readonly<Record<string, string>>;
}

/** Cancels a run; idempotent. */
export async function endWork(api: ApiClient, { operationId, params }: WorkEnd): Promise<void> {
  const { context, call } = api;
  try {
    await api.ask(operationId, { params });
  } catch (error) {
    // The work was refused, so there is nothing to cancel.
    if (error instanceof ApiError && error.status === 404) return;
    context.log.warn({ err: error, job_id: call.requestId }, "a call whose client disconnected could not be cancelled");
  }
}
