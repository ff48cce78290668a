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

/** Accounts of a database, each with its key at the same place. The first has the plan's share of the calls, the second a hundredth. */
export interface Accounts {
  readonly workspaces: readonly string[];
  readonly keys: readonly string[];
  /** Keys of the first workspace. */
  readonly largeKeys: readonly string[];
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
  /** Percentage of the calls that the first workspace makes. Default: 20. */
  readonly largeShare?: number;
  /** Number of members of the first workspace. Default: 1. Each has `keysOfMember` keys; default: 1. */
  readonly members?: number;
  readonly keysOfMember?: number;
  /** Number of models that are called. Default: 4. */
  readonly models?: number;
  /** True if three of five calls of the first workspace have the labels `user`, `team` and `env`. */
  readonly hasLabels?: boolean;
}

/** End users of the first workspace's labels. Each calls with one key. */
const USERS = 200;

/**
 * Calls by their number, $1 to $2: of which workspace and key, when, under which id, for how much. A tenth of the ids are those of names
 * (version 5, at no place in time); the rest are made of their time. One in fifty failed and took nothing, one in a hundred was cancelled.
 * Latencies are from 50 ms to 13 s.
 */
const CALLS = `
  select w.id as workspace_id, k.id as key_id, t.ended_at, t.started_at, (t.started_at at time zone 'utc')::date as day,
         case when h.b % 10 = 0
           then (substr(h.digits, 1, 12) || '5' || substr(h.digits, 13, 3) || '8' || substr(h.digits, 16, 15))::uuid
           else (lpad(to_hex((extract(epoch from t.started_at) * 1000)::bigint), 12, '0') || '7' || substr(h.digits, 1, 3) || '8'
             || substr(h.digits, 4, 15))::uuid end as job_id,
         'model-' || (h.b >> 4) % $9::int as model,
         case when h.b % 20000 = 7 then 'responses' when h.b % 8 = 0 then 'messages' else 'chat' end as kind,
         case when h.b % 50 = 1 then 'failed' when h.b % 100 = 2 then 'cancelled' else 'succeeded' end as status,
         case when h.b % 50 = 1 then 0 else 1000000 + h.b % 1000 end as taken, case when h.b % 50 = 1 then 0 else 60 + h.b % 100 end as tokens,
         case when $10::bool and p.place = 1 and h.a % 5 < 3 then jsonb_build_object(
           'user', 'user-' || (k.number + cardinality($7::uuid[]) * ((h.b >> 8) % (${USERS} / cardinality($7::uuid[])))),
           'team', 'team-' || k.number % 12, 'env', (array['prod', 'prod', 'test', 'dev'])[1 + (h.b >> 6) % 4]) end as labels
  from generate_series($1::bigint, $2::bigint) i
  cross join lateral (
    select hashint8extended(i, 1) & 2147483647 as a, hashint8extended(i, 2) & 2147483647 as b, md5(i::text) as digits) h
  cross join lateral (select $3::timestamptz + i * $4::float8 * interval '1 microsecond' as ended_at) e
  cross join lateral (
    select e.ended_at, e.ended_at - 50 * 2 ^ ((h.b >> 3) % 4096 / 512.0) * interval '1 millisecond' as started_at) t
  cross join lateral (
    select case when h.a % 100 < $8::int then 1 when h.a % 100 = $8 then 2 else 3 + (h.a / 100) % ${WORKSPACES - 2} end as place) p
  cross join lateral (select ($5::uuid[])[p.place] as id, ($6::uuid[])[p.place] as key_id) w
  cross join lateral (select ((h.a / 128) % cardinality($7::uuid[]))::int as number) n
  cross join lateral (select n.number, case when p.place = 1 then ($7::uuid[])[1 + n.number] else w.key_id end as id) k
  order by i`;

const RECORDS = `
  insert into usage_record (job_id, attempt, workspace_id, key_id, model, source, status, units, is_estimated, held, settled, uncollected,
                            day, tokens, started_at, ended_at, labels, kind)
  select job_id, 1, workspace_id, key_id, model, 'provider/' || model, status, jsonb_build_object('input', tokens - tokens / 3, 'output', tokens / 3),
         false, 2000000, taken, 0, day, tokens, started_at, ended_at, labels, kind
  from (${CALLS}) call`;

const ADDED = `calls = h.calls + excluded.calls, settled = h.settled + excluded.settled, tokens = h.tokens + excluded.tokens,
      latencies = h.latencies + excluded.latencies`;

