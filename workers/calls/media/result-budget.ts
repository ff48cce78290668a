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

import { ProviderError } from "../../providers/provider.ts";

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

interface Waiting {
  readonly job: Job;
  readonly bytes: number;
  readonly enter: () => void;
}

export class ResultBudget {
  private readonly limits: BudgetLimits;
  /** Jobs of each workspace that hold or wait, in the order of their coming. */
  private readonly jobs = new Map<string, Set<Job>>();
  private readonly waiting = new Set<Waiting>();
  /** Bytes of all jobs but the one beyond the budget. */
  private held = 0;
  private beyond: Job | undefined;

  constructor(limits: BudgetLimits) {
    this.limits = limits;
  }

  /** Bytes of all jobs. */
  get bytes(): number {
    return this.held + (this.beyond?.bytes ?? 0);
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
    if (signal.aborted) throw aborted(signal);
    const siblings = this.jobs.get(job.owner) ?? new Set();
    this.jobs.set(job.owner, siblings.add(job));
    if (this.mayTake(job, bytes)) this.take(job, bytes);
    else await this.wait(job, bytes, signal);
  }

  private async wait(job: Job, bytes: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const one: Waiting = { job, bytes, enter: resolve };
    this.waiting.add(one);
    job.waits += 1;
    const giveUp = (error: Error): void => {
      if (this.waiting.delete(one)) reject(error);
    };
    const timer = setTimeout(() => giveUp(overloaded()), this.limits.waitMs);
    const onAbort = (): void => giveUp(aborted(signal));
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      job.waits -= 1;
      // One that waited and holds nothing may have been the oldest of its workspace.
      this.forget(job);
      this.next();
    }
  }

  private keep(job: Job, bytes: number): void {
    const given = job.bytes - bytes;
    if (given <= 0) return;
    job.bytes = bytes;
    if (job !== this.beyond) this.held -= given;
    else if (bytes === 0) this.beyond = undefined;
    this.forget(job);
    this.next();
    this.limits.gauge?.set(this.bytes);
  }

  private forget(job: Job): void {
    const siblings = this.jobs.get(job.owner);
    if (job.bytes > 0 || job.waits > 0 || !siblings?.delete(job)) return;
    if (siblings.size === 0) this.jobs.delete(job.owner);
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

  private take(job: Job, bytes: number): void {
    if (job !== this.beyond) {
      if (this.held + bytes <= this.limits.bytesMax) this.held += bytes;
      else {
        this.beyond = job;
        this.held -= job.bytes;
      }
    }
    job.bytes += bytes;
    this.limits.gauge?.set(this.bytes);
  }

  /** In the order of their coming, past those who may not yet. */
  private next(): void {
    for (const one of this.waiting) {
      if (!this.mayTake(one.job, one.bytes)) continue;
      this.waiting.delete(one);
      this.take(one.job, one.bytes);
      one.enter();
    }
  }
}

function overloaded(): ApiError {
  return new ApiError("overloaded", "Too many results are being kept at once; try again shortly.");
}

function aborted(signal: AbortSignal): ProviderError {
  return new ProviderError("aborted", "the call was aborted", { cause: signal.reason });
}
