/** What a call is paid by while one model serves it. */
import type { JobMessage } from "#schemas/generated/types.ts";
import type { CheckedMedia } from "#shared/admission/media-check.ts";
import type { Model } from "#shared/catalogue/catalogue.ts";
import { adjustHold } from "#shared/ledger/adjust.ts";
import type { Price } from "#shared/pricing/price.ts";

import type { WorkerContext } from "../../context.ts";
import type { ProviderJob } from "../../providers/media.ts";

export interface Terms {
  readonly price: Price;
  readonly holdNano: bigint;
}

/** A job at a provider, as its row keeps it. */
export interface Begun {
  readonly source: string;
  readonly model: string;
  readonly depth: number;
  readonly price: Readonly<Record<string, string>>;
  readonly hold_nano: string;
  /** Unix milliseconds. */
  readonly started_ms: number;
  readonly job: ProviderJob;
  /** The second half of it was about to be begun: nobody knows whether it was. */
  readonly is_between?: true;
}

/**
 * A fallback runs at its own price: the hold is moved to it first (lesson PRO-7). Undefined: the model is passed over.
 * @param check of the call against the model
 */
export async function moveTerms(
  { database, log }: Pick<WorkerContext, "database" | "log">,
  job: Pick<JobMessage, "job_id" | "request_id" | "attempt">,
  { slug }: Pick<Model, "slug">,
  check: () => Pick<CheckedMedia<unknown>, "bound" | "price">,
): Promise<Terms | undefined> {
  try {
    const { bound, price } = check();
    const adjusted = await adjustHold(database, {
      jobId: job.job_id,
      attempt: job.attempt,
      model: slug,
      amountNano: bound.holdNano,
      mayExceed: false,
      tokensMax: bound.tokensMax,
    });
    return adjusted === "adjusted" ? { price, holdNano: bound.holdNano } : undefined;
  } catch (error) {
    log.info({ err: error, job_id: job.job_id, request_id: job.request_id, model: slug }, "fallback passed over");
    return undefined;
  }
}
