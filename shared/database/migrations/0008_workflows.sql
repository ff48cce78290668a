-- Workflows, the versions of their definitions, and their runs. These rows contain the complete state of a run, so that any worker can
-- continue after a crash of another.
--
-- One statement changes a run and names the `rev` it has read; if the run has changed since, the worker reads again. Except for
-- advance_run, it takes no lock of jobs, holds or balances. If a row says that work is running but its job does not exist, the next worker
-- that checks starts it: the job's id is derived from its position, so it is admitted once.

create table workflow (
  id uuid primary key,
  workspace_id uuid not null references workspace (id),
  name text not null,
  description text not null default '',
  latest_version int not null default 1,
  -- Creator: a private workflow is visible to this member, and to owners and admins.
  created_by uuid not null references member (id),
  sharing_scope text not null default 'private' constraint workflow_scope check (sharing_scope in ('private', 'workspace')),
  -- Permission of other members on a workflow shared with the workspace.
  share_permission text not null default 'read' constraint workflow_permission check (share_permission in ('read', 'run', 'edit')),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- Runs of a deleted workflow continue with their definition.
  deleted_at timestamptz,
  -- Its definitions are deleted too: no run needs them.
  is_emptied boolean not null default false
);
create index workflow_newest on workflow (workspace_id, created_at desc, id desc) where deleted_at is null;
create index workflow_unemptied on workflow (deleted_at) where deleted_at is not null and not is_emptied;

-- Versions of a workflow, which never change: a run refers to its workflow and version.
create table workflow_version (
  workflow_id uuid not null references workflow (id),
  version int not null,
  -- As text: jsonb accepts no NUL, and changes numbers and order.
  definition json not null,
  bytes int not null default 0,
  created_by uuid not null references member (id),
  created_at timestamptz not null default now(),
  primary key (workflow_id, version)
);

create domain run_mode as text constraint run_mode check (value in ('sync', 'stream', 'async'));
-- Of runs, and of the items of their steps.
create domain run_status as text
  constraint run_status check (value in ('queued', 'running', 'succeeded', 'failed', 'cancelled'));
create domain step_run_status as text
  constraint step_run_status check (value in ('queued', 'running', 'succeeded', 'failed', 'skipped', 'cancelled'));

