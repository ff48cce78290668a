/**
 * Heavy work in child processes: a few at a time, each job with a deadline, each child with limits on memory and time, so
 * that neither a heartbeat nor a neighbour's job waits for it. A child that crashes or is ended takes one job with it.
 */
import { readFileSync } from "node:fs";

import { encodeFrame, readFrames, type ChildFrame } from "./frames.ts";
import { isMediaFault, MediaError } from "./media-error.ts";

export interface ChildPoolOptions {
  /** The child's script; it calls `serveTasks`. */
  readonly script: string;
  readonly args?: readonly string[];
  /** Asked for each child. */
  readonly launch?: () => Launch;
  /** Children that wait for work before there is any. */
  readonly spares?: number;
  readonly childrenMax: number;
  /** Jobs that wait beyond those that run; the next one hears `busy`. */
  readonly queueMax: number;
  /** From the moment a child has the job; a job may have its own. */
  readonly jobMs: number;
  /** A child without work ends after this long. */
  readonly idleMs: number;
  /** Infinity for programs that start under no such bound. */
  readonly addressSpaceBytes: number;
  /** A job whose child grows beyond this is ended; looked at every `watchMs`, where the system tells it. */
  readonly memoryBytesMax: number;
  readonly watchMs: number;
  /** Processor time of a child's whole life: the net under a child that has lost its parent within a job. */
  readonly processorSeconds: number;
  /** A child is replaced after this many jobs, or when a job left it larger than this: what leaks in it stays small. */
  readonly jobsMax: number;
  readonly residentBytesMax: number;
  readonly environment: Readonly<Record<string, string>>;
}

/** The environment in which one child runs. */
export interface Launch {
  /** Stands before the command: what takes rights from the child and then becomes it. */
  readonly launcher: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Brings a job's folder to the child. Returns what takes it back, once the job has ended. */
  enter(folder: string): () => void;
  /** The child has ended. */
  close(): Promise<void>;
}

export interface ChildJob {
  readonly task: string;
  readonly input: unknown;
  readonly parts?: readonly Uint8Array[];
  readonly signal?: AbortSignal | undefined;
  /** Folder with the job's files. */
  readonly folder?: string;
  /** For tasks that send pieces before their result. */
  readonly onChunk?: (chunk: Uint8Array) => void;
  /** Foreign bytes go through a decoder: the child is not used again after it. */
  readonly foreign?: boolean;
  /** For jobs that take longer than the pool's usual ones. */
  readonly jobMs?: number;
  /** A child that has worked for one owner works for no other. */
  readonly owner?: string;
}

export interface ChildResult {
  readonly output: unknown;
  readonly parts: readonly Uint8Array[];
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
  const queue: Waiting[] = [];
  const idle: Child[] = [];
  const children = new Set<Child>();
  let isClosed = false;

  function next(): void {
    for (let [waiting] = queue; waiting !== undefined; [waiting] = queue) {
      // One that rests keeps what it has loaded, foreign bytes end theirs.
      const { foreign, owner } = waiting.job;
      const child = foreign === true ? (started() ?? usable(owner)) : (usable(owner) ?? started());
      if (child === undefined) {
        // It waits for another owner's work: its place is free once it is gone.
        if (idle.length > 0 && children.size >= options.childrenMax) idle.shift()?.end();
        return;
      }
      queue.shift();
      waiting.leaveQueue();
      void serve(child, waiting);
    }
  }

  /** One that has rested for too long is told to end and is idle until it has. */
  function usable(owner: string | undefined): Child | undefined {
    for (const isOwn of [true, false]) {
      const at = idle.findLastIndex((child) => child.isUsable() && child.owner === (isOwn ? owner : undefined));
      if (at >= 0) return idle.splice(at, 1)[0];
    }
    return undefined;
  }

  /** Spares are counted among the children there may be. */
  function topUp(): void {
    const { spares = 0 } = options;
    const fresh = (): number => idle.filter((child) => child.owner === undefined && child.isUsable()).length;
    if (isClosed) return;
    while (fresh() < spares) {
      const child = started();
      if (child === undefined) return;
      idle.push(child);
    }
  }

  function started(): Child | undefined {
    if (children.size >= options.childrenMax) return undefined;
    const child = tryStart();
    if (child === undefined) return undefined;
    children.add(child);
    void forget(child);
    return child;
  }

