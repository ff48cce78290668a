-- Indexes of jobs that wait for room, and of those that rest (0014). Apart from the columns, whose lock would otherwise keep
-- readers out for as long as the table is read: writers of jobs still wait, some seconds for each ten million rows.
create index job_letting_out on job (pool, lane, workspace_id, created_at)
  where state = 'queued' and dispatched_at is null and not_before is null;
create index job_resting on job (pool, lane, not_before) where state = 'queued' and not_before is not null;
drop index job_waiting;
