/** Child process that runs one job at a time, with a timeout and a memory limit. All processes that it started end with it. */
import { readFileSync } from "node:fs";

import { encodeFrame, readFrames, type ChildFrame } from "./frames.ts";
import { isMediaFault, MediaError } from "./media-error.ts";

export interface ChildOptions {
  /** Path of the script that the child runs. The script calls `serveTasks`. */
  readonly script: string;
  readonly args?: readonly string[];
  /** Prepares the environment of a child. Called for each child before it starts. */
  readonly launch?: () => Launch;
  /** Timeout of a job, in milliseconds, from its start in a child. A job may set its own timeout. */
  readonly jobMs: number;
  /** Idle time after which a child ends, in milliseconds. */
  readonly idleMs: number;
  /** Limit of a child's address space, in bytes. Infinity for programs that cannot start under a limit. */
  readonly addressSpaceBytes: number;
  /**
   * Maximum memory of a child, in bytes. A job whose child exceeds it is ended. Checked every `watchMs` if the system reports the memory.
   */
  readonly memoryBytesMax: number;
  readonly watchMs: number;
  /**
   * Maximum processor time of a child during its whole life, in seconds. The limit ends a child whose parent crashed while a job was
   * running.
   */
  readonly processorSeconds: number;
  /**
   * Number of jobs after which a child is replaced. A child is also replaced if its memory exceeds `residentBytesMax` after a job. This
   * limits leaks.
   */
  readonly jobsMax: number;
  readonly residentBytesMax: number;
  readonly environment: Readonly<Record<string, string>>;
}

/** Environment of one child. */
export interface Launch {
  /** Command that starts the child: a program that drops privileges and then executes the child's command. */
  readonly launcher: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Makes a job's folder available to the child. Returns a function that revokes it after the job. */
  enter(folder: string): () => void;
  /** Called after the child has ended. */
  close(): Promise<void>;
}

export interface ChildJob {
  readonly task: string;
  readonly input: unknown;
  readonly parts?: readonly Uint8Array[];
  readonly signal?: AbortSignal | undefined;
  /** Folder with the files of the job. */
  readonly folder?: string;
  /** Receives chunks of the result from tasks that send chunks before their result. */
  readonly onChunk?: (chunk: Uint8Array) => void;
  /** True if a decoder processes untrusted bytes in this job. The child is not reused after the job. */
  readonly foreign?: boolean;
  /** Timeout of this job, in milliseconds. Default: the timeout of the pool. */
  readonly jobMs?: number;
  /** Owner of the job. A child that has run a job of one owner runs no jobs of other owners. */
  readonly owner?: string;
}

export interface ChildResult {
  readonly output: unknown;
  readonly parts: readonly Uint8Array[];
}

type ChildProcess = Bun.Subprocess<"pipe", "pipe", "ignore">;

export class Child {
  readonly ended: Promise<void>;
  /** Owner of the child's last job; undefined before the first job or if that job had no owner. */
  owner: string | undefined;
  private readonly options: ChildOptions;
  private readonly launch: Launch | undefined;
  private readonly process: ChildProcess;
  private readonly frames: AsyncGenerator<ChildFrame, void, void>;
  private jobs = 0;
  /** True once the child is ending or must be replaced, so that it receives no further jobs. */
  private isRetired = false;
  private idleTimer: ReturnType<typeof setTimeout> | undefined;
  /** Resolves when the last job's folder has been revoked. */
  private folderRevoked: Promise<void> | undefined;

  /** Starts the child process. @throws the system's error if it cannot start another process */
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

  /**
   * Runs a job in the child and returns its result. @throws MediaError from the task, or MediaError with the reason why this process ended
   * the task
   */
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
    let revokeFolder: (() => void) | undefined;
    const revocation = Promise.withResolvers<void>();
    this.folderRevoked = revocation.promise;
    try {
      if (job.folder !== undefined) revokeFolder = this.launch?.enter(job.folder);
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
      revocation.resolve();
      revokeFolder?.();
    }
  }

  /** Starts the idle timeout, after which the child ends. */
  startIdleTimer(): void {
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
    // Its job's folder is revoked first.
    await this.folderRevoked;
    await this.launch?.close();
  }

  private async answer(job: ChildJob): Promise<ChildResult> {
    const head = { task: job.task, input: job.input ?? null, job: this.jobs };
    const { stdin, exited } = this.process;
    const write = async (): Promise<void> => {
      for (const bytes of encodeFrame({ head, parts: job.parts ?? [] })) await stdin.write(bytes);
      await stdin.flush();
    };
    // A write to a child that was killed while its pipe was full may never settle.
    const written = write();
    written.catch(() => undefined);
    await Promise.race([written, exited]);
    for (;;) {
      const { value, done } = await this.frames.next();
      if (done === true) throw new Error("the child ended without an answer");
      // A late message of an earlier job is ignored.
      if (value.head["job"] !== this.jobs) continue;
      if (value.head["kind"] !== "chunk") return this.read(value);
      for (const chunk of value.parts) job.onChunk?.(chunk);
    }
  }

  private read({ head, parts }: ChildFrame): ChildResult {
    if (head["kind"] === "done") {
      const { jobsMax, residentBytesMax, processorSeconds } = this.options;
      // Half of a child's processor time is reserved for the longest job, so that the limit is not reached within one.
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
    // Decoders print warnings about every damaged file; relevant faults are returned as errors.
    stderr: "ignore",
    // Parsers use the local time zone for dates without one. The results must not depend on the machine.
    env: { ...options.environment, ...launch?.environment, TZ: "UTC" },
    // A process group of its own, so that all its descendants are killed with it.
    detached: true,
  });
}

function killGroup(process_: { readonly pid: number; kill(signal: NodeJS.Signals): void }): void {
  try {
    process.kill(-process_.pid, "SIGKILL");
  } catch {
    // The process has no group yet, or has ended.
    process_.kill("SIGKILL");
  }
}

/** Returns true if the memory of a child can be limited or at least measured. False if neither prlimit nor /proc exists, as on macOS. */
export function canLimitMemory(): boolean {
  return Bun.which("prlimit") !== null || residentBytes(process.pid) > 0;
}

/**
 * Returns the command prefix that sets the limits. Empty without prlimit; then only the timeout and the replacement by memory size apply.
 */
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

/** Returns the resident memory of a process and its descendants in bytes; 0 if the system does not report it. */
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

/** Maximum depth of descendants whose memory is counted, for example: a launcher, the child, its browser, the browser's tabs. */
const DEPTH_MAX = 8;

/** Assumed size of a memory page, in bytes. Some arm64 kernels have larger pages, so that the limit is reached later. */
const PAGE_BYTES = 4_096;

/** Returns the error of a job that its caller has aborted. */
export function aborted(): MediaError {
  return new MediaError("aborted", "The media job was cancelled.");
}
