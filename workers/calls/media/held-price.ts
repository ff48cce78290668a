/** Tracks the price and the hold of a call for the model that currently serves it, and the record of the job at its provider. */
import type { JobMessage } from "#schemas/generated/types.ts";
import type { CheckedMedia, JobCheck } from "#shared/calls/kinds/media-check.ts";
import type { Model, Provider } from "#shared/calls/model.ts";
import { commonNow } from "#shared/base/clock.ts";
import type { OpenStart } from "#shared/database/open-starts.ts";
import { adjustHold } from "#shared/ledger/adjust.ts";
import { creditLineHoldOf } from "#shared/ledger/credit-line-calls.ts";
import { deserializePrice, type Price, serializePrice } from "#shared/calls/pricing/price.ts";

import type { WorkerContext } from "../../context.ts";
import type { ProviderJob } from "../../providers/media.ts";

export interface HeldPrice {
  readonly price: Price;
  readonly holdNano: bigint;
  /** Check against the serving model; absent until a model was called. */
  readonly checked?: Checked;
}

/**
 * Check of a call at the time of its provider request. It applies to the delivery of the results, even if the catalogue has changed since.
 */
interface Checked extends Omit<JobCheck, "params"> {
  /** Requested audio format. */
  readonly format?: string;
}

/** Returns the part of a check that is stored with the provider's job in the database row. It contains no text that the caller wrote. */
export function checkedOf({ params, ...counted }: JobCheck): Checked {
  const { format } = params as { readonly format?: string };
  return { ...counted, ...(format === undefined ? {} : { format }) };
}

/** Job at a provider, as stored in the job's database row. */
export interface ProviderJobRecord {
  readonly source: string;
  readonly model: string;
  readonly depth: number;
  readonly price: Readonly<Record<string, string>>;
  readonly hold_nano: string;
  /** Check of the call against the model; absent in jobs that older workers started. */
  readonly checked?: Checked;
  /** Start time in Unix milliseconds. */
  readonly started_ms: number;
  /** Job at the provider; absent until the start of the job, or of its first half, is confirmed. */
  readonly job?: ProviderJob;
  /** Start that has no response yet. If `job` is set too, this is the start of the job's second half. */
  readonly start?: OpenStart;
  /** Set together with every `start`. Older workers that do not support `start` then do not poll, and leave the job to other workers. */
  readonly is_between?: true;
  /** Ids of the job and its halves at the provider; set if the provider can list jobs. */
  readonly names?: readonly string[];
  /** Maximum time of polling without a definite result, in milliseconds. If absent, the configured setting applies. */
  readonly unknown_for_ms?: number;
}

/** Returns the record of a job that is about to start. */
export function providerJobRecordOf(
  { price, holdNano, checked }: HeldPrice,
  job: Pick<ProviderJobRecord, "source" | "model" | "depth">,
  { unknown_for_seconds: unknownForS }: Pick<Provider, "unknown_for_seconds">,
): ProviderJobRecord {
  return {
    ...job,
    price: serializePrice(price),
    hold_nano: holdNano.toString(),
    ...(checked ? { checked } : {}),
    started_ms: commonNow(),
    ...(unknownForS === undefined ? {} : { unknown_for_ms: unknownForS * 1_000 }),
  };
}

/** Adds a start that is about to be sent to a record. */
export function withStart(record: ProviderJobRecord, id: string, mark: OpenStart["mark"]): ProviderJobRecord {
  return { ...record, start: { id, mark, sent_ms: commonNow() }, is_between: true };
}

/** Adds a started job to a record, and removes the start. The job may be the second half of the recorded job. */
export function withJob(record: ProviderJobRecord, job: ProviderJob, name: string | undefined): ProviderJobRecord {
  const { start: _answered, is_between: _over, names = [], ...rest } = record;
  return { ...rest, job, ...(name === undefined ? {} : { names: [...names, name] }) };
}

/** Removes a rejected start from a record. Returns null if nothing else is recorded. */
export function withoutStart({
  start: _open,
  is_between: _over,
  ...rest
}: ProviderJobRecord): ProviderJobRecord | null {
  return rest.job === undefined ? null : rest;
}

export function heldPriceOf({ price, hold_nano: holdNano, checked }: ProviderJobRecord): HeldPrice {
  return { price: deserializePrice(price), holdNano: BigInt(holdNano), ...(checked ? { checked } : {}) };
}

/**
 * Adjusts the hold to the price of a fallback model before that model runs. Returns undefined if the model is skipped.
 * @param check returns the check of the call against the model
 */
export async function moveHold(
  { database, log }: Pick<WorkerContext, "database" | "log">,
  job: JobMessage,
  { slug }: Pick<Model, "slug">,
  check: () => Pick<CheckedMedia<unknown>, "bound" | "price">,
): Promise<HeldPrice | undefined> {
  try {
    const { bound, price } = check();
    const adjusted = await adjustHold(database, {
      workspaceId: job.workspace_id,
      jobId: job.job_id,
      attempt: job.attempt,
      model: slug,
      amountNano: bound.holdNano,
      mayExceed: false,
      tokensMax: bound.tokensMax,
      batchLine: job.batch_line,
      creditLineHold: creditLineHoldOf(job),
    });
    return adjusted === "adjusted" ? { price, holdNano: bound.holdNano } : undefined;
  } catch (error) {
    log.info({ err: error, job_id: job.job_id, request_id: job.request_id, model: slug }, "skipped a fallback model");
    return undefined;
  }
}
