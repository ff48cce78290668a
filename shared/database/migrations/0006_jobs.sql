-- Durable jobs: the record of everything that was admitted and need not be answered while its caller waits. A row is its own
-- outbox: `dispatch` numbers the work messages written for it, `dispatched_at` and `stream_seq` tell what became of the last.
--
-- Locks: jobs by id before everything else (rate_window, hold, balance as in 0001). Nobody waits for the job of another
-- while holding a balance.
--
-- Who may write what: an owner names its epoch and finds the row `running`; whoever is no owner finds it without a live
-- lease. Final states (completed, failed, cancelled, refused) are never left.

create table job (
  id uuid primary key,
  workspace_id uuid not null,
  -- Null when a message was refused before a key was found.
  key_id uuid,
  pool text not null,
  lane text not null constraint job_lane check (lane in ('live', 'batch')),
  kind text not null,
  modality text not null,
  model text,
  state text not null
    constraint job_state check (state in ('queued', 'running', 'completed', 'failed', 'cancelled', 'refused')),
  attempt smallint not null default 1,
  -- 0: not on the queue yet, because its workspace has enough there.
  dispatch int not null default 0,
  dispatched_at timestamptz,
  stream_seq bigint,
  -- When the message under stream_seq was last looked up.
  checked_at timestamptz,
  epoch int not null default 0,
  worker uuid,
  lease_until timestamptz,
  -- How often it was claimed, over all dispatches.
  claims smallint not null default 0,
  -- A provider may have been asked: from here on the job is never run a second time.
  intent_at timestamptz,
  -- What a provider that works by itself calls the job; whoever takes over asks there.
  provider_job jsonb,
  cancel_requested boolean not null default false,
  deadline timestamptz not null,
  -- The work message less what changes with each dispatch and less the request.
  work jsonb not null,
  -- The request as JSON text, or where it lies when it is large. Text, since jsonb takes neither \u0000 nor lone surrogates.
  request text,
  request_ref text,
  -- The publisher's name for it and where it wants to hear.
  publisher_key text,
  reply text,
  -- Of a caller that wanted a stream: nobody can ask for it afterwards.
  is_hidden boolean not null default false,
  result text,
  result_ref text,
  error jsonb,
  -- Nano-credits taken.
  credits bigint,
  created_at timestamptz not null default clock_timestamp(),
  started_at timestamptz,
  ended_at timestamptz
) with (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.01);

create index job_waiting on job (pool, lane, workspace_id, created_at) where state = 'queued' and dispatched_at is null;
create index job_out on job (pool, lane, workspace_id)
  where state in ('queued', 'running') and dispatched_at is not null;
create index job_unclaimed on job (dispatched_at) where state = 'queued' and dispatched_at is not null;
create index job_deadline on job (deadline) where state = 'queued';
create index job_cancelled on job (lane) where state = 'queued' and cancel_requested;
create index job_lease on job (lease_until) where state = 'running';
create index job_ended on job (ended_at) where ended_at is not null;

-- Slots that workers offer, told anew with every beat: the dispatcher's measure of the fleet.
create table worker_slots (
  worker uuid not null,
  pool text not null,
  lane text not null,
  slots int not null,
  seen_at timestamptz not null default clock_timestamp(),
  primary key (worker, pool, lane)
) with (fillfactor = 50);

-- How many jobs of one workspace may be on the queue of a pool and lane at once: two fleets full, shared among the workspaces
-- that have work there. At least 4, so that a small fleet is kept busy between two looks; at most half of what the stream
-- takes of one workspace. While no worker is known, as for sixteen slots: there is something to begin with when they come.
create function job_share(p_pool text, p_lane text) returns int
language sql volatile set enable_seqscan = off as $$
  select least(1000, greatest(4, ceil(2.0 * coalesce(s.slots, 16) / greatest(a.active, 1))))::int
  from (select nullif(sum(slots), 0) as slots from worker_slots
        where pool = p_pool and lane = p_lane and seen_at > clock_timestamp() - interval '45 seconds') s,
       (select count(distinct workspace_id) as active from job
        where pool = p_pool and lane = p_lane and state in ('queued', 'running') and dispatched_at is not null) a
