/**
 * Notice that a worker must continue a run. The notice has no content, because the database rows are authoritative. A sweep repeats a lost
 * notice.
 */
import type { NatsConnection } from "nats";

import { type Lane, workSubject } from "./subjects.ts";

export interface RunNotice {
  readonly id: string;
  readonly workspace_id: string;
  readonly lane: Lane;
}

/**
 * Publishes a notice to the stream of the pool, without waiting for its acknowledgement.
 * @param isFullCheck true if the worker must also look for late, due and never begun jobs and runs of the steps
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
