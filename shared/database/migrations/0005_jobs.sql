-- Durable jobs: records of all admitted work that is not answered while its caller waits. A row is its own outbox: `dispatch` numbers its
-- work messages; `dispatched_at` and `stream_seq` describe the last one.
--
-- Locks: jobs by id before everything else (then rate_window, hold and balance, as in admission). No transaction that has locked a balance
-- waits for the job of another one. The run of a step precedes its jobs (see advance_run); the job that advance_run adds is locked after
-- the job that it ends, regardless of their ids, because no other transaction sees it yet.
--
-- Permission to write: an owner names its epoch and finds the row `running`; another process finds it without a live lease. Final states
-- (completed, failed, cancelled, refused) never change, except by redrive_job.

create domain lane as text constraint lane check (value in ('live', 'batch'));
create domain job_state as text
  constraint job_state check (value in ('queued', 'running', 'completed', 'failed', 'cancelled', 'refused'));

create table job (
  id uuid primary key,
  workspace_id uuid not null,
  -- Null if a message was rejected before its key was found.
  key_id uuid,
  pool text not null,
  lane lane not null,
  kind text not null,
  modality text not null,
  model text,
  state job_state not null,
  -- State in the record in the object store; older than `state` until the record is written.
  recorded text,
  -- True if there is such a record. A text call has only its response.
  keeps_record boolean not null default false,
  attempt smallint not null default 1,
  -- 0: not queued yet, because its workspace has reached its share.
  dispatch int not null default 0,
  dispatched_at timestamptz,
  stream_seq bigint,
  -- Time of the last check for the message under stream_seq.
  checked_at timestamptz,
  -- Earliest release to the queue; null if it may be released now.
  not_before timestamptz,
  -- Number of claims without a free source.
  deferrals smallint not null default 0,
  epoch int not null default 0,
  worker uuid,
  -- Lease from the claim; after it, the lease of its worker applies (see lease_end). Null: no owner.
  lease_until timestamptz,
  -- Number of claims over all dispatches.
  claims smallint not null default 0,
  -- Set before a provider is called: from then on the job is never run a second time.
  intent_at timestamptz,
  -- True if the provider of the intent responds in the same exchange and stores no jobs: after a crash of the owner, there is nothing to
  -- query.
  intent_is_direct boolean not null default false,
  -- Record of the job at a provider with a queue; the next worker queries the provider. Contains the data for finding the job, and:
  --   start            a start without response yet: {id, mark, sent_ms, lost_ms, told}; see workers/calls/media/held-price.ts
  --   names            names of the job and its halves at the provider, if the provider lists its jobs
  --   unknown_for_ms   period of queries if its provider returns no verdict
  provider_job jsonb,
  -- Names at earlier providers, each prefixed with its provider and a slash: no other job adopts them.
  past_names jsonb,
  -- 0 to 1, as reported by its provider.
  progress real not null default 0,
  -- Time since which paid work may exist with unknown outcome: the hold stays until the outcome is known or written off.
  unknown_since timestamptz,
  -- Time of the next query at its provider.
  ask_at timestamptz,
  cancel_requested boolean not null default false,
  deadline timestamptz not null,
  -- The work message without its request and the parts that change with each dispatch.
  work jsonb not null,
  -- The request as JSON text, or its reference if it is large. Text, because jsonb accepts neither \u0000 nor lone surrogates.
  request text,
  request_ref text,
  -- The publisher's name for it, and the subject for replies.
  publisher_key text,
  reply text,
  -- True if its caller requested a stream: the job cannot be queried afterwards.
  is_hidden boolean not null default false,
  -- Run of its step, or the job that started it; null for a caller's own job.
  run_id uuid,
  step_id text,
  parent_id uuid,
  -- W3C trace context of the request.
  traceparent text,
  result text,
  result_ref text,
  error jsonb,
  -- Requested model (from) and number of attempted fallbacks (depth), if all fallbacks failed. Results contain their own.
  fallback jsonb,
  -- Charged nano-credits.
  credits bigint,
  created_at timestamptz not null default clock_timestamp(),
  started_at timestamptz,
  ended_at timestamptz
) with (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.01);

