/** Admission of batch lines. Lines are read from the input file in groups and admitted like batch messages, each under its own id. */
import type { Caller } from "#shared/access/authenticate.ts";
import { admitJob, dispatchAdmitted, type Work } from "#shared/calls/admit.ts";
import { keepRefused } from "#shared/calls/keep-job.ts";
import { labelsOf, limitedIdsOf } from "#shared/calls/labels.ts";
import type { ReadCall } from "#shared/calls/read.ts";
import { type BatchLine, forgetAllRefused, forgetRefused } from "#shared/database/batch-work.ts";
import type { BatchRow } from "#shared/database/batches.ts";
import { type FileBlocks, findBlocks } from "#shared/database/files.ts";
import { findJob, type JobError } from "#shared/database/jobs.ts";
import type { NewRun } from "#shared/database/runs.ts";
import { ApiError, type Code } from "#shared/base/errors.ts";
import { jobError } from "#shared/jobs/error.ts";
import { readFile } from "#shared/files/read.ts";
import { batchLineOf } from "#shared/calls/pricing/price.ts";
import { priceAt } from "#shared/ledger/charge.ts";
import { leftForCall, leftOf } from "#shared/ledger/spend-limits.ts";
import { paced } from "#shared/config/pace.ts";
import { notifyRun } from "#shared/queue/run-notice.ts";
import { TimeSlices } from "#shared/base/time-slices.ts";
import { beginRun } from "#shared/workflows/begin-run.ts";

import { unlessRefused } from "../../nats-intake/admit.ts";
import { createWindows } from "../../nats-intake/intake.ts";

import type { BatchContext } from "./context.ts";
import { type LineTarget, readLine } from "./read-line.ts";

/** Maximum number of input bytes that are read at once. A longer line is read alone. */
const SPAN_BYTES_MAX = 1_048_576;

/** Number of lines of a batch that are admitted concurrently. It is enough to fill a database group. */
const AT_ONCE = 8;

/**
 * Delay before a deferred line is tried again, in milliseconds. The line waits for credits or tokens held by other lines, for a permit for
 * heavy calls, or for the end of other runs.
 */
const WAIT_MS = paced(2_000);

/** Result of admitting a line: admitted, refused, or deferred for `waitMs` milliseconds. */
export type Fed =
  /** The line has a job. `refused` is the error if that job was refused; `isInvalid` is true if its request was the reason. */
  | { readonly kind: "admitted"; readonly refused?: JobError; readonly isInvalid?: true }
  | { readonly kind: "refused"; readonly error: ApiError }
  | { readonly kind: "full"; readonly waitMs: number };

const ADMITTED: Fed = { kind: "admitted" };
const waitFor = (waitMs: number): Fed => ({ kind: "full", waitMs });

/** State of the workspaces' rate windows, shared by all batches of this process. */
const windows = createWindows();

export interface Feeding {
  readonly batch: BatchRow;
  readonly target: LineTarget;
  /** True when other lines of the batch are running and may hold credits or tokens that a line needs. */
  readonly othersRun: boolean;
  readonly onFed: (line: BatchLine, fed: Fed) => Promise<void>;
}

/**
 * Admits lines in order until a line must wait.
 * @returns milliseconds after which the remaining lines may be tried again; 0: no line remains
 * @throws Superseded when another process leads the batch; Error when the database or the object store is down
 */
export async function feedLines(
  context: BatchContext,
  lines: readonly BatchLine[],
  { batch, target, othersRun, onFed }: Feeding,
): Promise<number> {
  const caller = await callerOf(context, batch);
  const blocks = caller instanceof ApiError ? undefined : await findBlocks(context.database, batch.input_file_id);
  if (caller instanceof ApiError || !blocks) {
    const gone = new ApiError("file_not_found", "The input file was deleted before this line was processed.");
    const error = caller instanceof ApiError ? caller : gone;
    for (const line of lines) await onFed(line, { kind: "refused", error });
    return 0;
  }
  const slices = new TimeSlices();
  let hasOthers = othersRun;
  let waitMs = 0;
  for (const span of spansOf(lines)) {
    const bytes = await readSpan(context, blocks, span);
    for (let from = 0; from < span.length; from += AT_ONCE) {
      const some = span.slice(from, from + AT_ONCE);
      const leftNano =
        batch.limit_id === null ? undefined : await leftOf(context.database, batch.workspace_id, [batch.limit_id]);
      // All admissions end before this returns: a line that is reported as never run is not admitted later.
      const settled = await Promise.allSettled(
        some.map((line) =>
          feedLine(context, { batch, target, caller, line, bytes: bytes(line), hasOthers, leftNano, slices }),
        ),
      );
      const fed = settled.map((one) => (one.status === "fulfilled" ? one.value : undefined));
      hasOthers ||= fed.some((one) => one?.kind === "admitted" && one.refused === undefined);
      for (const [at, line] of some.entries()) {
        const result = fed[at];
        if (result === undefined) continue;
        const one = hasOthers ? await unlessHeldByOthers(context, line, result) : result;
        if (one.kind === "full") waitMs = Math.max(waitMs, one.waitMs);
        const error = refusalOf(one);
        const { endpoint } = batch;
        if (error) keepRefused(context, { id: line.job_id, caller, endpoint, request: bytes(line), error });
        await onFed(line, one);
      }
      const fault = settled.find((one) => one.status === "rejected");
      if (fault) throw fault.reason;
      if (waitMs > 0) return waitMs;
    }
  }
  return 0;
}

