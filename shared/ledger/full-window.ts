/** Time at which a full window of a workspace accepts a request again, for the message of a refusal. */
import type { Queryable } from "#shared/database/client.ts";

/** Time for which an answer is reused, so that a flood of refused requests costs one statement a second for each limit of a workspace. */
const REUSED_MS = 1_000;
/** Answers that are kept at most, of all workspaces. */
const KEPT_MAX = 1_000;

/** The next call under the limit is admitted when this one of the window is 60 seconds old. Refused calls are counted already. */
const SQL = `select window_call($1, r.calls + 1 - $2) + 60000 - greatest(clock.ms + window_shift(clock.ms, r.last_ms, r.shift_ms), r.last_ms) as ms
  from rate_window r
  cross join (select (extract(epoch from clock_timestamp()) * 1000)::bigint as ms offset 0) clock
  where r.workspace_id = $1`;

export interface FullWindows {
  /**
   * Returns the seconds until a request under the limit is admitted if none comes before it, at least 1; undefined when it is unknown.
   * @param limit requests in 60 seconds
   */
  secondsUntilFree(workspaceId: string, limit: number): Promise<number | undefined>;
}

export function createFullWindows(database: Queryable): FullWindows {
  const freeAt = new Map<string, { readonly until: number; readonly at: Promise<number | undefined> }>();

  const read = async (workspaceId: string, limit: number): Promise<number | undefined> => {
    const [row] = await database.query<{ ms: bigint | null }>(SQL, [workspaceId, limit], "full_window");
    return row?.ms == null ? undefined : performance.now() + Number(row.ms);
  };

  const known = (workspaceId: string, limit: number): Promise<number | undefined> => {
    const name = `${workspaceId} ${limit}`;
    const now = performance.now();
    const kept = freeAt.get(name);
    if (kept !== undefined && now < kept.until) return kept.at;
    if (freeAt.size >= KEPT_MAX) freeAt.clear();
    const at = read(workspaceId, limit);
    freeAt.set(name, { until: now + REUSED_MS, at });
    return at;
  };

  return {
    async secondsUntilFree(workspaceId, limit) {
      const at = await known(workspaceId, limit);
      return at === undefined ? undefined : Math.max(1, Math.ceil((at - performance.now()) / 1_000));
    },
  };
}
