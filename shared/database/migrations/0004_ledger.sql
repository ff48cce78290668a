-- The ledger: charges of calls, top-ups and corrections. Admission places holds, as does redrive_job for a job that is run again; all other
-- changes of a balance are here. Idempotent by (workspace_id, job_id, attempt): a hold is closed once, and later calls return null. Every
-- key begins with the workspace, so that the tables can be partitioned by it. Amounts are bigint nano-credits. Locks are taken in the order
-- of admission: credit line, then hold, then balance.

-- The allowed values of a column are a domain in tables that each call, job or step writes: Postgres parses a table's check in each
-- statement (11 µs), and a domain's once per session.
create domain ledger_kind as text constraint ledger_kind check (value in ('settle', 'top_up', 'correction'));
create domain usage_status as text constraint usage_status check (value in ('succeeded', 'failed', 'cancelled', 'lost'));

create table ledger_entry (
  id bigint generated always as identity,
  workspace_id uuid not null,
  kind ledger_kind not null,
  amount bigint not null,
  source_id uuid not null,
  attempt smallint not null default 0,
  note text,
  at timestamptz not null default now(),
  primary key (workspace_id, id),
  constraint ledger_once unique (workspace_id, source_id, attempt, kind)
);
-- These entries are few among many settlements.
create index ledger_entry_by_hand on ledger_entry (workspace_id, id) where kind <> 'settle';

-- Microseconds since 1970. No usage record ends before this, even after clock changes, so sums up to this time stay complete. Sequences are
-- not transactional: each reader gets the last value. See roll_up_usage.
create sequence usage_floor minvalue 0 start 0;
select setval('usage_floor', (extract(epoch from clock_timestamp()) * 1e6)::bigint);

-- One row per closed hold, and per settled call on a credit line. The job_id of a call over HTTP is its x-request-id.
create table usage_record (
  job_id uuid not null,
  attempt smallint not null,
  workspace_id uuid not null,
  key_id uuid not null,
  model text not null,
  source text,
  status usage_status not null,
  units jsonb not null,
  is_estimated boolean not null,
  held bigint not null,
  settled bigint not null,
  uncollected bigint not null,
  day date not null,
  tokens bigint not null,
  started_at timestamptz not null,
  ended_at timestamptz not null default greatest(clock_timestamp(), to_timestamp(pg_sequence_last_value('usage_floor') / 1e6)),
  -- Further subjects whose limits applied to the call, and labels of the call: as in its hold.
  scopes uuid[],
  labels jsonb,
  -- Kind of the call; `messages` or `responses` for a chat call in these formats. Null if the process that closed the hold does not know it.
  kind text,
  -- Milliseconds from the start of the call to its last request to a provider, and to the first part of a streamed response.
  asked_ms int,
  first_ms int,
  -- Failed attempts before the attempt that succeeded, as in usage_failure; null without any.
  tries jsonb,
  primary key (workspace_id, job_id, attempt)
);
create index usage_record_workspace on usage_record (workspace_id, ended_at);
create index usage_record_key on usage_record (workspace_id, key_id, ended_at);
-- Records are inserted nearly in the order of this column.
create index usage_record_ended on usage_record using brin (ended_at) with (pages_per_range = 8, autosummarize = on);

-- The last attempt of calls with archived records, whose ids may be used again: ids derived from a name (version 5).
create table archived_attempt (
  workspace_id uuid not null,
  job_id uuid not null,
  attempt smallint not null,
  primary key (workspace_id, job_id)
);

-- Earlier models of a continued stream, one row for each before the last. The call's single usage record names the hold's last model and
-- contains the sum. Written when the hold changes, so that the row exists when any process closes the hold.
create table usage_part (
  workspace_id uuid not null,
  job_id uuid not null,
  attempt smallint not null,
  -- 1 for the model that began the stream.
  part smallint not null,
  model text not null,
  -- provider/model.
  source text not null,
  units jsonb not null,
  is_estimated boolean not null,
  -- Share of the amount in the usage record.
  amount bigint not null check (amount >= 0),
  -- Class of the failure that interrupted its part.
  fault text not null,
  primary key (workspace_id, job_id, attempt, part)
);

-- Reason of a failed call, one row for its usage record. Successful calls have none.
create table usage_failure (
  workspace_id uuid not null,
  job_id uuid not null,
  attempt smallint not null,
  -- Error code that the caller received.
  code text not null,
  -- Failed attempts at sources, in order: source, class of the error, HTTP status of the provider, start, duration in milliseconds.
  tries jsonb not null,
  -- Error text of the last provider called, redacted and encrypted. Deleted after seven days.
  text text,
  at timestamptz not null default now(),
  primary key (workspace_id, job_id, attempt)
);
create index usage_failure_text on usage_failure (at) where text is not null;

-- Progress of a stream relayed by an ingress: the basis of the charge if the worker crashes.
create table relay_progress (
  workspace_id uuid not null,
  job_id uuid not null,
  amount bigint not null,
  tokens bigint not null,
  units jsonb not null,
  at timestamptz not null default now(),
  primary key (workspace_id, job_id)
);
create index relay_progress_at on relay_progress (at);

-- Holds that could not be settled at actual usage, for operators.
create table settle_fault (
  id bigint generated always as identity primary key,
  workspace_id uuid not null,
  job_id uuid not null,
  attempt smallint not null,
  -- usage_record, ledger_entry: the call was already settled under this id. Else the SQLSTATE that rejected its figures.
  fault text not null,
  status text,
  source text,
  held bigint not null,
  -- Amount to charge; null for a release. Rejected figures may be any number.
  used numeric,
  -- Amount in the books under this id, now or from before.
  settled bigint not null,
  at timestamptz not null default clock_timestamp(),
  resolved_at timestamptz
);
create index settle_fault_open on settle_fault (id) where resolved_at is null;
create index settle_fault_resolved on settle_fault (resolved_at) where resolved_at is not null;

-- Returns the milliseconds from p_start to a time in Unix milliseconds, which another clock may have measured; null for null.
create function ms_after(p_start timestamptz, p_ms bigint) returns int language sql immutable parallel safe as $$
  select case when p_ms is not null then least(greatest(p_ms - extract(epoch from p_start) * 1000, 0), 2147483647)::int end
$$;

