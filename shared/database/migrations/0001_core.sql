-- Workspaces, keys, money, rate window. Amounts are bigint nano-credits. Never edited after release.
--
-- Locks are taken in one order everywhere: rate_window by workspace, hold, balance by workspace. Nobody waits for a hold:
-- one that is locked elsewhere is skipped, so holds need no order among themselves.
-- Functions are PL/pgSQL rather than one statement with many CTEs: each statement inside sees what others committed
-- before the locks were got.

create table workspace (
  id uuid primary key,
  name text not null unique,
  is_active boolean not null default true,
  created_at timestamptz not null default now()
);

create table member (
  id uuid primary key,
  workspace_id uuid not null references workspace (id),
  name text not null,
  role text not null constraint member_role check (role in ('owner', 'admin', 'developer', 'billing')),
  is_active boolean not null default true,
  created_at timestamptz not null default now(),
  unique (workspace_id, name)
);

create table api_key (
  id uuid primary key,
  workspace_id uuid not null references workspace (id),
  member_id uuid not null references member (id),
  name text not null,
  sha256 bytea not null unique,
  hint text not null,
  preset text not null,
  created_at timestamptz not null default now(),
  revoked_at timestamptz
);
create index api_key_workspace on api_key (workspace_id);
-- Keys an operator brought along; the authenticator reads all of them at once.
create index api_key_brought on api_key (created_at) where hint not like 'slk\_%' and revoked_at is null;

create table audit_log (
  id bigint generated always as identity primary key,
  workspace_id uuid not null references workspace (id),
  actor text not null,
  action text not null,
  subject text not null,
  detail jsonb not null default '{}',
  at timestamptz not null default now()
);
create index audit_log_workspace on audit_log (workspace_id, id);

-- available = amount - held. day_tokens counts the UTC day `day`: tokens of its closed calls and what its open calls under
-- a daily cap have reserved. It lives here because every admission and every finish writes this row anyway.
create table balance (
  workspace_id uuid primary key references workspace (id),
  amount bigint not null default 0,
  held bigint not null default 0 constraint held_not_negative check (held >= 0),
  day date not null default '-infinity',
  day_tokens bigint not null default 0,
  constraint funds check (amount >= held)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01);

-- Open holds only: closing a hold moves it into usage_record in the same transaction, so this table stays small.
create table hold (
  job_id uuid not null,
  attempt smallint not null,
  workspace_id uuid not null,
  key_id uuid not null,
  model text not null,
  amount bigint not null constraint hold_amount_not_negative check (amount >= 0),
  may_exceed boolean not null,
  -- UTC day its tokens count on, and how many it has reserved there (0 when it is under no cap).
  day date not null,
  tokens bigint not null,
  deadline timestamptz not null,
  created_at timestamptz not null default now(),
  primary key (job_id, attempt)
) with (autovacuum_vacuum_scale_factor = 0.01);
create index hold_deadline on hold (deadline);

create table ledger_entry (
  id bigint generated always as identity,
  workspace_id uuid not null,
  kind text not null constraint ledger_kind check (kind in ('settle', 'top_up', 'correction')),
  amount bigint not null,
  source_id uuid not null,
  attempt smallint not null default 0,
  note text,
  at timestamptz not null default now(),
  primary key (workspace_id, id),
  constraint ledger_once unique (source_id, attempt, kind)
);

-- One row per closed hold. For a call over HTTP, job_id is its x-request-id.
create table usage_record (
  job_id uuid not null,
  attempt smallint not null,
  workspace_id uuid not null,
  key_id uuid not null,
  model text not null,
  source text,
  status text not null constraint usage_status check (status in ('succeeded', 'failed', 'cancelled', 'lost')),
  units jsonb not null,
  is_estimated boolean not null,
  held bigint not null,
  settled bigint not null,
  uncollected bigint not null,
  day date not null,
  tokens bigint not null,
  started_at timestamptz not null,
  ended_at timestamptz not null default now(),
  primary key (job_id, attempt)
);
create index usage_record_workspace on usage_record (workspace_id, ended_at);

-- What an ingress has relayed of a stream so far: the price of a call whose worker is lost.
create table relay_progress (
  job_id uuid primary key,
  amount bigint not null,
  tokens bigint not null,
  units jsonb not null,
  at timestamptz not null default now()
);
create index relay_progress_at on relay_progress (at);

create table dead_letter (
  id uuid primary key,
  stream text not null,
  stream_seq bigint not null,
  subject text not null,
  message_id text,
  reason text not null,
  deliveries integer not null,
  body bytea,
  job_id uuid,
  at timestamptz not null default now(),
  redriven_at timestamptz
);
-- Two janitors may see the same message. A sequence alone is not enough: a wiped stream counts from 1 again.
create unique index dead_letter_once on dead_letter (stream, stream_seq, coalesce(message_id, ''), md5(coalesce(body, '')));

-- calls: how many were ever counted. passed: calls up to this number are known to be older than 60 s.
-- shift_ms: added to the clock after it was set back, until it has caught up.
-- recent: times of the calls since the last full block of 32, in order.
create table rate_window (
  workspace_id uuid primary key,
  calls bigint not null default 0,
  last_ms bigint not null default 0,
  shift_ms bigint not null default 0,
  passed bigint not null default 0,
  recent bigint[] not null default '{}'
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01);
alter table rate_window alter column recent set storage plain;

-- Times of 32 calls each: block b holds the calls 32 b + 1 to 32 b + 32 and lies in slot b mod 144.
create table rate_block (
  workspace_id uuid not null,
  slot smallint not null,
  at_ms bigint[] not null,
  primary key (workspace_id, slot)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01);
alter table rate_block alter column at_ms set storage plain;

create function workspace_rows() returns trigger language plpgsql as $$
begin
  insert into balance (workspace_id) values (new.id);
  insert into rate_window (workspace_id) values (new.id);
  return new;
end $$;
create trigger workspace_rows after insert on workspace for each row execute function workspace_rows();
