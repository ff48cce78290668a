/**
 * One batch message: the checks and the admission of the HTTP door, under a caller found from the subject. What it comes to
 * is kept under the job's id, so that a repeat changes nothing and hears the same.
 */
import { type Caller, findPublisher } from "#shared/access/authenticate.ts";
import { checkBudget } from "#shared/calls/budget-stop.ts";
import { jobCallerOf, jobWorkOf } from "#shared/calls/work.ts";
import { discardStored, type StoredRequest } from "#shared/calls/stored-request.ts";
import type { Queryable } from "#shared/database/client.ts";
import { hasManyTickets } from "#shared/database/run-work.ts";
import { ApiError } from "#shared/errors.ts";
import { isUuid, jobIdOf } from "#shared/ids.ts";
import type { JobAdmission, JobRequest } from "#shared/jobs/admission.ts";
import type { Addressed } from "#shared/jobs/answer.ts";
import { jobError } from "#shared/jobs/error.ts";
import { LIMITS } from "#shared/limits.ts";
import { paced } from "#shared/pace.ts";
import type { Pool } from "#shared/queue/subjects.ts";

import type { IngressContext } from "../context.ts";
import { checkRoom } from "../media/media-job.ts";

import { type Answered, type Full, findKnown, refused } from "./answers.ts";
import { loadCall } from "./load-call.ts";
import { fingerprintOf, readBatchCall } from "./read-call.ts";

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
  /** How often it has come, this time included. */
  readonly deliveries: number;
  /** Its window has been full for longer than one lasts. */
  readonly starves: boolean;
}

export interface BatchContext extends Pick<
  IngressContext,
  "calls" | "catalogue" | "config" | "offered" | "storage" | "probes" | "log"
> {
  /** A connection of its own: a flood of messages must not stand before the look-ups of HTTP calls. */
  readonly database: Queryable;
  readonly jobs: JobAdmission;
}

/** Who a message's job is: the same for every repeat under the same key. */
export function addressOf({
  workspaceId,
  key,
  place,
  reply,
}: Pick<BatchArrival, "workspaceId" | "key" | "place" | "reply">): Addressed {
  const hasKey = isPlainKey(key);
  return {
    id: jobIdOf(workspaceId, hasKey ? `key:${key}` : `message:${place}`),
    workspace_id: workspaceId,
    publisher_key: hasKey ? key : null,
    reply,
  };
}

/** @throws Error when the job may or may not have been admitted: take the message again */
export async function takeMessage(context: BatchContext, arrival: BatchArrival): Promise<Answered | Full> {
  const job = addressOf(arrival);
  const actor = await actorOf(context, arrival);
  // Not kept: no preset bounds how many such messages come, and each would be a row.
  if (actor instanceof ApiError) return (await findKnown(context, job, arrival.data)) ?? refused(job, jobError(actor));
  const asked = await requestOf(context, arrival, job, actor);
  if ("kind" in asked) return asked;
  const { jobRequest, stored } = asked;
  const verdict = await context.jobs.admit(jobRequest);
  // What waits comes again and stores the same.
  if (stored && (verdict.kind === "refused" || verdict.kind === "unknown_workspace"))
    discardStored(context, job.id, stored);
  switch (verdict.kind) {
    case "admitted":
      return {
        kind: "answered",
        outcome: "queued",
        job,
        told: { status: "queued" },
        ...(verdict.dispatch > 0 ? { dispatch: { attempt: verdict.attempt, dispatch: verdict.dispatch } } : {}),
        foundOpen: verdict.isFromShare !== true,
      };
    case "refused":
      return refused(job, verdict.error);
    case "unknown_workspace":
      return refused(job, jobError("refusal" in jobRequest.terms ? jobRequest.terms.refusal : noKey()));
    case "known":
      // Without a key it is the same message, whose acknowledgement was lost.
      return (await findKnown(context, job, arrival.data)) ?? { kind: "full", waitMs: 0, isWindow: false };
    case "full":
      return { ...verdict, isWindow: true };
    default:
      return verdict satisfies never;
  }
}

/** Whose preset bounds the message, or why there is none. */
async function actorOf(context: BatchContext, arrival: BatchArrival): Promise<Caller | ApiError> {
  try {
    return await callerOf(context, arrival);
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500) throw error;
    return error;
  }
}

async function requestOf(
  context: BatchContext,
  arrival: BatchArrival,
  job: Addressed,
  caller: Caller,
): Promise<{ readonly jobRequest: JobRequest; readonly stored?: StoredRequest } | Answered | Full> {
  const { pool, workspaceId } = arrival;
  const fingerprint = await fingerprintOf(arrival.data);
  const of = { id: job.id, caller };
  const lifeMs = LIMITS.jobLifeMs;
  const common = {
    ...jobCallerOf(of),
    pool,
    lane: "batch",
    ifFull: "wait",
    starves: arrival.starves,
    publisherKey: job.publisher_key,
    reply: job.reply,
    lifeMs,
  } as const;
  try {
    if (arrival.key !== "" && job.publisher_key === null) {
      throw new ApiError(
        "invalid_request",
        `Expected an Idempotency-Key of 1 to ${LIMITS.idempotencyKeyCharsMax} printable ASCII characters.`,
      );
    }
    const call = await readBatchCall(context, { caller, pool, data: arrival.data, deliveries: arrival.deliveries });
    checkBudget(caller, call.leastNano);
    if (call.kind.keepsFiles) await checkRoom(context, workspaceId);
    if (call.kind.name === "workflow" && (await hasManyTickets(context.database, workspaceId))) {
      // It stays in the stream, which bounds how many a workspace has there.
      return (await findKnown(context, job, arrival.data)) ?? { kind: "full", waitMs: TICKETS_MS, isWindow: false };
    }
    const loaded = await loadCall(context, arrival, job, call, caller.preset.requests_per_minute);
    if ("kind" in loaded) return loaded;
    const { checked, stored } = loaded;
    const { kind, model } = call;
    const work = jobWorkOf(of, { kind, model, checked, stored, fingerprint, lifeMs });
    // Of a run the events of runs tell.
    const ofRun = kind.name === "workflow" ? { step: { runId: job.id, stepId: "" } } : {};
    const jobRequest: JobRequest = { ...common, ...work, ...ofRun };
    return { jobRequest, stored };
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500) throw error;
    const terms = { refusal: error };
    return {
      jobRequest: {
        ...common,
        kind: "chat",
        modality: "text",
        model: null,
        work: { fingerprint },
        request: null,
        terms,
      },
    };
  }
}

/** Runs that wait for others of their workspace to end do so for minutes. */
const TICKETS_MS = paced(10_000);

/** @throws ApiError `invalid_api_key`, `permission_denied` */
async function callerOf(context: BatchContext, { workspaceId, keyId }: BatchArrival): Promise<Caller> {
  if (keyId !== "" && !isUuid(keyId)) throw unknownKey();
  const caller = await findPublisher(context, workspaceId, keyId === "" ? null : keyId);
  if (!caller) throw keyId === "" ? noKey() : unknownKey();
  return caller;
}

function unknownKey(): ApiError {
  return new ApiError("invalid_api_key", "Expected Sluice-Key-Id to name an active API key of this workspace.");
}

function noKey(): ApiError {
  return new ApiError("permission_denied", "The workspace has no active API key that batch messages could act for.");
}

const PLAIN_KEY = /^[\x20-\x7e]+$/;

function isPlainKey(key: string): boolean {
  return key.length <= LIMITS.idempotencyKeyCharsMax && PLAIN_KEY.test(key);
}
