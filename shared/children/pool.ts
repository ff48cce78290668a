/**
 * Heavy work in child processes: a few at a time, each job with a deadline, each child with limits on memory and time, so
 * that neither a heartbeat nor a neighbour's job waits for it. A child that crashes or is ended takes one job with it.
 */
import { aborted, Child, type ChildJob, type ChildOptions, type ChildResult } from "./child.ts";
import { MediaError } from "./media-error.ts";

export type { ChildJob, Launch } from "./child.ts";

export interface ChildPoolOptions extends ChildOptions {
  /** Children that wait for work before there is any. */
  readonly spares?: number;
  readonly childrenMax: number;
  /** Jobs that wait beyond those that run; the next one hears `busy`. */
  readonly queueMax: number;
}

export interface ChildPool {
  /** @throws MediaError what the task said, or busy, timeout, aborted, failed */
  run(job: ChildJob): Promise<ChildResult>;
  /** Ends all children at once; their jobs fail. Later jobs start new ones. */
  close(): Promise<void>;
}

interface Waiting {
  readonly job: ChildJob;
  /** It waits no more: the caller's signal is let go, and with it the bytes of the job. */
  readonly leaveQueue: () => void;
  readonly resolve: (result: ChildResult) => void;
  readonly reject: (error: unknown) => void;
}

/** Starts nothing until the first job, but for spares. */
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
      const leaveQueue = (): void => job.signal?.removeEventListener("abort", onAbort);
      const waiting: Waiting = { job, leaveQueue, resolve, reject };
      this.queue.push(waiting);
      job.signal?.addEventListener("abort", onAbort, { once: true });
      this.next();
    });
  }

  async close(): Promise<void> {
    this.isClosed = true;
    for (const { leaveQueue, reject } of this.queue.splice(0)) {
      leaveQueue();
      reject(aborted());
    }
    const ending = [...this.children];
    for (const child of ending) child.end();
    await Promise.all(ending.map((child) => child.ended));
  }

  /** Gives jobs that wait to the children there are or may be. */
  private next(): void {
    for (let [waiting] = this.queue; waiting !== undefined; [waiting] = this.queue) {
      // One that rests keeps what it has loaded, foreign bytes end theirs.
      const { foreign, owner } = waiting.job;
      const child = foreign === true ? (this.start() ?? this.usable(owner)) : (this.usable(owner) ?? this.start());
      if (child === undefined) {
        // It waits for another owner's work: its place is free once it is gone.
        if (this.idle.length > 0 && this.children.size >= this.options.childrenMax) this.idle.shift()?.end();
        return;
      }
      this.queue.shift();
      waiting.leaveQueue();
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
    // Its place is free once it is gone.
    if (!child.isUsable || job.foreign === true) child.end();
    else {
      this.idle.push(child);
      child.rest();
      this.next();
    }
  }

  /** One that has rested for too long is told to end and is idle until it has. */
  private usable(owner: string | undefined): Child | undefined {
    for (const isOwn of [true, false]) {
      const at = this.idle.findLastIndex((child) => child.isUsable && child.owner === (isOwn ? owner : undefined));
      if (at >= 0) return this.idle.splice(at, 1)[0];
    }
    return undefined;
  }

  /** Spares are counted among the children there may be. */
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

  /** Undefined where the system has no room for another process; with none alive, nothing else would answer what waits. */
  private tryStart(): Child | undefined {
    try {
      return new Child(this.options);
    } catch (error) {
      if (this.children.size > 0) return undefined;
      for (const { leaveQueue, reject } of this.queue.splice(0)) {
        leaveQueue();
        reject(new MediaError("failed", "no child process could be started", { cause: error }));
      }
      return undefined;
    }
  }

  /** Waits for a child's end and gives its place to another. */
  private async forget(child: Child): Promise<void> {
    await child.ended;
    this.children.delete(child);
    const at = this.idle.indexOf(child);
    if (at >= 0) this.idle.splice(at, 1);
    this.next();
    // One that ended before it had work would end again.
    if (child.hasWorked) this.topUp();
  }
}
