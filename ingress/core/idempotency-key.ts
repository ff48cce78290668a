/** Idempotency key of a call: a repeat with the same key gets the result of the first call. */
import { ApiError } from "#shared/base/errors.ts";

/** Maximum length of an idempotency key, in characters. */
export const IDEMPOTENCY_KEY_CHARS_MAX = 255;

/** Declaration of the `Idempotency-Key` header in the OpenAPI document. */
export const IDEMPOTENCY_KEY = {
  name: "Idempotency-Key",
  description: "Unique key of the request. A repeat with the same key within a day returns the first result.",
  schema: { type: "string", minLength: 1, maxLength: IDEMPOTENCY_KEY_CHARS_MAX },
} as const;

/**
 * Returns the idempotency key of a request; null if the header is absent. Keys with a leading blank are reserved for the service's own jobs
 * (shared/jobs/kept-results.ts).
 * @throws ApiError `invalid_request`
 */
export function idempotencyKeyOf(headers: Headers): string | null {
  const key = headers.get("idempotency-key");
  if (key === null) return null;
  if (key.length <= IDEMPOTENCY_KEY_CHARS_MAX && /^[\x21-\x7e][\x20-\x7e]*$/.test(key)) return key;
  throw new ApiError(
    "invalid_request",
    `Expected an Idempotency-Key of 1 to ${IDEMPOTENCY_KEY_CHARS_MAX} printable ASCII characters.`,
  );
}
