-- Notifications: the events of a workspace, the channels on which it hears of them, which events go there, and each one's way.
--
-- event is the outbox. A worker of the pool webhook makes deliveries of an event's subscriptions, and marks the event, in one
-- transaction. It then claims deliveries that are due, and ends each attempt by a write that names its epoch. Schedule, breaker and
-- the clock of a channel that fails stand in these rows alone, so nothing is lost with a process or with the queue.

create domain event_type as text constraint event_type check (value in (
  'run.started', 'run.retrying', 'run.succeeded', 'run.failed', 'run.cancelled', 'job.completed', 'job.failed',
  'budget.threshold_reached', 'template.unavailable'));

-- Events, each written in the transaction in which it happened. A job or a run writes one only if a channel subscribes to it. The metadata of each type has a schema (schemas/events); credits there
-- are credits, not nano-credits.
create table event (
  id uuid primary key default gen_random_uuid(),
  workspace_id uuid not null,
  -- Subscriptions may be for one workflow; null when no stored workflow did it.
  workflow_id uuid,
  type event_type not null,
  metadata jsonb not null,
  occurred_at timestamptz not null default clock_timestamp(),
  fanned_out_at timestamptz,
  -- An alert may name channels of its own: the event goes there, and to no subscription.
  channel_ids uuid[]
);
create index event_told on event (occurred_at) where fanned_out_at is not null;
create index event_waiting on event (occurred_at) where fanned_out_at is null;

create table notification_channel (
  id uuid primary key,
  workspace_id uuid not null references workspace (id),
  type text not null constraint channel_type check (type in ('email', 'slack', 'telegram', 'webhook')),
  name text not null,
  enabled boolean not null default true,
  -- Settings that may be shown: URLs as they are redacted, no credential.
  config jsonb not null,
  -- Field → sealed text (shared/secrets/sealed.ts): URLs, credentials, signing secrets. No other column holds a secret.
  sealed jsonb not null default '{}',
  -- Deliveries are signed with the previous secret too until then.
  previous_secret_until timestamptz,
  created_by uuid references member (id),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- Number of changes of its settings: what an attempt under older ones meets says nothing of the channel as it is.
  version int not null default 0,
  -- Reason why dispatch disabled it: gone, rejected or failing; null when a person did, or when it is enabled.
  disabled_reason text,
  -- Time since which every attempt failed; null after a success.
  failing_since timestamptz,
  last_failed_at timestamptz,
  -- Attempts that the breaker looks at.
  recent_ok smallint not null default 0,
  recent_failed smallint not null default 0,
  -- Number of times that the breaker opened since it was last closed, and the time until which it lets nothing through.
  opened smallint not null default 0,
  open_until timestamptz,
  -- A receiver asked for a pause, or its service allows one message a second.
  paused_until timestamptz,
  unique (workspace_id, name)
);

create table subscription (
  id uuid primary key,
  workspace_id uuid not null,
  channel_id uuid not null references notification_channel (id) on delete cascade,
  event text not null,
  -- Null: everything.
  workflow_id uuid references workflow (id),
  created_by uuid references member (id),
  created_at timestamptz not null default now()
);
create unique index subscription_once on subscription (channel_id, event, coalesce(workflow_id, '00000000-0000-0000-0000-000000000000'));
create index subscription_event on subscription (workspace_id, event);

-- True when a channel of the workspace that is enabled subscribes to the type. Jobs and runs are many: without
-- a subscriber they write no event.
create function is_subscribed(p_ws uuid, p_type text) returns boolean language sql stable as $$
  select exists (
    select from subscription s where s.workspace_id = p_ws and s.event = p_type
      and exists (select from notification_channel c where c.id = s.channel_id and c.enabled));
$$;

create domain delivery_status as text
  constraint delivery_status check (value in ('pending', 'succeeded', 'failed', 'skipped', 'cancelled'));

create table delivery (
  id uuid primary key,
  workspace_id uuid not null,
  -- The channel may be gone: its history stays. Null: mail to a member about the workspace's channels.
  channel_id uuid,
  member_id uuid,
  -- Null for a test and for mail to a member.
  event_id uuid,
  event text not null,
  workflow_id uuid,
  -- The envelope: the bytes of every attempt.
  body text not null,
  status delivery_status not null default 'pending',
  -- Attempts made, those by hand included; how many of the schedule's are behind it.
  attempts smallint not null default 0,
  step smallint not null default 0,
  -- Null: none follows by itself.
  next_at timestamptz default now(),
  epoch int not null default 0,
  -- An attempt is under way until then.
  lease_until timestamptz,
  -- Sent again by hand while an attempt was under way: the next follows at once.
  is_asked boolean not null default false,
  -- Owners that were lost before it was last sent again by hand.
  forgiven int not null default 0,
  created_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01);
