-- Workspaces, their members and keys, operators' tokens, and the log of what all of them changed.

-- A UUIDv7, as newId makes them: ids made here sort by time too.
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
  created_at timestamptz not null default now()
);

-- A name that a workspace gave up names no other for 30 days: commands and callers that still use it must not meet a stranger.
create table released_name (
  name text primary key,
  workspace_id uuid not null references workspace (id),
  released_at timestamptz not null default now()
);
create index released_name_workspace on released_name (workspace_id, released_at);
create index released_name_at on released_name (released_at);

-- True when another workspace gave the name up lately.
create function is_kept_for_another(p_name text, p_ws uuid) returns boolean language sql stable as $$
  select exists (
    select from released_name
    where name = p_name and workspace_id <> p_ws and released_at > now() - interval '30 days'
  )
$$;

-- Keeps the name that a workspace gives up, and refuses one that is kept for another.
create function keep_released_name() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' then
    delete from released_name where workspace_id = new.id and released_at <= now() - interval '30 days';
    insert into released_name (name, workspace_id) values (old.name, new.id)
    on conflict (name) do update set workspace_id = excluded.workspace_id, released_at = excluded.released_at;
  end if;
  -- Statements look before they write: one that waited for the release sees it only here.
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
  -- Address for mail about trouble of the workspace; forgotten when the member is deleted.
  email text,
  -- The first time that the person of this address signed in for the member at the operator's issuer; null: nobody has, and the address is the word of
  -- whoever manages the workspace.
  signed_in_at timestamptz,
  unique (workspace_id, name)
);

-- Found by their address when they sign in at the operator's issuer, so it is one member's in a workspace.
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
  -- The key is dead from then on.
  expires_at timestamptz,
  -- Capabilities and workflows that it may run; null: all.
  tools text[],
  -- Right within a minute or so: processes gather uses and write them in batches.
  last_used_at timestamptz
);
create index api_key_workspace on api_key (workspace_id);
-- Keys that an operator brought along; the authenticator reads all of them at once.
create index api_key_brought on api_key (created_at) where hint not like 'slk\_%' and revoked_at is null;

-- Sessions of people in browsers. A session acts for its key, and whatever ends the key ends it. Of its token only the hash is kept.
create table console_session (
  sha256 bytea primary key,
  key_id uuid not null references api_key (id),
  created_at timestamptz not null default now(),
  -- Right within a minute.
  used_at timestamptz not null default now()
);
create index console_session_key on console_session (key_id, created_at);
create index console_session_created on console_session (created_at);

-- People whom the issuer knows, and who have yet to say which of their workspaces they sign in to. Of the token that their browser has only
-- the hash is kept.
create table sign_in_choice (
  sha256 bytea primary key,
  email text not null,
  return_to text not null,
  created_at timestamptz not null default now()
);
create index sign_in_choice_created on sign_in_choice (created_at);

-- Tries to sign in, by address or network of IPv6: none may have too many within a minute.
create table sign_in_try (
  network text primary key,
  tried_at timestamptz[] not null,
  last_at timestamptz not null
);
create index sign_in_try_last on sign_in_try (last_at);

create function recent_tries(p_at timestamptz[]) returns timestamptz[] language sql volatile as $$
  select coalesce(array_agg(at), '{}') from unnest(p_at) at where at > clock_timestamp() - interval '1 minute'
$$;

-- The workspace and the member that the bootstrap key belongs to, whatever they are called by now: owners may rename both.
create table bootstrap (
  is_only boolean primary key default true constraint bootstrap_once check (is_only),
  workspace_id uuid not null references workspace (id),
  member_id uuid not null references member (id)
);

-- Named tokens of operators for /operator; the first is a setting. Only hashes are kept.
create table operator_token (
  id uuid primary key,
  name text not null unique,
  sha256 bytea not null unique,
  -- read: it may look; write: it may change things too; money: it may also move credits.
  scope text not null constraint operator_scope check (scope in ('read', 'write', 'money')),
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  revoked_at timestamptz
);

create table audit_log (
  id bigint generated always as identity primary key,
  -- Null when the change belongs to no workspace in particular.
  workspace_id uuid references workspace (id),
  -- {type: member | operator | system, id, key_id?, ip?, request_id?}; id is a member's, or an operator's name.
  actor jsonb not null,
  action text not null,
  subject text not null,
  -- Values before and after the change, null where there was or is nothing. Never a secret in either.
  before jsonb,
  after jsonb,
  at timestamptz not null default now()
);
create index audit_log_workspace on audit_log (workspace_id, id);
create index audit_log_newest on audit_log (id) where workspace_id is null;

-- Models that serve in place of another when its provider fails. The catalogue says which models may stand in a chain; the
-- constraints check what needs no catalogue.
create table fallback_chain (
  workspace_id uuid not null references workspace (id),
  model text not null,
  -- In the order in which they are tried.
  fallbacks text[] not null constraint fallback_count check (cardinality(fallbacks) between 1 and 10),
  -- A stream that breaks off is continued by the next model.
  continue_streams boolean not null default false,
  updated_at timestamptz not null default now(),
  primary key (workspace_id, model),
  constraint fallback_not_itself check (array_position(fallbacks, model) is null),
  constraint fallback_named check (array_position(fallbacks, null) is null)
);
