/** Every error that a client can receive. workers/providers maps provider failures to these codes. */

export type ErrorType =
  | "invalid_request_error"
  | "authentication_error"
  | "permission_error"
  | "quota_exceeded"
  | "rate_limit_error"
  | "server_error";

interface ErrorCode {
  readonly status: number;
  readonly type: ErrorType;
}

/** HTTP status and envelope type of each error code. To add a code, add a row; the documentation is generated from this table. */
export const ERROR_CODES = {
  invalid_json: { status: 400, type: "invalid_request_error" },
  invalid_request: { status: 400, type: "invalid_request_error" },
  missing_required_parameter: { status: 400, type: "invalid_request_error" },
  unknown_parameter: { status: 400, type: "invalid_request_error" },
  unsupported_value: { status: 400, type: "invalid_request_error" },
  model_not_found: { status: 400, type: "invalid_request_error" },
  model_not_supported: { status: 400, type: "invalid_request_error" },
  audio_not_supported_by_model: { status: 400, type: "invalid_request_error" },
  image_not_supported_by_model: { status: 400, type: "invalid_request_error" },
  edit_not_supported: { status: 400, type: "invalid_request_error" },
  context_length_exceeded: { status: 400, type: "invalid_request_error" },
  // The response named by `previous_response_id` is not stored, or has expired.
  previous_response_not_found: { status: 400, type: "invalid_request_error" },
  unsafe_url: { status: 400, type: "invalid_request_error" },
  invalid_workflow_definition: { status: 400, type: "invalid_request_error" },
  missing_api_key: { status: 401, type: "authentication_error" },
  invalid_api_key: { status: 401, type: "authentication_error" },
  insufficient_credits: { status: 402, type: "quota_exceeded" },
  // An owner's limit on spending in the period; a top-up does not help.
  budget_reached: { status: 402, type: "quota_exceeded" },
  // A spend limit of the key, its member, the end user or a tag.
  key_limit_reached: { status: 402, type: "quota_exceeded" },
  // `max_credits` of a call, run, batch or response.
  max_credits_exceeded: { status: 402, type: "quota_exceeded" },
  permission_denied: { status: 403, type: "permission_error" },
  rate_limit_exceeded: { status: 403, type: "rate_limit_error" },
  storage_limit_exceeded: { status: 403, type: "quota_exceeded" },
  daily_tokens_exceeded: { status: 403, type: "quota_exceeded" },
  not_found: { status: 404, type: "invalid_request_error" },
  file_not_found: { status: 404, type: "invalid_request_error" },
  batch_not_found: { status: 404, type: "invalid_request_error" },
  capability_not_found: { status: 404, type: "invalid_request_error" },
  channel_not_found: { status: 404, type: "invalid_request_error" },
  job_not_found: { status: 404, type: "invalid_request_error" },
  response_not_found: { status: 404, type: "invalid_request_error" },
  conversation_not_found: { status: 404, type: "invalid_request_error" },
  run_not_found: { status: 404, type: "invalid_request_error" },
  workflow_not_found: { status: 404, type: "invalid_request_error" },
  method_not_allowed: { status: 405, type: "invalid_request_error" },
  request_timeout: { status: 408, type: "invalid_request_error" },
  // A conflict with the current state: a taken name, the last owner, a disabled channel.
  conflict: { status: 409, type: "invalid_request_error" },
  // Another call continues the same conversation; two concurrent ones would have no order.
  conversation_locked: { status: 409, type: "invalid_request_error" },
  idempotency_in_progress: { status: 409, type: "invalid_request_error" },
  upload_in_progress: { status: 409, type: "invalid_request_error" },
  request_too_large: { status: 413, type: "invalid_request_error" },
  unsupported_media_type: { status: 415, type: "invalid_request_error" },
  range_not_satisfiable: { status: 416, type: "invalid_request_error" },
  idempotency_key_reused: { status: 422, type: "invalid_request_error" },
  unprocessable_input: { status: 422, type: "invalid_request_error" },
  // The server of an input's URL was down, busy or too slow; the same request can succeed later.
  input_unavailable: { status: 422, type: "invalid_request_error" },
  ip_rate_limit_exceeded: { status: 429, type: "rate_limit_error" },
  internal_error: { status: 500, type: "server_error" },
  // The paid result cannot be read from the store right now; its job contains it.
  artifact_unreadable: { status: 500, type: "server_error" },
  // Jobs only: the worker crashed, and the result of the provider's call is unknown.
  worker_lost: { status: 500, type: "server_error" },
  // Every provider of the model lacks a key or rejects it, so the operator must act. Not 500 or 503, which are faults of our software:
  // calls for a model without a key would trigger their alert.
  model_unavailable: { status: 502, type: "server_error" },
  upstream_error: { status: 502, type: "server_error" },
  upstream_refused: { status: 502, type: "server_error" },
  overloaded: { status: 503, type: "server_error" },
  service_unavailable: { status: 503, type: "server_error" },
  // The caller's timeout has passed; the job continues.
  job_timeout: { status: 504, type: "server_error" },
  upstream_timeout: { status: 504, type: "server_error" },
  // The caller's timeout has passed; the run continues.
  run_timeout: { status: 504, type: "server_error" },
  // Jobs of runs only: the run contains the failed step and the reason.
  run_failed: { status: 500, type: "server_error" },
} as const satisfies Record<string, ErrorCode>;

