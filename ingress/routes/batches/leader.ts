/**
 * Schedules batches: a process leads each batch for a limited time (a turn), and several batches at once. The batch that has waited
 * longest, across all processes, is next.
 */
import {
  type BatchLine,
  dropLines,
  finalizeBatch,
  findEnded,
  keepLeading,
  leadBatch,
  releaseBatch,
  reloadBatch,
  runningLines,
  Superseded,
  takeLines,
} from "#shared/database/batch-work.ts";
import type { BatchEnd, BatchRow } from "#shared/database/batches.ts";
import { failpoint } from "#shared/base/failpoint.ts";
import { paced } from "#shared/config/pace.ts";

import { WINDOW_RETRY_MAX_MS } from "../../nats-intake/intake.ts";
import { cancelJobOrRun } from "../media/jobs.ts";
import type { BatchContext } from "./context.ts";
import { type BatchFault, endLed } from "./end.ts";
import { feedLines, forgetHeldByOthers } from "./feed.ts";
import { Parts } from "./parts.ts";
import { targetOf } from "./read-line.ts";
import { endedRecord, type LineRecord, refusedRecord, unrunRecord } from "./records.ts";
import { validateBatch } from "./validate.ts";
import { discardParts, isFull, writeFiles } from "./write-files.ts";

/** Maximum number of batches that a process leads at once. Each takes some megabytes of memory. */
const TURNS_MAX = 4;
/** Maximum number of batches of one workspace that are led at once in all processes. It leaves capacity for other workspaces. */
const TURNS_PER_WORKSPACE_MAX = 2;

/** Interval of checks for waiting batches, in milliseconds. */
const POLL_INTERVAL_MS = paced(1_000);

interface BatchLeader {
  /** Starts no more turns. Resolves when the current turns have released their batches to other processes. */
  stop(): Promise<void>;
}

export function startBatchLeader(context: BatchContext): BatchLeader {
  const { database, log } = context;
  const stopping = new AbortController();
  const turns = new Set<Promise<void>>();
  let polling: Promise<void> | undefined;

  const take = async (): Promise<void> => {
    while (turns.size < TURNS_MAX && !stopping.signal.aborted) {
      const batch = await leadBatch(database, LEASE_MS, TURNS_PER_WORKSPACE_MAX);
      if (!batch) return;
      const turn = leadTurn(context, batch, stopping.signal)
        .then((waitMs) => (waitMs === undefined ? undefined : releaseBatch(database, batch, waitMs)))
        .catch((error: unknown) =>
          log.warn({ err: error, batch_id: batch.id }, "a batch's lease could not be released; it expires by itself"),
        )
        .finally(() => {
          turns.delete(turn);
          poll();
        });
      turns.add(turn);
    }
  };
  const poll = (): void => {
    polling ??= take()
      .catch((error: unknown) => log.warn({ err: error }, "searching for batches without a leader failed"))
      .finally(() => (polling = undefined));
  };
  const timer = setInterval(poll, POLL_INTERVAL_MS);
  return {
    async stop() {
      clearInterval(timer);
      stopping.abort();
      await polling;
      await Promise.all(turns);
    },
  };
}

// One turn of a batch: this process leads the batch for a while, feeds its lines, collects ended ones, and writes the files after the last.
// All state is in rows, so any process can lead the next turn.

/** Lease duration of a batch's leader, and the interval at which the lease is renewed, in milliseconds. */
const LEASE_MS = paced(30_000);
const BEAT_MS = paced(8_000);

/** Maximum length of a turn, in milliseconds. After it, the process can lead a batch that waits. */
const TURN_MS = 20_000;

/** Maximum number of running lines per batch. It is enough to fill a workspace's share of the queue. */
const UNDER_WAY_MAX = 200;
const TAKE_MAX = 64;

/** Maximum number of lines that one step ends without running them. */
const UNRUN_MAX = 500;

/** Interval of polling for ended jobs in milliseconds, number of jobs read per poll, and number read concurrently. */
const POLL_MS = 200;
const GATHER_MAX = 64;
const GATHER_AT_ONCE = 4;
const CANCEL_AT_ONCE = 8;

