/** THE pool table: one row a pool. */
import type { Pool } from "#shared/queue/subjects.ts";

import type { WorkerContext } from "./context.ts";
import type { JobHandler } from "./job.ts";
import { createChatHandler } from "./pools/chat.ts";

interface PoolRow {
  /** What a job of the pool does. */
  createHandler(context: WorkerContext): JobHandler;
  /** Share of the process' slots that the batch lane may use beside the live lane, so neither starves. */
  readonly batchShare: number;
}

export const POOL_TABLE: Readonly<Record<Pool, PoolRow>> = {
  chat: { createHandler: createChatHandler, batchShare: 1 / 8 },
};
