/**
 * One batch message: the checks and the admission of the HTTP door, under a caller found from the subject. What it comes to
 * is kept under the job's id, so that a repeat changes nothing and hears the same.
 */
import { type Caller, findPublisher } from "#shared/admission/authenticate.ts";
import type { Queryable } from "#shared/database/client.ts";
import { findJob, type JobError } from "#shared/database/jobs.ts";
import { ApiError } from "#shared/errors.ts";
import { isUuid } from "#shared/ids.ts";
import type { JobAdmission, JobRequest } from "#shared/jobs/admission.ts";
import { type Addressed, type Told, toldOf } from "#shared/jobs/answer.ts";
import { jobError } from "#shared/jobs/error.ts";
import { jobIdOf } from "#shared/jobs/id.ts";
import { loadResult } from "#shared/jobs/result.ts";
import { LIMITS } from "#shared/limits.ts";
import type { Pool } from "#shared/queue/subjects.ts";

import { discardStored, isLarge, type StoredRequest, storeRequest } from "../calls/stored-request.ts";
import { workHead } from "../calls/work-head.ts";
import type { IngressContext } from "../context.ts";
import { presetOf } from "../serve.ts";

import { checkRoom } from "../media/offer-job.ts";

import { type BatchCall, fingerprintOf, readBatchCall } from "./read-call.ts";

export interface BatchArrival {
  readonly pool: Pool;
  readonly workspaceId: string;
  /** `Idempotency-Key`, empty when it has none. */
  readonly key: string;
  /** Names the message where the publisher did not: no two of any store have the same. */
  readonly place: string;
  /** `Sluice-Key-Id`, empty when it has none. */
  readonly keyId: string;
  /** Checked; null when it named no address of its workspace. */
  readonly reply: string | null;
  readonly data: Uint8Array;
  /** Its window has been full for longer than one lasts. */
  readonly starves: boolean;
}

export interface Answered {
  readonly kind: "answered";
  readonly outcome: "queued" | "refused" | "repeated";
  readonly job: Addressed;
  readonly told: Told;
  /** The message to put on the queue now; 0: none. */
  readonly dispatch: number;
  /** The window had room for it. */
  readonly foundOpen?: boolean;
}

export type Taken = Answered | { readonly kind: "full"; readonly waitMs: number };

export interface BatchContext extends Pick<IngressContext, "catalogue" | "config" | "storage" | "probes" | "log"> {
  /** A connection of its own: a flood of messages must not stand before the look-ups of HTTP calls (fault F61). */
  readonly database: Queryable;
  readonly jobs: JobAdmission;
}

/** Who a message's job is: the same for every repeat under the same key. */
export function addressOf({
  workspaceId,
  key,
  place,
  reply,
}: Omit<BatchArrival, "data" | "pool" | "keyId" | "starves">): Addressed {
  const hasKey = isPlainKey(key);
  return {
    id: jobIdOf(workspaceId, hasKey ? `key:${key}` : `message:${place}`),
    workspace_id: workspaceId,
    publisher_key: hasKey ? key : null,
    reply,
  };
}

/** @throws Error when the job may or may not have been admitted: take the message again */
export async function takeMessage(context: BatchContext, arrival: BatchArrival): Promise<Taken> {
  const job = addressOf(arrival);
  const actor = await actorOf(context, arrival);
  // Not kept: no preset bounds how many such messages come, and each would be a row.
  if (actor instanceof ApiError) return (await findKnown(context, job, arrival.data)) ?? refused(job, jobError(actor));
  const { offer, stored } = await offerOf(context, arrival, job, actor);
  const verdict = await context.jobs.offer(offer);
  // Of a job that is known, what the first message stored stays.
  if (stored && verdict.kind !== "admitted" && verdict.kind !== "known") discardStored(context, job.id, stored);
  switch (verdict.kind) {
    case "admitted":
      return {
        kind: "answered",
        outcome: "queued",
        job,
        told: { status: "queued" },
        dispatch: verdict.dispatch,
        foundOpen: verdict.isFromShare !== true,
      };
    case "refused":
      return refused(job, verdict.error);
    case "unknown_workspace":
      return refused(job, jobError("refusal" in offer.terms ? offer.terms.refusal : noKey()));
    case "known":
      return (await findKnown(context, job, arrival.data)) ?? { kind: "full", waitMs: 0 };
    case "full":
      return verdict;
    default:
      return verdict satisfies never;
  }
}

/**
 * What is told of a job that is known under its publisher's key; undefined: none is.
 * @param data the message: one that asks for something else than the first is refused
 */
