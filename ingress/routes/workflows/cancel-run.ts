/** Cancels workflow runs. */
import { requestRunCancel } from "#shared/database/runs.ts";
import { notifyRun, type RunNotice } from "#shared/queue/run-notice.ts";

import type { IngressContext } from "../../context.ts";

/** Requests the cancellation of a run and its jobs. @returns false if the run had already ended */
export async function cancelRun(
  { database, connection, cancel }: Pick<IngressContext, "database" | "connection" | "cancel">,
  run: RunNotice,
): Promise<boolean> {
  const jobs = await requestRunCancel(database, run.id);
  if (!jobs) return false;
  for (const id of jobs) cancel(id);
  notifyRun(connection, run);
  return true;
}
