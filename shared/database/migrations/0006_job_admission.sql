-- Admission of durable jobs and their release to the queue: by the same window, tokens and balance as HTTP calls, and round robin over the
-- workspaces with waiting jobs.

-- Returns the number of jobs that one workspace may have in the queue of a pool and lane at once; the workspaces with jobs there share it.
-- Batch: twice the fleet's slots, so that jobs follow each other without a pause. Live, where callers wait: an eighth of the slots stays
-- free, since a running job may take minutes and another workspace's next one would wait for its end. At least 4, so that a small fleet is
-- kept busy; at most half of the stream's maximum per workspace, which depends on the fleet from 2,000 slots on. Without known workers,
-- sixteen slots are assumed, so that jobs are queued when workers start.
create function job_share(p_pool text, p_lane text) returns int
language sql volatile set enable_seqscan = off as $$
  with recursive fleet as (
    select coalesce(nullif(sum(slots), 0), 16) as slots from worker_slots
    where pool = p_pool and lane = p_lane and seen_at > clock_timestamp() - interval '45 seconds'
  ), queue as (
    select slots, case when p_lane = 'live' then slots - slots / 8 else 2 * slots end as places from fleet
  ), at_work as (
    -- Goes from workspace to workspace with an index search for each, regardless of its number of jobs, until only the minimum remains for
    -- each.
    (select workspace_id, 1 as n from job
     where pool = p_pool and lane = p_lane and state in ('queued', 'running') and dispatched_at is not null
     order by workspace_id limit 1)
    union all
    select n.workspace_id, a.n + 1 from at_work a cross join lateral (
      select workspace_id from job
      where pool = p_pool and lane = p_lane and state in ('queued', 'running') and dispatched_at is not null
        and workspace_id > a.workspace_id
      order by workspace_id limit 1) n
    where 4 * a.n < (select places from queue)
  )
  select least(greatest(1000, slots), greatest(4, ceil(places / (select greatest(count(*), 1) from at_work)::numeric)))::int from queue
$$;

-- Returns the number of calls in 60 s from which work that may wait has to, for a limit of p_limit: half of it, counting all calls. The
-- other half is reserved for callers who wait: a batch of a thousand lines would otherwise cause their calls to be rejected while it runs.
create function batch_limit(p_limit int) returns int language sql immutable strict as $$
  select least(p_limit, greatest(1, (p_limit + 1) / 2));
$$;

-- A share of a window, reserved for batch messages that wait while HTTP calls keep the window full. `calls_left` of it can be taken between
-- ready_ms and at_ms + 60000. The reservation counts its calls: for the 60 s in which the window counts them, it admits fewer other calls.
-- The share is ready when the earlier calls leave capacity for it, so that no 60 s ever exceed the limit: up to the last call that the
-- window admitted there was capacity for the share, and after that only the share is used. Before its 60 s end it is reserved again
-- (at_ms), since it may be ready just at their end. Each call taken from it is counted as usual. Keys may have different limits: a share
-- belongs to the limit for which it was reserved.
create table window_share (
  workspace_id uuid primary key references rate_window on delete cascade,
  call_limit int not null,
  at_ms bigint not null,
  ready_ms bigint not null,
  calls_left int not null
) with (fillfactor = 50);

-- Reserves a tenth of the window, at least one call, or reserves it again. The caller has locked the row of rate_window.
create function reserve_share(p_ws uuid, p_limit int, p_again boolean) returns void
language plpgsql volatile set enable_seqscan = off as $$
declare
  share int := greatest(1, p_limit / 10);
  w rate_window;
  last_before bigint;
  ready bigint;
begin
  select * into w from rate_window where workspace_id = p_ws;
  last_before := w.calls - (p_limit - share);
  ready := case when last_before > w.passed then window_call(p_ws, last_before) + 60000 else w.last_ms end;
  perform admit_calls(
    array_fill(p_ws, array[share]), array_fill(null::int, array[share]), array_fill(null::uuid, array[share]),
    array_fill(null::uuid, array[share]), array_fill(null::text, array[share]), array_fill(null::bigint, array[share]),
    array_fill(null::boolean, array[share]), array_fill(null::bigint, array[share]), array_fill(null::bigint, array[share]),
    array_fill(null::bigint, array[share]), null);
  insert into window_share (workspace_id, call_limit, at_ms, ready_ms, calls_left)
  select p_ws, p_limit, r.last_ms, ready, share from rate_window r where r.workspace_id = p_ws
  on conflict (workspace_id) do update set call_limit = excluded.call_limit, at_ms = excluded.at_ms,
    ready_ms = case when p_again then window_share.ready_ms else excluded.ready_ms end,
    calls_left = case when p_again then window_share.calls_left else excluded.calls_left end;