create table run (
  id uuid primary key,
  workspace_id uuid not null references workspace (id),
  -- The key and the member for whom its steps call.
  key_id uuid not null,
  member_id uuid not null references member (id),
  -- Null for an inline definition.
  workflow_id uuid references workflow (id),
  version int,
  -- The inline definition of the run.
  definition json,
  mode run_mode not null,
  lane lane not null,
  status run_status not null default 'queued',
  attempt smallint not null default 1,
  max_attempts smallint not null,
  -- Number of its changes.
  rev int not null default 0,
  -- Number of items and steps that have ended.
  ends int not null default 0,
  -- JSON as text: jsonb accepts neither \u0000 nor lone surrogates. Null: neither given nor declared with a default.
  input text,
  -- Reference of a large input, and bytes of any input. The input is deleted some time after the run has ended.
  input_ref text,
  input_bytes int not null default 0,
  output text,
  error json,
  -- The run ends as cancelled: it starts no further work.
  cancel_requested boolean not null default false,
  -- Parent run, for the run of a step.
  parent_id uuid,
  parent_step text,
  parent_attempt smallint,
  parent_index int,
  -- Nano-credits that its parent has counted for it; null until the parent knows of its end.
  parent_credits bigint,
  depth smallint not null default 0,
  -- The caller's run at the top of the tree; null for that run itself.
  root_id uuid,
  -- Calls and runs so far of a caller's run and its nested runs.
  work int not null default 0,
  -- Bytes stored in rows and objects. Includes its own row, except for a step's run, whose row the parent counts.
  stored_bytes bigint not null default 0,
  -- Idempotency key of the caller, and the fingerprint of its request.
  idempotency_key text,
  fingerprint text,
  -- A publisher's name for the run, the subject for replies, and whether its end was reported. Null: no publisher.
  publisher_key text,
  reply text,
  told boolean,
  -- Start of its next attempt.
  due_at timestamptz,
  traceparent text,
  -- Labels of its calls (shared/calls/labels.ts); null for none.
  labels jsonb,
  -- Nano-credits of its ended work.
  credits bigint not null default 0,
  -- Maximum nano-credits of the work of this run and of its nested runs. Null: no maximum.
  max_nano bigint,
  -- Rows of spend_limit that apply to the work of this run: of the run, its parents and its batch. Null: none.
  limit_ids uuid[],
  -- Number of its last frame.
  frames int not null default 0,
  -- Weight of workers' checks while it was stalled, since its last progress (shared/database/run-work.ts), and the time of the janitor's
  -- last request for one.
  recoveries smallint not null default 0,
  woken_at timestamptz,
  created_at timestamptz not null default clock_timestamp(),
  -- Time of its last progress, with up to a second of tolerance.
  progressed_at timestamptz not null default clock_timestamp(),
  started_at timestamptz,
  ended_at timestamptz,
  -- True for a step's run whose parent does not know its end, or later credits. A column, so that Postgres knows how few rows match.
  is_uncounted boolean not null
    generated always as (parent_id is not null and ended_at is not null and parent_credits is distinct from credits) stored
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01);
-- Keys are separate for each member, like runs.
create unique index run_idempotent on run (workspace_id, member_id, idempotency_key) where idempotency_key is not null;
create index run_newest on run (workspace_id, created_at desc, id desc) where parent_id is null;
create index run_of_workflow on run (workflow_id, created_at desc, id desc) where parent_id is null;
create index run_workflow_open on run (workflow_id) where workflow_id is not null and status in ('queued', 'running');
create index run_children on run (parent_id) where parent_id is not null;
create index run_uncounted on run (parent_id) where is_uncounted;
create index run_unfinished on run (progressed_at) where status in ('queued', 'running');
create index run_unbegun on run (progressed_at)
  where status in ('queued', 'running') and (cancel_requested or (status = 'queued' and due_at is null));
create index run_active on run (workspace_id) where status in ('queued', 'running');
create index run_active_root on run (workspace_id) where parent_id is null and status in ('queued', 'running');
create index run_due on run (due_at) where due_at is not null;
create index run_ended on run (ended_at) where ended_at is not null;
create index run_kept_input on run (ended_at) where input_bytes > 0 and ended_at is not null;
create index run_untold on run (ended_at) where not told;

-- One attempt of one step.
create table step_run (
  run_id uuid not null references run (id) on delete cascade,
  step_id text not null,
  attempt smallint not null,
  -- Order of creation.
  seq int not null,
  run_attempt smallint not null,
  -- Type of the step: model, sub_pipeline or the id of a capability.
  type text not null,
  status step_run_status not null,
  skipped_reason text,
  -- Resolved list of for_each, as JSON; null: the step has none.
  list text,
  error json,
  ended_seq int,
  -- Start of a delayed attempt.
  due_at timestamptz,
  rev int not null,
  started_at timestamptz,
  ended_at timestamptz,
  primary key (run_id, step_id, attempt)
) with (fillfactor = 70);
create index step_run_due on step_run (due_at) where due_at is not null;

-- One call, or one run, of a step's attempt; without for_each there is one.
create table step_item (
  run_id uuid not null references run (id) on delete cascade,
  step_id text not null,
  attempt smallint not null,
  item int not null,
  status run_status not null,
  -- Its job or run.
  work_id uuid,
  is_run boolean not null default false,
  output text,
  -- Reference of a large output.
  output_ref text,
  error json,
  -- Nano-credits; null until its work has ended.
  credits bigint,
  ended_seq int,
  -- True if it ended for good in an earlier attempt, which has its credits.
  is_kept boolean not null default false,
  late_at timestamptz,
  rev int not null,
  started_at timestamptz,
  ended_at timestamptz,
  primary key (run_id, step_id, attempt, item)
) with (fillfactor = 70);
-- Work whose run does not know the result yet.
create index step_item_open on step_item (work_id) where work_id is not null and credits is null;
create index step_item_awaited on step_item (run_id) where work_id is not null and credits is null and not is_run;
create index step_item_late on step_item (late_at) where status = 'running' and late_at is not null;

