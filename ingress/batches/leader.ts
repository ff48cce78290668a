/** Leads batches in turns, several at once per process. Batches of all processes are led in the order of their waiting time. */
import { leadBatch, leaveBatch } from "#shared/database/batch-work.ts";
import { paced } from "#shared/pace.ts";

import type { BatchContext } from "./context.ts";
import { LEASE_MS, leadTurn } from "./turn.ts";

/** Batches that a process leads at once; each takes some megabytes of memory. */
const TURNS_MAX = 4;
/** Batches of one workspace that all processes lead at once, so that batches of other workspaces get turns. */
const TURNS_PER_WORKSPACE_MAX = 2;

/** Interval of checks for waiting batches. */
const LOOK_MS = paced(1_000);

export interface BatchLeader {
  /** Starts no more turns. Resolves when the current ones have released their batches to other processes. */
  stop(): Promise<void>;
}

export function startBatchLeader(context: BatchContext): BatchLeader {
  const { database, log } = context;
  const stopping = new AbortController();
  const turns = new Set<Promise<void>>();
  let looking: Promise<void> | undefined;

  const take = async (): Promise<void> => {
    while (turns.size < TURNS_MAX && !stopping.signal.aborted) {
      const batch = await leadBatch(database, LEASE_MS, TURNS_PER_WORKSPACE_MAX);
      if (!batch) return;
      const turn = leadTurn(context, batch, stopping.signal)
        .then((waitMs) => (waitMs === undefined ? undefined : leaveBatch(database, batch, waitMs)))
        .catch((error: unknown) =>
          log.warn({ err: error, batch_id: batch.id }, "a batch's lease could not be released; it expires by itself"),
        )
        .finally(() => {
          turns.delete(turn);
          look();
        });
      turns.add(turn);
    }
  };
  const look = (): void => {
    looking ??= take()
      .catch((error: unknown) => log.warn({ err: error }, "searching for batches without a leader failed"))
      .finally(() => (looking = undefined));
  };
  const timer = setInterval(look, LOOK_MS);
  return {
    async stop() {
      clearInterval(timer);
      stopping.abort();
      await looking;
      await Promise.all(turns);
    },
  };
}
