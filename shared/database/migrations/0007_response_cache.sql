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