-- Frames of the run's stream, in order. Their content is read from the rows that they name.
create table run_frame (
  run_id uuid not null references run (id) on delete cascade,
  seq int not null,
  type text not null,
  step_id text,
  attempt smallint,
  primary key (run_id, seq)
);

-- Returns true if a run must start no further work: it, or one of its parents, is over.
create function run_is_over(p_id uuid) returns boolean language sql stable as $$
  with recursive up as (
    select parent_id, cancel_requested or status not in ('queued', 'running') as is_over from run where id = p_id
    union all
    select r.parent_id, r.cancel_requested or r.status not in ('queued', 'running') from up join run r on r.id = up.parent_id
    where not up.is_over)
  select coalesce(bool_or(is_over), false) from up;
$$;

-- Returns true if a job of a run is no longer needed: its run is over or gone, or the step has continued without it.
create function work_is_over(p_job uuid, p_run uuid) returns boolean language sql stable as $$
  select run_is_over(p_run) or not exists (select from step_item where work_id = p_job and credits is null and status = 'running');
$$;

-- Frees the bytes of deleted runs, including those deleted by hand.
create function free_run_storage() returns trigger language plpgsql as $$
begin
  perform free_storage(array_agg(g.workspace_id), array_agg(storage_blocks(g.stored_bytes))) from gone g where g.stored_bytes > 0;
  return null;
end $$;
create trigger run_storage after delete on run referencing old table as gone for each statement execute function free_run_storage();

-- Deletes the spend limits of deleted runs. Executed after run_storage, because balances are locked last.
create function drop_run_limits() returns trigger language plpgsql as $$
begin
  perform drop_spend_limits(array_agg(g.workspace_id), array_agg(work_limit_id(g.id))) from gone g where g.max_nano is not null having count(*) > 0;
  return null;
end $$;
create trigger run_storage_limits after delete on run referencing old table as gone for each statement execute function drop_run_limits();

-- Decides about a new run, and takes its bytes if it may begin. verdict: `begun`; `known`: its id, or its idempotency key, exists; `over`:
-- the parent run is over; `gone`: its definition does not exist; `crowded`: the workspace has the maximum of open runs; `full`: its storage
-- is full. A step's run is limited by the work of its root, and does not count as open. A batch message (p_starves is not null) is counted
-- in the window like a message for a job if its run begins. `waits`: the window is full for wait_ms; wait_ms is -1 for one admitted by the
-- window's share. p_batch: batch of the line, offered by its leader of p_batch_epoch; `superseded`: another process leads it. Locks:
-- workflow_version, file_storage, those of admit_jobs. Callers' runs of one workspace are serialized, so that both counts are exact.
create function admit_run(
  p_id uuid, p_ws uuid, p_member uuid, p_key text, p_parent uuid, p_workflow uuid, p_version int, p_bytes bigint, p_active_max int,
  p_limit bigint, p_starves boolean, p_call_limit int, p_wait_ms int, p_batch uuid, p_batch_epoch int, out verdict text, out wait_ms bigint
) language plpgsql as $$
declare
  blocks bigint := storage_blocks(p_bytes);
  has_definition boolean;
  counted smallint;
