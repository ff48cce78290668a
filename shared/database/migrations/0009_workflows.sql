-- Workflows and the versions of their definitions.

create table workflow (
  id uuid primary key,
  workspace_id uuid not null references workspace (id),
  name text not null,
  description text not null default '',
  latest_version int not null default 1,
  -- Who made it: a private one is seen by this member, and by owners and admins.
  created_by uuid not null references member (id),
  sharing_scope text not null default 'private' constraint workflow_scope check (sharing_scope in ('private', 'workspace')),
  -- What the other members may do with one that the workspace sees.
  share_permission text not null default 'read' constraint workflow_permission check (share_permission in ('read', 'run', 'edit')),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- Runs of a deleted one go on, and keep what they began with.
  deleted_at timestamptz
);
create index workflow_newest on workflow (workspace_id, created_at desc, id desc) where deleted_at is null;

-- Never changed: a run is told by its workflow and version what it does.
create table workflow_version (
  workflow_id uuid not null references workflow (id),
  version int not null,
  -- As text: jsonb takes no NUL, and has numbers and orders of its own.
  definition json not null,
  created_by uuid not null references member (id),
  created_at timestamptz not null default now(),
  primary key (workflow_id, version)
);
