/** Dependencies of the code that carries runs on. */
import type { NatsConnection } from "nats";

import type { StartContext } from "./start.ts";
import type { RunStore } from "./store.ts";
import type { RunPermits } from "./permits.ts";

export interface WorkflowContext extends StartContext {
  readonly store: RunStore;
  /** Calls and runs that are read and admitted at once, over all runs of the process. */
  readonly starts: RunPermits;
  /** Publishes wakes of runs, and the messages to their readers. */
  readonly replies: Pick<NatsConnection, "publish" | "isClosed">;
  /** Tells the worker of a job that it is to end. */
  readonly cancel: (jobId: string) => void;
}
