/** Faults told in the caller's own words. */
import { ApiError } from "#shared/errors.ts";

/** The same error, about the parameter as the caller knows it. */
export function withParam(error: unknown, paramOf: (param: string) => string): unknown {
  if (!(error instanceof ApiError) || error.param === null) return error;
  return new ApiError(error.code, error.message, {
    param: paramOf(error.param),
    headers: error.headers,
    ...(error.shouldRetry === undefined ? {} : { shouldRetry: error.shouldRetry }),
    cause: error,
  });
}