export async function findKnown(
  context: Pick<BatchContext, "database" | "storage" | "log">,
  job: Addressed,
  data: Uint8Array,
): Promise<Answered | undefined> {
  if (job.publisher_key === null) return undefined;
  const row = await findJob(context.database, job.workspace_id, job.id);
  if (!row) return undefined;
  if (row.fingerprint !== null && row.fingerprint !== fingerprintOf(data)) return refused(job, jobError(REUSED));
  const result = await loadResult(context.storage, row).catch((error: unknown) => {
    context.log.warn({ err: error, job_id: job.id }, "a job's result could not be read for its publisher");
    return null;
  });
  return { kind: "answered", outcome: "repeated", job, told: toldOf(row, result), dispatch: 0 };
}

const REUSED = new ApiError(
  "idempotency_key_reused",
  "Expected the message that this Idempotency-Key was used for first, got one with another body.",
);

function refused(job: Addressed, error: JobError): Answered {
  return { kind: "answered", outcome: "refused", job, told: { status: "refused", error }, dispatch: 0 };
}

interface Actor {
  readonly caller: Caller;
  readonly preset: ReturnType<typeof presetOf>;
}

/** Whose preset bounds the message, or why there is none. */
async function actorOf(context: BatchContext, arrival: BatchArrival): Promise<Actor | ApiError> {
  try {
    const caller = await callerOf(context, arrival);
    return { caller, preset: presetOf(context, caller) };
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500) throw error;
    return error;
  }
}

async function offerOf(
  context: BatchContext,
  arrival: BatchArrival,
  job: Addressed,
  { caller, preset }: Actor,
): Promise<{ readonly offer: JobRequest; readonly stored?: StoredRequest | undefined }> {
  const { pool, workspaceId } = arrival;
  const fingerprint = fingerprintOf(arrival.data);
  const common = {
    id: job.id,
    workspaceId,
    keyId: caller.keyId,
    pool,
    lane: "batch",
    ifFull: "wait",
    starves: arrival.starves,
    publisherKey: job.publisher_key,
    reply: job.reply,
    limit: preset.requests_per_minute,
    lifeMs: LIMITS.jobLifeMs,
  } as const;
  try {
    if (arrival.key !== "" && job.publisher_key === null) {
      throw new ApiError(
        "invalid_request",
        `Expected an Idempotency-Key of 1 to ${LIMITS.idempotencyKeyCharsMax} printable ASCII characters.`,
      );
    }
    const call = await readBatchCall(context, { caller, pool, data: arrival.data });
    if (call.kind.keepsFiles) await checkRoom(context, workspaceId);
    const stored = await keepRequest(context, workspaceId, job.id, call);
    const hold = {
      jobId: job.id,
      keyId: caller.keyId,
      model: call.model.slug,
      amountNano: call.bound.holdNano,
      mayExceed: call.bound.mayExceed,
      tokensMax: call.bound.tokensMax,
      dailyTokens: preset.daily_tokens,
      // A job that is begun at the end of its life has the time that any has.
      lifeMs: LIMITS.jobLifeMs + LIMITS.mediaJobLifeMs + LIMITS.jobHoldSlackMs,
    };
    const offer: JobRequest = {
      ...common,
      kind: call.kind.name,
      modality: call.model.modality,
      model: call.model.slug,
      // The deadline is the row's; a worker puts in how long it may take.
      work: workHead(caller, job.id, { ...call, api: "openai", given: stored?.given ?? {}, fingerprint }, 0),
      request: stored?.body ?? null,
      terms: { hold },
    };
    return { offer, stored };
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500) throw error;
    const terms = { refusal: error };
    return {
      offer: { ...common, kind: "chat", modality: "text", model: null, work: { fingerprint }, request: null, terms },
    };
  }
}

/** @throws ApiError `invalid_api_key`, `permission_denied` */
async function callerOf(context: BatchContext, { workspaceId, keyId }: BatchArrival): Promise<Caller> {
  if (keyId !== "" && !isUuid(keyId)) throw unknownKey();
  const caller = await findPublisher(context.database, workspaceId, keyId === "" ? null : keyId);
  if (!caller) throw keyId === "" ? noKey() : unknownKey();
  return caller;
}

function unknownKey(): ApiError {
  return new ApiError("invalid_api_key", "Expected Sluice-Key-Id to name an active API key of this workspace.");
}

function noKey(): ApiError {
  return new ApiError("permission_denied", "The workspace has no active API key that batch messages could act for.");
}

/** Undefined for a repeat, which must not write over what the job before it still needs. */
async function keepRequest(
  context: BatchContext,
  workspaceId: string,
  id: string,
  call: BatchCall,
): Promise<StoredRequest | undefined> {
  const isStored = call.inline.length > 0 || isLarge(call.text({}));
  if (isStored && (await findJob(context.database, workspaceId, id))) return undefined;
  return storeRequest(context, id, call.inline, (given) => call.text(given));
}

const PLAIN_KEY = /^[\x20-\x7e]+$/;

function isPlainKey(key: string): boolean {
  return key.length <= LIMITS.idempotencyKeyCharsMax && PLAIN_KEY.test(key);
}
