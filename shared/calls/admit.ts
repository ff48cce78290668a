/**
 * Admits all paid jobs and calls, from every entry point. For a job, one transaction checks the workspace's storage and budget, places the
 * hold and inserts the row. For a synchronous call, only the hold is placed. Objects stored for a rejected job are deleted.
 */
import type { JobMessage } from "#schemas/generated/types.ts";
import type { Caller } from "#shared/access/authenticate.ts";
import { commonNow } from "#shared/base/clock.ts";
import { type Led, Superseded } from "#shared/database/batch-work.ts";
import { isDatabaseAway, type Queryable } from "#shared/database/client.ts";
import { findFreeStorage } from "#shared/database/files.ts";
import { ApiError, isRefusal } from "#shared/base/errors.ts";
import { unavailable } from "#shared/files/unavailable.ts";
import type { JobAdmission, JobRequest, JobVerdict } from "#shared/jobs/admission.ts";
import type { JobDispatcher } from "#shared/jobs/dispatcher.ts";
import type { CallAdmission, HoldRequest } from "#shared/ledger/call-admission.ts";
import { batchLineOf } from "#shared/calls/pricing/price.ts";
import { priceAt } from "#shared/ledger/charge.ts";
import type { CreditLineHold } from "#shared/ledger/credit-line-calls.ts";
import type { Logger } from "#shared/base/logger.ts";
import type { Metrics } from "#shared/metrics/metrics.ts";
import { JOB_LIFE_MS, MEDIA_JOB_LIFE_MS } from "#shared/queue/job-life.ts";
import type { Lane, Pool } from "#shared/queue/subjects.ts";
import type { Storage } from "#shared/storage/client.ts";

import type { CallLabels } from "./labels.ts";
import type { LoadedCall, ReadCall } from "./read.ts";
import { discardStored, type StoredRequest, storeRequest } from "./stored-request.ts";
import { holdOf, jobCallerOf, jobWorkOf, type WorkFacts } from "./work.ts";

/** Rules by which an entry point admits jobs. */
interface Policy {
  /** True if the job counts in the rate-limit window. A step's job does not, because it was counted with its run. */
  readonly isCounted: boolean;
  /** Behaviour when the rate-limit window is full: a batch message waits, an HTTP call is rejected. */
  readonly ifFull: JobRequest["ifFull"];
  /** True if a rejection is stored as a job, so that a publisher that sends the same message again gets the same result. */
  readonly keepsRefusals: boolean;
  /**
   * True if the admission is repeated once when the database's response is lost. Not needed for messages and steps, which are retried
   * anyway.
   */
  readonly asksTwice: boolean;
  /** Maximum time from admission to the start of the job, in milliseconds. */
  readonly lifeMs: number;
}

const ENTRIES = {
  http: { isCounted: true, ifFull: "refuse", keepsRefusals: false, asksTwice: true, lifeMs: MEDIA_JOB_LIFE_MS },
  batch: { isCounted: true, ifFull: "wait", keepsRefusals: true, asksTwice: false, lifeMs: JOB_LIFE_MS },
  step: { isCounted: false, ifFull: "refuse", keepsRefusals: false, asksTwice: false, lifeMs: JOB_LIFE_MS },
} as const satisfies Record<string, Policy>;

export interface AdmitContext {
  /** Rate-limit window. Present for entry points whose jobs count in it. */
  readonly calls?: Pick<CallAdmission, "check">;
  readonly config: { readonly storageBytesMax: number };
  readonly database: Queryable;
  readonly jobs: JobAdmission;
  readonly log: Logger;
  readonly storage: Storage;
}

/** Request that is to be admitted as a job. */
export interface Work {
  readonly entry: keyof typeof ENTRIES;
  readonly id: string;
  readonly caller: Caller;
  readonly pool: Pool;
  readonly lane: Lane;
  /** Reads and validates the request. @throws ApiError if the request is invalid */
  read(): Promise<ReadCall> | ReadCall;
  readonly publisherKey?: string | null;
  /** NATS subject to which the end of the job is reported. */
  readonly reply?: string | null;
  readonly traceparent?: string | undefined;
  readonly step?: JobRequest["step"];
  /** Workflow step under which the call's output is streamed to readers of the run. */
  readonly streamTarget?: JobMessage["step"];
  /** True if no other job of the workflow run is queued or running. The worker that ends the job may then continue the run itself. */
  readonly continuesInWorker?: boolean;
  /** True if the caller reads the job's states as a stream. The job cannot be queried afterwards. */
  readonly isStreamed?: boolean;
  /** True for a stored response that no caller waits for. */
  readonly isBackground?: boolean;
  /** Name of the conversation, used for routing if the request names none. Calls of one conversation prefer the same source. */
  readonly affinity?: string;
  /** Fingerprint of a batch message, used to detect an equal message. */
  readonly fingerprint?: string;
  /** Ids of the runs and of the batch whose `max_credits` applies to the job. */
  readonly scopes?: readonly string[];
  /**
   * Batch line that the job executes. The result of the job becomes the result of this line. Its share of the price applies to models
   * without a share of their own.
   */
  readonly batchLine?: NonNullable<JobMessage["batch_line"]>;
  /** Batch of the line, with the epoch of its leader. The job is rejected once another process leads the batch. */
  readonly batch?: Led;
  /** True if the request has waited longer than a rate-limit window, so that it is admitted even if the window is full. */
  readonly starves?: boolean;
  /** Suffix that distinguishes the stored objects of this request from the objects of another request with the same id. */
  readonly part?: string;
  /**
   * Takes a permit for reading and storing a heavy call. Returns the function that releases the permit, or undefined when no permit is
   * free.
   */
  takePermit?(): Promise<(() => void) | undefined>;
  /** Called directly before the database decides about the admission. */
  onDecide?(): void;
}

