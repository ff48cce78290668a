/**
 * Capacity that the requests of a process share, with a maximum share per workspace. A flood from one workspace therefore leaves capacity
 * for others. Requests without capacity wait for a limited time. Too many waiting requests, or too many of one workspace, are rejected
 * immediately.
 */
import { ApiError } from "../base/errors.ts";
import { FairLimit } from "./fair-limit.ts";

export interface RequestLimits {
  /**
   * Capacity for all workspaces, and maximum share of one workspace, in a unit such as bytes. A larger single request is granted
   * exclusively.
   */
  readonly max: number;
  readonly perWorkspaceMax: number;
  /** Maximum number of waiting requests, half of them for one workspace. `waitMs` is their maximum wait, in milliseconds. */
  readonly waitingMax: number;
  readonly waitMs: number;
  /** Name of the limited resource in the error message, such as `audio inputs`. */
  readonly noun: string;
}

/**
 * Creates a request limit. A request that waits too long fails with `overloaded`. A request whose caller disconnects while it waits fails
 * with `request_timeout`.
 */
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

/** Returns the `overloaded` error for a request that finds no capacity. The same request may succeed soon. */
export function tooMany(sentence: string): ApiError {
  return new ApiError("overloaded", `${sentence}; try again shortly.`, { headers: { "retry-after": "2" } });
}
