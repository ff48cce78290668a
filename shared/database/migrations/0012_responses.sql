-- Stored responses: input and output of a Responses call, for calls that continue it; and conversations.

create table response (
  -- Id of the call.
  id uuid primary key,
  workspace_id uuid not null references workspace (id) on delete cascade,
  -- Member whose key made the call: the response is visible to this member, and to owners and admins.
  member_id uuid not null references member (id),
  -- The response continued by this one; it may be deleted.
  previous_id uuid,
  model text not null,
  -- `queued` until the job of a background call has ended, which writes the result (see end_job).
  status text not null
    constraint response_status check (status in ('queued', 'completed', 'incomplete', 'failed', 'cancelled')),
  -- True if no caller waits: a job does the work.
  is_background boolean not null default false,
  -- True if its events are stored for later readers.
  keeps_events boolean not null default false,
  -- Status in its text: for a background response, valid if its job succeeds; for any other one, unless its call was not charged.
  answered text constraint response_answered check (answered in ('completed', 'incomplete')),
  -- Error of its job.
  error jsonb,
  -- Length of the text.
  bytes int not null,
  -- The encrypted text; a large one is in the object store.
  sealed text,
  reference text,
  -- Name of the key that encrypted it.
  sealed_by text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  constraint response_place check ((sealed is null) <> (reference is null))
);
create index response_expires on response (expires_at);
create index response_age on response (workspace_id, created_at desc, id desc) include (bytes);
create index response_sealed_by on response (sealed_by);

-- Marks stored responses as failed whose calls were given up, since nobody pays for them. Responses of jobs are excluded; their jobs
-- decide.
create function fail_responses(p_ids uuid[]) returns void language sql set enable_seqscan = off as $$
  update response set status = 'failed' where id = any (p_ids) and not is_background
$$;

-- Events of a streamed background response in wire format, for later readers. They are stored for an hour; the last one contains the whole
-- response and is built from its row.
create table response_event (
  response_id uuid not null references response (id) on delete cascade,
  -- Numbers of the first and the last event of the chunk.
  first int not null,
  last int not null,
  sealed text not null,
  created_at timestamptz not null default now(),
  primary key (response_id, first)
);
create index response_event_age on response_event (created_at);

-- Conversations: labels and items as one text, which each change rewrites.
create table conversation (
  id uuid primary key,
  workspace_id uuid not null references workspace (id) on delete cascade,
  -- Member whose key created it, as for a response.
  member_id uuid not null references member (id),
  -- Version for optimistic locking: a change names the version that was read.
  version int not null default 1,
  -- Length of the text.
  bytes int not null,
  -- The encrypted text; a large one is in the object store.
  sealed text,
  reference text,
  sealed_by text not null,
  -- Call that has locked it: until its hold is closed, or for a minute before it has one. Other calls are rejected meanwhile.
  held_by uuid,
  held_until timestamptz,
  created_at timestamptz not null default now(),
  -- Expiry after its last change.
  expires_at timestamptz not null,
  constraint conversation_place check ((sealed is null) <> (reference is null))
);
create index conversation_expires on conversation (expires_at);
create index conversation_age on conversation (workspace_id, created_at desc, id desc) include (bytes);
create index conversation_held on conversation (held_by) where held_by is not null;
create index conversation_sealed_by on conversation (sealed_by);

-- Returns the counted bytes. A response counts in whole blocks, like a run, so that a small one changes no count during a call; the number
-- of responses is limited. A conversation counts in started blocks, since conversations are free.
create function response_storage(p_bytes int) returns bigint language sql immutable as $$
  select storage_blocks(p_bytes);
$$;
create function conversation_storage(p_bytes int) returns bigint language sql immutable as $$
  select storage_blocks(4095 + p_bytes);
$$;

-- Counts bytes in the storage of the workspace, regardless of its limit: the call is already paid. The ingress rejects calls of full
-- workspaces before. Locks: file_storage, after the changed row.
create function count_stored_text() returns trigger language plpgsql as $$
declare
  more bigint;
begin
  if tg_table_name = 'response' then
    more := response_storage(new.bytes) - case when tg_op = 'UPDATE' then response_storage(old.bytes) else 0 end;
  else
    more := conversation_storage(new.bytes) - case when tg_op = 'UPDATE' then conversation_storage(old.bytes) else 0 end;
  end if;
  insert into file_storage (workspace_id) values (new.workspace_id) on conflict do nothing;
  update file_storage set used = used + more where workspace_id = new.workspace_id;
  return null;
end $$;
create trigger response_counted after insert on response
  for each row when (response_storage(new.bytes) > 0) execute function count_stored_text();
create trigger response_recounted after update of bytes on response
  for each row when (response_storage(new.bytes) <> response_storage(old.bytes)) execute function count_stored_text();
create trigger conversation_counted after insert on conversation for each row execute function count_stored_text();
create trigger conversation_recounted after update of bytes on conversation
  for each row when (conversation_storage(new.bytes) <> conversation_storage(old.bytes)) execute function count_stored_text();

-- Returns the bytes of deleted and expired rows.
create function free_response_storage() returns trigger language plpgsql as $$
begin
  perform free_storage(array_agg(g.workspace_id), array_agg(response_storage(g.bytes)))
  from gone g where response_storage(g.bytes) > 0;
  return null;
end $$;
create trigger response_freed after delete on response
  referencing old table as gone for each statement execute function free_response_storage();
create function free_conversation_storage() returns trigger language plpgsql as $$
begin
  perform free_storage(array_agg(g.workspace_id), array_agg(conversation_storage(g.bytes))) from gone g;
  return null;
end $$;
create trigger conversation_freed after delete on conversation
  referencing old table as gone for each statement execute function free_conversation_storage();