  /** Undefined where the system has no room for another process; with none alive, nothing else would answer what waits. */
  function tryStart(): Child | undefined {
    try {
      return startChild(options);
    } catch (error) {
      if (children.size > 0) return undefined;
      for (const { leaveQueue, reject } of queue.splice(0)) {
        leaveQueue();
        reject(new MediaError("failed", "no child process could be started", { cause: error }));
      }
      return undefined;
    }
  }

  async function forget(child: Child): Promise<void> {
    await child.ended;
    children.delete(child);
    const at = idle.indexOf(child);
    if (at >= 0) idle.splice(at, 1);
    next();
    // One that ended before it had work would end again.
    if (child.hasWorked()) topUp();
  }

  async function serve(child: Child, { job, resolve, reject }: Waiting): Promise<void> {
    child.owner = job.owner;
    topUp();
    try {
      resolve(await child.run(job));
    } catch (error) {
      reject(error);
    }
    // Its place is free once it is gone.
    if (!child.isUsable() || job.foreign === true) child.end();
    else {
      idle.push(child);
      child.rest();
      next();
    }
  }

  function run(job: ChildJob): Promise<ChildResult> {
    if (job.signal?.aborted === true) return Promise.reject(aborted());
    if (queue.length >= options.queueMax) {
      return Promise.reject(new MediaError("busy", "Too many media jobs are waiting; try again in a moment."));
    }
    return new Promise<ChildResult>((resolve, reject) => {
      const onAbort = (): void => {
        queue.splice(queue.indexOf(waiting), 1);
        reject(aborted());
      };
      const leaveQueue = (): void => job.signal?.removeEventListener("abort", onAbort);
      const waiting: Waiting = { job, leaveQueue, resolve, reject };
      queue.push(waiting);
      job.signal?.addEventListener("abort", onAbort, { once: true });
      next();
    });
  }

  topUp();
  return {
    run,
    close: async () => {
      isClosed = true;
      for (const { leaveQueue, reject } of queue.splice(0)) {
        leaveQueue();
        reject(aborted());
      }
      const ending = [...children];
      for (const child of ending) child.end();
      await Promise.all(ending.map((child) => child.ended));
    },
  };
}

interface Child {
  readonly ended: Promise<void>;
  /** Owner of the last job, if it had one; undefined before the first job. */
  owner: string | undefined;
  run(job: ChildJob): Promise<ChildResult>;
  isUsable(): boolean;
  hasWorked(): boolean;
  /** Counts down to its end unless it gets work. */
  rest(): void;
  end(): void;
}

