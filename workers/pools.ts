/** Table of the pools that answer calls. The pool of workflow runs is in workers/workflows. */
import { availableParallelism } from "node:os";

import type { Config } from "#shared/config/config.ts";
import type { CallPool } from "#shared/queue/subjects.ts";
import { MEDIA_JOBS } from "#workers/providers/media.ts";
import { CAPABILITY_RUN_MS_MAX } from "#shared/calls/capabilities/limits.ts";

import type { WorkerContext } from "./context.ts";
import type { JobHandler } from "./job.ts";
import { createCallHandler } from "./calls/handlers.ts";

interface PoolRow {
  /** Creates the handler for the jobs of the pool. */
  readonly createHandler: (context: WorkerContext) => JobHandler;
  /** Returns the longest duration of a durable job of the pool, in milliseconds. */
  runMs(config: Config): number;
  /** Fraction of the process's slots that the live lane may use. */
  readonly liveShare: number;
  /** Fraction of the process's slots that the batch lane may use, in addition to the live lane, so that neither lane starves. */
  readonly batchShare: number;
  /**
   * Maximum number of jobs that this process executes at the same time; absent if it equals the number of slots. The dispatcher limits
   * dispatched jobs by it.
   */
  readonly capacity?: number;
}

/** Time for storing results, in milliseconds, in addition to the provider's time. */
const KEEPING_MS = 600_000;

/** Handler and slots of media pools. Media jobs keep part of their inputs and results in memory, so fewer of them run concurrently. */
const MEDIA = { createHandler: createCallHandler, liveShare: 1 / 4, batchShare: 1 / 32 };

export const POOL_TABLE: Readonly<Record<CallPool, PoolRow>> = {
  chat: { createHandler: createCallHandler, runMs: (config) => config.calls.totalMs, liveShare: 1, batchShare: 1 / 8 },
  image: { ...MEDIA, runMs: () => MEDIA_JOBS.images.totalMs + KEEPING_MS },
  // Speech, transcription and music.
  audio: { ...MEDIA, runMs: () => MEDIA_JOBS.music.totalMs + KEEPING_MS },
  video: { ...MEDIA, runMs: () => MEDIA_JOBS.video.totalMs + KEEPING_MS },
  "3d": { ...MEDIA, runMs: () => MEDIA_JOBS.mesh.totalMs + KEEPING_MS },
  // More jobs are accepted than execute at once, so that inputs and results of some are transferred while others compute. The queue
  // contains few jobs of one workspace at a time, so that another workspace waits behind no backlog.
  capability: {
    ...MEDIA,
    liveShare: 1 / 8,
    capacity: availableParallelism(),
    runMs: () => CAPABILITY_RUN_MS_MAX + KEEPING_MS,
  },
};
