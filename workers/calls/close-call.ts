/** Closes a call's hold and tells metrics and log what came of it. */
import type { JobMessage } from "#schemas/generated/types.ts";
import { failpoint } from "#shared/failpoint.ts";
import type { Finished, UsageStatus } from "#shared/ledger/finish.ts";
import { completionTokens, promptTokens } from "#shared/pricing/usage.ts";

import type { WorkerContext } from "../context.ts";

import { type Metered, usageUnits } from "./chat/meter.ts";

/** @param metered undefined releases the hold. @param source `provider/model` that served, null when none did */
export type CloseCall = (
  job: JobMessage,
  source: string | null,
  status: UsageStatus,
  metered: Metered | undefined,
) => Promise<Finished>;

/** @throws as `Ledger.finish` */
export function createCloseCall(context: Pick<WorkerContext, "ledger" | "metrics" | "log">): CloseCall {
  const { ledger, metrics, log } = context;
  return async (job, source, status, metered) => {
    failpoint("call.served");
    const finished = await ledger.finish({
      workspaceId: job.workspace_id,
      jobId: job.job_id,
      attempt: job.attempt,
      usedNano: metered?.nano ?? null,
      status,
      source,
      units: metered ? usageUnits(metered.usage) : {},
      isEstimated: metered?.estimated !== undefined,
      tokens: metered ? promptTokens(metered.usage) + completionTokens(metered.usage) : 0,
    });
    failpoint("call.settled");
    if (finished.wasClosed || !metered) return finished;
    metrics.creditsSettled.addNano(finished.takenNano);
    metrics.creditsUncollected.addNano(metered.nano - finished.takenNano);
    if (metered.estimated) metrics.usageEstimated.inc(metered.estimated);
    if (metered.estimated === "impossible") {
      log.error(
        { request_id: job.request_id, source },
        "the provider reported impossible usage; the call was settled at its hold",
      );
    }
    return finished;
  };
}