function refusalOf(fed: Fed): JobError | undefined {
  if (fed.kind === "refused") return jobError(fed.error);
  return fed.kind === "admitted" ? fed.refused : undefined;
}

/**
 * Returns the caller that the batch acts for. If the key that created the batch is inactive, returns an error. Lines that have not started
 * then end with this error.
 */
async function callerOf({ publishers }: BatchContext, batch: BatchRow): Promise<Caller | ApiError> {
  try {
    const caller = await publishers.find(batch.workspace_id, batch.key_id);
    if (caller) return caller;
    return new ApiError("invalid_api_key", "The API key that created the batch is no longer active.");
  } catch (error) {
    if (error instanceof ApiError && error.status < 500) return error;
    throw error;
  }
}

/** Error codes of refusals that may be due to credits or tokens held by other running lines. */
const HELD_BY_OTHERS: ReadonlySet<Code> = new Set([
  "insufficient_credits",
  "daily_tokens_exceeded",
  "key_limit_reached",
  "max_credits_exceeded",
]);

/**
 * Defers a line that was refused because other lines of its batch hold the credits or tokens that it needs. Deletes the line's refused job,
 * so that the line can be admitted later.
 */
async function unlessHeldByOthers({ database }: BatchContext, { job_id }: BatchLine, fed: Fed): Promise<Fed> {
  if (fed.kind !== "admitted" || fed.refused === undefined || fed.isInvalid === true) return fed;
  if (!HELD_BY_OTHERS.has(fed.refused.code)) return fed;
  return (await forgetRefused(database, job_id)) ? waitFor(WAIT_MS) : fed;
}

/**
 * Deletes the refused jobs of lines whose credits or tokens were held by other lines. Such jobs remain if an earlier leader crashed before
 * it deleted them.
 */
export function forgetHeldByOthers({ database }: Pick<BatchContext, "database">, batch: BatchRow): Promise<void> {
  return forgetAllRefused(database, batch, [...HELD_BY_OTHERS]);
}

/** Yields groups of lines whose bytes are read together. */
function* spansOf(lines: readonly BatchLine[]): Generator<BatchLine[], void> {
  let span: BatchLine[] = [];
  for (const line of lines) {
    const [first] = span;
    if (first && line.start + BigInt(line.bytes) - first.start > SPAN_BYTES_MAX) {
      yield span;
      span = [];
    }
    span.push(line);
  }
  if (span.length > 0) yield span;
}

async function readSpan(
  { storage }: Pick<BatchContext, "storage">,
  blocks: FileBlocks,
  span: readonly BatchLine[],
): Promise<(line: BatchLine) => Uint8Array> {
  const from = Number(span[0]?.start ?? 0n);
  const last = span.at(-1);
  const to = Number(last?.start ?? 0n) + (last?.bytes ?? 0);
  const pieces: Uint8Array[] = [];
  for await (const piece of readFile(storage, blocks, from, to)) pieces.push(piece);
  const bytes = Buffer.concat(pieces);
  return ({ start, bytes: length }) => bytes.subarray(Number(start) - from, Number(start) - from + length);
}

interface Feed {
  readonly batch: BatchRow;
  readonly target: LineTarget;
  readonly caller: Caller;
  readonly line: BatchLine;
  readonly bytes: Uint8Array;
  readonly hasOthers: boolean;
  /** Amount that is left of `max_credits` of the batch, in nano-credits; undefined if the batch has no maximum. */
  readonly leftNano: bigint | undefined;
  readonly slices: TimeSlices;
}

