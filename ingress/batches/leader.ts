/** Leads batches in turns, as many at once as a process has room for. Batches of all processes take turns by how long they waited. */
import { leadBatch, leaveBatch } from "#shared/database/batch-work.ts";
import { paced } from "#shared/pace.ts";

import type { BatchContext } from "./context.ts";
import { LEASE_MS, leadTurn } from "./turn.ts";

/** Batches that a process leads at once; each has some megabytes in hand. */
const TURNS_MAX = 4;
/** Batches of one workspace that are led at once, by all processes: others have their turns. */
const TURNS_PER_WORKSPACE_MAX = 2;

/** Batches that wait are looked for this often. */
const LOOK_MS = paced(1_000);

export interface BatchLeader {
  /** Begins no more turns; resolves when those under way have left what they lead to others. */
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
          log.warn({ err: error, batch_id: batch.id }, "a batch is left when its lease is over"),
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
      .catch((error: unknown) => log.warn({ err: error }, "batches could not be looked for"))
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