/**
 * Minimum and maximum time for which records are collected before they are stored as a part, in milliseconds. Between them, the time is a
 * hundredth of the batch's age.
 */
const STORE_MIN_MS = 500;
const STORE_MAX_MS = 30_000;

/**
 * Time for which an ending batch waits for its running lines, in milliseconds. Results that arrive later are stored only in their jobs, not
 * in the batch's output files.
 */
const ENDING_MS = paced(600_000);

/**
 * Number of consecutive turns with a crashed leader and no progress after which the batch fails, because the batch may cause the crashes.
 */
const TURNS_LOST_MAX = 5;

/** Delays before the next turn, in milliseconds: after an internal error, and after a lack of storage for the output files. */
const RETRY_MS = paced(2_000);
const FULL_RETRY_MS = paced(60_000);
/** Time after which a batch without storage for its output files ends without them, in milliseconds. */
const FULL_MAX_MS = 24 * 3_600_000;

interface LineUnderWay extends BatchLine {
  isAdmitted: boolean;
  /** True when the line's record has been added to a part of the output or error file. */
  isGathered: boolean;
  isCancelled: boolean;
  /** True when the line's result could not be read. The batch's next turn reads it again. */
  isUnread: boolean;
}

function underWay(line: BatchLine, isAdmitted = false): LineUnderWay {
  return { ...line, isAdmitted, isGathered: false, isCancelled: false, isUnread: false };
}

/** Leads one turn of a batch. @returns milliseconds until the next turn; undefined if the batch has ended or another process leads it */
async function leadTurn(context: BatchContext, batch: BatchRow, stopping: AbortSignal): Promise<number | undefined> {
  const turn = new Turn(context, batch, stopping);
  const beat = setInterval(() => void turn.keepLeading(), BEAT_MS);
  try {
    return await turn.run();
  } catch (error) {
    if (error instanceof Superseded) return undefined;
    context.log.warn({ err: error, batch_id: batch.id }, "a batch could not be continued; it is retried");
    return isFull(error) ? FULL_RETRY_MS : RETRY_MS;
  } finally {
    clearInterval(beat);
  }
}

class Turn {
  private readonly context: BatchContext;
  private readonly stopping: AbortSignal;
  private readonly lines = new Map<number, LineUnderWay>();
  private readonly parts: Parts;
  private batch: BatchRow;
  private isLed = true;
  /** Value of performance.now() before which no line is admitted. */
  private feedAt = 0;
  private areAllTaken = false;

  constructor(context: BatchContext, batch: BatchRow, stopping: AbortSignal) {
    this.context = context;
    this.batch = batch;
    this.stopping = stopping;
    this.parts = new Parts(context, batch, (numbers) => {
      for (const number of numbers) this.lines.delete(number);
    });
  }

  async keepLeading(): Promise<void> {
    const { database, log } = this.context;
    try {
      this.isLed = await keepLeading(database, this.batch, LEASE_MS);
    } catch (error) {
      log.warn({ err: error, batch_id: this.batch.id }, "a batch's lease could not be renewed");
    }
  }

  async run(): Promise<number | undefined> {
    const { context, lines } = this;
    if (this.batch.turns_lost >= TURNS_LOST_MAX) return this.giveUp();
    await this.reloadBatch();
    if (this.batch.state === "validating" && !(await this.validate())) return this.isLed ? 0 : undefined;
    await forgetHeldByOthers(context, this.batch);
    for (const { is_admitted: isAdmitted, ...line } of await runningLines(context.database, this.batch.id)) {
      lines.set(line.number, underWay(line, isAdmitted));
    }
    const until = performance.now() + TURN_MS;
    for (;;) {
      const { ends_as: end } = await this.reloadBatch();
      const isBusy = end === null || end === "completed" ? await this.feed() : await this.drain(end);
      await this.gather(end);
      const isFinished = this.areAllTaken && lines.size === 0;
      if (isFinished) return await this.end();
      const waitMs = Math.max(0, this.feedAt - performance.now());
      const isIdle = waitMs > TURN_MS / 10 && ![...lines.values()].some((line) => line.isAdmitted);
      const isOver = performance.now() > until || this.stopping.aborted || isIdle;
      // Nothing more arrives soon: storing the records now ends the lines sooner.
      const isLast = this.areAllTaken && [...lines.values()].every((line) => line.isGathered);
      await this.parts.storeOlder(isOver || isLast ? 0 : this.storeWithinMs());
      if (isOver) return isIdle ? waitMs : 0;
      if (!isBusy && !isLast) await Bun.sleep(POLL_MS);
    }
  }

