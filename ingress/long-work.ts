/** Work that would keep the thread from others: of a workspace one at a time, in slices between which the event loop runs. */
import { openRequestLimit } from "#shared/request-limit.ts";
import { TimeSlices } from "#shared/time-slices.ts";
import { paced } from "#shared/pace.ts";

import type { RouteCall } from "./serve.ts";

/**
 * Requests that wait for work on others of their workspace, and for how long: half of them of one workspace, which is a second of bodies
 * of 300 KB. Those beyond 1 MB have been let in a few at a time.
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

/** Waits until no other work of the caller's workspace is under way. @throws ApiError `overloaded`; what `work` throws */
export async function withPermit<T>(
  { caller, request }: Pick<RouteCall, "caller" | "request">,
  work: (slices: TimeSlices) => Promise<T>,
): Promise<T> {
  const permit = await permits.take({ owner: caller?.workspaceId ?? NO_WORKSPACE }, request.signal);
  try {
    return await work(new TimeSlices());
  } finally {
    permit.release();
  }
}

/** Stands for the workspace of operators, who have none. */
const NO_WORKSPACE = "";