end $$;

-- An offer of an entry point. `error`: rejected by validation, only counted and recorded. `tokens_error`, `funds_error`: recorded after a
-- rejection by the database. `may_wait`: waits uncounted while the window is half full (batch_limit); otherwise it is counted, and rejected
-- if the window is full. `starves`: it has waited for longer than a window, and no other batch message of its workspace found the window
-- open meanwhile. `is_counted` false: the window neither counts nor rejects it, because it is a step of a counted run. `is_run`: a run
-- begins with this id in the same statement; it is counted like a job and holds nothing (see admit_run). `batch_id`, `batch_epoch`: the
-- batch of its line, offered by its leader of this epoch. `scopes`, `labels`: as in hold.
create type job_offer as (
  n int, id uuid, workspace_id uuid, key_id uuid, pool text, lane text, kind text, modality text, model text, work jsonb,
  request text, request_ref text, publisher_key text, reply text, is_hidden boolean, keeps_record boolean, error jsonb, tokens_error jsonb,
  funds_error jsonb, budget_error jsonb, call_limit int, may_wait boolean, amount bigint, may_exceed boolean, tokens bigint, day_cap bigint,
  deadline_ms bigint, hold_ms bigint, starves boolean, is_counted boolean, run_id uuid, step_id text, parent_id uuid,
  traceparent text, is_run boolean, batch_id uuid, batch_epoch int, scopes uuid[], labels jsonb
);

-- Decides window, daily tokens, balance, hold, job row and first dispatch of grouped offers, in one transaction. A starving offer is taken
-- from the window's share. If an id has usage already, the job is the next attempt, in its row, its hold and the result. Verdicts: 0
-- admitted, 1 window full (nothing stored; wait_ms until it opens, for offers that may wait), 2 daily tokens used up, 3 balance too low, 4
-- busy (locked elsewhere, nothing done), 5 unknown workspace (nothing stored), 6 known already (nothing done), 7 rejected as offered, 8 the
-- start of a run was counted (its job row, which reserved the id, is deleted in the same statement), 9 a budget is spent, 10 its batch has
-- another leader or has ended (nothing stored), 11 the workspace's credit lines are being reclaimed (counted, nothing stored), 12 credit
-- lines of crashed ingresses cover it (counted, nothing stored; wait_ms until the credits return), 13 a spend limit leaves less. 2, 3, 7, 9 and
-- 13 write the row as refused, and reason contains the differences of the error of 9 and 13 from `budget_error`. wait_ms of an offer admitted from the window's share is -1. number: dispatch to publish now, 0 for none.
create function admit_jobs(p_requests jsonb, p_wait_ms int)
returns table (n int, verdict smallint, wait_ms bigint, number int, attempt smallint, reason jsonb)
language plpgsql set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
  offers job_offer[];
  -- Batches of its lines, and indexes of lines whose leader lost its lease.
  batches uuid[]; late int[];
  reasons jsonb[];
  o job_offer;
  fresh uuid[];
  -- Offers with an id that was used before, and their attempts.
  again uuid[]; attempts smallint[];
  v smallint[];
  waits bigint[];
  numbers int[];
  -- One element for each locked window.
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
  due_ms bigint;
  aside window_share;
  short_ws uuid[] := '{}';
  short_limits int[] := '{}';
  short_again boolean[] := '{}';
  is_aside boolean;
