/**
 * Every error a client can see. What a provider's failure means is decided in workers/providers.
 * Source: spec.md "Errors", design.md part 6.
 */

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

/** code → HTTP status and envelope type. Adding a code is adding a row; the documented list is generated from here. */
export const ERROR_CODES = {
  invalid_json: { status: 400, type: "invalid_request_error" },
  invalid_request: { status: 400, type: "invalid_request_error" },
  missing_required_parameter: { status: 400, type: "invalid_request_error" },
  unsupported_value: { status: 400, type: "invalid_request_error" },
  model_not_found: { status: 400, type: "invalid_request_error" },
  model_not_supported: { status: 400, type: "invalid_request_error" },
  audio_not_supported_by_model: { status: 400, type: "invalid_request_error" },
  image_not_supported_by_model: { status: 400, type: "invalid_request_error" },
  edit_not_supported: { status: 400, type: "invalid_request_error" },
  context_length_exceeded: { status: 400, type: "invalid_request_error" },
  // The response that a call goes on from is not stored, or not any more.
  previous_response_not_found: { status: 400, type: "invalid_request_error" },
  unsafe_url: { status: 400, type: "invalid_request_error" },
  invalid_workflow_definition: { status: 400, type: "invalid_request_error" },
  missing_api_key: { status: 401, type: "authentication_error" },
  invalid_api_key: { status: 401, type: "authentication_error" },
  insufficient_credits: { status: 402, type: "quota_exceeded" },
  // No top-up helps: an owner's limit on the period's spend.
  budget_reached: { status: 402, type: "quota_exceeded" },
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
  // A name that is taken, the last owner, a channel that is disabled: the state of things is against it.
  conflict: { status: 409, type: "invalid_request_error" },
  // Another call goes on from it: two at once would have no order.
  conversation_locked: { status: 409, type: "invalid_request_error" },
  idempotency_in_progress: { status: 409, type: "invalid_request_error" },
  upload_in_progress: { status: 409, type: "invalid_request_error" },
  request_too_large: { status: 413, type: "invalid_request_error" },
  unsupported_media_type: { status: 415, type: "invalid_request_error" },
  range_not_satisfiable: { status: 416, type: "invalid_request_error" },
  idempotency_key_reused: { status: 422, type: "invalid_request_error" },
  unprocessable_input: { status: 422, type: "invalid_request_error" },
  // The server at an input's address was down, busy or too slow: the same request can succeed later.
  input_unavailable: { status: 422, type: "invalid_request_error" },
  ip_rate_limit_exceeded: { status: 429, type: "rate_limit_error" },
  internal_error: { status: 500, type: "server_error" },
  // What was made and paid for cannot be read from the store right now; its job has it.
  artifact_unreadable: { status: 500, type: "server_error" },
  // Of a job only: the worker that ran it is gone, and what a provider did for it will never be known.
  worker_lost: { status: 500, type: "server_error" },
  // Every provider of the model lacks a key, or refuses it: the operator of the service has to act. No fault of our own software, which
  // 500 and 503 are: callers who ask for a model that was never set up would raise its alert.
  model_unavailable: { status: 502, type: "server_error" },
  upstream_error: { status: 502, type: "server_error" },
  upstream_refused: { status: 502, type: "server_error" },
  overloaded: { status: 503, type: "server_error" },
  service_unavailable: { status: 503, type: "server_error" },
  // The call outlived its caller's patience, not its own: the job goes on.
  job_timeout: { status: 504, type: "server_error" },
  upstream_timeout: { status: 504, type: "server_error" },
  // The run outlived its caller's patience: it goes on.
  run_timeout: { status: 504, type: "server_error" },
  // Of a run's job only: which step failed, and why, stands in the run.
  run_failed: { status: 500, type: "server_error" },
} as const satisfies Record<string, ErrorCode>;

export type Code = keyof typeof ERROR_CODES;

/** The body of every non-2xx answer: all four keys always present (spec.md "Error envelope"). */
export interface ErrorEnvelope {
  error: { message: string; type: ErrorType; code: Code; param: string | null; job_id?: string };
}

/**
 * An error meant for the client: its message may be shown. Anything else that is thrown becomes `internal_error`
 * with an empty explanation for the client and the whole story in the log.
 */
export class ApiError extends Error {
  readonly code: Code;
  readonly param: string | null;
  /** False tells stock SDKs not to resend (header `x-should-retry`). */
  readonly shouldRetry: boolean | undefined;
  /** Paid work exists under this id. */
  readonly jobId: string | undefined;
  /** Further response headers, such as `allow` or `retry-after`. */
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

/** True for an error that ends the work: the request is at fault, or a setup that no repeat of the request changes. */
export function isRefusal(error: unknown): error is ApiError {
  return error instanceof ApiError && (error.status < 500 || error.code === "model_unavailable");
}

/** Returns the ApiError that a check throws, or none. Other errors are thrown. */
export function apiErrorsOf(check: () => unknown): readonly ApiError[] {
  try {
    check();
    return [];
  } catch (error) {
    if (error instanceof ApiError) return [error];
    throw error;
  }
}

/** Status of a code for a client of Anthropic's API, which answers 404 for a model that it does not know, or for others. */
export function statusOf(code: Code, isAnthropic: boolean): number {
  return isAnthropic && code === "model_not_found" ? 404 : ERROR_CODES[code].status;
}

/** Statuses below 500 that time alone can change: a request that came too slowly, a conflict, too many calls. */
export const PASSING_STATUSES: ReadonlySet<number> = new Set([408, 409, 429]);

/** Returns true if the same request can succeed later without any change. Credits and quotas do not count. */
export function canSucceedLater(code: Code): boolean {
  const { status, type } = ERROR_CODES[code];
  return status >= 500 || PASSING_STATUSES.has(status) || type === "rate_limit_error" || code === "input_unavailable";
}

/** The envelope for a code; `param` names the offending request parameter when there is one. */
export function errorEnvelope(code: Code, message: string, param: string | null = null): ErrorEnvelope {
  return { error: { message, type: ERROR_CODES[code].type, code, param } };
}
