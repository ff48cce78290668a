/** Work that tools begin: its end, and its errors as they are told. */
import { ApiError } from "#shared/errors.ts";

import { errorResponse } from "../answers.ts";
import type { ApiClient } from "./api-client.ts";

export interface ShownError {
  readonly code: string;
  readonly message: string;
}

/** Returns the error as the envelope has it. What is not meant for clients goes to the log. */
export async function shownError({ context, call }: ApiClient, error: unknown): Promise<ShownError> {
  return ((await errorResponse(error, context.log, call.requestId).json()) as { error: ShownError }).error;
}

/** The route that ends it. */
export interface WorkEnd {
  readonly operationId: string;
  readonly params: Readonly<Record<string, string>>;
}

/** Safe for work that has ended. */
export async function endWork(api: ApiClient, { operationId, params }: WorkEnd): Promise<void> {
  const { context, call } = api;
  try {
    await api.ask(operationId, { params });
  } catch (error) {
    // It was refused, so there is none.
    if (error instanceof ApiError && error.status === 404) return;
    context.log.warn({ err: error, job_id: call.requestId }, "a call that its client left could not be ended");
  }
}