-- One event goes to a channel once, however many of its subscriptions name it.
create unique index delivery_once on delivery (event_id, channel_id) where event_id is not null;
create index delivery_due on delivery (channel_id, next_at) where status = 'pending';
create index delivery_leased on delivery (channel_id) where lease_until is not null;
create index delivery_mail on delivery (next_at) where status = 'pending' and channel_id is null;
create index delivery_newest on delivery (workspace_id, id);
create index delivery_of_channel on delivery (channel_id, id);
create index delivery_ended on delivery (ended_at) where ended_at is not null;
create index delivery_failed on delivery (ended_at) where status = 'failed';

create table delivery_attempt (
  delivery_id uuid not null references delivery (id) on delete cascade,
  number smallint not null,
  at timestamptz not null,
  ms int not null,
  -- Status of an HTTP or SMTP answer.
  status smallint,
  -- A word of our own list.
  error text,
  -- The first kilobyte of the answer.
  response_start text,
  primary key (delivery_id, number)
);

-- Mail to channels, counted by day: anybody may be named as the recipient of a channel, so no address hears more than its bound.
create table mail_sent (
  workspace_id uuid not null references workspace (id),
  -- Empty: all of the workspace's mail.
  mailbox text not null,
  -- UTC.
  day date not null,
  sent int not null default 0,
  primary key (workspace_id, mailbox, day)
);
create index mail_sent_day on mail_sent (day);

-- Takes deliveries that are due, at most p_max, of those at most p_failing_max for channels that fail, so that dead receivers share
-- these slots and the others' are free, and at most p_new_max for channels that have not been tried yet. A channel has at most p_each
-- attempts under way, more than one only while p_spare slots are left for that: receivers that begin to hang all at once hold one each
-- beside those. A failing or new channel, and one whose service counts messages, has one. Channels are taken in turn from behind
-- p_from on, so that none is always last. It gives whole rows: a statement around it would not see what was made while it runs.
-- Locks: channels, then deliveries, here and in end_attempt. A channel that another worker has locked is passed over.
create function claim_deliveries(p_max int, p_failing_max int, p_new_max int, p_spare int, p_each int, p_lease_ms bigint, p_from uuid)
returns table (id uuid, epoch int, deaths int, health text, workspace_id uuid, event text, body text, attempts smallint, step smallint, channel jsonb)
language plpgsql set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
  c notification_channel;
  cur uuid := p_from;
  has_wrapped boolean := false;
  sort text;
  room int;
  busy int;
  got int;
  total int := 0;
  -- It is one value, since an index cannot be searched by clock_timestamp().
  at_utc timestamptz := clock_timestamp();
