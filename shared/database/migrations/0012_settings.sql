-- What a workspace's people manage over HTTP: who did it, keys that end, members that can be written to, what was spent.

-- {type: member | operator | system, id, key_id?, ip?, request_id?}; id is a member's, or an operator's name.
alter table audit_log alter column actor type jsonb using
  case when actor ~ '^[0-9a-f-]{36}$' then jsonb_build_object('type', 'member', 'id', actor)
       else jsonb_build_object('type', 'operator', 'id', actor) end;
alter table audit_log rename column detail to after;
alter table audit_log alter column after drop not null;
alter table audit_log alter column after drop default;
-- What it was; null where there was nothing. Never a secret in either.
alter table audit_log add column before jsonb;
create index audit_log_newest on audit_log (id) where workspace_id is null;

-- As in 0011_run_work, with an actor that says more.
drop function redrive_job(uuid, text, bigint, bigint);
create function redrive_job(p_letter uuid, p_actor jsonb, p_life_ms bigint, p_hold_ms bigint) returns text language plpgsql as $$
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
  if not found or j.state <> 'failed' or coalesce(j.request, j.request_ref) is null or j.run_id <> j.id then return 'over'; end if;
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
  insert into audit_log (workspace_id, actor, action, subject, after)
  values (j.workspace_id, p_actor, 'dead_letter.redrive', p_letter::text, jsonb_build_object('job_id', j.id));
  return 'done';
end $$;

-- Dead from then on.
alter table api_key add column expires_at timestamptz;
-- Within a minute or so: processes gather and write it in batches.
alter table api_key add column last_used_at timestamptz;

-- Where a member is told of its workspace's trouble; forgotten when the member is deleted.
alter table member add column email text;

-- Named tokens of operators for /operator; the first is a setting. Only hashes are kept.
create table operator_token (
  id uuid primary key,
  name text not null unique,
  sha256 bytea not null unique,
  -- What it may do: read; write: and change; money: and move credits.
  scope text not null constraint operator_scope check (scope in ('read', 'write', 'money')),
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  revoked_at timestamptz
);

-- UUIDv7, as newId makes them: ids made here sort by time too.
create function new_id() returns uuid language sql volatile as $$
  select encode(set_bit(set_bit(
    overlay(uuid_send(gen_random_uuid())
            placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6),
    52, 1), 53, 1), 'hex')::uuid;
$$;

-- Sums of usage records by hour. usage_rollup says up to when they hold everything; whoever reads adds the records after that.
create table usage_hour (
  workspace_id uuid not null,
  hour timestamptz not null,
  key_id uuid not null,
  model text not null,
  -- The stored workflow whose run made the calls; zeros: none.
  workflow_id uuid not null,
  status text not null,
  calls bigint not null,
  -- Nano-credits.
  settled bigint not null,
  uncollected bigint not null,
  tokens bigint not null,
  primary key (workspace_id, hour, key_id, model, workflow_id, status)
) with (fillfactor = 70);
create table usage_rollup (
  is_only boolean primary key default true check (is_only),
  until timestamptz not null
);
-- Before every record there is, those included that are being written while this runs.
insert into usage_rollup (until) select least(now(), min(ended_at)) - interval '1 hour' from usage_record;
-- Records come in order of this column, or nearly.
create index usage_record_ended on usage_record using brin (ended_at) with (pages_per_range = 8, autosummarize = on);
create index usage_record_key on usage_record (workspace_id, key_id, ended_at);

-- Few among many settles.
create index ledger_entry_by_hand on ledger_entry (workspace_id, id) where kind <> 'settle';

-- Adds the records of at most ten minutes to the sums. A record's ended_at is the start of its transaction, and none lasts as long
-- as p_lag_ms, so what is older has all been committed. Returns by how much the sums lag behind that, in milliseconds, or null when
-- another process is at it.
create function roll_up_usage(p_lag_ms bigint) returns bigint language plpgsql as $$
declare
  since timestamptz;
  upto timestamptz;
  settled_until timestamptz := clock_timestamp() - p_lag_ms * interval '1 millisecond';
begin
  select until into since from usage_rollup for update skip locked;
  if not found then return null; end if;
  -- At 1000 calls a second these are 600 000 records, which one statement has time for.
  upto := least(settled_until, since + interval '10 minutes');
  if upto <= since then return 0; end if;
  insert into usage_hour as h (workspace_id, hour, key_id, model, workflow_id, status, calls, settled, uncollected, tokens)
  select u.workspace_id, date_trunc('hour', u.ended_at, 'UTC'), u.key_id, u.model,
         coalesce(r.workflow_id, '00000000-0000-0000-0000-000000000000'), u.status, count(*), sum(u.settled), sum(u.uncollected),
         sum(u.tokens)
  from usage_record u
  left join job j on j.id = u.job_id
  left join run r on r.id = j.run_id
  where u.ended_at >= since and u.ended_at < upto
  group by 1, 2, 3, 4, 5, 6
  on conflict (workspace_id, hour, key_id, model, workflow_id, status) do update
  set calls = h.calls + excluded.calls, settled = h.settled + excluded.settled,
      uncollected = h.uncollected + excluded.uncollected, tokens = h.tokens + excluded.tokens;
  update usage_rollup set until = upto;
  return ceil(extract(epoch from settled_until - upto) * 1000)::bigint;
end $$;

-- Nano-credits spent by hour since a full hour: the sums, and the records that are not in them yet.
create function spent_by_hour(p_ws uuid, p_since timestamptz) returns table (hour timestamptz, nano numeric) language sql stable as $$
  select h.hour, sum(h.settled)
  from usage_hour h
  where h.workspace_id = p_ws and h.hour >= p_since
  group by 1
  union all
  select date_trunc('hour', u.ended_at, 'UTC'), sum(u.settled)
  from usage_record u
  where u.workspace_id = p_ws and u.ended_at >= greatest(p_since, (select until from usage_rollup))
  group by 1
$$;
