-- Workspaces, their members, keys and fallback chains, and the log of what operators and members did.

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
  -- Null for what an operator did to no workspace in particular.
  workspace_id uuid references workspace (id),
  actor text not null,
  action text not null,
  subject text not null,
  detail jsonb not null default '{}',
  at timestamptz not null default now()
);
create index audit_log_workspace on audit_log (workspace_id, id);

-- Models that serve in place of another when its provider fails. Which models may stand in a chain is in the catalogue,
-- which the database does not know; the constraints check what needs no catalogue.
create table fallback_chain (
  workspace_id uuid not null references workspace (id),
  model text not null,
  -- In the order they are tried.
  fallbacks text[] not null constraint fallback_count check (cardinality(fallbacks) between 1 and 10),
  -- A stream that breaks off is continued by the next model.
  continue_streams boolean not null default false,
  updated_at timestamptz not null default now(),
  primary key (workspace_id, model),
  constraint fallback_not_itself check (array_position(fallbacks, model) is null),
  constraint fallback_named check (array_position(fallbacks, null) is null)
);

-- Secrets that all processes of one installation share and no operator has to set: the first process that needs one makes it.
create table service_secret (
  name text primary key,
  value bytea not null,
  created_at timestamptz not null default clock_timestamp()
);
