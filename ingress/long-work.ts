/** Work that would keep the thread from others: of a workspace one at a time, in slices between which the event loop runs. */
import { KeyedSemaphore } from "#shared/keyed-semaphore.ts";
import { LIMITS } from "#shared/limits.ts";
import { TimeSlices } from "#shared/time-slices.ts";

import type { RouteCall } from "./serve.ts";

const turns = new KeyedSemaphore({
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
  const end = await turns.take(caller?.workspaceId ?? NO_WORKSPACE, 1, request.signal);
  try {
    return await work(new TimeSlices());
  } finally {
    end();
  }
}

/** Stands for the workspace of operators, who have none. */
const NO_WORKSPACE = "";