function startChild(options: ChildPoolOptions): Child {
  const { args = [] } = options;
  const launch = options.launch?.();
  const process_ = Bun.spawn(
    [...(launch?.launcher ?? []), ...limits(options), process.execPath, options.script, ...args],
    {
      stdin: "pipe",
      stdout: "pipe",
      // Decoders grumble about every damaged file; what matters of it comes as an error.
      stderr: "ignore",
      env: { ...options.environment, ...launch?.environment },
      // A group of its own: what the child started goes with it.
      detached: true,
    },
  );
  const frames = readFrames(process_.stdout);
  let jobs = 0;
  let isUsable = true;
  let idleTimer: ReturnType<typeof setTimeout> | undefined;
  let left: Promise<void> | undefined;

  const end = (): void => {
    isUsable = false;
    clearTimeout(idleTimer);
    killGroup(process_);
  };

  async function gone(): Promise<void> {
    await process_.exited;
    isUsable = false;
    clearTimeout(idleTimer);
    // Its job's folder is taken back first.
    await left;
    await launch?.close();
  }

  async function answer(job: ChildJob): Promise<ChildResult> {
    const head = { task: job.task, input: job.input ?? null, job: jobs };
    const write = async (): Promise<void> => {
      for (const bytes of encodeFrame({ head, parts: job.parts ?? [] })) await process_.stdin.write(bytes);
      await process_.stdin.flush();
    };
    // A write to a child that was killed while its pipe was full may never end.
    const written = write();
    written.catch(() => undefined);
    await Promise.race([written, process_.exited]);
    for (;;) {
      const { value, done } = await frames.next();
      if (done === true) throw new Error("the child ended without an answer");
      // What an earlier job says late is not this one's.
      if (value.head["job"] !== jobs) continue;
      if (value.head["kind"] !== "chunk") return read(value);
      for (const chunk of value.parts) job.onChunk?.(chunk);
    }
  }

  function read({ head, parts }: ChildFrame): ChildResult {
    if (head["kind"] === "done") {
      const { jobsMax, residentBytesMax, processorSeconds } = options;
      // Half of a child's processor time is left for the longest job: it must not end within one.
      const isSpent = Number(head["processorSeconds"]) > processorSeconds / 2;
      if (jobs >= jobsMax || isSpent || Number(head["rssBytes"]) > residentBytesMax) isUsable = false;
      return { output: head["output"], parts };
    }
    const fault = head["fault"];
    throw new MediaError(isMediaFault(fault) ? fault : "failed", String(head["message"]), { isRelayed: true });
  }

  async function run(job: ChildJob): Promise<ChildResult> {
    clearTimeout(idleTimer);
    jobs += 1;
    let why: MediaError | undefined;
    const stop = (reason: MediaError): void => {
      why ??= reason;
      end();
    };
    const { jobMs = options.jobMs } = job;
    const deadline = setTimeout(
      () =>
        stop(new MediaError("timeout", `Expected the work to take at most ${jobMs / 1000} seconds, it takes longer.`)),
      jobMs,
    );
    const watch = setInterval(() => {
      if (residentBytes(process_.pid) > options.memoryBytesMax) {
        stop(new MediaError("too_large", "Expected the work to need less memory than there is for one."));
      }
    }, options.watchMs);
    const abort = (): void => stop(aborted());
    job.signal?.addEventListener("abort", abort, { once: true });
    if (job.signal?.aborted === true) abort();
    let leave: (() => void) | undefined;
    const leaving = Promise.withResolvers<void>();
    left = leaving.promise;
    try {
      if (job.folder !== undefined) leave = launch?.enter(job.folder);
      return await answer(job);
    } catch (error) {
      if (why !== undefined) throw why;
      if (error instanceof MediaError) throw error;
      end();
      await process_.exited;
      const how = process_.signalCode ?? `exit code ${process_.exitCode}`;
      throw new MediaError("failed", `the media child ended with ${how} in task ${job.task}`, { cause: error });
    } finally {
      clearTimeout(deadline);
      clearInterval(watch);
      job.signal?.removeEventListener("abort", abort);
      leaving.resolve();
      leave?.();
    }
  }

  return {
    ended: gone(),
    owner: undefined,
    run,
    isUsable: () => isUsable,
    hasWorked: () => jobs > 0,
    rest: () => {
      idleTimer = setTimeout(end, options.idleMs);
      idleTimer.unref();
    },
    end,
  };
}

function killGroup(process_: { readonly pid: number; kill(signal: NodeJS.Signals): void }): void {
  try {
    process.kill(-process_.pid, "SIGKILL");
  } catch {
    // It has no group yet, or has ended.
    process_.kill("SIGKILL");
  }
}

/** Command prefix that sets the limits; empty if the system has no prlimit: deadline and replacement by size remain. */
function limits({ addressSpaceBytes, processorSeconds }: ChildPoolOptions): string[] {
  const prlimit = Bun.which("prlimit");
  if (prlimit === null) return [];
  return [
    prlimit,
    `--as=${Number.isFinite(addressSpaceBytes) ? addressSpaceBytes : "unlimited"}`,
    `--cpu=${processorSeconds}`,
    "--core=0",
    "--",
  ];
}

/** Resident memory of a process and of those that it started, in bytes; 0 if the system does not report it. */
function residentBytes(pid: number, depth = 0): number {
  try {
    const pages = readFileSync(`/proc/${pid}/statm`, "latin1").split(" ")[1];
    const started = depth < DEPTH_MAX ? readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1").split(" ") : [];
    const theirs = started.reduce((sum, one) => sum + (one === "" ? 0 : residentBytes(Number(one), depth + 1)), 0);
    return Number(pages) * PAGE_BYTES + theirs;
  } catch {
    return 0;
  }
}

/** Processes of processes: a launcher, the child, its browser, that one's tabs. */
const DEPTH_MAX = 8;

/** Some arm64 kernels have larger pages: the limit is then reached later. */
const PAGE_BYTES = 4_096;

function aborted(): MediaError {
  return new MediaError("aborted", "The media job was given up.");
}
