/**
 * Stores a provider's results as files of the workspace. Results are inspected first, and results at URLs are downloaded immediately. The
 * file key is the position of the result in the job, so each result is stored once even if several workers run the job.
 */
import { MediaError } from "#shared/children/media-error.ts";
import { isDatabaseAway } from "#shared/database/client.ts";
import { endKeyedFile, findFile } from "#shared/database/files.ts";
import { anyMember } from "#shared/database/viewer.ts";
import { ApiError } from "#shared/base/errors.ts";
import { failpoint } from "#shared/base/failpoint.ts";
import { objectKey } from "#shared/files/id.ts";
import { storeBytes, type StoredFile } from "#shared/files/upload.ts";
import type { BegunUpload } from "#shared/files/uploads.ts";
import { discardResults, resultKey } from "#shared/jobs/kept-results.ts";
import { hasPayload } from "#shared/media/payload.ts";
import { OutboundError } from "#shared/net/fetch.ts";
import { paced } from "#shared/config/pace.ts";
import { deleteObject } from "#shared/storage/objects.ts";

import type { WorkerContext } from "../../context.ts";
import { abortReasonOf } from "../../job.ts";
import type { Artifact } from "../../providers/media.ts";
import { ProviderError } from "../../providers/provider.ts";
import type { Measured } from "./meter.ts";
import type { Holding } from "./result-budget.ts";
import { spool, type Spooled, type SpoolLimits } from "./spool.ts";

/** Maximum attempts to download a result. Each attempt uses a new URL if the provider returns one. */
const ARTIFACT_FETCH_ATTEMPTS = 4;

/** Size of the steps in which a download reserves bytes of its pool's budget. */
export const RESULT_STEP_BYTES = 4 * 1_048_576;

/**
 * Maximum time during which a failed storage operation is retried, in milliseconds. Retries are long, because the provider was already paid
 * for the results.
 */
const STORE_ARTIFACT_MS = paced(60_000);

/** Free storage of a workspace above which audio is sent while it is generated, in bytes. It is more than any generated speech needs. */
export const LIVE_FREE_STORAGE_BYTES = 33_554_432n;

export interface Kept extends Measured {
  readonly fileId: string;
  readonly contentType: string;
  readonly bytes: number;
}

/** Limits, polling intervals and file types of the results of one kind of call. */
export interface OutputSpec extends SpoolLimits {
  /** Maximum time from the job's start at a provider to its result, in milliseconds. */
  readonly totalMs: number;
  /** Minimum and maximum interval between two polls, in milliseconds. */
  readonly pollMinMs: number;
  readonly pollMaxMs: number;
  /** Noun for a result, such as `image`. It is part of file names. */
  readonly noun: string;
  /** Maps each accepted content type to its file extension. A result of any other type is rejected. */
  readonly types: Readonly<Record<string, string>>;
  /** True if each result is useful without the other results of the same job. */
  readonly isIndependent?: true;
  /** Detects the content type of the bytes; undefined if it is unknown. */
  typeOf(bytes: Uint8Array, artifact: Artifact): Promise<string | undefined>;
  /** Measures a result for the charge. @throws ProviderError `aborted` */
  measure(context: MeasureContext, spooled: Spooled, contentType: string, signal: AbortSignal): Promise<Measured>;
}

export interface KeepOptions {
  readonly signal: AbortSignal;
  /** Account of the job in the pool's result budget. */
  readonly holding: Holding;
  /** Identifies the provider job whose results are stored: the source, and the provider's id of the job if there is one. */
  readonly work: string;
  /** Requests the results from the provider again. Needed for retries, because the URLs of results may expire within minutes. */
  readonly refresh?: (() => Promise<readonly Artifact[] | undefined>) | undefined;
  /**
   * True if the results can be requested from the provider again. Another worker that takes the job over then skips the results that are
   * already stored.
   */
  readonly canResume?: boolean;
  /** Seconds until the files are deleted. It is set for a streamed job, whose files are temporary; null means never. */
  readonly expiresS?: number | null;
  /** Called with the bytes of the first result as they arrive. */
  readonly onBytes?: ((bytes: Uint8Array) => void) | undefined;
}

type Tools = Pick<WorkerContext, "uploads" | "uploadPlaces" | "database" | "storage" | "probes" | "log">;

/**
 * Stores all results in their order. If one result fails, stores none, unless the results are independent of each other.
 * @throws ProviderError `failed` if a required result cannot be downloaded or has the wrong type
 * @throws ApiError if the file store rejects a result, or had no capacity for too long
 */