type Verdict = Exclude<JobVerdict, { readonly kind: "superseded" }>;

/**
 * Result of an admission. `busy`: no permit for a heavy call is free. `refusal`: error of a call that was rejected before the database
 * decided. `amountNano`: hold that a refused call requires, in nano-credits.
 */
export type Admission = (Verdict | { readonly kind: "busy" }) & {
  readonly refusal?: ApiError;
  readonly amountNano?: bigint;
};

/**
 * Delay before a heavy call is tried again after its rate-limit window was full, in milliseconds. Nothing of the call is stored until then.
 */
const RECHECK_DELAY_MS = 2_000;

/**
 * Reads a request, stores its large parts, and admits it as a durable job.
 * @throws ApiError if the call is rejected, unless the entry point stores rejections; Superseded if another process now leads the batch;
 * Error if it is unknown whether the job was admitted
 */
export async function admitJob(context: AdmitContext, work: Work): Promise<Admission> {
  const policy: Policy = ENTRIES[work.entry];
  try {
    const call = await work.read();
    if (call.kind.keepsFiles) await checkFreeStorage(context, work.caller.workspaceId);
    const isHeavy = call.isHeavy();
    const checksFirst = isHeavy && policy.isCounted && work.starves !== true;
    const later = checksFirst
      ? await precheckAdmission(context, work, priceAt(call.leastNano, lineOf(work, call)))
      : undefined;
    if (later) return later;
    const free = isHeavy && work.takePermit ? await work.takePermit() : () => undefined;
    if (!free) return { kind: "busy" };
    const { loaded, stored } = await load(context, work, call).finally(free);
    const terms = termsOf(work, call, loaded, stored);
    const verdict = await decide(context, work, terms, stored);
    return verdict.kind === "refused" ? { ...verdict, amountNano: terms.terms.hold.amountNano } : verdict;
  } catch (error) {
    if (!policy.keepsRefusals || !isRefusal(error)) throw error;
    const nothing = { kind: "chat", modality: "text", model: null, request: null, lifeMs: policy.lifeMs };
    const terms = { ...nothing, work: { fingerprint: work.fingerprint }, terms: { refusal: error } };
    return { ...(await decide(context, work, terms, undefined)), refusal: error };
  }
}

async function load(
  context: Pick<AdmitContext, "log" | "storage">,
  { id, part }: Work,
  call: ReadCall,
): Promise<{ readonly loaded: LoadedCall; readonly stored: StoredRequest }> {
  const loaded = await call.load();
  return { loaded, stored: await storeRequest(context, id, loaded.inline, (inputs) => loaded.text(inputs), part) };
}

/**
 * Checks a heavy call before it is stored. Returns why the call must wait: the rate-limit window is full, or credits are still held by a
 * crashed process. Returns undefined if the call would be admitted now.
 * @throws ApiError if the call is rejected
 */
async function precheckAdmission(
  { calls }: AdmitContext,
  { entry, caller }: Work,
  leastNano: bigint,
): Promise<Verdict | undefined> {
  if (!calls) throw new Error("a window that counts needs to be looked at");
  try {
    await calls.check(caller.workspaceId, caller.preset.requests_per_minute, leastNano);
    return undefined;
  } catch (error) {
    if (ENTRIES[entry].ifFull !== "wait" || !(error instanceof ApiError)) throw error;
    const waits = { kind: "full", waitMs: RECHECK_DELAY_MS } as const;
    if (error.code === "rate_limit_exceeded") return waits;
    if (error.code === "insufficient_credits" && "retry-after" in error.headers) return { ...waits, isForFunds: true };
    throw error;
  }
}