$$;

-- What a door asks for. `error`: refused by validation, to be counted and remembered only. `tokens_error`, `funds_error`: what
-- to remember when the database refuses. `may_wait`: a full window makes it wait uncounted; else it is counted and refused.
create type job_offer as (
  n int, id uuid, workspace_id uuid, key_id uuid, pool text, lane text, kind text, modality text, model text, work jsonb,
  request text, request_ref text, publisher_key text, reply text, is_hidden boolean, error jsonb, tokens_error jsonb,
  funds_error jsonb, call_limit int, may_wait boolean, amount bigint, may_exceed boolean, tokens bigint, day_cap bigint, deadline_ms bigint, hold_ms bigint
);

-- Time of call `p_number` of a workspace's window (see 0002), whose row the caller has locked.
create function window_call(p_ws uuid, p_number bigint) returns bigint
language plpgsql volatile set enable_seqscan = off as $$
declare
  w rate_window;
  block bigint[];
begin
  select * into w from rate_window where workspace_id = p_ws;
  if (p_number - 1) / 32 = w.calls / 32 then return w.recent[(p_number - 1) % 32 + 1]; end if;
  select at_ms into block from rate_block where workspace_id = p_ws and slot = ((p_number - 1) / 32 % 144)::smallint;
  return block[(p_number - 1) % 32 + 1];
end $$;

-- Window, daily tokens, funds, hold, job row and first dispatch of grouped offers, in one transaction.
-- Verdicts: 0 admitted, 1 window full (nothing is kept; wait_ms until it opens, for those that may wait), 2 daily tokens used up, 3 funds
-- missing, 4 busy (locked elsewhere, nothing done), 5 unknown workspace (nothing kept), 6 known already (nothing done),
-- 7 refused as offered. 2, 3 and 7 leave the row as refused. number: the dispatch to publish now, 0 for none.
create function admit_jobs(p_offers jsonb, p_wait_ms int)
returns table (n int, verdict smallint, wait_ms bigint, number int)
language plpgsql set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
  offers job_offer[];
  o job_offer;
  fresh uuid[];
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
begin
  select array_agg(t order by t.n) into offers from jsonb_populate_recordset(null::job_offer, p_offers) t;
  v := array_fill(6::smallint, array[cardinality(offers)]);
  waits := array_fill(0::bigint, array[cardinality(offers)]);
  numbers := array_fill(0, array[cardinality(offers)]);
  if p_wait_ms is not null then perform set_config('lock_timeout', p_wait_ms::text, true); end if;

  -- In the order of ids: two doors with the same jobs wait for each other one way round only.
  with added as (
    insert into job (id, workspace_id, key_id, pool, lane, kind, modality, model, state, work, request, request_ref,
                     publisher_key, reply, is_hidden, error, deadline, ended_at)
    select distinct on (t.id) t.id, t.workspace_id, t.key_id, t.pool, t.lane, t.kind, t.modality, t.model,
           case when t.error is null then 'queued' else 'refused' end, t.work, t.request, t.request_ref,
           t.publisher_key, t.reply, coalesce(t.is_hidden, false), t.error, clock_timestamp() + t.deadline_ms * interval '1 millisecond',
           case when t.error is not null then clock_timestamp() end
    from unnest(offers) t
    order by t.id, t.n
    on conflict (id) do nothing
    returning id)
  select array_agg(id) into fresh from added;
  if fresh is null then
    return query select t.n, 6::smallint, 0::bigint, 0 from unnest(offers) t;
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
    past := w_calls[w] + w_taken[w] + 1 - o.call_limit;
    if o.may_wait and past > w_passed[w] then
      at_ms := greatest(now_ms + window_shift(now_ms, w_at[w], w_shift[w]), w_at[w]);
      if past > w_calls[w] then
        v[i] := 1;
        waits[i] := 60000;
        continue;
      end if;
      opens_ms := window_call(o.workspace_id, past) + 60000 - at_ms;
      if opens_ms > 0 then
        v[i] := 1;
        waits[i] := opens_ms;
        continue;
      end if;
    end if;
    w_taken[w] := w_taken[w] + 1;
    sent := sent || i;
  end loop;

  if cardinality(sent) > 0 then
    select admit_calls(
      array_agg(t.workspace_id order by s.k), array_agg(t.call_limit order by s.k),
      array_agg(case when t.error is null then t.id end order by s.k), array_agg(t.key_id order by s.k),
      array_agg(t.model order by s.k), array_agg(t.amount order by s.k), array_agg(t.may_exceed order by s.k),
      array_agg(t.tokens order by s.k), array_agg(t.day_cap order by s.k), array_agg(t.hold_ms order by s.k), p_wait_ms)
    into given
    from unnest(sent) with ordinality s(i, k) join unnest(offers) t on t.n = offers[s.i].n;
    for k in 1 .. cardinality(sent) loop
      v[sent[k]] := given[k];
      if given[k] = 0 and offers[sent[k]].error is not null then v[sent[k]] := 7; end if;
      if given[k] = 1 and offers[sent[k]].may_wait then waits[sent[k]] := 1000; end if;
    end loop;
  end if;

  delete from job where id in (select offers[i].id from generate_subscripts(offers, 1) i where v[i] in (1, 4, 5));
  update job set state = 'refused', request = null, ended_at = clock_timestamp(),
    error = case v[i] when 2 then offers[i].tokens_error else offers[i].funds_error end
  from generate_subscripts(offers, 1) i
  where v[i] in (2, 3) and job.id = offers[i].id;

  -- The first dispatch, for those whose workspace has room on the queue and nobody waiting before them.
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
                         and workspace_id = offers[g.i].workspace_id and state = 'queued' and dispatched_at is null
                         and not id = any (fresh)) as has_waiting) c
      where v[g.i] = 0 and offers[g.i].pool = r.pool and offers[g.i].lane = r.name and not c.has_waiting
    loop
      if offered.place <= share then
        numbers[offered.i] := 1;
        update job set dispatch = 1, dispatched_at = clock_timestamp() where id = offers[offered.i].id;
      end if;
    end loop;
  end loop;

  return query select offers[i].n, v[i], waits[i], numbers[i] from generate_subscripts(offers, 1) i;
