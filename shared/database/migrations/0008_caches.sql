-- What may be lost: which sources rest, and answers that were given before.

-- Sources of providers that are out of rotation, per pool: one row from the first failure that took a source out until
-- the trial that brought it back. A restarted worker reads what rests from here, and the fleet's one trial is handed out
-- here. All times are this server's: workers ask how long from now, so their clocks need not agree.
create table source_breaker (
  pool text not null,
  -- provider/model
  source text not null,
  open_until timestamptz not null,
  -- The rest this row stands for, without its jitter; the next failed trial doubles it.
  rest_ms int not null constraint source_breaker_rest check (rest_ms > 0),
  -- Who tries it now, and until when that is believed.
  probe_by uuid,
  probe_until timestamptz,
  primary key (pool, source)
) with (fillfactor = 50);

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