-- Jobs that wait for queue capacity, and deferred ones.
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
-- Lists the jobs of calls over HTTP. Ids sort by creation time.
create index job_listed on job (workspace_id, id) where lane = 'live' and run_id is null and not is_hidden;
create index job_run on job (run_id, step_id) where run_id is not null;
-- Finds the job of a name in a provider's list. Few rows have names, and few starts are open at a time.
create index job_provider_names on job using gin ((provider_job->'names')) where provider_job ? 'names';
create index job_past_names on job using gin (past_names) where past_names is not null;
create index job_open_start on job ((provider_job->'start'->>'id')) where provider_job ? 'start' and state = 'running';

-- Returns the time until which its worker owns a job: a heartbeat writes one row per worker, not one per job. Null: no owner.
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

-- Messages removed from the queue after repeated failures.
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
-- Two janitors may see the same message. The sequence alone is not unique: a new stream counts from 1 again.
create unique index dead_letter_once on dead_letter (stream, stream_seq, coalesce(message_id, ''), md5(coalesce(body, '')));

-- Ends a job: closes its hold, writes the usage record, the outcome and the event, once. Returns null if the caller does not own it any
-- more; -1 without changes if its hold is locked elsewhere, or credit lines are being reclaimed; else the charged nano-credits. The single
-- form of a settlement closes the hold in any case. p_owned: true if an owner ends its running job. Otherwise a job without a live owner is
-- ended, as it was read at p_epoch. p_error: the error, and `fallback` of the job beside its members. p_keep: the row keeps the request for
-- an operator who may redrive the job. p_wait_ms: wait for the balance (SQLSTATE 55P03 after it); null uses the session's timeout. p_course:
-- as in settle_calls, without the kind.
create function end_job(
  p_id uuid, p_epoch int, p_owned boolean, p_state text, p_used bigint, p_usage text, p_source text, p_units jsonb,
  p_estimated boolean, p_tokens bigint, p_result text, p_result_ref text, p_error jsonb, p_keep boolean, p_wait_ms int,
  p_course jsonb default null
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
  taken := settle_call(j.workspace_id, p_id, j.attempt, p_used, p_usage, p_source, p_units, p_estimated, p_tokens,
                       coalesce(p_course, '{}') || jsonb_build_object('kind', case when j.work->>'api' = 'anthropic' then 'messages'
                                                                                   when j.work->>'api' = 'responses' then 'responses' else j.kind end));
  if taken = -1 then return -1; end if;
  if taken is null then
    -- The sweep of expired holds has closed it before. The caller gets a completed response nevertheless.
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
  -- The result of a background response is decided together with its charge.
  if j.work->'background' = 'true' then
    update response set status = case p_state when 'completed' then coalesce(answered, 'failed') else p_state end, error = p_error
    where id = p_id;
    update conversation set held_by = null where held_by = p_id;
  end if;
  -- A step of a run and a batch line have no event: the run or the batch writes one.
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

-- Marks the outcome of a job as unknown, for its owner or after the owner crashed while a provider may have been called. The job has no
-- owner then; the job and its hold are kept for p_keep_ms from the first time, or for the shorter period in which its provider can be
-- queried. Returns false if it has changed since it was read. The first query is after a minute, later ones at growing intervals up to half
-- an hour.
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
  -- It does not count for its workspace's share meanwhile, which is for work that can proceed.
  update job set state = 'running', unknown_since = since, lease_until = null, worker = null, claims = 0, dispatched_at = null,
    ask_at = at_utc + least(interval '30 minutes', greatest(interval '1 minute', (at_utc - since) / 2)),
    deadline = greatest(deadline, until_utc)
  where id = p_id;
  -- The hold outlives the job, so that the job's end closes it.
  update hold set deadline = greatest(deadline, until_utc + interval '1 hour')
  where workspace_id = ws and job_id = p_id and attempt = tries;
  return true;
end $$;

-- Gives back a job that no source accepted, for its owner: the job is dispatched again after p_delay_ms, doubled with each deferral up to
-- two minutes, with a jitter of a fifth. Meanwhile it uses no slot and no part of its workspace's share. The message of its claim is void.
-- Returns false if the caller is not its owner any more, or if it was cancelled, has no time left, or its hold has a fallback's price; then
-- it ends.
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

-- Redrives the job of a dead letter for an operator: next attempt and new hold, in one transaction. It waits for queue capacity like any
-- other job. The job of a step or a batch line is not run again: its run or batch has continued, and would neither use its result nor count
-- its credits. Returns done, unknown (no such letter, or redriven before), over (no job that can be run again), funds (balance too low),
-- limit (a limit of its key, member, end user or tags is reached).
create function redrive_job(p_letter uuid, p_actor jsonb, p_life_ms bigint, p_hold_ms bigint) returns text language plpgsql as $$
declare
  letter dead_letter;
  j job;
  nano bigint;
  at_utc timestamptz;
  today date;
  earlier usage_record;
begin
  select * into letter from dead_letter where id = p_letter and redriven_at is null for update;
  if not found then return 'unknown'; end if;
  select * into j from job where id = letter.job_id for update;
  if not found or j.state <> 'failed' or coalesce(j.request, j.request_ref) is null or j.run_id <> j.id or j.work ? 'batch_line' then return 'over'; end if;
  nano := (j.work->>'hold_nano')::bigint;
  at_utc := clock_timestamp();
  today := (at_utc at time zone 'utc')::date;
  -- The day's count restarts with its first hold, as in an admission.
  perform 1 from balance where workspace_id = j.workspace_id for update;
  perform begin_day(workspace_id, today) from balance where workspace_id = j.workspace_id and day < today;
  select * into earlier from usage_record where workspace_id = j.workspace_id and job_id = j.id and attempt = j.attempt;
  if nano > 0 and nano > spend_left_for(j.workspace_id, j.key_id, earlier.scopes, today) then return 'limit'; end if;
  update balance b set held = b.held + nano where workspace_id = j.workspace_id and b.amount - b.held >= nano;
  if not found then
    -- The credits are available at the operator's next attempt.
    perform recall_credit_lines(j.workspace_id, nano);
    return 'funds';
  end if;
  perform count_spend(j.workspace_id, j.key_id, earlier.scopes, nano, 0, today);
  insert into hold (job_id, attempt, workspace_id, key_id, model, amount, may_exceed, day, tokens, deadline, created_at, scopes, labels)
  select j.id, j.attempt + 1, j.workspace_id, j.key_id, j.model, nano, (j.work->>'may_exceed')::boolean, b.day, 0,
         at_utc + p_hold_ms * interval '1 millisecond', at_utc, earlier.scopes, earlier.labels
  from balance b where b.workspace_id = j.workspace_id;
  update job set state = 'queued', attempt = attempt + 1, claims = 0, dispatched_at = null, stream_seq = null, checked_at = null,
    lease_until = null, cancel_requested = false, error = null, fallback = null, credits = null, ended_at = null, started_at = null,
    deadline = at_utc + p_life_ms * interval '1 millisecond'
  where id = j.id;
  -- Its background response waits again, without the events of the previous attempt.
  if j.work->'background' = 'true' then
    update response set status = 'queued', answered = null, error = null where id = j.id;
    delete from response_event where response_id = j.id;
  end if;
  update dead_letter set redriven_at = at_utc where id = p_letter;
  insert into audit_log (workspace_id, actor, action, subject, after)
  values (j.workspace_id, p_actor, 'dead_letter.redrive', p_letter::text, jsonb_build_object('job_id', j.id));
  return 'done';
end $$;

-- Adopts a provider's job: a job whose start had no response takes the job that its provider lists as p_name, with p_record. Returns
-- adopted; taken: the name belongs to another job; open: another job's start, sent before p_made_ms (the provider's clock, which may differ
-- by p_clocks_ms), is open and may be this one; void: the caller does not own the job any more. If two lost starts are alike, each may take
-- either job.
create function adopt_provider_job(
  p_id uuid, p_epoch int, p_name text, p_made_ms bigint, p_clocks_ms bigint, p_record jsonb
) returns text language plpgsql as $$
declare
  provider text := split_part(p_record->>'source', '/', 1);
  is_open boolean;
begin
  -- Serializes callers for a name: the statements below see the writes of the previous caller.
  perform pg_advisory_xact_lock(hashtextextended(provider || '/' || p_name, 21));
  -- Open starts are checked first: if one gets its response between the two statements, the second finds its name.
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
