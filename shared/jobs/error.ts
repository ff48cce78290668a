/** Errors as a job's row keeps them: the inside of the envelope. */
import type { JobError } from "#shared/database/jobs.ts";
import { type Code, errorEnvelope } from "#shared/errors.ts";

/** Returns the error without what Postgres cannot keep in jsonb: a message may repeat a caller's own words. */
export function jobError(error: {
  readonly code: Code;
  readonly message: string;
  readonly param?: string | null;
}): JobError {
  return errorEnvelope(error.code, storableText(error.message), error.param == null ? null : storableText(error.param))
    .error;
}

/** Returns a text without what Postgres cannot keep in JSON. */
export function storableText(text: string): string {
  return text.replaceAll("\u0000", "").toWellFormed();
}
