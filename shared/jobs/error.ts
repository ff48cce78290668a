/** Errors as a job's row keeps them: the inside of the envelope. */
import type { JobError } from "#shared/database/jobs.ts";
import { type Code, errorEnvelope } from "#shared/errors.ts";

/** What Postgres cannot keep in jsonb (a caller's own words may be repeated in a message) is taken out. */
export function jobError(error: {
  readonly code: Code;
  readonly message: string;
  readonly param?: string | null;
}): JobError {
  return errorEnvelope(error.code, plain(error.message), error.param == null ? null : plain(error.param)).error;
}

function plain(text: string): string {
  return text.replaceAll("\u0000", "").toWellFormed();
}
