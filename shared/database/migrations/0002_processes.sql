-- State that the processes of one installation share: secrets, what workers offer, whose circuits are open, what sweeps put off,
-- and answers that were given before.

-- Secrets that no operator has to set: the first process that needs one makes it.
create table service_secret (
  name text primary key,
  value bytea not null,
  created_at timestamptz not null default clock_timestamp()
);

-- Slots that workers offer, written anew with every heartbeat: the dispatcher's measure of the fleet. The same write renews the lease of
-- all that a worker holds.
create table worker_slots (
  worker uuid not null,
  pool text not null,
  lane text not null,
  slots int not null,
  seen_at timestamptz not null default clock_timestamp(),
  -- What it holds may be taken over from then on.
  lease_until timestamptz not null default clock_timestamp(),
  primary key (worker, pool, lane)
) with (fillfactor = 50);

-- Capabilities that each worker of the pool `capability` can run, written anew with every heartbeat: listed is what all of them can.
create table capability_offer (
  worker uuid primary key,
  ids text[] not null,
  -- Reason why an engine is not there, by the engine's name.
  missing jsonb not null,
  seen_at timestamptz not null default clock_timestamp()
);

-- Sources of providers that are out of rotation, per pool: one row from the first failure that took a source out until
-- the trial that brought it back. A restarted worker reads which circuits are open from here, and the fleet's one trial is handed out
-- here. All times are this server's: workers ask how long from now, so their clocks need not agree.
create table source_breaker (
  pool text not null,
  -- provider/model
  source text not null,
  open_until timestamptz not null,
  -- Length of the cooldown without its jitter; each failed trial lengthens it.
  cooldown_ms int not null constraint source_breaker_cooldown check (cooldown_ms > 0),
  -- Mark of the key and address that the source refused, and the HTTP status; null: it failed in another way. Workers that have another key
  -- do not keep to the cooldown.
  key_mark text,
  status smallint,
  opened_at timestamptz not null default now(),
  -- The worker that tries it now, and until when that is believed.
  probe_by uuid,
  probe_until timestamptz,
  primary key (pool, source)
) with (fillfactor = 50);

-- Items that a sweep failed on, and when it tries them again, so that none of them stands before the others.
create table sweep_retry (
  sweep text not null,
  -- Name by which the sweep calls it.
  item text not null,
  failures int not null,
  retry_at timestamptz not null,
  -- SQLSTATE or name of the error.
  error text not null,
  primary key (sweep, item)
) with (fillfactor = 70);

-- Whole answers under the hash of their request, per workspace. Unlogged: it may be lost, and costs no WAL.
create unlogged table response_cache (
  workspace_id uuid not null,
  key bytea not null,
  model text not null,
  body bytea not null,
  is_stream boolean not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  primary key (workspace_id, key)
) with (autovacuum_vacuum_scale_factor = 0.01);
create index response_cache_expires on response_cache (expires_at);
create index response_cache_age on response_cache (workspace_id, created_at);
