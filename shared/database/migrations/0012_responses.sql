-- Stored responses: what a Responses call was asked and what it answered, for the calls that go on from it.

create table response (
  -- That of the call.
  id uuid primary key,
  workspace_id uuid not null references workspace (id) on delete cascade,
  -- Whose key made the call: it is seen by this member, and by owners and admins.
  member_id uuid not null references member (id),
  -- The response that this one goes on from; it may be gone.
  previous_id uuid,
  model text not null,
  status text not null constraint response_status check (status in ('completed', 'incomplete')),
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
