/**
 * What a batch message brings, read and stored. What is large is taken a few at a time, and only of messages that their window
 * and funds would admit: the object store and the probes of audio serve callers over HTTP too.
 */
import { tooExpensive } from "#shared/ledger/call-admission.ts";
import type { ReadCall } from "#shared/calls/read.ts";
import { type StoredRequest, storeRequest } from "#shared/calls/stored-request.ts";
import { ApiError } from "#shared/errors.ts";
import type { Addressed } from "#shared/jobs/answer.ts";
import type { CheckedCall } from "#shared/calls/kinds/kind.ts";
import { LIMITS } from "#shared/limits.ts";

import { KeyedSemaphore } from "#shared/keyed-semaphore.ts";

import type { BatchArrival, BatchContext } from "./admit.ts";
import { type Answered, findKnown, type Full } from "./answers.ts";

export interface Loaded {
  readonly checked: CheckedCall;
  readonly stored: StoredRequest;
}

/** Nothing waits here for its turn: a message that finds none comes again. */
const large = new KeyedSemaphore({
  max: LIMITS.intakeLargeMax,
  perWorkspaceMax: LIMITS.intakeLargeMax / 2,
  waitingMax: 0,
  waitMs: 0,
  noun: "large messages",
});
const AGAIN_MS = 2_000;

/**
 * @param limit calls a minute of the message's key
 * @throws ApiError as the endpoint over HTTP would answer
 */
export async function loadCall(
  context: BatchContext,
  arrival: BatchArrival,
  job: Addressed,
  call: ReadCall,
  limit: number | null,
): Promise<Loaded | Answered | Full> {
  if (!call.isHeavy) return load(context, arrival, job, call);
  const known = await findKnown(context, job, arrival.data);
  if (known) return known;
  // What starves is admitted past its full window.
  const freeNano = arrival.starves ? undefined : await look(context, arrival, limit);
  if (freeNano === "full") return { kind: "full", waitMs: AGAIN_MS, isWindow: true };
  if (freeNano !== undefined && freeNano < call.leastNano) throw tooExpensive(call.leastNano);
  const free = await takeTurn(arrival.workspaceId);
  if (!free) return { kind: "full", waitMs: AGAIN_MS, isWindow: false };
  try {
    return await load(context, arrival, job, call);
  } finally {
    free();
  }
}

async function look(
  { calls }: Pick<BatchContext, "calls">,
  { workspaceId }: BatchArrival,
  limit: number | null,
): Promise<bigint | "full"> {
  try {
    return await calls.look(workspaceId, limit);
  } catch (error) {
    if (error instanceof ApiError && error.code === "rate_limit_exceeded") return "full";
    throw error;
  }
}

async function takeTurn(workspaceId: string): Promise<(() => void) | undefined> {
  try {
    return await large.take(workspaceId, 1, new AbortController().signal);
  } catch (error) {
    if (error instanceof ApiError && error.code === "overloaded") return undefined;
    throw error;
  }
}

async function load(context: BatchContext, { place }: BatchArrival, job: Addressed, call: ReadCall): Promise<Loaded> {
  const loaded = await call.load();
  const part = place.replace(":", "-");
  const stored = await storeRequest(context, job.id, loaded.inline, (given) => loaded.text(given), part);
  return { checked: loaded, stored };
}
