-- Durable jobs: the record of everything that was admitted and need not be answered while its caller waits. A row is its own
-- outbox: `dispatch` numbers the work messages written for it, `dispatched_at` and `stream_seq` tell what became of the last.
--
-- Locks: jobs by id before everything else (then rate_window, hold and balance, as in admission). No transaction that holds a
-- balance waits for the job of another one. The run of a step comes before its jobs (see advance_run); the job that
-- advance_run adds comes after the job that it ends, whatever their ids: no other transaction sees it yet.
--
-- Right to write: an owner names its epoch and finds the row `running`; a process that is not the owner finds it without
-- a live lease. Final states (completed, failed, cancelled, refused) are never left, but by redrive_job.

create domain lane as text constraint lane check (value in ('live', 'batch'));
create domain job_state as text
  constraint job_state check (value in ('queued', 'running', 'completed', 'failed', 'cancelled', 'refused'));

create table job (
  id uuid primary key,
  workspace_id uuid not null,
  -- Null when a message was refused before a key was found.
  key_id uuid,
  pool text not null,
  lane lane not null,
  kind text not null,
  modality text not null,
  model text,
  state job_state not null,
  -- State in the record that lies in the object store; behind `state` until it is written.
  recorded text,
  -- True where there is such a record. The answer of a call of words is all there is of it.
  keeps_record boolean not null default false,
  attempt smallint not null default 1,
  -- 0: not on the queue yet, because its workspace has enough there.
  dispatch int not null default 0,
  dispatched_at timestamptz,
  stream_seq bigint,
  -- Time of the last look for the message under stream_seq.
  checked_at timestamptz,
  -- Not let out before; null when it may be.
  not_before timestamptz,
  -- Number of times that it was taken and found no source free.
  deferrals smallint not null default 0,
  epoch int not null default 0,
  worker uuid,
  -- Lease given with the claim; after it the lease of its worker counts (see lease_end). Null: nobody has it.
  lease_until timestamptz,
  -- Number of times that it was claimed, over all dispatches.
  claims smallint not null default 0,
  -- A provider may have been asked: from here on the job is never run a second time.
  intent_at timestamptz,
  -- The provider that a job's intent names answers in the same exchange and keeps no job: when the owner of such a job dies,
  -- there is no provider's job to ask for.
  intent_is_direct boolean not null default false,
  -- Record of the job at a provider that works by itself; the worker that takes the job over asks there. It holds what finds the
  -- job at its provider, and:
  --   start            a start that has no answer yet: {id, mark, sent_ms, lost_ms, told}; see workers/calls/media/held-price.ts
  --   names            names of the job and its halves at the provider, where the provider lists its jobs
  --   unknown_for_ms   how long it is asked about when its provider gives no verdict
  provider_job jsonb,
  -- Names that it had at providers that it has left, each behind its provider and a slash: no other job takes what they stand for.
  past_names jsonb,
  -- 0 to 1, as its provider tells it.
  progress real not null default 0,
  -- Paid work may exist whose outcome is not known: the hold stays until it is, or is written off.
  unknown_since timestamptz,
  -- Time at which its provider is asked once more.
  ask_at timestamptz,
  cancel_requested boolean not null default false,
  deadline timestamptz not null,
  -- The work message less what changes with each dispatch and less the request.
  work jsonb not null,
  -- The request as JSON text, or its place when it is large. Text, since jsonb takes neither \u0000 nor lone surrogates.
  request text,
  request_ref text,
  -- The publisher's name for it, and the subject on which it wants to hear.
  publisher_key text,
  reply text,
  -- Its caller wanted a stream: it cannot be asked for afterwards.
  is_hidden boolean not null default false,
  -- The step of a run that it does, or the job that started it; null for a caller's own.
  run_id uuid,
  step_id text,
  parent_id uuid,
  -- W3C trace context of the request that asked for it.
  traceparent text,
  result text,
  result_ref text,
  error jsonb,
  -- Model asked for (from) and number of fallbacks tried (depth) of a job whose fallbacks all failed. Results have their own.
  fallback jsonb,
  -- Nano-credits taken.
  credits bigint,
  created_at timestamptz not null default clock_timestamp(),
  started_at timestamptz,
  ended_at timestamptz
) with (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.01);

-- Jobs that wait for room on the queue, and those that were deferred.
create index job_letting_out on job (pool, lane, workspace_id, created_at)
  where state = 'queued' and dispatched_at is null and not_before is null;
create index job_deferred on job (pool, lane, not_before) where state = 'queued' and not_before is not null;
create index job_out on job (pool, lane, workspace_id)
  where state in ('queued', 'running') and dispatched_at is not null;
