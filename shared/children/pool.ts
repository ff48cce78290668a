/**
 * Runs heavy jobs in a few child processes with limits on time and memory, so that heartbeats and other jobs are never delayed. A child
 * that crashes or is ended affects only one job.
 */
import { aborted, Child, type ChildJob, type ChildOptions, type ChildResult } from "./child.ts";
import { MediaError } from "./media-error.ts";

export type { ChildJob, Launch } from "./child.ts";

export interface ChildPoolOptions extends ChildOptions {
  /** Number of idle children that are started in advance. Default: 0. */
  readonly spares?: number;
  readonly childrenMax: number;
  /** Maximum number of waiting jobs. Further jobs fail with `busy`. */
  readonly queueMax: number;
}

export interface ChildPool {
  /** Runs a job in a child as soon as one is free. @throws MediaError of the task, or `busy`, `timeout`, `aborted`, `failed` */
  run(job: ChildJob): Promise<ChildResult>;
  /** Ends all children immediately, so that their jobs fail. Later jobs start new children. */
  close(): Promise<void>;
}

interface Waiting {
  readonly job: ChildJob;
  /**
   * Removes the listener of the caller's abort signal when the job leaves the queue. Otherwise the listener would keep the job's bytes in
   * memory.
   */
  readonly removeAbortListener: () => void;
  readonly resolve: (result: ChildResult) => void;
  readonly reject: (error: unknown) => void;
}

/** Creates a pool of children. Only spares start before the first job. */
export function createChildPool(options: ChildPoolOptions): ChildPool {
  return new Pool(options);
}

class Pool implements ChildPool {
  private readonly options: ChildPoolOptions;
  private readonly queue: Waiting[] = [];
  private readonly idle: Child[] = [];
  private readonly children = new Set<Child>();
  private isClosed = false;

  constructor(options: ChildPoolOptions) {
    this.options = options;
    this.topUp();
  }

  run(job: ChildJob): Promise<ChildResult> {
    if (job.signal?.aborted === true) return Promise.reject(aborted());
    if (this.queue.length >= this.options.queueMax) {
      return Promise.reject(new MediaError("busy", "Too many media jobs are waiting; try again in a moment."));
    }
    return new Promise<ChildResult>((resolve, reject) => {
      const onAbort = (): void => {
        this.queue.splice(this.queue.indexOf(waiting), 1);
        reject(aborted());
      };
      const removeAbortListener = (): void => job.signal?.removeEventListener("abort", onAbort);
      const waiting: Waiting = { job, removeAbortListener, resolve, reject };
      this.queue.push(waiting);
      job.signal?.addEventListener("abort", onAbort, { once: true });
      this.next();
    });
  }

  async close(): Promise<void> {
    this.isClosed = true;
    for (const { removeAbortListener, reject } of this.queue.splice(0)) {
      removeAbortListener();
      reject(aborted());
    }
    const ending = [...this.children];
    for (const child of ending) child.end();
    await Promise.all(ending.map((child) => child.ended));
  }

  /** Assigns waiting jobs to idle or new children. */
  private next(): void {
    for (let [waiting] = this.queue; waiting !== undefined; [waiting] = this.queue) {
      // A job with untrusted bytes prefers a new child: its child ends afterwards, and idle ones keep their loaded code.
      const { foreign, owner } = waiting.job;
      const child = foreign === true ? (this.start() ?? this.usable(owner)) : (this.usable(owner) ?? this.start());
      if (child === undefined) {
        // An idle child of another owner is ended, and makes room for a new one.
        if (this.idle.length > 0 && this.children.size >= this.options.childrenMax) this.idle.shift()?.end();
        return;
      }
      this.queue.shift();
      waiting.removeAbortListener();
      void this.serve(child, waiting);
    }
  }

  private async serve(child: Child, { job, resolve, reject }: Waiting): Promise<void> {
    child.owner = job.owner;
    this.topUp();
    try {
      resolve(await child.run(job));
    } catch (error) {
      reject(error);
    }
    // Its slot is free after its end.
    if (!child.isUsable || job.foreign === true) child.end();
    else {
      this.idle.push(child);
      child.startIdleTimer();
      this.next();
    }
  }

  /**
   * Returns an idle child that can run a job of this owner; undefined if there is none. A child whose idle timeout has passed is ending and
   * is not returned.
   */
  private usable(owner: string | undefined): Child | undefined {
    for (const isOwn of [true, false]) {
      const at = this.idle.findLastIndex((child) => child.isUsable && child.owner === (isOwn ? owner : undefined));
      if (at >= 0) return this.idle.splice(at, 1)[0];
    }
    return undefined;
  }

  /** Starts idle children until `spares` of them are ready for new jobs, within the maximum number of children. */
  private topUp(): void {
    const { spares = 0 } = this.options;
    const fresh = (): number => this.idle.filter((child) => child.owner === undefined && child.isUsable).length;
    if (this.isClosed) return;
    while (fresh() < spares) {
      const child = this.start();
      if (child === undefined) return;
      this.idle.push(child);
    }
  }

  private start(): Child | undefined {
    if (this.children.size >= this.options.childrenMax) return undefined;
    const child = this.tryStart();
    if (child === undefined) return undefined;
    this.children.add(child);
    void this.forget(child);
    return child;
  }

  /**
   * Starts a child. Returns undefined if the system cannot start another process. If no child is alive then, all waiting jobs fail, because
   * they would never run.
   */
  private tryStart(): Child | undefined {
    try {
      return new Child(this.options);
    } catch (error) {
      if (this.children.size > 0) return undefined;
      for (const { removeAbortListener, reject } of this.queue.splice(0)) {
        removeAbortListener();
        reject(new MediaError("failed", "no child process could be started", { cause: error }));
      }
      return undefined;
    }
  }

  /** Waits until a child has ended, removes it, and assigns the next waiting job. */
  private async forget(child: Child): Promise<void> {
    await child.ended;
    this.children.delete(child);
    const at = this.idle.indexOf(child);
    if (at >= 0) this.idle.splice(at, 1);
    this.next();
    // A child that ended before its first job would probably end again.
    if (child.hasWorked) this.topUp();
  }
}
