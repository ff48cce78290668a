/**
 * Room that the requests of a process share, of which one workspace has a part at most: its flood leaves room for others. Who finds
 * none waits for a time; too many, or too many of one workspace, do not wait at all.
 */
import { ApiError } from "./errors.ts";
import { FairLimit } from "./fair-limit.ts";

export interface RequestLimits {
  /** In what requests count, such as bytes: of all workspaces and of one. What alone is more has the room for itself. */
  readonly max: number;
  readonly perWorkspaceMax: number;
  /** Requests that wait, half of them of one workspace, and for how long. */
  readonly waitingMax: number;
  readonly waitMs: number;
  /** Name of what takes the room, for the error, such as `audio inputs`. */
  readonly noun: string;
}

/** Refuses with `overloaded` where there is no room for too long, and with `request_timeout` when the caller has left. */
export function openRequestLimit({ max, perWorkspaceMax, waitingMax, waitMs, noun }: RequestLimits): FairLimit {
  const limit: FairLimit = new FairLimit({
    max,
    mayHave: ({ taken }, amount) => taken === 0 || taken + amount <= perWorkspaceMax,
    mayWait: ({ waiting }) => limit.waiting <= waitingMax && waiting <= Math.max(1, waitingMax / 2),
    waitMs,
    refusal: () => tooMany(`Too many ${noun} are handled at once`),
    gone: () => new ApiError("request_timeout", "The request body did not arrive whole."),
  });
  return limit;
}

/** Returns the error of one that finds no room, and may soon. */
export function tooMany(sentence: string): ApiError {
  return new ApiError("overloaded", `${sentence}; try again shortly.`, { headers: { "retry-after": "2" } });
}
