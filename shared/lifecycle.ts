/**
 * Start in order, stop in reverse, answer signals once. Each stop step has a deadline, so a stuck resource delays the
 * end but cannot prevent it.
 */
import { flushLogs, type Logger } from "./logger.ts";

export interface LifecycleOptions {
  /** The whole stop may take this long; a process that needs longer ends with code 1. */
  readonly graceMs?: number;
  /** True under a supervisor that holds our stdin open: when it closes, the supervisor is gone and so are we. */
  readonly supervised?: boolean;
  /** For tests: where signals and uncaught faults come from, and what ends the process. */
  readonly process?: ProcessEdge;
}

/** The part of `process` a lifecycle touches. */
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

/** @param allowedMs time that the step has: its own deadline, or what is left of the grace where that is less */
export type StopStep = (hurry: AbortSignal, allowedMs: number) => Promise<void> | void;

export interface Lifecycle {
  /** Aborts when stopping begins: readiness turns off, loops stop pulling. */
  readonly stopping: AbortSignal;
  /** Aborts on a second signal: hand work back instead of waiting for it. */
  readonly hurry: AbortSignal;
  /**
   * Opens a resource and names it in the log when that fails.
   * @throws what `open` throws; Error when a stop began meanwhile
   */
  start<T>(name: string, open: () => Promise<T> | T): Promise<T>;
  /** Registers a stop step, run in reverse order of registration; registered during a stop, it runs at once. */
  onStop(name: string, step: StopStep, deadlineMs?: number): void;
  /** Stops everything and ends the process: 0 when every step ended in time, else 1. Safe to call often. */
  stop(reason: string): Promise<void>;
  /** Stops everything as `stop` does, and leaves the end of the process to the caller. Resolves with true when every step ended in time. */
  close(reason: string): Promise<boolean>;
}

interface Step {
  readonly name: string;
  readonly run: StopStep;
  readonly deadlineMs: number;
}

const GRACE_MS = 30_000;
const STEP_DEADLINE_MS = 5_000;
/** After a second signal each step still gets this long to hand back what it holds. */
const HURRY_STEP_MS = 1_000;
/** Steps left when the grace is over still get a moment: closing a connection well is worth it. */
const LATE_STEP_MS = 100;

/** One per process, made before anything else is opened. */
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
      // The state of the process is unknown now: say why and end; recovery is everybody else's job.
      log.fatal({ err: fault instanceof Error ? fault : new Error(String(fault)), kind }, "uncaught fault, ending");
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
      else log.error({ step: step.name, ms: took }, "did not stop in time");
      return inTime;
    } catch (error) {
      log.error({ step: step.name, err: error }, "failed to stop");
      return false;
    }
  }

  async function stopAll(reason: string): Promise<boolean> {
    log.info({ reason }, "stopping");
    stopping.abort();
    const graceEnds = performance.now() + graceMs;
    let clean = true;
    // Popped one by one: a step may register another while it runs.
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
      log.warn({ signal: name }, "second signal, not waiting for running work");
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
      // Opened while the rest was already closing: nobody will come back for it.
      else void runStep(step, performance.now() + deadlineMs);
    },
  };
}

/** True when `work` ends within `ms`, or within a second of `hurry`. Faults of the work are thrown. */
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
    // A late fault of an abandoned step must not surface as an unhandled rejection.
    work.catch(() => undefined);
    return await Promise.race([work.then(() => true as const), late]);
  } finally {
    clearTimeout(timer);
    clearTimeout(hurried);
    hurry.removeEventListener("abort", shorten);
  }
}
