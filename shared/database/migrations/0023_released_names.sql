-- A name that a workspace gave up names no other for 30 days: commands and callers that still use it must not meet a stranger.

create table released_name (
  name text primary key,
  workspace_id uuid not null references workspace (id),
  released_at timestamptz not null default now()
);
create index released_name_workspace on released_name (workspace_id, released_at);

create function is_kept_for_another(p_name text, p_ws uuid) returns boolean language sql stable as $$
  select exists (
    select from released_name
    where name = p_name and workspace_id <> p_ws and released_at > now() - interval '30 days'
  )
$$;

create function keep_released_name() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' then
    delete from released_name where workspace_id = new.id and released_at <= now() - interval '30 days';
    insert into released_name (name, workspace_id) values (old.name, new.id)
    on conflict (name) do update set workspace_id = excluded.workspace_id, released_at = excluded.released_at;
  end if;
  -- Statements look before they write. One that waited for the release sees it only here.
  if is_kept_for_another(new.name, new.id) then
    raise unique_violation using message = 'the name was another workspace''s until lately';
  end if;
  return null;
end
$$;
create trigger released_name_insert after insert on workspace for each row execute function keep_released_name();
create trigger released_name_update after update of name on workspace
  for each row when (old.name <> new.name) execute function keep_released_name();
