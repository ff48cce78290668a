/** Reads usage and spend of one API key. Like usage-sums.ts, it adds the records after the border of the sums in the same statement. */
import type { Database, Queryable } from "./client.ts";

/** Maximum number of models in the usage of a key. */
export const KEY_MODELS_MAX = 100;

export interface SpendSum {
  readonly calls: bigint;
  /** Number of failed and lost calls. */
  readonly failed: bigint;
  /** Credits charged, in nano-credits. */
  readonly settled: bigint;
  readonly tokens: bigint;
}

export interface KeyUsage {
  /** Start of the current UTC day and month. */
  readonly dayStart: Date;
  readonly monthStart: Date;
  readonly today: SpendSum;
  readonly month: SpendSum;
  readonly total: SpendSum;
  /** Usage of the month by model, highest spend first. Contains one more than KEY_MODELS_MAX if there are more. */
  readonly models: readonly (SpendSum & { readonly model: string })[];
}

interface UsageRow extends SpendSum {
  readonly part: "today" | "month" | "total" | "model";
  readonly model: string | null;
  readonly day_start: Date;
  readonly month_start: Date;
}

const SUMS = `coalesce(sum(calls), 0)::bigint as calls, coalesce(sum(failed), 0)::bigint as failed,
  coalesce(sum(settled), 0)::bigint as settled, coalesce(sum(tokens), 0)::bigint as tokens`;

const USAGE_SQL = `with later as materialized (
    select u.ended_at as at, u.model, 1::bigint as calls, (u.status in ('failed', 'lost'))::int::bigint as failed, u.settled, u.tokens
    from usage_record u
    where u.workspace_id = $1 and u.key_id = $2 and u.ended_at >= (select until from usage_rollup)
  ), clock as materialized (
    select date_trunc('day', now(), 'UTC') as day_start, date_trunc('month', now(), 'UTC') as month_start
  ), month as materialized (
    select h.hour as at, h.model, h.calls, case when h.status in ('failed', 'lost') then h.calls else 0 end as failed, h.settled, h.tokens
    from usage_hour h
    where h.workspace_id = $1 and h.key_id = $2 and h.hour >= (select month_start from clock)
    union all
    select * from later where at >= (select month_start from clock)
  ), parts as (
    select 'today' as part, null as model, ${SUMS} from month where at >= (select day_start from clock)
    union all
    select 'month', null, ${SUMS} from month
    union all
    select 'total', null, ${SUMS} from (
      select calls, failed, settled, tokens from usage_key where workspace_id = $1 and key_id = $2
      union all
      select calls, failed, settled, tokens from later) t
    union all
    (select 'model', model, ${SUMS} from month group by model order by settled desc, model limit $3)
  )
  select p.*, c.day_start, c.month_start from parts p cross join clock c`;

/**
 * Returns the usage of a key on the current day, in the current month and in total, and of the month by model. It reads the hourly sums of
 * one month, and one sum of all earlier time.
 */
export async function readKeyUsage(database: Database, workspaceId: string, keyId: string): Promise<KeyUsage> {
  const rows = await database.transaction(async (tx) => {
    // The planner would choose a full scan for a large workspace, as for `sumUsage`.
    await tx.query("select set_config('enable_seqscan', 'off', true)");
    return tx.query<UsageRow>(USAGE_SQL, [workspaceId, keyId, KEY_MODELS_MAX + 1]);
  });
  const partOf = (part: UsageRow["part"]): UsageRow => {
    const row = rows.find((one) => one.part === part);
    if (row === undefined) throw new Error(`the usage of a key has no part ${part}`);
    return row;
  };
  const { day_start: dayStart, month_start: monthStart } = partOf("today");
  return {
    dayStart,
    monthStart,
    today: partOf("today"),
    month: partOf("month"),
    total: partOf("total"),
    models: rows.flatMap((row) => (row.part === "model" && row.model !== null ? [{ ...row, model: row.model }] : [])),
  };
}

export interface KeyCredits {
  /** Balance of the workspace in nano-credits, and the part that is held. */
  readonly amount: bigint;
  readonly held: bigint;
  /** Nano-credits that calls of the key were charged in total. */
  readonly settled: bigint;
  /** Ids of the key and of its member as subjects of spend limits. */
  readonly limit_id: string;
  readonly member_id: string;
}

/** Returns balance and spend of a key; undefined if the workspace has no such key. */
export async function readKeyCredits(
  target: Queryable,
  workspaceId: string,
  keyId: string,
): Promise<KeyCredits | undefined> {
  const [row] = await target.query<KeyCredits>(
    `select b.amount - unbooked_credits(b.workspace_id) as amount, b.held - lined_credits(b.workspace_id) as held,
            coalesce(k.limit_id, k.id) as limit_id, k.member_id,
            (coalesce((select s.settled from usage_key s where s.workspace_id = $1 and s.key_id = $2), 0)
             + coalesce((select sum(u.settled) from usage_record u
                         where u.workspace_id = $1 and u.key_id = $2 and u.ended_at >= (select until from usage_rollup)), 0))::bigint as settled
     from api_key k
     join balance b on b.workspace_id = k.workspace_id
     where k.workspace_id = $1 and k.id = $2`,
    [workspaceId, keyId],
  );
  return row;
}
