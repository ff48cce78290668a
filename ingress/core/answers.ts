/** Response helpers that all routes share: JSON responses, and errors in the error envelope (spec "Error envelope"). */
import { isDatabaseAway, SQL, sqlState } from "#shared/database/client.ts";
import { ApiError, canSucceedLater, errorEnvelope, statusOf } from "#shared/base/errors.ts";
import type { Logger } from "#shared/base/logger.ts";
import type { Fallback } from "#shared/queue/frames.ts";

export const JSON_TYPE = "application/json; charset=utf-8";

export function json(body: unknown, headers: Readonly<Record<string, string>> = {}, status = 200): Response {
  return new Response(JSON.stringify(body), { status, headers: { "content-type": JSON_TYPE, ...headers } });
}

/** Returns response headers with the requested model and the number of fallbacks tried, for results and errors (spec "General rules" 6). */
export function fallbackHeaders(fallback: Fallback | null | undefined): Record<string, string> {
  return fallback ? { "x-fallback-from": fallback.from, "x-fallback-depth": String(fallback.depth) } : {};
}

/** Headers that prevent caching of a response that contains a secret. */
export const NEVER_KEPT = { "cache-control": "no-store" };

/**
 * Returns the error response for any thrown value. Details that are not meant for clients are only logged.
 * @param isAnthropic true for clients of Anthropic's API, which show an error's message only next to `"type": "error"`
 */
export function errorResponse(error: unknown, log: Logger, requestId: string, isAnthropic = false): Response {
  const apiError = asApiError(error, log, requestId);
  const headers: Record<string, string> = { "content-type": JSON_TYPE, ...apiError.headers };
  if (apiError.shouldRetry === false || failsAgain(apiError)) headers["x-should-retry"] = "false";
  const { error: body } = errorEnvelope(apiError.code, apiError.message, apiError.param);
  const envelope = { error: { ...body, ...(apiError.jobId === undefined ? {} : { job_id: apiError.jobId }) } };
  if (!isAnthropic) return new Response(JSON.stringify(envelope), { status: apiError.status, headers });
  const status = statusOf(apiError.code, true);
  const error404 = status === 404 ? { type: "not_found_error" } : {};
  const members = { type: "error", error: { ...envelope.error, ...error404 }, request_id: requestId };
  return new Response(JSON.stringify(members), { status, headers });
}

/**
 * Returns true if a retry of the same call would fail with the same error. The response then has the header `x-should-retry: false`,
 * because some clients retry every failed call.
 */
function failsAgain({ code, headers }: ApiError): boolean {
  return !canSucceedLater(code) && headers["retry-after"] === undefined;
}

/** Converts any thrown value to the error that clients may see. */
export function asApiError(error: unknown, log: Logger, requestId: string): ApiError {
  if (error instanceof ApiError) return error;
  if (isDatabaseAway(error)) {
    log.warn({ err: error, request_id: requestId }, "the database is unavailable");
    return new ApiError("service_unavailable", "The service cannot reach its database right now; try again shortly.");
  }
  // A statement that timed out waiting for a lock has changed nothing.
  if (sqlState(error) === SQL.lockTimeout) {
    log.warn({ err: error, request_id: requestId }, "a database lock timed out");
    return new ApiError("overloaded", "Other requests are changing the same records; try again shortly.");
  }
  log.error({ err: error, request_id: requestId }, "request failed");
  // The progress of the call is unknown, so a blind retry could pay twice.
  return new ApiError("internal_error", "The service failed to handle the request.", { shouldRetry: false });
}
