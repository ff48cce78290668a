-- Sums of usage by hour, budget alerts, and kept requests and responses. Sums end at a border before which no record can be added any more: they are complete,
-- regardless of late commits and clock changes (decision 0030). Budgets use the total spending of the balance minus its total at the
-- beginning of the period (decision 0051).

create table usage_hour (
  workspace_id uuid not null,
  hour timestamptz not null,
  key_id uuid not null,
  model text not null,
  -- Stored workflow whose run made the calls; zeros for none.
  workflow_id uuid not null,
  status text not null,
  calls bigint not null,
  -- Nano-credits.
  settled bigint not null,
  uncollected bigint not null,
  tokens bigint not null,
  -- Histogram of latencies, see latency_count; null without succeeded calls.
  latencies numeric,
  -- Kind as in usage_record; empty for none.
  kind text not null default '',
  primary key (workspace_id, hour, key_id, model, workflow_id, status, kind)
) with (fillfactor = 70);
-- Lists of calls find the hours of a model, a status or a kind here, because an index of usage_record would slow down each settlement.
create index usage_hour_model on usage_hour (workspace_id, model, hour);
create index usage_hour_status on usage_hour (workspace_id, status, hour);
create index usage_hour_kind on usage_hour (workspace_id, kind, hour);

-- Sums by UTC day, which the roll-up writes with those by hour: charts of months read a tenth of the rows.
create table usage_by_day (
  workspace_id uuid not null,
  day timestamptz not null,
  key_id uuid not null,
  model text not null,
  workflow_id uuid not null,
  status text not null,
  calls bigint not null,
  settled bigint not null,
  uncollected bigint not null,
  tokens bigint not null,
  latencies numeric,
  primary key (workspace_id, day, key_id, model, workflow_id, status)
) with (fillfactor = 70);

-- The same sums by model and by key alone: a chart of months with one of these groups reads a thirtieth of the rows of usage_by_day.
create table usage_model_by_day (
  workspace_id uuid not null,
  day timestamptz not null,
  model text not null,
  workflow_id uuid not null,
  status text not null,
  calls bigint not null,
  settled bigint not null,
  uncollected bigint not null,
  tokens bigint not null,
  latencies numeric,
  primary key (workspace_id, day, model, workflow_id, status)
) with (fillfactor = 70);
create table usage_key_by_day (
  workspace_id uuid not null,
  day timestamptz not null,
  key_id uuid not null,
  status text not null,
  calls bigint not null,
  settled bigint not null,
  uncollected bigint not null,
  tokens bigint not null,
  latencies numeric,
  primary key (workspace_id, day, key_id, status)
) with (fillfactor = 70);

-- Returns the histogram of one call: a number with twelve decimal digits for each bucket, of which the call's has the value 1. The sum of
-- such numbers is the histogram of all calls, and a difference leaves calls out. Bucket n, from 0, ends at 2^(n/4) milliseconds: each is 19 %
-- wider than the previous one, and the last contains every latency above 31 hours. Null for calls that did not succeed.
create function latency_count(p_status text, p_started timestamptz, p_ended timestamptz) returns numeric language sql immutable parallel safe as $$
  select case when p_status = 'succeeded' then (
    '1e' || (12 * least(ceil(4 * ln(greatest(extract(epoch from p_ended - p_started)::float8 * 1000, 1)) / ln(2::float8)), 107))::int::text)::numeric end
$$;

-- Sum of histograms. Each group of sum(numeric) takes 3 kB and 10 µs of CPU, and most groups of a chart have a single histogram.
create aggregate sum_latencies(numeric) (sfunc = numeric_add, stype = numeric, combinefunc = numeric_add, parallel = safe);

-- Sums of calls with labels (shared/calls/labels.ts). A call counts once for each of its labels. Calls without a label are the difference
-- to usage_hour.
create table usage_label_hour (
  workspace_id uuid not null,
  label text not null,
  hour timestamptz not null,
  value text not null,
  key_id uuid not null,
  model text not null,
  workflow_id uuid not null,
  status text not null,
  calls bigint not null,
  settled bigint not null,
  uncollected bigint not null,
  tokens bigint not null,
  latencies numeric,
  primary key (workspace_id, label, hour, value, key_id, model, workflow_id, status)
) with (fillfactor = 70);
create index usage_label_hour_value on usage_label_hour (workspace_id, label, value, hour);

create table usage_label_by_day (
  workspace_id uuid not null,
  label text not null,
  day timestamptz not null,
  value text not null,
  key_id uuid not null,
  model text not null,
  workflow_id uuid not null,
  status text not null,
  calls bigint not null,
  settled bigint not null,
  uncollected bigint not null,
  tokens bigint not null,
  latencies numeric,
  primary key (workspace_id, label, day, value, key_id, model, workflow_id, status)
) with (fillfactor = 70);
create index usage_label_by_day_value on usage_label_by_day (workspace_id, label, value, day);

