-- The file store, and the counted storage of workspaces. A row is the commit point: an object in S3 is a file as long as its row says
-- `ready`.
--
-- uploading → ready → deleted. A row is deleted after its bytes in S3. `lost`: the bytes vanished from S3 without our action; the row stays
-- for the operator, is not counted, and is invisible to clients.
--
-- Locks: file, idempotency_key, file_storage. No transaction locks two files at once; no other transaction sees a file while it is
-- inserted.

create table file (
  -- Derived from a UUIDv7: ids sort by time, so any id is a cursor.
  id text primary key constraint file_id check (id ~ '^file-[0-9a-f]{32}$'),
  workspace_id uuid not null references workspace (id),
  -- Owner, besides whom owners and admins of the workspace see it; null: all members see it.
  member_id uuid,
  state text not null default 'uploading' constraint file_state check (state in ('uploading', 'ready', 'deleted', 'lost')),
  -- Bytes reserved by an upload so far; then the size.
  bytes bigint not null default 0 constraint file_bytes check (bytes >= 0),
  filename text,
  purpose text,
  media_type text,
  -- Hash of all bytes, and of each block of `block_bytes`, concatenated.
  sha256 bytea,
  block_sha256 bytea,
  block_bytes int,
  -- S3's id of an open multipart upload.
  upload_id text,
  -- After this time, an upload without renewal has no owner.
  lease_until timestamptz,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz,
  ended_at timestamptz,
  constraint file_whole check (
    state in ('uploading', 'deleted')
    or (filename is not null and purpose is not null and media_type is not null and sha256 is not null
        and block_sha256 is not null and block_bytes is not null))
);
create index file_list on file (workspace_id, id) where state = 'ready';
create index file_lease on file (lease_until) where state = 'uploading';
create index file_expiry on file (expires_at) where state = 'ready' and expires_at is not null;
create index file_gone on file (ended_at) where state = 'deleted';

create table file_storage (
  workspace_id uuid primary key references workspace (id),
  -- Bytes of ready files, runs, definitions, batch lines, responses and conversations.
  used bigint not null default 0 constraint file_storage_used check (used >= 0),
  -- Bytes of the limit reserved by open uploads.
  reserved bigint not null default 0 constraint file_storage_reserved check (reserved >= 0),
  -- Number of ready files, since rows of small files fill no storage.
  files int not null default 0 constraint file_storage_files check (files >= 0)
) with (fillfactor = 50);

-- Idempotency keys of clients. `fingerprint` is that of the successful call; null while the call runs: then `subject` names its object,
-- whose row says whether a process still works on it.
create table idempotency_key (
  workspace_id uuid not null references workspace (id),
  route text not null,
  key text not null,
  subject text not null,
  fingerprint bytea,
  answer text,
  expires_at timestamptz,
  primary key (workspace_id, route, key)
);
create index idempotency_key_subject on idempotency_key (subject) where fingerprint is null;
create index idempotency_key_expiry on idempotency_key (expires_at) where fingerprint is not null;
-- Keys of jobs: see kept_result below.
create index idempotency_key_result on idempotency_key (key) where key like ' job %' and fingerprint is not null;

-- Begins an upload. verdict: `begun`; `busy`: the key's first call still runs; `done`: the first call has ended with the returned response.
create function begin_upload(
  p_id text, p_ws uuid, p_lease_ms int, p_key text,
  out verdict text, out begun_at timestamptz, out done_fingerprint bytea, out done_answer text
) language plpgsql as $$
declare
  k idempotency_key;
begin
  if p_key is not null then
    loop
      insert into idempotency_key (workspace_id, route, key, subject) values (p_ws, 'files', p_key, p_id)
      on conflict do nothing;
      exit when found;
      select * into k from idempotency_key where workspace_id = p_ws and route = 'files' and key = p_key for update;
      -- The row was deleted between the two statements: its call was rejected.
      continue when not found;
      -- Keys of jobs begin with a blank and last as long as their jobs.
      if k.fingerprint is not null and (k.expires_at > clock_timestamp() or p_key like ' job %') then
        verdict := 'done';
        done_fingerprint := k.fingerprint;
        done_answer := k.answer;
        return;
      end if;
      if k.fingerprint is null and exists (
        select from file where id = k.subject and state = 'uploading' and lease_until > clock_timestamp()) then
        verdict := 'busy';
        return;
      end if;
      update idempotency_key set subject = p_id, fingerprint = null, answer = null, expires_at = null
      where workspace_id = p_ws and route = 'files' and key = p_key;
      exit;
    end loop;
  end if;
  insert into file (id, workspace_id, lease_until)
  values (p_id, p_ws, clock_timestamp() + p_lease_ms * interval '1 millisecond')
  returning created_at into begun_at;
  verdict := 'begun';
