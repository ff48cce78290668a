-- Workspaces, their members and keys, operators' tokens, and the audit log of their changes.

-- Returns a UUIDv7 like newId: ids created in SQL sort by time too.
create function new_id() returns uuid language sql volatile as $$
  select encode(set_bit(set_bit(
    overlay(uuid_send(gen_random_uuid())
            placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6),
    52, 1), 53, 1), 'hex')::uuid;
$$;

create table workspace (
  id uuid primary key,
  name text not null unique,
  is_active boolean not null default true,
  -- Members of a request's metadata that are kept as labels of a call (shared/calls/labels.ts).
  tags text[] not null default '{}' constraint workspace_tags check (cardinality(tags) <= 3),
  created_at timestamptz not null default now(),
  -- Which requests and responses of calls are kept, see BodySetting; null: none.
  bodies jsonb
);

-- A released workspace name is reserved for 30 days: commands and callers that still use it must not reach another workspace.
create table released_name (
  name text primary key,
  workspace_id uuid not null references workspace (id),
  released_at timestamptz not null default now()
);
create index released_name_workspace on released_name (workspace_id, released_at);
create index released_name_at on released_name (released_at);

-- Returns true if another workspace released the name less than 30 days ago.
create function is_kept_for_another(p_name text, p_ws uuid) returns boolean language sql stable as $$
  select exists (
    select from released_name
    where name = p_name and workspace_id <> p_ws and released_at > now() - interval '30 days'
  )
$$;

-- Reserves the name that a workspace releases, and rejects a name that is reserved for another.
create function keep_released_name() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' then
    delete from released_name where workspace_id = new.id and released_at <= now() - interval '30 days';
    insert into released_name (name, workspace_id) values (old.name, new.id)
    on conflict (name) do update set workspace_id = excluded.workspace_id, released_at = excluded.released_at;
  end if;
  -- Statements check before they write: one that waited for a concurrent release sees it only here.
  if is_kept_for_another(new.name, new.id) then
    raise unique_violation using message = 'the name was another workspace''s until lately';
  end if;
  return null;
end $$;
create trigger released_name_insert after insert on workspace for each row execute function keep_released_name();
create trigger released_name_update after update of name on workspace
  for each row when (old.name <> new.name) execute function keep_released_name();

create table member (
  id uuid primary key,
  workspace_id uuid not null references workspace (id),
  name text not null,
  role text not null constraint member_role check (role in ('owner', 'admin', 'developer', 'billing')),
  is_active boolean not null default true,
  created_at timestamptz not null default now(),
  -- Address for mail about problems of the workspace; cleared when the member is deleted.
  email text,
  -- First time that the person with this address signed in for the member at the operator's issuer. Null: never, and the address is only a
  -- claim of the workspace's administrators.
  signed_in_at timestamptz,
  -- {models?, endpoints?, ips?}: what the member's keys may call, and from where; null: everything.
  access_lists jsonb,
  unique (workspace_id, name)
);

-- Used for signing in at the operator's issuer, so an address belongs to one member per workspace.
create unique index member_email on member (lower(email), workspace_id) where email is not null;

create table api_key (
  id uuid primary key,
  workspace_id uuid not null references workspace (id),
  member_id uuid not null references member (id),
  name text not null,
  sha256 bytea not null unique,
  hint text not null,
  preset text not null,
  created_at timestamptz not null default now(),
  revoked_at timestamptz,
  -- The key is invalid from then on.
  expires_at timestamptz,
  -- Capabilities and workflows that it may run; null: all.
  tools text[],
  -- {models?, endpoints?, ips?}: what the key may call, and from where; null: everything.
  access_lists jsonb,
  -- Accurate within about a minute: processes collect uses and write them in batches.
  last_used_at timestamptz,
  -- Id of its row in spend_limit; null: its own id. A key that replaces another one shares the limit and what is spent of it.
  limit_id uuid,
  -- Replaces `bodies` of the workspace for calls of this key; null: the workspace's setting applies.
  bodies jsonb
);
create index api_key_workspace on api_key (workspace_id);
-- Keys provided by an operator; the authenticator reads all of them at once.
create index api_key_brought on api_key (created_at) where hint not like 'slk\_%' and revoked_at is null;

