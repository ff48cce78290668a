/**
 * One child process and its jobs, one at a time: their deadlines, the watch over its memory, and its end, which takes with it
 * whatever it started.
 */
import { readFileSync } from "node:fs";

import { encodeFrame, readFrames, type ChildFrame } from "./frames.ts";
import { isMediaFault, MediaError } from "./media-error.ts";

export interface ChildOptions {
  /** The child's script; it calls `serveTasks`. */
  readonly script: string;
  readonly args?: readonly string[];
  /** Asked for each child. */
  readonly launch?: () => Launch;
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

type ChildProcess = Bun.Subprocess<"pipe", "pipe", "ignore">;

export class Child {
  readonly ended: Promise<void>;
  /** Owner of the last job, if it had one; undefined before the first job. */
  owner: string | undefined;
  private readonly options: ChildOptions;
  private readonly launch: Launch | undefined;
  private readonly process: ChildProcess;
  private readonly frames: AsyncGenerator<ChildFrame, void, void>;
  private jobs = 0;
  /** It ends, or is to be replaced. */
  private isRetired = false;
  private idleTimer: ReturnType<typeof setTimeout> | undefined;
  /** The last job's folder has been taken back. */
  private left: Promise<void> | undefined;

  /** @throws what the system says where it has no room for another process */
  constructor(options: ChildOptions) {
    this.options = options;
    this.launch = options.launch?.();
    this.process = spawn(options, this.launch);
    this.frames = readFrames(this.process.stdout);
    this.ended = this.waitForEnd();
  }

  get isUsable(): boolean {
    return !this.isRetired;
  }

  get hasWorked(): boolean {
    return this.jobs > 0;
  }

  /** @throws MediaError what the task said, or why it was ended */
  async run(job: ChildJob): Promise<ChildResult> {
    clearTimeout(this.idleTimer);
    this.jobs += 1;
    let why: MediaError | undefined;
    const stop = (reason: MediaError): void => {
      why ??= reason;
      this.end();
    };
    const { jobMs = this.options.jobMs } = job;
    const deadline = setTimeout(
      () => stop(new MediaError("timeout", `The work took longer than the limit of ${jobMs / 1000} seconds.`)),
      jobMs,
    );
    const watch = setInterval(() => {
      if (residentBytes(this.process.pid) > this.options.memoryBytesMax) {
        stop(new MediaError("too_large", "The work needs more memory than one task may use."));
      }
    }, this.options.watchMs);
    const abort = (): void => stop(aborted());
    job.signal?.addEventListener("abort", abort, { once: true });
    if (job.signal?.aborted === true) abort();
    let leave: (() => void) | undefined;
    const leaving = Promise.withResolvers<void>();
    this.left = leaving.promise;
    try {
      if (job.folder !== undefined) leave = this.launch?.enter(job.folder);
      return await this.answer(job);
    } catch (error) {
      if (why !== undefined) throw why;
      if (error instanceof MediaError) throw error;
      this.end();
      await this.process.exited;
      const how = this.process.signalCode ?? `exit code ${this.process.exitCode}`;
      throw new MediaError("failed", `the media child ended with ${how} in task ${job.task}`, { cause: error });
    } finally {
      clearTimeout(deadline);
      clearInterval(watch);
      job.signal?.removeEventListener("abort", abort);
      leaving.resolve();
      leave?.();
    }
  }

  /** Counts down to its end unless it gets work. */
  rest(): void {
    this.idleTimer = setTimeout(() => this.end(), this.options.idleMs);
    this.idleTimer.unref();
  }

  end(): void {
    this.isRetired = true;
    clearTimeout(this.idleTimer);
    killGroup(this.process);
  }

  private async waitForEnd(): Promise<void> {
    await this.process.exited;
    this.isRetired = true;
    clearTimeout(this.idleTimer);
    // Its job's folder is taken back first.
    await this.left;
    await this.launch?.close();
  }

  private async answer(job: ChildJob): Promise<ChildResult> {
    const head = { task: job.task, input: job.input ?? null, job: this.jobs };
    const { stdin, exited } = this.process;
    const write = async (): Promise<void> => {
      for (const bytes of encodeFrame({ head, parts: job.parts ?? [] })) await stdin.write(bytes);
      await stdin.flush();
    };
    // A write to a child that was killed while its pipe was full may never end.
    const written = write();
    written.catch(() => undefined);
    await Promise.race([written, exited]);
    for (;;) {
      const { value, done } = await this.frames.next();
      if (done === true) throw new Error("the child ended without an answer");
      // What an earlier job says late is not this one's.
      if (value.head["job"] !== this.jobs) continue;
      if (value.head["kind"] !== "chunk") return this.read(value);
      for (const chunk of value.parts) job.onChunk?.(chunk);
    }
  }

  private read({ head, parts }: ChildFrame): ChildResult {
    if (head["kind"] === "done") {
      const { jobsMax, residentBytesMax, processorSeconds } = this.options;
      // Half of a child's processor time is left for the longest job: it must not end within one.
      const isSpent = Number(head["processorSeconds"]) > processorSeconds / 2;
      if (this.jobs >= jobsMax || isSpent || Number(head["rssBytes"]) > residentBytesMax) this.isRetired = true;
      return { output: head["output"], parts };
    }
    const fault = head["fault"];
    throw new MediaError(isMediaFault(fault) ? fault : "failed", String(head["message"]), { isRelayed: true });
  }
}

function spawn(options: ChildOptions, launch: Launch | undefined): ChildProcess {
  const { args = [] } = options;
  return Bun.spawn([...(launch?.launcher ?? []), ...limits(options), process.execPath, options.script, ...args], {
    stdin: "pipe",
    stdout: "pipe",
    // Decoders grumble about every damaged file; what matters of it comes as an error.
    stderr: "ignore",
    env: { ...options.environment, ...launch?.environment },
    // A group of its own: what the child started goes with it.
    detached: true,
  });
}

function killGroup(process_: { readonly pid: number; kill(signal: NodeJS.Signals): void }): void {
  try {
    process.kill(-process_.pid, "SIGKILL");
  } catch {
    // It has no group yet, or has ended.
    process_.kill("SIGKILL");
  }
}

/** False where neither prlimit can bound a child's memory nor /proc report it, as on macOS. */
export function canLimitMemory(): boolean {
  return Bun.which("prlimit") !== null || residentBytes(process.pid) > 0;
}

/** Command prefix that sets the limits; empty if the system has no prlimit: deadline and replacement by size remain. */
function limits({ addressSpaceBytes, processorSeconds }: ChildOptions): string[] {
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

/** Fault of a job that its caller gave up. */
export function aborted(): MediaError {
  return new MediaError("aborted", "The media job was cancelled.");
}
