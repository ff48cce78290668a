/**
 * Runs capabilities. The worker writes the inputs into a folder, a child process runs the engine, and the results go into the file store.
 * The charge is based on the measured usage. If the worker is lost, another worker starts the run again from its beginning.
 */
import { toolFacts } from "#shared/tracing/attributes.ts";
import { beginPart, errorName, jobSpan } from "#shared/tracing/tracing.ts";
import { constants, lstatSync, mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { open, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

import type { JobMessage } from "#schemas/generated/types.ts";
import { type Capability, engineOf } from "#shared/calls/capabilities/entry.ts";
import { findCapability } from "#shared/calls/capabilities/list.ts";
import { capabilityCharge } from "#shared/calls/capabilities/price.ts";
import { deserializePrice } from "#shared/calls/pricing/price.ts";
import { MediaError, type MediaFault } from "#shared/children/media-error.ts";
import { ApiError, canSucceedLater, type Code } from "#shared/base/errors.ts";
import { newFileId } from "#shared/files/id.ts";
import type { StoredFile } from "#shared/files/upload.ts";
import { discardResults } from "#shared/jobs/kept-results.ts";
import { isOutage } from "#shared/storage/outage.ts";
import { SMALL_OBJECT_BYTES_MAX } from "#shared/storage/client.ts";
import { CAPABILITY_RUN_MS, CAPABILITY_RUN_MS_MAX } from "#shared/calls/capabilities/limits.ts";
import { CAPABILITY_FILES_MAX } from "#workers/capabilities/limits.ts";

import type { RunFiles, RunResult } from "../../capabilities/child.ts";
import type { WorkerContext } from "../../context.ts";
import { abortReasonOf, type JobControl, type JobHandler } from "../../job.ts";
import { freeFailure, type Outcome } from "../../outcome.ts";
import { explainFailure } from "../failure.ts";
import { eraseStored, type SmallFile, storeArtifact, storeSmallFiles } from "../media/artifacts.ts";
import type { Holding } from "../media/result-budget.ts";

import { runFolders } from "./home.ts";
import { readInputs } from "./inputs.ts";
import { GUARD_SOCKET, openPageGuard } from "./page-guard.ts";

/** Maximum attempts of a run that crashes its child process. Each attempt uses a fresh child. */
const CAPABILITY_TRIES = 2;

export function createCapabilityHandler(context: WorkerContext): JobHandler {
  return {
    async run(job, control) {
      const capability = findCapability(job.model);
      if (!capability) return freeFailure(gone(`The capability ${job.model} is no longer offered.`));
      // During a rollout, other workers may still report an engine that this worker lacks.
      const { params } = job.request as unknown as StoredRun;
      const missing = context.supportedCapabilities?.missing(engineOf(capability, params));
      if (missing !== undefined) return freeFailure(gone(`This service no longer offers ${job.model}.`));
      const folder = mkdtempSync(join(runFolders(), "run-"));
      const holding = context.results.open(job.workspace_id);
      try {
        return await serve(context, capability, job, control, folder, holding);
      } catch (error) {
        return await failed(context, job, control, error);
      } finally {
        const removal = removeFolder(context, job, folder).finally(() => {
          removals.delete(removal);
          holding.keep(0);
        });
        removals.add(removal);
        if (removals.size > REMOVALS_MAX) await removal;
      }
    },
  };
}

/**
 * Folder removals in progress; they continue after their runs have ended. If more than `REMOVALS_MAX` are in progress, a run keeps its slot
 * until its folder is removed, because a folder may be huge.
 */
const removals = new Set<Promise<void>>();
const REMOVALS_MAX = 2;

/** Removes a run's folder. A failed removal does not change the run's outcome; remaining files are deleted when the worker exits. */
async function removeFolder({ log }: Pick<WorkerContext, "log">, job: JobMessage, folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true });
  } catch (error) {
    log.warn({ err: error, job_id: job.job_id }, "a capability run's folder could not be deleted");
  }
}

interface StoredRun {
  readonly input: Readonly<Record<string, unknown>>;
  readonly params: Readonly<Record<string, unknown>>;
}

