-- Notifications: events of a workspace, its channels, their subscriptions, and the deliveries.
--
-- event is the outbox. A worker of the pool webhook creates deliveries for an event's subscriptions, and marks the event, in one
-- transaction. It then leases due deliveries, and ends each attempt by a write that names its epoch. Schedule, breaker and failure times of
-- a channel exist only in these rows, so a crash of a process or a loss of the queue loses nothing.

create domain event_type as text constraint event_type check (value in (
  'run.started', 'run.retrying', 'run.succeeded', 'run.failed', 'run.cancelled', 'job.completed', 'job.failed',
  'budget.threshold_reached', 'budget.warning', 'balance.low', 'limit.warning', 'limit.reached',
  'template.unavailable'));

-- Events, each written in the transaction of its change. A job or a run writes one only if a channel subscribes to it. The metadata of each
-- type has a schema (schemas/events); its credits are credits, not nano-credits.
create table event (
  id uuid primary key default gen_random_uuid(),
  workspace_id uuid not null,
  -- Subscriptions may be limited to one workflow; null without a stored workflow.
  workflow_id uuid,
  type event_type not null,
  metadata jsonb not null,
  occurred_at timestamptz not null default clock_timestamp(),
  fanned_out_at timestamptz,
  -- Channels of an alert: the event is delivered there, and to no subscription.
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
  -- Displayable settings: redacted URLs, no credential.
  config jsonb not null,
  -- Field → encrypted text (shared/secrets/sealed.ts): URLs, credentials, signing secrets. No other column contains a secret.
  sealed jsonb not null default '{}',
  -- Until then, deliveries are signed with the previous secret too.
  previous_secret_until timestamptz,
  created_by uuid references member (id),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- Number of changes of its settings: the result of an attempt with older settings does not affect the channel.
  version int not null default 0,
  -- Reason for the automatic disabling: gone, rejected or failing; null if a person disabled it, or if it is enabled.
  disabled_reason text,
  -- Time since which every attempt failed; null after a success.
  failing_since timestamptz,
  last_failed_at timestamptz,
  -- Recent attempts, for the breaker.
  recent_ok smallint not null default 0,
  recent_failed smallint not null default 0,
  -- Number of times that the breaker opened since it was last closed, and the end of the current opening.
  opened smallint not null default 0,
  open_until timestamptz,
  -- Pause requested by a receiver, or by a service limit of one message per second.
  paused_until timestamptz,
  unique (workspace_id, name)
);

create table subscription (
  id uuid primary key,
  workspace_id uuid not null,
  channel_id uuid not null references notification_channel (id) on delete cascade,
  event text not null,
  -- Null: no restriction.
  workflow_id uuid references workflow (id),
  created_by uuid references member (id),
  created_at timestamptz not null default now()
);
create unique index subscription_once on subscription (channel_id, event, coalesce(workflow_id, '00000000-0000-0000-0000-000000000000'));
create index subscription_event on subscription (workspace_id, event);

-- Returns true if an enabled channel of the workspace subscribes to the type. Jobs and runs are frequent, and write no event without a
-- subscriber.
create function is_subscribed(p_ws uuid, p_type text) returns boolean language sql stable as $$
  select exists (
    select from subscription s where s.workspace_id = p_ws and s.event = p_type
      and exists (select from notification_channel c where c.id = s.channel_id and c.enabled));
$$;

-- Returns the types among p_types whose events no enabled channel receives. p_channels: channels of the alert that writes the events; empty:
-- the subscribed channels.
create function types_without_channel(p_ws uuid, p_types text[], p_channels uuid[]) returns text[] language sql stable as $$
  select array(select t from unnest(p_types) t where not case when p_channels = '{}' then is_subscribed(p_ws, t)
    else exists (select from notification_channel c where c.workspace_id = p_ws and c.id = any (p_channels) and c.enabled) end)
$$;

create domain delivery_status as text
  constraint delivery_status check (value in ('pending', 'succeeded', 'failed', 'skipped', 'cancelled'));

