/** Errors that clients receive while the database or the object store is unavailable. */
import { ApiError } from "#shared/base/errors.ts";

/**
 * Waits for `work` and returns its result.
 * @throws ApiError `service_unavailable` with this message, for every error of `work` that is not an ApiError
 */
export async function unavailable<T>(message: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw new ApiError("service_unavailable", message, { cause: error });
  }
}
