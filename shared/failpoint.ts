/**
 * Places where a process can be made to die, between two steps that a crash must not tear apart: fault tests kill there what
 * signals from outside would miss. Inert unless SLUICE_FAILPOINT names one; never in production.
 */

/** Each stands in the source where its name says, right after what it names has happened. */
export const FAILPOINTS = [
  // A synchronous call.
  "request.stored",
  "call.admitted",
  "call.dispatched",
  "call.served",
  "call.answered",
  "call.taken",
  "call.settled",
  // A durable job.
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
  // A response.
  "response.kept",
  "response.answered",
  // A run.
  "run.inserted",
  "run.saved",
  "step.started",
  "step.continued",
  "run.ended",
  // A batch.
  "batch.taken",
  "batch.stored",
  "batch.written",
  // A notification.
  "delivery.claimed",
  "delivery.sent",
  "delivery.ended",
  // A file.
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
  /** From 1. */
  readonly pass: number;
}

/** `name` or `name:pass`; undefined for anything else. */
export function parseFailpoint(text: string): Armed | undefined {
  const [name, pass = "1", ...rest] = text.split(":");
  const at = FAILPOINTS.find((known) => known === name);
  return at !== undefined && rest.length === 0 && /^[1-9]\d{0,5}$/.test(pass) ? { at, pass: Number(pass) } : undefined;
}

let armed: Armed | undefined;
let passes = 0;

/** From now on this process dies there; undefined: nowhere. */
export function armFailpoint(next: Armed | undefined): void {
  armed = next;
  passes = 0;
}

/** Does what `failpoint` does, once what was written to sockets before has left the process. */
export async function sentFailpoint(name: Failpoint): Promise<void> {
  if (armed?.at !== name) return;
  await new Promise((resolve) => setTimeout(resolve, 50));
  failpoint(name);
}

/** Ends the process on the spot, as a power cut would, where the environment says so. */
export function failpoint(name: Failpoint): void {
  if (armed?.at !== name) return;
  passes += 1;
  if (passes === armed.pass) process.kill(process.pid, "SIGKILL");
}
