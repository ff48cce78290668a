/**
 * Notice to the workflow workers that a run must be continued. Apart from the id of the run, it contains no state, because the database
 * rows are authoritative. A sweep repeats a lost notice.
 */
import type { NatsConnection } from "nats";

import { type Lane, workSubject } from "./subjects.ts";

export interface RunNotice {
  readonly id: string;
  readonly workspace_id: string;
  readonly lane: Lane;
}

/**
 * Publishes the notice that a worker must continue the run, without waiting for its acknowledgement.
 * @param isFullCheck true if the worker must also look for overdue work of the steps, work that was never created, and steps that are due
 * @param isStalled true for a run without progress: the worker counts the notice as a failed attempt
 */
export function notifyRun(
  connection: Pick<NatsConnection, "publish" | "isClosed">,
  { id, workspace_id, lane }: RunNotice,
  { isFullCheck = false, isStalled = false }: { readonly isFullCheck?: boolean; readonly isStalled?: boolean } = {},
): void {
  if (connection.isClosed()) return;
  const flags = { ...(isFullCheck ? { is_full_check: true } : {}), ...(isStalled ? { is_stalled: true } : {}) };
  const notice = { run_id: id, workspace_id, ...flags };
  connection.publish(workSubject("workflow", lane, workspace_id), JSON.stringify(notice));
}