-- The same sums by value alone.
create table usage_value_by_day (
  workspace_id uuid not null,
  label text not null,
  day timestamptz not null,
  value text not null,
  status text not null,
  calls bigint not null,
  settled bigint not null,
  uncollected bigint not null,
  tokens bigint not null,
  latencies numeric,
  primary key (workspace_id, label, day, value, status)
) with (fillfactor = 70);

-- Values with sums of their own on a UTC day that is not fully summed yet. Further values are summed as 'other'.
create table usage_label_value (
  day date not null,
  workspace_id uuid not null,
  label text not null,
  value text not null,
  primary key (day, workspace_id, label, value)
);

-- Returns the maximum number of values that a label has sums of on a UTC day. It bounds the table, because callers choose the values.
create function usage_label_values_max() returns int language sql immutable as $$ select 1000 $$;

-- Sums of all calls of a key, so that its total needs no hours.
create table usage_key (
  workspace_id uuid not null,
  key_id uuid not null,
  calls bigint not null,
  -- Failed and lost calls.
  failed bigint not null,
  -- Nano-credits.
  settled bigint not null,
  tokens bigint not null,
  primary key (workspace_id, key_id)
) with (fillfactor = 70);

-- Tokens of the last UTC day on which a summed call of the workspace was admitted, for the hourly audit.
create table usage_day (
  workspace_id uuid primary key,
  day date not null,
  tokens bigint not null
) with (fillfactor = 70);

-- The border of the sums, in one row. They contain every record that ended before `until`, and readers add the later records. The border
-- may advance to next_at once every transaction numbered below next_xid has ended.
create table usage_rollup (
  is_only boolean primary key default true check (is_only),
  until timestamptz not null,
  next_at timestamptz not null,
  next_xid xid8 not null default '0'
);
-- The initial border precedes every record.
insert into usage_rollup (until, next_at) values (now() - interval '1 hour', now() - interval '1 hour');

-- Prevents records from ending before now from this time on. Requires its own transaction: a transaction that sets a sequence has its
-- number before it does so.
create function raise_usage_floor() returns void language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtext('usage_floor'));
  -- A clock that was set back continues from there, a microsecond each time.
  perform setval('usage_floor', greatest((extract(epoch from clock_timestamp()) * 1e6)::bigint, pg_sequence_last_value('usage_floor') + 1));
end $$;

-- Adds records of at most p_step_ms to the sums. Returns the milliseconds of records that are ready but not yet added, or null if another
-- process is rolling up. Must be the first statement of its transaction to write or lock anything.
--
-- Proof that no record is missed: a transaction that writes one has locked its hold before or taken its number, so it is numbered, and
-- reads the floor afterwards. Here the floor is read first and this transaction's number taken after. A transaction that wrote a record
-- before that floor had read an earlier floor, so its number is lower. A later roll-up finds all of those ended, and their records
-- committed or gone for good.
create function roll_up_usage(p_step_ms bigint) returns bigint language plpgsql as $$
declare
  r usage_rollup;
  drawn timestamptz;
  numbered xid8;
  upto timestamptz;
  is_over boolean;
