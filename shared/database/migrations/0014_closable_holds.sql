-- Every hold can be closed. A settle that finds its key taken closes the hold all the same and leaves a fault for an operator; a job under
-- an id that was used before is a further attempt; what a sweep fails on is put off, so that it stands before nothing else.

-- Holds that could not be settled at what was used.
create table settle_fault (
  id bigint generated always as identity primary key,
  workspace_id uuid not null,
  job_id uuid not null,
  attempt smallint not null,
  -- usage_record, ledger_entry: the call had been settled under this key. Else the SQLSTATE with which its figures were refused.
  fault text not null,
  status text,
  source text,
  -- Nano-credits.
  held bigint not null,
  -- What was to be taken: null for a release. Of figures that were refused any number.
  used numeric,
  -- What stands in the books under the key, now or from before.
  settled bigint not null,
  at timestamptz not null default clock_timestamp(),
  resolved_at timestamptz
);
create index settle_fault_open on settle_fault (id) where resolved_at is null;

-- What a sweep failed on, and when it tries that again. `item` is what the sweep calls it by.
create table sweep_retry (
  sweep text not null,
  item text not null,
  failures int not null,
  retry_at timestamptz not null,
  -- SQLSTATE or name of the error.
  error text not null,
  primary key (sweep, item)
) with (fillfactor = 70);

-- Microseconds since 1970. No usage record ends before it, wherever the clock is set: what was summed up to there stays whole. It is not
-- of any transaction: each reader has the last one set. See 0015_usage_border.
create sequence usage_floor minvalue 0 start 0;
select setval('usage_floor', (extract(epoch from clock_timestamp()) * 1e6)::bigint);
alter table usage_record alter column ended_at set default
  greatest(clock_timestamp(), to_timestamp(pg_sequence_last_value('usage_floor') / 1e6));

-- As in 0003_ledger, but for the time of its usage records. It is read when the holds are locked: the transaction has its number before.
create or replace function settle_calls(
  p_ws uuid[], p_job uuid[], p_attempt smallint[], p_used bigint[], p_status text[], p_source text[], p_units jsonb[],
  p_estimated boolean[], p_tokens bigint[], p_wait_ms int, p_late boolean default false
) returns bigint[] language plpgsql set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
  result bigint[] := array_fill(null::bigint, array[cardinality(p_job)]);
  -- Per hold found, in the order of the calls; takes is null for those of a locked workspace.
  places tid[]; calls int[]; owners uuid[]; keys uuid[]; models text[]; holds bigint[]; exceeds boolean[];
  hold_days date[]; reserved bigint[]; starts timestamptz[]; takes bigint[];
  -- Per workspace: what is available and on which day it counts tokens, then what the calls change.
  wss uuid[]; free bigint[]; days date[]; paid bigint[]; released bigint[]; tokens bigint[];
  cur uuid;
  w int;
  used bigint;
  at_utc timestamptz;
  open boolean[];
