/** Tracks the price and the hold of a call for the model that currently serves it, and the record of the job at its provider. */
import type { JobMessage } from "#schemas/generated/types.ts";
import type { CheckedMedia, JobCheck } from "#shared/calls/kinds/media-check.ts";
import { withinMax } from "#shared/calls/max-credits.ts";
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
 * Result of checking the call, as it was at the provider request. It also applies when the results are delivered, even if the catalogue has
 * changed in the meantime.
 */
interface Checked extends Omit<JobCheck, "params"> {
  /** Requested audio format. */
  readonly format?: string;
}

/** Returns the members of a check that are stored in the provider job record. They contain no text of the caller. */
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
  /** Job at the provider; absent until the provider confirms its start. Some jobs consist of two requests; then the first one counts. */
  readonly job?: ProviderJob;
  /** Start request that has no response yet. If `job` is set too, it is the second request of the job. */
  readonly start?: OpenStart;
  /**
   * Always set together with `start`. Workers of earlier versions do not support `start`; this flag prevents them from polling the job, so
   * that a newer worker takes it over.
   */
  readonly is_between?: true;
  /** Ids of the job, or of its two requests, at the provider; set if the provider can list jobs. */
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

/** Returns the record with a start request, which must be sent after the record is stored. */
export function withStart(record: ProviderJobRecord, id: string, mark: OpenStart["mark"]): ProviderJobRecord {
  return { ...record, start: { id, mark, sent_ms: commonNow() }, is_between: true };
}

/** Returns the record with the started job, and without its start request. The job may be the second half of the recorded job. */
export function withJob(record: ProviderJobRecord, job: ProviderJob, name: string | undefined): ProviderJobRecord {
  const { start: _answered, is_between: _over, names = [], ...rest } = record;
  return { ...rest, job, ...(name === undefined ? {} : { names: [...names, name] }) };
}

/** Returns the record without its start request, which the provider rejected. Returns null if the record then contains no job. */
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
 * Adjusts the hold to the price of a fallback model before that model is called. Returns undefined if the model is skipped, because it does
 * not accept the call or the hold could not be adjusted.
 * @param check checks the call against the model
 */
export async function moveHold(
  { database, log }: Pick<WorkerContext, "database" | "log">,
  job: JobMessage,
  { slug }: Pick<Model, "slug">,
  check: () => Pick<CheckedMedia<unknown>, "bound" | "price">,
): Promise<HeldPrice | undefined> {
  try {
    const { bound, price } = check();
    if (job.max_nano !== undefined) {
      const nano = BigInt(job.max_nano);
      withinMax(bound, { nano, fitNano: nano, line: job.batch_line });
    }
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
