-- Starts of jobs at providers' queues whose answers were lost: a start is noted before it is sent, found again by what its
-- provider lists or rings, and kept no longer than its provider can tell of it.
--
-- provider_job has, beside what finds the job at its provider:
--   start            of a start that has no answer yet: {id, mark, sent_ms, lost_ms, told}; see workers/calls/media/held-price.ts
--   names            what its provider calls it, and its halves, where the provider lists its jobs
--   unknown_for_ms   how long it is asked about when its provider gives no verdict

-- For finding the owner of a listed job. Few rows have names.
create index job_provider_names on job using gin ((provider_job->'names')) where provider_job ? 'names';
-- Few starts are open at a time.
create index job_open_start on job ((provider_job->'start'->>'id')) where provider_job ? 'start' and state = 'running';
-- Names that jobs had at providers that they have left, each behind its provider and a slash: no other job takes what they stand for.
alter table job add column past_names jsonb;
create index job_past_names on job using gin (past_names) where past_names is not null;

-- A job whose start was not answered takes what its provider lists under p_name for its own, and p_record with it. Result: adopted;
-- taken: another job's; open: another's start that was sent before p_made_ms (the provider's clock; p_clocks_ms: how far it may be
-- off) is under way and may be answered with it; void: the job is not the caller's any more. Two that are lost alike may take either.
create function adopt_provider_job(
  p_id uuid, p_epoch int, p_name text, p_made_ms bigint, p_clocks_ms bigint, p_record jsonb
) returns text language plpgsql as $$
declare
  provider text := split_part(p_record->>'source', '/', 1);
  is_open boolean;
begin
  -- One at a time for a name: the statements below see what the one before has written.
  perform pg_advisory_xact_lock(hashtextextended(provider || '/' || p_name, 21));
  -- Open starts first: one that is answered between the two statements has its name by the second.
  perform from job where provider_job ? 'start' and state = 'running' and id <> p_id and lease_until > clock_timestamp()
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

-- As in 0005_jobs; a job is kept no longer than its provider can tell of it.
-- Of a job whose owner cannot tell the outcome, or that was lost with its owner after a provider may have been asked.
-- It has no owner any more; its hold, and the job, outlive p_keep_ms from the first time. False: it is not as it was seen.
-- The first question comes after a minute, later ones ever more seldom, up to half an hour.
create or replace function note_unknown(p_id uuid, p_epoch int, p_owned boolean, p_keep_ms bigint) returns boolean language plpgsql as $$
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
    and (p_owned or lease_until is null or lease_until < at_utc)
  for update;
  if not found then return false; end if;
  until_utc := since + kept_ms * interval '1 millisecond';
  -- It takes no place on the queue meanwhile: its workspace's share is for work that can be done.
  update job set state = 'running', unknown_since = since, lease_until = null, worker = null, claims = 0, dispatched_at = null,
    ask_at = at_utc + least(interval '30 minutes', greatest(interval '1 minute', (at_utc - since) / 2)),
    deadline = greatest(deadline, until_utc)
  where id = p_id;
  -- Beyond the job's own end, so that it is the job's end that closes it.
  update hold set deadline = greatest(deadline, until_utc + interval '1 hour')
  where workspace_id = ws and job_id = p_id and attempt = tries;
  return true;
end $$;
