/**
 * The one way in for work that is paid, whichever entry brings it: its workspace's room, its budget, what it holds, and the row of its
 * job in one transaction; of a call that its process waits for the hold alone. What was stored for a job that is refused is deleted.
 */
import type { JobMessage } from "#schemas/generated/types.ts";
import type { Caller } from "#shared/access/authenticate.ts";
import { commonNow } from "#shared/clock.ts";
import { type Led, Superseded } from "#shared/database/batch-work.ts";
import type { Queryable } from "#shared/database/client.ts";
import { storageLeft } from "#shared/database/files.ts";
import { ApiError, isRefusal } from "#shared/errors.ts";
import { unavailable } from "#shared/files/unavailable.ts";
import type { JobAdmission, JobRequest, JobVerdict } from "#shared/jobs/admission.ts";
import { admitTwice } from "#shared/jobs/admit-twice.ts";
import type { JobDispatcher } from "#shared/jobs/dispatcher.ts";
import type { CallAdmission } from "#shared/ledger/call-admission.ts";
import type { LinedHold } from "#shared/ledger/lined-calls.ts";
import type { Logger } from "#shared/logger.ts";
import type { Metrics } from "#shared/metrics.ts";
import type { Lane, Pool } from "#shared/queue/subjects.ts";
import type { Storage } from "#shared/storage/client.ts";
import { priceAt } from "#shared/ledger/charge.ts";
import { MEDIA_JOB_LIFE_MS, JOB_LIFE_MS } from "#shared/queue/job-life.ts";

import type { LoadedCall, ReadCall } from "./read.ts";
import { discardStored, type StoredRequest, storeRequest } from "./stored-request.ts";
import { holdOf, jobCallerOf, jobWorkOf, type WorkFacts } from "./work.ts";

/** Rules by which an entry point admits work. */
interface Policy {
  /** True if the work counts in the rate-limit window; the work of a step was counted with its run. */
  readonly isCounted: boolean;
  /** Over a full window a message waits, and a caller is sent away. */
  readonly ifFull: JobRequest["ifFull"];
  /** A refusal is kept as a job, for a publisher that sends the same again. */
  readonly keepsRefusals: boolean;
  /** A lost answer of the database is asked for once more; messages and steps come again by themselves. */
  readonly asksTwice: boolean;
  /** Longest time from admission to the start of the job, in milliseconds. */
  readonly lifeMs: number;
}

const ENTRIES = {
  http: { isCounted: true, ifFull: "refuse", keepsRefusals: false, asksTwice: true, lifeMs: MEDIA_JOB_LIFE_MS },
  batch: { isCounted: true, ifFull: "wait", keepsRefusals: true, asksTwice: false, lifeMs: JOB_LIFE_MS },
  step: { isCounted: false, ifFull: "refuse", keepsRefusals: false, asksTwice: false, lifeMs: JOB_LIFE_MS },
} as const satisfies Record<string, Policy>;

export interface AdmitContext {
  /** Present for entries whose window counts the work. */
  readonly calls?: Pick<CallAdmission, "look">;
  readonly config: { readonly storageBytesMax: number };
  readonly database: Queryable;
  readonly jobs: JobAdmission;
  readonly log: Logger;
  readonly storage: Storage;
}