export type Code = keyof typeof ERROR_CODES;

/** Body of every non-2xx response; all four keys are always present. */
export interface ErrorEnvelope {
  error: { message: string; type: ErrorType; code: Code; param: string | null; job_id?: string };
}

/**
 * An error whose message the client receives. Every other thrown error becomes `internal_error`. The client then receives no details; the
 * log contains all of them.
 */
export class ApiError extends Error {
  readonly code: Code;
  readonly param: string | null;
  /** Value of the header `x-should-retry`; false makes stock SDKs stop retrying. */
  readonly shouldRetry: boolean | undefined;
  /** Id of the job that contains paid results of the failed call. */
  readonly jobId: string | undefined;
  /** Additional response headers, such as `allow` or `retry-after`. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: Code,
    message: string,
    options: {
      param?: string | null;
      shouldRetry?: boolean;
      jobId?: string;
      headers?: Readonly<Record<string, string>>;
      cause?: unknown;
    } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "ApiError";
    this.code = code;
    this.param = options.param ?? null;
    this.shouldRetry = options.shouldRetry;
    this.jobId = options.jobId;
    this.headers = options.headers ?? {};
  }

  get status(): number {
    return ERROR_CODES[this.code].status;
  }
}

/** Returns true for an error that a retry cannot fix, because the request or the setup is wrong. */
export function isRefusal(error: unknown): error is ApiError {
  return error instanceof ApiError && (error.status < 500 || error.code === "model_unavailable");
}

/** Runs a check and returns the ApiError that it throws, as a list; an empty list if it throws none. Rethrows other errors. */
export function apiErrorsOf(check: () => unknown): readonly ApiError[] {
  try {
    check();
    return [];
  } catch (error) {
    if (error instanceof ApiError) return [error];
    throw error;
  }
}

/** Returns the HTTP status of an error code. Anthropic's API uses 404 for models that are unknown or not permitted. */
export function statusOf(code: Code, isAnthropic: boolean): number {
  return isAnthropic && code === "model_not_found" ? 404 : ERROR_CODES[code].status;
}

/** HTTP statuses below 500 after which the same request can succeed later: slow request, conflict, too many calls. */
export const PASSING_STATUSES: ReadonlySet<number> = new Set([408, 409, 429]);

/** Returns true if the same request can succeed later without changes. Spent credits and quotas do not count as such errors. */
export function canSucceedLater(code: Code): boolean {
  const { status, type } = ERROR_CODES[code];
  return status >= 500 || PASSING_STATUSES.has(status) || type === "rate_limit_error" || code === "input_unavailable";
}

/** Returns the error envelope of a code. `param` names the invalid request parameter; null if there is none. */
export function errorEnvelope(code: Code, message: string, param: string | null = null): ErrorEnvelope {
  return { error: { message, type: ERROR_CODES[code].type, code, param } };
}
