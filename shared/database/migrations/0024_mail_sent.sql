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

-- The day that the mail is counted in; null when the mailbox, or the workspace, has had its most of the day.
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