begin
  if pg_current_xact_id_if_assigned() is not null then
    raise exception 'rolling up usage needs a transaction of its own';
  end if;
  drawn := to_timestamp(pg_sequence_last_value('usage_floor') / 1e6);
  numbered := pg_current_xact_id();
  select * into r from usage_rollup for update skip locked;
  if not found then return null; end if;
  upto := r.until;
  is_over := r.next_xid <= pg_snapshot_xmin(pg_current_snapshot());
  if is_over then
    upto := greatest(r.until, least(r.next_at, r.until + p_step_ms * interval '1 millisecond'));
  -- A number that was not assigned yet comes from the server that this database was restored from, and has no meaning here.
  elsif r.next_xid > numbered then
    r.next_at := r.until;
  end if;
  with summed as materialized (
    select u.workspace_id, date_trunc('hour', u.ended_at, 'UTC') as hour, u.key_id, u.model,
           coalesce(r2.workflow_id, '00000000-0000-0000-0000-000000000000') as workflow_id, u.status, u.day, u.labels,
           coalesce(u.kind, '') as kind, count(*) as calls, sum(u.settled) as settled, sum(u.uncollected) as uncollected, sum(u.tokens) as tokens,
           sum(latency_count(u.status, u.started_at, u.ended_at)) as latencies
    from usage_record u
    left join job j on j.id = u.job_id
    left join run r2 on r2.id = j.run_id
    where u.ended_at >= r.until and u.ended_at < upto
    group by 1, 2, 3, 4, 5, 6, 7, 8, 9
  ), labelled as materialized (
    select s.workspace_id, l.key as label, s.hour, (s.hour at time zone 'utc')::date as day, l.value, s.key_id, s.model, s.workflow_id,
           s.status, s.calls, s.settled, s.uncollected, s.tokens, s.latencies
    from summed s cross join lateral jsonb_each_text(s.labels) l
  ), known as materialized (
    select n.*, v.value is not null as has_sums,
           row_number() over (partition by n.day, n.workspace_id, n.label, v.value is null order by n.value) as place
    from (select distinct day, workspace_id, label, value from labelled) n
    left join usage_label_value v using (day, workspace_id, label, value)
  ), taken as materialized (
    select n.day, n.workspace_id, n.label, (
      select count(*) from usage_label_value v where v.day = n.day and v.workspace_id = n.workspace_id and v.label = n.label) as used
    from (select distinct day, workspace_id, label from known where not has_sums) n
  ), added as (
    insert into usage_label_value (day, workspace_id, label, value)
    select k.day, k.workspace_id, k.label, k.value
    from known k
    join taken t using (day, workspace_id, label)
    where not k.has_sums and k.place + t.used <= usage_label_values_max()
    returning day, workspace_id, label, value
  ), label_sums as materialized (
    select l.workspace_id, l.label, l.hour, case when k.has_sums or a.value is not null then l.value else 'other' end as value, l.key_id,
           l.model, l.workflow_id, l.status, sum(l.calls) as calls, sum(l.settled) as settled, sum(l.uncollected) as uncollected,
           sum(l.tokens) as tokens, sum(l.latencies) as latencies
    from labelled l
    join known k using (day, workspace_id, label, value)
    left join added a using (day, workspace_id, label, value)
    group by 1, 2, 3, 4, 5, 6, 7, 8
  ), label_hours as (
    insert into usage_label_hour as h
      (workspace_id, label, hour, value, key_id, model, workflow_id, status, calls, settled, uncollected, tokens, latencies)
    select * from label_sums order by workspace_id, label
    on conflict (workspace_id, label, hour, value, key_id, model, workflow_id, status) do update
    set calls = h.calls + excluded.calls, settled = h.settled + excluded.settled,
        uncollected = h.uncollected + excluded.uncollected, tokens = h.tokens + excluded.tokens,
        latencies = h.latencies + excluded.latencies
  ), label_days as (
    insert into usage_label_by_day as h
      (workspace_id, label, day, value, key_id, model, workflow_id, status, calls, settled, uncollected, tokens, latencies)
    select workspace_id, label, date_trunc('day', hour, 'UTC'), value, key_id, model, workflow_id, status, sum(calls), sum(settled),
           sum(uncollected), sum(tokens), sum(latencies)
    from label_sums
    group by 1, 2, 3, 4, 5, 6, 7, 8
    order by 1, 2
    on conflict (workspace_id, label, day, value, key_id, model, workflow_id, status) do update
    set calls = h.calls + excluded.calls, settled = h.settled + excluded.settled,
        uncollected = h.uncollected + excluded.uncollected, tokens = h.tokens + excluded.tokens,
        latencies = h.latencies + excluded.latencies
  ), by_day as (
    insert into usage_by_day as h (workspace_id, day, key_id, model, workflow_id, status, calls, settled, uncollected, tokens, latencies)
    select s.workspace_id, date_trunc('day', s.hour, 'UTC'), s.key_id, s.model, s.workflow_id, s.status, sum(s.calls), sum(s.settled),
           sum(s.uncollected), sum(s.tokens), sum(s.latencies)
    from summed s
    group by 1, 2, 3, 4, 5, 6
    order by 1
    on conflict (workspace_id, day, key_id, model, workflow_id, status) do update
    set calls = h.calls + excluded.calls, settled = h.settled + excluded.settled,
        uncollected = h.uncollected + excluded.uncollected, tokens = h.tokens + excluded.tokens,
        latencies = h.latencies + excluded.latencies
  ), values_of_day as (
    insert into usage_value_by_day as h (workspace_id, label, day, value, status, calls, settled, uncollected, tokens, latencies)
    select workspace_id, label, date_trunc('day', hour, 'UTC'), value, status, sum(calls), sum(settled), sum(uncollected),
           sum(tokens), sum(latencies)
    from label_sums
    group by 1, 2, 3, 4, 5
    order by 1
    on conflict (workspace_id, label, day, value, status) do update
    set calls = h.calls + excluded.calls, settled = h.settled + excluded.settled,
        uncollected = h.uncollected + excluded.uncollected, tokens = h.tokens + excluded.tokens,
        latencies = h.latencies + excluded.latencies
  ), models_of_day as (
    insert into usage_model_by_day as h (workspace_id, day, model, workflow_id, status, calls, settled, uncollected, tokens, latencies)
    select workspace_id, date_trunc('day', hour, 'UTC'), model, workflow_id, status, sum(calls), sum(settled), sum(uncollected),
           sum(tokens), sum(latencies)
    from summed
    group by 1, 2, 3, 4, 5
    order by 1
    on conflict (workspace_id, day, model, workflow_id, status) do update
    set calls = h.calls + excluded.calls, settled = h.settled + excluded.settled,
        uncollected = h.uncollected + excluded.uncollected, tokens = h.tokens + excluded.tokens,
        latencies = h.latencies + excluded.latencies
  ), keys_of_day as (
    insert into usage_key_by_day as h (workspace_id, day, key_id, status, calls, settled, uncollected, tokens, latencies)
    select workspace_id, date_trunc('day', hour, 'UTC'), key_id, status, sum(calls), sum(settled), sum(uncollected),
           sum(tokens), sum(latencies)
    from summed
    group by 1, 2, 3, 4
    order by 1
    on conflict (workspace_id, day, key_id, status) do update
    set calls = h.calls + excluded.calls, settled = h.settled + excluded.settled,
        uncollected = h.uncollected + excluded.uncollected, tokens = h.tokens + excluded.tokens,
        latencies = h.latencies + excluded.latencies
  ), days as (
    -- The day of a balance never decreases, so earlier days are not needed.
    insert into usage_day as d (workspace_id, day, tokens)
    select distinct on (s.workspace_id) s.workspace_id, s.day, sum(s.tokens) from summed s group by 1, 2 order by 1, 2 desc
    on conflict (workspace_id) do update
    set tokens = case when excluded.day = d.day then d.tokens else 0 end + excluded.tokens, day = excluded.day
    where excluded.day >= d.day
  ), keys as (
    insert into usage_key as k (workspace_id, key_id, calls, failed, settled, tokens)
    select s.workspace_id, s.key_id, sum(s.calls), coalesce(sum(s.calls) filter (where s.status in ('failed', 'lost')), 0),
           sum(s.settled), sum(s.tokens)
    from summed s group by 1, 2
    on conflict (workspace_id, key_id) do update
    set calls = k.calls + excluded.calls, failed = k.failed + excluded.failed, settled = k.settled + excluded.settled,
        tokens = k.tokens + excluded.tokens
  )
  insert into usage_hour as h (workspace_id, hour, key_id, model, workflow_id, status, kind, calls, settled, uncollected, tokens, latencies)
  select s.workspace_id, s.hour, s.key_id, s.model, s.workflow_id, s.status, s.kind, sum(s.calls), sum(s.settled), sum(s.uncollected),
         sum(s.tokens), sum(s.latencies)
  from summed s
  group by 1, 2, 3, 4, 5, 6, 7
  -- Rows of a workspace are stored beside each other.
  order by 1
  on conflict (workspace_id, hour, key_id, model, workflow_id, status, kind) do update
  set calls = h.calls + excluded.calls, settled = h.settled + excluded.settled,
      uncollected = h.uncollected + excluded.uncollected, tokens = h.tokens + excluded.tokens,
      latencies = h.latencies + excluded.latencies;
  -- All later records end on this day or a later one.
  delete from usage_label_value v
  using (
    select day, workspace_id, label, value from usage_label_value where day < (upto at time zone 'utc')::date order by day limit 10000) o
  where (v.day, v.workspace_id, v.label, v.value) = (o.day, o.workspace_id, o.label, o.value);
  update usage_rollup
  set until = upto, next_at = case when upto >= r.next_at then greatest(drawn, upto) else r.next_at end,
      next_xid = case when upto >= r.next_at then numbered else r.next_xid end;
  return case when is_over then ceil(extract(epoch from r.next_at - upto) * 1000) else 0 end::bigint;