  /** Reads the batch's row again. @throws Superseded when another process leads the batch */
  private async reloadBatch(): Promise<BatchRow> {
    const batch = this.isLed ? await reloadBatch(this.context.database, this.batch) : undefined;
    if (!batch) throw new Superseded();
    this.batch = batch;
    return batch;
  }

  private validate(): Promise<boolean> {
    const { context, batch } = this;
    const target = targetOf(batch.endpoint);
    if (!target) throw new Error(`a batch has the endpoint ${batch.endpoint}`);
    return validateBatch(context, batch, target, () => this.isLed && !this.stopping.aborted);
  }

  private storeWithinMs(): number {
    const ageMs = Date.now() - (this.batch.in_progress_at ?? this.batch.created_at).getTime();
    return Math.min(STORE_MAX_MS, Math.max(STORE_MIN_MS, ageMs / 100));
  }

  /**
   * Reads further lines and admits lines that have no job yet. @returns true if every waiting line was admitted or refused, so that further
   * lines can be read at once
   */
  private async feed(): Promise<boolean> {
    const { context, batch, lines } = this;
    if (performance.now() < this.feedAt) return false;
    if (!this.areAllTaken && lines.size <= UNDER_WAY_MAX - TAKE_MAX) {
      const taken = await takeLines(context.database, batch, TAKE_MAX);
      if (!taken) return false;
      failpoint("batch.taken");
      this.areAllTaken = taken.length < TAKE_MAX;
      for (const line of taken) {
        lines.set(line.number, underWay(line));
      }
    }
    const waiting = [...lines.values()].filter((line) => !line.isAdmitted && !line.isGathered);
    const target = targetOf(batch.endpoint);
    if (waiting.length === 0 || !target) return false;
    const othersRun = lines.size > waiting.length;
    const waitMs = await feedLines(context, waiting, {
      batch,
      target,
      othersRun,
      onFed: async (line, fed) => {
        const own = lines.get(line.number);
        if (!own) return;
        if (fed.kind === "admitted") own.isAdmitted = true;
        if (fed.kind !== "refused") return;
        own.isGathered = true;
        await this.parts.add(refusedRecord(line, fed.error));
      },
    });
    this.feedAt = performance.now() + Math.min(waitMs, WINDOW_RETRY_MAX_MS);
    return waitMs === 0;
  }

  /** Ends lines that have not started, and cancels running lines. @returns true if there may be further lines to end */
  private async drain(end: Exclude<BatchEnd, "completed">): Promise<boolean> {
    const { context, batch, lines } = this;
    // The batch ends during validation.
    if (batch.in_progress_at === null) {
      await dropLines(context.database, batch);
      this.areAllTaken = true;
      return false;
    }
    const taken = this.areAllTaken ? [] : await takeLines(context.database, batch, UNRUN_MAX);
    if (!taken) return false;
    this.areAllTaken ||= taken.length < UNRUN_MAX;
    for (const line of taken) {
      lines.set(line.number, underWay(line));
    }
    const isOver = batch.ends_at !== null && Date.now() - batch.ends_at.getTime() > ENDING_MS;
    for (const line of lines.values()) {
      if (line.isGathered) continue;
      if (!line.isAdmitted || isOver) {
        line.isGathered = true;
        await this.parts.add(unrunRecord(line, end));
      }
    }
    await this.cancel([...lines.values()].filter((line) => !line.isGathered && !line.isCancelled));
    await this.parts.storeOlder(0);
    return !this.areAllTaken;
  }

