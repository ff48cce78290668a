/**
 * Delivers notices of running workflows to callers that wait for a run or read its stream. Notices are best effort; database rows are
 * authoritative. All followers of a run share its notices and the reads of its rows.
 */
import type { NatsConnection, Subscription } from "nats";

import type { Caller } from "#shared/access/authenticate.ts";
import { ApiError } from "#shared/base/errors.ts";
import type { Logger } from "#shared/base/logger.ts";
import { flushed } from "#shared/queue/connection.ts";
import { runSubject } from "#shared/queue/subjects.ts";
import { JOB_POLL_INTERVAL_MS } from "#ingress/wait/job-waiter.ts";

/**
 * Maximum number of streams of runs and background responses that a process serves per workspace and per key. Each stream may last an hour.
 */
export const RUN_STREAMS_PER_WORKSPACE_MAX = 100;
export const RUN_STREAMS_PER_KEY_MAX = 50;

/** Chunk of a chat step's output. */
export interface RunDelta {
  readonly stepId: string;
  readonly attempt: number;
  readonly index?: number;
  readonly content: string;
}

export interface FollowedRun {
  /**
   * Resolves at the next notice about the run, after `ms` milliseconds, or when `over` aborts. Resolves immediately if a notice has arrived
   * since the previous `wait`.
   * @returns true if a notice reported the run's end
   */
  wait(ms: number, over: AbortSignal): Promise<boolean>;
  /** Removes and returns the output chunks that have arrived. */
  takeDeltas(): readonly RunDelta[];
  /**
   * Resolves when the NATS server has registered the subscription and earlier notices have arrived. Times out soon, because reading the
   * rows suffices while the server is unavailable.
   */
  catchUp(): Promise<void>;
  /**
   * Reads rows of the run. Followers whose last frame is the same share one recent read, unless a notice has arrived since the read began.
   * @param place number of the last frame that the follower has
   * @param read reads the rows; not called if another follower's read is shared
   */
  share<T>(place: number, read: () => Promise<T>): Promise<T>;
  /** Stops following the run; idempotent. */
  close(): void;
}

export interface RunFollower {
  /**
   * Follows a run.
   * @param caller caller for whom the follower counts as a stream. Absent: the follower does not count as a stream
   * @throws ApiError `overloaded` if the caller has too many streams
   */
  follow(runId: string, caller?: Pick<Caller, "keyId" | "workspaceId">): FollowedRun;
  /** Follows a run only until its end. Notices other than the end do not resolve `wait`. */
  awaitEnd(runId: string): FollowedRun;
}

/** Maximum number of buffered output chunks. Dropped chunks are not lost, because the whole output is sent when the step ends. */
const DELTAS_MAX = 1_000;
const CATCH_UP_MS = 250;
const DECODER = new TextDecoder();

interface RunNotice {
  readonly delta?: RunDelta;
  /** False while the run continues. Absent in notices of older workers. */
  readonly is_over?: boolean;
}

interface Read {
  readonly startedAt: number;
  readonly result: Promise<unknown>;
}

interface FollowersOfRun {
  readonly subscription: Subscription;
  /** Functions that receive the run's notices, one per follower. */
  readonly listeners: Set<(notice: RunNotice) => void>;
  /** Reads of rows that followers share, by the number of the frame after which the rows start. */
  readonly reads: Map<number, Read>;
  /** performance.now() time of the last notice. */
  lastNoticeAt: number;
}

