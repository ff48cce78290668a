/** THE pool table: one row a pool that answers calls. Runs of workflows: workers/workflows. */
import { availableParallelism } from "node:os";

import type { Config } from "#shared/config.ts";
import type { CallPool } from "#shared/queue/subjects.ts";
import { MEDIA_JOBS } from "#workers/providers/media.ts";
import { CAPABILITY_RUN_MS } from "#shared/calls/capabilities/limits.ts";

import type { WorkerContext } from "./context.ts";
import type { JobHandler } from "./job.ts";
import { createCallHandler } from "./calls/handlers.ts";

interface PoolRow {
  /** Makes the handler that does the pool's jobs. */
  readonly createHandler: (context: WorkerContext) => JobHandler;
  /** Returns the longest time that a durable job of the pool may run. */
  runMs(config: Config): number;
  /** Share of the process' slots that the live lane uses. */
  readonly liveShare: number;
  /** Share of the process' slots that the batch lane may use beside the live lane, so neither starves. */
  readonly batchShare: number;
  /** Jobs that are worked on at once, where fewer are than a process takes: what the dispatcher is told of it. */
  readonly capacity?: number;
}

/** Copying what was made, and the store's own trouble, come on top of the provider's time. */
const KEEPING_MS = 600_000;

/** A job holds a part of what it made in memory when it ends, and what came with it before: fewer of them at once. */
const MEDIA = { createHandler: createCallHandler, liveShare: 1 / 4, batchShare: 1 / 32 };

export const POOL_TABLE: Readonly<Record<CallPool, PoolRow>> = {
  chat: { createHandler: createCallHandler, runMs: (config) => config.calls.totalMs, liveShare: 1, batchShare: 1 / 8 },
  image: { ...MEDIA, runMs: () => MEDIA_JOBS.images.totalMs + KEEPING_MS },
  // Speech, transcription and music.
  audio: { ...MEDIA, runMs: () => MEDIA_JOBS.music.totalMs + KEEPING_MS },
  video: { ...MEDIA, runMs: () => MEDIA_JOBS.video.totalMs + KEEPING_MS },
  "3d": { ...MEDIA, runMs: () => MEDIA_JOBS.mesh.totalMs + KEEPING_MS },
  // Runs wait for a core within the worker, so that inputs and results of some move while others compute. Few of one workspace's
  // are on the queue at once, so that the next workspace's are taken behind no backlog.
  capability: {
    ...MEDIA,
    liveShare: 1 / 8,
    capacity: availableParallelism(),
    runMs: () => Math.max(...Object.values(CAPABILITY_RUN_MS)) + KEEPING_MS,
  },
};