type Terms = Pick<JobRequest, "kind" | "modality" | "model" | "work" | "request" | "terms" | "lifeMs"> &
  Partial<Pick<JobRequest, "isHidden" | "keepsRecord">>;

/** Returns the batch line of a job with the share of the price that its model charges; undefined for a job outside of batches. */
function lineOf({ batchLine }: Work, { model: { price } }: Pick<ReadCall, "model">): Work["batchLine"] {
  return batchLine && batchLineOf(price, batchLine.price_millionths);
}

function termsOf(
  work: Work,
  call: ReadCall,
  checked: LoadedCall,
  stored: StoredRequest,
): Terms & { readonly terms: { readonly hold: HoldRequest } } {
  const { entry, isStreamed, isBackground, affinity, fingerprint, streamTarget, continuesInWorker } = work;
  const { kind, model, labels } = call;
  const batchLine = lineOf(work, call);
  const { lifeMs } = ENTRIES[entry];
  const marks = { ...(isStreamed ? { isStreamed } : {}), ...(fingerprint === undefined ? {} : { fingerprint }) };
  const of = { id: work.id, caller: work.caller, labels };
  const terms = jobWorkOf(of, { kind, model, checked, stored, lifeMs, ...marks });
  const step = streamTarget === undefined ? {} : { step: streamTarget };
  // The ingress itself keeps a call whose client waits for the response.
  const keepsBodies = work.caller.bodies !== undefined && (entry !== "http" || isBackground === true);
  const extraFields = {
    ...step,
    ...(keepsBodies ? { bodies: work.caller.bodies } : {}),
    ...(batchLine === undefined ? {} : { batch_line: batchLine }),
    ...(continuesInWorker === true ? { goes_on: true } : {}),
    ...(isBackground === true ? { api: "responses", background: true } : {}),
    ...(affinity === undefined ? {} : { affinity }),
  };
  const { hold } = terms.terms;
  const scopes = work.scopes === undefined ? {} : { scopes: [...(hold.scopes ?? []), ...work.scopes] };
  const held: HoldRequest = { ...hold, ...scopes, amountNano: priceAt(hold.amountNano, batchLine) };
  return { ...terms, work: { ...terms.work, ...extraFields }, terms: { hold: held } };
}

function requestOf(work: Work, terms: Terms): JobRequest {
  const { entry, id, caller, pool, lane, publisherKey = null, reply = null, starves, step, traceparent, batch } = work;
  const { isCounted, ifFull }: Policy = ENTRIES[entry];
  return {
    ...jobCallerOf({ id, caller }),
    ...terms,
    ...(isCounted ? {} : { isCounted, limit: null }),
    pool,
    lane,
    publisherKey,
    reply,
    ifFull,
    ...(starves === undefined ? {} : { starves }),
    ...(step === undefined ? {} : { step }),
    ...(batch === undefined ? {} : { batch }),
    ...(traceparent === undefined ? {} : { traceparent }),
  };
}

/**
 * Prepares a text call for admission as part of another SQL statement, by the same rules. Returns undefined if the call is too large for a
 * database row.
 * @throws ApiError if the call is rejected
 */
export async function prepareJobRequest(
  context: Pick<AdmitContext, "log" | "storage">,
  work: Work,
): Promise<JobRequest | undefined> {
  const call = await work.read();
  if (call.isHeavy()) return undefined;
  const { loaded, stored } = await load(context, work, call);
  return requestOf(work, termsOf(work, call, loaded, stored));
}

async function decide(
  context: AdmitContext,
  work: Work,
  terms: Terms,
  stored: StoredRequest | undefined,
): Promise<Verdict> {
  const { entry, id } = work;
  const { ifFull, asksTwice }: Policy = ENTRIES[entry];
  const request = requestOf(work, terms);
  const discard = (): void => {
    if (stored) discardStored(context, id, stored);
  };
  work.onDecide?.();
  const verdict = asksTwice ? await admitTwice(context, request, discard) : await context.jobs.admit(request);
  // A waiting message, and a step without a final result, will store the same objects again.
  const isOver =
    entry === "step" ? verdict.kind === "refused" : verdict.kind !== "admitted" && verdict.kind !== "known";
  if (isOver && !(verdict.kind === "full" && ifFull === "wait")) discard();
  if (verdict.kind === "superseded") throw new Superseded();
  return verdict;
}

/**
 * Sends the message of an admitted job to the queue. A job that waits for queue capacity is sent later. The janitor resends lost messages.
 */