create index job_unclaimed on job (dispatched_at) where state = 'queued' and dispatched_at is not null;
create index job_deadline on job (deadline) where state = 'queued';
create index job_cancelled on job (lane) where state = 'queued' and cancel_requested;
create index job_holder on job (lane, worker) where state = 'running' and lease_until is not null;
create index job_ended on job (ended_at) where ended_at is not null;
create index job_unknown on job (ask_at) where unknown_since is not null and state = 'running';
create index job_unknown_since on job (unknown_since) where unknown_since is not null and state in ('queued', 'running');
create index job_unrecorded on job (created_at)
  where recorded is distinct from state and state <> 'refused' and not is_hidden and keeps_record;
create index job_run on job (run_id, step_id) where run_id is not null;
-- The owner of a job that a provider lists. Few rows have names, and few starts are open at a time.
create index job_provider_names on job using gin ((provider_job->'names')) where provider_job ? 'names';
create index job_past_names on job using gin (past_names) where past_names is not null;
create index job_open_start on job ((provider_job->'start'->>'id')) where provider_job ? 'start' and state = 'running';

-- Returns the time until which a job is its worker's: a heartbeat writes one row for a worker, not one for each of its jobs. Null: nobody has it.
create function lease_end(p_lease_until timestamptz, p_worker uuid) returns timestamptz language sql stable as $$
  select case when p_lease_until is not null
    then greatest(p_lease_until, (select max(w.lease_until) from worker_slots w where w.worker = p_worker)) end
$$;

-- Returns the workers of running jobs whose own lease ended before.
create function silent_workers(p_lane text, p_before timestamptz) returns setof uuid
language sql stable set enable_seqscan = off as $$
  with recursive holder (worker) as (
    (select worker from job where lane = p_lane and state = 'running' and lease_until is not null and worker is not null
     order by worker limit 1)
    union all
    select (select worker from job where lane = p_lane and state = 'running' and lease_until is not null and worker > h.worker
            order by worker limit 1)
    from holder h where h.worker is not null
  )
  select worker from holder h
  where h.worker is not null and not exists (select from worker_slots w where w.worker = h.worker and w.lease_until >= p_before)
$$;

-- Messages of the queue that were given up.
create table dead_letter (
  id uuid primary key,
  stream text not null,
  stream_seq bigint not null,
  subject text not null,
  message_id text,
  reason text not null,
  deliveries integer not null,
  body bytea,
  job_id uuid,
  at timestamptz not null default now(),
  redriven_at timestamptz
);
create index dead_letter_at on dead_letter (at, id);
create index dead_letter_open on dead_letter (at, id) where redriven_at is null;
create index dead_letter_of_job on dead_letter (job_id) where redriven_at is null;
-- Two janitors may see the same message. A sequence alone is not enough: a wiped stream counts from 1 again.
create unique index dead_letter_once on dead_letter (stream, stream_seq, coalesce(message_id, ''), md5(coalesce(body, '')));

-- Ends a job: closes its hold, writes the usage record, the outcome and the event, once. Result: null when it is not the caller's
-- any more; -1 when its hold is locked elsewhere, or credit lines are on their way back, and nothing was done; else nano-credits taken. The lone form of a settle closes the
-- hold whatever stands under its key.
-- p_owned: an owner ends its running job. Otherwise a job is ended that has no live owner, as it was seen at p_epoch.
-- p_error: the error, and `fallback` of the job beside its members.
-- p_keep: the request stays, for an operator who may send the job on its way again.
-- p_wait_ms: how long the balance is waited for (SQLSTATE 55P03 after that); null leaves it to the session.
create function end_job(
  p_id uuid, p_epoch int, p_owned boolean, p_state text, p_used bigint, p_usage text, p_source text, p_units jsonb,
  p_estimated boolean, p_tokens bigint, p_result text, p_result_ref text, p_error jsonb, p_keep boolean, p_wait_ms int
) returns bigint language plpgsql set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
  j job;
  taken bigint;
  at_utc timestamptz;
  tried jsonb := p_error->'fallback';
