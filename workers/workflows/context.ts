/** Dependencies of the code that executes runs. */
import type { NatsConnection } from "nats";

import type { StartContext } from "./start.ts";
import type { RunStore } from "./store.ts";
import type { RunPermits } from "./permits.ts";

export interface WorkflowContext extends StartContext {
  readonly store: RunStore;
  /** Limits the number of calls and runs that the process reads and admits at once. */
  readonly starts: RunPermits;
  /** Publishes notices of runs, and messages to their readers. */
  readonly replies: Pick<NatsConnection, "publish" | "isClosed">;
  /** Cancels a job at its worker. */
  readonly cancel: (jobId: string) => void;
}
