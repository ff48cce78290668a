/** Memory that the connections of a process share, without a wait: half of it at most for one workspace. */
import { FairLimit, type Lease } from "#shared/fair-limit.ts";

const WORKSPACE_SHARE = 0.5;

export function sharedBytes(max: number): FairLimit {
  return new FairLimit({ max, mayHave: ({ taken }, amount) => taken + amount <= max * WORKSPACE_SHARE });
}

/** Returns undefined if there is no room now. */
export function enterNow(limit: FairLimit, owner: string, amount: number): Lease | undefined {
  const lease = limit.enter({ owner, amount });
  if (lease.entered === undefined) return lease;
  lease.release();
  return undefined;
}