begin
  -- A deletion of the definition waits until it sees this run.
  perform from workflow_version where workflow_id = p_workflow and version = p_version for key share;
  has_definition := found;
  if p_parent is null or blocks > 0 then
    insert into file_storage (workspace_id) values (p_ws) on conflict do nothing;
    perform from file_storage where workspace_id = p_ws for no key update;
  end if;
  verdict := 'known';
  if exists (select from run where id = p_id) then return; end if;
  if p_key is not null and exists (
    select from run where workspace_id = p_ws and member_id = p_member and idempotency_key = p_key) then return; end if;
  verdict := 'over';
  if p_parent is not null and run_is_over(p_parent) then return; end if;
  verdict := 'gone';
  if p_workflow is not null and not has_definition then return; end if;
  verdict := 'crowded';
  if p_parent is null and p_active_max <= (
    select count(*) from (
      select from run where workspace_id = p_ws and parent_id is null and status in ('queued', 'running') limit p_active_max) x)
  then return; end if;
  verdict := 'full';
  if blocks > 0 and not exists (select from file_storage where workspace_id = p_ws and used + reserved + blocks <= p_limit) then return; end if;
  if p_starves is not null then
    select a.verdict, a.wait_ms into counted, wait_ms
    from admit_jobs(jsonb_build_array(jsonb_build_object('n', 0, 'id', p_id, 'workspace_id', p_ws, 'pool', 'workflow', 'lane', 'batch',
      'kind', 'workflow', 'modality', 'text', 'work', '{}'::jsonb, 'deadline_ms', 0, 'call_limit', p_call_limit, 'may_wait', true,
      'starves', p_starves, 'is_run', true, 'batch_id', p_batch, 'batch_epoch', p_batch_epoch)), p_wait_ms) a;
    verdict := case counted when 1 then 'waits' when 6 then 'known' when 10 then 'superseded' end;
    if verdict is not null then return; end if;
    if counted <> 8 then raise exception 'a run that was to be counted was told %', counted; end if;
  end if;
  if blocks > 0 then
    update file_storage set used = used + blocks where workspace_id = p_ws;
  end if;
  verdict := 'begun';
end $$;

-- Deletes up to p_max runs that ended before the retention period, those of steps not before their parents. Returns their number and the
-- locations of their large texts.
create function drop_ended_runs(p_older_ms float8, p_max int, out dropped int, out refs text[]) language plpgsql as $$
declare
  gone uuid[];
begin
  select array_agg(g.id) into gone from (
    select id from run where ended_at < now() - p_older_ms * interval '1 millisecond'
      and not exists (select from run p where p.id = run.parent_id
        and (p.ended_at is null or p.ended_at >= now() - p_older_ms * interval '1 millisecond'))
      and not exists (select from batch_line l where l.job_id = run.id and l.state = 'running')
    order by ended_at limit p_max for update skip locked) g;
  select array_agg(r.ref) into refs from (
    select output_ref as ref from step_item where run_id = any (gone) and output_ref is not null
    union all select input_ref from run where id = any (gone) and input_ref is not null) r;
  delete from run where id = any (gone);
  get diagnostics dropped = row_count;
end $$;

-- Deletes the oldest callers' runs of one workspace early, after all nested runs, of which there may be thousands.
create function drop_oldest_runs(p_ws uuid, p_older_ms float8, p_max int, out dropped int, out refs text[]) language plpgsql as $$
declare
  gone uuid[];
begin
  with recursive tree as (
    (select id, depth from run where workspace_id = p_ws and parent_id is null and ended_at < now() - p_older_ms * interval '1 millisecond'
       and not exists (select from run a where a.workspace_id = p_ws and a.root_id = run.id and a.status in ('queued', 'running'))
       and not exists (select from batch_line l where l.job_id = run.id and l.state = 'running')
     order by created_at limit 10)
    union all
    select c.id, c.depth from tree join run c on c.parent_id = tree.id)
  select array_agg(d.id) into gone from (select id from tree order by depth desc limit p_max) d;
  select array_agg(r.ref) into refs from (
    select output_ref as ref from step_item where run_id = any (gone) and output_ref is not null
    union all select input_ref from run where id = any (gone) and input_ref is not null) r;
  delete from run where id = any (gone);
  get diagnostics dropped = row_count;
end $$;

-- Deletes the inputs of up to p_max runs that ended some time ago, and frees their bytes. Returns as above.
create function drop_run_inputs(p_older_ms float8, p_max int, out dropped int, out refs text[]) language plpgsql as $$
declare
  owners uuid[];
  bytes bigint[];