end $$;

-- Where the round over the workspaces with waiting jobs has come to.
create table job_round (
  pool text not null,
  lane text not null,
  workspace_id uuid not null,
  primary key (pool, lane)
) with (fillfactor = 50);

-- The next workspaces of the round that have waiting jobs, at most p_max, one index look-up each.
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
    where pool = p_pool and lane = p_lane and state = 'queued' and dispatched_at is null and workspace_id > at
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

-- Lets waiting jobs of a pool and lane onto the queue, round robin over the workspaces, each up to its share. One at a time:
-- who finds another at it does nothing, and rings again or sweeps.
create function release_jobs(p_pool text, p_lane text, p_max int)
returns table (id uuid, workspace_id uuid, attempt smallint, dispatch int, deadline timestamptz)
language plpgsql set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
  share int;
  wss uuid[];
begin
  if not pg_try_advisory_xact_lock(hashtext('release_jobs'), hashtext(p_pool || '.' || p_lane)) then return; end if;
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
        and state = 'queued' and dispatched_at is null
      order by created_at limit greatest(0, share - c.have)) j
  ), chosen as (
    -- As an array, so that they are looked up by id: a join would read everything that waits.
    select j.id from job j
    where j.id = any (array(select n.id from next n order by n.place, n.created_at limit p_max))
      and j.state = 'queued' and j.dispatched_at is null
    order by j.id for update of j skip locked
  )
  update job j set dispatch = j.dispatch + 1, dispatched_at = clock_timestamp(), stream_seq = null
  from chosen where j.id = chosen.id
  returning j.id, j.workspace_id, j.attempt, j.dispatch, j.deadline;
end $$;

