import { ApiError } from "#shared/errors.ts";

/** What a path is told that there is not, or that is not there for this caller. */
export function unknownPath(): ApiError {
  return new ApiError("not_found", "There is no such path; GET /openapi.json lists those there are.");
}
