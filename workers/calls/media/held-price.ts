/** Price and hold of a call while one model serves it. */
import type { JobMessage } from "#schemas/generated/types.ts";
import type { CheckedMedia, JobCheck } from "#shared/calls/kinds/media-check.ts";
import type { Model, Provider } from "#shared/calls/model.ts";
import { commonNow } from "#shared/clock.ts";
import type { OpenStart } from "#shared/database/open-starts.ts";
import { adjustHold } from "#shared/ledger/adjust.ts";
import { linedHoldOf } from "#shared/ledger/lined-calls.ts";
import { deserializePrice, type Price, serializePrice } from "#shared/calls/pricing/price.ts";

import type { WorkerContext } from "../../context.ts";
import type { ProviderJob } from "../../providers/media.ts";

export interface HeldPrice {
  readonly price: Price;
  readonly holdNano: bigint;
  /** Result of the check by the model that serves; absent until one was asked. */
  readonly checked?: Checked;
}

/** Result of a call's check when its model was asked. The results are delivered by it, whatever the catalogue says by then. */
interface Checked extends Omit<JobCheck, "params"> {
  /** Format in which audio was asked for. */
  readonly format?: string;
}

/** The part of a check that the row keeps beside the provider's job: nothing of what the caller wrote. */
export function checkedOf({ params, ...counted }: JobCheck): Checked {
  const { format } = params as { readonly format?: string };
  return { ...counted, ...(format === undefined ? {} : { format }) };
}

/** A job at a provider, as its row keeps it. */
export interface ProviderJobRecord {
  readonly source: string;
  readonly model: string;
  readonly depth: number;
  readonly price: Readonly<Record<string, string>>;
  readonly hold_nano: string;
  /** Absent in what workers before this one began. */
  readonly checked?: Checked;
  /** Unix milliseconds. */
  readonly started_ms: number;
  /** Absent while the start of it, or of its first half, is open. */
  readonly job?: ProviderJob;
  /** A start whose answer has not come; with a `job` beside it, that of its second half. */
  readonly start?: OpenStart;
  /** Beside every `start`, for workers that know of no such: they ask nothing, and leave the job to others. */
  readonly is_between?: true;
  /** Its provider's names for it and its halves, where that lists its jobs. */
  readonly names?: readonly string[];
  /** The time for which it is asked about without a verdict; absent: the setting's. */
  readonly unknown_for_ms?: number;
}

/** A job that is about to be begun. */
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

/** The same with a start that is about to be sent. */
export function withStart(record: ProviderJobRecord, id: string, mark: OpenStart["mark"]): ProviderJobRecord {
  return { ...record, start: { id, mark, sent_ms: commonNow() }, is_between: true };
}

/** The same once the job is known, which may be the second half of the one before. */
export function withJob(record: ProviderJobRecord, job: ProviderJob, name: string | undefined): ProviderJobRecord {
  const { start: _answered, is_between: _over, names = [], ...rest } = record;
  return { ...rest, job, ...(name === undefined ? {} : { names: [...names, name] }) };
}

/** The same without its start, which was not taken; null: nothing is left. */
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
 * A fallback runs at its own price: the hold is moved to it first. Undefined: the model is passed over.
 * @param check of the call against the model
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
      lined: linedHoldOf(job),
    });
    return adjusted === "adjusted" ? { price, holdNano: bound.holdNano } : undefined;
  } catch (error) {
    log.info({ err: error, job_id: job.job_id, request_id: job.request_id, model: slug }, "fallback passed over");
    return undefined;
  }
}
