/** The word that a run is to be looked at. It carries nothing: what has happened stands in rows, and a lost word costs a sweep's time. */
import type { NatsConnection } from "nats";

import { type Lane, workSubject } from "./subjects.ts";

export interface RunWake {
  readonly id: string;
  readonly workspace_id: string;
  readonly lane: Lane;
}

/** Stored by the pool's stream; its acknowledgement is not waited for. */
export function wakeRun(
  connection: Pick<NatsConnection, "publish" | "isClosed">,
  { id, workspace_id, lane }: RunWake,
): void {
  if (connection.isClosed()) return;
  connection.publish(workSubject("workflow", lane, workspace_id), JSON.stringify({ run_id: id, workspace_id }));
}
