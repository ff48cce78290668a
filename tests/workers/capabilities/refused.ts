/** Text of a refusal, for tests. */
import { ApiError } from "#shared/base/errors.ts";
import { MediaError } from "#shared/children/media-error.ts";

/** Fault or code with its param, and message. @throws what is no refusal; Error when nothing was refused */
export async function refused(work: Promise<unknown>): Promise<string> {
  const error = await work.then(() => undefined, (fault: unknown) => fault); // prettier-ignore
  if (error instanceof MediaError) return `${error.fault}: ${error.message}`;
  if (error instanceof ApiError) return `${error.code} ${error.param}: ${error.message}`;
  throw error ?? new Error("it was not refused");
}