export function createRunFollower(connection: Pick<NatsConnection, "subscribe" | "flush">, log: Logger): RunFollower {
  const runs = new Map<string, FollowersOfRun>();
  const streams = openStreamCounts();

  const open = (runId: string): FollowersOfRun => {
    const subscription = connection.subscribe(runSubject(runId), {
      callback: (error, message) => {
        if (error) {
          log.error({ err: error, run_id: runId }, "the subscription to a run failed");
          return;
        }
        const notice = JSON.parse(DECODER.decode(message.data)) as RunNotice;
        run.lastNoticeAt = performance.now();
        for (const notify of run.listeners) notify(notice);
      },
    });
    const run: FollowersOfRun = { subscription, listeners: new Set(), reads: new Map(), lastNoticeAt: 0 };
    runs.set(runId, run);
    return run;
  };

  const followRun = (
    runId: string,
    caller: Pick<Caller, "keyId" | "workspaceId"> | undefined,
    isForEnd: boolean,
  ): FollowedRun => {
    const releaseStream = caller && streams.enter(caller);
    const run = runs.get(runId) ?? open(runId);
    let deltas: RunDelta[] = [];
    let [hasNotice, isEnded] = [false, false];
    let wake: (() => void) | undefined;
    const onNotice = ({ delta, is_over: isOver }: RunNotice): void => {
      if (isForEnd && (delta !== undefined || isOver === false)) return;
      if (delta && deltas.length < DELTAS_MAX) deltas.push(delta);
      hasNotice = true;
      isEnded ||= isOver === true;
      wake?.();
    };
    run.listeners.add(onNotice);
    return {
      async wait(ms, over) {
        if (!hasNotice && !over.aborted) {
          const { promise, resolve } = Promise.withResolvers<void>();
          const end = (): void => resolve();
          wake = end;
          const timer = setTimeout(end, ms);
          over.addEventListener("abort", end);
          await promise;
          clearTimeout(timer);
          // The same signal is awaited once per notice.
          over.removeEventListener("abort", end);
          wake = undefined;
        }
        hasNotice = false;
        return isEnded;
      },
      takeDeltas() {
        const taken = deltas;
        deltas = [];
        return taken;
      },
      catchUp: () => flushed(connection, CATCH_UP_MS),
      share: (place, read) => shared(run, place, read),
      close() {
        releaseStream?.();
        run.listeners.delete(onNotice);
        if (run.listeners.size > 0 || runs.get(runId) !== run) return;
        runs.delete(runId);
        run.subscription.unsubscribe();
      },
    };
  };
  return {
    follow: (runId, caller) => followRun(runId, caller, false),
    awaitEnd: (runId) => followRun(runId, undefined, true),
  };
}

function shared<T>({ reads, lastNoticeAt }: FollowersOfRun, place: number, read: () => Promise<T>): Promise<T> {
  const now = performance.now();
  const since = Math.max(lastNoticeAt, now - JOB_POLL_INTERVAL_MS / 2);
  for (const [key, { startedAt }] of reads) if (startedAt < since) reads.delete(key);
  const known = reads.get(place);
  // All reads from the same place of a run have one type.
  if (known) return known.result as Promise<T>;
  const result = read();
  reads.set(place, { startedAt: now, result });
  // The next follower reads again.
  result.catch(() => reads.delete(place));
  return result;
}

/** Counts the streams that callers are reading. A stream lasts as long as its run, but the rate-limit window counts it only once. */
function openStreamCounts() {
  const counts = new Map<string, number>();
  const change = (by: 1 | -1, { workspaceId, keyId }: Pick<Caller, "keyId" | "workspaceId">): void => {
    for (const id of [workspaceId, keyId]) {
      const count = (counts.get(id) ?? 0) + by;
      if (count === 0) counts.delete(id);
      else counts.set(id, count);
    }
  };
  return {
    /** Counts a stream, and returns the function that stops counting it. @throws ApiError `overloaded` */
    enter(caller: Pick<Caller, "keyId" | "workspaceId">): () => void {
      refuseBeyond("workspace", counts.get(caller.workspaceId), RUN_STREAMS_PER_WORKSPACE_MAX);
      refuseBeyond("key", counts.get(caller.keyId), RUN_STREAMS_PER_KEY_MAX);
      change(1, caller);
      let isReleased = false;
      return () => {
        if (!isReleased) change(-1, caller);
        isReleased = true;
      };
    },
  };
}

function refuseBeyond(whose: "key" | "workspace", open: number | undefined, max: number): void {
  if (open === undefined || open < max) return;
  const message = `The ${whose} has ${open} open streams of runs and background responses, which is the maximum. Close one, or poll with GET.`;
  throw new ApiError("overloaded", message, { headers: { "retry-after": "2" } });
}
