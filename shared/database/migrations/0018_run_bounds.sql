-- Bounds of runs and stored definitions: work under one call, bytes of a workspace, runs under way.

alter table run
  -- The run of a caller under which this one is; null for that run itself.
  add column root_id uuid,
  -- Calls and runs so far of a caller's run and of the runs under it.
  add column work int not null default 0,
  -- Reference of a large input, and bytes of any. The input goes some time after the run has ended.
  add column input_ref text,
  add column input_bytes int not null default 0,
  -- Bytes that it stores in rows and objects. Its own row is among them, but for the run of a step: there the parent counts it.
  add column stored_bytes bigint not null default 0;
alter table workflow_version add column bytes int not null default 0;
-- Deleted, and its definitions too: no run needs them any more.
alter table workflow add column is_emptied boolean not null default false;

create index run_active_root on run (workspace_id) where parent_id is null and status in ('queued', 'running');
create index run_kept_input on run (ended_at) where input_bytes > 0 and ended_at is not null;
create index run_workflow_open on run (workflow_id) where workflow_id is not null and status in ('queued', 'running');
create index workflow_unemptied on workflow (deleted_at) where deleted_at is not null and not is_emptied;

-- The part of a run's bytes that the workspace's count has: whole blocks, so that most passes touch the run's own row alone. A run's row is
-- counted as one block, which covers what is not a whole one.
create function storage_blocks(p_bytes bigint) returns bigint language sql immutable as $$
  select p_bytes / 4096 * 4096;
$$;

-- Takes further bytes of the workspace's limit at once: for runs and definitions. SQLSTATE SL002: the limit does not hold them.
-- Locks: file_storage, after runs and workflows.
create function take_storage(p_ws uuid, p_bytes bigint, p_limit bigint) returns void language plpgsql as $$
begin
  insert into file_storage (workspace_id) values (p_ws) on conflict do nothing;
  update file_storage set used = used + p_bytes where workspace_id = p_ws and used + reserved + p_bytes <= p_limit;
  if not found then raise exception 'the storage of the workspace is full' using errcode = 'SL002'; end if;
end $$;

-- Gives back what runs or definitions of several workspaces took, in an order that all keep to.
create function free_storage(p_ws uuid[], p_bytes bigint[]) returns void language plpgsql as $$
begin
  perform from file_storage where workspace_id = any (p_ws) order by workspace_id for no key update;
  update file_storage s set used = s.used - f.bytes
  from (select ws, sum(bytes) as bytes from unnest(p_ws, p_bytes) t(ws, bytes) group by ws) f
  where s.workspace_id = f.ws;
end $$;

-- Frees the bytes of deleted runs, also of those that an earlier release or a person deletes.
create function free_run_storage() returns trigger language plpgsql as $$
begin
  perform free_storage(array_agg(g.workspace_id), array_agg(storage_blocks(g.stored_bytes))) from gone g where g.stored_bytes > 0;
  return null;
end $$;
create trigger run_storage after delete on run referencing old table as gone for each statement execute function free_run_storage();

-- Decides on a run that is to begin, and takes its bytes if it may. `begun`; `known`: there is one of that id, or of that idempotency key;
-- `over`: the run whose step it is is over; `gone`: so is its definition; `crowded`: the workspace has as many under way as it may;
-- `full`: its storage does not hold it. A run of a step is bounded by the work of its root, and counts among none that are under way.
-- A batch message (p_starves is not null) is counted in the window like one for a job if its run begins. `waits`: the window is full for
-- wait_ms; of one that was let in by the window's share wait_ms is -1.
-- Locks: workflow_version, file_storage, those of admit_jobs. Callers' runs of one workspace begin one after the other, so that both
-- counts are exact.
create function admit_run(
  p_id uuid, p_ws uuid, p_member uuid, p_key text, p_parent uuid, p_workflow uuid, p_version int, p_bytes bigint, p_active_max int,
  p_limit bigint, p_starves boolean, p_call_limit int, p_wait_ms int, out verdict text, out wait_ms bigint
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
      'starves', p_starves, 'is_run', true)), p_wait_ms) a;
    verdict := case counted when 1 then 'waits' when 6 then 'known' end;
    if verdict is not null then return; end if;
    if counted <> 8 then raise exception 'a run that was to be counted was told %', counted; end if;
  end if;
  if blocks > 0 then
    update file_storage set used = used + blocks where workspace_id = p_ws;
  end if;
  verdict := 'begun';
end $$;

-- Deletes up to p_max runs that ended long ago, those of steps not before the runs that they are steps of. Result: how many, and where
-- large texts of theirs lie.
create function drop_ended_runs(p_older_ms float8, p_max int, out dropped int, out refs text[]) language plpgsql as $$
declare
  gone uuid[];
begin
  select array_agg(g.id) into gone from (
    select id from run where ended_at < now() - p_older_ms * interval '1 millisecond'
      and not exists (select from run p where p.id = run.parent_id
        and (p.ended_at is null or p.ended_at >= now() - p_older_ms * interval '1 millisecond'))
    order by ended_at limit p_max for update skip locked) g;
  select array_agg(r.ref) into refs from (
    select output_ref as ref from step_item where run_id = any (gone) and output_ref is not null
    union all select input_ref from run where id = any (gone) and input_ref is not null) r;
  delete from run where id = any (gone);
  get diagnostics dropped = row_count;