/** Work that is to become a job. */
export interface Work {
  readonly entry: keyof typeof ENTRIES;
  readonly id: string;
  readonly caller: Caller;
  readonly pool: Pool;
  readonly lane: Lane;
  /** @throws ApiError of what is asked for */
  read(): Promise<ReadCall> | ReadCall;
  readonly publisherKey?: string | null;
  /** Subject to which the end of the job is reported. */
  readonly reply?: string | null;
  readonly traceparent?: string | undefined;
  readonly step?: JobRequest["step"];
  /** Place in a workflow run under which the call's output is streamed to readers of the run. */
  readonly heardAt?: JobMessage["step"];
  /** The run of the step has nothing else under way: who ends it may go on with the run. */
  readonly goesOn?: boolean;
  /** The caller reads its states as a stream. The job has no address afterwards. */
  readonly isStreamed?: boolean;
  /** It answers a stored response that nobody waits for. */
  readonly isBackground?: boolean;
  /** Name of the conversation that it belongs to, where its request says none. */
  readonly affinity?: string;
  /** Fingerprint of a batch message, which tells if another message asks for the same. */
  readonly fingerprint?: string;
  /** It is a line of a batch, which tells of it. */
  readonly batchLine?: NonNullable<JobMessage["batch_line"]>;
  /** That batch and its leader, who admits nothing once another leads it. */
  readonly batch?: Led;
  /** It waits for longer than a window lasts, and is admitted past it. */
  readonly starves?: boolean;
  /** Names what is stored for it among others under the same id. */
  readonly part?: string;
  /** A place among heavy calls that are read and stored; returns what frees it. Undefined: there is none now. */
  takePermit?(): Promise<(() => void) | undefined>;
  /** Told just before the database decides. */
  onDecide?(): void;
}

type Verdict = Exclude<JobVerdict, { readonly kind: "superseded" }>;

/** `busy`: there is no permit for heavy work now. `refusal`: why it was refused before the database decided. */
export type Admission = (Verdict | { readonly kind: "busy" }) & { readonly refusal?: ApiError };

/** Delay after which a heavy call may come again whose window was full before anything was stored: until when is not known. */
const LOOK_AGAIN_MS = 2_000;

/**
 * Admits work as a durable job.
 * @throws ApiError of what refuses it, unless its entry keeps refusals; Superseded; Error when it is not known whether it was admitted
 */
