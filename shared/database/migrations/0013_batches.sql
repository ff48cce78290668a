-- Batches: files of calls, each of whose lines becomes a durable job (or run) of the batch lane within a day. The process with the lease
-- leads a batch; every write of a leader names its epoch, so that a leader considered dead cannot write.
--
-- validating → in_progress → finalizing → completed, or failed; `ends_as` is set when no further line begins, and contains the final
-- status: the batch is finalizing or cancelling until running lines have ended and the files are written.
--
-- Locks: batch, then its lines, then file_storage. No transaction here locks a job, a run or a balance. Admission of lines locks their
-- batch (admit_jobs), so that the leader cannot change meanwhile.

create table batch (
  id uuid primary key,
  workspace_id uuid not null references workspace (id),
  -- Key that created it; its lines run for this key.
  key_id uuid not null,
  -- Hash of the call that created it with an idempotency key.
  fingerprint text,
  -- Derived from the workspace and the key, so that the batch and each of its lines have unique ids.
  repeat_id uuid unique,
  endpoint text not null,
  input_file_id text not null,
  -- JSON text: jsonb does not accept \u0000.
  metadata text,
  output_expires_s int,
  state text not null default 'validating' constraint batch_state check (state in (
    'validating', 'failed', 'in_progress', 'finalizing', 'completed', 'expired', 'cancelling', 'cancelled')),
  ends_as text constraint batch_ends_as check (ends_as in ('completed', 'expired', 'cancelled')),
  ends_at timestamptz,
  -- Faults of its input, as JSON text.
  errors text,
  -- Model of all lines; null if there are several.
  model text,
  -- Numbers of all lines, of those with a result in the output file, and of all others that have ended, or never will because the batch has
  -- failed.
  total int not null default 0,
  completed int not null default 0,
  failed int not null default 0,
  -- Lengths of the files written so far.
  output_bytes bigint not null default 0,
  error_bytes bigint not null default 0,
  -- Sums over the usage records of ended lines.
  input_tokens bigint not null default 0,
  cached_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  reasoning_tokens bigint not null default 0,
  credits bigint not null default 0,
  output_file_id text,
  error_file_id text,
  epoch int not null default 0,
  lease_until timestamptz,
  -- Consecutive leaders lost without any progress of the batch.
  turns_lost int not null default 0,
  -- Earliest time of the next lead; the batch that has waited longest is first.
  next_at timestamptz not null default clock_timestamp(),
  -- Last time that its input was validated, or lines ended.
  moved_at timestamptz not null default clock_timestamp(),
  created_at timestamptz not null default clock_timestamp(),
  in_progress_at timestamptz,
  expires_at timestamptz not null,
  finalizing_at timestamptz,
  completed_at timestamptz,
  failed_at timestamptz,
  expired_at timestamptz,
  cancelling_at timestamptz,
  cancelled_at timestamptz,
  -- Maximum nano-credits of its lines. Null: no maximum.
  max_nano bigint,
  -- Id of the row of spend_limit of its lines. Null: no maximum.
  limit_id uuid generated always as (case when max_nano is not null then work_limit_id(id) end) stored,
  -- End user and tags of its lines that name none, from the header of its request.
  labels jsonb,
  -- Time of its end, with any status.
  ended_at timestamptz,
  -- Bytes of its lines in the workspace's storage, as long as the batch is stored.
  stored_bytes bigint not null default 0
) with (fillfactor = 70);
create index batch_due on batch (next_at) where ended_at is null;
create index batch_open on batch (workspace_id) where ended_at is null;
create index batch_list on batch (workspace_id, created_at desc, id desc);
create index batch_ended on batch (ended_at) where ended_at is not null;

create domain batch_line_state as text constraint batch_line_state check (value in ('waiting', 'running', 'ended'));

-- A line of a batch. `running` starts before its job is admitted: a new leader admits it again with the same id.
create table batch_line (
  batch_id uuid not null references batch on delete cascade,
  -- From 1, like line numbers in editors.
  number int not null,
  custom_id text not null,
  -- Offset of the line in the input.
  start bigint not null,
  bytes int not null,
  -- Its job or run, derived from batch and number.
  job_id uuid not null,
  state batch_line_state not null default 'waiting',
  -- Location of its record in the output or the error file; place: order of its end within the batch.
  place int,
  is_output boolean,
  record_start bigint,
  record_bytes int,
  primary key (batch_id, number)
) with (fillfactor = 80);
-- For texts of up to 512 characters, the hash is sufficient.
create unique index batch_line_custom_id on batch_line (batch_id, (md5(custom_id)::uuid));
create index batch_line_waiting on batch_line (batch_id, number) where state = 'waiting';
create index batch_line_running on batch_line (batch_id) where state = 'running';
-- Jobs of these lines are kept until their batch has recorded the result.
create index batch_line_job on batch_line (job_id) where state = 'running';
create index batch_line_place on batch_line (batch_id, place) where place is not null;

-- Objects in the store that will be concatenated to one of the two files, in order.
create table batch_part (
  batch_id uuid not null references batch on delete cascade,
  is_output boolean not null,
  start bigint not null,
  bytes int not null,
  sha256 bytea not null,
  key text not null,
  primary key (batch_id, is_output, start)
);
create index batch_part_key on batch_part (key);