-- Closes the holds of grouped calls. p_used null releases. Returns per call: the charged amount, null if it was closed before, -1 if it is
-- busy (locked elsewhere, or credit lines with more credits are being reclaimed; nothing done). A settlement charges the usage, at most the
-- hold; a call that may exceed its hold is also charged from the available balance, in the given order. The rest is uncollected. No figure
-- ever credits a caller: negative ones count as 0. An existing id raises 23505, and the calls of the group are repeated one by one.
-- p_wait_ms: null skips locked rows; otherwise the wait for each balance (SQLSTATE 55P03). p_late: locks the balances with the last write
-- only (see admit_calls). A call that exceeds its hold needs the lock to read the available balance: then nothing is done, and SQLSTATE
-- SL001 requests a repeat without p_late. p_course: members `kind`, `asked_ms`, `first_ms` and `tries` of the usage record, with times in Unix
-- milliseconds.
create function settle_calls(
  p_ws uuid[], p_job uuid[], p_attempt smallint[], p_used bigint[], p_status text[], p_source text[], p_units jsonb[],
  p_estimated boolean[], p_tokens bigint[], p_wait_ms int, p_late boolean default false, p_course jsonb[] default null
) returns bigint[] language plpgsql set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
  result bigint[] := array_fill(null::bigint, array[cardinality(p_job)]);
  -- One element for each hold found, in the order of the calls; takes is null if the workspace is locked.
  places tid[]; calls int[]; owners uuid[]; keys uuid[]; models text[]; holds bigint[]; exceeds boolean[];
  hold_days date[]; reserved bigint[]; starts timestamptz[]; takes bigint[];
  scopes text[]; labels jsonb[]; beyond bigint := 0; limit_left bigint;
  -- One element for each workspace: its available amount and the day to which its tokens count, then the changes by the calls.
  wss uuid[]; free bigint[]; days date[]; paid bigint[]; released bigint[]; tokens bigint[];
  cur uuid;
  w int;
  used bigint;
  at_utc timestamptz;
  today date;
  open boolean[];
begin
  select array_agg(c.place), array_agg(c.n), array_agg(c.workspace_id), array_agg(c.key_id), array_agg(c.model),
         array_agg(c.amount), array_agg(c.may_exceed), array_agg(c.day), array_agg(c.tokens), array_agg(c.created_at),
         array_agg(c.scopes::text), array_agg(c.labels)
  into places, calls, owners, keys, models, holds, exceeds, hold_days, reserved, starts, scopes, labels
  from (
    -- Lateral, because it locks: one look-up by key for each call, regardless of the planner's estimate. If a job is in the group twice,
    -- the first occurrence settles it; the second finds it closed, or busy if its attempt differs.
    select g.n, h.* from unnest(p_ws, p_job, p_attempt) with ordinality g(ws, job, attempt, n)
    cross join lateral (
      select ctid as place, * from hold o
      where o.workspace_id = g.ws and o.job_id = g.job and o.attempt = g.attempt and o.line_id is null
      for update skip locked) h
    where array_position(p_job, g.job) = g.n
    order by g.n) c;

  if calls is not null then
    if p_wait_ms is null then
      select array_agg(s.workspace_id), array_agg(s.amount - s.held), array_agg(s.day) into wss, free, days
      from (select * from balance where workspace_id = any (owners) order by workspace_id for update skip locked) s;
    else
      perform set_config('lock_timeout', p_wait_ms::text, true);
      if p_late then
        select array_agg(s.workspace_id), array_agg(s.amount - s.held), array_agg(s.day) into wss, free, days
        from (select * from balance where workspace_id = any (owners) order by workspace_id) s;
      else
        select array_agg(s.workspace_id), array_agg(s.amount - s.held), array_agg(s.day) into wss, free, days
        from (select * from balance where workspace_id = any (owners) order by workspace_id for update) s;
      end if;
    end if;
  end if;

  if wss is not null then
    today := (clock_timestamp() at time zone 'utc')::date;
    for i in 1 .. cardinality(wss) loop
      if days[i] < today then
        if p_late then raise exception 'the day has turned' using errcode = 'SL001'; end if;
        perform begin_day(wss[i], today);
        days[i] := today;
      end if;
    end loop;
    takes := array_fill(null::bigint, array[cardinality(calls)]);
    paid := array_fill(0::bigint, array[cardinality(wss)]);
    tokens := paid;
    released := paid;
    for i in 1 .. cardinality(calls) loop
      if cur is distinct from owners[i] then
        cur := owners[i];
        w := array_position(wss, cur);
      end if;
      if w is null then
        places[i] := null;
        continue;
      end if;
      used := coalesce(greatest(p_used[calls[i]], 0), 0);
      if used > holds[i] then
        if not exceeds[i] then used := holds[i];
        elsif p_late then raise exception 'more than the hold is taken' using errcode = 'SL001';
        elsif used > holds[i] + free[w] and lines_to_recall(cur) > 0 then
          free[w] := free[w] - (select b.amount - b.held from balance b where b.workspace_id = cur);
          perform recall_credit_lines(cur, 0);
          -- Credits of overdue lines return immediately.
          free[w] := free[w] + (select b.amount - b.held from balance b where b.workspace_id = cur);
          -- Busy until its workspace's lines are reclaimed.
          places[i] := null;
          continue;
        else
          -- Earlier calls of the group that exceed their holds count for each limit, whether it is theirs or not.
          limit_left := spend_left_for(cur, keys[i], scopes[i]::uuid[], days[w]) - beyond;
          used := least(used, holds[i] + greatest(least(free[w], limit_left), 0));
          beyond := beyond + greatest(used - holds[i], 0);
        end if;
      end if;
      takes[i] := used;
      free[w] := free[w] + holds[i] - used;
      paid[w] := paid[w] + used;
      released[w] := released[w] + holds[i];
      if hold_days[i] = days[w] then tokens[w] := tokens[w] + greatest(p_tokens[calls[i]], 0) - reserved[i]; end if;
      result[calls[i]] := used;
    end loop;

    at_utc := greatest(clock_timestamp(), to_timestamp(pg_sequence_last_value('usage_floor') / 1e6));
    insert into ledger_entry (workspace_id, kind, amount, source_id, attempt)
    select owners[c.i], 'settle', -takes[c.i], p_job[c.n], p_attempt[c.n]
    from unnest(calls) with ordinality c(n, i)
    where takes[c.i] is not null and p_used[c.n] is not null;
    insert into usage_record (job_id, attempt, workspace_id, key_id, model, source, status, units, is_estimated, held,
                              settled, uncollected, day, tokens, started_at, ended_at, scopes, labels, kind, asked_ms, first_ms, tries)
    select p_job[c.n], p_attempt[c.n], owners[c.i], keys[c.i], models[c.i], p_source[c.n], p_status[c.n], p_units[c.n],
           p_estimated[c.n], holds[c.i], takes[c.i], coalesce(greatest(p_used[c.n], 0), 0) - takes[c.i], hold_days[c.i],
           greatest(p_tokens[c.n], 0), starts[c.i], at_utc, scopes[c.i]::uuid[], labels[c.i],
           p_course[c.n]->>'kind', ms_after(starts[c.i], (p_course[c.n]->>'asked_ms')::bigint),
           ms_after(starts[c.i], (p_course[c.n]->>'first_ms')::bigint), p_course[c.n]->'tries'
    from unnest(calls) with ordinality c(n, i)
    where takes[c.i] is not null;
    if array_position(p_used, null) is not null then
      perform fail_responses(array_agg(p_job[c.n])) from unnest(calls) with ordinality c(n, i)
      where takes[c.i] is not null and p_used[c.n] is null;
    end if;
    -- These writes are last, so that with p_late their locks last little longer than the commit. An admission with the id of a hold that is
    -- not deleted for good would wait for us with its balance locked: so holds are deleted after we have that lock.
    if p_late then
      perform 1 from (select from balance where workspace_id = any (wss) order by workspace_id for update) s;
    end if;
    if exists (select from spend_limit where workspace_id = any (wss)) then
      update spend_limit l set held = l.held - g.held, spent = l.spent + g.paid, day = greatest(l.day, g.day),
        bases = (spend_bases(l, g.day))[1:3],
        look_at = case when l.day < g.day and l.warn_at <> '{}' then 0 else l.look_at end
      from (select s.id, sum(holds[c.i])::bigint as held, sum(takes[c.i])::bigint as paid, max(days[array_position(wss, owners[c.i])]) as day
            from generate_subscripts(calls, 1) c(i) cross join lateral unnest(spend_subjects(keys[c.i], scopes[c.i]::uuid[])) s(id)
            where takes[c.i] is not null
            group by 1) g
      where l.id = g.id;
    end if;
    delete from hold where ctid = any (places);
    update balance b set amount = b.amount - paid[g.i], spent = b.spent + paid[g.i], held = b.held - released[g.i],
      day_tokens = b.day_tokens + case when b.day = days[g.i] then tokens[g.i] else 0 end
    from unnest(wss) with ordinality g(ws, i)
    where b.workspace_id = g.ws;
  end if;

  if array_position(result, null) is not null then
    select array_agg(
      exists (select from hold h where h.workspace_id = c.ws and h.job_id = c.job and h.attempt = c.attempt) order by c.n) into open
    from unnest(p_ws, p_job, p_attempt) with ordinality c(ws, job, attempt, n);
    for i in 1 .. cardinality(p_job) loop
      if open[i] then result[i] := -1; end if;
    end loop;
  end if;
  return result;
