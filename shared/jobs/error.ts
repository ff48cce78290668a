/** Errors as stored in a job's row: the inner object of the error envelope. */
import type { JobError } from "#shared/database/jobs.ts";
import { type Code, errorEnvelope } from "#shared/base/errors.ts";

/** Returns the error without characters that Postgres cannot store in jsonb: a message may quote a caller's text. */
export function jobError(error: {
  readonly code: Code;
  readonly message: string;
  readonly param?: string | null;
}): JobError {
  return errorEnvelope(error.code, storableText(error.message), error.param == null ? null : storableText(error.param))
    .error;
}

/** Returns a text without characters that Postgres cannot store in JSON. */
export function storableText(text: string): string {
  return text.replaceAll("\u0000", "").toWellFormed();
}