begin
  while total < p_max loop
    -- It goes from channel to channel: one search for each, however many of its deliveries are due later.
    select d.channel_id into cur from delivery d
    where d.status = 'pending' and d.channel_id > cur
    order by d.channel_id limit 1;
    if cur is null or (has_wrapped and cur > p_from) then
      exit when has_wrapped;
      has_wrapped := true;
      cur := '00000000-0000-0000-0000-000000000000';
      continue;
    end if;
    continue when not exists (
      select from delivery d
      where d.status = 'pending' and d.channel_id = cur and d.next_at <= at_utc
        and (d.lease_until is null or d.lease_until < at_utc));
    -- Most channels that wait are left alone: they are not worth a lock.
    select * into c from notification_channel n where n.id = cur;
    continue when c.enabled and (c.open_until > clock_timestamp() or c.paused_until > clock_timestamp());
    select * into c from notification_channel n where n.id = cur for no key update skip locked;
    if not found then
      -- It was deleted while its events were fanned out; else another worker is at it.
      update delivery d set status = 'cancelled', ended_at = clock_timestamp(), next_at = null
      where d.channel_id = cur and d.status = 'pending' and not exists (select from notification_channel n where n.id = cur);
      continue;
    end if;
    if not c.enabled then
      update delivery d set status = 'skipped', ended_at = clock_timestamp(), next_at = null
      where d.channel_id = cur and d.status = 'pending' and (d.lease_until is null or d.lease_until < clock_timestamp());
      continue;
    end if;
    continue when c.open_until > clock_timestamp() or c.paused_until > clock_timestamp();
    sort := case when c.failing_since is not null then 'failing' when c.recent_ok = 0 then 'new' else 'good' end;
    select count(*) into busy from delivery d where d.channel_id = cur and d.lease_until > clock_timestamp();
    room := case when sort = 'failing' then least(1, p_failing_max) - busy when sort = 'new' then least(1, p_new_max) - busy
                 when c.type in ('slack', 'telegram') then 1 - busy
                 when busy = 0 then 1 + least(p_each - 1, greatest(p_spare, 0)) else least(p_each - busy, p_spare) end;
    continue when room <= 0;
    return query
      with due as (
        select d.id from delivery d
        where d.channel_id = cur and d.status = 'pending' and d.next_at <= clock_timestamp()
          and (d.lease_until is null or d.lease_until < clock_timestamp())
        order by d.next_at limit least(room, p_max - total) for update skip locked)
      update delivery d set epoch = d.epoch + 1, lease_until = clock_timestamp() + p_lease_ms * interval '1 millisecond'
      from due where d.id = due.id
      returning d.id, d.epoch, d.epoch - d.attempts - d.forgiven - 1, sort, d.workspace_id, d.event, d.body, d.attempts, d.step,
        jsonb_build_object('id', c.id, 'version', c.version, 'type', c.type, 'name', c.name, 'config', c.config, 'sealed', c.sealed,
                           'has_previous', coalesce(c.previous_secret_until > clock_timestamp(), false));
    get diagnostics got = row_count;
    total := total + got;
    if sort = 'failing' then p_failing_max := p_failing_max - got; end if;
    if sort = 'new' then p_new_max := p_new_max - got; end if;
    if sort = 'good' then p_spare := p_spare - got + case when busy = 0 then least(got, 1) else 0 end; end if;
  end loop;
end $$;

-- Ends an attempt: the attempt, the delivery and its channel's health, in one. p_verdict: ok, again, final or gone.
-- p_next_ms: how long until the next attempt; null: none follows. p_pause_ms: nothing goes to the channel for so long.
-- p_version: the settings that it went by; the attempt says nothing of a channel that has been changed since, nor where it is null since
-- the fault is ours. p_failing_ms: a channel that fails for longer, without a longer pause than p_gap_ms between, is disabled.
-- p_open_ms: how long the breaker lets nothing through the first time; it opens at 70 % failures of at least ten, and doubles that each
-- time up to 20 times as long.
-- Result: null when the attempt was another's by then; else the reason why the channel was disabled by it, or the empty text.
create function end_attempt(
  p_id uuid, p_channel uuid, p_version int, p_epoch int, p_verdict text, p_status int, p_error text, p_response text, p_ms int, p_next_ms bigint,
  p_pause_ms bigint, p_chat_id text, p_failing_ms bigint, p_gap_ms bigint, p_open_ms bigint
) returns text language plpgsql as $$
declare
  c notification_channel;
  d delivery;
  at_utc timestamptz := clock_timestamp();
  is_ok boolean := p_verdict = 'ok';
  opens boolean;
  reason text := '';