-- Browser sessions. A session acts for its key and ends with it. Only the hash of its token is stored.
create table console_session (
  sha256 bytea primary key,
  key_id uuid not null references api_key (id),
  created_at timestamptz not null default now(),
  -- Accurate within a minute.
  used_at timestamptz not null default now()
);
create index console_session_key on console_session (key_id, created_at);
create index console_session_created on console_session (created_at);

-- Codes with which a browser signs in once for a key. Only hashes are stored.
create table sign_in_code (
  sha256 bytea primary key,
  key_id uuid not null references api_key (id),
  created_at timestamptz not null default now()
);
create index sign_in_code_key on sign_in_code (key_id, created_at);
create index sign_in_code_created on sign_in_code (created_at);

-- People verified by the issuer who have not chosen a workspace yet. Only the hash of their browser's token is stored.
create table sign_in_choice (
  sha256 bytea primary key,
  email text not null,
  return_to text not null,
  created_at timestamptz not null default now()
);
create index sign_in_choice_created on sign_in_choice (created_at);

-- Sign-in attempts, by address or IPv6 network, to limit attempts per minute.
create table sign_in_try (
  network text primary key,
  tried_at timestamptz[] not null,
  last_at timestamptz not null
);
create index sign_in_try_last on sign_in_try (last_at);

create function recent_tries(p_at timestamptz[]) returns timestamptz[] language sql volatile as $$
  select coalesce(array_agg(at), '{}') from unnest(p_at) at where at > clock_timestamp() - interval '1 minute'
$$;

-- Workspace and member of the bootstrap key, independent of their names, which owners may change.
create table bootstrap (
  is_only boolean primary key default true constraint bootstrap_once check (is_only),
  workspace_id uuid not null references workspace (id),
  member_id uuid not null references member (id)
);

-- Named tokens of operators for /operator; the first one is a setting. Only hashes are stored.
create table operator_token (
  id uuid primary key,
  name text not null unique,
  sha256 bytea not null unique,
  -- read: read only; write: also changes; money: also credit movements.
  scope text not null constraint operator_scope check (scope in ('read', 'write', 'money')),
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  revoked_at timestamptz
);

-- Browser sessions of operators. A session acts for a token, also for the token of the settings, and ends with it. Only hashes are stored.
create table operator_session (
  sha256 bytea primary key,
  token_sha256 bytea not null,
  created_at timestamptz not null default now(),
  -- Accurate within a minute.
  used_at timestamptz not null default now()
);
create index operator_session_token on operator_session (token_sha256, created_at);
create index operator_session_created on operator_session (created_at);

create table audit_log (
  id bigint generated always as identity primary key,
  -- Null if the change belongs to no workspace.
  workspace_id uuid references workspace (id),
  -- {type: member | operator | system, id, key_id?, ip?, request_id?}; id of a member, or name of an operator.
  actor jsonb not null,
  action text not null,
  subject text not null,
  -- Values before and after the change, null if absent. Neither contains a secret.
  before jsonb,
  after jsonb,
  at timestamptz not null default now()
);
create index audit_log_workspace on audit_log (workspace_id, id);
create index audit_log_newest on audit_log (id) where workspace_id is null;

-- Fallback models for a model whose provider fails. The catalogue determines the models of a chain; the constraints check the rest.
create table fallback_chain (
  workspace_id uuid not null references workspace (id),
  model text not null,
  -- In order of attempts.
  fallbacks text[] not null constraint fallback_count check (cardinality(fallbacks) between 1 and 10),
  -- True: an interrupted stream is continued by the next model.
  continue_streams boolean not null default false,
  -- Share of the calls that each model serves first, by slug, including the requested model. Null: the requested model is always first.
  weights jsonb constraint fallback_weights_object check (jsonb_typeof(weights) = 'object'),
  -- Calls with the same end user or the same conversation draw the same model.
  sticky text constraint fallback_sticky check (sticky in ('user', 'conversation')),
  updated_at timestamptz not null default now(),
  primary key (workspace_id, model),
  constraint fallback_sticky_weights check (sticky is null or weights is not null),
  constraint fallback_not_itself check (array_position(fallbacks, model) is null),
  constraint fallback_named check (array_position(fallbacks, null) is null)
);