export async function admitJob(context: AdmitContext, work: Work): Promise<Admission> {
  const policy: Policy = ENTRIES[work.entry];
  try {
    const call = await work.read();
    if (call.kind.keepsFiles) await checkStorageLeft(context, work.caller.workspaceId);
    const isHeavy = call.isHeavy();
    const checksFirst = isHeavy && policy.isCounted && work.starves !== true;
    const later = checksFirst ? await lookFirst(context, work, priceAt(call.leastNano, work.batchLine)) : undefined;
    if (later) return later;
    const free = isHeavy && work.takePermit ? await work.takePermit() : () => undefined;
    if (!free) return { kind: "busy" };
    const { loaded, stored } = await load(context, work, call).finally(free);
    return await decide(context, work, termsOf(work, call, loaded, stored), stored);
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
 * Returns why a heavy call waits: for its window, or for credits of a process that was lost. Undefined: it would be admitted now.
 * @throws ApiError of the refusal
 */
async function lookFirst(
  { calls }: AdmitContext,
  { entry, caller }: Work,
  leastNano: bigint,
): Promise<Verdict | undefined> {
  if (!calls) throw new Error("a window that counts needs to be looked at");
  try {
    await calls.look(caller.workspaceId, caller.preset.requests_per_minute, leastNano);
    return undefined;
  } catch (error) {
    if (ENTRIES[entry].ifFull !== "wait" || !(error instanceof ApiError)) throw error;
    const waits = { kind: "full", waitMs: LOOK_AGAIN_MS } as const;
    if (error.code === "rate_limit_exceeded") return waits;
    if (error.code === "insufficient_credits" && "retry-after" in error.headers) return { ...waits, isForFunds: true };
    throw error;
  }
}

type Terms = Pick<JobRequest, "kind" | "modality" | "model" | "work" | "request" | "terms" | "lifeMs"> &
  Partial<Pick<JobRequest, "isHidden" | "keepsRecord">>;

function termsOf(work: Work, { kind, model }: ReadCall, checked: LoadedCall, stored: StoredRequest): Terms {
  const { entry, isStreamed, isBackground, affinity, fingerprint, heardAt, goesOn, batchLine } = work;
  const { lifeMs } = ENTRIES[entry];
  const marks = { ...(isStreamed ? { isStreamed } : {}), ...(fingerprint === undefined ? {} : { fingerprint }) };
  const terms = jobWorkOf(work, { kind, model, checked, stored, lifeMs, ...marks });
  const step = heardAt === undefined ? {} : { step: heardAt };
  const told = {
    ...step,
    ...(batchLine === undefined ? {} : { batch_line: batchLine }),
    ...(goesOn === true ? { goes_on: true } : {}),
    ...(isBackground === true ? { api: "responses", background: true } : {}),
    ...(affinity === undefined ? {} : { affinity }),
  };
  const { hold } = terms.terms;
  const held = { ...hold, amountNano: priceAt(hold.amountNano, batchLine) };
  return { ...terms, work: { ...terms.work, ...told }, terms: { hold: held } };
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
 * Returns a call of words that is to be admitted in another statement, by the same rules. Undefined for one that is too large for a row.
 * @throws ApiError of what refuses it
 */
export async function offerJob(
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
  // What comes again stores the same: a message that waits, and a step that was told anything else.
  const isOver =
    entry === "step" ? verdict.kind === "refused" : verdict.kind !== "admitted" && verdict.kind !== "known";
  if (isOver && !(verdict.kind === "full" && ifFull === "wait")) discard();
  if (verdict.kind === "superseded") throw new Superseded();
  return verdict;
}

/** Puts an admitted job on the queue; one that waits for room there is sent later. What does not arrive is sent again by the janitor. */
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
 * Admits a call that its process waits for: counts it and places its hold, in one statement. Returns its share of the credit line on
 * which it was admitted instead; undefined: the hold stands.
 * @param lifeMs how long the hold lives
 * @param onDecide told just before the database decides
 * @throws ApiError of the refusal
 */
export async function admitCall(
  { calls, metrics }: { readonly calls: Pick<CallAdmission, "place">; readonly metrics: Metrics },
  of: { readonly id: string; readonly caller: Caller },
  { model, bound, response }: Pick<WorkFacts, "model" | "bound" | "response">,
  lifeMs: number,
  onDecide?: () => void,
): Promise<LinedHold | undefined> {
  const { caller } = of;
  onDecide?.();
  const at = performance.now();
  try {
    // A response is stored by the hold of its call.
    const hold = { ...holdOf(of, model, bound, lifeMs), mayBeLined: response === undefined };
    const lined = await calls.place(caller.workspaceId, caller.preset.requests_per_minute, hold);
    metrics.admissions.inc("admitted");
    return lined;
  } catch (error) {
    metrics.admissions.inc(error instanceof ApiError ? error.code : "failed");
    throw error;
  } finally {
    metrics.admissionSeconds.observe((performance.now() - at) / 1_000);
  }
}

/** A workspace with so much room left is not asked for again for a moment: until then it cannot be full. */
const ROOMY = { bytes: 1_073_741_824, files: 10_000 };
const ROOMY_MS = 1_000;
const ROOMY_MAX = 10_000;

/** performance.now() until which workspaces of a database are known to be roomy. */
const roomyUntil = new WeakMap<Queryable, Map<string, number>>();

/** Refuses work of a full workspace: its results could not be kept, and the provider would be paid for nothing. @throws ApiError */
async function checkStorageLeft({ database, config }: AdmitContext, workspaceId: string): Promise<void> {
  const known = roomyUntil.get(database) ?? new Map<string, number>();
  roomyUntil.set(database, known);
  const now = performance.now();
  if (now < (known.get(workspaceId) ?? 0)) return;
  const { bytes, files } = await unavailable(
    "The file store cannot be reached right now; try again shortly.",
    storageLeft(database, workspaceId, config.storageBytesMax),
  );
  if (bytes >= ROOMY.bytes && files >= ROOMY.files) {
    if (known.size >= ROOMY_MAX) known.clear();
    known.set(workspaceId, now + ROOMY_MS);
  }
  if (bytes > 0 && files > 0) return;
  throw new ApiError(
    "storage_limit_exceeded",
    `The result would exceed the workspace's storage limit of ${config.storageBytesMax} bytes; delete files first.`,
  );
}
