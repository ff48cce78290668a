/** Rewrites errors about parameters, so that they use the caller's parameter names. */
import { ApiError } from "#shared/base/errors.ts";

/** Returns the error with its parameter renamed by `paramOf`. */
export function withParam(error: unknown, paramOf: (param: string) => string): unknown {
  return error instanceof ApiError && error.param !== null ? reworded(error, { param: paramOf(error.param) }) : error;
}

/** Returns a copy of the error with another parameter or message. Code, status and headers are kept. */
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
