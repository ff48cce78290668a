/** Dependencies of the code that processes batches. */
import type { Publishers } from "#shared/access/authenticate.ts";
import type { Uploads } from "#shared/files/uploads.ts";

import type { IngressContext } from "../../context.ts";

export interface BatchContext extends Pick<
  IngressContext,
  | "bodyKeeper"
  | "calls"
  | "cancel"
  | "catalogue"
  | "config"
  | "connection"
  | "database"
  | "dispatcher"
  | "jobs"
  | "log"
  | "metrics"
  | "availableCapabilities"
  | "probes"
  | "responses"
  | "storage"
> {
  readonly publishers: Publishers;
  /** Uploads the output files of batches, which may be larger than files that callers upload. */
  readonly uploads: Uploads;
  /**
   * Returns a function that takes a permit to store the media of one call from a batch message or batch line. That function returns another
   * one, which releases the permit; undefined if no permit is free.
   */
  takePermit(workspaceId: string): () => Promise<(() => void) | undefined>;
}
