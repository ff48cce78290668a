/**
 * Permits for computations that would block the thread. Each workspace runs one at a time, in time slices between which the event loop
 * runs.
 */
import type { Caller } from "#shared/access/authenticate.ts";
import { openRequestLimit } from "#shared/limits/request-limit.ts";
import { TimeSlices } from "#shared/base/time-slices.ts";
import { paced } from "#shared/config/pace.ts";

import type { BodyCapture } from "./body-capture.ts";

/**
 * Maximum number of requests that wait for another computation of their workspace, and their timeout in milliseconds. At most half of them
 * may belong to one workspace, which is about a second of requests with 300 KB each. Requests beyond 1 MB were already limited earlier.
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

/** Model or capability that a request names, as soon as it is read. */
export interface AskedModel {
  model?: unknown;
  /** Id of the capability that the request names, if it exists. */
  capability?: string;
}

/** Request, and its caller if the caller belongs to a workspace. */
export interface Requester {
  readonly request: Request;
  readonly caller?: Caller;
  readonly capture?: BodyCapture;
  readonly asked?: AskedModel;
}

/**
 * Runs `work` once no other long computation of the caller's workspace is running.
 * @throws ApiError `overloaded` if too many requests wait, or this request has waited too long; the errors of `work`
 */
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

/** Workspace id used for computations of operators, who have no workspace. */
const NO_WORKSPACE = "";