begin
  p_error := p_error - 'fallback';
  select * into j from job where id = p_id for update;
  if not found or j.epoch <> p_epoch then return null; end if;
  if p_owned then
    if j.state <> 'running' then return null; end if;
  elsif j.state not in ('queued', 'running') or lease_end(j.lease_until, j.worker) > clock_timestamp() then return null;
  end if;
  if p_wait_ms is not null then perform set_config('lock_timeout', p_wait_ms::text, true); end if;
  taken := settle_call(j.workspace_id, p_id, j.attempt, p_used, p_usage, p_source, p_units, p_estimated, p_tokens);
  if taken = -1 then return -1; end if;
  if taken is null then
    -- The sweep of expired holds has closed it before. An answer that was made is its caller's all the same.
    if p_state = 'completed' then
      taken := (settle_delivered(j.workspace_id, p_id, j.attempt, p_used, p_source, p_units, p_estimated, p_tokens)).taken;
      if taken = -1 then return -1; end if;
    else
      select settled into taken from usage_record where workspace_id = j.workspace_id and job_id = p_id and attempt = j.attempt;
      taken := coalesce(taken, 0);
    end if;
  end if;
  at_utc := clock_timestamp();
  update job set state = p_state, lease_until = null, ask_at = null, result = p_result, result_ref = p_result_ref,
    error = p_error, fallback = tried, credits = taken, ended_at = at_utc, request = case when p_keep then request end,
    progress = case when p_state = 'completed' then 1 else progress end
  where id = p_id;
  -- What a background response came to is decided with its money.
  if j.work->'background' = 'true' then
    update response set status = case p_state when 'completed' then coalesce(answered, 'failed') else p_state end, error = p_error
    where id = p_id;
    update conversation set held_by = null where held_by = p_id;
  end if;
  -- A step of a run and a line of a batch have no event of their own: the run or the batch writes one.
  if p_state in ('completed', 'failed') and not j.is_hidden and j.run_id is null and not j.work ? 'batch_line'
    and is_subscribed(j.workspace_id, 'job.' || p_state) then
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

-- Keeps a job whose owner cannot tell the outcome, or that was lost with its owner after a provider may have been asked. It has no
-- owner any more; the job and its hold outlive p_keep_ms from the first time, or the shorter time for which its provider can tell
-- of it. Result: false when it is not as it was seen. The first question comes after a minute, later ones ever more seldom, up to
-- half an hour.
create function note_unknown(p_id uuid, p_epoch int, p_owned boolean, p_keep_ms bigint) returns boolean language plpgsql as $$
declare
  at_utc timestamptz := clock_timestamp();
  since timestamptz;
  until_utc timestamptz;
  kept_ms bigint;
  tries smallint;
  ws uuid;
begin
  select coalesce(unknown_since, at_utc), attempt, workspace_id, least(p_keep_ms, (provider_job->>'unknown_for_ms')::bigint)
  into since, tries, ws, kept_ms from job
  where id = p_id and epoch = p_epoch and (state = 'running' or (state = 'queued' and not p_owned))
    and (p_owned or lease_until is null or lease_end(lease_until, worker) < at_utc)
  for update;
  if not found then return false; end if;
  until_utc := since + kept_ms * interval '1 millisecond';
  -- It takes no place on the queue meanwhile: its workspace's share is for work that can be done.
  update job set state = 'running', unknown_since = since, lease_until = null, worker = null, claims = 0, dispatched_at = null,
    ask_at = at_utc + least(interval '30 minutes', greatest(interval '1 minute', (at_utc - since) / 2)),
    deadline = greatest(deadline, until_utc)
  where id = p_id;
  -- The hold lasts longer than the job, so that the job's end closes it.
  update hold set deadline = greatest(deadline, until_utc + interval '1 hour')
  where workspace_id = ws and job_id = p_id and attempt = tries;
  return true;
end $$;

-- Gives back a job that no source took, for its owner: it comes again after p_delay_ms, and after ever longer the more often this
-- happens, up to two minutes, spread by a fifth. Meanwhile it holds no slot and no place in its workspace's share. The message
-- it came with is void. Result: false when it is not the owner's any more, was cancelled, has no time left, or its hold was moved
-- to a fallback's price; then it ends.
create function defer_job(p_id uuid, p_epoch int, p_delay_ms bigint) returns boolean
language sql volatile set enable_seqscan = off as $$
  with found as (
    select j.id, clock_timestamp() + (0.8 + 0.4 * random())
        * least(120000, greatest(p_delay_ms, 2000 * 2 ^ least(j.deferrals, 6))) * interval '1 millisecond' as again_at
    from job j
    where j.id = p_id and j.epoch = p_epoch and j.state = 'running' and not j.cancel_requested and j.provider_job is null
      and exists (select from hold h where h.workspace_id = j.workspace_id and h.job_id = j.id and h.attempt = j.attempt and h.model = j.model)
    for update of j
  ), deferred as (
    update job set state = 'queued', lease_until = null, intent_at = null, intent_is_direct = false, started_at = null, claims = greatest(0, claims - 1),
      dispatch = dispatch + 1, dispatched_at = null, stream_seq = null, checked_at = null, not_before = found.again_at,
      deferrals = least(deferrals + 1, 1000)
    from found where job.id = found.id and job.deadline > found.again_at
    returning 1)
  select exists (select from deferred);