-- Ends a job: closes its hold, writes the usage record and the outcome, once. Null: not ours any more; -1: its hold or balance
-- is locked elsewhere, nothing done; else nano-credits taken.
-- p_owned: an owner ends its running job. Otherwise somebody ends a job that has no live owner, as it was seen at p_epoch.
-- p_keep: the request stays, for an operator who may send the job on its way again.
-- p_wait_ms: how long the balance is waited for (SQLSTATE 55P03 after that); null does not wait.
create function finish_job(
  p_id uuid, p_epoch int, p_owned boolean, p_state text, p_used bigint, p_usage text, p_source text, p_units jsonb,
  p_estimated boolean, p_tokens bigint, p_result text, p_result_ref text, p_error jsonb, p_keep boolean, p_wait_ms int
) returns bigint language plpgsql set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
  j job;
  taken bigint;
begin
  select * into j from job where id = p_id for update;
  if not found or j.epoch <> p_epoch then return null; end if;
  if p_owned then
    if j.state <> 'running' then return null; end if;
  elsif j.state not in ('queued', 'running') or j.lease_until > clock_timestamp() then return null;
  end if;
  taken := (finish_calls(array[p_id], array[j.attempt], array[p_used], array[p_usage], array[p_source], array[p_units],
                         array[p_estimated], array[p_tokens], p_wait_ms))[1];
  if taken = -1 then return -1; end if;
  if taken is null then
    -- Closed before, by the sweep of expired holds.
    select settled into taken from usage_record where job_id = p_id and attempt = j.attempt;
    taken := coalesce(taken, 0);
  end if;
  update job set state = p_state, lease_until = null, result = p_result, result_ref = p_result_ref, error = p_error,
    credits = taken, ended_at = clock_timestamp(), request = case when p_keep then request end
  where id = p_id;
  return taken;
end $$;

-- An operator sends a job that became a dead letter on its way again: next attempt, new hold, all in one. It waits for room on
-- the queue like any other. Result: done, unknown (no such letter, or redriven before), over (no job that could be run again),
-- funds (they do not cover it any more).
create function redrive_job(p_letter uuid, p_actor text, p_life_ms bigint, p_hold_ms bigint) returns text language plpgsql as $$
declare
  letter dead_letter;
  j job;
  nano bigint;
  at_utc timestamptz;
  today date;
begin
  select * into letter from dead_letter where id = p_letter and redriven_at is null for update;
  if not found then return 'unknown'; end if;
  select * into j from job where id = letter.job_id for update;
  if not found or j.state <> 'failed' or coalesce(j.request, j.request_ref) is null then return 'over'; end if;
  nano := (j.work->>'hold_nano')::bigint;
  at_utc := clock_timestamp();
  today := (at_utc at time zone 'utc')::date;
  -- As an admission does: the day's count begins anew with its first hold.
  update balance b set held = b.held + nano, day = greatest(b.day, today),
    day_tokens = case when b.day < today then 0 else b.day_tokens end
  where workspace_id = j.workspace_id and b.amount - b.held >= nano;
  if not found then return 'funds'; end if;
  insert into hold (job_id, attempt, workspace_id, key_id, model, amount, may_exceed, day, tokens, deadline, created_at)
  select j.id, j.attempt + 1, j.workspace_id, j.key_id, j.model, nano, (j.work->>'may_exceed')::boolean, b.day, 0,
         at_utc + p_hold_ms * interval '1 millisecond', at_utc
  from balance b where b.workspace_id = j.workspace_id;
  update job set state = 'queued', attempt = attempt + 1, claims = 0, dispatched_at = null, stream_seq = null, checked_at = null,
    lease_until = null, cancel_requested = false, error = null, credits = null, ended_at = null, started_at = null,
    deadline = at_utc + p_life_ms * interval '1 millisecond'
  where id = j.id;
  update dead_letter set redriven_at = at_utc where id = p_letter;
  insert into audit_log (workspace_id, actor, action, subject, detail)
  values (j.workspace_id, p_actor, 'dead_letter.redrive', p_letter::text, jsonb_build_object('job_id', j.id));
  return 'done';
end $$;
