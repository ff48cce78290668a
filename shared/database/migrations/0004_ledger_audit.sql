-- The audit of ledger, holds, balances and usage. The hourly one reads what is new: entries up to a border are summed once
-- per workspace, and kept as a checkpoint.

-- Sum of a workspace's ledger entries with an id up to ledger_border.entry_id. No row: 0.
create table ledger_checkpoint (
  workspace_id uuid primary key references workspace (id),
  amount bigint not null
);

-- One row. Entries up to entry_id are in the checkpoints; usage records that ended before `since` are audited, but for
-- those that took long to commit (see audit_new_entries). next_id, next_xid and next_at are where the open period may be
-- closed: every transaction that has drawn an id up to next_id is numbered below next_xid.
create table ledger_border (
  is_only boolean primary key default true constraint ledger_border_once check (is_only),
  entry_id bigint not null default 0,
  since timestamptz not null default '-infinity',
  next_id bigint not null default 0,
  next_xid xid8 not null default '0',
  next_at timestamptz not null default '-infinity'
);
insert into ledger_border default values;

-- Disagreements that show without the history: open holds, balances, and the present day's tokens.
create function audit_present() returns table (workspace_id uuid, fault text, expected text, found text) language sql stable as $$
  select b.workspace_id, 'held is not the sum of open holds', coalesce(h.sum, 0)::text, b.held::text
  from balance b left join (select o.workspace_id, sum(amount) from hold o group by 1) h using (workspace_id)
  where b.held <> coalesce(h.sum, 0)
  union all
  select o.workspace_id, 'hold open and closed at once', '-', o.job_id::text
  from hold o join usage_record u on u.workspace_id = o.workspace_id and u.job_id = o.job_id and u.attempt = o.attempt
  union all
  select b.workspace_id, 'available balance is negative', '0', (b.amount - b.held)::text from balance b where b.amount < b.held
  union all
  select b.workspace_id, 'daily tokens are not the sum of the day''s calls', (u.sum + coalesce(h.sum, 0))::text, b.day_tokens::text
  from balance b
  -- A call ends on its day or later; an hour of slack for a clock that was set back.
  cross join lateral (
    select coalesce(sum(r.tokens), 0) as sum
    from usage_record r
    where r.workspace_id = b.workspace_id and r.day = b.day
      and r.ended_at >= least(b.day, (now() at time zone 'utc')::date)::timestamp at time zone 'utc' - interval '1 hour') u
  left join (select o.workspace_id, o.day, sum(o.tokens) from hold o group by 1, 2) h on h.workspace_id = b.workspace_id and h.day = b.day
  where b.day_tokens <> u.sum + coalesce(h.sum, 0);
$$;

-- Every disagreement between ledger, holds, balances, usage and checkpoints, from the first entry on; no row means exact.
create function audit_ledger() returns table (workspace_id uuid, fault text, expected text, found text) language sql stable as $$
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
  select * from audit_present();
$$;

-- The same of checkpoints and what came after them, and closes the period before last. Balances are compared as in the
-- full audit; a change of an old entry is found by that one only. Must be the first statement of its transaction to write
-- or lock anything.
--
-- Why no entry is missed: a transaction that writes one locks a row first (hold or balance), so it is numbered before it
-- draws the entry's id. Here the last id drawn is read first and this transaction's number taken after, so each one that has
-- drawn an id up to there has a lower number. A later audit closes the period once no lower number runs any more: all of its
-- entries are then committed or will never be, and its own look, which comes after, sees them.
create function audit_new_entries() returns table (workspace_id uuid, fault text, expected text, found text) language plpgsql
set enable_seqscan = off set plan_cache_mode = force_custom_plan as $$
#variable_conflict use_column
declare
  drawn bigint;
  numbered xid8;
  border ledger_border;
  is_over boolean;
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
  -- A number that was not given out yet is of the server that this database was restored from: it says nothing here.
  elsif border.next_xid <= numbered then
    return;
  end if;
  update ledger_border
  set entry_id = border.entry_id, since = border.since, next_id = greatest(drawn, border.next_id), next_xid = numbered,
      next_at = clock_timestamp();
end $$;
