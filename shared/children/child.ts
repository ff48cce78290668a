/** One child process that runs one job at a time: deadlines, memory limit, and its end together with all processes that it started. */
import { readFileSync } from "node:fs";

import { encodeFrame, readFrames, type ChildFrame } from "./frames.ts";
import { isMediaFault, MediaError } from "./media-error.ts";

export interface ChildOptions {
  /** The child's script; it calls `serveTasks`. */
  readonly script: string;
  readonly args?: readonly string[];
  /** Called for each child. */
  readonly launch?: () => Launch;
  /** Timeout of a job in milliseconds, from its start in a child; a job may have its own. */
  readonly jobMs: number;
  /** Time after which a child without work ends, in milliseconds. */
  readonly idleMs: number;
  /** Limit of the address space in bytes; Infinity for programs that cannot start under a limit. */
  readonly addressSpaceBytes: number;
  /** A job whose child exceeds this memory is ended; checked every `watchMs`, if the system reports it. */
  readonly memoryBytesMax: number;
  readonly watchMs: number;
  /** Processor time of a child's whole life, in seconds: a safety limit for a child that has lost its parent within a job. */
  readonly processorSeconds: number;
  /** A child is replaced after this many jobs, or when its memory exceeds the limit below after a job: this bounds leaks. */
  readonly jobsMax: number;
  readonly residentBytesMax: number;
  readonly environment: Readonly<Record<string, string>>;
}

/** Environment of one child. */
export interface Launch {
  /** Prefix of the command: a program that drops privileges and then executes the child. */
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
  /** Folder with the job's files. */
  readonly folder?: string;
  /** For tasks that send chunks before their result. */
  readonly onChunk?: (chunk: Uint8Array) => void;
  /** True if a decoder processes untrusted bytes: the child is not reused after it. */
  readonly foreign?: boolean;
  /** Timeout in milliseconds for jobs that take longer than the pool's usual ones. */
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
  /** True once the child is ending or must be replaced. */
  private isRetired = false;
  private idleTimer: ReturnType<typeof setTimeout> | undefined;
  /** Resolves when the last job's folder has been revoked. */
  private folderRevoked: Promise<void> | undefined;

  /** @throws the system's error if it cannot start another process */
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

  /** @throws MediaError of the task, or the reason why it was ended */
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

/** Returns false if neither prlimit can limit a child's memory nor /proc reports it, as on macOS. */
export function canLimitMemory(): boolean {
  return Bun.which("prlimit") !== null || residentBytes(process.pid) > 0;
}

/** Command prefix that sets the limits; empty without prlimit: then only the deadline and the replacement by size apply. */
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

/** Maximum depth of descendants: a launcher, the child, its browser, the browser's tabs. */
const DEPTH_MAX = 8;

/** Bytes of a memory page. Some arm64 kernels have larger pages, and the limit is then reached later. */
const PAGE_BYTES = 4_096;

/** Error of a job that its caller aborted. */
export function aborted(): MediaError {
  return new MediaError("aborted", "The media job was cancelled.");
}
