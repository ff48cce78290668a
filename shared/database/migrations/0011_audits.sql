-- Audits: functions that compare ledger, holds, balances, sums and counts. Each returned row is a difference. The hourly audit of the
-- ledger reads new entries: entries up to a border are summed once per workspace, and stored as a checkpoint (decision 0025).

-- Sums of a workspace's ledger entries with an id up to ledger_border.entry_id: of all entries, and of the charges among them. No row: 0.
create table ledger_checkpoint (
  workspace_id uuid primary key references workspace (id),
  amount bigint not null,
  spent bigint not null
);

-- Returns the faults of a balance whose workspace's entries have these sums. Unbooked charges count as booked.
create function audit_balance(b balance, p_amount numeric, p_spent numeric) returns table (workspace_id uuid, fault text, expected text, found text)
language sql stable as $$
  select b.workspace_id, 'balance is not the sum of ledger entries', p_amount::text, (b.amount - u.nano)::text
  from unbooked_credits(b.workspace_id) u(nano) where b.amount - u.nano <> p_amount
  union all
  select b.workspace_id, 'spent is not the sum of settles', p_spent::text, (b.spent + u.nano)::text
  from unbooked_credits(b.workspace_id) u(nano) where b.spent + u.nano <> p_spent
$$;

-- Sum of a workspace's archived charges, whose entries and usage records are in no table any more. No row: 0.
create table ledger_archive (
  workspace_id uuid primary key references workspace (id),
  amount bigint not null
);

-- The border of the hourly audit, in one row. Entries up to entry_id are in the checkpoints. The open period may be closed up to next_id:
-- every transaction that has drawn an id up to there is numbered below next_xid.
create table ledger_border (
  is_only boolean primary key default true constraint ledger_border_once check (is_only),
  entry_id bigint not null default 0,
  next_id bigint not null default 0,
  next_xid xid8 not null default '0',
  -- Usage records that ended before this are audited, and no others can end before it: the sums extended up to here.
  usage_until timestamptz not null default '-infinity',
  -- Usage records of earlier hours may be archived.
  archived_until timestamptz not null default '-infinity'
);
insert into ledger_border default values;

-- Times of the entries that the hourly audit has closed: of the ids after the previous row's, up to last_id. Lists of the ledger by time find
-- their ids here, because an index by time takes 10 µs of each settlement.
create table ledger_span (
  last_id bigint primary key,
  first_at timestamptz not null,
  last_at timestamptz not null
);

-- Begins archiving usage of whole hours before p_before, and returns the end of these hours: at most the time up to which the hourly audit
-- has found no difference.
create function begin_archive(p_before timestamptz) returns timestamptz language plpgsql as $$
declare
  upto timestamptz;
begin
  select date_trunc('hour', least(p_before, b.usage_until), 'UTC') into upto from ledger_border b for update;
  update ledger_border set archived_until = greatest(archived_until, upto);
  return upto;
end $$;

-- Removes up to p_max usage records of a workspace that ended before p_before, oldest first, with their settlements and parts, and returns
-- them. p_before is a result of begin_archive, and the checkpoint contains their entries. Their charges are added to ledger_archive in the
-- same transaction, so that balance and checkpoint stay the sums of archive and entries. Top-ups and corrections are never archived,
-- because their ids stay reserved.
create function archive_usage(p_ws uuid, p_before timestamptz, p_max int) returns setof jsonb language plpgsql
set enable_seqscan = off set plan_cache_mode = force_custom_plan as $$
declare
  border ledger_border;
  jobs uuid[];
  attempts smallint[];
  lines jsonb[];
  taken bigint;
  found_n int;
