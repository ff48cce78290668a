/**
 * Budget for the bytes of results that all jobs of one pool in a process hold at once, in memory or on disk. It is shared fairly among
 * workspaces. A job requests more bytes as its result arrives. A job without capacity waits, and reading from its provider waits too.
 *
 * Three rules limit the sum, separate workspaces and let every job finish:
 * - A workspace may take as much as it leaves free, so a later workspace always finds capacity.
 * - The oldest job of a workspace may take any free bytes, so the jobs of one workspace never all wait for each other.
 * - One oldest job at a time may exceed the budget and is then not counted. Every job can therefore finish, even one that is larger than
 *   the budget.
 * All jobs together hold at most the budget plus one job.
 */
import { ApiError } from "#shared/base/errors.ts";
import { FairLimit } from "#shared/limits/fair-limit.ts";

import { aborted } from "../../providers/byte-budget.ts";

/** Bytes of the budget that one job has reserved. */
export interface Holding {
  readonly bytes: number;
  /**
   * Reserves further bytes. Resolves as soon as the bytes are reserved.
   * @throws ApiError `overloaded` if there was no capacity for too long; ProviderError `aborted` if the signal aborts first
   */
  add(bytes: number, signal: AbortSignal): Promise<void>;
  /** Releases all reserved bytes above this number. Idempotent. */
  keep(bytes: number): void;
}

export interface BudgetLimits {
  readonly bytesMax: number;
  /** Maximum time that a job waits for capacity, in milliseconds. */
  readonly waitMs: number;
  /** Metric of the bytes that all jobs have reserved. */
  readonly gauge?: { set(bytes: number): void };
}

interface Job extends Holding {
  readonly owner: string;
  bytes: number;
  waits: number;
}

interface Wanted {
  readonly owner: string;
  readonly amount: number;
  readonly job: Job;
}

export class ResultBudget {
  private readonly limits: BudgetLimits;
  /**
   * Fair limit over the workspaces. It has no fixed maximum, because one job may exceed the budget. The function `mayTake` decides instead.
   */
  private readonly limit: FairLimit<Wanted>;
  /** Jobs of each workspace that have bytes or wait for them, oldest first. */
  private readonly jobs = new Map<string, Set<Job>>();
  private beyond: Job | undefined;

  constructor(limits: BudgetLimits) {
    this.limits = limits;
    this.limit = new FairLimit<Wanted>({
      max: Infinity,
      mayTake: ({ job, amount }) => this.mayTake(job, amount),
      onTake: ({ job, amount }) => this.onTake(job, amount),
      waitMs: limits.waitMs,
      refusal: () => new ApiError("overloaded", "Too many results are being stored at once; try again shortly."),
      gone: aborted,
    });
  }

  /** Bytes that all jobs have reserved. */
  get bytes(): number {
    return this.limit.taken;
  }

  /** Creates the budget account of one job. The job has no reserved bytes at first. */
  open(workspaceId: string): Holding {
    const job: Job = {
      owner: workspaceId,
      bytes: 0,
      waits: 0,
      add: (bytes, signal) => this.add(job, bytes, signal),
      keep: (bytes) => this.keep(job, bytes),
    };
    return job;
  }

  private async add(job: Job, bytes: number, signal: AbortSignal): Promise<void> {
    if (bytes <= 0) return;
    const { owner } = job;
    const siblings = this.jobs.get(owner) ?? new Set();
    this.jobs.set(owner, siblings.add(job));
    job.waits += 1;
    try {
      await this.limit.take({ owner, amount: bytes, job }, signal);
    } finally {
      job.waits -= 1;
      // A job that waited and holds nothing may have been the oldest of its workspace.
      if (this.forget(job)) this.limit.letIn();
    }
  }

  private keep(job: Job, bytes: number): void {
    const releasedBytes = job.bytes - bytes;
    if (releasedBytes <= 0) return;
    job.bytes = bytes;
    if (bytes === 0 && job === this.beyond) this.beyond = undefined;
    this.forget(job);
    this.limit.giveBack(job.owner, releasedBytes);
    this.limits.gauge?.set(this.bytes);
  }

  /** Removes a job that has no bytes and does not wait. Returns true if the job was registered. */
  private forget(job: Job): boolean {
    const siblings = this.jobs.get(job.owner);
    if (job.bytes > 0 || job.waits > 0 || !siblings?.delete(job)) return false;
    if (siblings.size === 0) this.jobs.delete(job.owner);
    return true;
  }

  private mayTake(job: Job, bytes: number): boolean {
    if (job === this.beyond) return true;
    const siblings = this.jobs.get(job.owner) ?? new Set();
    const free = this.limits.bytesMax - this.held - bytes;
    const [oldest] = siblings;
    if (job === oldest) return free >= 0 || this.beyond === undefined;
    let own = bytes;
    for (const one of siblings) if (one !== this.beyond) own += one.bytes;
    return own <= free;
  }

  private onTake(job: Job, bytes: number): void {
    if (job !== this.beyond && this.held > this.limits.bytesMax) this.beyond = job;
    job.bytes += bytes;
    this.limits.gauge?.set(this.bytes);
  }

  /** Bytes that all jobs have reserved, except the job that exceeds the budget. */
  private get held(): number {
    return this.limit.taken - (this.beyond?.bytes ?? 0);
  }
}