end $$;

-- Reserves further bytes of the workspace's limit for an upload. Returns 0 reserved; 1 limit exceeded; 2 the upload has no row any more; 3
-- the workspace has the maximum of files. Open uploads do not count as files, and are few.
create function extend_upload(p_id text, p_bytes bigint, p_limit bigint, p_lease_ms int, p_upload_id text, p_files_max int)
returns smallint language plpgsql as $$
declare
  ws uuid;
begin
  select workspace_id into ws from file where id = p_id and state = 'uploading' for update;
  if not found then return 2; end if;
  insert into file_storage (workspace_id) values (ws) on conflict do nothing;
  update file_storage set reserved = reserved + p_bytes
  where workspace_id = ws and used + reserved + p_bytes <= p_limit and files < p_files_max;
  if not found then
    return case when exists (select from file_storage where workspace_id = ws and files >= p_files_max) then 3 else 1 end;
  end if;
  update file set bytes = bytes + p_bytes, upload_id = coalesce(p_upload_id, upload_id),
    lease_until = clock_timestamp() + p_lease_ms * interval '1 millisecond'
  where id = p_id;
  return 0;
end $$;

-- Turns an upload into a file of the reserved bytes. Returns false without changes if it has no row any more.
create function finish_upload(
  p_id text, p_filename text, p_purpose text, p_media_type text, p_sha256 bytea, p_block_sha256 bytea, p_block_bytes int,
  p_expires_s int, p_fingerprint bytea, p_answer text, p_keep_ms int, p_owner_key uuid
) returns boolean language plpgsql as $$
declare
  f file;
begin
  select * into f from file where id = p_id and state = 'uploading' for update;
  if not found then return false; end if;
  if p_fingerprint is not null then
    update idempotency_key set fingerprint = p_fingerprint, answer = p_answer,
      expires_at = clock_timestamp() + p_keep_ms * interval '1 millisecond'
    where subject = p_id and fingerprint is null;
    -- A repeat has taken over the key, and its file is the result.
    if not found then return false; end if;
  end if;
  update file set state = 'ready', filename = p_filename, purpose = p_purpose, media_type = p_media_type,
    sha256 = p_sha256, block_sha256 = p_block_sha256, block_bytes = p_block_bytes, upload_id = null, lease_until = null,
    expires_at = created_at + p_expires_s * interval '1 second', member_id = (select k.member_id from api_key k where k.id = p_owner_key)
  where id = p_id;
  update file_storage set reserved = reserved - f.bytes, used = used + f.bytes, files = files + 1 where workspace_id = f.workspace_id;
  return true;
end $$;

-- Ends an upload: its reserved bytes and its key are released. Its bytes must still be deleted. Returns no row if there is no such upload.
-- p_expired: ends it only if its lease is over.
create function end_upload(p_id text, p_expired boolean) returns table (upload_id text)
language plpgsql as $$
#variable_conflict use_column
declare
  f file;
begin
  select * into f from file where id = p_id and state = 'uploading'
    and (not p_expired or lease_until < clock_timestamp()) for update;
  if not found then return; end if;
  update file set state = 'deleted', ended_at = clock_timestamp(), lease_until = null where id = p_id;
  delete from idempotency_key where subject = p_id and fingerprint is null;
  update file_storage set reserved = reserved - f.bytes where workspace_id = f.workspace_id;
  return query select f.upload_id;
end $$;

-- Ends a ready file: `deleted` or `lost`. Returns false if the workspace has no such file.
create function end_file(p_ws uuid, p_id text, p_state text) returns boolean language plpgsql as $$
declare
  size bigint;
begin
  update file set state = p_state, ended_at = clock_timestamp()
  where id = p_id and workspace_id = p_ws and state = 'ready'
  returning bytes into size;
  if not found then return false; end if;
  update file_storage set used = used - size, files = files - 1 where workspace_id = p_ws;
  return true;
end $$;

-- Files stored by running media jobs have their own keys (shared/jobs/kept-results.ts), so that a worker that takes over the job stores
-- nothing twice. An ended job is not taken over: its keys are deleted, with each file that is not in the job's result.
create view kept_result as
select k.workspace_id, k.key, k.subject, substr(k.key, 6, 36)::uuid as job_id
from idempotency_key k
where k.key like ' job %' and k.fingerprint is not null and k.route = 'files' and k.key ~ '^ job [0-9a-f-]{36} ';