begin
  -- Until this transaction ends, no audit closes a period, and no other process archives.
  select * into border from ledger_border for update;
  select array_agg(c.job_id), array_agg(c.attempt), array_agg(c.line) into jobs, attempts, lines from (
    select u.job_id, u.attempt, to_jsonb(u) || jsonb_build_object(
        'held', u.held::text, 'settled', u.settled::text, 'uncollected', u.uncollected::text, 'tokens', u.tokens::text,
        'entry', case when e.id is not null then jsonb_build_object('id', e.id::text, 'amount', e.amount::text, 'at', e.at) end,
        'parts', coalesce((
          select jsonb_agg(to_jsonb(p) - 'workspace_id' - 'job_id' - 'attempt' || jsonb_build_object('amount', p.amount::text) order by p.part)
          from usage_part p where p.workspace_id = p_ws and p.job_id = u.job_id and p.attempt = u.attempt), '[]'),
        'failure', (
          select jsonb_build_object('code', f.code, 'attempts', f.tries)
          from usage_failure f where f.workspace_id = p_ws and f.job_id = u.job_id and f.attempt = u.attempt)) as line
    from (
      select * from usage_record r where r.workspace_id = p_ws and r.ended_at < least(p_before, border.archived_until) order by r.ended_at limit p_max for update) u
    left join ledger_entry e on e.workspace_id = p_ws and e.source_id = u.job_id and e.attempt = u.attempt and e.kind = 'settle'
    where coalesce(e.id, 0) <= border.entry_id) c;
  if jobs is null then return; end if;
  with gone as (
    delete from ledger_entry e using unnest(jobs, attempts) c(job, attempt)
    where e.workspace_id = p_ws and e.source_id = c.job and e.attempt = c.attempt and e.kind = 'settle'
    returning e.amount)
  select coalesce(sum(amount), 0) into taken from gone;
  insert into ledger_archive as a (workspace_id, amount) values (p_ws, taken)
  on conflict (workspace_id) do update set amount = a.amount + excluded.amount;
  insert into archived_attempt as a (workspace_id, job_id, attempt)
  select p_ws, c.job, max(c.attempt) from unnest(jobs, attempts) c(job, attempt)
  where get_byte(uuid_send(c.job), 6) >> 4 = 5 group by c.job
  on conflict (workspace_id, job_id) do update set attempt = greatest(a.attempt, excluded.attempt);
  delete from usage_part p using unnest(jobs, attempts) c(job, attempt)
  where p.workspace_id = p_ws and p.job_id = c.job and p.attempt = c.attempt;
  delete from usage_failure f using unnest(jobs, attempts) c(job, attempt)
  where f.workspace_id = p_ws and f.job_id = c.job and f.attempt = c.attempt;
  delete from usage_record r using unnest(jobs, attempts) c(job, attempt)
  where r.workspace_id = p_ws and r.job_id = c.job and r.attempt = c.attempt;
  get diagnostics found_n = row_count;
  if found_n <> cardinality(jobs) then raise exception 'usage records changed while they were archived'; end if;
  return query select unnest(lines);
end $$;

