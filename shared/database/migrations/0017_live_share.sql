-- How many jobs of one workspace may be on the queue of a pool and lane at once, shared among the workspaces that have work
-- there. Batch: two fleets full, so that a job follows another without a look in between. Live, where callers wait: an eighth of
-- the slots stays free, since a job under way may take minutes and another workspace's next one would wait for its end. At least
-- 4, so that a small fleet is kept busy; at most half of what the stream takes of one workspace. While no worker is known, as for
-- sixteen slots: there is something to begin with when they come.
create or replace function job_share(p_pool text, p_lane text) returns int
language sql volatile set enable_seqscan = off as $$
  -- From workspace to workspace: an index search for each, however many jobs it has there.
  with recursive at_work as (
    (select workspace_id from job
     where pool = p_pool and lane = p_lane and state in ('queued', 'running') and dispatched_at is not null
     order by workspace_id limit 1)
    union all
    select n.workspace_id from at_work a cross join lateral (
      select workspace_id from job
      where pool = p_pool and lane = p_lane and state in ('queued', 'running') and dispatched_at is not null
        and workspace_id > a.workspace_id
      order by workspace_id limit 1) n
  )
  select least(1000, greatest(4, ceil(
    case when p_lane = 'live' then coalesce(s.slots, 16) - coalesce(s.slots, 16) / 8 else 2 * coalesce(s.slots, 16) end
    / greatest(a.active, 1)::numeric)))::int
  from (select nullif(sum(slots), 0) as slots from worker_slots
        where pool = p_pool and lane = p_lane and seen_at > clock_timestamp() - interval '45 seconds') s,
       (select count(*) as active from at_work) a
$$;
