/** Permits for work that would block the thread: one at a time per workspace, in slices between which the event loop runs. */
import type { Caller } from "#shared/access/authenticate.ts";
import { openRequestLimit } from "#shared/limits/request-limit.ts";
import { TimeSlices } from "#shared/base/time-slices.ts";
import { paced } from "#shared/config/pace.ts";

/**
 * Most requests that wait for other work of their workspace, and their timeout. Half may belong to one workspace: a second of bodies of 300
 * KB. Requests beyond 1 MB were admitted a few at a time before.
 */
export const LONG_WORK_WAITING_MAX = 1_024;
const LONG_WORK_WAIT_MS = paced(20_000);

const permits = openRequestLimit({
  max: Infinity,
  perWorkspaceMax: 1,
  waitingMax: LONG_WORK_WAITING_MAX,
  waitMs: LONG_WORK_WAIT_MS,
  noun: "requests that take long",
});

/** Request, and its caller if the caller belongs to a workspace. */
export interface Requester {
  readonly request: Request;
  readonly caller?: Caller;
}

/** Runs `work` when no other work of the caller's workspace is running. @throws ApiError `overloaded`; what `work` throws */
export async function withPermit<T>(
  { caller, request }: Requester,
  work: (slices: TimeSlices) => Promise<T>,
): Promise<T> {
  const permit = await permits.take({ owner: caller?.workspaceId ?? NO_WORKSPACE }, request.signal);
  try {
    return await work(new TimeSlices());
  } finally {
    permit.release();
  }
}

/** Owner of the work of operators, who have no workspace. */
const NO_WORKSPACE = "";