-- Returns hours since p_since whose sums differ from their usage records, up to p_until, the beginning of an hour, or to the border.
create function audit_usage(p_since timestamptz, p_until timestamptz) returns table (workspace_id uuid, fault text, expected text, found text) language sql stable as $$
  -- The joins are lateral, so that each workspace takes an index search, regardless of the number of hours.
  with span as (
    select b.workspace_id, date_trunc('hour', p_since, 'UTC') as since, least(r.until, p_until) as until
    from balance b cross join usage_rollup r
  ), summed as (
    select s.workspace_id, h.* from span s cross join lateral (
      select h.hour, sum(h.settled) as settled, sum(h.calls) as calls, sum(h.tokens) as tokens
      from usage_hour h
      where h.workspace_id = s.workspace_id and h.hour >= s.since and h.hour < p_until
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
  where (s.settled, s.calls, s.tokens) is distinct from (r.settled, r.calls, r.tokens)
  union all
  select workspace_id, 'sums of an hour by label are not those of its usage records',
         format('%s of %s: %s nano-credits, %s calls, %s tokens', label, hour, coalesce(r.settled, 0), coalesce(r.calls, 0), coalesce(r.tokens, 0)),
         format('%s nano-credits, %s calls, %s tokens', coalesce(s.settled, 0), coalesce(s.calls, 0), coalesce(s.tokens, 0))
  from (
    select s.workspace_id, h.* from span s cross join lateral (
      select h.label, h.hour, sum(h.settled) as settled, sum(h.calls) as calls, sum(h.tokens) as tokens
      from usage_label_hour h
      where h.workspace_id = s.workspace_id and h.hour >= s.since and h.hour < p_until
      group by 1, 2) h
  ) s full join (
    select s.workspace_id, r.* from span s cross join lateral (
      select l.key as label, date_trunc('hour', u.ended_at, 'UTC') as hour, sum(u.settled) as settled, count(*) as calls, sum(u.tokens) as tokens
      from usage_record u cross join lateral jsonb_each_text(u.labels) l
      where u.workspace_id = s.workspace_id and u.ended_at >= s.since and u.ended_at < s.until
      group by 1, 2) r
  ) r using (workspace_id, label, hour)
  where (s.settled, s.calls, s.tokens) is distinct from (r.settled, r.calls, r.tokens);
$$;

-- Returns days with a fault: the day differs from the sum of its hours, or its sums by model, key or label value differ from the day.
create function audit_usage_days() returns table (workspace_id uuid, fault text, expected text, found text) language sql stable as $$
  with of_day as materialized (
    select d.workspace_id, '' as label, d.day, sum(d.settled) as settled, sum(d.calls) as calls, sum(d.tokens) as tokens
    from usage_by_day d group by 1, 3
    union all
    select d.workspace_id, d.label || ' of ', d.day, sum(d.settled), sum(d.calls), sum(d.tokens) from usage_label_by_day d group by 1, 2, 3
  )
  select workspace_id, 'sums of a day are not those of its hours',
         format('%s%s: %s nano-credits, %s calls, %s tokens', label, day, coalesce(h.settled, 0), coalesce(h.calls, 0), coalesce(h.tokens, 0)),
         format('%s nano-credits, %s calls, %s tokens', coalesce(d.settled, 0), coalesce(d.calls, 0), coalesce(d.tokens, 0))
  from of_day d full join (
    select h.workspace_id, '' as label, date_trunc('day', h.hour, 'UTC') as day, sum(h.settled) as settled, sum(h.calls) as calls,
           sum(h.tokens) as tokens
    from usage_hour h group by 1, 3
    union all
    select h.workspace_id, h.label || ' of ', date_trunc('day', h.hour, 'UTC'), sum(h.settled), sum(h.calls), sum(h.tokens)
    from usage_label_hour h group by 1, 2, 3
  ) h using (workspace_id, label, day)
  where (d.settled, d.calls, d.tokens) is distinct from (h.settled, h.calls, h.tokens)
  union all
  select workspace_id, format('sums of a day by %s are not those of the day', part),
         format('%s%s: %s nano-credits, %s calls, %s tokens', label, day, coalesce(h.settled, 0), coalesce(h.calls, 0), coalesce(h.tokens, 0)),
         format('%s nano-credits, %s calls, %s tokens', coalesce(d.settled, 0), coalesce(d.calls, 0), coalesce(d.tokens, 0))
  from (
    select 'model' as part, m.workspace_id, '' as label, m.day, sum(m.settled) as settled, sum(m.calls) as calls, sum(m.tokens) as tokens
    from usage_model_by_day m group by 2, 4
    union all
    select 'key', k.workspace_id, '', k.day, sum(k.settled), sum(k.calls), sum(k.tokens) from usage_key_by_day k group by 2, 4
    union all
    select 'value', v.workspace_id, v.label || ' of ', v.day, sum(v.settled), sum(v.calls), sum(v.tokens)
    from usage_value_by_day v group by 2, 3, 4
  ) d full join (
    select p.part, o.* from of_day o join (values ('model', true), ('key', true), ('value', false)) p(part, is_total) on p.is_total = (o.label = '')
  ) h using (part, workspace_id, label, day)
  where (d.settled, d.calls, d.tokens) is distinct from (h.settled, h.calls, h.tokens);
$$;

-- Returns differences visible without the history: in open holds, balances, and the current day's tokens. Tokens are compared with the
-- day's calls or, if p_sums is true, with their sum up to the border and the later calls.
create function audit_present(p_sums boolean) returns table (workspace_id uuid, fault text, expected text, found text) language sql stable as $$
  select b.workspace_id, 'held is not the sum of open holds and credit lines', coalesce(h.sum, 0)::text, b.held::text
  from balance b
  left join (select o.workspace_id, sum(o.amount)
             from (select workspace_id, amount from hold where line_id is null
                   union all select workspace_id, amount from credit_line
                   union all select workspace_id, -moved from line_settle) o
             group by 1) h using (workspace_id)
  where b.held <> coalesce(h.sum, 0)
  union all
  select l.workspace_id, 'held of a spend limit is not the sum of its holds', coalesce(h.sum, 0)::text, l.held::text
  from spend_limit l
  left join (select s.id, sum(o.amount) as sum from hold o cross join lateral unnest(spend_subjects(o.key_id, o.scopes)) s(id)
             where o.line_id is null and exists (select from spend_limit where workspace_id = o.workspace_id)
             group by 1) h on h.id = l.id
  where l.held <> coalesce(h.sum, 0)
  union all
  select l.workspace_id, 'more was taken out of a credit line than it has', l.amount::text, s.sum::text
  from credit_line l cross join lateral (select sum(used + moved) from line_settle where line_id = l.id) s
  where s.sum > l.amount
  union all
  select l.workspace_id, 'more was drawn from a credit line than its ingress told', l.most::text, s.sum::text
  from credit_line l cross join lateral (select l.closed + coalesce(sum(drawn), 0)::bigint as sum from line_settle where line_id = l.id) s
  where s.sum > l.most
  union all
  select s.workspace_id, 'settles on a credit line that has ended', '-', s.line_id::text
  from line_settle s where not exists (select from credit_line l where l.id = s.line_id)
  union all
  select o.workspace_id, 'hold open and closed at once', '-', o.job_id::text
  from hold o join usage_record u on u.workspace_id = o.workspace_id and u.job_id = o.job_id and u.attempt = o.attempt
  union all
  select b.workspace_id, 'available balance is negative', '0', (b.amount - b.held)::text from balance b where b.amount < b.held
  union all
  select b.workspace_id, 'daily tokens are not the sum of the day''s calls', (u.sum + coalesce(h.sum, 0))::text, (b.day_tokens + n.sum)::text
  from balance b
  -- A call ends on its day or later; an hour of tolerance covers a clock that was set back.
  cross join lateral (
    select coalesce(sum(r.tokens), 0) + case when p_sums then coalesce((
             select d.tokens from usage_day d where d.workspace_id = b.workspace_id and d.day = b.day), 0) else 0 end as sum
    from usage_record r
    where r.workspace_id = b.workspace_id and r.day = b.day
      and r.ended_at >= case when p_sums then (select until from usage_rollup)
        else least(b.day, (now() at time zone 'utc')::date)::timestamp at time zone 'utc' - interval '1 hour' end) u
  left join (select o.workspace_id, o.day, sum(o.tokens) from hold o group by 1, 2) h on h.workspace_id = b.workspace_id and h.day = b.day
  cross join lateral (
    select coalesce(sum(s.tokens), 0) as sum from line_settle s where s.workspace_id = b.workspace_id and s.day = b.day) n
  where b.day_tokens + n.sum <> u.sum + coalesce(h.sum, 0);
$$;

-- Returns every difference between ledger, holds, balances, usage, sums and checkpoints, since the first entry; no row means exact.
create function audit_ledger() returns table (workspace_id uuid, fault text, expected text, found text) language sql stable as $$
  select f.*
  from balance b
  left join (
    select e.workspace_id, sum(e.amount), sum(-e.amount) filter (where e.kind = 'settle') as spent from (
      select workspace_id, amount, kind from ledger_entry union all select workspace_id, amount, 'settle' from ledger_archive) e
    group by 1) l using (workspace_id)
  cross join lateral audit_balance(b, coalesce(l.sum, 0), coalesce(l.spent, 0)) f
  union all
  select workspace_id, 'checkpoint is not the sum of its entries', format('%s, %s spent', coalesce(l.sum, 0), coalesce(l.spent, 0)),
         format('%s, %s spent', coalesce(c.amount, 0), coalesce(c.spent, 0))
  from ledger_checkpoint c
  full join (
    select e.workspace_id, sum(e.amount), sum(-e.amount) filter (where e.kind = 'settle') as spent from (
      select workspace_id, amount, kind from ledger_entry where id <= (select entry_id from ledger_border)
      union all select workspace_id, amount, 'settle' from ledger_archive) e join balance using (workspace_id)
    group by 1) l using (workspace_id)
  where (coalesce(c.amount, 0), coalesce(c.spent, 0)) <> (coalesce(l.sum, 0), coalesce(l.spent, 0))
  union all
  -- The hourly sums of archived records still exist.
  select b.workspace_id, 'archive is not what its hours came to', (-h.sum)::text, (coalesce(a.amount, 0) - r.sum)::text
  from balance b cross join ledger_border border
  left join ledger_archive a using (workspace_id)
  cross join lateral (
    select coalesce(sum(s.settled), 0) as sum from usage_hour s
    where s.workspace_id = b.workspace_id and s.hour < border.archived_until) h
  cross join lateral (
    select coalesce(sum(u.settled), 0) as sum from usage_record u
    where u.workspace_id = b.workspace_id and u.ended_at < border.archived_until) r
  where -h.sum <> coalesce(a.amount, 0) - r.sum
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
  select * from audit_usage((select archived_until from ledger_border), 'infinity')
  union all
  select * from audit_usage_days()
  union all
  select d.workspace_id, 'sum of a day''s tokens is not that of its usage records', u.sum::text, d.tokens::text
  from usage_day d cross join usage_rollup border
  cross join lateral (
    select coalesce(sum(r.tokens), 0) as sum
    from usage_record r
    where r.workspace_id = d.workspace_id and r.day = d.day and r.ended_at < border.until
      and r.ended_at >= least(d.day, (now() at time zone 'utc')::date)::timestamp at time zone 'utc' - interval '1 hour') u
  where d.tokens <> u.sum
  union all
  select * from audit_present(false);
$$;

-- Audits checkpoints and later entries, and the sums since the last exact audit; closes the period before last. Balances are compared as in
-- the full audit; only the full audit detects a change of an old entry. Must be the first statement of its transaction to write or lock
-- anything.
--
-- With more new entries, one audit is a step: it checks p_max entries and p_step of usage at most, and closes exact periods. Balances are
-- compared by the step after which no more entries remain than its maximum.
--
-- Proof that no entry is missed: a transaction that writes one has locked a row (hold or balance) or taken its number first, so it is
-- numbered before it draws the entry's id. Here the last id drawn is read first and this transaction's number taken after, so each
-- transaction that has drawn an id up to there has a lower number. A later audit closes the period once no transaction with a lower number
-- runs: all of its entries are then committed or will never be, and the audit's own reads, which follow, see them.
create function audit_new_entries(p_max bigint, p_step interval)
returns table (workspace_id uuid, fault text, expected text, found text) language plpgsql
set enable_seqscan = off set plan_cache_mode = force_custom_plan as $$
#variable_conflict use_column
declare
  drawn bigint;
  numbered xid8;
  border ledger_border;
  is_over boolean;
  is_last boolean;
  summed timestamptz;
  -- Ends of the part that is closed if it is exact, and of the part that is checked.
  upto bigint;
  seen_id bigint;
  seen timestamptz;
begin
  if pg_current_xact_id_if_assigned() is not null then
    raise exception 'the audit of new entries needs a transaction of its own';
  end if;
  select case when is_called then last_value else last_value - 1 end into drawn from ledger_entry_id_seq;
  numbered := pg_current_xact_id();
  select * into border from ledger_border for update skip locked;
  -- Another audit is running.
  if border.entry_id is null then return; end if;
  is_over := border.next_xid <= pg_snapshot_xmin(pg_current_snapshot());

  select until into summed from usage_rollup;
  upto := case when is_over then border.next_id else border.entry_id end;
  seen := 'infinity';
  if border.entry_id = 0 then
    -- Everything is new: tables are read completely, as in the full audit.
    perform set_config('enable_seqscan', 'on', true);
    return query select * from audit_ledger();
  else
    is_last := drawn - border.entry_id <= p_max;
    upto := least(upto, border.entry_id + p_max);
    seen_id := case when is_last then 9223372036854775807 else upto end;
    seen := date_trunc('hour', border.usage_until, 'UTC') + p_step;
    if seen >= summed then seen := 'infinity'; end if;
    return query
      select b.workspace_id, 'usage record without its settle', u.settled::text, coalesce((-e.amount)::text, 'none')
      from balance b
      -- Offset 0 keeps the planner from reading the whole table for all workspaces at once, and from joining all records of a workspace
      -- with all of its new entries.
      cross join lateral (
        select r.job_id, r.attempt, r.settled from usage_record r
        where r.workspace_id = b.workspace_id and r.ended_at >= border.usage_until and r.ended_at < seen offset 0) u
      left join lateral (
        select s.id, s.amount from ledger_entry s
        where s.workspace_id = b.workspace_id and s.source_id = u.job_id and s.attempt = u.attempt and s.kind = 'settle' offset 0) e on true
      where (u.settled <> 0 and e.id is null) or (e.id is not null and -e.amount <> u.settled)
      union all
      select b.workspace_id, 'settle without a usage record', '-', e.source_id::text
      from balance b
      cross join lateral (
        select s.source_id, s.attempt from ledger_entry s
        where s.workspace_id = b.workspace_id and s.id > border.entry_id and s.id <= seen_id and s.kind = 'settle' offset 0) e
      where not exists (
        select from usage_record u where u.workspace_id = b.workspace_id and u.job_id = e.source_id and u.attempt = e.attempt offset 0)
      union all
      select * from audit_usage(border.usage_until, seen)
      union all
      select f.*
      from balance b left join ledger_checkpoint c using (workspace_id)
      cross join lateral (
        select coalesce(sum(e.amount), 0) as sum, coalesce(sum(-e.amount) filter (where e.kind = 'settle'), 0) as spent
        from ledger_entry e
        where e.workspace_id = b.workspace_id and e.id > border.entry_id and e.id <= seen_id) l
      cross join lateral audit_balance(b, coalesce(c.amount, 0) + l.sum, coalesce(c.spent, 0) + l.spent) f
      where is_last
      union all
      select * from audit_present(true) where is_last;
  end if;
  -- A period with a difference stays open, so that each audit reports the difference until it is fixed.
  if found then return; end if;

  if upto > border.entry_id then
    with summed as materialized (
      select e.workspace_id, sum(e.amount) as amount, sum(-e.amount) filter (where e.kind = 'settle') as spent, min(e.at) as first_at,
             max(e.at) as last_at
      from ledger_entry e join balance using (workspace_id)
      where border.entry_id = 0 and e.id <= upto
      group by 1
      union all
      select b.workspace_id, l.*
      from balance b
      cross join lateral (
        select sum(e.amount) as amount, sum(-e.amount) filter (where e.kind = 'settle') as spent, min(e.at), max(e.at) from ledger_entry e
        where e.workspace_id = b.workspace_id and e.id > border.entry_id and e.id <= upto) l
      where border.entry_id > 0 and l.amount is not null
    ), spanned as (
      insert into ledger_span as s (last_id, first_at, last_at)
      select upto, min(first_at), max(last_at) from summed having count(*) > 0
      on conflict (last_id) do update set first_at = excluded.first_at, last_at = excluded.last_at
    )
    insert into ledger_checkpoint as c (workspace_id, amount, spent)
    select workspace_id, amount, coalesce(spent, 0) from summed
    on conflict (workspace_id) do update set amount = c.amount + excluded.amount, spent = c.spent + excluded.spent;
  end if;
  update ledger_border set entry_id = upto, usage_until = least(seen, summed);
  -- The remainder of an ended period belongs to the next step.
  if is_over and upto < border.next_id then return; end if;
  -- A number that was not assigned yet comes from the server that this database was restored from, and has no meaning here.
  if not is_over and border.next_xid <= numbered then return; end if;
  update ledger_border set next_id = greatest(drawn, border.next_id), next_xid = numbered;
end $$;

-- Returns workspaces whose count differs from the sum of their files, runs, definitions, batch lines, responses and conversations, all read
-- in one snapshot.
create function audit_storage() returns table (workspace_id uuid, fault text, expected text, found text) language plpgsql stable as $$
#variable_conflict use_column
begin
  return query
  with stored as (
    select f.workspace_id, sum(f.bytes) filter (where f.state = 'ready') as used, sum(f.bytes) filter (where f.state = 'uploading') as reserved,
      count(*) filter (where f.state = 'ready') as files
    from file f where f.state in ('ready', 'uploading') group by 1
    union all
    select r.workspace_id, sum(storage_blocks(r.stored_bytes)), 0, 0 from run r group by 1
    union all
    select w.workspace_id, sum(v.bytes), 0, 0 from workflow w join workflow_version v on v.workflow_id = w.id group by 1
    union all
    select b.workspace_id, sum(b.stored_bytes), 0, 0 from batch b group by 1
    union all
    select r.workspace_id, sum(response_storage(r.bytes)), 0, 0 from response r group by 1
    union all
    select c.workspace_id, sum(conversation_storage(c.bytes)), 0, 0 from conversation c group by 1
  ), wanted as (
    select s.workspace_id, sum(coalesce(s.used, 0)) as used, sum(coalesce(s.reserved, 0)) as reserved, sum(s.files) as files
    from stored s group by 1
  ), told as (
    select coalesce(w.workspace_id, s.workspace_id) as workspace_id,
      format('%s used, %s reserved, %s files', coalesce(w.used, 0), coalesce(w.reserved, 0), coalesce(w.files, 0)) as expected,
      format('%s used, %s reserved, %s files', coalesce(s.used, 0), coalesce(s.reserved, 0), coalesce(s.files, 0)) as found
    from wanted w full join file_storage s on s.workspace_id = w.workspace_id
  )
  select t.workspace_id, 'what is stored is not what is counted', t.expected, t.found from told t where t.expected <> t.found;
end $$;