end $$;

-- Alerts on a workspace's spending in a day, a week from Monday or a month, all UTC.
create table budget_alert (
  id uuid primary key,
  workspace_id uuid not null references workspace (id),
  name text not null,
  -- Nano-credits.
  threshold bigint not null constraint budget_threshold check (threshold > 0),
  period text not null constraint budget_period check (period in ('daily', 'weekly', 'monthly')),
  -- Empty: delivered to subscriptions of the event.
  channel_ids uuid[] not null default '{}',
  is_active boolean not null default true,
  -- True: further calls of the period are rejected once the threshold is reached.
  stops_calls boolean not null default false,
  -- Percentages of the threshold that also fire, ascending.
  warn_at smallint[] not null default '{}',
  created_by uuid references member (id),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- Time since which its threshold and period are valid and it is active: periods that ended before are not checked.
  judged_from timestamptz not null default now(),
  -- Day of the workspace at the last check: periods that ended before have been checked.
  checked_day date not null default '-infinity',
  unique (workspace_id, name)
);

-- One row for each firing of an alert: once per period, threshold and percentage of the threshold.
create table budget_firing (
  alert_id uuid not null references budget_alert (id) on delete cascade,
  -- A day, a week and a month may begin together.
  period text not null,
  period_start timestamptz not null,
  threshold bigint not null,
  percent smallint not null default 100,
  at timestamptz not null default clock_timestamp(),
  spent bigint not null,
  primary key (alert_id, period, period_start, threshold, percent)
);
create index budget_firing_at on budget_firing (at);