begin
  select array_agg(t order by t.n), array_agg(distinct t.batch_id) filter (where t.batch_id is not null) into offers, batches
  from jsonb_populate_recordset(null::job_offer, p_requests) t;
  if p_wait_ms is not null then perform set_config('lock_timeout', p_wait_ms::text, true); end if;
  if batches is not null then
    -- Until this transaction ends, no other leader takes the batches over. The next one therefore finds all lines admitted here.
    perform from batch where id = any (batches) order by id for key share;
    select array_agg(t order by t.n) filter (where l.is_led), array_agg(t.n) filter (where not l.is_led) into offers, late
    from unnest(offers) t cross join lateral (
      select t.batch_id is null or exists (
        select from batch b where b.id = t.batch_id and b.epoch = t.batch_epoch and b.ended_at is null) as is_led) l;
    return query select l.n, 10::smallint, 0::bigint, 0, 1::smallint, null::jsonb from unnest(late) l(n);
    if offers is null then return; end if;
  end if;
  v := array_fill(6::smallint, array[cardinality(offers)]);
  waits := array_fill(0::bigint, array[cardinality(offers)]);
  numbers := array_fill(0, array[cardinality(offers)]);

  -- Rows are inserted in the order of ids: two processes with the same jobs cannot deadlock.
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
           -- An id of version 5 is derived from a name, which may be used again after its job was deleted.
           case when get_byte(uuid_send(t.id), 6) >> 4 = 5 then 1 + greatest(0,
             (select max(u.attempt) from usage_record u where u.workspace_id = t.workspace_id and u.job_id = t.id),
             (select a.attempt from archived_attempt a where a.workspace_id = t.workspace_id and a.job_id = t.id)) else 1 end
    from unnest(offers) t
    order by t.id, t.n
    on conflict (id) do nothing
    returning id, attempt)
  select array_agg(a.id), array_agg(a.id) filter (where a.attempt > 1), array_agg(a.attempt) filter (where a.attempt > 1)
  into fresh, again, attempts from added a;
  -- A publisher's key may belong to a run. The rows are inserted by now, so a statement that waited for the start of the run sees it.
  with runs as (delete from job j using run where j.id = any (fresh) and run.id = j.id returning j.id)
  select array_agg(f.id) into fresh from unnest(fresh) f(id) where f.id not in (select id from runs);
  if fresh is null then
    return query select t.n, 6::smallint, 0::bigint, 0, 1::smallint, null::jsonb from unnest(offers) t;
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
  if exists (select from lined_calls where workspace_id = any (wss)) then
    perform count_lined_calls(ws, now_ms) from unnest(wss) l(ws);
    select array_agg(s.calls), array_agg(s.last_ms), array_agg(s.shift_ms), array_agg(s.passed) into w_calls, w_at, w_shift, w_passed
    from (select * from rate_window where workspace_id = any (wss) order by workspace_id) s;
  end if;

  -- A job whose window is full must wait uncounted: counted attempts would keep the window full. So each call is first checked against the
  -- ring, under the same lock in which admit_calls decides.
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
    past := w_calls[w] + w_taken[w] + 1 - case when o.may_wait then batch_limit(o.call_limit) else o.call_limit end;
    -- Waiting does not help against a spent budget.
    if o.may_wait and past > w_passed[w]
      and not exists (select from balance b where b.workspace_id = o.workspace_id and b.spent >= b.stop_at) then
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
      array_agg(t.tokens order by s.k), array_agg(t.day_cap order by s.k), array_agg(t.hold_ms order by s.k), p_wait_ms,
      p_scopes => array_agg(t.scopes::text order by s.k), p_labels => array_agg(t.labels order by s.k))
    into given
    from unnest(sent) with ordinality s(i, k) join unnest(offers) t on t.n = offers[s.i].n;
    if again is not null then
      update hold h set attempt = a.attempt from unnest(again, attempts) a(id, attempt)
      join job j on j.id = a.id
      where h.workspace_id = j.workspace_id and h.job_id = a.id and h.attempt = 1;
    end if;
    for k in 1 .. cardinality(sent) loop
      v[sent[k]] := given[k];
      if given[k] = 3 and recall_credit_lines(offers[sent[k]].workspace_id, offers[sent[k]].amount) >= offers[sent[k]].amount then
        v[sent[k]] := 11;
      elsif given[k] = 3 then
        due_ms := funds_due(offers[sent[k]].workspace_id, offers[sent[k]].amount);
        -- A run must not stall until a credit line ends.
        if due_ms is not null and (offers[sent[k]].step_id is null or due_ms <= 10000) then
          v[sent[k]] := 12;
          waits[sent[k]] := due_ms;
        end if;
      end if;
      if given[k] = 9 then reasons[sent[k]] := jsonb_build_object('message', budget_reached(offers[sent[k]].workspace_id)); end if;
      if given[k] = 13 then
        o := offers[sent[k]];
        reasons[sent[k]] := spend_refusal(o.workspace_id, o.key_id, o.scopes, o.amount, o.may_exceed);
        if o.step_id is null then reasons[sent[k]] := reasons[sent[k]] - 'is_final'; end if;
      end if;
      if given[k] = 0 and offers[sent[k]].error is not null then v[sent[k]] := 7; end if;
      if given[k] = 0 and offers[sent[k]].is_run then v[sent[k]] := 8; end if;
      if given[k] = 1 and offers[sent[k]].may_wait then waits[sent[k]] := 1000; end if;
    end loop;
  end if;

  for k in 1 .. cardinality(short_ws) loop
    perform reserve_share(short_ws[k], short_limits[k], short_again[k]);
  end loop;

  delete from job where id in (select offers[i].id from generate_subscripts(offers, 1) i where v[i] in (1, 4, 5, 8, 11, 12));
  update job set state = 'refused', request = null, ended_at = clock_timestamp(),
    error = case v[i] when 2 then offers[i].tokens_error when 3 then offers[i].funds_error
                      else offers[i].budget_error || reasons[i] end
  from generate_subscripts(offers, 1) i
  where v[i] in (2, 3, 9, 13) and job.id = offers[i].id;

  -- The first dispatch, for jobs whose workspace has capacity in the queue and no earlier waiting jobs.
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
    select offers[i].n, v[i], waits[i], numbers[i], coalesce(attempts[array_position(again, offers[i].id)], 1::smallint), reasons[i]
    from generate_subscripts(offers, 1) i;
