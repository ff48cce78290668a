/** What carrying runs on needs. */
import type { NatsConnection } from "nats";

import type { StartContext } from "./start.ts";
import type { RunStore } from "./store.ts";
import type { Turns } from "./turns.ts";

export interface WorkflowContext extends StartContext {
  readonly store: RunStore;
  /** Calls and runs that are read and admitted at once, over all runs of the process. */
  readonly starts: Turns;
  /** Wakes of runs, and what their readers are told. */
  readonly replies: Pick<NatsConnection, "publish" | "isClosed">;
  /** Tells the worker of a job that it is to end. */
  readonly cancel: (jobId: string) => void;
}