$$;

-- Sends a job that became a dead letter on its way again, for an operator: next attempt, new hold, all in one. It waits for room on
-- the queue like any other. The job of a step, or of a line of a batch, is not run again: its run or batch has gone on, and would neither
-- take its result nor count its credits. Result: done, unknown (no such letter, or redriven before), over (no job that could be run again), funds (they do not
-- cover it any more).
create function redrive_job(p_letter uuid, p_actor jsonb, p_life_ms bigint, p_hold_ms bigint) returns text language plpgsql as $$
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
  if not found or j.state <> 'failed' or coalesce(j.request, j.request_ref) is null or j.run_id <> j.id or j.work ? 'batch_line' then return 'over'; end if;
  nano := (j.work->>'hold_nano')::bigint;
  at_utc := clock_timestamp();
  today := (at_utc at time zone 'utc')::date;
  -- The day's count begins anew with its first hold, as with an admission.
  perform 1 from balance where workspace_id = j.workspace_id for update;
  perform begin_day(workspace_id, today) from balance where workspace_id = j.workspace_id and day < today;
  update balance b set held = b.held + nano where workspace_id = j.workspace_id and b.amount - b.held >= nano;
  if not found then
    -- An operator who tries again finds them back.
    perform recall_credit_lines(j.workspace_id, nano);
    return 'funds';
  end if;
  insert into hold (job_id, attempt, workspace_id, key_id, model, amount, may_exceed, day, tokens, deadline, created_at)
  select j.id, j.attempt + 1, j.workspace_id, j.key_id, j.model, nano, (j.work->>'may_exceed')::boolean, b.day, 0,
         at_utc + p_hold_ms * interval '1 millisecond', at_utc
  from balance b where b.workspace_id = j.workspace_id;
  update job set state = 'queued', attempt = attempt + 1, claims = 0, dispatched_at = null, stream_seq = null, checked_at = null,
    lease_until = null, cancel_requested = false, error = null, fallback = null, credits = null, ended_at = null, started_at = null,
    deadline = at_utc + p_life_ms * interval '1 millisecond'
  where id = j.id;
  -- The background response that it answers waits again, without the events of the attempt before.
  if j.work->'background' = 'true' then
    update response set status = 'queued', answered = null, error = null where id = j.id;
    delete from response_event where response_id = j.id;
  end if;
  update dead_letter set redriven_at = at_utc where id = p_letter;
  insert into audit_log (workspace_id, actor, action, subject, after)
  values (j.workspace_id, p_actor, 'dead_letter.redrive', p_letter::text, jsonb_build_object('job_id', j.id));
  return 'done';
end $$;

-- Adopts a provider's job: a job whose start was not answered takes what its provider lists under p_name for its own, and p_record
-- with it. Result: adopted; taken: it is another job's; open: another's start that was sent before p_made_ms (the provider's clock,
-- which may be off by p_clocks_ms) is under way and may be answered with it; void: the job is not the caller's any more. Two that are
-- lost alike may take either.
create function adopt_provider_job(
  p_id uuid, p_epoch int, p_name text, p_made_ms bigint, p_clocks_ms bigint, p_record jsonb
) returns text language plpgsql as $$
declare
  provider text := split_part(p_record->>'source', '/', 1);
  is_open boolean;
begin
  -- Callers take turns for a name: the statements below see what the caller before has written.
  perform pg_advisory_xact_lock(hashtextextended(provider || '/' || p_name, 21));
  -- Open starts are looked for first: one that is answered between the two statements has its name by the second.
  perform from job where provider_job ? 'start' and state = 'running' and id <> p_id and lease_end(lease_until, worker) > clock_timestamp()
    and split_part(provider_job->>'source', '/', 1) = provider and provider_job->'start'->'lost_ms' is null
    and (provider_job->'start'->>'sent_ms')::bigint <= p_made_ms + p_clocks_ms;
  is_open := found;
  perform from job where provider_job ? 'names' and provider_job->'names' ? p_name and id <> p_id
    and split_part(provider_job->>'source', '/', 1) = provider;
  if found then return 'taken'; end if;
  perform from job where past_names ? (provider || '/' || p_name);
  if found then return 'taken'; end if;
  if is_open then return 'open'; end if;
  update job set provider_job = p_record where id = p_id and epoch = p_epoch and state = 'running';
  return case when found then 'adopted' else 'void' end;
end $$;
