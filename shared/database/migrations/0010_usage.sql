-- Sums of usage by hour, and budget alerts that go by them. Sums go up to a border that no record comes behind of any more: they miss
-- nothing, however late a settle commits and wherever the clock is set (decision 0030).

create table usage_hour (
  workspace_id uuid not null,
  hour timestamptz not null,
  key_id uuid not null,
  model text not null,
  -- The stored workflow whose run made the calls; zeros: none.
  workflow_id uuid not null,
  status text not null,
  calls bigint not null,
  -- Nano-credits.
  settled bigint not null,
  uncollected bigint not null,
  tokens bigint not null,
  primary key (workspace_id, hour, key_id, model, workflow_id, status)
) with (fillfactor = 70);

-- Tokens of the last UTC day on which a call of the workspace that is in the sums was admitted, for the hourly audit.
create table usage_day (
  workspace_id uuid primary key,
  day date not null,
  tokens bigint not null
) with (fillfactor = 70);

-- The border of the sums, in one row. They hold every record that ended before `until`, and a reader adds the records after that. They
-- may go on to next_at once every transaction numbered below next_xid is over.
create table usage_rollup (
  is_only boolean primary key default true check (is_only),
  until timestamptz not null,
  next_at timestamptz not null,
  next_xid xid8 not null default '0'
);
-- The border begins before every record there is.
insert into usage_rollup (until, next_at) values (now() - interval '1 hour', now() - interval '1 hour');

-- Sees to it that no record ends before now from here on. It is a transaction of its own: one that sets a sequence has its number before
-- it does so.
create function raise_usage_floor() returns void language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtext('usage_floor'));
  -- A clock that was set back goes on from there, a microsecond each time.
  perform setval('usage_floor', greatest((extract(epoch from clock_timestamp()) * 1e6)::bigint, pg_sequence_last_value('usage_floor') + 1));
end $$;

-- Adds records of at most p_step_ms to the sums. Returns how many milliseconds of them are left that can be added now, or null when another
-- process is at it. Must be the first statement of its transaction to write or lock anything.
--
-- Reason why no record is missed: a transaction that writes one has locked its hold before, so it is numbered, and reads the floor
-- afterwards. Here the floor is read first and this transaction's number taken after; one that wrote a record before that floor had read
-- an earlier one, so its number is lower. A later roll-up finds all of those over, and their records committed or gone for good.
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
  -- A number that was not given out yet comes from the server that this database was restored from: it says nothing here.
  elsif r.next_xid > numbered then
    r.next_at := r.until;
  end if;
  with summed as materialized (
    select u.workspace_id, date_trunc('hour', u.ended_at, 'UTC') as hour, u.key_id, u.model,
           coalesce(r2.workflow_id, '00000000-0000-0000-0000-000000000000') as workflow_id, u.status, u.day, count(*) as calls,
           sum(u.settled) as settled, sum(u.uncollected) as uncollected, sum(u.tokens) as tokens
    from usage_record u
    left join job j on j.id = u.job_id
    left join run r2 on r2.id = j.run_id
    where u.ended_at >= r.until and u.ended_at < upto
    group by 1, 2, 3, 4, 5, 6, 7
  ), days as (
    -- The day of a balance never goes back, so an earlier one is of no use any more.
    insert into usage_day as d (workspace_id, day, tokens)
    select distinct on (s.workspace_id) s.workspace_id, s.day, sum(s.tokens) from summed s group by 1, 2 order by 1, 2 desc
    on conflict (workspace_id) do update
    set tokens = case when excluded.day = d.day then d.tokens else 0 end + excluded.tokens, day = excluded.day
    where excluded.day >= d.day
  )
  insert into usage_hour as h (workspace_id, hour, key_id, model, workflow_id, status, calls, settled, uncollected, tokens)
  select s.workspace_id, s.hour, s.key_id, s.model, s.workflow_id, s.status, sum(s.calls), sum(s.settled), sum(s.uncollected), sum(s.tokens)
  from summed s
  group by 1, 2, 3, 4, 5, 6
  on conflict (workspace_id, hour, key_id, model, workflow_id, status) do update
  set calls = h.calls + excluded.calls, settled = h.settled + excluded.settled,
      uncollected = h.uncollected + excluded.uncollected, tokens = h.tokens + excluded.tokens;
  update usage_rollup
  set until = upto, next_at = case when upto >= r.next_at then greatest(drawn, upto) else r.next_at end,
      next_xid = case when upto >= r.next_at then numbered else r.next_xid end;
  return case when is_over then ceil(extract(epoch from r.next_at - upto) * 1000) else 0 end::bigint;
