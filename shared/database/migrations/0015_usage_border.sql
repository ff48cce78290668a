-- Sums of usage go up to a border that no record comes behind of any more: they miss nothing, however late a settle commits and wherever the
-- clock is set (decision 0030).

-- The sums hold every record that ended before `until`. They may go on to next_at once every transaction numbered below next_xid is over.
alter table usage_rollup add column next_at timestamptz;
alter table usage_rollup add column next_xid xid8 not null default '0';
update usage_rollup set next_at = until;
alter table usage_rollup alter column next_at set not null;

-- No record ends before now from here on. It is a transaction of its own: one that sets a sequence has its number before it does so.
create function raise_usage_floor() returns void language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtext('usage_floor'));
  -- A clock that was set back goes on from there, a microsecond each time.
  perform setval('usage_floor', greatest((extract(epoch from clock_timestamp()) * 1e6)::bigint, pg_sequence_last_value('usage_floor') + 1));
end $$;

-- Adds records of at most p_step_ms to the sums. Returns how many milliseconds of them are left that can be added now, or null when another
-- process is at it. Must be the first statement of its transaction to write or lock anything.
--
-- Why no record is missed: a transaction that writes one has locked its hold before, so it is numbered, and reads the floor afterwards. Here
-- the floor is read first and this transaction's number taken after; one that wrote a record before that floor had read an earlier one, so its
-- number is lower. A later roll-up finds all of those over, and their records committed or gone for good.
drop function roll_up_usage(bigint);
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
  -- A number that was not given out yet is of the server that this database was restored from: it says nothing here.
  elsif r.next_xid > numbered then
    r.next_at := r.until;
  end if;
  insert into usage_hour as h (workspace_id, hour, key_id, model, workflow_id, status, calls, settled, uncollected, tokens)
  select u.workspace_id, date_trunc('hour', u.ended_at, 'UTC'), u.key_id, u.model,
         coalesce(r2.workflow_id, '00000000-0000-0000-0000-000000000000'), u.status, count(*), sum(u.settled), sum(u.uncollected),
         sum(u.tokens)
  from usage_record u
  left join job j on j.id = u.job_id
  left join run r2 on r2.id = j.run_id
  where u.ended_at >= r.until and u.ended_at < upto
  group by 1, 2, 3, 4, 5, 6
  on conflict (workspace_id, hour, key_id, model, workflow_id, status) do update
  set calls = h.calls + excluded.calls, settled = h.settled + excluded.settled,
      uncollected = h.uncollected + excluded.uncollected, tokens = h.tokens + excluded.tokens;
  update usage_rollup
  set until = upto, next_at = case when upto >= r.next_at then greatest(drawn, upto) else r.next_at end,
      next_xid = case when upto >= r.next_at then numbered else r.next_xid end;
  return case when is_over then ceil(extract(epoch from r.next_at - upto) * 1000) else 0 end::bigint;
end $$;

-- As in 0013_notifications. Periods are looked at again until no record of theirs can come any more.
drop function fire_budgets(uuid, bigint, timestamptz);
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

-- Hours since p_since whose sums are not those of their usage records, up to the border.
create function audit_usage(p_since timestamptz) returns table (workspace_id uuid, fault text, expected text, found text) language sql stable as $$
  -- Lateral: an index search for each workspace, however many hours there are.
  with span as (
    select b.workspace_id, date_trunc('hour', p_since, 'UTC') as since, r.until from balance b cross join usage_rollup r
  ), summed as (
    select s.workspace_id, h.* from span s cross join lateral (
      select h.hour, sum(h.settled) as settled, sum(h.calls) as calls, sum(h.tokens) as tokens
      from usage_hour h
      where h.workspace_id = s.workspace_id and h.hour >= s.since
      group by 1) h
  ), recorded as (
    select s.workspace_id, r.* from span s cross join lateral (
      select date_trunc('hour', u.ended_at, 'UTC') as hour, sum(u.settled) as settled, count(*) as calls, sum(u.tokens) as tokens
      from usage_record u
      where u.workspace_id = s.workspace_id and u.ended_at >= s.since and u.ended_at < s.until
      group by 1) r
  )
  select workspace_id, 'sums of an hour are not those of its usage records',
         format('%s: %s nano-credits, %s calls, %s tokens', hour, coalesce(r.settled, 0), coalesce(r.calls, 0), coalesce(r.tokens, 0)),
         format('%s nano-credits, %s calls, %s tokens', coalesce(s.settled, 0), coalesce(s.calls, 0), coalesce(s.tokens, 0))
  from summed s full join recorded r using (workspace_id, hour)
  where (s.settled, s.calls, s.tokens) is distinct from (r.settled, r.calls, r.tokens);
$$;

-- The hourly audit compares the hours since here.
alter table ledger_border add column usage_until timestamptz not null default '-infinity';