create table delivery (
  id uuid primary key,
  workspace_id uuid not null,
  -- The channel may have been deleted: its history stays. Null: mail to a member about the workspace's channels.
  channel_id uuid,
  member_id uuid,
  -- Null for a test and for mail to a member.
  event_id uuid,
  event text not null,
  workflow_id uuid,
  -- The envelope: the bytes of every attempt.
  body text not null,
  status delivery_status not null default 'pending',
  -- Attempts, including manual ones; and the number of scheduled ones so far.
  attempts smallint not null default 0,
  step smallint not null default 0,
  -- Null: no further automatic attempt.
  next_at timestamptz default now(),
  epoch int not null default 0,
  -- End of the lease of a running attempt.
  lease_until timestamptz,
  -- Manual retry during an attempt: the next attempt follows immediately.
  is_asked boolean not null default false,
  -- Crashed workers before the last manual retry.
  forgiven int not null default 0,
  created_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01);
-- An event is delivered to a channel once, regardless of the number of matching subscriptions.
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
  -- Status of an HTTP or SMTP response.
  status smallint,
  -- Code from our own list.
  error text,
  -- The first kilobyte of the response.
  response_start text,
  primary key (delivery_id, number)
);

-- Mail to channels, counted by day: any address may be named as recipient, so each has a daily limit.
create table mail_sent (
  workspace_id uuid not null references workspace (id),
  -- Empty: all mail of the workspace.
  mailbox text not null,
  -- UTC.
  day date not null,
  sent int not null default 0,
  primary key (workspace_id, mailbox, day)
);
create index mail_sent_day on mail_sent (day);

-- Leases due deliveries, at most p_max. At most p_failing_max of them are for failing channels, so that dead receivers share these slots
-- only, and at most p_new_max for channels without an attempt yet. A channel has at most p_each running attempts, more than one only while
-- p_spare slots remain for that: receivers that hang at the same time use one each besides those. A failing or new channel, and one whose
-- service limits messages, has one. Round robin over channels after p_from. Returns whole rows: an enclosing statement would not see
-- changes made while it runs. Locks: channels, then deliveries, here and in end_attempt. Channels locked by another worker are skipped.
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
  -- A single value, since an index cannot be searched by clock_timestamp().
  at_utc timestamptz := clock_timestamp();
begin
  while total < p_max loop
    -- Goes from channel to channel with one search for each, regardless of the number of later deliveries.
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
    -- Most waiting channels cannot be served now and need no lock.
    select * into c from notification_channel n where n.id = cur;
    continue when c.enabled and (c.open_until > clock_timestamp() or c.paused_until > clock_timestamp());
    select * into c from notification_channel n where n.id = cur for no key update skip locked;
    if not found then
      -- The channel was deleted during the fan-out; or another worker has locked it.
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

-- Ends an attempt: the attempt, the delivery and its channel's health, in one transaction. p_verdict: ok, again, final or gone. p_next_ms:
-- delay of the next attempt; null: none. p_pause_ms: pause of the channel. p_version: version of the settings used; the attempt does not
-- affect a channel changed since, or, if null, any channel, because the fault is ours. p_failing_ms: a channel that fails for longer,
-- without pauses above p_gap_ms between failures, is disabled. p_open_ms: first opening time of the breaker, which opens at 70 % failures
-- of at least ten attempts; doubled each time, up to 20 times. Returns null if another worker had the attempt; else the reason for
-- disabling the channel, or the empty text.
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
    -- A delivery cancelled meanwhile, with its channel, stays cancelled.
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
  -- Owners of the workspace with a mail address are notified by mail.
  insert into delivery (id, workspace_id, member_id, event, body)
  select n.id, c.workspace_id, n.member_id, 'channel.disabled', json_build_object('event', 'channel.disabled', 'deliveryId', n.id,
    'workspaceId', c.workspace_id, 'occurredAt', to_char(at_utc at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'metadata', json_build_object('channelId', c.id, 'channelName', c.name, 'channelType', c.type, 'reason', reason))::text
  from (select new_id() as id, m.id as member_id from member m
        where m.workspace_id = c.workspace_id and m.role = 'owner' and m.is_active and m.email is not null) n;
  return reason;
end $$;

-- Counts one mail, and returns the day to which it counts; null if the mailbox, or the workspace, has reached its daily limit.
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
