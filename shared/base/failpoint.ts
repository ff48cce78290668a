/**
 * Points at which fault tests crash a process, between two steps that a crash must not separate. External signals cannot hit these moments.
 * Inactive unless SLUICE_FAILPOINT names a point. Never active in production.
 */

/** Names of the points. The code calls `failpoint` with a name directly after the event that the name describes. */
export const FAILPOINTS = [
  // Synchronous calls.
  "request.stored",
  "call.admitted",
  "call.dispatched",
  "call.served",
  "call.answered",
  "call.taken",
  "call.settled",
  // Durable jobs.
  "job.admitted",
  "job.dispatched",
  "job.claimed",
  "job.intended",
  "job.begun",
  "job.noted",
  "job.made",
  "artifact.fetched",
  "artifact.kept",
  "job.served",
  "job.ended",
  "job.told",
  "job.acknowledged",
  "job.collected",
  "job.concluded",
  "job.recorded",
  // Responses.
  "response.kept",
  "response.answered",
  // Runs.
  "run.inserted",
  "run.saved",
  "step.started",
  "step.continued",
  "run.ended",
  // Batches.
  "batch.taken",
  "batch.stored",
  "batch.written",
  // Notifications.
  "delivery.claimed",
  "delivery.sent",
  "delivery.ended",
  // Files.
  "upload.begun",
  "upload.reserved",
  "upload.stored",
  "upload.finished",
  "upload.ended",
  "bytes.erased",
] as const;

export type Failpoint = (typeof FAILPOINTS)[number];

export interface Armed {
  readonly at: Failpoint;
  /** Number of the call to the point at which the process crashes, counted from 1. */
  readonly pass: number;
}

/** Parses a failpoint setting, `name` or `name:pass`. Returns undefined for other texts. */
export function parseFailpoint(text: string): Armed | undefined {
  const [name, pass = "1", ...rest] = text.split(":");
  const at = FAILPOINTS.find((known) => known === name);
  return at !== undefined && rest.length === 0 && /^[1-9]\d{0,5}$/.test(pass) ? { at, pass: Number(pass) } : undefined;
}

let armed: Armed | undefined;
let passes = 0;

/** Arms a point, so that this process crashes there; undefined disarms it. */
export function armFailpoint(next: Armed | undefined): void {
  armed = next;
  passes = 0;
}

/** Calls `failpoint` after all data written to sockets has left the process. */
export async function sentFailpoint(name: Failpoint): Promise<void> {
  if (armed?.at !== name) return;
  await new Promise((resolve) => setTimeout(resolve, 50));
  failpoint(name);
}

/** Crashes the process immediately, like a power failure, if this point is armed. */
export function failpoint(name: Failpoint): void {
  if (armed?.at !== name) return;
  passes += 1;
  if (passes === armed.pass) process.kill(process.pid, "SIGKILL");
}