end $$;

-- Nano-credits spent by hour since a full hour: the sums, and the records that are not in them yet.
create function spent_by_hour(p_ws uuid, p_since timestamptz) returns table (hour timestamptz, nano numeric) language sql stable as $$
  select h.hour, sum(h.settled)
  from usage_hour h
  where h.workspace_id = p_ws and h.hour >= p_since
  group by 1
  union all
  select date_trunc('hour', u.ended_at, 'UTC'), sum(u.settled)
  from usage_record u
  where u.workspace_id = p_ws and u.ended_at >= greatest(p_since, (select until from usage_rollup))
  group by 1
$$;

-- Alerts on what a workspace spends in a day, a week from Monday or a month, all UTC.
create table budget_alert (
  id uuid primary key,
  workspace_id uuid not null references workspace (id),
  name text not null,
  -- Nano-credits.
  threshold bigint not null constraint budget_threshold check (threshold > 0),
  period text not null constraint budget_period check (period in ('daily', 'weekly', 'monthly')),
  -- Empty: subscriptions to the event say where it goes.
  channel_ids uuid[] not null default '{}',
  is_active boolean not null default true,
  -- Further calls of the period are refused once the threshold is crossed.
  stops_calls boolean not null default false,
  created_by uuid references member (id),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- Time since which it has had this threshold and period and been active: periods that ended before are not judged by it.
  judged_from timestamptz not null default now(),
  -- Usage up to here has been looked at.
  checked_at timestamptz not null default '-infinity',
  unique (workspace_id, name)
);
-- The two tables name each other.
alter table workspace add foreign key (stopped_by) references budget_alert (id) on delete set null;

-- One row for each time an alert fired: once for a period and threshold.
create table budget_firing (
  alert_id uuid not null references budget_alert (id) on delete cascade,
  -- A day, a week and a month may begin together.
  period text not null,
  period_start timestamptz not null,
  threshold bigint not null,
  at timestamptz not null default clock_timestamp(),
  spent bigint not null,
  primary key (alert_id, period, period_start, threshold)
);
create index budget_firing_at on budget_firing (at);

-- The bounds of the period in which a time lies.
create function budget_period_start(p_period text, p_at timestamptz) returns timestamptz language sql stable as $$
  select date_trunc(case p_period when 'daily' then 'day' when 'weekly' then 'week' else 'month' end, p_at, 'UTC');
$$;
create function budget_period_end(p_period text, p_at timestamptz) returns timestamptz language sql stable as $$
  select (budget_period_start(p_period, p_at) at time zone 'UTC'
    + case p_period when 'daily' then interval '1 day' when 'weekly' then interval '7 days' else interval '1 month' end) at time zone 'UTC';
$$;

-- The present period of each alert of a workspace, and the nano-credits spent in it. The usage is read once for all of them.
create function budgets_now(p_ws uuid, p_at timestamptz)
returns table (alert_id uuid, period_start timestamptz, period_end timestamptz, spent bigint)
language sql stable set enable_seqscan = off as $$
  with alerts as materialized (
    select a.id, budget_period_start(a.period, p_at) as since, budget_period_end(a.period, p_at) as until
    from budget_alert a
    where a.workspace_id = p_ws
  ), hours as materialized (
    select h.hour, h.nano from spent_by_hour(p_ws, (select min(since) from alerts)) h
  )
  select a.id, a.since, a.until, coalesce(sum(h.nano), 0)::bigint
  from alerts a
  left join hours h on h.hour >= a.since and h.hour < a.until
  group by 1, 2, 3