end $$;

-- Inserts the job of an offer without obstacles: p_worker owns it immediately, and is about to call a provider for it; null: it is queued.
-- Returns 1, or 0 if it waits for queue capacity. Returns null without changes if it is not new, its id was used before and admit_jobs must
-- determine its attempt, or it would overtake waiting jobs. With concurrent calls, a few may exceed their workspace's share. The calling
-- function sets the planner's options.
create function place_job(o job_offer, p_worker uuid, p_lease_ms int) returns int language plpgsql as $$
declare
  at_utc timestamptz := clock_timestamp();
  has_owner boolean := p_worker is not null;
  has_room boolean;
  share int;
begin
  if get_byte(uuid_send(o.id), 6) >> 4 = 5 and (
    exists (select from usage_record u where u.workspace_id = o.workspace_id and u.job_id = o.id)
    or exists (select from archived_attempt a where a.workspace_id = o.workspace_id and a.job_id = o.id)) then return null; end if;
  has_room := not exists (
    select from job j where j.pool = o.pool and j.lane = o.lane and j.workspace_id = o.workspace_id and j.state = 'queued'
      and j.dispatched_at is null and j.not_before is null);
  -- A job with an owner takes the place of the previous one.
  if has_owner and not has_room then return null; end if;
  if has_room and not has_owner then
    share := job_share(o.pool, o.lane);
    has_room := share > (
      select count(*) from (
        select from job j where j.pool = o.pool and j.lane = o.lane and j.workspace_id = o.workspace_id
          and j.state in ('queued', 'running') and j.dispatched_at is not null limit share) x);
  end if;
  insert into job (id, workspace_id, key_id, pool, lane, kind, modality, model, state, work, request, request_ref, publisher_key, reply,
                   is_hidden, keeps_record, run_id, step_id, parent_id, traceparent, deadline, epoch, claims, worker, lease_until,
                   started_at, intent_at, intent_is_direct, dispatch, dispatched_at)
  values (o.id, o.workspace_id, o.key_id, o.pool, o.lane, o.kind, o.modality, o.model, case when has_owner then 'running' else 'queued' end,
          o.work, o.request, o.request_ref, o.publisher_key, o.reply, coalesce(o.is_hidden, false), coalesce(o.keeps_record, false),
          o.run_id, o.step_id, o.parent_id, o.traceparent, at_utc + o.deadline_ms * interval '1 millisecond', has_owner::int,
          has_owner::int, p_worker, at_utc + p_lease_ms * interval '1 millisecond', case when has_owner then at_utc end,
          case when has_owner then at_utc end, has_owner, has_room::int, case when has_room then at_utc end)
  on conflict (id) do nothing;
  if not found then return null; end if;
  return has_room::int;
end $$;

-- Decides like admit_jobs for a single offer without obstacles, that is no batch line and does not starve: the group form costs twice as
-- much for a group of one. Waits for its workspace's rows, like admit_call. Returns the result of place_job; null, or SQLSTATE SL003,
-- without changes if admit_jobs must decide.
create function admit_job(p_offer jsonb) returns int
language plpgsql set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
  o job_offer := jsonb_populate_record(null::job_offer, p_offer);
  number int;
