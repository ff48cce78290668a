/**
 * Starts resources in order, stops them in reverse order, and handles signals once. Each stop step has a deadline, so that a stuck resource
 * delays the end of the process but cannot prevent it.
 */
import { flushLogs, type Logger } from "../base/logger.ts";

export interface LifecycleOptions {
  /** Time limit of the whole stop, in milliseconds; a process that exceeds it exits with code 1. */
  readonly graceMs?: number;
  /** True if a supervisor keeps this process' stdin open. This process stops when stdin closes, because the supervisor has then exited. */
  readonly supervised?: boolean;
  /** For tests: source of signals and uncaught errors, and the function that exits the process. */
  readonly process?: ProcessEdge;
}

/** Part of Node's `process` object that a lifecycle uses. */
export interface ProcessEdge {
  on(event: string, listener: (argument: unknown) => void): unknown;
  off(event: string, listener: (argument: unknown) => void): unknown;
  exit(code: number): void;
  readonly stdin: StdinEdge;
}

interface StdinEdge {
  on(event: "end" | "close" | "error", listener: () => void): unknown;
  resume(): unknown;
}

/**
 * Stops one resource.
 * @param hurry aborts on a second signal
 * @param allowedMs time limit of the step in milliseconds: its own deadline or the remaining grace period, whichever is less
 */
export type StopStep = (hurry: AbortSignal, allowedMs: number) => Promise<void> | void;

export interface Lifecycle {
  /** Aborts when the process begins to stop. Readiness then fails, and loops stop pulling messages. */
  readonly stopping: AbortSignal;
  /** Aborts on a second signal. Workers then return their jobs to the queue immediately. */
  readonly hurry: AbortSignal;
  /**
   * Opens a resource. If that fails, logs the name of the resource.
   * @throws the error of `open`; Error if the process began to stop meanwhile
   */
  start<T>(name: string, open: () => Promise<T> | T): Promise<T>;
  /** Registers a stop step. Steps run in reverse order of registration. A step that is registered during a stop runs immediately. */
  onStop(name: string, step: StopStep, deadlineMs?: number): void;
  /** Stops everything and exits the process: with code 0 if every step ended in time, otherwise 1. Idempotent. */
  stop(reason: string): Promise<void>;
  /** Stops everything like `stop`, but does not exit the process. Resolves with true if every step ended in time. */
  close(reason: string): Promise<boolean>;
}

interface Step {
  readonly name: string;
  readonly run: StopStep;
  readonly deadlineMs: number;
}

const GRACE_MS = 30_000;
const STEP_DEADLINE_MS = 5_000;
/** Time limit of each stop step after a second signal, in milliseconds. It is long enough to return jobs to the queue. */
const HURRY_STEP_MS = 1_000;
/** Time limit of each stop step after the grace period, in milliseconds; enough to close a connection cleanly. */
const LATE_STEP_MS = 100;

/** Creates the lifecycle of a process. Call this once per process, before anything else is opened. */
export function createLifecycle(log: Logger, options: LifecycleOptions = {}): Lifecycle {
  const edge: ProcessEdge = options.process ?? process;
  const graceMs = options.graceMs ?? GRACE_MS;
  const stopping = new AbortController();
  const hurry = new AbortController();
  const steps: Step[] = [];
  let done: Promise<boolean> | undefined;

  function end(code: number): void {
    flushLogs();
    edge.exit(code);
  }

  function fatal(kind: string): (fault: unknown) => void {
    return (fault) => {
      // The state of the process is unknown: log the reason and exit; other processes recover its work.
      log.fatal(
        { err: fault instanceof Error ? fault : new Error(String(fault)), kind },
        "uncaught exception; the process exits",
      );
      end(1);
    };
  }

  async function runStep(step: Step, graceEnds: number): Promise<boolean> {
    const began = performance.now();
    const allowed = Math.min(step.deadlineMs, Math.max(LATE_STEP_MS, graceEnds - began));
    try {
      const inTime = await within(Promise.resolve(step.run(hurry.signal, allowed)), allowed, hurry.signal);
      const took = Math.round(performance.now() - began);
      if (inTime) log.debug({ step: step.name, ms: took }, "stopped");
      else log.error({ step: step.name, ms: took }, "a shutdown step timed out");
      return inTime;
    } catch (error) {
      log.error({ step: step.name, err: error }, "a shutdown step failed");
      return false;
    }
  }

  async function stopAll(reason: string): Promise<boolean> {
    log.info({ reason }, "stopping");
    stopping.abort();
    const graceEnds = performance.now() + graceMs;
    let clean = true;
    // Removed one by one: a step may register another while it runs.
    for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
      if (!(await runStep(step, graceEnds))) clean = false;
    }
    log.info({ clean }, "stopped");
    return clean;
  }

  function close(reason: string): Promise<boolean> {
    done ??= stopAll(reason);
    return done;
  }

  async function stop(reason: string): Promise<void> {
    end((await close(reason)) ? 0 : 1);
  }

  let signals = 0;
  const onSignal = (name: string) => (): void => {
    signals += 1;
    if (signals === 1) void stop(name);
    else if (signals === 2) {
      log.warn({ signal: name }, "received a second signal; not waiting for running work");
      hurry.abort();
      void stop(name);
    } else end(1);
  };
  edge.on("SIGTERM", onSignal("SIGTERM"));
  edge.on("SIGINT", onSignal("SIGINT"));
  edge.on("uncaughtException", fatal("uncaughtException"));
  edge.on("unhandledRejection", fatal("unhandledRejection"));
  if (options.supervised === true) {
    const orphaned = (): void => void stop("supervisor gone");
    edge.stdin.on("end", orphaned);
    edge.stdin.on("close", orphaned);
    edge.stdin.on("error", orphaned);
    edge.stdin.resume();
  }

  return {
    stopping: stopping.signal,
    hurry: hurry.signal,
    stop,
    close,
    async start(name, open) {
      if (stopping.signal.aborted) throw new Error(`stopped before ${name} was started`);
      const began = performance.now();
      const value = await open();
      log.debug({ step: name, ms: Math.round(performance.now() - began) }, "started");
      return value;
    },
    onStop(name, run, deadlineMs = STEP_DEADLINE_MS) {
      const step = { name, run, deadlineMs };
      if (done === undefined) steps.push(step);
      // Opened while other steps already ran: no later step closes it.
      else void runStep(step, performance.now() + deadlineMs);
    },
  };
}

/**
 * Waits for `work`. Returns true if it ends within `ms` milliseconds, and within a second after `hurry` aborts; otherwise false.
 * @throws the error of `work`
 */
async function within(work: Promise<void>, ms: number, hurry: AbortSignal): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<false>();
  const timer = setTimeout(() => resolve(false), ms);
  let hurried: ReturnType<typeof setTimeout> | undefined;
  const shorten = (): void => {
    hurried = setTimeout(() => resolve(false), Math.min(ms, HURRY_STEP_MS));
  };
  if (hurry.aborted) shorten();
  else hurry.addEventListener("abort", shorten, { once: true });
  try {
    // A late error of an abandoned step must not surface as an unhandled rejection.
    work.catch(() => undefined);
    return await Promise.race([work.then(() => true as const), late]);
  } finally {
    clearTimeout(timer);
    clearTimeout(hurried);
    hurry.removeEventListener("abort", shorten);
  }
}
