/** What every call of a media job may answer. */
import type { Code } from "#shared/errors.ts";

export const MEDIA_ERRORS: readonly Code[] = [
  "invalid_json",
  "invalid_request",
  "missing_required_parameter",
  "unsupported_value",
  "model_not_found",
  "model_not_supported",
  "insufficient_credits",
  "storage_limit_exceeded",
  "daily_tokens_exceeded",
  "request_timeout",
  "request_too_large",
  "unsupported_media_type",
  "internal_error",
  "worker_lost",
  "upstream_error",
  "upstream_refused",
  "overloaded",
  "service_unavailable",
  "upstream_timeout",
  "job_timeout",
];

/** Of calls that media may come with. */
export const INPUT_ERRORS: readonly Code[] = ["file_not_found", "unprocessable_input"];
