/** Answers every route gives: JSON, and errors in the envelope (spec "Error envelope"). */
import { isDatabaseAway, SQL, sqlState } from "#shared/database/client.ts";
import { ApiError, errorEnvelope } from "#shared/errors.ts";
import type { Logger } from "#shared/logger.ts";

export const JSON_TYPE = "application/json; charset=utf-8";

export function json(body: unknown, headers: Readonly<Record<string, string>> = {}, status = 200): Response {
  return new Response(JSON.stringify(body), { status, headers: { "content-type": JSON_TYPE, ...headers } });
}

/** Headers of an answer that shows a secret. */
export const NEVER_KEPT = { "cache-control": "no-store" };

/**
 * Anything thrown → the envelope. What is not meant for clients is told to the log only.
 * @param isAnthropic whether the caller's client is one of Anthropic's API: those show the sentence of an error only when
 *   `"type": "error"` stands beside it
 */
export function errorResponse(error: unknown, log: Logger, requestId: string, isAnthropic = false): Response {
  const shown = asApiError(error, log, requestId);
  const headers: Record<string, string> = { "content-type": JSON_TYPE, ...shown.headers };
  if (shown.shouldRetry === false) headers["x-should-retry"] = "false";
  const { error: body } = errorEnvelope(shown.code, shown.message, shown.param);
  const envelope = { error: { ...body, ...(shown.jobId === undefined ? {} : { job_id: shown.jobId }) } };
  const members = isAnthropic ? { type: "error", ...envelope, request_id: requestId } : envelope;
  return new Response(JSON.stringify(members), {
    status: shown.status,
    headers,
  });
}

/** The error as clients may hear it. */
export function asApiError(error: unknown, log: Logger, requestId: string): ApiError {
  if (error instanceof ApiError) return error;
  if (isDatabaseAway(error)) {
    log.warn({ err: error, request_id: requestId }, "the database could not be asked");
    return new ApiError("service_unavailable", "The service cannot reach its records right now; try again shortly.");
  }
  // A statement that got no lock in time has changed nothing.
  if (sqlState(error) === SQL.lockTimeout) {
    log.warn({ err: error, request_id: requestId }, "a lock was not to be had");
    return new ApiError("overloaded", "Others change the same records right now; try again shortly.");
  }
  log.error({ err: error, request_id: requestId }, "request failed");
  // How far the call came is unknown, so a blind resend could pay twice.
  return new ApiError("internal_error", "The service failed to handle the request.", { shouldRetry: false });
}
