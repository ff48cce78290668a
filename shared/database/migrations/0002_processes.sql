-- State shared by the processes of one installation: secrets, reports of workers, open circuits, postponed items of sweeps, and cached
-- responses.

-- Secrets without a setting: the first process that needs one creates it.
create table service_secret (
  name text primary key,
  value bytea not null,
  created_at timestamptz not null default clock_timestamp()
);

-- Master keys of the encryption of stored secrets, as public keys. Processes without a master key encrypt with the newest key that is not
-- superseded. A process with a master key publishes it, and marks the earlier keys of its settings as superseded.
create table sealing_key (
  -- Name of the master key (sealingKeyId), which reveals nothing about it.
  id text primary key,
  -- X25519. Null: superseded before it was published.
  public_key bytea constraint sealing_key_published check (is_superseded or public_key is not null),
  is_superseded boolean not null,
  published_at timestamptz not null default clock_timestamp()
);

-- Slots of workers, updated with every heartbeat: the dispatcher's measure of the fleet. The same update renews the lease of everything
-- that a worker holds.
create table worker_slots (
  worker uuid not null,
  pool text not null,
  lane text not null,
  slots int not null,
  seen_at timestamptz not null default clock_timestamp(),
  -- Its work may be taken over from then on.
  lease_until timestamptz not null default clock_timestamp(),
  -- Version of Sluice. Null: a worker of a release that does not report it.
  version text,
  -- Time of the first heartbeat.
  started_at timestamptz not null default clock_timestamp(),
  primary key (worker, pool, lane)
) with (fillfactor = 50);

-- Capabilities that each worker of the pool `capability` can run, updated with every heartbeat. Only those that all workers can run are
-- listed.
create table capability_offer (
  worker uuid primary key,
  ids text[] not null,
  -- Reason for each missing engine, by name.
  missing jsonb not null,
  seen_at timestamptz not null default clock_timestamp()
);

-- Sources out of rotation, per pool: one row from the failure that opened the circuit until the probe that closed it. A restarted worker
-- reads the open circuits from here, and the fleet's single probe is granted here. All times are this server's: workers ask for remaining
-- durations, so their clocks may differ.
create table source_breaker (
  pool text not null,
  -- provider/model
  source text not null,
  open_until timestamptz not null,
  -- Length of the cooldown without jitter, extended by each failed probe.
  cooldown_ms int not null constraint source_breaker_cooldown check (cooldown_ms > 0),
  -- Mark of the key and address that the source refused, and the HTTP status; null after other failures. Workers with another key ignore
  -- the cooldown.
  key_mark text,
  status smallint,
  opened_at timestamptz not null default now(),
  -- The worker that probes it now, and the end of its lease.
  probe_by uuid,
  probe_until timestamptz,
  primary key (pool, source)
) with (fillfactor = 50);

-- Failed items of sweeps and the times of their retries, so that failed items never block others.
create table sweep_retry (
  sweep text not null,
  -- Identifies the item within the sweep.
  item text not null,
  failures int not null,
  retry_at timestamptz not null,
  -- SQLSTATE or name of the error.
  error text not null,
  primary key (sweep, item)
) with (fillfactor = 70);

-- Cached responses by hash of their request, per workspace. Unlogged: a loss is acceptable, and writes cost no WAL.
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