export async function keepArtifacts(
  context: Tools,
  job: { readonly job_id: string; readonly workspace_id: string },
  results: readonly Artifact[],
  output: OutputSpec,
  options: KeepOptions,
): Promise<readonly Kept[]> {
  const { holding } = options;
  const kept: Kept[] = [];
  const inMemory = results.reduce((sum, one) => sum + ("bytes" in one ? one.bytes.length : 0), 0);
  try {
    holding.keep(inMemory);
    await holding.add(inMemory - holding.bytes, patienceOf(options));
    let artifacts = results;
    const refresh = async (): Promise<void> => {
      artifacts = (await options.refresh?.()) ?? artifacts;
    };
    let failure: ProviderError | undefined;
    for (let at = 0; at < results.length; at++) {
      const onBytes = at === 0 ? options.onBytes : undefined;
      try {
        const spooled = await fetchOne(at, () => artifacts[at], output, { ...options, onBytes }, refresh);
        failpoint("artifact.fetched");
        try {
          kept.push(await keepOne(context, job, at, spooled, output, artifacts[at], options));
          failpoint("artifact.kept");
        } finally {
          spooled.remove();
          holding.keep(inMemory);
        }
      } catch (error) {
        if (output.isIndependent !== true || !(error instanceof ProviderError) || error.kind !== "failed") throw error;
        failure ??= error;
      }
    }
    if (kept.length === 0 && failure !== undefined) throw failure;
    return kept;
  } catch (error) {
    if (options.canResume === true && canJobContinue(error)) throw error;
    await discardResults(context, jobOf(job));
    throw error;
  }
}

/** True if another worker could still complete the job after this error. The provider must still have the results. */
function canJobContinue(error: unknown): boolean {
  return (
    isStoreAway(error) || (error instanceof ProviderError && (error.kind === "unknown" || error.kind === "aborted"))
  );
}

async function fetchOne(
  at: number,
  current: () => Artifact | undefined,
  output: OutputSpec,
  { signal, onBytes, canResume = false, holding }: KeepOptions,
  refresh: () => Promise<void>,
): Promise<Spooled> {
  for (let attempt = 1; ; attempt++) {
    const artifact = current();
    if (artifact === undefined) throw new ProviderError("failed", `${output.noun} ${at + 1} is not there any more`);
    let hasBegun = false;
    const heldBefore = holding.bytes;
    // Streamed audio needs no reservation up to `LIVE_FREE_STORAGE_BYTES`, which its workspace has free.
    const reserveBytes = reserverOnDisk(holding, onBytes ? Number(LIVE_FREE_STORAGE_BYTES) : 0, signal);
    try {
      // A result that cannot be requested again is the response itself, whose time the call limits.
      return await spool(artifact, { ...output, isLive: !canResume }, signal, {
        reserveBytes,
        onBytes(bytes) {
          hasBegun = true;
          onBytes?.(bytes);
        },
      });
    } catch (error) {
      holding.keep(heldBefore);
      const mayPass = error instanceof OutboundError && error.fault !== "unsafe" && error.fault !== "too_large";
      const isLost = error instanceof ProviderError && error.kind === "failed" && "open" in artifact;
      if (!mayPass && !isLost) throw asProviderError(error, output.noun);
      // A download that the client is already receiving cannot start again.
      const isStreamed = hasBegun && onBytes !== undefined;
      if (isStreamed) throw asProviderError(error, output.noun);
      if (attempt >= ARTIFACT_FETCH_ATTEMPTS) {
        if (!canResume) throw asProviderError(error, output.noun);
        // The result is paid for and kept by its provider, so the job is polled again later instead of failing.
        throw new ProviderError("unknown", `a made ${output.noun} cannot be fetched for now`, { cause: error });
      }
    }
    await Bun.sleep(Math.random() * paced(500) * 2 ** attempt);
    await refresh();
  }
}

/** Returns a function that reserves budget bytes step by step while a download grows. */
function reserverOnDisk(holding: Holding, freeBytes: number, signal: AbortSignal): (bytes: number) => Promise<void> {
  let reservedBytes = freeBytes;
  return async (bytes) => {
    if (bytes <= reservedBytes) return;
    const more = Math.max(RESULT_STEP_BYTES, bytes - reservedBytes);
    await holding.add(more, signal);
    reservedBytes += more;
  };
}

function asProviderError(error: unknown, noun: string): unknown {
  if (!(error instanceof OutboundError)) return error;
  return new ProviderError("failed", `a made ${noun} could not be fetched: ${error.message}`, { cause: error });
}

