-- Runs of workflows. All that is known of a run stands in these rows, so that any worker goes on where another died.
--
-- A run is changed by one statement that names the `rev` it has read; a worker that was overtaken reads again. It takes no lock of jobs, holds or
-- balances. Work that a row says is running and that has no job yet is started by the next worker that looks: its job's id is made
-- from its place, so it is admitted once.

create table run (
  id uuid primary key,
  workspace_id uuid not null references workspace (id),
  -- For whom its steps call.
  key_id uuid not null,
  member_id uuid not null references member (id),
  -- Null for a definition that came with the run.
  workflow_id uuid references workflow (id),
  version int,
  -- Of such a run.
  definition json,
  mode text not null constraint run_mode check (mode in ('sync', 'stream', 'async')),
  lane text not null constraint run_lane check (lane in ('live', 'batch')),
  status text not null default 'queued'
    constraint run_status check (status in ('queued', 'running', 'succeeded', 'failed', 'cancelled')),
  attempt smallint not null default 1,
  max_attempts smallint not null,
  -- Counts its changes.
  rev int not null default 0,
  -- Items and steps that have ended.
  ends int not null default 0,
  -- JSON as text: jsonb takes neither \u0000 nor lone surrogates. Null: neither given nor declared with a default.
  input text,
  output text,
  error json,
  -- It ends as cancelled: nothing of it is started from here on.
  cancel_requested boolean not null default false,
  -- The step of another run that it is.
  parent_id uuid,
  parent_step text,
  parent_attempt smallint,
  parent_index int,
  depth smallint not null default 0,
  -- The caller's name for it, and what it asked for under it.
  idempotency_key text,
  fingerprint text,
  -- Of a publisher: its name for the run, where it wants to hear, and whether it was told of the end. Null: no publisher asked for it.
  publisher_key text,
  reply text,
  told boolean,
  -- When its next attempt begins.
  due_at timestamptz,
  traceparent text,
  -- Nano-credits of its work that has ended.
  credits bigint not null default 0,
  -- Number of its last frame.
  frames int not null default 0,
  -- How often it was found standing still since it last went on.
  recoveries smallint not null default 0,
  created_at timestamptz not null default clock_timestamp(),
  progressed_at timestamptz not null default clock_timestamp(),
  started_at timestamptz,
  ended_at timestamptz
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01);
create unique index run_idempotent on run (workspace_id, idempotency_key) where idempotency_key is not null;
create index run_newest on run (workspace_id, created_at desc, id desc) where parent_id is null;
create index run_children on run (parent_id) where parent_id is not null;
create index run_unfinished on run (progressed_at) where status in ('queued', 'running');
create index run_active on run (workspace_id) where status in ('queued', 'running');
create index run_due on run (due_at) where due_at is not null;
create index run_ended on run (ended_at) where ended_at is not null;
create index run_untold on run (ended_at) where not told;

-- One attempt of one step.
create table step_run (
  run_id uuid not null references run (id) on delete cascade,
  step_id text not null,
  attempt smallint not null,
  -- Order in which they were made.
  seq int not null,
  run_attempt smallint not null,
  -- Of the step: model, sub_pipeline or the id of a capability.
  type text not null,
  status text not null
    constraint step_run_status check (status in ('queued', 'running', 'succeeded', 'failed', 'skipped', 'cancelled')),
  skipped_reason text,
  -- What for_each gave, as JSON; null: the step has none.
  list text,
  error json,
  ended_seq int,
  -- When a delayed attempt begins.
  due_at timestamptz,
  rev int not null,
  started_at timestamptz,
  ended_at timestamptz,
  primary key (run_id, step_id, attempt)
) with (fillfactor = 70);
create index step_run_due on step_run (due_at) where due_at is not null;

-- One call, or one run, that an attempt of a step made; without for_each there is one.
create table step_item (
  run_id uuid not null references run (id) on delete cascade,
  step_id text not null,
  attempt smallint not null,
  item int not null,
  status text not null constraint step_item_status check (status in ('queued', 'running', 'succeeded', 'failed', 'cancelled')),
  -- Its job, or its run when it is one.
  work_id uuid,
  is_run boolean not null default false,
  output text,
  -- Where a large output lies.
  output_ref text,
  error json,
  -- Nano-credits; null until its work has ended.
  credits bigint,
  ended_seq int,
  -- It ended for good in an earlier attempt, which has its credits.
  is_kept boolean not null default false,
  late_at timestamptz,
  rev int not null,
  started_at timestamptz,
  ended_at timestamptz,
  primary key (run_id, step_id, attempt, item)
) with (fillfactor = 70);
-- Work that a run still has to hear of.
create index step_item_open on step_item (work_id) where work_id is not null and credits is null;
create index step_item_awaited on step_item (run_id) where work_id is not null and credits is null and not is_run;
create index step_item_run on step_item (run_id) where is_run;
create index step_item_late on step_item (late_at) where status = 'running' and late_at is not null;

-- What a reader of the run's stream is told, in order. What a frame says is read from the rows that it names.
create table run_frame (
  run_id uuid not null references run (id) on delete cascade,
  seq int not null,
  type text not null,
  step_id text,
  attempt smallint,
  primary key (run_id, seq)
);

-- Whether nothing of a run may begin any more.
create function run_is_over(p_id uuid) returns boolean language sql stable as $$
  select exists (select from run where id = p_id and (cancel_requested or status not in ('queued', 'running')));
$$;
