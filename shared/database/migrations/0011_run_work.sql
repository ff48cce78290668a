-- Work of runs: what is not wanted any more is not begun, whoever died before saying so; and what stands still is looked at again
-- without being given up while no worker is there to look.

-- When the janitor last sent word of a run that stands still. `recoveries` counts what came of such words (shared/database/run-work.ts).
alter table run add column woken_at timestamptz;

-- A member's own, as the runs are.
drop index run_idempotent;
create unique index run_idempotent on run (workspace_id, member_id, idempotency_key) where idempotency_key is not null;
create index run_of_workflow on run (workflow_id, created_at desc, id desc) where parent_id is null;

-- Whether nothing of a run may begin any more: it is over, or a run whose step it is.
create or replace function run_is_over(p_id uuid) returns boolean language sql stable as $$
  with recursive up as (
    select parent_id, cancel_requested or status not in ('queued', 'running') as is_over from run where id = p_id
    union all
    select r.parent_id, r.cancel_requested or r.status not in ('queued', 'running') from up join run r on r.id = up.parent_id
    where not up.is_over)
  select coalesce(bool_or(is_over), false) from up;
$$;

-- Whether a job of a run is not wanted any more: its run is over or gone, or the step has gone on without it.
create function work_is_over(p_job uuid, p_run uuid) returns boolean language sql stable as $$
  select run_is_over(p_run) or not exists (select from step_item where work_id = p_job and credits is null and status = 'running');
$$;

-- As in 0005_jobs; the job of a step is not run again: its run has gone on, and would neither take its result nor count its credits.
-- An operator sends a job that became a dead letter on its way again: next attempt, new hold, all in one. It waits for room on
-- the queue like any other. Result: done, unknown (no such letter, or redriven before), over (no job that could be run again),
-- funds (they do not cover it any more).
create or replace function redrive_job(p_letter uuid, p_actor text, p_life_ms bigint, p_hold_ms bigint) returns text language plpgsql as $$
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
  if not found or j.state <> 'failed' or coalesce(j.request, j.request_ref) is null or j.run_id is not null then return 'over'; end if;
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
