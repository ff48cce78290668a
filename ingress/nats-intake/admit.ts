/**
 * Admits one batch message for the API key in its subject, with the same checks as an HTTP call. Stores the outcome under the id of the
 * message's job or run, so that a repeated message changes nothing and gets the same answer.
 */
import type { Caller, Publishers } from "#shared/access/authenticate.ts";
import { admitJob } from "#shared/calls/admit.ts";
import { keepRefused } from "#shared/calls/keep-job.ts";
import type { ReadCall } from "#shared/calls/read.ts";
import type { Queryable } from "#shared/database/client.ts";
import type { NewRun } from "#shared/database/runs.ts";
import { ApiError, isRefusal } from "#shared/base/errors.ts";
import { failpoint } from "#shared/base/failpoint.ts";
import { jobIdOf } from "#shared/base/ids.ts";
import type { JobAdmission } from "#shared/jobs/admission.ts";
import type { Addressed } from "#shared/jobs/answer.ts";
import { jobError } from "#shared/jobs/error.ts";
import { paced } from "#shared/config/pace.ts";
import type { Pool, PublisherIdentity } from "#shared/queue/subjects.ts";
import { openRequestLimit } from "#shared/limits/request-limit.ts";
import { beginRun, RUN_INPUT_TEXT_BYTES_MAX } from "#shared/workflows/begin-run.ts";
import { IDEMPOTENCY_KEY_CHARS_MAX } from "#ingress/core/idempotency-key.ts";

import type { IngressContext } from "../context.ts";

import { type Answered, type Full, findKnown, refused } from "./answers.ts";
import { endpointOf, fingerprintOf, readBatchCall } from "./read-call.ts";

/**
 * Maximum number of large batch messages that are handled at once. A message is large if it has audio, or media or text for the object
 * store. One workspace may use half of this number.
 */
export const INTAKE_LARGE_MAX = 8;

export interface BatchArrival {
  readonly pool: Pool;
  /** Key with which the publisher logged in, and its workspace and member. */
  readonly caller: Caller;
  /** Value of the header `Idempotency-Key`; empty if absent. */
  readonly key: string;
  /** Identity of a message without an idempotency key; unique in all streams. */
  readonly place: string;
  /** Validated reply subject of the publisher; null if the message has none or names another publisher's subject. */
  readonly reply: string | null;
  readonly data: Uint8Array;
  /** Value of the header `x-tags`; empty if absent. */
  readonly tags: string;
  /** Number of deliveries of this message, including the current one. */
  readonly deliveries: number;
  /**
   * True when the message has waited longer than a rate window lasts, and no message has found capacity in the window for as long. The
   * message is then admitted even if the window is full.
   */
  readonly starves: boolean;
}

export interface BatchContext extends Pick<
  IngressContext,
  "bodyKeeper" | "calls" | "catalogue" | "config" | "availableCapabilities" | "storage" | "probes" | "log"
> {
  /** Separate database connection, so that a flood of messages does not delay queries of HTTP calls. */
  readonly database: Queryable;
  readonly jobs: JobAdmission;
  readonly publishers: Publishers;
}

/**
 * Returns the id of a message's job, with its workspace, idempotency key and reply subject. Messages of one member with the same
 * `Idempotency-Key` get the same job id.
 */
export function addressOf({
  caller: { workspaceId, memberId },
  key,
  place,
  reply,
}: Pick<BatchArrival, "key" | "place" | "reply"> & {
  readonly caller: Pick<Caller, "workspaceId" | "memberId">;
}): Addressed {
  const hasKey = isPlainKey(key);
  return {
    id: jobIdOf(workspaceId, hasKey ? `key:${memberId}:${key}` : `message:${place}`),
    workspace_id: workspaceId,
    publisher_key: hasKey ? key : null,
    reply,
  };
}

/**
 * Admits a message. Returns the answer for the publisher, or a deferral with a delay.
 * @throws Error when it is unknown whether the job was admitted; the message must then be handled again
 */
export async function takeMessage(context: BatchContext, arrival: BatchArrival): Promise<Answered | Full> {
  const { pool, caller, starves, place } = arrival;
  const { workspaceId } = caller;
  const job = addressOf(arrival);
  const read = await unlessRefused(readMessage(context, arrival, job));
  const call = read instanceof ApiError || "kind" in read ? read : await begin(context, arrival, job, read);
  if ("outcome" in call || "waitMs" in call) return call;
  // Looked up before any costly work: a repeat gets the outcome of the first message.
  const known = !(call instanceof ApiError) && call.isHeavy() ? await findKnown(context, job, arrival.data) : undefined;
  if (known) return known;
  const admission = await admitJob(context, {
    entry: "batch",
    id: job.id,
    caller,
    pool,
    lane: "batch",
    read() {
      if (call instanceof ApiError) throw call;
      return call;
    },
    publisherKey: job.publisher_key,
    reply: job.reply,
    fingerprint: await fingerprintOf(arrival.data),
    starves,
    part: place.replace(":", "-"),
    takePermit: () => takePermit(workspaceId),
  });
  switch (admission.kind) {
    case "admitted":
      return {
        kind: "answered",
        outcome: "queued",
        job,
        jobReply: { status: "queued" },
        ...(admission.dispatch > 0 ? { dispatch: { attempt: admission.attempt, dispatch: admission.dispatch } } : {}),
        foundOpen: admission.isFromShare !== true,
      };
    case "refused":
      return keepRefusal(context, arrival, refused(job, admission.error));
    case "unknown_workspace":
      return refused(job, jobError(admission.refusal ?? inactiveKey()));
    case "known":
      // Without a key, it is the same message, whose acknowledgment was lost.
      return (await findKnown(context, job, arrival.data)) ?? { kind: "full", waitMs: 0, isWindow: false };
    case "full":
      return { kind: "full", waitMs: admission.waitMs, isWindow: admission.isForFunds !== true };
    case "busy":
      return { kind: "full", waitMs: PERMIT_MS, isWindow: false };
    default:
      return admission satisfies never;
  }
}