begin
  if o.error is not null or o.starves or o.is_run or o.batch_id is not null then return null; end if;
  number := place_job(o, null, null);
  if number is null then return null; end if;
  -- A publisher's key may belong to a run. The row is inserted by now, so a statement that waited for the start of the run sees it.
  if exists (select from run where id = o.id)
    or admit_call(o.workspace_id, case when o.is_counted is false then -1 when o.may_wait then batch_limit(o.call_limit) else o.call_limit end, o.id, o.key_id, o.model, o.amount,
                  o.may_exceed, o.tokens, o.day_cap, o.hold_ms, null, o.scopes, o.labels) <> 0 then
    raise exception 'an offer is not admitted by itself' using errcode = 'SL003';
  end if;
  return number;
end $$;

-- The workspace that the round robin has reached.
create table job_round (
  pool text not null,
  lane text not null,
  workspace_id uuid not null,
  primary key (pool, lane)
) with (fillfactor = 50);

-- Returns the next workspaces of the round with waiting jobs, at most p_max, with one index look-up each. Deferred jobs do not count as
-- waiting.
create function job_round_next(p_pool text, p_lane text, p_max int) returns uuid[]
language plpgsql set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
  started uuid;
  at uuid;
  found_ws uuid;
  wss uuid[] := '{}';
  is_second_lap boolean := false;
begin
  select workspace_id into started from job_round where pool = p_pool and lane = p_lane;
  started := coalesce(started, '00000000-0000-0000-0000-000000000000');
  at := started;
  while cardinality(wss) < p_max loop
    select workspace_id into found_ws from job
    where pool = p_pool and lane = p_lane and state = 'queued' and dispatched_at is null and not_before is null and workspace_id > at
    order by workspace_id limit 1;
    if found_ws is null or (is_second_lap and found_ws > started) then
      exit when is_second_lap;
      is_second_lap := true;
      at := '00000000-0000-0000-0000-000000000000';
      continue;
    end if;
    wss := wss || found_ws;
    at := found_ws;
  end loop;
  if cardinality(wss) > 0 then
    insert into job_round (pool, lane, workspace_id) values (p_pool, p_lane, at)
    on conflict (pool, lane) do update set workspace_id = excluded.workspace_id;
  end if;
  return wss;
end $$;

-- Releases waiting jobs of a pool and lane to the queue, round robin over the workspaces, each up to its share; jobs whose deferral has
-- ended become waiting. One dispatcher at a time: a concurrent one does nothing, and is called again later.
create function release_jobs(p_pool text, p_lane text, p_max int)
returns table (id uuid, workspace_id uuid, attempt smallint, dispatch int, deadline timestamptz)
language plpgsql set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
  share int;
  wss uuid[];
begin
  if not pg_try_advisory_xact_lock(hashtext('release_jobs'), hashtext(p_pool || '.' || p_lane)) then return; end if;
  update job set not_before = null
  where job.id = any (array(
    select r.id from job r
    where r.pool = p_pool and r.lane = p_lane and r.state = 'queued' and r.not_before <= now()
    order by r.not_before limit p_max for update skip locked));
  wss := job_round_next(p_pool, p_lane, p_max);
  if cardinality(wss) = 0 then return; end if;
  share := job_share(p_pool, p_lane);
  return query
  with waiting as (
    select t.ws as workspace_id from unnest(wss) t(ws)
  ), next as (
    select j.id, c.have + row_number() over (partition by s.workspace_id order by j.created_at) as place, j.created_at
    from waiting s
    cross join lateral (
      select count(*) as have from (
        select from job where pool = p_pool and lane = p_lane and workspace_id = s.workspace_id
          and state in ('queued', 'running') and dispatched_at is not null limit share) x) c
    cross join lateral (
      select id, created_at from job where pool = p_pool and lane = p_lane and workspace_id = s.workspace_id
        and state = 'queued' and dispatched_at is null and not_before is null
      order by created_at limit greatest(0, share - c.have)) j
  ), chosen as (
    -- Given as an array, so that jobs are looked up by id: a join would read all waiting ones.
    select j.id from job j
    where j.id = any (array(select n.id from next n order by n.place, n.created_at limit p_max))
      and j.state = 'queued' and j.dispatched_at is null and j.not_before is null
    order by j.id for update of j skip locked
  )
  update job j set dispatch = j.dispatch + 1, dispatched_at = clock_timestamp(), stream_seq = null
  from chosen where j.id = chosen.id
  returning j.id, j.workspace_id, j.attempt, j.dispatch, j.deadline;
end $$;
