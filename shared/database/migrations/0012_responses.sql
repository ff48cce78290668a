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
