/**
 * History of a service, made in SQL: usage records with their settles, hourly sums, balances, windows and checkpoints as the service itself
 * would have left them by now, in the tables and with the indexes that the migrations made. The audit finds it exact.
 */
import { plainArray } from "#shared/database/arrays.ts";
import type { Queryable } from "#shared/database/client.ts";
import { CREDIT } from "#tests/shared/accounts.ts";
import type { TestDatabase } from "#tests/support/postgres.ts";

import { tellProgress } from "./parts.ts";

const WORKSPACES = 1_000;
/** Rows of one insert. */
const PIECE = 100_000;
const STATEMENT_MS = 1_800_000;
const TOLD_MS = 10_000;
/** Far more than all calls of a workspace come to. */
const TOP_UP = 1_000_000n * CREDIT;

/** Accounts of a database, each with its key at the same place. The first has a fifth of the calls, the second a hundredth. */
export interface Accounts {
  readonly workspaces: readonly string[];
  readonly keys: readonly string[];
  /** The person whose key the first workspace's is. */
  readonly memberId: string;
}

export interface HistoryPlan {
  readonly name: string;
  readonly calls: number;
  /** Time between two calls. */
  readonly stepUs: number;
  /** Every call has ended by then. */
  readonly until: Date;
}

/**
 * Calls by their number, $1 to $2: of which workspace and key, when, under which id, for how much. A tenth of the ids are those of names
 * (version 5, at no place in time); the rest are made of their time. One in fifty failed, and took nothing.
 */
const CALLS = `
  select w.id as workspace_id, w.key_id, t.ended_at, t.ended_at - interval '400 milliseconds' as started_at,
         ((t.ended_at - interval '400 milliseconds') at time zone 'utc')::date as day,
         case when h.b % 10 = 0
           then (substr(h.digits, 1, 12) || '5' || substr(h.digits, 13, 3) || '8' || substr(h.digits, 16, 15))::uuid
           else (lpad(to_hex((extract(epoch from t.ended_at) * 1000)::bigint - 400), 12, '0') || '7' || substr(h.digits, 1, 3) || '8'
             || substr(h.digits, 4, 15))::uuid end as job_id,
         'model-' || (h.b >> 4) % 4 as model, case when h.b % 50 = 1 then 'failed' else 'succeeded' end as status,
         case when h.b % 50 = 1 then 0 else 1000000 + h.b % 1000 end as taken, case when h.b % 50 = 1 then 0 else 60 + h.b % 100 end as tokens
  from generate_series($1::bigint, $2::bigint) i
  cross join lateral (
    select hashint8extended(i, 1) & 2147483647 as a, hashint8extended(i, 2) & 2147483647 as b, md5(i::text) as digits) h
  cross join lateral (select $3::timestamptz + i * $4::float8 * interval '1 microsecond' as ended_at) t
  cross join lateral (
    select case when h.a % 100 < 20 then 1 when h.a % 100 = 20 then 2 else 3 + (h.a / 100) % ${WORKSPACES - 2} end as place) p
  cross join lateral (select ($5::uuid[])[p.place] as id, ($6::uuid[])[p.place] as key_id) w
  order by i`;

const RECORDS = `
  insert into usage_record (job_id, attempt, workspace_id, key_id, model, source, status, units, is_estimated, held, settled, uncollected,
                            day, tokens, started_at, ended_at)
  select job_id, 1, workspace_id, key_id, model, 'provider/' || model, status, jsonb_build_object('input', tokens - tokens / 3, 'output', tokens / 3),
         false, 2000000, taken, 0, day, tokens, started_at, ended_at
  from (${CALLS}) call`;

const SETTLES_AND_SUMS = `
  with call as materialized (${CALLS}),
  settled as (
    insert into ledger_entry (workspace_id, kind, amount, source_id, attempt, at)
    select workspace_id, 'settle', -taken, job_id, 1, ended_at from call where status = 'succeeded')
  insert into usage_hour as h (workspace_id, hour, key_id, model, workflow_id, status, calls, settled, uncollected, tokens)
  select workspace_id, date_trunc('hour', ended_at, 'UTC'), key_id, model, '00000000-0000-0000-0000-000000000000', status,
         count(*), sum(taken), 0, sum(tokens)
  from call
  group by 1, 2, 3, 4, 6
  order by 2
  on conflict (workspace_id, hour, key_id, model, workflow_id, status) do update
  set calls = h.calls + excluded.calls, settled = h.settled + excluded.settled, tokens = h.tokens + excluded.tokens`;