-- Creates a batch, unless its workspace has p_most open ones. Returns its id, or that of an earlier batch with the same repeat_id; null if
-- there are too many. Creations in a workspace are serialized, so that the count is exact.
create function insert_batch(
  p_id uuid, p_ws uuid, p_key uuid, p_fingerprint text, p_repeat_id uuid, p_endpoint text, p_input_file_id text, p_metadata text,
  p_output_expires_s int, p_window_ms bigint, p_most int, p_max_nano bigint, p_labels jsonb
) returns uuid language plpgsql as $$
declare
  known uuid;
begin
  perform pg_advisory_xact_lock(hashtext('insert_batch'), hashtext(p_ws::text));
  select id into known from batch where repeat_id = p_repeat_id;
  if found then return known; end if;
  if (select count(*) from (select from batch where workspace_id = p_ws and ended_at is null limit p_most) x) >= p_most then return null; end if;
  insert into batch (id, workspace_id, key_id, fingerprint, repeat_id, endpoint, input_file_id, metadata, output_expires_s, max_nano, labels,
    expires_at)
  values (p_id, p_ws, p_key, p_fingerprint, p_repeat_id, p_endpoint, p_input_file_id, p_metadata, p_output_expires_s,
    p_max_nano, p_labels, clock_timestamp() + p_window_ms * interval '1 millisecond');
  -- Locks the balance.
  if p_max_nano is not null then
    perform set_spend_limit(p_ws, work_limit_id(p_id), 'batch', null, null, array[null, null, null, p_max_nano], null, null, '{}');
  end if;
  return p_id;
end $$;

-- Starts the lines of a batch, and takes their bytes, p_row_bytes each in addition to the texts, of the workspace's storage. Returns
-- `begun`; `gone`: another process leads it, or it is ending; `crowded`: the stored batches of the workspace would exceed p_lines_max
-- lines; `full`: its storage is too small. Batches of one workspace are serialized here, so that both counts are exact.
create function begin_batch(
  p_id uuid, p_epoch int, p_total int, p_model text, p_row_bytes int, p_lines_max int, p_limit bigint
) returns text language plpgsql as $$
declare
  ws uuid;
  size bigint;
begin
  select workspace_id into ws from batch where id = p_id and epoch = p_epoch and state = 'validating' for no key update;
  if not found then return 'gone'; end if;
  insert into file_storage (workspace_id) values (ws) on conflict do nothing;
  perform from file_storage where workspace_id = ws for no key update;
  if p_total + (select coalesce(sum(total), 0) from batch where workspace_id = ws) > p_lines_max then return 'crowded'; end if;
  select storage_blocks(4095 + sum(p_row_bytes + octet_length(custom_id))) into size from batch_line where batch_id = p_id;
  update file_storage set used = used + size where workspace_id = ws and used + reserved + size <= p_limit;
  if not found then return 'full'; end if;
  update batch set state = 'in_progress', in_progress_at = clock_timestamp(), total = p_total, model = p_model, turns_lost = 0,
    moved_at = clock_timestamp(), stored_bytes = stored_bytes + size
  where id = p_id;
  return 'begun';
end $$;

-- Frees the bytes of deleted batches.
create function free_batch_storage() returns trigger language plpgsql as $$
begin
  perform free_storage(array_agg(g.workspace_id), array_agg(g.stored_bytes)) from gone g where g.stored_bytes > 0;
  return null;
end $$;
create trigger batch_storage after delete on batch referencing old table as gone for each statement execute function free_batch_storage();

-- Deletes the spend limits of deleted batches. Executed after batch_storage, because balances are locked last.
create function drop_batch_limits() returns trigger language plpgsql as $$
begin
  perform drop_spend_limits(array_agg(g.workspace_id), array_agg(g.limit_id)) from gone g where g.limit_id is not null having count(*) > 0;
  return null;
end $$;
create trigger batch_storage_limits after delete on batch referencing old table as gone for each statement execute function drop_batch_limits();

-- Leads the batch that has waited longest, of a workspace with fewer than p_each led ones. No row: none waits. A batch whose leader was
-- lost waits for longer each time, and a different time than others lost with it: one of them may have been the cause.
create function lead_batch(p_lease_ms int, p_each int) returns setof batch language sql volatile as $$
  update batch set epoch = epoch + 1, lease_until = clock_timestamp() + p_lease_ms * interval '1 millisecond',
    turns_lost = turns_lost + case when lease_until is null then 0 else 1 end
  where id = (
    select b.id from batch b
    where b.ended_at is null and b.next_at <= clock_timestamp()
      and (b.lease_until is null or b.lease_until < clock_timestamp()
        - b.turns_lost * p_lease_ms * ((hashtext(b.id::text || b.epoch) & 1023) / 1024.0) * interval '1 millisecond')
      and (select count(*) from (select from batch o where o.workspace_id = b.workspace_id and o.ended_at is null
             and o.lease_until > clock_timestamp() limit p_each) x) < p_each
    order by b.next_at limit 1 for update skip locked)
  returning *;