end $$;

-- Makes the same steps for a single call, which waits for its balance like admit_call. Closes the hold in any case: if a settlement exists
-- already under its id, nothing is charged again, the hold is released, and a fault is recorded.
create function settle_call(
  p_ws uuid, p_job uuid, p_attempt smallint, p_used bigint, p_status text, p_source text, p_units jsonb, p_estimated boolean, p_tokens bigint,
  p_course jsonb default null
) returns bigint language plpgsql set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
  h hold;
  b balance;
  take bigint;
  today date;
  fault text;
  earlier bigint;
begin
  if 4 = (select place_lined_hold(o.workspace_id, o.line_id, o.job_id, o.key_id, o.model, o.amount, o.may_exceed, 60000)
          from hold o where o.workspace_id = p_ws and o.job_id = p_job and o.attempt = p_attempt and o.line_id is not null)
  then
    return -1;
  end if;
  select * into h from hold where workspace_id = p_ws and job_id = p_job and attempt = p_attempt for update skip locked;
  if not found then
    return case when exists (select from hold where workspace_id = p_ws and job_id = p_job and attempt = p_attempt) then -1 end;
  end if;
  select * into b from balance where workspace_id = p_ws for update;
  today := (clock_timestamp() at time zone 'utc')::date;
  if b.day < today then b := begin_day(p_ws, today); end if;
  if h.may_exceed and p_used - h.amount > b.amount - b.held and lines_to_recall(p_ws) > 0 then
    perform recall_credit_lines(p_ws, 0);
    return -1;
  end if;
  take := least(coalesce(greatest(p_used, 0), 0), h.amount + case
    when not h.may_exceed then 0
    when b.has_limits then greatest(least(b.amount - b.held, spend_left_for(p_ws, h.key_id, h.scopes, b.day)), 0)
    else b.amount - b.held end);
  insert into usage_record (job_id, attempt, workspace_id, key_id, model, source, status, units, is_estimated, held,
                            settled, uncollected, day, tokens, started_at, scopes, labels, kind, asked_ms, first_ms, tries)
  values (p_job, p_attempt, p_ws, h.key_id, h.model, p_source, p_status, p_units, p_estimated, h.amount,
          take, coalesce(greatest(p_used, 0), 0) - take, h.day, greatest(p_tokens, 0), h.created_at, h.scopes, h.labels,
          p_course->>'kind', ms_after(h.created_at, (p_course->>'asked_ms')::bigint), ms_after(h.created_at, (p_course->>'first_ms')::bigint),
          p_course->'tries')
  on conflict (workspace_id, job_id, attempt) do nothing;
  if not found then
    fault := 'usage_record';
  elsif p_used is not null then
    insert into ledger_entry (workspace_id, kind, amount, source_id, attempt) values (p_ws, 'settle', -take, p_job, p_attempt)
    on conflict on constraint ledger_once do nothing;
    if not found then fault := 'ledger_entry'; end if;
  end if;
  if fault is not null then
    take := 0;
    if fault = 'usage_record' then
      p_tokens := 0;
      select settled into earlier from usage_record where workspace_id = p_ws and job_id = p_job and attempt = p_attempt;
    else
      select -amount into earlier from ledger_entry where workspace_id = p_ws and source_id = p_job and attempt = p_attempt and kind = 'settle';
      update usage_record set settled = earlier, uncollected = greatest(coalesce(p_used, 0) - earlier, 0)
      where workspace_id = p_ws and job_id = p_job and attempt = p_attempt;
    end if;
    insert into settle_fault (workspace_id, job_id, attempt, fault, status, source, held, used, settled)
    values (p_ws, p_job, p_attempt, fault, p_status, p_source, h.amount, p_used, earlier);
  end if;
  if b.has_limits then perform count_spend(p_ws, h.key_id, h.scopes, -h.amount, take, b.day); end if;
  delete from hold where workspace_id = p_ws and job_id = p_job and attempt = p_attempt;
  if p_used is null then perform fail_responses(array[p_job]); end if;
  update balance set amount = b.amount - take, spent = b.spent + take, held = b.held - h.amount,
    day_tokens = b.day_tokens + case when h.day = b.day then greatest(p_tokens, 0) - h.tokens else 0 end
  where workspace_id = p_ws;
  return take;