async function keepOne(
  context: Tools,
  job: { readonly job_id: string; readonly workspace_id: string },
  at: number,
  spooled: Spooled,
  output: OutputSpec,
  artifact: Artifact | undefined,
  options: KeepOptions,
): Promise<Kept> {
  const { expiresS = null, canResume = false, signal, work } = options;
  const contentType = artifact && (await output.typeOf(spooled.view(), artifact));
  const extension = contentType === undefined ? undefined : output.types[contentType];
  if (contentType === undefined || extension === undefined) {
    throw new ProviderError("failed", `what was made is no ${output.noun}`);
  }
  if (!hasPayload(spooled.view(), contentType)) {
    throw new ProviderError("failed", `what was made is the header of a ${contentType} file without content`);
  }
  const measured = await output.measure(context, spooled, contentType, patienceOf(options));
  const filename = `${output.noun}-${at + 1}.${extension}`;
  const signals = { stopping: canResume ? signal : undefined, patience: patienceOf(options) };
  const fileId = await storeArtifact(context, job, at, spooled, { contentType, filename, expiresS, work }, signals);
  return { fileId, contentType, bytes: spooled.size, ...measured };
}

/**
 * Returns the signal whose abort ends waiting for storage capacity. If the results cannot be downloaded again, the returned signal never
 * aborts, so that they are not lost.
 */
function patienceOf({ canResume = false, signal }: KeepOptions): AbortSignal {
  return canResume ? signal : new AbortController().signal;
}

/** Request fingerprint for our own idempotency keys. It is constant, because each of these keys names exactly one result. */
const NO_FINGERPRINT = "00".repeat(32);

/** Error codes of temporary failures of the file store. */
const MAY_PASS: ReadonlySet<string> = new Set(["overloaded", "service_unavailable", "upload_in_progress"]);

/** True if the error means that the file store, or the database with its file records, is unavailable or overloaded. */
export function isStoreAway(error: unknown): boolean {
  return (error instanceof ApiError && MAY_PASS.has(error.code)) || isDatabaseAway(error);
}

function jobOf({ job_id: id, workspace_id: workspaceId }: { readonly job_id: string; readonly workspace_id: string }) {
  return { id, workspaceId };
}

/** Stores a result as a file of the workspace, at most once per position in the job. @throws ApiError if the file store rejects it */
export async function storeArtifact(
  context: Pick<WorkerContext, "uploads" | "uploadPlaces" | "database">,
  job: { readonly job_id: string; readonly workspace_id: string },
  at: number,
  content: Pick<Spooled, "pieces" | "size">,
  facts: {
    readonly contentType: string;
    readonly filename: string;
    readonly expiresS: number | null;
    readonly work: string;
  },
  signals: {
    /** Signal of the worker's shutdown. Its abort ends waiting for the file store. */
    readonly stopping: AbortSignal | undefined;
    /** Signal whose abort ends waiting for an upload slot. */
    readonly patience: AbortSignal;
  },
): Promise<string> {
  const { uploads, database } = context;
  const { stopping, patience } = signals;
  const { contentType: mediaType, filename, expiresS, work } = facts;
  const key = resultKey(jobOf(job), work, at);
  const keep = async (begun: BegunUpload): Promise<string | undefined> => {
    if (begun.kind === "done") {
      if (await findFile(database, anyMember(job.workspace_id), begun.answer)) return begun.answer;
      // The owner has deleted the file in the meantime, but must receive the paid result.
      await endKeyedFile(database, job.workspace_id, begun.answer, key);
      return undefined;
    }
    const { upload } = begun;
    const send = async (): Promise<void> => {
      for await (const piece of content.pieces()) await upload.write(piece);
      await upload.end();
    };
    await unlessStopping(stopping, send);
    const repeat = { fingerprint: NO_FINGERPRINT, answer: upload.id };
    await upload.finish({ filename, purpose: "user_data", mediaType, expiresS, ownerKeyId: null, repeat });
    return upload.id;
  };
  return inPlace(context, job, patience, async () => {
    for (;;) {
      const fileId = await untilTaken(stopping, () => uploads.run(job.workspace_id, key, keep, content.size));
      if (fileId !== undefined) return fileId;
    }
  });
}

/** File whose content is completely in memory, with the id that its database row will have. */
export interface SmallFile extends Pick<StoredFile, "id" | "filename" | "mediaType"> {
  readonly content: Uint8Array;
}

/**
 * Writes the bytes of all small files to the file store. If one file fails, none is stored. The database rows of the files are written
 * later, together with the end of the job.
 * @throws ApiError if the file store rejects a file
 * @throws ProviderError `aborted` if the worker stops first
 */