async function feedLine(context: BatchContext, feed: Feed): Promise<Fed> {
  const { batch, caller, line, target, bytes, leftNano, slices } = feed;
  const key = `${batch.workspace_id} ${batch.key_id}`;
  const starves = windows.starves(key, (batch.in_progress_at ?? batch.created_at).getTime());
  const batchLine = { price_millionths: context.config.batchPriceMillionths };
  const metadata: unknown = batch.metadata === null ? null : JSON.parse(batch.metadata);
  const labels = labelsOf(caller, { metadata }, batch.labels ?? undefined);
  // No other process reads the line, so unreadable audio is not retried.
  const asked = {
    caller,
    batch,
    target,
    id: line.job_id,
    bytes,
    tries: Infinity,
    starves,
    labels,
    max: { line: batchLine, sharedNano: leftNano },
  };
  const call = await unlessRefused(readLine(context, asked, slices));
  if (!(call instanceof ApiError) && "definition" in call) return feedRun(context, feed, call);
  const leastNano = call instanceof ApiError ? 0n : leastNanoOf(context, call);
  if (!(call instanceof ApiError)) {
    const fed = await checkLine(context, feed, call, starves);
    if (fed) return fed;
    if (feed.hasOthers && call.isHeavy()) {
      const leftOfLimits = await readLeft(context, feed, call);
      const amountNano = amountAtRefusal.get(line) ?? leastNano;
      if (leftOfLimits !== null && leftOfLimits < amountNano) return waitFor(WAIT_MS);
    }
  }
  const work: Work = {
    entry: "batch",
    id: line.job_id,
    caller,
    pool: call instanceof ApiError ? "chat" : call.kind.pool,
    lane: "batch",
    read() {
      if (call instanceof ApiError) throw call;
      return call;
    },
    batchLine,
    batch,
    ...(batch.limit_id === null ? {} : { scopes: [batch.limit_id] }),
    starves,
    part: `${batch.epoch}`,
    takePermit: context.takePermit(batch.workspace_id),
  };
  const admission = await admitJob(context, work);
  switch (admission.kind) {
    case "admitted":
      if (admission.isFromShare !== true) windows.wasOpen(key);
      await dispatchAdmitted(context.dispatcher, work, admission);
      return ADMITTED;
    case "known":
      return ADMITTED;
    case "refused":
      if ((admission.amountNano ?? 0n) > leastNano) amountAtRefusal.set(line, admission.amountNano ?? 0n);
      return {
        kind: "admitted",
        refused: admission.error,
        ...(call instanceof ApiError ? { isInvalid: true } : {}),
      };
    case "unknown_workspace":
      return {
        kind: "refused",
        error: admission.refusal ?? new ApiError("invalid_api_key", "The workspace no longer exists."),
      };
    case "full":
      return waitFor(admission.waitMs);
    case "busy":
      return waitFor(WAIT_MS);
    default:
      return admission satisfies never;
  }
}

/** Returns the result for a line that already has a job or must wait. Returns undefined if the line may be admitted. */
async function checkLine(
  context: BatchContext,
  feed: Feed,
  call: ReadCall,
  starves: boolean,
): Promise<Fed | undefined> {
  const { batch, caller, line, hasOthers } = feed;
  // The media of the line must not be stored twice.
  if (call.isHeavy() && (await findJob(context.database, batch.workspace_id, line.job_id))) return ADMITTED;
  if (!hasOthers) return undefined;
  try {
    await context.calls.check(caller.workspaceId, caller.preset.requests_per_minute, leastNanoOf(context, call));
    return undefined;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (HELD_BY_OTHERS.has(error.code)) return waitFor(WAIT_MS);
    // The admission itself returns the delay of a full window, and lets a starving line pass.
    if (error.code === "rate_limit_exceeded" || starves || error.status < 500) return undefined;
    throw error;
  }
}

function leastNanoOf({ config }: BatchContext, { leastNano, model }: ReadCall): bigint {
  return priceAt(leastNano, batchLineOf(model.price, config.batchPriceMillionths));
}

/**
 * Holds that refused lines require, in nano-credits, if they exceed the lowest hold, such as for the length of a recording. The request of
 * such a line is not stored again before its spend limits leave enough.
 */
const amountAtRefusal = new WeakMap<BatchLine, bigint>();

/** Returns the amount that the spend limits of a line leave, in nano-credits; null if none applies. */
async function readLeft({ database }: BatchContext, feed: Feed, { labels }: ReadCall): Promise<bigint | null> {
  const { batch, caller } = feed;
  const { workspaceId, keyId, hasSpendLimit } = caller;
  const scopes = [...(limitedIdsOf(caller, labels) ?? []), ...(batch.limit_id === null ? [] : [batch.limit_id])];
  const isLimited = hasSpendLimit === true || scopes.length > 0;
  return isLimited ? await leftForCall(database, workspaceId, { keyId, scopes }) : null;
}

async function feedRun(context: BatchContext, { line, batch }: Feed, run: NewRun): Promise<Fed> {
  const begun = await unlessRefused(beginRun(context, run));
  if (begun instanceof ApiError) return { kind: "refused", error: begun };
  const { verdict, waitMs } = begun;
  if (verdict === "waits") return waitFor(waitMs);
  if (verdict === "crowded") return waitFor(5 * WAIT_MS);
  if (verdict === "begun")
    notifyRun(context.connection, { id: line.job_id, workspace_id: batch.workspace_id, lane: "batch" });
  return ADMITTED;
}