/** Statements for what the calls leave beside those; $1 is the time up to which they are summed and audited. */
const LEFT_BEHIND: readonly (readonly [name: string, text: string, needsTime?: true])[] = [
  ["first statistics", "analyze"],
  [
    "balances",
    `update balance b set amount = b.amount - s.taken, spent = s.taken
     from (select workspace_id, sum(settled) as taken from usage_hour group by 1) s where s.workspace_id = b.workspace_id`,
  ],
  [
    "days of balances",
    `update balance b set day = last.day, day_tokens = of_day.tokens
     from balance o
     cross join lateral (select u.day from usage_record u where u.workspace_id = o.workspace_id order by u.ended_at desc limit 1) last
     cross join lateral (
       select sum(u.tokens) as tokens from usage_record u
       where u.workspace_id = o.workspace_id and u.day = last.day and u.ended_at >= last.day::timestamp at time zone 'utc') of_day
     where b.workspace_id = o.workspace_id`,
  ],
  [
    "sums of a day's tokens",
    "insert into usage_day (workspace_id, day, tokens) select workspace_id, day, day_tokens from balance where day > '-infinity'",
  ],
  [
    "sums of keys",
    `insert into usage_key (workspace_id, key_id, calls, failed, settled, tokens)
     select workspace_id, key_id, sum(calls), coalesce(sum(calls) filter (where status in ('failed', 'lost')), 0), sum(settled), sum(tokens)
     from usage_hour group by 1, 2`,
  ],
  [
    "spent by days",
    `insert into spent_day (workspace_id, day, spent)
     select workspace_id, day, before
     from (select workspace_id, day, sum(taken) over (partition by workspace_id order by day) - taken as before,
                  max(day) over (partition by workspace_id) as last
           from (select workspace_id, (hour at time zone 'utc')::date as day, sum(settled) as taken from usage_hour group by 1, 2) d) s
     where day >= last - 70`,
  ],
  [
    "windows",
    `update rate_window r set calls = c.calls, passed = c.calls, last_ms = c.last_ms, recent = array_fill(c.last_ms, array[(c.calls % 32)::int])
     from (
       select h.workspace_id, sum(h.calls)::bigint as calls, (
         select (extract(epoch from max(u.ended_at)) * 1000)::bigint from usage_record u where u.workspace_id = h.workspace_id) as last_ms
       from usage_hour h group by 1) c
     where c.workspace_id = r.workspace_id`,
  ],
  [
    "blocks of windows",
    `insert into rate_block (workspace_id, slot, at_ms)
     select workspace_id, ((calls / 32 - k) % 144)::smallint, array_fill(last_ms, array[32])
     from rate_window cross join generate_series(1, 144) k where k <= calls / 32`,
  ],
  ["the border of the sums", "update usage_rollup set until = $1, next_at = $1, next_xid = '0'", true],
  [
    "checkpoints",
    `insert into ledger_checkpoint (workspace_id, amount, spent)
     select workspace_id, sum(amount), coalesce(sum(-amount) filter (where kind = 'settle'), 0) from ledger_entry group by 1`,
  ],
  [
    "the border of the audit",
    "update ledger_border set (entry_id, next_id, next_xid, usage_until) = (select last_value, last_value, '0'::xid8, $1::timestamptz from ledger_entry_id_seq)",
    true,
  ],
  ["statistics", "vacuum (analyze)"],
  ["the disk", "checkpoint"],
];

/** Fills a migrated database. Records and books are written side by side. */
export async function writeHistory({ database }: TestDatabase, plan: HistoryPlan): Promise<Accounts> {
  const { name, calls, stepUs, until } = plan;
  const startedAt = performance.now();
  const accounts = await database.slowSession(STATEMENT_MS, makeAccounts);
  const from = new Date(until.getTime() - Math.ceil((calls * stepUs) / 1_000) - 1_000);
  const write = (what: string, text: string): Promise<void> =>
    database.slowSession(STATEMENT_MS, async (session) => {
      await session.query("set synchronous_commit = off");
      await session.query("set work_mem = '128MB'");
      let toldAt = performance.now();
      for (let first = 1; first <= calls; first += PIECE) {
        const last = Math.min(calls, first + PIECE - 1);
        const at = performance.now();
        await session.query(text, [
          first,
          last,
          from,
          stepUs,
          plainArray(accounts.workspaces),
          plainArray(accounts.keys),
        ]);
        if (performance.now() - toldAt < TOLD_MS && last < calls) continue;
        toldAt = performance.now();
        tellProgress(
          `${name}: ${last} of ${calls} ${what}, ${((toldAt - at) / 1_000).toFixed(1)} s for the last piece`,
        );
      }
    });
  await Promise.all([write("usage records", RECORDS), write("settles and sums", SETTLES_AND_SUMS)]);
  await database.slowSession(STATEMENT_MS, async (session) => {
    for (const [what, text, needsTime] of LEFT_BEHIND) {
      const at = performance.now();
      await session.query(text, needsTime ? [until] : []);
      if (performance.now() - at > 1_000) {
        tellProgress(`${name}: ${what}, ${((performance.now() - at) / 1_000).toFixed(1)} s`);
      }
    }
  });
  tellProgress(`${name}: ${calls} calls in ${((performance.now() - startedAt) / 1_000).toFixed(0)} s`);
  return accounts;
}

async function makeAccounts(session: Queryable): Promise<Accounts> {
  await session.query(
    `insert into workspace (id, name) select new_id(), 'workspace ' || i from generate_series(1, $1::int) i`,
    [WORKSPACES],
  );
  await session.query("select count(move_credits(id, 'top_up', $1, new_id(), null)) from workspace", [TOP_UP]);
  await session.query(
    "insert into member (id, workspace_id, name, role) select new_id(), id, 'somebody', 'developer' from workspace",
  );
  const rows = await session.query<{ workspace_id: string; id: string; member_id: string }>(
    `insert into api_key (id, workspace_id, member_id, name, sha256, hint, preset)
     select new_id(), workspace_id, id, 'a key', sha256(id::text::bytea), 'slk_', 'standard' from member
     returning workspace_id, id, member_id`,
  );
  return {
    workspaces: rows.map((row) => row.workspace_id),
    keys: rows.map((row) => row.id),
    memberId: rows[0]?.member_id ?? "",
  };
}
