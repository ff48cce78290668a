/**
 * Waits for jobs to end. The process that ends a job writes the database row, then sends a report with or without the result. The row has
 * the authoritative outcome and is also polled. Frames of a running job arrive on the same NATS subject.
 */
import type { NatsConnection } from "nats";

import type { Queryable } from "#shared/database/client.ts";
import { type EndedJob, findJob } from "#shared/database/jobs.ts";
import { newId } from "#shared/base/ids.ts";
import type { Logger } from "#shared/base/logger.ts";
import { flushed } from "#shared/queue/connection.ts";
import { CALLER_GONE, CALLER_LIVES } from "#shared/queue/frames.ts";
import { decodeJobFrame, type JobFrame } from "#shared/queue/job-frames.ts";
import { replyPrefix } from "#shared/queue/subjects.ts";
import { paced } from "#shared/config/pace.ts";

/** Interval at which a waiting caller's job row is polled, in milliseconds. The report of the job's end can be lost. */
export const JOB_POLL_INTERVAL_MS = paced(2_000);

export interface Waiting {
  readonly workspaceId: string;
  readonly jobId: string;
  readonly ms: number;
  /** True if the job cannot have ended yet, so that its row is first read after a report or after the polling interval. */
  readonly isNew?: boolean;
  /**
   * Maximum wait for a job whose output has begun, in milliseconds; used only if it is longer than `ms`. Such output is being streamed and
   * must be complete.
   */
  readonly begunMs?: number;
  /** Signal that aborts when the caller has disconnected. */
  readonly clientSignal: AbortSignal;
  /** Called with each frame of the running job. */
  readonly onFrame?: (frame: JobFrame, data: Uint8Array) => void;
}

export interface JobWaiter {
  /** Returns the NATS subject to which the end of a job is reported to this process. */
  address(jobId: string): string;
  /** Waits for a job and returns it when it has ended or its outcome is unknown. Returns undefined after the timeout or at shutdown. */
  wait(waiting: Waiting): Promise<EndedJob | undefined>;
  /** Ends all calls of `wait`, which then return undefined. The jobs continue. */
  endAll(): void;
  close(): Promise<void>;
}

interface Waited {
  ring: () => void;
  /** True if the end of the job was reported and all earlier frames have been read. */
  hasRung: boolean;
  /** Charge and result from the report of the job's end. Undefined if the job did not succeed or the report did not contain them. */
  reported: { readonly credits: bigint; readonly result: string } | undefined;
  /** True if the first output of the job has arrived. */
  hasBegun: boolean;
  readonly onFrame: Waiting["onFrame"];
}

/** Maximum wait for a flush of the NATS connection, in milliseconds. After a flush, all earlier frames of the job have arrived. */
const SOCKET_READ_MS = 1_000;
const decoder = new TextDecoder();
const RUNNING: ReadonlySet<string> = new Set(["queued", "running"]);

export function openJobWaiter(options: { connection: NatsConnection; database: Queryable; log: Logger }): JobWaiter {
  const { connection, database, log } = options;
  const prefix = replyPrefix(newId());
  const waited = new Map<string, Waited>();
  const ended = new AbortController();
  const subscription = connection.subscribe(`${prefix}.*`, {
    callback: (error, message) => {
      if (error) {
        log.error({ err: error }, "the subscription to jobs failed");
        return;
      }
      const one = waited.get(message.subject.slice(prefix.length + 1));
      // The worker of a stream asks whether its client is still connected.
      if (message.reply) {
        message.respond(one ? CALLER_LIVES : CALLER_GONE);
        return;
      }
      if (!one) return;
      const decoded = decodeJobFrame(message.data);
      if (decoded && decoded.frame.t !== "ended") {
        if (decoded.frame.t === "made") one.hasBegun = true;
        one.onFrame?.(decoded.frame, decoded.data);
        return;
      }
      if (decoded?.frame.t === "ended") {
        one.reported = { credits: BigInt(decoded.frame.nano), result: decoder.decode(decoded.data) };
      }
      one.hasRung = true;
      one.ring();
    },
  });

  const readJob = async (workspaceId: string, jobId: string): Promise<EndedJob | undefined> => {
    try {
      const row = await findJob(database, workspaceId, jobId);
      return row && (!RUNNING.has(row.state) || row.is_unknown) ? row : undefined;
    } catch (error) {
      log.warn({ err: error, job_id: jobId }, "an awaited job could not be looked up");
      return undefined;
    }
  };

  return {
    address: (jobId) => `${prefix}.${jobId}`,
    async wait({ workspaceId, jobId, ms, isNew = false, begunMs = ms, clientSignal, onFrame }) {
      const since = performance.now();
      const over = AbortSignal.any([clientSignal, ended.signal]);
      const own: Waited = { ring: () => undefined, hasRung: false, reported: undefined, hasBegun: false, onFrame };
      waited.set(jobId, own);
      const wake = (): void => own.ring();
      over.addEventListener("abort", wake);
      try {
        for (let mayHaveEnded = !isNew; ; mayHaveEnded = true) {
          // Replaced before the row is read, so that no report in between is missed.
          const { promise: rung, resolve: ring } = Promise.withResolvers<void>();
          own.ring = ring;
          if (own.reported) return endedWell(workspaceId, jobId, own.reported);
          const row = mayHaveEnded ? await readJob(workspaceId, jobId) : undefined;
          if (row) {
            // The row may be visible before earlier frames have arrived. A flush returns after them.
            if (onFrame && !own.hasRung) await Promise.race([rung, flushed(connection, SOCKET_READ_MS)]);
            return row;
          }
          const restMs = since + (own.hasBegun ? Math.max(ms, begunMs) : ms) - performance.now();
          if (restMs <= 0 || over.aborted) return undefined;
          const timer = setTimeout(ring, Math.min(restMs, JOB_POLL_INTERVAL_MS));
          await rung;
          clearTimeout(timer);
        }
      } finally {
        over.removeEventListener("abort", wake);
        if (waited.get(jobId) === own) waited.delete(jobId);
      }
    },
    endAll: () => ended.abort(),
    async close() {
      ended.abort();
      await subscription.drain();
    },
  };
}

function endedWell(workspaceId: string, id: string, reported: NonNullable<Waited["reported"]>): EndedJob {
  const nothing = { is_unknown: false, result_ref: null, error: null, fallback: null };
  return { id, workspace_id: workspaceId, state: "completed", ...reported, ...nothing };
}