-- Returns the bounds of the period that contains a time.
create function budget_period_start(p_period text, p_at timestamptz) returns timestamptz language sql stable as $$
  select date_trunc(case p_period when 'daily' then 'day' when 'weekly' then 'week' else 'month' end, p_at, 'UTC');
$$;
create function budget_period_end(p_period text, p_at timestamptz) returns timestamptz language sql stable as $$
  select (budget_period_start(p_period, p_at) at time zone 'UTC'
    + case p_period when 'daily' then interval '1 day' when 'weekly' then interval '7 days' else interval '1 month' end) at time zone 'UTC';
$$;

-- Returns a workspace's total spending at the beginning of the UTC day p_day.
create function spent_before(p_ws uuid, p_day date) returns bigint language sql stable as $$
  select coalesce(
    (select d.spent from spent_day d where d.workspace_id = p_ws and d.day >= p_day order by d.day limit 1),
    (select b.spent from balance b where b.workspace_id = p_ws))
$$;

-- Returns the first day of the period that contains a UTC day.
create function budget_first_day(p_period text, p_day date) returns date language sql stable as $$
  select (budget_period_start(p_period, p_day::timestamp at time zone 'UTC') at time zone 'UTC')::date;
$$;

-- Returns the bound of `balance.spent` at which the active alerts of a workspace stop calls on the day p_day; null for none.
create function budget_stop_at(p_ws uuid, p_day date) returns bigint language sql stable as $$
  select least(min(a.threshold::numeric + spent_before(p_ws, budget_first_day(a.period, p_day))), 9223372036854775807)::bigint
  from budget_alert a
  where a.workspace_id = p_ws and a.is_active and a.stops_calls
  having count(*) > 0
$$;

-- Returns the current period of each alert of a workspace, and the nano-credits spent in it.
create function budgets_now(p_ws uuid, p_at timestamptz)
returns table (alert_id uuid, period_start timestamptz, period_end timestamptz, spent bigint)
language sql stable set enable_seqscan = off as $$
  select a.id, p.since, budget_period_end(a.period, p_at), b.spent - spent_before(p_ws, first.day) + case when b.day >= first.day then unbooked_credits(p_ws) else 0 end
  from budget_alert a
  join balance b on b.workspace_id = a.workspace_id
  cross join lateral (select budget_period_start(a.period, p_at) as since) p
  cross join lateral (select (p.since at time zone 'UTC')::date as day) first
  where a.workspace_id = p_ws
$$;

-- Returns the alert that stops the calls of a workspace for the longest time, and its end; no row if there is none.
create function budget_stop(p_ws uuid) returns table (alert_id uuid, name text, until timestamptz) language sql stable as $$
  select a.id, a.name, n.period_end
  from budget_alert a
  join budgets_now(p_ws, now()) n on n.alert_id = a.id
  where a.workspace_id = p_ws and a.is_active and a.stops_calls and n.spent >= a.threshold
  order by n.period_end desc, a.id
  limit 1
$$;

-- Returns the error message for callers stopped by a budget. It contains no amount, because callers may not have permission to see amounts.
create function budget_reached(p_ws uuid) returns text language sql stable as $$
  select coalesce((select 'The workspace''s budget ' || to_json(s.name) from budget_stop(p_ws) s), 'A budget of the workspace')
    || ' is spent; calls are refused until its period ends or it is changed.'
$$;

-- Returns the id of the lock that serializes firings and changes of a workspace's alerts. Not the workspace's row, which is locked for
-- other settings.
create function budget_lock(p_ws uuid) returns bigint language sql immutable as $$
  select hashtextextended('budgets ' || p_ws::text, 0);
$$;

-- Returns the bound of `balance.spent` at which the next active alert of a workspace fires on the day p_day; null if all have fired.
create function budget_look_at(p_ws uuid, p_day date) returns bigint language sql stable as $$
  select least(min(ceil(a.threshold::numeric * l.percent / 100) + spent_before(p_ws, first.day)), 9223372036854775807)::bigint
  from budget_alert a
  cross join lateral unnest(a.warn_at || 100::smallint) l(percent)
  cross join lateral (select budget_first_day(a.period, p_day) as day) first
  where a.workspace_id = p_ws and a.is_active and not exists (
    select from budget_firing f
    where f.alert_id = a.id and f.period = a.period and f.period_start = first.day::timestamp at time zone 'UTC'
      and f.threshold = a.threshold and f.percent = l.percent)
  having count(*) > 0