/** Keeps a refused message if its caller asked for it. Returns the answer. */
async function keepRefusal(
  { bodyKeeper }: Pick<BatchContext, "bodyKeeper">,
  { caller, data: request }: BatchArrival,
  answered: Answered,
): Promise<Answered> {
  const { error } = answered.jobReply;
  if (error == null || caller.bodies === undefined) return answered;
  const endpoint = await endpointOf(request);
  keepRefused({ bodyKeeper }, { id: answered.job.id, caller, endpoint, request, error });
  return answered;
}

/** Returns a refusal (ApiError) as a value, so that it can be sent to the publisher and stored. @throws any other error */
export async function unlessRefused<T>(asked: Promise<T>): Promise<T | ApiError> {
  try {
    return await asked;
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return error;
  }
}

/** Reads the call or run in a message. @throws the ApiErrors of the endpoint over HTTP */
function readMessage(context: BatchContext, arrival: BatchArrival, job: Addressed): Promise<ReadCall | NewRun> {
  if (arrival.key === "" || job.publisher_key !== null) return readBatchCall(context, { ...arrival, job });
  const expected = `an Idempotency-Key of 1 to ${IDEMPOTENCY_KEY_CHARS_MAX} printable ASCII characters`;
  return Promise.reject(new ApiError("invalid_request", `Expected ${expected}.`));
}

/** Starts the requested run. The rate window counts only runs that start. A refusal is returned as an ApiError, which is then stored. */
async function begin(
  context: BatchContext,
  { data }: BatchArrival,
  job: Addressed,
  run: NewRun,
): Promise<Answered | Full | ApiError> {
  // Looked up before the input is stored: a repeat gets the outcome of the first message.
  const known = run.inputBytes > RUN_INPUT_TEXT_BYTES_MAX ? await findKnown(context, job, data) : undefined;
  if (known) return known;
  const begun = await unlessRefused(beginRun(context, run));
  if (begun instanceof ApiError) return begun;
  const { verdict, waitMs } = begun;
  if (verdict === "waits") return { kind: "full", waitMs, isWindow: true };
  if (verdict !== "begun") {
    // Beyond the limit of runs, the message stays in the stream, which bounds the messages per workspace.
    const again = { kind: "full", waitMs: verdict === "crowded" ? CROWDED_MS : 0, isWindow: false } as const;
    return (await findKnown(context, job, data)) ?? again;
  }
  failpoint("run.inserted");
  return {
    kind: "answered",
    outcome: "queued",
    job,
    jobReply: { status: "queued" },
    isRun: true,
    foundOpen: waitMs >= 0,
  };
}

/**
 * Limits the number of large messages handled at once, because the object store and audio probes also serve HTTP callers. No message waits
 * for a permit.
 */
const large = openRequestLimit({
  max: INTAKE_LARGE_MAX,
  perWorkspaceMax: INTAKE_LARGE_MAX / 2,
  waitingMax: 0,
  waitMs: 0,
  noun: "large messages",
});
const PERMIT_MS = 2_000;

/** Takes a permit for a large message and returns the function that releases it; undefined if no permit is free. */
export async function takePermit(workspaceId: string): Promise<(() => void) | undefined> {
  try {
    return (await large.take({ owner: workspaceId })).release;
  } catch (error) {
    if (error instanceof ApiError && error.code === "overloaded") return undefined;
    throw error;
  }
}

/** Delay before a retry of a run that exceeds its workspace's limit, in milliseconds. Running workflow runs take minutes to end. */
const CROWDED_MS = paced(10_000);

/**
 * Returns the caller that a message acts for.
 * @throws ApiError `invalid_api_key`, or `permission_denied` if the key's preset no longer exists
 */
export async function publisherOf(
  { publishers }: Pick<BatchContext, "publishers">,
  { workspaceId, keyId }: PublisherIdentity,
): Promise<Caller> {
  const caller = await publishers.find(workspaceId, keyId);
  if (!caller) throw inactiveKey();
  return caller;
}

function inactiveKey(): ApiError {
  return new ApiError("invalid_api_key", "The API key in the subject is not an active key of this workspace.");
}

const PLAIN_KEY = /^[\x20-\x7e]+$/;

function isPlainKey(key: string): boolean {
  return key.length <= IDEMPOTENCY_KEY_CHARS_MAX && PLAIN_KEY.test(key);
}
