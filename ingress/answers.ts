/** Answers every route gives: JSON, and errors in the envelope (spec "Error envelope"). */
import { isDatabaseAway, SQL, sqlState } from "#shared/database/client.ts";
import { ApiError, canSucceedLater, errorEnvelope, statusOf } from "#shared/errors.ts";
import type { Logger } from "#shared/logger.ts";
import type { Fallback } from "#shared/queue/frames.ts";

export const JSON_TYPE = "application/json; charset=utf-8";

export function json(body: unknown, headers: Readonly<Record<string, string>> = {}, status = 200): Response {
  return new Response(JSON.stringify(body), { status, headers: { "content-type": JSON_TYPE, ...headers } });
}

/** Headers with the model asked for and the fallbacks that were tried, of answers and of errors alike (spec "General rules" 6). */
export function fallbackHeaders(fallback: Fallback | null | undefined): Record<string, string> {
  return fallback ? { "x-fallback-from": fallback.from, "x-fallback-depth": String(fallback.depth) } : {};
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
  if (shown.shouldRetry === false || failsAgain(shown)) headers["x-should-retry"] = "false";
  const { error: body } = errorEnvelope(shown.code, shown.message, shown.param);
  const envelope = { error: { ...body, ...(shown.jobId === undefined ? {} : { job_id: shown.jobId }) } };
  if (!isAnthropic) return new Response(JSON.stringify(envelope), { status: shown.status, headers });
  const status = statusOf(shown.code, true);
  const error404 = status === 404 ? { type: "not_found_error" } : {};
  const members = { type: "error", error: { ...envelope.error, ...error404 }, request_id: requestId };
  return new Response(JSON.stringify(members), { status, headers });
}

/** True for an error that the same call meets again: some clients repeat every call that fails, whatever its status. */
function failsAgain({ code, headers }: ApiError): boolean {
  return !canSucceedLater(code) && headers["retry-after"] === undefined;
}

/** The error as clients may hear it. */
export function asApiError(error: unknown, log: Logger, requestId: string): ApiError {
  if (error instanceof ApiError) return error;
  if (isDatabaseAway(error)) {
    log.warn({ err: error, request_id: requestId }, "the database could not be asked");
    return new ApiError("service_unavailable", "The service cannot reach its database right now; try again shortly.");
  }
  // A statement that got no lock in time has changed nothing.
  if (sqlState(error) === SQL.lockTimeout) {
    log.warn({ err: error, request_id: requestId }, "a lock was not to be had");
    return new ApiError("overloaded", "Other requests are changing the same records; try again shortly.");
  }
  log.error({ err: error, request_id: requestId }, "request failed");
  // How far the call came is unknown, so a blind resend could pay twice.
  return new ApiError("internal_error", "The service failed to handle the request.", { shouldRetry: false });
}
