-- What media jobs need beside 0006: how far they are, outcomes that nobody can tell yet, their record in the object store,
-- and events for whoever wants to be told.

alter table job
  -- 0 to 1, as its provider tells it.
  add column progress real not null default 0,
  -- Paid work may exist of which nobody can say what became: its hold stays until somebody can, or is written off.
  add column unknown_since timestamptz,
  -- When its provider is asked once more.
  add column ask_at timestamptz,
  -- The state that the record in the object store tells; behind `state` until it is written.
  add column recorded text;

create index job_unknown on job (ask_at) where unknown_since is not null and state = 'running';
create index job_unknown_since on job (unknown_since) where unknown_since is not null and state in ('queued', 'running');
-- A flood of text jobs should not write three objects each: their answers are all there is to them.
create index job_unrecorded on job (created_at)
  where recorded is distinct from state and state <> 'refused' and not is_hidden and kind not in ('chat', 'embeddings');

-- What happened, written in the transaction in which it did.
create table event (
  id uuid primary key default gen_random_uuid(),
  workspace_id uuid not null,
  type text not null,
  metadata jsonb not null,
  occurred_at timestamptz not null default clock_timestamp()
);
create index event_occurred on event (occurred_at);

-- As in 0006, and it writes the event.
create or replace function finish_job(
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
  update job set state = p_state, lease_until = null, ask_at = null, result = p_result, result_ref = p_result_ref,
    error = p_error, credits = taken, ended_at = clock_timestamp(), request = case when p_keep then request end,
    progress = case when p_state = 'completed' then 1 else progress end
  where id = p_id;
  if p_state in ('completed', 'failed') and not j.is_hidden then
    insert into event (workspace_id, type, metadata)
    values (j.workspace_id, 'job.' || p_state, jsonb_strip_nulls(jsonb_build_object(
      'jobId', p_id, 'modality', j.modality, 'model', j.model, 'creditsNano', taken::text, 'code', p_error->>'code')));
  end if;
  return taken;
end $$;

-- Of a job that its owner cannot say the outcome of, or that was lost with its owner after a provider may have been asked.
-- It has no owner any more; its hold, and the job, outlive p_keep_ms from the first time. False: it is not as it was seen.
-- The first question comes after a minute, later ones ever more seldom, up to half an hour.
create function note_unknown(p_id uuid, p_epoch int, p_owned boolean, p_keep_ms bigint) returns boolean language plpgsql as $$
declare
  at_utc timestamptz := clock_timestamp();
  since timestamptz;
  until_utc timestamptz;
  tries smallint;
begin
  select coalesce(unknown_since, at_utc), attempt into since, tries from job
  where id = p_id and epoch = p_epoch and (state = 'running' or (state = 'queued' and not p_owned))
    and (p_owned or lease_until is null or lease_until < at_utc)
  for update;
  if not found then return false; end if;
  until_utc := since + p_keep_ms * interval '1 millisecond';
  -- It takes no place on the queue meanwhile: its workspace's share is for work that can be done.
  update job set state = 'running', unknown_since = since, lease_until = null, worker = null, claims = 0, dispatched_at = null,
    ask_at = at_utc + least(interval '30 minutes', greatest(interval '1 minute', (at_utc - since) / 2)),
    deadline = greatest(deadline, until_utc)
  where id = p_id;
  -- Beyond the job's own end, so that it is the job's end that closes it.
  update hold set deadline = greatest(deadline, until_utc + interval '1 hour') where job_id = p_id and attempt = tries;
  return true;
end $$;

-- What media jobs keep while they run is known by keys of its own (shared/jobs/kept-results.ts), so that each is kept once
-- whoever takes the job over. Of a job that has ended nobody takes over anything: the keys go, and with them each file that is
-- not in the job's result, whoever kept it and whatever became of them.
create index idempotency_key_result on idempotency_key (key) where key like ' job %' and fingerprint is not null;

create view kept_result as
select k.workspace_id, k.key, k.subject, substr(k.key, 6, 36)::uuid as job_id
from idempotency_key k
where k.key like ' job %' and k.fingerprint is not null and k.route = 'files' and k.key ~ '^ job [0-9a-f-]{36} ';

-- One, in a transaction of its own: files and the counts of their workspaces are locked one at a time. Whether its file was
-- deleted; null: the key is not to go. Locks: job, idempotency_key, then as end_file.
create function drop_kept_result(p_ws uuid, p_key text) returns boolean language plpgsql as $$
declare
  k kept_result;
  j job;
begin
  select * into k from kept_result where workspace_id = p_ws and key = p_key;
  if not found then return null; end if;
  -- An operator may have sent it on its way again.
  select * into j from job where id = k.job_id for share;
  if j.state in ('queued', 'running') then return null; end if;
  delete from idempotency_key where workspace_id = p_ws and route = 'files' and key = p_key and subject = k.subject;
  if not found then return null; end if;
  -- Of a job whose row is gone nobody can say any more what it made: its owner decides.
  if j.state in ('failed', 'cancelled') or position(k.subject in j.result) = 0 then
    return end_file(p_ws, k.subject, 'deleted');
  end if;
  return false;
end $$;
