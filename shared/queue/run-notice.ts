/** The word that a run is to be looked at. It carries nothing: what has happened stands in rows, and a lost word costs a sweep's time. */
import type { NatsConnection } from "nats";

import { type Lane, workSubject } from "./subjects.ts";

export interface RunNotice {
  readonly id: string;
  readonly workspace_id: string;
  readonly lane: Lane;
}

/**
 * Stored by the pool's stream; its acknowledgement is not waited for.
 * @param isFullCheck what is late, due or was never begun is looked for too
 * @param isStalled the same of a run that stands still: the worker that takes the word counts that
 */
export function notifyRun(
  connection: Pick<NatsConnection, "publish" | "isClosed">,
  { id, workspace_id, lane }: RunNotice,
  { isFullCheck = false, isStalled = false }: { readonly isFullCheck?: boolean; readonly isStalled?: boolean } = {},
): void {
  if (connection.isClosed()) return;
  const flags = { ...(isFullCheck ? { is_full_check: true } : {}), ...(isStalled ? { is_stalled: true } : {}) };
  const word = { run_id: id, workspace_id, ...flags };
  connection.publish(workSubject("workflow", lane, workspace_id), JSON.stringify(word));
}
