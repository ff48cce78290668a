/** Dependencies of those who work on batches. */
import type { Publishers } from "#shared/access/authenticate.ts";
import type { Uploads } from "#shared/files/uploads.ts";

import type { IngressContext } from "../context.ts";

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
  | "offered"
  | "probes"
  | "responses"
  | "storage"
> {
  readonly publishers: Publishers;
  /** Uploads of the files that batches write, which may be larger than callers' own. */
  readonly uploads: Uploads;
  /** A place among the heavy calls that this process stores for messages and lines; undefined: there is none now. */
  takePermit(workspaceId: string): () => Promise<(() => void) | undefined>;
}