begin
  select array_agg(c.place), array_agg(c.n), array_agg(c.workspace_id), array_agg(c.key_id), array_agg(c.model),
         array_agg(c.amount), array_agg(c.may_exceed), array_agg(c.day), array_agg(c.tokens), array_agg(c.created_at)
  into places, calls, owners, keys, models, holds, exceeds, hold_days, reserved, starts
  from (
    -- Lateral, since it locks: one look-up by the key for each call, whatever the planner takes the table for. A job that
    -- stands in the group twice is settled by the first; the second finds it closed, or busy where its attempt is another.
    select g.n, h.* from unnest(p_ws, p_job, p_attempt) with ordinality g(ws, job, attempt, n)
    cross join lateral (
      select ctid as place, * from hold o
      where o.workspace_id = g.ws and o.job_id = g.job and o.attempt = g.attempt
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
        else used := least(used, holds[i] + free[w]);
        end if;
      end if;
      takes[i] := used;
      free[w] := free[w] + holds[i] - used;
      paid[w] := paid[w] + used;
      released[w] := released[w] + holds[i];
      if hold_days[i] = days[w] then tokens[w] := tokens[w] + greatest(p_tokens[calls[i]], 0) - reserved[i]; end if;
      result[calls[i]] := used;
    end loop;

    delete from hold where ctid = any (places);
    at_utc := greatest(clock_timestamp(), to_timestamp(pg_sequence_last_value('usage_floor') / 1e6));
    insert into ledger_entry (workspace_id, kind, amount, source_id, attempt)
    select owners[c.i], 'settle', -takes[c.i], p_job[c.n], p_attempt[c.n]
    from unnest(calls) with ordinality c(n, i)
    where takes[c.i] is not null and p_used[c.n] is not null;
    insert into usage_record (job_id, attempt, workspace_id, key_id, model, source, status, units, is_estimated, held,
                              settled, uncollected, day, tokens, started_at, ended_at)
    select p_job[c.n], p_attempt[c.n], owners[c.i], keys[c.i], models[c.i], p_source[c.n], p_status[c.n], p_units[c.n],
           p_estimated[c.n], holds[c.i], takes[c.i], coalesce(greatest(p_used[c.n], 0), 0) - takes[c.i], hold_days[c.i],
           greatest(p_tokens[c.n], 0), starts[c.i], at_utc
    from unnest(calls) with ordinality c(n, i)
    where takes[c.i] is not null;
    -- Last, so that with p_late its locks are held for little more than the commit.
    if p_late then
      perform 1 from (select from balance where workspace_id = any (wss) order by workspace_id for update) s;
    end if;
    update balance b set amount = b.amount - paid[g.i], held = b.held - released[g.i],
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

-- As in 0003_ledger, but for a key that is taken: then nothing is taken a second time, the hold is released, and the fault is noted. The group
-- form raises 23505 there, so that its calls come one by one.
create or replace function settle_call(
  p_ws uuid, p_job uuid, p_attempt smallint, p_used bigint, p_status text, p_source text, p_units jsonb, p_estimated boolean, p_tokens bigint
) returns bigint language plpgsql set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
  h hold;
  b balance;
  take bigint;
  fault text;
  earlier bigint;
begin
  select * into h from hold where workspace_id = p_ws and job_id = p_job and attempt = p_attempt for update skip locked;
  if not found then
    return case when exists (select from hold where workspace_id = p_ws and job_id = p_job and attempt = p_attempt) then -1 end;
  end if;
  select * into b from balance where workspace_id = p_ws for update;
  take := least(coalesce(greatest(p_used, 0), 0), h.amount + case when h.may_exceed then b.amount - b.held else 0 end);
  insert into usage_record (job_id, attempt, workspace_id, key_id, model, source, status, units, is_estimated, held,
                            settled, uncollected, day, tokens, started_at)
  values (p_job, p_attempt, p_ws, h.key_id, h.model, p_source, p_status, p_units, p_estimated, h.amount,
          take, coalesce(greatest(p_used, 0), 0) - take, h.day, greatest(p_tokens, 0), h.created_at)
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
  delete from hold where workspace_id = p_ws and job_id = p_job and attempt = p_attempt;
  update balance set amount = b.amount - take, held = b.held - h.amount,
    day_tokens = b.day_tokens + case when h.day = b.day then greatest(p_tokens, 0) - h.tokens else 0 end
  where workspace_id = p_ws;
  return take;
end $$;

-- Releases the hold of a call whose figures were refused with the SQLSTATE p_fault, and notes that. Result as settle_call's.
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

-- Takes what an answer cost that its caller has, and whose hold had been closed for less: at most what was held, and what is available now;
-- the rest is uncollected. It is the next attempt in ledger and usage, written once. taken: nano-credits in all; late: those of them taken now.
create function settle_delivered(
  p_ws uuid, p_job uuid, p_attempt smallint, p_used bigint, p_source text, p_units jsonb, p_estimated boolean, p_tokens bigint,
  out taken bigint, out late bigint
) language plpgsql set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
  b balance;
  r usage_record;
  more bigint;
  more_tokens bigint;
begin
  late := 0;
  select * into b from balance where workspace_id = p_ws for update;
  select * into r from usage_record where workspace_id = p_ws and job_id = p_job and attempt = p_attempt;
  taken := coalesce(r.settled, 0);
  if r.settled is null or least(coalesce(p_used, 0), r.held) <= r.settled then return; end if;
  select settled into more from usage_record where workspace_id = p_ws and job_id = p_job and attempt = p_attempt + 1;
  if not found then
    more := greatest(0, least(p_used - r.settled, r.held - r.settled, b.amount - b.held));
    more_tokens := greatest(p_tokens - r.tokens, 0);
    insert into usage_record (job_id, attempt, workspace_id, key_id, model, source, status, units, is_estimated, held, settled, uncollected,
                              day, tokens, started_at)
    values (p_job, p_attempt + 1, p_ws, r.key_id, r.model, p_source, 'succeeded', p_units, p_estimated, 0, more, p_used - r.settled - more,
            b.day, more_tokens, r.started_at);
    insert into ledger_entry (workspace_id, kind, amount, source_id, attempt) values (p_ws, 'settle', -more, p_job, p_attempt + 1);
    update balance set amount = b.amount - more, day_tokens = b.day_tokens + more_tokens where workspace_id = p_ws;
    late := more;
  end if;
  taken := r.settled + more;
end $$;

-- As in 0005_jobs, with the lone form of a settle, which closes the hold whatever stands under its key. p_wait_ms: null leaves it to the
-- session how long the balance is waited for.
create or replace function end_job(
  p_id uuid, p_epoch int, p_owned boolean, p_state text, p_used bigint, p_usage text, p_source text, p_units jsonb,
  p_estimated boolean, p_tokens bigint, p_result text, p_result_ref text, p_error jsonb, p_keep boolean, p_wait_ms int
) returns bigint language plpgsql set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
  j job;
  taken bigint;
  at_utc timestamptz;
begin
  select * into j from job where id = p_id for update;
  if not found or j.epoch <> p_epoch then return null; end if;
  if p_owned then
    if j.state <> 'running' then return null; end if;
  elsif j.state not in ('queued', 'running') or j.lease_until > clock_timestamp() then return null;
  end if;
  if p_wait_ms is not null then perform set_config('lock_timeout', p_wait_ms::text, true); end if;
  taken := settle_call(j.workspace_id, p_id, j.attempt, p_used, p_usage, p_source, p_units, p_estimated, p_tokens);
  if taken = -1 then return -1; end if;
  if taken is null then
    -- Closed before, by the sweep of expired holds. What was made is its caller's all the same.
    if p_state = 'completed' then
      taken := (settle_delivered(j.workspace_id, p_id, j.attempt, p_used, p_source, p_units, p_estimated, p_tokens)).taken;
    else
      select settled into taken from usage_record where workspace_id = j.workspace_id and job_id = p_id and attempt = j.attempt;
      taken := coalesce(taken, 0);
    end if;
  end if;
  at_utc := clock_timestamp();
  update job set state = p_state, lease_until = null, ask_at = null, result = p_result, result_ref = p_result_ref,
    error = p_error, credits = taken, ended_at = at_utc, request = case when p_keep then request end,
    progress = case when p_state = 'completed' then 1 else progress end
  where id = p_id;
  -- Of a step of a run its run tells.
  if p_state in ('completed', 'failed') and not j.is_hidden and j.run_id is null then
    insert into event (workspace_id, type, metadata)
    values (j.workspace_id, 'job.' || p_state, jsonb_strip_nulls(jsonb_build_object(
      'jobId', p_id, 'modality', j.modality, 'model', j.model,
      'durationMs', (extract(epoch from at_utc - j.started_at) * 1000)::bigint,
      'creditsUsed', trim_scale(taken / 1000000000.0),
      'error', case when p_state = 'failed' then
        jsonb_build_object('code', p_error->>'code', 'message', p_error->>'message') end)));
  end if;
  return taken;
end $$;

-- As in 0006_job_admission. A job under an id that has usage is the attempt after the last one there, in its row, its hold and the answer.
-- Verdict 8: a run that begins was counted. Its offer inserts a job row only to reserve the id, and deletes it in the same statement.
drop function admit_jobs(jsonb, int);
create function admit_jobs(p_offers jsonb, p_wait_ms int)
returns table (n int, verdict smallint, wait_ms bigint, number int, attempt smallint)
language plpgsql set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
  offers job_offer[];
  o job_offer;
  fresh uuid[];
  -- Those under an id that was used before, and which attempt each is.
  again uuid[]; attempts smallint[];
  v smallint[];
  waits bigint[];
  numbers int[];
  -- Per locked window.
  wss uuid[]; w_calls bigint[]; w_at bigint[]; w_shift bigint[]; w_passed bigint[]; w_taken int[];
  w int;
  now_ms bigint;
  past bigint;
  at_ms bigint;
  opens_ms bigint;
  sent int[] := '{}';
  given smallint[];
  r record;
  offered record;
  share int;
  aside window_share;
  short_ws uuid[] := '{}';
  short_limits int[] := '{}';
  short_again boolean[] := '{}';
  is_aside boolean;
begin
  select array_agg(t order by t.n) into offers from jsonb_populate_recordset(null::job_offer, p_offers) t;
  v := array_fill(6::smallint, array[cardinality(offers)]);
  waits := array_fill(0::bigint, array[cardinality(offers)]);
  numbers := array_fill(0, array[cardinality(offers)]);
  if p_wait_ms is not null then perform set_config('lock_timeout', p_wait_ms::text, true); end if;

  -- In the order of ids: two doors with the same jobs wait for each other one way round only.
  with added as (
    insert into job (id, workspace_id, key_id, pool, lane, kind, modality, model, state, work, request, request_ref,
                     publisher_key, reply, is_hidden, keeps_record, run_id, step_id, parent_id, traceparent, error, deadline,
                     ended_at, attempt)
    select distinct on (t.id) t.id, t.workspace_id, t.key_id, t.pool, t.lane, t.kind, t.modality, t.model,
           case when t.error is null then 'queued' else 'refused' end, t.work, t.request, t.request_ref,
           t.publisher_key, t.reply, coalesce(t.is_hidden, false), coalesce(t.keeps_record, false), t.run_id, t.step_id, t.parent_id, t.traceparent,
           t.error,
           clock_timestamp() + t.deadline_ms * interval '1 millisecond',
           case when t.error is not null then clock_timestamp() end,
           -- Version 5: made from a name, which may come again when its job is not kept any more.
           case when get_byte(uuid_send(t.id), 6) >> 4 = 5 then 1 + coalesce((
             select max(u.attempt) from usage_record u where u.workspace_id = t.workspace_id and u.job_id = t.id), 0) else 1 end
    from unnest(offers) t
    order by t.id, t.n
    on conflict (id) do nothing
    returning id, attempt)
  select array_agg(a.id), array_agg(a.id) filter (where a.attempt > 1), array_agg(a.attempt) filter (where a.attempt > 1)
  into fresh, again, attempts from added a;
  -- A publisher's key may stand for a run. Asked with the rows in: who waited for the statement that began it sees it now.
  with runs as (delete from job j using run where j.id = any (fresh) and run.id = j.id returning j.id)
  select array_agg(f.id) into fresh from unnest(fresh) f(id) where f.id not in (select id from runs);
  if fresh is null then
    return query select t.n, 6::smallint, 0::bigint, 0, 1::smallint from unnest(offers) t;
    return;
  end if;

  select array_agg(distinct t.workspace_id) into wss from unnest(offers) t where t.id = any (fresh);
  if p_wait_ms is null then
    select array_agg(s.workspace_id), array_agg(s.calls), array_agg(s.last_ms), array_agg(s.shift_ms), array_agg(s.passed)
    into wss, w_calls, w_at, w_shift, w_passed
    from (select * from rate_window where workspace_id = any (wss) order by workspace_id for update skip locked) s;
  else
    select array_agg(s.workspace_id), array_agg(s.calls), array_agg(s.last_ms), array_agg(s.shift_ms), array_agg(s.passed)
    into wss, w_calls, w_at, w_shift, w_passed
    from (select * from rate_window where workspace_id = any (wss) order by workspace_id for update) s;
  end if;
  w_taken := array_fill(0, array[coalesce(cardinality(wss), 0)]);
  now_ms := (extract(epoch from clock_timestamp()) * 1000)::bigint;

  -- A job whose window is full must wait without being counted: counted again and again, its tries would themselves keep
  -- the window shut. So each call is tried on the ring first, under the lock that admit_calls then decides under.
  for i in 1 .. cardinality(offers) loop
    o := offers[i];
    if not o.id = any (fresh) or exists (select from unnest(offers[1 : i - 1]) b where b.id = o.id) then continue; end if;
    w := array_position(wss, o.workspace_id);
    if w is null then
      v[i] := case when exists (select from rate_window where workspace_id = o.workspace_id) then 4 else 5 end;
      continue;
    end if;
    if o.is_counted is false then
      sent := sent || i;
      continue;
    end if;
    past := w_calls[w] + w_taken[w] + 1 - o.call_limit;
    if o.may_wait and past > w_passed[w] then
      at_ms := greatest(now_ms + window_shift(now_ms, w_at[w], w_shift[w]), w_at[w]);
      opens_ms := case when past > w_calls[w] then 60000 else window_call(o.workspace_id, past) + 60000 - at_ms end;
      if opens_ms > 0 then
        v[i] := 1;
        waits[i] := opens_ms;
        if not coalesce(o.starves, false) then continue; end if;
        waits[i] := least(opens_ms, 30000);
        if array_position(short_ws, o.workspace_id) is not null then continue; end if;
        select * into aside from window_share where workspace_id = o.workspace_id;
        is_aside := found and at_ms < aside.at_ms + 60000;
        if is_aside and aside.call_limit <> o.call_limit then continue; end if;
        if is_aside and aside.calls_left = 0 then
          waits[i] := least(opens_ms, aside.at_ms + 60000 - at_ms);
          continue;
        end if;
        if is_aside and at_ms < aside.ready_ms then waits[i] := least(waits[i], aside.ready_ms - at_ms); end if;
        if not is_aside or (at_ms < aside.ready_ms and at_ms >= aside.at_ms + 20000) then
          short_ws := short_ws || o.workspace_id;
          short_limits := short_limits || o.call_limit;
          short_again := short_again || is_aside;
        end if;
        if not is_aside or at_ms < aside.ready_ms then continue; end if;
        update window_share set calls_left = calls_left - 1 where workspace_id = o.workspace_id;
        waits[i] := -1;
      end if;
    end if;
    w_taken[w] := w_taken[w] + 1;
    sent := sent || i;
  end loop;

  if cardinality(sent) > 0 then
    select admit_calls(
      array_agg(t.workspace_id order by s.k), array_agg(case when t.is_counted is false then -1 when waits[s.i] <> -1 then t.call_limit end order by s.k),
      array_agg(case when t.error is null and t.is_run is not true then t.id end order by s.k), array_agg(t.key_id order by s.k),
      array_agg(t.model order by s.k), array_agg(t.amount order by s.k), array_agg(t.may_exceed order by s.k),
      array_agg(t.tokens order by s.k), array_agg(t.day_cap order by s.k), array_agg(t.hold_ms order by s.k), p_wait_ms)
    into given
    from unnest(sent) with ordinality s(i, k) join unnest(offers) t on t.n = offers[s.i].n;
    if again is not null then
      update hold h set attempt = a.attempt from unnest(again, attempts) a(id, attempt)
      join job j on j.id = a.id
      where h.workspace_id = j.workspace_id and h.job_id = a.id and h.attempt = 1;
    end if;
    for k in 1 .. cardinality(sent) loop
      v[sent[k]] := given[k];
      if given[k] = 0 and offers[sent[k]].error is not null then v[sent[k]] := 7; end if;
      if given[k] = 0 and offers[sent[k]].is_run then v[sent[k]] := 8; end if;
      if given[k] = 1 and offers[sent[k]].may_wait then waits[sent[k]] := 1000; end if;
    end loop;
  end if;

  for k in 1 .. cardinality(short_ws) loop
    perform put_share_aside(short_ws[k], short_limits[k], short_again[k]);
  end loop;

  delete from job where id in (select offers[i].id from generate_subscripts(offers, 1) i where v[i] in (1, 4, 5, 8));
  update job set state = 'refused', request = null, ended_at = clock_timestamp(),
    error = case v[i] when 2 then offers[i].tokens_error else offers[i].funds_error end
  from generate_subscripts(offers, 1) i
  where v[i] in (2, 3) and job.id = offers[i].id;

  -- The first dispatch, for those whose workspace has room on the queue and no job waiting before them.
  for r in select distinct offers[i].pool as pool, offers[i].lane as name
              from generate_subscripts(offers, 1) i where v[i] = 0 loop
    share := job_share(r.pool, r.name);
    for offered in
      select g.i, c.have + row_number() over (partition by offers[g.i].workspace_id order by g.i) as place
      from generate_subscripts(offers, 1) g(i)
      cross join lateral (
        select (select count(*) from (
                  select from job where pool = r.pool and lane = r.name and workspace_id = offers[g.i].workspace_id
                    and state in ('queued', 'running') and dispatched_at is not null limit share) x) as have,
               exists (select from job where pool = r.pool and lane = r.name
                         and workspace_id = offers[g.i].workspace_id and state = 'queued' and dispatched_at is null and not_before is null
                         and not id = any (fresh)) as has_waiting) c
      where v[g.i] = 0 and offers[g.i].pool = r.pool and offers[g.i].lane = r.name and not c.has_waiting
    loop
      if offered.place <= share then
        numbers[offered.i] := 1;
        update job set dispatch = 1, dispatched_at = clock_timestamp() where id = offers[offered.i].id;
      end if;
    end loop;
  end loop;

  return query
    select offers[i].n, v[i], waits[i], numbers[i], coalesce(attempts[array_position(again, offers[i].id)], 1::smallint)
    from generate_subscripts(offers, 1) i;
end $$;
