/** Dependencies of the code that processes batches. */
import type { Publishers } from "#shared/access/authenticate.ts";
import type { Uploads } from "#shared/files/uploads.ts";

import type { IngressContext } from "../../context.ts";

export interface BatchContext extends Pick<
  IngressContext,
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
  /** Uploads of batch output files, which may be larger than callers' own files. */
  readonly uploads: Uploads;
  /**
   * Takes a permit for a call from a batch message or batch line whose media this process stores. Returns the function that releases it;
   * undefined if no permit is free.
   */
  takePermit(workspaceId: string): () => Promise<(() => void) | undefined>;
}