$$;

-- Returns the bound for an immediate check by the janitor: a period may have ended, or alerts have changed. Null if there is nothing to
-- check.
create function budget_look_now(p_ws uuid) returns bigint language sql stable as $$
  select min(0::bigint) from budget_alert a where a.workspace_id = p_ws and a.is_active
$$;

-- Makes admissions and the janitor use the workspace's current alerts. Locks the balance first: the day may begin in a settlement that has
-- read the previous alerts.
create function set_budget_bounds(p_ws uuid) returns void language plpgsql as $$
begin
  perform from balance where workspace_id = p_ws for update;
  perform book_lines(p_ws);
  update balance set stop_at = budget_stop_at(p_ws, day), look_at = budget_look_now(p_ws) where workspace_id = p_ws;
end $$;

-- Fires the active alerts of a workspace whose spending in the period has reached their threshold or a percentage of it, each once per
-- period, threshold and percentage. Checks every period since the last check. Returns the alerts whose threshold was reached. Does nothing
-- while another process is checking.
create function fire_budgets(p_ws uuid) returns table (alert_id uuid, stops_calls boolean) language plpgsql set enable_seqscan = off as $$
#variable_conflict use_column
declare
  looked_day date;
begin
  if not pg_try_advisory_xact_lock(budget_lock(p_ws)) then return; end if;
  select day into looked_day from balance where workspace_id = p_ws;
  return query
    with due as materialized (
      select a.*, (budget_period_start(a.period, greatest(a.checked_day::timestamp at time zone 'UTC', a.judged_from)) at time zone 'UTC')::date as since
      from budget_alert a
      where a.workspace_id = p_ws and a.is_active
    ), begun as (
      select d.id, budget_first_day(d.period, s.day) as start, min(s.spent) as before
      from due d
      join spent_day s on s.workspace_id = p_ws and s.day >= d.since
      group by 1, 2
    ), spent as (
      select g.id, g.start, coalesce(lead(g.before) over (partition by g.id order by g.start), b.spent) - g.before as nano
      from begun g
      join balance b on b.workspace_id = p_ws
    ), fired as (
      insert into budget_firing (alert_id, period, period_start, threshold, percent, spent)
      select d.id, d.period, s.start::timestamp at time zone 'UTC', d.threshold, l.percent, s.nano
      from due d
      join spent s on s.id = d.id
      cross join lateral unnest(d.warn_at || 100::smallint) l(percent)
      where s.nano::numeric * 100 >= d.threshold::numeric * l.percent
      on conflict do nothing
      returning *
    ), told as (
      insert into event (workspace_id, type, metadata, channel_ids)
      select p_ws, case when f.percent = 100 then 'budget.threshold_reached' else 'budget.warning' end,
             jsonb_build_object(
               'alertId', f.alert_id, 'period', f.period,
               'periodStart', to_char(f.period_start at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
               'threshold', trim_scale(f.threshold * 0.000000001), 'spent', trim_scale(f.spent * 0.000000001))
               || case when f.percent = 100 then '{}'::jsonb else jsonb_build_object('percent', f.percent) end,
             nullif(d.channel_ids, '{}')
      from fired f
      join due d on d.id = f.alert_id
      -- Spending that passes several percentages at once is reported by the highest one only.
      where not exists (
        select from fired o
        where o.alert_id = f.alert_id and o.period_start = f.period_start and o.percent > f.percent)
        and not exists (
        select from budget_firing o
        where o.alert_id = f.alert_id and o.period = f.period and o.period_start = f.period_start and o.threshold = f.threshold
          and o.percent > f.percent)
      order by f.period_start
    ), looked as (
      update budget_alert a set checked_day = b.day
      from due d, balance b
      where a.id = d.id and b.workspace_id = p_ws and a.checked_day <> b.day
    )
    select f.alert_id, d.stops_calls
    from fired f
    join due d on d.id = f.alert_id
    where f.percent = 100;
  perform from balance where workspace_id = p_ws for update;
  -- A day that began meanwhile causes another check.
  update balance set look_at = budget_look_at(p_ws, day) where workspace_id = p_ws and day = looked_day;
end $$;

-- Returns workspaces with a due active alert, or whose day has begun or alerts have changed since the last check.
create function budgets_to_check() returns setof uuid language sql stable as $$
  select workspace_id from balance where spent >= look_at
$$;

-- Requests and responses that owners asked to keep. The bodies are in the object store, encrypted with a key of their own, which is in the
-- row: an object without its row cannot be read.
create table kept_body (
  workspace_id uuid not null references workspace (id),
  request_id uuid not null,
  key_id uuid not null,
  -- Size of the object.
  bytes int not null constraint kept_body_bytes check (bytes >= 0),
  -- Key of the object, encrypted with a master key.
  sealed_key text not null,
  -- Object and its checksum; null until the object is stored.
  reference text,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  primary key (workspace_id, request_id)
);
create index kept_body_expiry on kept_body (expires_at);
create index kept_body_created on kept_body (created_at);

-- Bytes of the kept bodies of a workspace.
create table kept_body_storage (
  workspace_id uuid primary key references workspace (id),
  bytes bigint not null default 0 constraint kept_body_storage_bytes check (bytes >= 0)
) with (fillfactor = 50);

-- Adds rows for bodies that will be stored. Omits rows beyond p_bytes_max of their workspace. Returns the request ids of the added rows.
create function begin_bodies(p_rows jsonb, p_bytes_max bigint) returns setof uuid language plpgsql as $$
begin
  insert into kept_body_storage (workspace_id)
  select distinct r.workspace_id from jsonb_to_recordset(p_rows) as r(workspace_id uuid) order by 1
  on conflict do nothing;
  perform from kept_body_storage
  where workspace_id in (select r.workspace_id from jsonb_to_recordset(p_rows) as r(workspace_id uuid))
  order by workspace_id
  for no key update;
  return query
    with asked as (
      select r.*, sum(r.bytes) over (partition by r.workspace_id order by r.request_id) as upto
      from jsonb_to_recordset(p_rows)
        as r(workspace_id uuid, request_id uuid, key_id uuid, bytes int, sealed_key text, hours int)
    ), added as (
      insert into kept_body (workspace_id, request_id, key_id, bytes, sealed_key, expires_at)
      select a.workspace_id, a.request_id, a.key_id, a.bytes, a.sealed_key, now() + a.hours * interval '1 hour'
      from asked a
      join kept_body_storage s on s.workspace_id = a.workspace_id
      where s.bytes + a.upto <= p_bytes_max
      on conflict do nothing
      returning kept_body.workspace_id, kept_body.request_id, kept_body.bytes
    ), counted as (
      update kept_body_storage s set bytes = s.bytes + t.bytes
      from (select a.workspace_id, sum(a.bytes)::bigint as bytes from added a group by 1) t
      where s.workspace_id = t.workspace_id
    )
    select a.request_id from added a;
end $$;

-- Alerts on the available credits of a workspace. Exactly one of the two thresholds is set.
create table balance_alert (
  id uuid primary key,
  workspace_id uuid not null references workspace (id),
  name text not null,
  -- Nano-credits.
  below_credits bigint constraint balance_alert_credits check (below_credits > 0),
  -- Days that the available credits last.
  below_days smallint constraint balance_alert_days check (below_days > 0),
  -- Empty: delivered to subscriptions of the event.
  channel_ids uuid[] not null default '{}',
  is_active boolean not null default true,
  created_by uuid references member (id),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- True after it fired, until the balance has been a tenth above the threshold: a balance that varies around it fires once.
  is_low boolean not null default false,
  last_fired_at timestamptz,
  unique (workspace_id, name),
  constraint balance_alert_threshold check (num_nonnulls(below_credits, below_days) = 1)
);

-- Returns the available nano-credits of a workspace, the nano-credits that it spent per day since the beginning of the UTC day seven days
-- ago or since its creation, and the number of days that the available ones last at that rate; null without spending.
create function balance_outlook(p_ws uuid) returns table (available bigint, per_day numeric, days_left numeric)
language sql stable set enable_seqscan = off as $$
  select a.nano, p.spent / p.days, case when p.spent > 0 then greatest(a.nano, 0) * p.days / p.spent end
  from balance b
  join workspace w on w.id = b.workspace_id
  cross join lateral (select unbooked_credits(p_ws) as nano) u
  cross join lateral (select b.amount - u.nano - b.held + lined_credits(p_ws) as nano) a
  cross join lateral (select (now() at time zone 'UTC')::date - 7 as day) since
  cross join lateral (
    select b.spent + u.nano - spent_before(p_ws, since.day) as spent,
      greatest(extract(epoch from now() - greatest(since.day::timestamp at time zone 'UTC', w.created_at)) / 86400, 1) as days) p
  where b.workspace_id = p_ws
$$;

-- Checks up to p_max active balance alerts after the id p_after, in the order of ids. Fires the alerts below their threshold, each once
-- until the balance has been a tenth above the threshold. Returns the last id of a full page, else null, and the alerts that fired.
-- Processes that check at the same time fire an alert once: an update sees the changed row.
create function check_balance_alerts(p_after uuid, p_max int) returns table (last_id uuid, fired uuid[])
language sql set enable_seqscan = off as $$
  with page as materialized (
    select a.id, a.workspace_id, a.channel_ids, a.below_credits, a.below_days, a.is_low, a.updated_at, o.available, o.days_left,
      case when not a.is_low then o.available < a.below_credits or o.days_left < a.below_days
           when a.below_days is null then o.available >= a.below_credits::numeric * 1.1
           else coalesce(o.days_left >= a.below_days * 1.1, true) end as has_turned
    from (select * from balance_alert where is_active and id > p_after order by id limit p_max) a
    cross join lateral balance_outlook(a.workspace_id) o
  ), turned as (
    update balance_alert a set is_low = not a.is_low, last_fired_at = case when a.is_low then a.last_fired_at else clock_timestamp() end
    from page p
    where a.id = p.id and p.has_turned and a.is_active and a.is_low = p.is_low and a.updated_at = p.updated_at
    returning a.id, a.is_low
  ), told as (
    insert into event (workspace_id, type, metadata, channel_ids)
    select p.workspace_id, 'balance.low',
           jsonb_strip_nulls(jsonb_build_object(
             'alertId', p.id, 'available', trim_scale(p.available * 0.000000001), 'belowCredits', trim_scale(p.below_credits * 0.000000001),
             'belowDays', p.below_days, 'daysLeft', trim_scale(round(p.days_left, 1)))),
           nullif(p.channel_ids, '{}')
    from turned t
    join page p on p.id = t.id
    where t.is_low
  )
  select case when count(*) = p_max then (select id from page order by id desc limit 1) end,
    coalesce((select array_agg(id) from turned where is_low), '{}')
  from page
$$;

-- Calls that were refused before a hold: the newest of each workspace, for a day. The ingress writes them after their responses, in groups.
create table refused_call (
  workspace_id uuid not null,
  -- x-request-id of the call.
  request_id uuid not null,
  key_id uuid not null,
  at timestamptz not null default clock_timestamp(),
  -- Path of the route.
  endpoint text not null,
  code text not null,
  -- Invalid parameter.
  param text,
  -- Requested model or capability, if it exists.
  model text,
  -- Sentence of the error, if it contains no text of the caller; otherwise the code determines the sentence.
  message text,
  primary key (workspace_id, request_id)
);
create index refused_call_newest on refused_call (workspace_id, at, request_id);
create index refused_call_at on refused_call (at);

-- Number of refused calls by hour, kept as long as usage_hour.
create table refused_hour (
  workspace_id uuid not null,
  hour timestamptz not null,
  key_id uuid not null,
  calls bigint not null,
  primary key (workspace_id, hour, key_id)
) with (fillfactor = 70);

-- Stores and counts refused calls, and deletes all but the newest p_max of their workspaces. A call with a hold or a usage record was not
-- refused.
create function record_refused_calls(p_calls jsonb, p_max int) returns void language plpgsql set enable_seqscan = off as $$
begin
  with stored as (
    insert into refused_call (workspace_id, request_id, key_id, endpoint, code, param, model, message)
    select c.workspace_id, c.request_id, c.key_id, c.endpoint, c.code, c.param, c.model, c.message
    from jsonb_to_recordset(p_calls)
      as c(workspace_id uuid, request_id uuid, key_id uuid, endpoint text, code text, param text, model text, message text)
    where not exists (select from usage_record u where u.workspace_id = c.workspace_id and u.job_id = c.request_id)
      and not exists (select from hold h where h.workspace_id = c.workspace_id and h.job_id = c.request_id)
    order by c.workspace_id, c.request_id
    on conflict do nothing
    returning workspace_id, at, key_id
  )
  insert into refused_hour as h (workspace_id, hour, key_id, calls)
  select workspace_id, date_trunc('hour', at, 'UTC'), key_id, count(*) from stored group by 1, 2, 3 order by 1, 2, 3
  on conflict (workspace_id, hour, key_id) do update set calls = h.calls + excluded.calls;
  -- Another ingress may delete the same rows.
  delete from refused_call where ctid = any (array(
    select o.ctid
    from (select distinct c.workspace_id from jsonb_to_recordset(p_calls) as c(workspace_id uuid)) w
    cross join lateral (
      select r.at, r.request_id from refused_call r where r.workspace_id = w.workspace_id
      order by r.at desc, r.request_id desc offset p_max - 1 limit 1) last
    cross join lateral (
      select r.ctid from refused_call r
      where r.workspace_id = w.workspace_id and (r.at, r.request_id) < (last.at, last.request_id) for update skip locked) o));
end $$;
