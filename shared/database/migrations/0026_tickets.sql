-- The job that a run was asked with has the run's id, and stays for as long as the run: a key that is repeated finds it. One made anew
-- beside a run that is over could never begin. Each kind is dropped by an index of its own, so that neither is read for the other.
drop index job_ended;
create index job_ended on job (ended_at) where ended_at is not null and kind <> 'workflow';
create index job_ended_ticket on job (ended_at) where ended_at is not null and kind = 'workflow';
