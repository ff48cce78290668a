/** Faults of our own surroundings, in the client's words: the database or the object store is away. */
import { ApiError } from "#shared/errors.ts";

/** @throws ApiError `service_unavailable` for whatever fails the work that is none yet */
export async function unavailable<T>(message: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw new ApiError("service_unavailable", message, { cause: error });
  }
}