begin
  with old as (
    select id, workspace_id, input_ref, stored_bytes from run
    where input_bytes > 0 and ended_at < now() - p_older_ms * interval '1 millisecond'
    order by ended_at limit p_max for update skip locked
  ), kept as (
    update run set input = null, input_ref = null, input_bytes = 0, stored_bytes = run.stored_bytes - run.input_bytes
    from old where run.id = old.id
    returning run.workspace_id, old.input_ref, storage_blocks(old.stored_bytes) - storage_blocks(run.stored_bytes) as freed)
  select count(*), array_agg(workspace_id), array_agg(freed), array_agg(input_ref) filter (where input_ref is not null)
  into dropped, owners, bytes, refs from kept;
  perform free_storage(owners, bytes);
end $$;

-- Decides about a new workflow, and takes the bytes of its definition: `made`, `crowded`, `full`.
create function admit_workflow(p_ws uuid, p_bytes bigint, p_max int, p_limit bigint) returns text language plpgsql as $$
begin
  insert into file_storage (workspace_id) values (p_ws) on conflict do nothing;
  perform from file_storage where workspace_id = p_ws for no key update;
  if p_max <= (select count(*) from workflow where workspace_id = p_ws and deleted_at is null) then return 'crowded'; end if;
  update file_storage set used = used + p_bytes where workspace_id = p_ws and used + reserved + p_bytes <= p_limit;
  if not found then return 'full'; end if;
  return 'made';
end $$;

-- Deletes the definitions of a deleted workflow and frees their bytes, unless an open run needs them. Locks: workflow_version, workflow,
-- file_storage.
create function empty_workflow(p_id uuid) returns void language plpgsql as $$
declare
  freed bigint;
  ws uuid;
begin
  perform from workflow_version where workflow_id = p_id for update;
  -- The lock is granted by now: a run that began earlier is visible, and a later one finds no definition.
  if exists (select from run where workflow_id = p_id and status in ('queued', 'running')) then return; end if;
  update workflow set is_emptied = true, description = '' where id = p_id and deleted_at is not null and not is_emptied
  returning workspace_id into ws;
  if not found then return; end if;
  with dropped as (delete from workflow_version where workflow_id = p_id returning bytes)
  select sum(bytes) into freed from dropped;
  update file_storage set used = used - freed where workspace_id = ws and freed > 0;
end $$;

-- Changes of a run by one pass. next_ms: time until its next attempt begins. told: frames for readers of its stream, after frames_before.
-- work: calls and runs that the pass counts, for the run root_id or for this one. grown: stored bytes. sees_cancel: the pass knows of a
-- cancel.
create type run_save as (
  id uuid, rev int, status text, attempt smallint, ends int, output text, error json, credits bigint, next_ms float8, frames_before int,
  frames int, steps json, items json, told json, events text[], sees_cancel boolean, work int, root_id uuid, work_max int, grown bigint,
  storage_max bigint
);

-- Writes a pass: rows, frames for readers of the stream, and the event. Returns false without changes if the run has changed since it was
-- read, has a new cancel, or its root has counted more work meanwhile. SQLSTATE SL002: storage limit exceeded. Locks: the root's run, the
-- run, ended runs of its steps, file_storage; a pass without counted work, ended nested runs and full blocks locks only its own run.
create function save_run(p run_save) returns boolean language plpgsql set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
  r run;
  root_work int;
  at_utc timestamptz := clock_timestamp();
  blocks bigint;