end $$;

-- Releases the hold of a call whose figures were rejected with the SQLSTATE p_fault, and records the fault. Returns the result of
-- settle_call.
create function refuse_settle(p_ws uuid, p_job uuid, p_attempt smallint, p_used numeric, p_fault text) returns bigint language plpgsql as $$
declare
  was_held bigint;
  taken bigint;
begin
  select amount into was_held from hold where workspace_id = p_ws and job_id = p_job and attempt = p_attempt;
  taken := settle_call(p_ws, p_job, p_attempt, null, 'failed', null, '{}', false, 0);
  if taken = 0 then
    insert into settle_fault (workspace_id, job_id, attempt, fault, held, used, settled)
    values (p_ws, p_job, p_attempt, p_fault, was_held, p_used, 0);
  end if;
  return taken;
end $$;

-- Charges a response that was delivered after its hold had been closed for less: at most the held amount, and what is available now; the
-- rest is uncollected. Written once, as the next attempt in ledger and usage. taken: total nano-credits, -1 while credit lines with more
-- credits are being reclaimed; late: the amount charged now.
create function settle_delivered(
  p_ws uuid, p_job uuid, p_attempt smallint, p_used bigint, p_source text, p_units jsonb, p_estimated boolean, p_tokens bigint,
  out taken bigint, out late bigint
) language plpgsql set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
  b balance;
  r usage_record;
  today date := (clock_timestamp() at time zone 'utc')::date;
  more bigint;
  more_tokens bigint;
begin
  late := 0;
  select * into b from balance where workspace_id = p_ws for update;
  if b.day < today then b := begin_day(p_ws, today); end if;
  select * into r from usage_record where workspace_id = p_ws and job_id = p_job and attempt = p_attempt;
  taken := coalesce(r.settled, 0);
  if r.settled is null or least(coalesce(p_used, 0), r.held) <= r.settled then return; end if;
  select settled into more from usage_record where workspace_id = p_ws and job_id = p_job and attempt = p_attempt + 1;
  if not found then
    if least(p_used, r.held) - r.settled > b.amount - b.held and lines_to_recall(p_ws) > 0 then
      perform recall_credit_lines(p_ws, 0);
      taken := -1;
      return;
    end if;
    more := greatest(0, least(p_used - r.settled, r.held - r.settled, b.amount - b.held,
                              case when b.has_limits then spend_left_for(p_ws, r.key_id, r.scopes, b.day) end));
    more_tokens := greatest(p_tokens - r.tokens, 0);
    insert into usage_record (job_id, attempt, workspace_id, key_id, model, source, status, units, is_estimated, held, settled, uncollected,
                              day, tokens, started_at, scopes, labels, kind)
    values (p_job, p_attempt + 1, p_ws, r.key_id, r.model, p_source, 'succeeded', p_units, p_estimated, 0, more, p_used - r.settled - more,
            b.day, more_tokens, r.started_at, r.scopes, r.labels, r.kind);
    if b.has_limits then perform count_spend(p_ws, r.key_id, r.scopes, 0, more, b.day); end if;
    insert into ledger_entry (workspace_id, kind, amount, source_id, attempt) values (p_ws, 'settle', -more, p_job, p_attempt + 1);
    update balance set amount = b.amount - more, spent = b.spent + more, day_tokens = b.day_tokens + more_tokens where workspace_id = p_ws;
    late := more;
    update response set status = answered where id = p_job and status = 'failed' and answered is not null and not is_background;
  end if;
  taken := r.settled + more;
end $$;

