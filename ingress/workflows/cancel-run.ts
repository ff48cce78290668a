/** The end of a run that is not wanted any more. */
import { requestRunCancel } from "#shared/database/runs.ts";
import { notifyRun, type RunNotice } from "#shared/queue/run-notice.ts";

import type { IngressContext } from "../context.ts";

/** Asks the run and its jobs to end. @returns whether it went on */
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