export async function dispatchAdmitted(
  dispatcher: Pick<JobDispatcher, "send">,
  { entry, id, caller: { workspaceId }, pool, lane }: Work,
  verdict: Admission,
): Promise<void> {
  if (verdict.kind !== "admitted" || verdict.dispatch === 0) return;
  const { attempt, dispatch } = verdict;
  const deadline = new Date(commonNow() + ENTRIES[entry].lifeMs);
  await dispatcher.send(pool, lane, [{ id, workspace_id: workspaceId, attempt, dispatch, deadline }], "admitted");
}

/**
 * Admits a synchronous call: counts it for the rate limit and holds its credits, in one SQL statement. Returns the reserved part of a
 * credit line if the call was admitted on one. Returns undefined if the call has a hold of its own.
 * @param lifeMs lifetime of the hold, in milliseconds
 * @param onDecide called directly before the database decides
 */
export async function admitCall(
  { calls, metrics }: { readonly calls: Pick<CallAdmission, "place">; readonly metrics: Metrics },
  of: { readonly id: string; readonly caller: Caller; readonly labels?: CallLabels | undefined },
  { model, bound, response, route }: Pick<WorkFacts, "model" | "bound" | "response" | "route">,
  lifeMs: number,
  onDecide?: () => void,
): Promise<CreditLineHold | undefined> {
  const { caller } = of;
  onDecide?.();
  const at = performance.now();
  try {
    // Storing a response requires a hold of its call.
    const hold = { ...holdOf(of, model, bound, lifeMs, route?.labels), canUseCreditLine: response === undefined };
    const creditLineHold = await calls.place(caller.workspaceId, caller.preset.requests_per_minute, hold);
    metrics.admissions.inc("admitted");
    return creditLineHold;
  } catch (error) {
    metrics.admissions.inc(error instanceof ApiError ? error.code : "failed");
    throw error;
  } finally {
    metrics.admissionSeconds.observe((performance.now() - at) / 1_000);
  }
}

/** Free storage above which a workspace is not checked again for `AMPLE_STORAGE_TTL_MS`, because it cannot fill up in that time. */
const AMPLE_STORAGE = { bytes: 1_073_741_824, files: 10_000 };
const AMPLE_STORAGE_TTL_MS = 1_000;
const AMPLE_STORAGE_ENTRIES_MAX = 10_000;

/** For each database: time (`performance.now()`) until which a workspace is known to have enough storage, by workspace id. */
const ampleStorageUntil = new WeakMap<Queryable, Map<string, number>>();

/**
 * Rejects a request of a workspace whose storage is full. Otherwise the provider would be paid for results that cannot be stored.
 * @throws ApiError
 */
async function checkFreeStorage({ database, config }: AdmitContext, workspaceId: string): Promise<void> {
  const known = ampleStorageUntil.get(database) ?? new Map<string, number>();
  ampleStorageUntil.set(database, known);
  const now = performance.now();
  if (now < (known.get(workspaceId) ?? 0)) return;
  const { bytes, files } = await unavailable(
    "The file store cannot be reached right now; try again shortly.",
    findFreeStorage(database, workspaceId, config.storageBytesMax),
  );
  if (bytes >= AMPLE_STORAGE.bytes && files >= AMPLE_STORAGE.files) {
    if (known.size >= AMPLE_STORAGE_ENTRIES_MAX) known.clear();
    known.set(workspaceId, now + AMPLE_STORAGE_TTL_MS);
  }
  if (bytes > 0 && files > 0) return;
  throw new ApiError(
    "storage_limit_exceeded",
    `The result would exceed the workspace's storage limit of ${config.storageBytesMax} bytes; delete files first.`,
  );
}

/**
 * Admits a job, and repeats the admission once if the database's response is lost. The repetition creates no second job, because it has the
 * same id.
 * @param onRefused called if the job is certainly not admitted, because the request did not reach the database
 * @throws ApiError `overloaded`; `service_unavailable` that names the job's id and forbids a retry, if it is unknown whether the job was
 * admitted
 */
export async function admitTwice(
  { jobs, log }: { readonly jobs: JobAdmission; readonly log: Logger },
  job: JobRequest,
  onRefused: () => void,
): Promise<JobVerdict> {
  try {
    return await jobs.admit(job);
  } catch (error) {
    if (error instanceof ApiError) onRefused();
    if (!isDatabaseAway(error)) throw error;
    log.warn({ err: error, job_id: job.id }, "checking again whether a job was admitted");
  }
  try {
    return await jobs.admit(job);
  } catch (error) {
    const unknown = "The service does not know if the call was admitted";
    // The job of a stream cannot be queried.
    if (job.isHidden === true) {
      throw new ApiError("service_unavailable", `${unknown}.`, { shouldRetry: false, cause: error });
    }
    const message = `${unknown}. Before a retry, read job ${job.id} in a minute.`;
    throw new ApiError("service_unavailable", message, { shouldRetry: false, jobId: job.id, cause: error });
  }
}