export async function storeSmallFiles(
  context: Pick<WorkerContext, "uploadPlaces" | "storage" | "log">,
  job: { readonly workspace_id: string },
  files: readonly SmallFile[],
  stopping: AbortSignal,
): Promise<readonly StoredFile[]> {
  const { storage } = context;
  // Aborts running uploads, which would otherwise reach the store after the deletion of their bytes.
  const abandoned = new AbortController();
  const stored: StoredFile[] = [];
  try {
    for (const { content, ...one } of files) {
      const send = () => storeBytes(storage, one.id, content, abandoned.signal);
      const work = () => untilTaken(stopping, () => unlessStopping(stopping, send));
      stored.push({ ...one, purpose: "user_data", digested: await inPlace(context, job, stopping, work) });
    }
    return stored;
  } catch (error) {
    abandoned.abort(new Error("the files of the run were given up"));
    await eraseStored(context, files);
    throw error;
  }
}

/** Maximum time that a run waits for the deletion of its stored bytes after its files could not be stored, in milliseconds. */
const ERASE_MS = paced(2_000);

/** Deletes stored bytes that will have no database row. The janitor deletes any bytes that remain. */
export async function eraseStored(
  { storage, log }: Pick<WorkerContext, "storage" | "log">,
  files: readonly { readonly id: string }[],
): Promise<void> {
  const erased = Promise.all(files.map(({ id }) => deleteObject(storage, objectKey(id)))).catch((error: unknown) =>
    log.warn({ err: error }, "a run's stored output could not be deleted; the janitor retries"),
  );
  await Promise.race([erased, Bun.sleep(ERASE_MS)]);
}

/** Waits for one of the upload slots that the workspace has in this process, runs a function, and frees the slot. */
async function inPlace<T>(
  { uploadPlaces }: Pick<WorkerContext, "uploadPlaces">,
  { workspace_id }: { readonly workspace_id: string },
  patience: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  const place = uploadPlaces.open(workspace_id);
  try {
    await place.add(1, patience);
    return await work();
  } finally {
    place.keep(0);
  }
}

/** Runs a function, and retries while the file store is temporarily unavailable. */
async function untilTaken<T>(stopping: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
  const giveUpAt = performance.now() + STORE_ARTIFACT_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isStoreAway(error) || isStop(stopping) || performance.now() > giveUpAt) throw error;
    }
    await Bun.sleep(paced(200 + Math.random() * 800));
  }
}

function isStop(signal: AbortSignal | undefined): boolean {
  const reason: unknown = signal?.reason;
  return abortReasonOf(reason) === "shutdown";
}

/** Runs a function, and rejects as soon as the worker stops; the function itself may continue. @throws ProviderError `aborted` */
async function unlessStopping<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
  const { promise: stopped, reject } = Promise.withResolvers<never>();
  const stop = (): void => {
    if (isStop(signal)) reject(new ProviderError("aborted", "the worker stops", { cause: signal?.reason }));
  };
  signal?.addEventListener("abort", stop, { once: true });
  try {
    stop();
    return await Promise.race([work(), stopped]);
  } finally {
    signal?.removeEventListener("abort", stop);
  }
}

// Length of audio and video results. Their bytes are untrusted, so a child process with limits reads them.

type MeasureContext = Pick<WorkerContext, "probes" | "log">;

/**
 * Maximum attempts to probe a file. A child process may also crash for reasons other than the file, such as a machine without free memory.
 */
const TRIES = 2;

/**
 * Returns the length of a media file in seconds.
 * @returns undefined if the probe cannot read the file, or every child process crashed or timed out; players may still read it
 * @throws ProviderError `aborted` if the signal aborts first
 */
export async function secondsOf(
  { probes, log }: MeasureContext,
  kind: "audio" | "video",
  output: Pick<Spooled, "source">,
  signal: AbortSignal,
): Promise<number | undefined> {
  for (let attempt = 1; ; attempt++) {
    try {
      return (await probes[kind](output.source, signal)).seconds;
    } catch (error) {
      if (!(error instanceof MediaError)) throw error;
      if (error.fault === "aborted") throw new ProviderError("aborted", "the call was aborted", { cause: error });
      if (isVerdict(error)) return undefined;
      log.warn({ err: error, kind, attempt }, "a result could not be inspected");
      if (attempt >= TRIES) return undefined;
    }
  }
}

/** True if the probe examined the bytes and rejected them. Another attempt would then fail too. */
function isVerdict({ fault }: MediaError): boolean {
  return fault === "unsupported" || fault === "corrupt" || fault === "too_large";
}
