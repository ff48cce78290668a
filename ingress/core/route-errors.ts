/** Derives the error codes of a route from the acts that the route performs, such as reading JSON or waiting for a job. */
import type { Code } from "#shared/base/errors.ts";

const CODES = {
  reads_json: [
    "invalid_json",
    "invalid_request",
    "missing_required_parameter",
    "unsupported_value",
    "request_timeout",
    "request_too_large",
    "unsupported_media_type",
  ],
  resolves_model: ["model_not_found", "model_not_supported", "model_unavailable"],
  reads_conversation: ["audio_not_supported_by_model", "image_not_supported_by_model", "context_length_exceeded"],
  names_files: ["file_not_found"],
  reads_files: ["file_not_found", "unprocessable_input", "input_unavailable"],
  fetches_addresses: ["unsafe_url"],
  continues_conversation: ["previous_response_not_found", "response_not_found", "service_unavailable"],
  holds: [
    // Of misspelt members that limit the cost or name the models.
    "unknown_parameter",
    "insufficient_credits",
    "budget_reached",
    "key_limit_reached",
    "max_credits_exceeded",
    "daily_tokens_exceeded",
    "internal_error",
    "overloaded",
    "service_unavailable",
  ],
  keeps_files: ["storage_limit_exceeded"],
  /** Error codes of a call that waits for a provider's response. */
  asks_provider: ["upstream_error", "upstream_refused", "upstream_timeout"],
  waits_for_job: ["worker_lost", "job_timeout"],
} as const satisfies Readonly<Record<string, readonly Code[]>>;

export type Act = keyof typeof CODES;

/** Acts of a media call that waits for its result. */
export const MEDIA_CALL: readonly Act[] = [
  "reads_json",
  "resolves_model",
  "holds",
  "keeps_files",
  "asks_provider",
  "waits_for_job",
];

/**
 * Returns the error codes of a route, without the codes of the checks that run before every route. @param more additional codes of this
 * route
 */
export function errorsOf(does: readonly Act[], ...more: readonly Code[]): readonly Code[] {
  return [...new Set<Code>([...does.flatMap((act): readonly Code[] => CODES[act]), ...more])];
}