begin
  select * into c from notification_channel n where n.id = p_channel for no key update;
  select * into d from delivery where id = p_id for update;
  if d.id is null or d.epoch <> p_epoch or d.lease_until is null then return null; end if;
  insert into delivery_attempt (delivery_id, number, at, ms, status, error, response_start)
  values (p_id, d.attempts + 1, at_utc - p_ms * interval '1 millisecond', p_ms, p_status, p_error, p_response);
  update delivery set attempts = attempts + 1, step = step + 1, lease_until = null,
    -- A delivery that was cancelled meanwhile, with its channel, stays so.
    status = case when status <> 'pending' then status when is_ok then 'succeeded' when p_next_ms is null and not is_asked then 'failed' else status end,
    next_at = case when status = 'pending' and not is_ok then
      case when is_asked then at_utc else at_utc + p_next_ms * interval '1 millisecond' end end,
    is_asked = false,
    ended_at = case when status <> 'pending' then ended_at when is_ok or (p_next_ms is null and not is_asked) then at_utc end
  where id = p_id;
  if c.id is null or c.version is distinct from p_version then return reason; end if;
  if is_ok then
    update notification_channel set failing_since = null, opened = 0, open_until = null,
      recent_ok = case when c.opened > 0 then 1 when c.recent_ok + c.recent_failed >= 50 then (c.recent_ok + 2) / 2 else c.recent_ok + 1 end,
      recent_failed = case when c.opened > 0 then 0 when c.recent_ok + c.recent_failed >= 50 then c.recent_failed / 2 else c.recent_failed end,
      paused_until = coalesce(at_utc + p_pause_ms * interval '1 millisecond', paused_until)
    where id = c.id;
    return reason;
  end if;
  opens := c.opened > 0 or (c.recent_ok + c.recent_failed >= 9 and (c.recent_failed + 1) * 10 >= (c.recent_ok + c.recent_failed + 1) * 7);
  if at_utc - c.last_failed_at > p_gap_ms * interval '1 millisecond' then c.failing_since := at_utc; end if;
  if p_verdict = 'gone' then reason := 'gone';
  elsif at_utc - c.failing_since > p_failing_ms * interval '1 millisecond' then reason := 'failing';
  end if;
  update notification_channel set failing_since = coalesce(c.failing_since, at_utc), last_failed_at = at_utc, recent_failed = least(c.recent_failed + 1, 1000),
    opened = case when opens then least(c.opened + 1, 10) else c.opened end,
    open_until = case when opens then at_utc + p_open_ms * least(20, 2 ^ c.opened) * interval '1 millisecond' end,
    paused_until = coalesce(at_utc + p_pause_ms * interval '1 millisecond', paused_until),
    config = case when p_chat_id is null then config else config || jsonb_build_object('chatId', p_chat_id) end,
    enabled = enabled and reason = '',
    disabled_reason = case when reason <> '' and enabled then reason else disabled_reason end
  where id = c.id;
  if p_chat_id is not null then
    insert into audit_log (workspace_id, actor, action, subject, before, after)
    values (c.workspace_id, '{"type":"system","id":"sluice"}', 'channel.update', c.id::text, jsonb_build_object('config', c.config),
            jsonb_build_object('config', c.config || jsonb_build_object('chatId', p_chat_id)));
  end if;
  if reason = '' or not c.enabled then return ''; end if;
  insert into audit_log (workspace_id, actor, action, subject, before, after)
  values (c.workspace_id, '{"type":"system","id":"sluice"}', 'channel.disable', c.id::text, '{"enabled":true}',
          jsonb_build_object('enabled', false, 'reason', reason));
  -- Owners of the workspace who have an address are told by mail.
  insert into delivery (id, workspace_id, member_id, event, body)
  select n.id, c.workspace_id, n.member_id, 'channel.disabled', json_build_object('event', 'channel.disabled', 'deliveryId', n.id,
    'workspaceId', c.workspace_id, 'occurredAt', to_char(at_utc at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'metadata', json_build_object('channelId', c.id, 'channelName', c.name, 'channelType', c.type, 'reason', reason))::text
  from (select new_id() as id, m.id as member_id from member m
        where m.workspace_id = c.workspace_id and m.role = 'owner' and m.is_active and m.email is not null) n;
  return reason;
end $$;

-- Counts one mail, and returns the day that it is counted in; null when the mailbox, or the workspace, has had its most of the day.
create function take_mail(p_ws uuid, p_mailbox text, p_mailbox_max int, p_ws_max int) returns date language plpgsql as $$
declare
  today date := (now() at time zone 'UTC')::date;
begin
  insert into mail_sent (workspace_id, mailbox, day) values (p_ws, '', today), (p_ws, p_mailbox, today) on conflict do nothing;
  perform from mail_sent where workspace_id = p_ws and mailbox in ('', p_mailbox) and day = today order by mailbox for update;
  if exists (
    select from mail_sent
    where workspace_id = p_ws and mailbox in ('', p_mailbox) and day = today
      and sent >= case when mailbox = '' then p_ws_max else p_mailbox_max end
  ) then return null; end if;
  update mail_sent set sent = sent + 1 where workspace_id = p_ws and mailbox in ('', p_mailbox) and day = today;
  return today;
end $$;
