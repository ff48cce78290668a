/**
 * One batch message: the checks and the admission of a call over HTTP, for the key in its subject. The outcome
 * is kept under the id of its job or run, so that a repeat changes nothing and receives the same.
 */
import type { Caller, Publishers } from "#shared/access/authenticate.ts";
import { admitJob } from "#shared/calls/admit.ts";
import type { ReadCall } from "#shared/calls/read.ts";
import type { Queryable } from "#shared/database/client.ts";
import type { NewRun } from "#shared/database/runs.ts";
import { ApiError, isRefusal } from "#shared/errors.ts";
import { failpoint } from "#shared/failpoint.ts";
import { jobIdOf } from "#shared/ids.ts";
import type { JobAdmission } from "#shared/jobs/admission.ts";
import type { Addressed } from "#shared/jobs/answer.ts";
import { jobError } from "#shared/jobs/error.ts";
import { paced } from "#shared/pace.ts";
import type { Pool, PublisherIdentity } from "#shared/queue/subjects.ts";
import { openRequestLimit } from "#shared/request-limit.ts";
import { beginRun, RUN_INPUT_TEXT_BYTES_MAX } from "#shared/workflows/begin-run.ts";
import { IDEMPOTENCY_KEY_CHARS_MAX } from "#ingress/idempotency-key.ts";

import type { IngressContext } from "../context.ts";

import { type Answered, type Full, findKnown, refused } from "./answers.ts";
import { fingerprintOf, readBatchCall } from "./read-call.ts";

/** Batch messages in hand at once that have media or text for the object store, or audio; half of them of one workspace. */
export const INTAKE_LARGE_MAX = 8;

export interface BatchArrival {
  readonly pool: Pool;
  /** The key that its publisher logged in with. */
  readonly caller: Caller;
  /** `Idempotency-Key`, empty when it has none. */
  readonly key: string;
  /** Names the message where the publisher did not: no two of any store have the same. */
  readonly place: string;
  /** Checked; null when it named no address of its publisher. */
  readonly reply: string | null;
  readonly data: Uint8Array;
  /** Number of deliveries, this one included. */
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
  readonly publishers: Publishers;
}

/** Returns the identity of a message's job: the same for every repeat under the same `Idempotency-Key` of the same member. */
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

/** @throws Error when the job may or may not have been admitted: take the message again */
export async function takeMessage(context: BatchContext, arrival: BatchArrival): Promise<Answered | Full> {
  const { pool, caller, starves, place } = arrival;
  const { workspaceId } = caller;
  const job = addressOf(arrival);
  const read = await unlessRefused(readMessage(context, arrival, job));
  const call = read instanceof ApiError || "kind" in read ? read : await begin(context, arrival, job, read);
  if ("outcome" in call || "waitMs" in call) return call;
  // Before any costly work is done for it: a repeat gets the outcome of the first.
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
        told: { status: "queued" },
        ...(admission.dispatch > 0 ? { dispatch: { attempt: admission.attempt, dispatch: admission.dispatch } } : {}),
        foundOpen: admission.isFromShare !== true,
      };
    case "refused":
      return refused(job, admission.error);
    case "unknown_workspace":
      return refused(job, jobError(admission.refusal ?? inactiveKey()));
    case "known":
      // Without a key it is the same message, whose acknowledgement was lost.
      return (await findKnown(context, job, arrival.data)) ?? { kind: "full", waitMs: 0, isWindow: false };
    case "full":
      return { kind: "full", waitMs: admission.waitMs, isWindow: admission.isForFunds !== true };
    case "busy":
      return { kind: "full", waitMs: PERMIT_MS, isWindow: false };
    default:
      return admission satisfies never;
  }
}

/** A refusal is a result: it is told, and kept where there is a caller. @throws what is no refusal */
export async function unlessRefused<T>(asked: Promise<T>): Promise<T | ApiError> {
  try {
    return await asked;
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return error;
  }
}

/** @throws ApiError as the endpoint over HTTP would answer */
function readMessage(context: BatchContext, arrival: BatchArrival, job: Addressed): Promise<ReadCall | NewRun> {
  if (arrival.key === "" || job.publisher_key !== null) return readBatchCall(context, { ...arrival, job });
  const expected = `an Idempotency-Key of 1 to ${IDEMPOTENCY_KEY_CHARS_MAX} printable ASCII characters`;
  return Promise.reject(new ApiError("invalid_request", `Expected ${expected}.`));
}

/** Begins the run that is asked for; one that is not begun is not counted either. Returns what refuses it, to be kept. */
async function begin(
  context: BatchContext,
  { data }: BatchArrival,
  job: Addressed,
  run: NewRun,
): Promise<Answered | Full | ApiError> {
  // Before its input is stored: a repeat gets the outcome of the first.
  const known = run.inputBytes > RUN_INPUT_TEXT_BYTES_MAX ? await findKnown(context, job, data) : undefined;
  if (known) return known;
  const begun = await unlessRefused(beginRun(context, run));
  if (begun instanceof ApiError) return begun;
  const { verdict, waitMs } = begun;
  if (verdict === "waits") return { kind: "full", waitMs, isWindow: true };
  if (verdict !== "begun") {
    // Over a crowd it stays in the stream, which bounds how many a workspace has there.
    const again = { kind: "full", waitMs: verdict === "crowded" ? CROWDED_MS : 0, isWindow: false } as const;
    return (await findKnown(context, job, data)) ?? again;
  }
  failpoint("run.inserted");
  return { kind: "answered", outcome: "queued", job, told: { status: "queued" }, isRun: true, foundOpen: waitMs >= 0 };
}

/** Large messages are taken a few at a time: the object store and audio probes serve callers over HTTP too. None waits for a permit. */
const large = openRequestLimit({
  max: INTAKE_LARGE_MAX,
  perWorkspaceMax: INTAKE_LARGE_MAX / 2,
  waitingMax: 0,
  waitMs: 0,
  noun: "large messages",
});
const PERMIT_MS = 2_000;

/** Undefined: there is none now. */
export async function takePermit(workspaceId: string): Promise<(() => void) | undefined> {
  try {
    return (await large.take({ owner: workspaceId })).release;
  } catch (error) {
    if (error instanceof ApiError && error.code === "overloaded") return undefined;
    throw error;
  }
}

/** Runs that wait for others of their workspace to end do so for minutes. */
const CROWDED_MS = paced(10_000);

/**
 * Returns the caller that a message acts for.
 * @throws ApiError `invalid_api_key`, `permission_denied` if the key's preset is gone
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
