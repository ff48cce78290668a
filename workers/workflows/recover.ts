/** Runs that stand still. What kills its workers again and again, or cannot be read, must not be tried forever. */
import { countRecovery, giveUpRun } from "#shared/database/run-work.ts";
import { LIMITS } from "#shared/limits.ts";

import type { WorkflowContext } from "./context.ts";

/** A worker that dies of a run counts as ten that only failed: ten deaths end a run, or a hundred failures a minute apart. */
const DEATH = 10;
const FAILURE = 1;
const RECOVERIES_MAX = 100;

/**
 * Carries on a run that stands still, or ends it. The look is counted as a death first, since nobody could count one afterwards.
 * @throws what `goOn` throws
 */
export async function recoverRun(
  { database, log }: Pick<WorkflowContext, "database" | "log">,
  runId: string,
  goOn: () => Promise<void>,
): Promise<void> {
  const olderMs = LIMITS.runStalledMs;
  const sum = await countRecovery(database, runId, { weight: DEATH, olderMs });
  if (sum !== undefined && sum > RECOVERIES_MAX) {
    log.error({ run_id: runId }, "a run cannot be carried on, and is given up");
    await giveUpRun(database, runId);
  }
  try {
    await goOn();
  } catch (error) {
    await countRecovery(database, runId, { weight: FAILURE - DEATH, olderMs });
    throw error;
  }
}