-- As in 0004_ledger_audit, with the sums of usage.
create or replace function audit_ledger() returns table (workspace_id uuid, fault text, expected text, found text) language sql stable as $$
  select b.workspace_id, 'balance is not the sum of ledger entries', coalesce(l.sum, 0)::text, b.amount::text
  from balance b left join (select e.workspace_id, sum(amount) from ledger_entry e group by 1) l using (workspace_id)
  where b.amount <> coalesce(l.sum, 0)
  union all
  select workspace_id, 'checkpoint is not the sum of its entries', coalesce(l.sum, 0)::text, coalesce(c.amount, 0)::text
  from ledger_checkpoint c
  full join (
    select e.workspace_id, sum(e.amount)
    from ledger_entry e join balance using (workspace_id)
    where e.id <= (select entry_id from ledger_border)
    group by 1) l using (workspace_id)
  where coalesce(c.amount, 0) <> coalesce(l.sum, 0)
  union all
  select u.workspace_id, 'usage record without its settle', u.settled::text, coalesce((-e.amount)::text, 'none')
  from usage_record u
  left join ledger_entry e
    on e.workspace_id = u.workspace_id and e.source_id = u.job_id and e.attempt = u.attempt and e.kind = 'settle'
  where (u.settled <> 0 and e.id is null) or (e.id is not null and -e.amount <> u.settled)
  union all
  select e.workspace_id, 'settle without a usage record', '-', e.source_id::text
  from ledger_entry e left join usage_record u on u.workspace_id = e.workspace_id and u.job_id = e.source_id and u.attempt = e.attempt
  where e.kind = 'settle' and u.job_id is null
  union all
  select * from audit_usage('-infinity')
  union all
  select * from audit_present();
$$;

-- As in 0004_ledger_audit, with the sums of usage since the last exact audit.
create or replace function audit_new_entries() returns table (workspace_id uuid, fault text, expected text, found text) language plpgsql
set enable_seqscan = off set plan_cache_mode = force_custom_plan as $$
#variable_conflict use_column
declare
  drawn bigint;
  numbered xid8;
  border ledger_border;
  is_over boolean;
  summed timestamptz;
begin
  if pg_current_xact_id_if_assigned() is not null then
    raise exception 'the audit of new entries needs a transaction of its own';
  end if;
  select case when is_called then last_value else last_value - 1 end into drawn from ledger_entry_id_seq;
  numbered := pg_current_xact_id();
  select * into border from ledger_border for update skip locked;
  -- Another audit is under way.
  if border.entry_id is null then return; end if;
  is_over := border.next_xid <= pg_snapshot_xmin(pg_current_snapshot());

  select until into summed from usage_rollup;
  if border.entry_id = 0 then
    -- All of it is new: tables are read from end to end, as the full audit does.
    perform set_config('enable_seqscan', 'on', true);
    return query select * from audit_ledger();
  else
    return query
      select b.workspace_id, 'balance is not the sum of ledger entries', (coalesce(c.amount, 0) + l.sum)::text, b.amount::text
      from balance b left join ledger_checkpoint c using (workspace_id)
      cross join lateral (
        select coalesce(sum(e.amount), 0) as sum from ledger_entry e
        where e.workspace_id = b.workspace_id and e.id > border.entry_id) l
      where b.amount <> coalesce(c.amount, 0) + l.sum
      union all
      select b.workspace_id, 'usage record without its settle', u.settled::text, coalesce((-e.amount)::text, 'none')
      from balance b
      -- Offset 0 keeps the planner from walking the whole table for all workspaces at once.
      cross join lateral (
        select r.job_id, r.attempt, r.settled from usage_record r
        where r.workspace_id = b.workspace_id and r.ended_at >= border.since - interval '1 hour' offset 0) u
      left join ledger_entry e
        on e.workspace_id = b.workspace_id and e.source_id = u.job_id and e.attempt = u.attempt and e.kind = 'settle'
      where (u.settled <> 0 and e.id is null) or (e.id is not null and -e.amount <> u.settled)
      union all
      select b.workspace_id, 'settle without a usage record', '-', e.source_id::text
      from balance b
      cross join lateral (
        select s.source_id, s.attempt from ledger_entry s
        where s.workspace_id = b.workspace_id and s.id > border.entry_id and s.kind = 'settle' offset 0) e
      left join usage_record u on u.workspace_id = b.workspace_id and u.job_id = e.source_id and u.attempt = e.attempt
      where u.job_id is null
      union all
      select * from audit_usage(border.usage_until)
      union all
      select * from audit_present();
  end if;
  -- A period with a difference stays open, so that each audit tells of it until it is mended.
  if found then return; end if;

  if is_over then
    insert into ledger_checkpoint as c (workspace_id, amount)
    select e.workspace_id, sum(e.amount)
    from ledger_entry e join balance using (workspace_id)
    where border.entry_id = 0 and e.id <= border.next_id
    group by 1
    union all
    select b.workspace_id, l.sum
    from balance b
    cross join lateral (
      select sum(e.amount) as sum from ledger_entry e
      where e.workspace_id = b.workspace_id and e.id > border.entry_id and e.id <= border.next_id) l
    where border.entry_id > 0 and l.sum is not null
    on conflict (workspace_id) do update set amount = c.amount + excluded.amount;
    border.entry_id := border.next_id;
    border.since := border.next_at;
  end if;
  update ledger_border set usage_until = summed;
  -- A number that was not given out yet is of the server that this database was restored from: it says nothing here.
  if not is_over and border.next_xid <= numbered then return; end if;
  update ledger_border
  set entry_id = border.entry_id, since = border.since, next_id = greatest(drawn, border.next_id), next_xid = numbered,
      next_at = clock_timestamp();
end $$;