async function serve(
  context: WorkerContext,
  capability: Capability,
  job: JobMessage,
  control: JobControl,
  folder: string,
  holding: Holding,
): Promise<Outcome> {
  const { input, params } = job.request as unknown as StoredRun;
  const { signal } = control;
  const startedAt = performance.now();
  const inputs = await readInputs({
    context,
    workspaceId: job.workspace_id,
    folder,
    members: capability.members,
    input,
    params,
    stored: job.stored_inputs ?? {},
    reserveBytes: (bytes) => holding.add(bytes, signal),
    signal,
    judgeRobots: (robots) =>
      context.capabilities.judgeRobots(robots, { engine: capability.engine, workspaceId: job.workspace_id, signal }),
  });
  const task = { capability: capability.id, folder, params, inputs };
  const guard = asksForParts(engineOf(capability, params), inputs) ? openPageGuard(folder, signal) : undefined;
  const span = beginPart(jobSpan(job.job_id), `execute_tool ${capability.id}`, "internal", toolFacts(capability.id));
  const result = await inChild(context, capability, job, guard ? { ...task, guard: guard.socket } : task, control)
    .catch((error: unknown) => {
      span.end(errorName(error));
      throw error;
    })
    .finally(() => {
      void guard?.close();
    });
  span.end();
  const lose = (): void => context.capabilities.lose(job.workspace_id, result.ms);
  const { kept, stored } = await keepFiles(context, job, result, folder, signal).catch((error: unknown) => {
    if (!isOutage(error)) lose();
    throw error;
  });
  const durationMs = Math.round(performance.now() - startedAt);
  const price = deserializePrice(job.price as Record<string, string>);
  context.log.info({ job_id: job.job_id, capability: capability.id, ms: durationMs }, "capability run");
  return {
    status: "succeeded",
    source: `capability/${capability.id}`,
    charge: capabilityCharge(price, result, BigInt(job.hold_nano)),
    holdNano: BigInt(job.hold_nano),
    result: {
      text: JSON.stringify({
        capability: capability.id,
        output: result.output ?? {},
        files: kept,
        duration_ms: durationMs,
      }),
      upstreamMs: result.ms,
    },
    files: stored,
    async onRefused() {
      lose();
      await eraseStored(context, stored);
      await discardResults(context, { id: job.job_id, workspaceId: job.workspace_id });
    },
  };
}

/** True if the browser engine loads a fetched page, which may request images, scripts and other resources. */
function asksForParts(engine: string, inputs: Readonly<Record<string, RunFiles>>): boolean {
  return engine === "browser" && Object.values(inputs).some((one) => "address" in one && one.address !== undefined);
}

/**
 * True if the path is a real folder, so that a run can start again in it. A compromised child may have replaced the folder by a link to
 * other files.
 */
function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/**
 * Deletes the files that an exited child process wrote into a run's folder. The input files and the proxy's socket remain for the next
 * attempt.
 */
function clean(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (!name.startsWith("in-") && name !== GUARD_SOCKET) rmSync(join(folder, name), { recursive: true, force: true });
  }
}

async function inChild(
  context: WorkerContext,
  capability: Capability,
  job: JobMessage,
  task: Parameters<WorkerContext["capabilities"]["run"]>[0],
  { signal, providerJob }: JobControl,
): Promise<RunResult> {
  const { id, category } = capability;
  const options = {
    engine: engineOf(capability, task.params),
    workspaceId: job.workspace_id,
    runMs: CAPABILITY_RUN_MS[category],
    signal,
    onProgress: (share: number) => providerJob?.progress(share),
  };
  const startedAt = performance.now();
  for (let tries = 1; ; tries++) {
    try {
      return await context.capabilities.run(task, options);
    } catch (error) {
      if (!(error instanceof MediaError) || error.fault !== "failed") throw error;
      // The time until now includes the wait for other runs, so it is compared with the limit of the whole pool. The job's timeout ends the
      // second attempt.
      const isLate = performance.now() - startedAt > CAPABILITY_RUN_MS_MAX / 2;
      if (isLate || tries >= CAPABILITY_TRIES || !isFolder(task.folder)) throw error;
      context.log.warn(
        { ...loggedFault(error), job_id: job.job_id, capability: id },
        "a capability run's child process failed; the run restarts",
      );
      clean(task.folder);
    }
  }
}

/**
 * Maximum number of small result files whose database rows are written in the same transaction as the run's end. Each further file is a
 * separate upload, which another worker can find.
 */
const STORED_MAX = 16;

/** Stores a run's result files. Returns the files for the response, and the files whose database rows are not written yet. */
async function keepFiles(
  context: WorkerContext,
  job: JobMessage,
  result: RunResult,
  folder: string,
  signal: AbortSignal,
): Promise<{ readonly kept: readonly KeptFile[]; readonly stored: readonly StoredFile[] }> {
  const { files = [] } = result;
  if (files.length > CAPABILITY_FILES_MAX) {
    throw new MediaError(
      "too_large",
      `Expected a run to make at most ${CAPABILITY_FILES_MAX} files, got ${files.length}.`,
    );
  }
  const kept: KeptFile[] = [];
  const small: SmallFile[] = [];
  for (const [at, { path, mediaType, name }] of files.entries()) {
    // A compromised child may send any values.
    if (typeof name !== "string" || typeof mediaType !== "string" || !/^[\x20-\x7e]+$/.test(mediaType)) {
      throw new MediaError("failed", "a run gave a file no name, or no media type");
    }
    const own = await openOwnFile(path, folder);
    try {
      // A text may be empty, such as the CSV of a sheet without rows.
      if (own.size === 0 && !mediaType.startsWith("text/")) throw new MediaError("failed", "a run made an empty file");
      const isSmall = own.size <= SMALL_OBJECT_BYTES_MAX && small.length < STORED_MAX;
      const facts = { contentType: mediaType, filename: name, expiresS: null, work: `capability ${job.model}` };
      const signals = { stopping: signal, patience: signal };
      const id = isSmall ? newFileId() : await storeArtifact(context, job, at, own, facts, signals);
      if (isSmall) {
        const content = Buffer.concat(await Array.fromAsync(own.pieces()));
        small.push({ id, content, filename: name, mediaType });
      }
      kept.push({ file_id: id, content_type: mediaType, bytes: own.size, name });
    } finally {
      await own.close();
    }
  }
  // After the uploads, which may take hours: the janitor deletes bytes that had no row for one hour.
  return { kept, stored: await storeSmallFiles(context, job, small, signal) };
}