-- Replaces the held price with another model's, in place: the process that closes the hold finds it under the same job and attempt, and its
-- current content goes into the usage record. Idempotent. Returns 0 = the hold has these values now, 1 = balance or a limit too low, nothing changed,
-- 3 = closed, 4 = busy (locked elsewhere, or the workspace's credit lines are being reclaimed, nothing changed). p_wait_ms: wait for the
-- balance (SQLSTATE 55P03 after it); null uses the session's timeout. Reserved tokens are updated too, but the daily cap is not checked
-- again: the call was admitted under it.
create function adjust_hold(
  p_ws uuid, p_job uuid, p_attempt smallint, p_model text, p_amount bigint, p_exceed boolean, p_tokens bigint, p_wait_ms int default null
) returns smallint language plpgsql set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
  h hold;
  b balance;
  reserved bigint;
  -- The balance may not have begun the day yet.
  today date := (clock_timestamp() at time zone 'utc')::date;
begin
  select * into h from hold where workspace_id = p_ws and job_id = p_job and attempt = p_attempt for update skip locked;
  if not found then
    return case when exists (select from hold where workspace_id = p_ws and job_id = p_job and attempt = p_attempt) then 4 else 3 end;
  end if;
  -- A call under a cap reserves at least 1, because 0 means no cap.
  reserved := case when h.tokens = 0 then 0 else greatest(p_tokens, 1) end;
  if p_amount <> h.amount or reserved <> h.tokens then
    if p_wait_ms is not null then perform set_config('lock_timeout', p_wait_ms::text, true); end if;
    select * into b from balance where workspace_id = p_ws for update;
    if b.has_limits and p_amount > h.amount and p_amount - h.amount > spend_left_for(p_ws, h.key_id, h.scopes, greatest(b.day, today)) then return 1; end if;
    if p_amount - h.amount > b.amount - b.held then
      return case when recall_credit_lines(p_ws, p_amount - h.amount) >= p_amount - h.amount then 4 else 1 end;
    end if;
    if b.has_limits then perform count_spend(p_ws, h.key_id, h.scopes, p_amount - h.amount, 0, greatest(b.day, today)); end if;
    update balance set held = b.held + p_amount - h.amount,
      day_tokens = b.day_tokens + case when h.day = b.day then reserved - h.tokens else 0 end
    where workspace_id = p_ws;
  end if;
  if (p_model, p_amount, p_exceed, reserved) is distinct from (h.model, h.amount, h.may_exceed, h.tokens) then
    update hold set model = p_model, amount = p_amount, may_exceed = p_exceed, tokens = reserved
    where workspace_id = p_ws and job_id = p_job and attempt = p_attempt;
  end if;
  return 0;
end $$;

-- Does the work of adjust_hold and writes the parts so far, once. Returns the result of adjust_hold.
create function continue_hold(
  p_ws uuid, p_job uuid, p_attempt smallint, p_model text, p_amount bigint, p_exceed boolean, p_tokens bigint, p_wait_ms int, p_parts jsonb
) returns smallint language plpgsql as $$
declare
  verdict smallint := adjust_hold(p_ws, p_job, p_attempt, p_model, p_amount, p_exceed, p_tokens, p_wait_ms);
begin
  if verdict = 0 then
    insert into usage_part (workspace_id, job_id, attempt, part, model, source, units, is_estimated, amount, fault)
    select p_ws, p_job, p_attempt, p.part, p.value ->> 'model', p.value ->> 'source', p.value -> 'units',
           (p.value ->> 'is_estimated')::boolean, (p.value ->> 'amount')::bigint, p.value ->> 'fault'
    from jsonb_array_elements(p_parts) with ordinality p(value, part)
    on conflict do nothing;
  end if;
  return verdict;
end $$;

-- Credits of a busy workspace set aside for an ingress, which admits calls on them without the database and settles them against the line.
-- A line is part of the balance's `held` until the ingress gives it back or stops renewing it. Rows change under the lock on their balance
-- only.
create table credit_line (
  id uuid primary key,
  workspace_id uuid not null,
  -- Credits drawn by calls whose settlement is not booked yet, plus free credits.
  amount bigint not null default 0 constraint line_amount_not_negative check (amount >= 0),
  -- Total drawn by calls that are settled and booked, since the line was opened.
  closed bigint not null default 0,
  -- Part of the amount that no call had drawn at the last renewal.
  free bigint not null default 0,
  -- Calls on the line counted in lined_calls.
  calls bigint not null default 0,
  -- Maximum total that its calls draw before the next renewal, since the line was opened; enforced by its ingress.
  most bigint not null default 0,
  -- Number of its last renewal by its ingress: a renewal that arrives after a later one does nothing.
  turn bigint not null default 0,
  renewed_at timestamptz not null default clock_timestamp(),
  ends_at timestamptz not null,
  -- Time of the request to give it back, because the workspace needs the credits elsewhere.
  recalled_at timestamptz
);
create index credit_line_workspace on credit_line (workspace_id);

-- Settlements on lines that their balances have not booked yet. Rows are only inserted, so that no settlement waits for another.
create table line_settle (
  line_id uuid not null,
  workspace_id uuid not null,
  -- Of the calls: the drawn amount, the charged amount, and the amount that became separate holds.
  drawn bigint not null,
  used bigint not null,
  moved bigint not null,
  -- UTC day to which their tokens count.
  day date not null,
  tokens bigint not null
) with (autovacuum_vacuum_scale_factor = 0.01);
create index line_settle_workspace on line_settle (workspace_id);

-- Id of a line's lock: settlements on the line share it; placing or ending a hold for one of its calls takes it exclusively. It precedes
-- row locks.
create function line_lock(p_line uuid) returns bigint language sql immutable as $$
  select hashtextextended('credit line ' || p_line::text, 0);
$$;

-- Returns the part of a workspace's `held` that is in its lines without a hold. It is displayed as available.
create function lined_credits(p_ws uuid) returns bigint language sql stable as $$
  select coalesce((select sum(amount) from credit_line where workspace_id = p_ws), 0)::bigint
    - coalesce((select sum(moved) from line_settle where workspace_id = p_ws), 0)::bigint
    - coalesce((select sum(amount) from hold where workspace_id = p_ws and line_id is not null), 0)::bigint;
$$;

-- Returns the charges of calls on a workspace's lines that its balance has not booked yet.
create function unbooked_credits(p_ws uuid) returns bigint language sql stable as $$
  select coalesce(sum(used), 0)::bigint from line_settle where workspace_id = p_ws;
$$;

-- Books the settlements on a workspace's lines. The caller has locked its balance. If more was charged than a line contains, which should
-- not happen, the rest is charged from the available balance.
create function book_lines(p_ws uuid) returns void language plpgsql set enable_seqscan = off as $$
declare
  lines uuid[]; drawns bigint[]; useds bigint[]; moveds bigint[]; days date[]; counts bigint[];
  missing bigint;
begin
  with gone as (delete from line_settle where workspace_id = p_ws returning *)
  select array_agg(g.line_id), array_agg(g.drawn), array_agg(g.used), array_agg(g.moved), array_agg(g.day), array_agg(g.tokens)
  into lines, drawns, useds, moveds, days, counts
  from (select line_id, day, sum(drawn)::bigint as drawn, sum(used)::bigint as used, sum(moved)::bigint as moved, sum(tokens)::bigint as tokens
        from gone group by 1, 2) g;
  if lines is null then return; end if;
  with taken as (
    select line_id, sum(drawn)::bigint as drawn, sum(used + moved)::bigint as nano
    from unnest(lines, drawns, useds, moveds) c(line_id, drawn, used, moved) group by 1
  ), short as (
    select sum(greatest(t.nano - l.amount, 0)) as nano from taken t join credit_line l on l.id = t.line_id
  ), booked as (
    update credit_line l set amount = greatest(l.amount - t.nano, 0), closed = l.closed + t.drawn from taken t where l.id = t.line_id
  )
  select coalesce(nano, 0) into missing from short;
  update balance b set amount = b.amount - g.used, spent = b.spent + g.used, held = least(b.held - g.used + missing, b.amount - g.used),
    day_tokens = b.day_tokens + (select coalesce(sum(c.tokens), 0) from unnest(days, counts) c(day, tokens) where c.day = b.day)
  from (select sum(c.used)::bigint as used from unnest(useds) c(used)) g
  where b.workspace_id = p_ws;
end $$;

-- Renews or opens a line: adds its calls to the window, books settlements, and adds up to p_more nano-credits. The free part of all lines
-- of a workspace is at most a tenth of the available balance. p_turn: number of the renewal. p_drawn and p_calls: total drawn by its calls
-- since it was opened, and their number. p_most: maximum total before the next renewal. p_gives_back: no call draws on it any more, and its
-- free part returns to the balance; without open calls, the line ends. Returns amount and closed as in credit_line, and 1 if the line must
-- be given back, because the workspace has a budget that stops calls, is close to its balance or needs the credits; null if there is no
-- such line.
create function renew_credit_line(
  p_ws uuid, p_line uuid, p_turn bigint, p_is_new boolean, p_drawn bigint, p_most bigint, p_calls bigint, p_more bigint, p_life_ms bigint,
  p_gives_back boolean
) returns bigint[] language plpgsql set enable_seqscan = off as $$
declare
  b balance;
  l credit_line;
  at_utc timestamptz;
  free_now bigint;
  all_free bigint;
  added bigint := 0;
  is_over boolean;
begin
  if p_gives_back then perform pg_advisory_xact_lock(line_lock(p_line)); end if;
  select * into b from balance where workspace_id = p_ws for update;
  if not found then return null; end if;
  at_utc := clock_timestamp();
  if b.day < (at_utc at time zone 'utc')::date then perform begin_day(p_ws, (at_utc at time zone 'utc')::date); end if;
  perform book_lines(p_ws);
  select * into b from balance where workspace_id = p_ws;
  if p_is_new and b.stop_at is null then
    insert into credit_line (id, workspace_id, ends_at) values (p_line, p_ws, at_utc) on conflict (id) do nothing;
  end if;
  select * into l from credit_line where id = p_line and workspace_id = p_ws;
  if not found then return null; end if;
  if p_turn <= l.turn then return array[l.amount, l.closed, 0]; end if;
  if p_calls > l.calls then
    insert into lined_calls (workspace_id, at_ms, calls) values (p_ws, (extract(epoch from at_utc) * 1000)::bigint, p_calls - l.calls);
  end if;
  free_now := greatest(l.amount - p_drawn + l.closed, 0);
  if p_gives_back then
    update balance set held = held - free_now where workspace_id = p_ws;
    if p_drawn = l.closed then
      delete from credit_line where id = p_line;
      return null;
    end if;
    update credit_line set amount = amount - free_now, free = 0, most = p_drawn, calls = p_calls, turn = p_turn, renewed_at = at_utc
    where id = p_line;
    return array[l.amount - free_now, l.closed, 1];
  end if;
  all_free := free_now + (select coalesce(sum(free), 0) from credit_line where workspace_id = p_ws and id <> p_line);
  is_over := b.stop_at is not null or l.amount < p_drawn - l.closed or all_free > b.amount - b.held or (l.recalled_at is not null and l.free > 0)
    or exists (select from credit_line where workspace_id = p_ws and recalled_at > at_utc - interval '10 seconds');
  if not is_over then
    added := greatest(least(p_more, (b.amount - b.held + all_free) / 10 - all_free), 0);
    l.ends_at := at_utc + p_life_ms * interval '1 millisecond';
    l.recalled_at := null;
    if added > 0 then update balance set held = held + added where workspace_id = p_ws; end if;
  end if;
  -- A lost booking is repeated after a server crash, so the balance is not locked for a flush.
  if added = 0 then perform set_config('synchronous_commit', 'off', true); end if;
  update credit_line set amount = amount + added, free = free_now + added, most = p_most, calls = p_calls, turn = p_turn, renewed_at = at_utc,
    ends_at = l.ends_at, recalled_at = l.recalled_at
  where id = p_line;
  return array[l.amount + added, l.closed, is_over::int];
end $$;

-- Ends a line whose ingress is gone. Calls on it recorded by show_lined_calls keep their holds; others are charged from the available
-- balance when they are settled. p_overdue: only if it was not renewed meanwhile.
create function end_credit_line(p_line uuid, p_overdue boolean default false) returns void language plpgsql as $$
declare
  owner uuid;
  back bigint;
  kept bigint;
begin
  perform pg_advisory_xact_lock(line_lock(p_line));
  select workspace_id into owner from credit_line where id = p_line;
  if not found then return; end if;
  perform 1 from balance where workspace_id = owner for update;
  if p_overdue and not exists (select from credit_line where id = p_line and ends_at < clock_timestamp()) then return; end if;
  perform book_lines(owner);
  -- They become separate holds, which count in the limits of their keys.
  perform count_spend(owner, key_id, scopes, amount, 0, (clock_timestamp() at time zone 'utc')::date)
  from hold where workspace_id = owner and line_id = p_line and exists (select from spend_limit where workspace_id = owner);
  with own as (update hold set line_id = null where workspace_id = owner and line_id = p_line returning amount)
  select coalesce(sum(amount), 0) into kept from own;
  delete from credit_line where id = p_line returning amount into back;
  update balance set held = held - back + kept where workspace_id = owner;
end $$;

-- Returns the part of a line that none of its calls can have drawn, or that settled calls did not use.
create function undrawn_credits(l credit_line) returns bigint language sql stable as $$
  select greatest(l.amount - coalesce(sum(s.used + s.moved), 0) - greatest(l.most - l.closed - coalesce(sum(s.drawn), 0), 0), 0)::bigint
  from line_settle s where s.workspace_id = l.workspace_id and s.line_id = l.id;
$$;

-- Returns true for a line without further draws: an ingress admits no call for longer than five seconds after a renewal.
create function is_overdue(l credit_line) returns boolean language sql stable as $$
  select l.renewed_at < clock_timestamp() - interval '10 seconds';
$$;

-- Returns the free credits of a workspace's lines that can still return. A line not given back within three seconds has a crashed ingress:
-- once it is overdue, the part that its calls cannot have drawn returns.
create function lines_to_recall(p_ws uuid) returns bigint language sql stable as $$
  select coalesce(sum(case when is_overdue(l) then undrawn_credits(l)
                           when l.recalled_at is null or l.recalled_at > clock_timestamp() - interval '3 seconds' then l.free
                           else 0 end), 0)::bigint
  from credit_line l where l.workspace_id = p_ws;
$$;

-- Reclaims the part of a workspace's overdue lines that their calls cannot have drawn. The caller has locked its balance.
create function reclaim_lines(p_ws uuid) returns void language plpgsql as $$
declare
  back bigint;
begin
  if not exists (select from credit_line l where l.workspace_id = p_ws and is_overdue(l)) then return; end if;
  perform book_lines(p_ws);
  with taken as (
    select l.id, undrawn_credits(l) as nano from credit_line l where l.workspace_id = p_ws and is_overdue(l)
  ), changed as (
    update credit_line l set amount = l.amount - t.nano, free = 0 from taken t where l.id = t.id
  )
  select coalesce(sum(nano), 0) into back from taken;
  update balance set held = held - back where workspace_id = p_ws;
end $$;

-- Returns the milliseconds until p_amount is covered by lines of crashed ingresses: the part that their calls cannot have drawn returns
-- when they are overdue, the rest when they end. Null: not covered even then.
create function funds_due(p_ws uuid, p_amount bigint) returns bigint language plpgsql stable as $$
declare
  at_utc timestamptz := clock_timestamp();
  missing bigint;
  undrawn bigint;
  whole bigint;
  overdue_at timestamptz;
  last_end timestamptz;
begin
  select p_amount - (amount - held) into missing from balance where workspace_id = p_ws;
  select sum(undrawn_credits(l)), max(l.renewed_at) + interval '10 seconds', max(l.ends_at),
    sum(l.amount) - (select coalesce(sum(used + moved), 0) from line_settle where workspace_id = p_ws)
  into undrawn, overdue_at, last_end, whole
  from credit_line l where l.workspace_id = p_ws and l.renewed_at < at_utc - interval '3 seconds';
  if whole is null or missing > whole then return null; end if;
  return greatest(extract(epoch from case when missing <= undrawn then overdue_at else last_end end - at_utc) * 1000, 0)::bigint;
end $$;

-- Requests a workspace's lines from its ingresses, and reclaims overdue ones, if p_amount is covered with them. Returns the total with
-- them; null if no line can return, unless lines have just returned. If it is sufficient, the caller should retry in a moment.
create function recall_credit_lines(p_ws uuid, p_amount bigint) returns bigint language plpgsql as $$
declare
  lined bigint := lines_to_recall(p_ws);
  covered bigint;
begin
  select lined + amount - held into covered from balance where workspace_id = p_ws;
  if lined = 0 and p_amount > covered then return null; end if;
  if p_amount <= covered then
    perform 1 from balance where workspace_id = p_ws for update;
    perform reclaim_lines(p_ws);
    update credit_line set recalled_at = clock_timestamp() where workspace_id = p_ws and recalled_at is null;
  end if;
  return covered;
end $$;

-- Closes calls on lines, all of attempt 1. No settlement waits for another one, nor for a balance, except once a day. Returns per call: the
-- charged amount, null if it was settled before, -1 if it is busy (its line or, at midnight, its balance is locked elsewhere; nothing
-- done), -3 if it needs a separate hold first (place_lined_hold; nothing done): it has one, its line has ended, it charges more than it had
-- drawn, or its key or member got a limit meanwhile. p_started_ms: Unix milliseconds of its admission. p_skips: true skips locked rows, false waits. An id that exists only in the
-- ledger raises 23505.
create function settle_lined_calls(
  p_ws uuid[], p_line uuid[], p_job uuid[], p_key uuid[], p_model text[], p_drawn bigint[], p_exceed boolean[], p_started_ms bigint[],
  p_used bigint[], p_status text[], p_source text[], p_units jsonb[], p_estimated boolean[], p_tokens bigint[], p_skips boolean,
  p_labels jsonb[] default null, p_course jsonb[] default null
) returns bigint[] language plpgsql set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
  result bigint[] := array_fill(null::bigint, array[cardinality(p_job)]);
  takes bigint[] := result;
  call_days date[] := array_fill(null::date, array[cardinality(p_job)]);
  locked uuid[];
  live uuid[]; owners uuid[];
  wss uuid[]; days date[];
  own int[];
  marked int[];
  made uuid[];
  limited uuid[];
  cur uuid;
  w int;
  at_utc timestamptz;
  today date := (clock_timestamp() at time zone 'utc')::date;
begin
  -- The transaction gets its number before it reads the floor of usage records or draws an entry's id, see roll_up_usage and
  -- audit_new_entries.
  perform pg_current_xact_id();
  if p_skips then
    select array_agg(l.id) into locked from (select distinct id from unnest(p_line) c(id) order by id) l
    where pg_try_advisory_xact_lock_shared(line_lock(l.id));
  else
    select array_agg(l.id order by l.id) into locked from (select distinct id from unnest(p_line) c(id)) l;
    foreach cur in array locked loop perform pg_advisory_xact_lock_shared(line_lock(cur)); end loop;
  end if;
  select array_agg(id), array_agg(workspace_id) into live, owners from credit_line where id = any (locked);
  if exists (select from balance where workspace_id = any (owners) and day < today) then
    if p_skips then
      perform begin_day(s.workspace_id, today)
      from (select workspace_id from balance where workspace_id = any (owners) and day < today order by 1 for update skip locked) s;
    else
      perform begin_day(s.workspace_id, today)
      from (select workspace_id from balance where workspace_id = any (owners) and day < today order by 1 for update) s;
    end if;
  end if;
  select array_agg(workspace_id), array_agg(day) into wss, days from balance where workspace_id = any (owners) and day >= today;
  select array_agg(g.n) filter (where h.line_id is null), array_agg(g.n) filter (where h.line_id is not null) into own, marked
  from unnest(p_ws, p_job) with ordinality g(ws, job, n)
  cross join lateral (select o.line_id from hold o where o.workspace_id = g.ws and o.job_id = g.job and o.attempt = 1) h;
  if exists (select from spend_limit where workspace_id = any (owners)) then
    select array_agg(k.id) into limited from api_key k
    where k.id = any (p_key) and exists (select from spend_limit l where l.id = any (spend_subjects(k.id, null)));
  end if;
  for i in 1 .. cardinality(p_job) loop
    w := array_position(live, p_line[i]);
    if array_position(p_job, p_job[i]) < i then
      -- If a job is in the group twice, the first occurrence settles it, or both are repeated.
      result[i] := result[array_position(p_job, p_job[i])];
    elsif array_position(locked, p_line[i]) is null then
      result[i] := -1;
    elsif w is null or owners[w] <> p_ws[i] or array_position(own, i) is not null or p_exceed[i] and p_used[i] > p_drawn[i]
      or array_position(limited, p_key[i]) is not null then
      result[i] := -3;
    else
      w := array_position(wss, p_ws[i]);
      if w is null then
        result[i] := -1;
      else
        takes[i] := coalesce(least(greatest(p_used[i], 0), p_drawn[i]), 0);
        call_days[i] := days[w];
      end if;
    end if;
  end loop;

  at_utc := greatest(clock_timestamp(), to_timestamp(pg_sequence_last_value('usage_floor') / 1e6));
  -- In one order, so that groups with the same calls do not wait for each other.
  with closed as (
    insert into usage_record (job_id, attempt, workspace_id, key_id, model, source, status, units, is_estimated, held, settled, uncollected,
                              day, tokens, started_at, ended_at, labels, kind, asked_ms, first_ms, tries)
    select p_job[c.i], 1, p_ws[c.i], p_key[c.i], p_model[c.i], p_source[c.i], p_status[c.i], p_units[c.i], p_estimated[c.i], p_drawn[c.i],
           takes[c.i], coalesce(greatest(p_used[c.i], 0), 0) - takes[c.i], call_days[c.i], greatest(p_tokens[c.i], 0),
           least(to_timestamp(p_started_ms[c.i] / 1000.0), at_utc), at_utc, p_labels[c.i],
           p_course[c.i]->>'kind', ms_after(to_timestamp(p_started_ms[c.i] / 1000.0), (p_course[c.i]->>'asked_ms')::bigint),
           ms_after(to_timestamp(p_started_ms[c.i] / 1000.0), (p_course[c.i]->>'first_ms')::bigint), p_course[c.i]->'tries'
    from generate_series(1, cardinality(p_job)) c(i)
    where takes[c.i] is not null
    order by p_job[c.i]
    on conflict (workspace_id, job_id, attempt) do nothing
    returning job_id)
  select array_agg(job_id) into made from closed;
  if made is null then return result; end if;
  for i in 1 .. cardinality(made) loop
    w := array_position(p_job, made[i]);
    result[w] := takes[w];
  end loop;
  insert into ledger_entry (workspace_id, kind, amount, source_id, attempt)
  select p_ws[c.i], 'settle', -takes[c.i], p_job[c.i], 1
  from generate_series(1, cardinality(p_job)) c(i)
  where result[c.i] >= 0 and p_used[c.i] is not null;
  insert into line_settle (line_id, workspace_id, drawn, used, moved, day, tokens)
  select p_line[c.i], p_ws[c.i], sum(p_drawn[c.i]), sum(takes[c.i]), 0, call_days[c.i], sum(greatest(p_tokens[c.i], 0))
  from generate_series(1, cardinality(p_job)) c(i)
  where result[c.i] >= 0
  group by 1, 2, call_days[c.i];
  if marked is not null then
    delete from hold h using unnest(marked) m(i)
    where result[m.i] >= 0 and h.workspace_id = p_ws[m.i] and h.job_id = p_job[m.i] and h.attempt = 1 and h.line_id is not null;
  end if;
  return result;
end $$;

-- Places a separate hold for a call on a line, if it has none: from the line or, if that has ended, from the available balance as far as
-- possible. Safe for concurrent processes. Returns 0 = the hold exists, 1 = the call was settled before, 4 = other lines with the needed
-- credits are being reclaimed (nothing done).
create function place_lined_hold(
  p_ws uuid, p_line uuid, p_job uuid, p_key uuid, p_model text, p_amount bigint, p_exceed boolean, p_life_ms bigint,
  p_labels jsonb default null
) returns smallint language plpgsql set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
  b balance;
  nano bigint := p_amount;
  at_utc timestamptz;
  today date;
begin
  perform pg_advisory_xact_lock(line_lock(p_line));
  -- In this order: a settlement that closes a hold meanwhile has written its record.
  perform from hold where workspace_id = p_ws and job_id = p_job and attempt = 1 and line_id is null;
  if found then return 0; end if;
  if exists (select from usage_record where workspace_id = p_ws and job_id = p_job and attempt = 1) then return 1; end if;
  at_utc := clock_timestamp();
  today := (at_utc at time zone 'utc')::date;
  if exists (select from credit_line where id = p_line and workspace_id = p_ws) then
    select * into b from balance where workspace_id = p_ws;
    if b.has_limits then perform from balance where workspace_id = p_ws for update; end if;
    insert into line_settle (line_id, workspace_id, drawn, used, moved, day, tokens) values (p_line, p_ws, p_amount, 0, p_amount, today, 0);
  else
    select * into b from balance where workspace_id = p_ws for update;
    if nano > b.amount - b.held and recall_credit_lines(p_ws, nano) >= nano then return 4; end if;
    nano := least(nano, b.amount - b.held);
    update balance set held = held + nano where workspace_id = p_ws;
  end if;
  insert into hold (job_id, attempt, workspace_id, key_id, model, amount, may_exceed, day, tokens, deadline, created_at, labels)
  values (p_job, 1, p_ws, p_key, p_model, nano, p_exceed, greatest(b.day, today), 0, at_utc + p_life_ms * interval '1 millisecond',
          -- Its id begins with the time of its arrival.
          least(to_timestamp(('x' || replace(left(p_job::text, 13), '-', ''))::bit(48)::bigint / 1000.0), at_utc), p_labels)
  on conflict (workspace_id, job_id, attempt) do update set line_id = null, amount = nano;
  -- The limits of its key count separate holds only.
  if b.has_limits then perform count_spend(p_ws, p_key, null, nano, 0, greatest(b.day, today)); end if;
  return 0;
end $$;

-- Writes a hold, as part of the line, for each open call of a line. If no process settles such a call, the janitor finds its hold.
create function show_lined_calls(
  p_ws uuid, p_line uuid, p_job uuid[], p_key uuid[], p_model text[], p_amount bigint[], p_exceed boolean[], p_started_ms bigint[],
  p_life_ms bigint[], p_labels jsonb[] default null
) returns void language plpgsql set enable_seqscan = off as $$
begin
  perform pg_advisory_xact_lock(line_lock(p_line));
  insert into hold (job_id, attempt, workspace_id, key_id, model, amount, may_exceed, day, tokens, deadline, created_at, line_id, labels)
  select c.job, 1, p_ws, c.key, c.model, c.amount, c.exceed, b.day, 0,
         clock_timestamp() + c.life_ms * interval '1 millisecond', least(to_timestamp(c.started_ms / 1000.0), clock_timestamp()), p_line, c.labels
  from unnest(p_job, p_key, p_model, p_amount, p_exceed, p_started_ms, p_life_ms, p_labels)
    c(job, key, model, amount, exceed, started_ms, life_ms, labels)
  join balance b on b.workspace_id = p_ws
  where not exists (select from usage_record u where u.workspace_id = p_ws and u.job_id = c.job and u.attempt = 1)
    and exists (select from credit_line l where l.id = p_line)
  on conflict (workspace_id, job_id, attempt) do nothing;
  -- The insert may have waited for a settlement that closed a separate hold.
  delete from hold h using unnest(p_job) c(job)
  where h.workspace_id = p_ws and h.job_id = c.job and h.attempt = 1 and h.line_id = p_line
    and exists (select from usage_record u where u.workspace_id = p_ws and u.job_id = c.job and u.attempt = 1);
end $$;

-- Top-ups and corrections; idempotent by p_source. Returns true if moved now, false if moved before.
create function move_credits(p_ws uuid, p_kind text, p_amount bigint, p_source uuid, p_note text) returns boolean language plpgsql as $$
begin
  perform 1 from balance where workspace_id = p_ws for update;
  if not found then raise exception 'unknown workspace' using errcode = 'no_data_found'; end if;
  insert into ledger_entry (workspace_id, kind, amount, source_id, note) values (p_ws, p_kind, p_amount, p_source, p_note)
  on conflict on constraint ledger_once do nothing;
  if not found then return false; end if;
  update balance set amount = amount + p_amount where workspace_id = p_ws;
  return true;
end $$;
