/** Trouble of what jobs stand on: it ends by itself, and a job waits for that. Any other fault comes again with its job. */
import { isDatabaseAway } from "#shared/database/client.ts";
import { ApiError, type Code } from "#shared/errors.ts";
import { isStorageAway } from "#shared/storage/objects.ts";

/** Codes of the file store while it takes nothing, or while another worker still keeps the same result. */
const OF_STORE: ReadonlySet<Code> = new Set(["service_unavailable", "upload_in_progress"]);

export function isOutage(error: unknown): boolean {
  return isDatabaseAway(error) || isStorageAway(error) || (error instanceof ApiError && OF_STORE.has(error.code));
}