const SETTLES_AND_SUMS = `
  with call as materialized (${CALLS}),
  settled as (
    insert into ledger_entry (workspace_id, kind, amount, source_id, attempt, at)
    select workspace_id, 'settle', -taken, job_id, 1, ended_at from call where status <> 'failed'),
  labelled as (
    insert into usage_label_hour as h
      (workspace_id, label, hour, value, key_id, model, workflow_id, status, calls, settled, uncollected, tokens, latencies)
    select workspace_id, l.key, date_trunc('hour', ended_at, 'UTC'), l.value, key_id, model, '00000000-0000-0000-0000-000000000000', status,
           count(*), sum(taken), 0, sum(tokens), sum(latency_count(status, started_at, ended_at))
    from call cross join lateral jsonb_each_text(labels) l
    group by 1, 2, 3, 4, 5, 6, 8
    order by 3
    on conflict (workspace_id, label, hour, value, key_id, model, workflow_id, status) do update
    set ${ADDED})
  insert into usage_hour as h (workspace_id, hour, key_id, model, workflow_id, status, kind, calls, settled, uncollected, tokens, latencies)
  select workspace_id, date_trunc('hour', ended_at, 'UTC'), key_id, model, '00000000-0000-0000-0000-000000000000', status,
         kind, count(*), sum(taken), 0, sum(tokens), sum(latency_count(status, started_at, ended_at))
  from call
  group by 1, 2, 3, 4, 6, 7
  order by 2
  on conflict (workspace_id, hour, key_id, model, workflow_id, status, kind) do update
  set ${ADDED}`;

/** Statements for what the calls leave beside those; $1 is the time up to which they are summed and audited. */
const LEFT_BEHIND: readonly (readonly [name: string, text: string, needsTime?: true])[] = [
  ["first statistics", "analyze"],
  [
    "sums by day",
    `insert into usage_by_day
     select workspace_id, date_trunc('day', hour, 'UTC'), key_id, model, workflow_id, status, sum(calls), sum(settled), sum(uncollected),
            sum(tokens), sum(latencies)
     from usage_hour group by 1, 2, 3, 4, 5, 6 order by 2, 1`,
  ],
  [
    "sums by day and label",
    `insert into usage_label_by_day
     select workspace_id, label, date_trunc('day', hour, 'UTC'), value, key_id, model, workflow_id, status, sum(calls), sum(settled),
            sum(uncollected), sum(tokens), sum(latencies)
     from usage_label_hour group by 1, 2, 3, 4, 5, 6, 7, 8 order by 3, 1, 2`,
  ],
  [
    "sums by day and model",
    `insert into usage_model_by_day
     select workspace_id, day, model, workflow_id, status, sum(calls), sum(settled), sum(uncollected), sum(tokens), sum(latencies)
     from usage_by_day group by 1, 2, 3, 4, 5 order by 2, 1`,
  ],
  [
    "sums by day and key",
    `insert into usage_key_by_day
     select workspace_id, day, key_id, status, sum(calls), sum(settled), sum(uncollected), sum(tokens), sum(latencies)
     from usage_by_day group by 1, 2, 3, 4 order by 2, 1`,
  ],
  [
    "sums by day and value",
    `insert into usage_value_by_day
     select workspace_id, label, day, value, status, sum(calls), sum(settled), sum(uncollected), sum(tokens), sum(latencies)
     from usage_label_by_day group by 1, 2, 3, 4, 5 order by 3, 1, 2`,
  ],
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
    "times of the audit's steps",
    `insert into ledger_span (last_id, first_at, last_at)
     select max(id), min(at), max(at) from ledger_entry group by date_trunc('hour', at, 'UTC')`,
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
  const accounts = await database.slowSession(STATEMENT_MS, (session) => makeAccounts(session, plan));
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
          plainArray(accounts.largeKeys),
          plan.largeShare ?? 20,
          plan.models ?? 4,
          plan.hasLabels ?? false,
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

async function makeAccounts(
  session: Queryable,
  { members = 1, keysOfMember = 1 }: Pick<HistoryPlan, "members" | "keysOfMember">,
): Promise<Accounts> {
  const workspaces = await session.query<{ id: string }>(
    `insert into workspace (id, name) select new_id(), 'workspace ' || i from generate_series(1, $1::int) i returning id`,
    [WORKSPACES],
  );
  const ids = workspaces.map(({ id }) => id);
  await session.query("select count(move_credits(id, 'top_up', $1, new_id(), null)) from workspace", [TOP_UP]);
  const rows = await session.query<{ place: number; id: string; member_id: string }>(
    `with person as (
       insert into member (id, workspace_id, name, role)
       select new_id(), w.id, 'member ' || n, 'developer'
       from unnest($1::uuid[]) with ordinality w(id, place)
       cross join lateral generate_series(1, case when place = 1 then $2::int else 1 end) n
       returning id, workspace_id
     ), key as (
       insert into api_key (id, workspace_id, member_id, name, sha256, hint, preset)
       select k.id, p.workspace_id, p.id, 'key ' || k.n, sha256(k.id::text::bytea), 'slk_', 'standard'
       from person p
       cross join lateral (
         select new_id() as id, n from generate_series(1, case when p.workspace_id = ($1::uuid[])[1] then $3::int else 1 end) n) k
       returning workspace_id, id, member_id
     )
     select w.place::int, k.id, k.member_id from key k join unnest($1::uuid[]) with ordinality w(id, place) on w.id = k.workspace_id
     order by w.place, k.id`,
    [plainArray(ids), members, keysOfMember],
  );
  const largeKeys = rows.filter(({ place }) => place === 1).map(({ id }) => id);
  return {
    workspaces: ids,
    keys: ids.map((_, index) => rows.find(({ place }) => place === index + 1)?.id ?? ""),
    largeKeys,
    memberId: rows[0]?.member_id ?? "",
  };
}