begin
  if p.work > 0 and p.root_id is not null then
    select work into root_work from run where id = p.root_id for no key update;
    if not found or root_work + p.work > p.work_max then return false; end if;
  end if;
  update run set rev = p.rev, status = p.status, attempt = p.attempt, ends = p.ends, output = coalesce(p.output, output),
    error = coalesce(p.error, error), credits = p.credits, frames = p.frames,
    due_at = case when p.next_ms is not null then at_utc + p.next_ms * interval '1 millisecond' when p.status = 'queued' then due_at end,
    work = work + case when p.root_id is null then p.work else 0 end, stored_bytes = stored_bytes + p.grown,
    -- Not in every pass of fast steps: a row version with the same times needs no new index entries.
    progressed_at = case when status = p.status and progressed_at between at_utc - interval '1 second' and at_utc then progressed_at else at_utc end,
    recoveries = 0, woken_at = null,
    started_at = coalesce(started_at, case when p.status <> 'queued' and (p.status <> 'cancelled' or 'run.started' = any (p.events)) then at_utc end),
    ended_at = coalesce(ended_at, case when p.status in ('succeeded', 'failed', 'cancelled') then at_utc end)
  where id = p.id and rev = p.rev - 1 and (not cancel_requested or p.sees_cancel)
    and (p.work = 0 or p.root_id is not null or work + p.work <= p.work_max)
  returning * into r;
  if not found then return false; end if;
  if root_work is not null then update run set work = work + p.work where id = p.root_id; end if;

  insert into step_run (run_id, step_id, attempt, seq, run_attempt, type, status, skipped_reason, list, error, ended_seq, due_at, rev,
    started_at, ended_at)
  select p.id, t.step_id, t.attempt, t.seq, t.run_attempt, t.type, t.status, t.skipped_reason, t.list, t.error, t.ended_seq,
    at_utc + t.due_ms * interval '1 millisecond', p.rev, case when t.has_started then at_utc end, case when t.has_ended then at_utc end
  from json_to_recordset(p.steps) t(step_id text, attempt smallint, seq int, run_attempt smallint, type text, status text,
    skipped_reason text, list text, error json, ended_seq int, due_ms float8, has_started boolean, has_ended boolean)
  on conflict (run_id, step_id, attempt) do update set status = excluded.status, skipped_reason = excluded.skipped_reason,
    error = excluded.error, ended_seq = excluded.ended_seq, due_at = excluded.due_at, rev = excluded.rev,
    started_at = coalesce(step_run.started_at, excluded.started_at), ended_at = coalesce(step_run.ended_at, excluded.ended_at);

  insert into step_item (run_id, step_id, attempt, item, status, work_id, is_run, output, output_ref, error, credits, ended_seq, is_kept,
    late_at, rev, started_at, ended_at)
  select p.id, t.step_id, t.attempt, t.item, t.status, t.work_id, t.is_run, t.output, t.output_ref, t.error, t.credits, t.ended_seq,
    t.is_kept, at_utc + t.timeout_ms * interval '1 millisecond', p.rev, case when t.timeout_ms is not null then at_utc end,
    case when t.has_ended then at_utc end
  from json_to_recordset(p.items) t(step_id text, attempt smallint, item int, status text, work_id uuid, is_run boolean, output text,
    output_ref text, error json, credits bigint, ended_seq int, is_kept boolean, timeout_ms float8, has_ended boolean)
  on conflict (run_id, step_id, attempt, item) do update set status = excluded.status, work_id = coalesce(excluded.work_id, step_item.work_id),
    is_run = excluded.is_run or step_item.is_run, output = excluded.output, output_ref = excluded.output_ref, error = excluded.error,
    credits = excluded.credits, ended_seq = excluded.ended_seq, late_at = excluded.late_at, rev = excluded.rev,
    started_at = coalesce(step_item.started_at, excluded.started_at), ended_at = coalesce(step_item.ended_at, excluded.ended_at);
  update run c set parent_credits = i.credits from step_item i
  where c.parent_id = p.id and c.is_uncounted and i.run_id = p.id and i.step_id = c.parent_step and i.attempt = c.parent_attempt
    and i.item = c.parent_index and i.work_id = c.id and i.credits is distinct from c.parent_credits;

  if p.frames > p.frames_before then
    insert into run_frame (run_id, seq, type, step_id, attempt)
    select p.id, p.frames_before + t.n, t.type, t.step_id, t.attempt
    from rows from (json_to_recordset(p.told) as (type text, step_id text, attempt smallint)) with ordinality t(type, step_id, attempt, n);
  end if;

  if cardinality(p.events) > 0 then
    insert into event (workspace_id, workflow_id, type, metadata, occurred_at)
    select r.workspace_id, r.workflow_id, t.type, jsonb_strip_nulls(jsonb_build_object('runId', p.id, 'workflowId', r.workflow_id)) || case
      when t.type = 'run.started' then jsonb_build_object('attempt', r.attempt)
      when t.type = 'run.retrying' then jsonb_build_object('attempt', r.attempt, 'maxAttempts', r.max_attempts)
      else jsonb_strip_nulls(jsonb_build_object('creditsUsed', trim_scale(r.credits / 1000000000.0),
        'durationMs', (extract(epoch from r.ended_at - r.started_at) * 1000)::bigint, 'error', r.error::jsonb)) end,
      clock_timestamp()
    from unnest(p.events) with ordinality t(type, n) where is_subscribed(r.workspace_id, t.type) order by t.n;
  end if;

  blocks := storage_blocks(r.stored_bytes) - storage_blocks(r.stored_bytes - p.grown);
  if blocks > 0 then perform take_storage(r.workspace_id, blocks, p.storage_max); end if;
  return true;