$$;

-- The lock under which firings and changes of a workspace's alerts come one after the other. It is not the workspace's row, which is
-- locked for other settings.
create function budget_lock(p_ws uuid) returns bigint language sql immutable as $$
  select hashtextextended('budgets ' || p_ws::text, 0);
$$;

-- Stops the calls of a workspace, or lets them go on, as its active alerts that stop calls have it. Call it under budget_lock.
create function set_budget_stop(p_ws uuid, p_at timestamptz) returns void language plpgsql as $$
declare
  stop_until timestamptz;
  stop_by uuid;
begin
  select b.period_end, a.id into stop_until, stop_by
  from budget_alert a
  join budgets_now(p_ws, p_at) b on b.alert_id = a.id
  where a.workspace_id = p_ws and a.is_active and a.stops_calls and b.spent >= a.threshold
  order by b.period_end desc, a.id
  limit 1;
  update workspace set stopped_until = stop_until, stopped_by = stop_by
  where id = p_ws and (stopped_until, stopped_by) is distinct from (stop_until, stop_by);
end $$;

-- Fires the active alerts of a workspace whose period's spend has reached their threshold, each once for a period and threshold, and
-- stops calls where one says so. Looks at every period since it looked last, and at each again until no record of it can come any more:
-- usage of a period may be seen after its turn. Does nothing while another process is at it.
create function fire_budgets(p_ws uuid, p_at timestamptz default null)
returns table (alert_id uuid, stops_calls boolean) language plpgsql set enable_seqscan = off as $$
#variable_conflict use_column
declare
  at timestamptz;
begin
  if not pg_try_advisory_xact_lock(budget_lock(p_ws)) then return; end if;
  at := coalesce(p_at, clock_timestamp());
  return query
    with due as materialized (
      select a.*, budget_period_start(a.period, greatest(a.checked_at, a.judged_from)) as since
      from budget_alert a
      where a.workspace_id = p_ws and a.is_active
    ), hours as materialized (
      select h.hour, h.nano from spent_by_hour(p_ws, (select min(since) from due)) h
    ), spent as (
      select d.id, budget_period_start(d.period, h.hour) as start, sum(h.nano)::bigint as nano
      from due d
      join hours h on h.hour >= d.since
      group by 1, 2
    ), fired as (
      insert into budget_firing (alert_id, period, period_start, threshold, spent)
      select d.id, d.period, s.start, d.threshold, s.nano
      from due d
      join spent s on s.id = d.id
      where s.nano >= d.threshold
      on conflict do nothing
      returning *
    ), told as (
      insert into event (workspace_id, type, metadata, channel_ids)
      select p_ws, 'budget.threshold_reached',
             jsonb_build_object(
               'alertId', f.alert_id, 'period', f.period,
               'periodStart', to_char(f.period_start at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
               'threshold', trim_scale(f.threshold * 0.000000001), 'spent', trim_scale(f.spent * 0.000000001)),
             nullif(d.channel_ids, '{}')
      from fired f
      join due d on d.id = f.alert_id
      order by f.period_start
    ), looked as (
      update budget_alert a set checked_at = least(at, (select until from usage_rollup))
      from due d
      where a.id = d.id
    )
    select f.alert_id, d.stops_calls
    from fired f
    join due d on d.id = f.alert_id;
  if exists (select from budget_alert a where a.workspace_id = p_ws and a.is_active and a.stops_calls)
    or exists (select from workspace w where w.id = p_ws and w.stopped_until is not null) then
    perform set_budget_stop(p_ws, at);
  end if;
end $$;

-- Workspaces with an active alert that has not looked at their last usage.
create function budgets_to_check() returns setof uuid language sql stable as $$
  select distinct a.workspace_id
  from budget_alert a
  where a.is_active
    -- It reads the one record that an index ends with, for each alert, and never walks through the records.
    and (select u.ended_at from usage_record u where u.workspace_id = a.workspace_id order by u.ended_at desc limit 1) >= a.checked_at
$$;
