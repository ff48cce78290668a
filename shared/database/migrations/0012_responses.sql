-- Stored responses: what a Responses call was asked and what it answered, for the calls that go on from it; and conversations.

create table response (
  -- That of the call.
  id uuid primary key,
  workspace_id uuid not null references workspace (id) on delete cascade,
  -- Whose key made the call: it is seen by this member, and by owners and admins.
  member_id uuid not null references member (id),
  -- The response that this one goes on from; it may be gone.
  previous_id uuid,
  model text not null,
  -- `queued` until the job of a background call has ended, whose end writes what came of it (see end_job).
  status text not null
    constraint response_status check (status in ('queued', 'completed', 'incomplete', 'failed', 'cancelled')),
  -- Whom nobody waits for: a job does the work.
  is_background boolean not null default false,
  -- Its events are kept, so that they can be read again.
  keeps_events boolean not null default false,
  -- Status that its text has: that of a background response counts when its job ends well, that of another one unless nobody pays for it.
  answered text constraint response_answered check (answered in ('completed', 'incomplete')),
  -- Why its job failed.
  error jsonb,
  -- Length of the text.
  bytes int not null,
  -- The text, sealed; a large one lies in the object store.
  sealed text,
  reference text,
  -- Name of the key that sealed it.
  sealed_by text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  constraint response_place check ((sealed is null) <> (reference is null))
);
create index response_expires on response (expires_at);
create index response_age on response (workspace_id, created_at desc, id desc) include (bytes);
create index response_sealed_by on response (sealed_by);

-- Makes stored responses fail whose calls were given up: nobody pays for them. Those of jobs are their jobs' to decide.
create function fail_responses(p_ids uuid[]) returns void language sql set enable_seqscan = off as $$
  update response set status = 'failed' where id = any (p_ids) and not is_background
$$;

-- Events of a streamed background response as they were written, for readers who come later. They are kept for an hour; the last one
-- tells the whole response and is made of its row.
create table response_event (
  response_id uuid not null references response (id) on delete cascade,
  -- Numbers of the first and the last event of the piece.
  first int not null,
  last int not null,
  sealed text not null,
  created_at timestamptz not null default now(),
  primary key (response_id, first)
);
create index response_event_age on response_event (created_at);

-- Conversations: labels and items as one text, which each change writes anew.
create table conversation (
  id uuid primary key,
  workspace_id uuid not null references workspace (id) on delete cascade,
  -- Whose key made it, as of a response.
  member_id uuid not null references member (id),
  -- Who changes it names the version that was read.
  version int not null default 1,
  -- Length of the text.
  bytes int not null,
  -- The text, sealed; a large one lies in the object store.
  sealed text,
  reference text,
  sealed_by text not null,
  -- The call that goes on from it, as long as its hold is open, and until then for a minute: another one hears that it is taken.
  held_by uuid,
  held_until timestamptz,
  created_at timestamptz not null default now(),
  -- So long after its last change.
  expires_at timestamptz not null,
  constraint conversation_place check ((sealed is null) <> (reference is null))
);
create index conversation_expires on conversation (expires_at);
create index conversation_age on conversation (workspace_id, created_at desc, id desc) include (bytes);
create index conversation_held on conversation (held_by) where held_by is not null;
create index conversation_sealed_by on conversation (sealed_by);

-- A response counts in whole blocks, as a run does, so that a small response changes no count during a call; the number of responses is
-- bounded. A conversation counts in blocks that are begun, since conversations are free.
create function response_storage(p_bytes int) returns bigint language sql immutable as $$
  select storage_blocks(p_bytes);
$$;
create function conversation_storage(p_bytes int) returns bigint language sql immutable as $$
  select storage_blocks(4095 + p_bytes);
$$;

-- Counts bytes in the storage of the workspace, whatever its limit: the answer of a call is paid. Calls are refused before (ingress).
-- Locks: file_storage, after the row that changed.
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

-- Gives back the bytes of those that were deleted or are over.
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
