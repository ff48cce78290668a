-- Counts of files, since rows of small ones fill no storage.

-- No upload ends between the count and the functions that go on with it.
lock table file in share row exclusive mode;
alter table file_storage
  -- Ready ones.
  add column files int not null default 0 constraint file_storage_files check (files >= 0);
update file_storage s set files = (select count(*) from file f where f.workspace_id = s.workspace_id and f.state = 'ready');

-- The function of 0007_files, with result 3: the workspace has as many files as it may. Uploads under way do not count, and are few.
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

-- The same for processes of an earlier release.
create or replace function extend_upload(p_id text, p_bytes bigint, p_limit bigint, p_lease_ms int, p_upload_id text)
returns smallint language sql as $$
  select extend_upload(p_id, p_bytes, p_limit, p_lease_ms, p_upload_id, 2147483647);
$$;

-- The function of 0007_files, with the count.
create or replace function finish_upload(
  p_id text, p_filename text, p_purpose text, p_media_type text, p_sha256 bytea, p_block_sha256 bytea, p_block_bytes int,
  p_expires_s int, p_fingerprint bytea, p_answer text, p_keep_ms int
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
    -- A repeat has taken the key over: its file is the one.
    if not found then return false; end if;
  end if;
  update file set state = 'ready', filename = p_filename, purpose = p_purpose, media_type = p_media_type,
    sha256 = p_sha256, block_sha256 = p_block_sha256, block_bytes = p_block_bytes, upload_id = null, lease_until = null,
    expires_at = created_at + p_expires_s * interval '1 second'
  where id = p_id;
  update file_storage set reserved = reserved - f.bytes, used = used + f.bytes, files = files + 1 where workspace_id = f.workspace_id;
  return true;
end $$;

-- The function of 0007_files, with the count.
create or replace function end_file(p_ws uuid, p_id text, p_state text) returns boolean language plpgsql as $$
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

-- The function of 0018_run_bounds, with the count of files.
create or replace function audit_storage() returns table (workspace_id uuid, fault text, expected text, found text) language sql stable as $$
  with stored as (
    select f.workspace_id, sum(f.bytes) filter (where f.state = 'ready') as used, sum(f.bytes) filter (where f.state = 'uploading') as reserved,
      count(*) filter (where f.state = 'ready') as files
    from file f where f.state in ('ready', 'uploading') group by 1
    union all
    select r.workspace_id, sum(storage_blocks(r.stored_bytes)), 0, 0 from run r group by 1
    union all
    select w.workspace_id, sum(v.bytes), 0, 0 from workflow w join workflow_version v on v.workflow_id = w.id group by 1
  ), wanted as (
    select s.workspace_id, sum(coalesce(s.used, 0)) as used, sum(coalesce(s.reserved, 0)) as reserved, sum(s.files) as files
    from stored s group by 1
  ), told as (
    select coalesce(w.workspace_id, s.workspace_id) as workspace_id,
      format('%s used, %s reserved, %s files', coalesce(w.used, 0), coalesce(w.reserved, 0), coalesce(w.files, 0)) as expected,
      format('%s used, %s reserved, %s files', coalesce(s.used, 0), coalesce(s.reserved, 0), coalesce(s.files, 0)) as found
    from wanted w full join file_storage s on s.workspace_id = w.workspace_id
  )
  select t.workspace_id, 'what is stored is not what is counted', t.expected, t.found from told t where t.expected <> t.found;
$$;