interface KeptFile {
  readonly file_id: string;
  readonly content_type: string;
  readonly bytes: number;
  readonly name: string;
}

const CODES: Readonly<Record<MediaFault, Code>> = {
  invalid: "invalid_request",
  unsupported: "unprocessable_input",
  corrupt: "unprocessable_input",
  too_large: "unprocessable_input",
  timeout: "unprocessable_input",
  busy: "overloaded",
  aborted: "service_unavailable",
  failed: "internal_error",
};

/**
 * Deletes the stored results of a failed run, and returns its failure, for which the caller is not charged.
 * @throws `error` if the worker shuts down, the store is unavailable, or the error is internal; another worker then starts the run again
 */
async function failed(context: WorkerContext, job: JobMessage, control: JobControl, error: unknown): Promise<Outcome> {
  const { reason } = control.signal as { readonly reason: unknown };
  const abort = abortReasonOf(reason);
  // The next run may succeed when the store is back, and reuses the uploads.
  if (abort === "shutdown" || (abort === undefined && isOutage(error))) throw error;
  await discardResults(context, { id: job.job_id, workspaceId: job.workspace_id });
  if (abort !== undefined) {
    const failure = explainFailure(error, reason);
    return { status: failure.status, source: null, charge: undefined, failure };
  }
  if (error instanceof ApiError) {
    const { code, message, param } = error;
    return freeFailure({ code, message, param, retry: canSucceedLater(code) });
  }
  if (!(error instanceof MediaError)) throw error;
  const code = CODES[error.fault];
  const facts = { ...loggedFault(error), job_id: job.job_id, capability: job.model, code };
  context.log.warn(facts, "a capability run failed");
  const message = error.fault === "failed" ? "The service failed to run the capability." : error.message;
  return freeFailure({ code, message, param: null, retry: false });
}

/**
 * Returns the details of an error for the log. Messages of engines, parsers and scripts may repeat their input, so only a hash of such a
 * message is logged.
 */
function loggedFault(error: MediaError): object {
  const { fault, isRelayed, message } = error;
  return isRelayed ? { fault, message_hash: Bun.hash(message).toString(36) } : { fault, err: error };
}

function gone(message: string) {
  return { code: "capability_not_found", message, param: null, retry: false } as const;
}

// Output file of a run, kept open from its check to its last byte. A compromised child may replace the path by a link to one of the
// worker's files at any moment.

export interface OwnFile {
  readonly size: number;
  /** Yields the file's bytes from its beginning. It may be called more than once. */
  pieces(): AsyncGenerator<Uint8Array>;
  close(): Promise<void>;
}

const PIECE_BYTES = 1_048_576;

/**
 * Opens a result file by the path that a child process reported. Checks first that the path leads to a regular file within the run's
 * folder.
 * @throws MediaError `failed` if it does not
 */
export async function openOwnFile(path: string, folder: string): Promise<OwnFile> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(notOwn);
  try {
    const { dev, ino, size, ...facts } = await file.stat();
    const parent = realpathSync(dirname(path));
    const named = lstatSync(join(parent, basename(path)));
    const isInside = `${parent}/`.startsWith(`${realpathSync(folder)}/`);
    // Proves that the opened file is in the folder: a link on the path would lead to another device or inode.
    if (!isInside || !isRegular(facts.mode) || named.dev !== dev || named.ino !== ino) throw notOwn();
    return {
      size,
      async *pieces() {
        for (let at = 0; at < size;) {
          const piece = new Uint8Array(Math.min(PIECE_BYTES, size - at));
          const { bytesRead } = await file.read(piece, 0, piece.length, at);
          if (bytesRead === 0) throw new MediaError("failed", "a run cut its file off while it was kept");
          yield piece.subarray(0, bytesRead);
          at += bytesRead;
        }
      },
      close: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error instanceof MediaError ? error : notOwn(error);
  }
}

const isRegular = (mode: number): boolean => (mode & constants.S_IFMT) === constants.S_IFREG;

function notOwn(cause?: unknown): never {
  throw new MediaError("failed", "a run named a file that is not its own", { cause });
}
