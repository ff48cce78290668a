import { ApiError } from "#shared/errors.ts";

/** Returns the error for a path that does not exist, or not for this caller. */
export function unknownPath(): ApiError {
  return new ApiError("not_found", "There is no such path; GET /openapi.json lists those there are.");
}