end $$;

-- Writes a run's next pass and admits the single call that this pass begins: all or nothing. p_job: the job of a succeeded step, ended in
-- the same statement; null if there is none. p_next: that call, a job_offer; null if the run has ended. p_worker owns it immediately, and
-- is about to call a provider for it; null if it is queued. Returns 1: done; 0: done, and that call waits for queue capacity. Returns null
-- if the parts cannot be combined now; the caller does each separately. SQLSTATE SL003 reports the same later in the function. If a
-- statement that ended a job is repeated, it returns 1 if it was done, and renews that call's lease. Locks: the run, its jobs, ended runs
-- of its steps, file_storage, then those of a settlement and of an admission.
create function advance_run(
  p_save run_save, p_job uuid, p_epoch int, p_used bigint, p_source text, p_units jsonb, p_estimated boolean, p_tokens bigint,
  p_result text, p_next jsonb, p_worker uuid, p_lease_ms int, p_wait_ms int, p_course jsonb default null
) returns int language plpgsql set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
  r record;
  o job_offer := jsonb_populate_record(null::job_offer, p_next);
  is_ours boolean;
  number int := 1;
begin
  if p_wait_ms is not null then perform set_config('lock_timeout', p_wait_ms::text, true); end if;
  select rev, cancel_requested, parent_id into r from run where id = p_save.id for no key update;
  if not found then return null; end if;
  if p_job is not null then
    select j.epoch = p_epoch and j.state = 'running' into is_ours from job j where j.id = p_job for update;
    if is_ours is not true then
      if r.rev <> p_save.rev or not exists (select from job j where j.id = p_job and j.epoch = p_epoch and j.state = 'completed')
      then return null; end if;
      if p_next is null then return 1; end if;
      -- The worker's beat may have released the job meanwhile; no other worker has claimed it.
      update job j set worker = p_worker, lease_until = clock_timestamp() + p_lease_ms * interval '1 millisecond'
      where j.id = o.id and (j.worker = p_worker or (j.worker is null and j.lease_until is not null))
        and j.epoch = 1 and j.state = 'running';
      return case when found then 1 end;
    end if;
  end if;
  if r.rev <> p_save.rev - 1 or r.cancel_requested or (r.parent_id is not null and run_is_over(r.parent_id)) then return null; end if;
  if p_next is not null then
    number := place_job(o, p_worker, p_lease_ms);
    if number is null then return null; end if;
  end if;
  -- The balance is locked last, because others of the workspace wait for it.
  if not save_run(p_save)
    or (p_job is not null and end_job(p_job, p_epoch, true, 'completed', p_used, 'succeeded', p_source, p_units, p_estimated, p_tokens,
                                      p_result, null, null, false, null, p_course) is distinct from p_used)
    or (p_next is not null and admit_call(o.workspace_id, -1, o.id, o.key_id, o.model, o.amount, o.may_exceed, o.tokens, o.day_cap,
                                          o.hold_ms, null, o.scopes, o.labels) <> 0) then
    raise exception 'the step and its run do not go on together' using errcode = 'SL003';
  end if;
  return number;
end $$;
