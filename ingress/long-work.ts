/** Work that would keep the thread from others: of a workspace one at a time, in slices between which the event loop runs. */
import { LIMITS } from "#shared/limits.ts";
import { openRequestLimit } from "#shared/request-limit.ts";
import { TimeSlices } from "#shared/time-slices.ts";

import type { RouteCall } from "./serve.ts";

const turns = openRequestLimit({
  max: Infinity,
  perWorkspaceMax: 1,
  waitingMax: LIMITS.longWorkWaitingMax,
  waitMs: LIMITS.longWorkWaitMs,
  noun: "requests that take long",
});

/** Waits until no other work of the caller's workspace is under way. @throws ApiError `overloaded`; what `work` throws */
export async function inTurn<T>(
  { caller, request }: Pick<RouteCall, "caller" | "request">,
  work: (slices: TimeSlices) => Promise<T>,
): Promise<T> {
  const turn = await turns.take({ owner: caller?.workspaceId ?? NO_WORKSPACE }, request.signal);
  try {
    return await work(new TimeSlices());
  } finally {
    turn.release();
  }
}

/** Stands for the workspace of operators, who have none. */
const NO_WORKSPACE = "";
