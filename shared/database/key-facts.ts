/** Reads the data that a key may see about itself: names, balance, and usage of its workspace's limits. */
import type { Queryable } from "./client.ts";
import type { AccessLists } from "./members.ts";

export interface KeyFacts {
  readonly key_name: string;
  readonly workspace_name: string;
  readonly access_lists: AccessLists | null;
  readonly limit_id: string | null;
  readonly member_access_lists: AccessLists | null;
  /** Balance in nano-credits. */
  readonly amount: bigint;
  readonly held: bigint;
  /** Number of calls in the current rate-limit window of 60 seconds, including rejected ones. */
  readonly window_calls: number;
  /** Number of tokens of the current UTC day, including those reserved by open calls. */
  readonly day_tokens: bigint;
}

/**
 * Returns the data of a key from one snapshot without locks; undefined if the workspace has no such key. The time in the result is that of
 * the rate-limit window (SQL function window_shift).
 */
export async function readKeyFacts(
  target: Queryable,
  workspaceId: string,
  keyId: string,
): Promise<KeyFacts | undefined> {
  const rows = await target.query<KeyFacts>(
    `select k.name as key_name, w.name as workspace_name, k.access_lists, k.limit_id, m.access_lists as member_access_lists,
            b.amount - unbooked_credits(b.workspace_id) as amount,
            b.held - lined_credits(b.workspace_id) as held,
            case when b.day < (clock.at at time zone 'utc')::date then 0 else b.day_tokens + (
              select coalesce(sum(s.tokens), 0) from line_settle s where s.workspace_id = b.workspace_id and s.day = b.day)::bigint end as day_tokens,
            coalesce((select sum(t.calls) from lined_calls t where t.workspace_id = k.workspace_id and t.at_ms > clock.ms - 60000), 0)::int
            + (select count(*) from unnest(r.recent) t (at_ms) where t.at_ms > young.since)::int
            -- Times of a block never fall: of one that is young or old as a whole none is looked at by itself.
            + coalesce((
              select sum(case when p.at_ms[1] > young.since then 32 when p.at_ms[32] <= young.since then 0
                else (select count(*) from unnest(p.at_ms) t (at_ms) where t.at_ms > young.since) end)
              from rate_block p where p.workspace_id = k.workspace_id), 0)::int as window_calls
     from api_key k
     join workspace w on w.id = k.workspace_id
     join member m on m.id = k.member_id
     join balance b on b.workspace_id = k.workspace_id
     join rate_window r on r.workspace_id = k.workspace_id
     cross join (select now.at, (extract(epoch from now.at) * 1000)::bigint as ms
                 from (select clock_timestamp() as at offset 0) now) clock
     cross join lateral (
       select greatest(clock.ms + window_shift(clock.ms, r.last_ms, r.shift_ms), r.last_ms) - 60000 as since) young
     where k.workspace_id = $1 and k.id = $2`,
    [workspaceId, keyId],
  );
  return rows[0];
}
