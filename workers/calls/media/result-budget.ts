/**
 * Bytes of results that the jobs of one pool of a process hold at once, in memory or on the disk, shared fairly among workspaces. A job
 * asks for more as its bytes come; a job that finds no room waits, and its provider with it.
 *
 * Three rules keep the sum bounded, workspaces apart, and every job moving:
 * - A workspace may take as much as it leaves free, so there is always room for one that comes later.
 * - The oldest job of a workspace may take whatever is free, so the jobs of one workspace never all wait for each other.
 * - One oldest job at a time may go beyond the budget and is not counted in it then, so that each comes to its end, even
 *   one that is larger than the budget. All jobs together hold at most the budget and one job.
 */
import { ApiError } from "#shared/errors.ts";
import { FairLimit } from "#shared/fair-limit.ts";

import { aborted } from "../../providers/byte-budget.ts";

/** Bytes that one job holds. */
export interface Holding {
  readonly bytes: number;
  /**
   * Resolves when it holds as many bytes more.
   * @throws ApiError `overloaded` when there was no room for too long, ProviderError `aborted` when the signal fires first
   */
  add(bytes: number, signal: AbortSignal): Promise<void>;
  /** Gives back all bytes beyond this many. Safe to call twice. */
  keep(bytes: number): void;
}

export interface BudgetLimits {
  readonly bytesMax: number;
  /** Longest wait of a job for room, in milliseconds. */
  readonly waitMs: number;
  /** Shows what all jobs hold. */
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
  /** Bounded by what may be taken, since one job may go beyond the budget. */
  private readonly limit: FairLimit<Wanted>;
  /** Jobs of each workspace that hold or wait, in the order of their coming. */
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

  /** Bytes of all jobs. */
  get bytes(): number {
    return this.limit.taken;
  }

  /** For one job, which holds nothing yet. */
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
      // One that waited and holds nothing may have been the oldest of its workspace.
      if (this.forget(job)) this.limit.letIn();
    }
  }

  private keep(job: Job, bytes: number): void {
    const given = job.bytes - bytes;
    if (given <= 0) return;
    job.bytes = bytes;
    if (bytes === 0 && job === this.beyond) this.beyond = undefined;
    this.forget(job);
    this.limit.giveBack(job.owner, given);
    this.limits.gauge?.set(this.bytes);
  }

  /** True if it was known, and is no more. */
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

  /** Bytes of all jobs but the one beyond the budget. */
  private get held(): number {
    return this.limit.taken - (this.beyond?.bytes ?? 0);
  }
}
