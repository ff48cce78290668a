/** Faults told in the caller's own words. */
import { ApiError } from "#shared/errors.ts";

/** The same error, about the parameter as the caller knows it. */
export function withParam(error: unknown, paramOf: (param: string) => string): unknown {
  return error instanceof ApiError && error.param !== null ? reworded(error, { param: paramOf(error.param) }) : error;
}

/** Returns the error with another parameter or sentence, and all else that an answer says of it. */
export function reworded(
  error: ApiError,
  { param, message = error.message }: { readonly param: string | null; readonly message?: string },
): ApiError {
  const { code, headers, shouldRetry, jobId } = error;
  return new ApiError(code, message, {
    param,
    headers,
    ...(shouldRetry === undefined ? {} : { shouldRetry }),
    ...(jobId === undefined ? {} : { jobId }),
    cause: error,
  });
}