$$;

-- Ends lines of a batch, whose records are stored as one part of a file. Returns false without changes if the caller no longer leads the
-- batch.
create function end_batch_lines(
  p_id uuid, p_epoch int, p_is_output boolean, p_key text, p_sha256 bytea, p_numbers int[], p_bytes int[]
) returns boolean language plpgsql as $$
declare
  b batch;
  base bigint;
  size bigint;
  ids uuid[];
  u record;
begin
  select * into b from batch where id = p_id and epoch = p_epoch and ended_at is null for no key update;
  if not found then return false; end if;
  base := case when p_is_output then b.output_bytes else b.error_bytes end;
  select sum(t.bytes) into size from unnest(p_bytes) t(bytes);
  insert into batch_part (batch_id, is_output, start, bytes, sha256, key) values (p_id, p_is_output, base, size, p_sha256, p_key);
  with records as (
    select r.number, r.bytes, r.n, sum(r.bytes) over (order by r.n) - r.bytes as before
    from unnest(p_numbers, p_bytes) with ordinality r(number, bytes, n)
  ), ended as (
    update batch_line l set state = 'ended', place = b.completed + b.failed + r.n, is_output = p_is_output,
      record_start = base + r.before, record_bytes = r.bytes
    from records r where l.batch_id = p_id and l.number = r.number and l.state <> 'ended'
    returning l.job_id)
  select array_agg(job_id) into ids from ended;
  if cardinality(ids) is distinct from cardinality(p_numbers) then raise exception 'a line of batch % has ended before', p_id; end if;
  -- For a run, its steps have the usage records.
  select coalesce(sum(n.input), 0) as input, coalesce(sum(n.cached), 0) as cached, coalesce(sum(n.output), 0) as output,
         coalesce(sum(n.reasoning), 0) as reasoning, coalesce(sum(r.settled), 0)
           + coalesce((select sum(run.credits) from run where run.id = any (ids)), 0) as credits
  into u
  from usage_record r cross join lateral (
    select sum(t.value) filter (where t.key ~ '^(input|cached_input|cache_write_5m|cache_write_1h|audio_input|image_input)_tokens$') as input,
           sum(t.value) filter (where t.key = 'cached_input_tokens') as cached,
           sum(t.value) filter (where t.key ~ '^(output|audio_output|image_output)_tokens$') as output,
           sum(t.value) filter (where t.key = 'reasoning_tokens') as reasoning
    from (select e.key, e.value::bigint as value from jsonb_each_text(r.units) e where e.key like '%\_tokens') t) n
  where r.workspace_id = b.workspace_id and r.job_id = any (ids);
  update batch set
    completed = completed + case when p_is_output then cardinality(ids) else 0 end,
    failed = failed + case when p_is_output then 0 else cardinality(ids) end,
    output_bytes = output_bytes + case when p_is_output then size else 0 end,
    error_bytes = error_bytes + case when p_is_output then 0 else size end,
    input_tokens = input_tokens + u.input, cached_tokens = cached_tokens + u.cached, output_tokens = output_tokens + u.output,
    reasoning_tokens = reasoning_tokens + u.reasoning, credits = credits + u.credits, turns_lost = 0,
    moved_at = clock_timestamp()
  where id = p_id;
  return true;
end $$;

-- Ends a batch and writes its event, unless the batch was cancelled. Unfinished lines of a failed batch count as failed. p_error: code and
-- message of the event for a failed or expired batch. Returns false if the caller no longer leads the batch.
create function end_batch(
  p_id uuid, p_epoch int, p_state text, p_errors text, p_error jsonb, p_output_file_id text, p_error_file_id text
) returns boolean language plpgsql as $$
declare
  b batch;
  at_utc timestamptz := clock_timestamp();
begin
  update batch set state = p_state, failed = case when p_state = 'failed' then total - completed else failed end,
    errors = p_errors, output_file_id = p_output_file_id, error_file_id = p_error_file_id,
    completed_at = case when p_state = 'completed' then at_utc end, failed_at = case when p_state = 'failed' then at_utc end,
    expired_at = case when p_state = 'expired' then at_utc end, cancelled_at = case when p_state = 'cancelled' then at_utc end,
    ended_at = at_utc, lease_until = null
  where id = p_id and epoch = p_epoch and ended_at is null
  returning * into b;
  if not found then return false; end if;
  if p_state = 'cancelled' then return true; end if;
  insert into event (workspace_id, type, metadata)
  values (b.workspace_id, case p_state when 'completed' then 'job.completed' else 'job.failed' end, jsonb_strip_nulls(jsonb_build_object(
    'batchId', 'batch_' || replace(p_id::text, '-', ''), 'endpoint', b.endpoint,
    'total', b.total, 'completed', b.completed, 'failed', b.failed,
    'outputFileId', p_output_file_id, 'errorFileId', p_error_file_id,
    'durationMs', (extract(epoch from at_utc - b.created_at) * 1000)::bigint,
    'creditsUsed', trim_scale(b.credits / 1000000000.0), 'error', p_error)));
  return true;
end $$;