end $$;

-- The same of one workspace, sooner: its oldest callers' runs, after all runs under them, of which there may be thousands.
create function drop_oldest_runs(p_ws uuid, p_older_ms float8, p_max int, out dropped int, out refs text[]) language plpgsql as $$
declare
  gone uuid[];
begin
  with recursive tree as (
    (select id, depth from run where workspace_id = p_ws and parent_id is null and ended_at < now() - p_older_ms * interval '1 millisecond'
       and not exists (select from run a where a.workspace_id = p_ws and a.root_id = run.id and a.status in ('queued', 'running'))
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

-- Forgets the inputs of up to p_max runs that ended some time ago, and frees them. Result as above.
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

-- Decides on one workflow more, and takes its definition's bytes if there may be one: `made`, `crowded`, `full`.
create function admit_workflow(p_ws uuid, p_bytes bigint, p_max int, p_limit bigint) returns text language plpgsql as $$
begin
  insert into file_storage (workspace_id) values (p_ws) on conflict do nothing;
  perform from file_storage where workspace_id = p_ws for no key update;
  if p_max <= (select count(*) from workflow where workspace_id = p_ws and deleted_at is null) then return 'crowded'; end if;
  update file_storage set used = used + p_bytes where workspace_id = p_ws and used + reserved + p_bytes <= p_limit;
  if not found then return 'full'; end if;
  return 'made';
end $$;

-- Deletes the definitions of a deleted workflow, unless a run that goes on needs them, and frees their bytes.
-- Locks: workflow_version, workflow, file_storage.
create function empty_workflow(p_id uuid) returns void language plpgsql as $$
declare
  freed bigint;
  ws uuid;
begin
  perform from workflow_version where workflow_id = p_id for update;
  -- Under the lock: a run that began before is seen, and one that comes now finds no definition.
  if exists (select from run where workflow_id = p_id and status in ('queued', 'running')) then return; end if;
  update workflow set is_emptied = true, description = '' where id = p_id and deleted_at is not null and not is_emptied
  returning workspace_id into ws;
  if not found then return; end if;
  with dropped as (delete from workflow_version where workflow_id = p_id returning bytes)
  select sum(bytes) into freed from dropped;
  update file_storage set used = used - freed where workspace_id = ws and freed > 0;
end $$;

-- Workspaces with a count that is not the sum of their files, runs and definitions. One snapshot.
create function audit_storage() returns table (workspace_id uuid, fault text, expected text, found text) language sql stable as $$
  with stored as (
    select f.workspace_id, sum(f.bytes) filter (where f.state = 'ready') as used, sum(f.bytes) filter (where f.state = 'uploading') as reserved
    from file f where f.state in ('ready', 'uploading') group by 1
    union all
    select r.workspace_id, sum(storage_blocks(r.stored_bytes)), 0 from run r group by 1
    union all
    select w.workspace_id, sum(v.bytes), 0 from workflow w join workflow_version v on v.workflow_id = w.id group by 1
  ), wanted as (
    select s.workspace_id, sum(coalesce(s.used, 0)) as used, sum(coalesce(s.reserved, 0)) as reserved from stored s group by 1
  )
  select coalesce(w.workspace_id, s.workspace_id), 'what is stored is not what is counted',
    format('%s used, %s reserved', coalesce(w.used, 0), coalesce(w.reserved, 0)),
    format('%s used, %s reserved', coalesce(s.used, 0), coalesce(s.reserved, 0))
  from wanted w full join file_storage s on s.workspace_id = w.workspace_id
  where coalesce(w.used, 0) <> coalesce(s.used, 0) or coalesce(w.reserved, 0) <> coalesce(s.reserved, 0);
$$;

-- Rows from before. Runs that go on count the bytes that they add from here on.
update run r set input_bytes = coalesce(octet_length(r.input), 0),
  stored_bytes = case when r.parent_id is null then 4096 else 0 end
    + coalesce(octet_length(r.definition::text), 0) + coalesce(octet_length(r.input), 0) + coalesce(octet_length(r.output), 0)
    + coalesce((select sum(256 + coalesce(octet_length(s.list), 0)) from step_run s where s.run_id = r.id), 0)
    + coalesce((select sum(256 + coalesce(octet_length(i.output), 0) + case when i.is_run then 4096 else 0 end)
                from step_item i where i.run_id = r.id), 0)
where r.ended_at is not null;
update workflow_version set bytes = octet_length(definition::text);
insert into file_storage (workspace_id, used)
select t.workspace_id, sum(t.bytes) from (
  select r.workspace_id, storage_blocks(r.stored_bytes) as bytes from run r
  union all
  select w.workspace_id, v.bytes from workflow w join workflow_version v on v.workflow_id = w.id) t
group by t.workspace_id having sum(t.bytes) > 0
on conflict (workspace_id) do update set used = file_storage.used + excluded.used;
with recursive up as (
  select id as run_id, parent_id as above from run where parent_id is not null and status in ('queued', 'running')
  union all
  select up.run_id, r.parent_id from up join run r on r.id = up.above where r.parent_id is not null
)
update run set root_id = up.above from up join run root on root.id = up.above and root.parent_id is null where run.id = up.run_id;