  private async cancel(lines: readonly LineUnderWay[]): Promise<void> {
    const { context, batch } = this;
    for (let from = 0; from < lines.length; from += CANCEL_AT_ONCE) {
      const some = lines.slice(from, from + CANCEL_AT_ONCE);
      await Promise.all(
        some.map(({ job_id: id }) => cancelJobOrRun(context, { id, workspace_id: batch.workspace_id })),
      );
      for (const line of some) line.isCancelled = true;
    }
  }

  /** Reads the results of ended lines, and adds a record of each line to a part of the output or error file. */
  private async gather(end: BatchEnd | null): Promise<void> {
    const { context, lines } = this;
    const byJob = new Map([...lines.values()].filter((line) => line.isAdmitted && !line.isGathered && !line.isUnread).map((line) => [line.job_id, line])); // prettier-ignore
    if (byJob.size === 0) return;
    const ended = await findEnded(context.database, [...byJob.keys()], GATHER_MAX);
    const found = ended.flatMap((id) => byJob.get(id) ?? []);
    for (let from = 0; from < found.length; from += GATHER_AT_ONCE) {
      const some = found.slice(from, from + GATHER_AT_ONCE);
      const records = await Promise.all(some.map((line) => this.recordOf(line, end)));
      for (const [at, record] of records.entries()) {
        const line = some[at];
        if (!line || !record) continue;
        line.isGathered = true;
        await this.parts.add(record);
      }
      // After a failure of the object store, the other results are read in the next turn.
      if (records.includes(undefined)) return;
    }
  }

  /** Returns the record of an ended line. Returns undefined if the result cannot currently be read, so that other lines continue. */
  private async recordOf(line: LineUnderWay, end: BatchEnd | null): Promise<LineRecord | undefined> {
    const { context, batch } = this;
    try {
      return await endedRecord(context, batch.workspace_id, line, end);
    } catch (error) {
      line.isUnread = true;
      context.log.warn(
        { err: error, batch_id: batch.id, job_id: line.job_id },
        "the result of a batch line could not be read; it is retried",
      );
      return undefined;
    }
  }

  /** Fails a batch whose leaders crash repeatedly. Running lines are cancelled; records of ended lines remain readable. */
  private async giveUp(): Promise<undefined> {
    const { context, batch } = this;
    const { database, log } = context;
    const message = "The batch failed: every attempt to process it ended with an error.";
    const fault: BatchFault = { code: "internal_error", message, param: null, line: null };
    const lines = await runningLines(database, batch.id);
    if (batch.in_progress_at === null) await dropLines(database, batch);
    await endLed(context, batch, { state: "failed", faults: [fault] });
    log.error(
      { batch_id: batch.id, workspace_id: batch.workspace_id },
      "a batch failed after the loss of all its leaders",
    );
    await this.cancel(lines.filter((line) => line.is_admitted).map((line) => underWay(line)));
    return undefined;
  }

  /** Writes the output files and ends the batch, after its last line has ended. */
  private async end(): Promise<number | undefined> {
    const { context } = this;
    const { database, log } = context;
    if (this.batch.ends_as === null) await finalizeBatch(database, this.batch);
    const batch = await reloadBatch(database, this.batch);
    if (!batch?.ends_as) throw new Superseded();
    const { id, workspace_id, total, completed, failed } = batch;
    try {
      const files = await writeFiles(context, batch);
      await endLed(context, batch, { state: batch.ends_as, ...files });
      await discardParts(context, id, this.stopping);
    } catch (error) {
      const isTooLate = batch.ends_at !== null && Date.now() - batch.ends_at.getTime() > FULL_MAX_MS;
      if (!isFull(error) || !isTooLate) throw error;
      const message =
        "The result files of the batch exceeded the workspace's storage limit for a day. Read its lines one by one.";
      const fault: BatchFault = { code: "storage_limit_exceeded", message, param: null, line: null };
      await endLed(context, batch, { state: "failed", faults: [fault] });
    }
    log.info({ batch_id: id, workspace_id, state: batch.ends_as, total, completed, failed }, "batch ended");
    return undefined;
  }
}
