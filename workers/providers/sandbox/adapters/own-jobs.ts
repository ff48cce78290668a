/**
 * Runs the sandbox's jobs like a provider's queue: they are started, polled and cancelled. Jobs run in this process. The input is stored
 * with the job, so that another process generates the same result.
 */
import { newId } from "#shared/base/ids.ts";

import type { Artifact, MediaUsage, Polled, ProviderJob, QueuedAdapter } from "../../media.ts";
import { ProviderError } from "../../provider.ts";
import { failIfDue } from "../faults.ts";
import { asRecord } from "../json.ts";
import { type Delay, explained, mediaModel } from "./faults.ts";

export interface Work<Input> {
  readonly input: Input;
  readonly sourceModel: string;
  readonly signal: AbortSignal;
  /** Called with the completed share of the job, from 0 to 1. */
  readonly onProgress: (share: number) => void;
}

export type Maker<Input> = (work: Work<Input>) => Promise<readonly Artifact[]>;

interface Running {
  readonly stop: AbortController;
  readonly startedAt: number;
  /** Completed share of the job, from 0 to 1; absent if not reported. */
  progress?: number;
  readonly ended: Promise<Polled<readonly Artifact[]>>;
}

const SEEDS = 2 ** 31;
/** Time for which an ended job stays in memory, in milliseconds. Jobs are polled every few seconds, so no later poll is expected. */
const KEEP_MS = 120_000;
/** Maximum number of jobs in memory, both running and ended. */
const JOBS_MAX = 256;
/** Maximum wait of one poll, in milliseconds. A job that ends during the wait is reported immediately. */
const POLL_MS = 1_000;
/** Duration of a hanging job, in milliseconds. It is longer than any caller waits. */
const HANG_MS = 86_400_000;
/** Maximum size of the input media that are stored with a job, in bytes. A database row should not contain more. */
const INPUT_BYTES_MAX = 1_048_576;

/**
 * Creates a queued adapter that runs `make` as a job of this process.
 * @param param returns the request parameter of the input media, which errors about these media name
 */
export function keepsJobs<Input extends { readonly seed?: number }>(
  make: Maker<Input>,
  delay: Delay,
  param?: (input: Input, fault: string) => string,
): QueuedAdapter<Input, readonly Artifact[]> {
  const running = new Map<string, Running>();

  function begin(id: string, sourceModel: string, input: Input): Running {
    const stop = new AbortController();
    const startedAt = performance.now();
    const onProgress = (share: number): void => {
      one.progress = share;
    };
    const ended = run(make, { input, sourceModel, signal: stop.signal, onProgress }, delay).then(
      (result): Polled<readonly Artifact[]> => ({ state: "done", ...result }),
      (error: unknown): Polled<readonly Artifact[]> => ({
        state: "failed",
        error: explained(error, param?.(input, String(error))) as Error,
      }),
    );
    const one: Running = { stop, startedAt, ended };
    running.set(id, one);
    void ended.finally(() => setTimeout(() => running.delete(id), KEEP_MS).unref());
    return one;
  }

  return {
    waits: true,

    start: async ({ input, sourceModel, noteStart }) => {
      const model = mediaModel(sourceModel);
      failIfDue(model);
      if (running.size >= JOBS_MAX) throw new ProviderError("busy", "the sandbox has enough to do");
      const id = newId();
      // With a fixed seed, another process generates the same result.
      const settled = { ...input, seed: input.seed ?? Math.floor(Math.random() * SEEDS) };
      const job = { id, model: sourceModel, input: stored(settled) };
      await noteStart(job);
      if (model.loses !== "start") begin(id, sourceModel, settled);
      if (model.loses !== undefined) throw new ProviderError("unknown", "a gateway lost the answer", { status: 502 });
      return job;
    },

    find: async ({ mark }) => {
      const known = readJob<Input>(mark);
      if (!known) return { state: "unknown", detail: "the stored mark is none of the sandbox's" };
      return mediaModel(known.model).loses === "start" ? { state: "none" } : { state: "found", job: mark };
    },

    async poll(job, signal) {
      const known = readJob<Input>(job);
      if (!known) return { state: "unknown", detail: "the stored job is none of the sandbox's" };
      const { isLost } = mediaModel(known.model);
      if (isLost) return { state: "unknown", detail: "the sandbox does not tell, as it was told to" };
      let one = running.get(known.id);
      if (!one) {
        if (!known.input) return { state: "failed", error: lost() };
        one = begin(known.id, known.model, known.input);
      }
      const ended = await Promise.race([one.ended, pause(delay, signal)]);
      if (!ended) return { state: "pending", ...progressOf(known.model, one) };
      // Videos are large; a further poll generates the same video again.
      running.delete(known.id);
      return ended;
    },

    cancel: async (job) => {
      const known = readJob(job);
      if (known) running.get(known.id)?.stop.abort();
    },
  };
}

async function run<Input>(
  make: Maker<Input>,
  work: Work<Input>,
  delay: Delay,
): Promise<{ readonly output: readonly Artifact[]; readonly usage: MediaUsage }> {
  const { delayMs = 0, hangs, isLost } = mediaModel(work.sourceModel);
  const { signal } = work;
  try {
    if (hangs || isLost) await delay(HANG_MS, signal);
    await delay(delayMs, signal);
    const startedAt = performance.now();
    const output = await make(work);
    return { output, usage: { computeSeconds: (performance.now() - startedAt) / 1_000 } };
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new ProviderError("failed", "the job was stopped as it was asked to", { cause: error });
  }
}

async function pause(delay: Delay, signal: AbortSignal): Promise<undefined> {
  await delay(POLL_MS, signal).catch(() => undefined);
  return undefined;
}

/** Returns the progress that the generator reports. For a slow model, returns the elapsed share of its delay. */
function progressOf(model: string, { startedAt, progress }: Running): { readonly progress?: number } {
  const { delayMs } = mediaModel(model);
  if (delayMs === undefined) return progress === undefined ? {} : { progress };
  return { progress: Math.min(0.9, (performance.now() - startedAt) / delayMs) };
}

function lost(): ProviderError {
  return new ProviderError(
    "failed",
    "the sandbox has forgotten the job with its process, and had not kept what was given",
  );
}

/**
 * Returns the input as JSON text; null if its media are too large. Text is used because jsonb accepts neither \u0000 nor lone surrogates.
 */
function stored(input: object): string | null {
  let remainingBytes = INPUT_BYTES_MAX;
  const text = JSON.stringify(input, (_name, value: unknown) => {
    const { bytes, contentType } = asRecord(value);
    if (!(bytes instanceof Uint8Array)) return value;
    remainingBytes -= bytes.length;
    return remainingBytes < 0 ? null : { base64: bytes.toBase64(), contentType };
  });
  return remainingBytes < 0 ? null : text;
}

interface OwnJob<Input> {
  readonly id: string;
  readonly model: string;
  readonly input: Input | undefined;
}

function readJob<Input>({ id, model, input }: ProviderJob): OwnJob<Input> | undefined {
  if (typeof id !== "string" || typeof model !== "string") return undefined;
  return { id, model, input: typeof input === "string" ? (restored(input) as Input) : undefined };
}

function restored(text: string): unknown {
  return JSON.parse(text, (_name, value: unknown) => {
    const { base64, contentType } = asRecord(value);
    return typeof base64 === "string" ? { bytes: Uint8Array.fromBase64(base64), contentType } : value;
  });
}