-- Ends a job like end_job, with a result that names small files: their bytes are stored, and their rows are written here. A worker that
-- crashes before this leaves unreferenced bytes. Returns the result of end_job, or -2 if the files exceed the workspace's storage, -3 if it
-- has the maximum of files; then nothing is done. Locks: the job, file_storage, then those of a settlement: no other transaction knows the
-- new files.
create function end_job_with_files(
  p_files json, p_limit bigint, p_files_max int,
  p_id uuid, p_epoch int, p_state text, p_used bigint, p_usage text, p_source text, p_units jsonb,
  p_estimated boolean, p_tokens bigint, p_result text, p_result_ref text, p_error jsonb, p_keep boolean, p_wait_ms int,
  p_course jsonb default null
) returns bigint language plpgsql set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
  ws uuid;
  s file_storage;
  number int;
  size bigint;
  taken bigint;
begin
  select workspace_id into ws from job where id = p_id and epoch = p_epoch and state = 'running' for update;
  if not found then return null; end if;
  if p_wait_ms is not null then perform set_config('lock_timeout', p_wait_ms::text, true); end if;
  select count(*), sum(t.bytes) into number, size from json_to_recordset(p_files) t(bytes bigint);
  insert into file_storage (workspace_id) values (ws) on conflict do nothing;
  select * into s from file_storage where workspace_id = ws for no key update;
  if s.used + s.reserved + size > p_limit then return -2; end if;
  if s.files + number > p_files_max then return -3; end if;
  taken := end_job(p_id, p_epoch, true, p_state, p_used, p_usage, p_source, p_units, p_estimated, p_tokens, p_result, p_result_ref, p_error,
                   p_keep, p_wait_ms, p_course);
  if taken is null or taken < 0 then return taken; end if;
  insert into file (id, workspace_id, state, bytes, filename, purpose, media_type, sha256, block_sha256, block_bytes)
  select t.id, ws, 'ready', t.bytes, t.filename, t.purpose, t.media_type, decode(t.sha256, 'hex'), decode(t.block_sha256, 'hex'), t.block_bytes
  from json_to_recordset(p_files)
    t(id text, bytes bigint, filename text, purpose text, media_type text, sha256 text, block_sha256 text, block_bytes int);
  update file_storage set used = used + size, files = files + number where workspace_id = ws;
  return taken;
end $$;

-- Deletes a kept result, in its own transaction: files and the counts of their workspaces are locked one at a time. Returns true if its
-- file was deleted; null if the key must stay. Locks: job, idempotency_key, then as end_file.
create function drop_kept_result(p_ws uuid, p_key text) returns boolean language plpgsql as $$
declare
  k kept_result;
  j job;
begin
  select * into k from kept_result where workspace_id = p_ws and key = p_key;
  if not found then return null; end if;
  -- An operator may have redriven it.
  select * into j from job where id = k.job_id for share;
  if j.state in ('queued', 'running') then return null; end if;
  delete from idempotency_key where workspace_id = p_ws and route = 'files' and key = p_key and subject = k.subject;
  if not found then return null; end if;
  -- Without the job's row, its result is unknown: the file's owner decides.
  if j.state in ('failed', 'cancelled') or position(k.subject in j.result) = 0 then
    return end_file(p_ws, k.subject, 'deleted');
  end if;
  return false;
end $$;

-- Returns the counted part of a run's bytes: whole blocks, so that most passes change only the run's own row. A run's row counts as one
-- block, which covers the incomplete one.
create function storage_blocks(p_bytes bigint) returns bigint language sql immutable as $$
  select p_bytes / 4096 * 4096;
$$;

-- Takes further bytes of the workspace's limit immediately, for runs and definitions. SQLSTATE SL002: limit exceeded. Locks: file_storage,
-- after runs and workflows.
create function take_storage(p_ws uuid, p_bytes bigint, p_limit bigint) returns void language plpgsql as $$
begin
  insert into file_storage (workspace_id) values (p_ws) on conflict do nothing;
  update file_storage set used = used + p_bytes where workspace_id = p_ws and used + reserved + p_bytes <= p_limit;
  if not found then raise exception 'the storage of the workspace is full' using errcode = 'SL002'; end if;
end $$;

-- Returns bytes of runs or definitions to several workspaces, in one global order of locks.
create function free_storage(p_ws uuid[], p_bytes bigint[]) returns void language plpgsql as $$
begin
  perform from file_storage where workspace_id = any (p_ws) order by workspace_id for no key update;
  update file_storage s set used = s.used - f.bytes
  from (select ws, sum(bytes) as bytes from unnest(p_ws, p_bytes) t(ws, bytes) group by ws) f
  where s.workspace_id = f.ws;
end $$;
