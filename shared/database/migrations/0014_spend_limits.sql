-- Changes and refusals of spend limits. Admission and settlement count them (see spend_limit).

-- Returns the charges of keys since their first call (total) and since the beginning of the day, week and month of p_day, by the records
-- that ended before p_until if p_sums, otherwise by those that ended later.
create function spend_of_keys(p_ws uuid, p_keys uuid[], p_day date, p_until timestamptz, p_sums boolean)
returns bigint[] language sql volatile as $$
  with starts as (
    select p_day::timestamp at time zone 'utc' as day, date_trunc('week', p_day::timestamp) at time zone 'utc' as week,
           date_trunc('month', p_day::timestamp) at time zone 'utc' as month
  ), charges as (
    select h.hour as at, h.settled from usage_hour h where p_sums and h.workspace_id = p_ws and h.key_id = any (p_keys)
    union all
    select u.ended_at, u.settled from usage_record u
    where not p_sums and u.workspace_id = p_ws and u.key_id = any (p_keys) and u.ended_at >= p_until
  )
  select array[
    coalesce(sum(c.settled) filter (where c.at >= s.day), 0)::bigint, coalesce(sum(c.settled) filter (where c.at >= s.week), 0)::bigint,
    coalesce(sum(c.settled) filter (where c.at >= s.month), 0)::bigint, coalesce(sum(c.settled), 0)::bigint]
  from starts s left join charges c on true;
$$;

-- Sets the limits of a subject. A new limit begins with the open holds of its subject, whose settlements subtract them; that of a key or a
-- member also with the charges of its keys so far. Nothing settles unnoticed meanwhile: settlements on credit lines lock their line, and
-- others the balance. If a line was opened between the two locks, or the limit was removed, nothing is done and SQLSTATE SL001 requests a
-- repeat.
create function set_spend_limit(
  p_ws uuid, p_id uuid, p_kind text, p_label text, p_name text, p_caps bigint[], p_raised bigint[], p_raised_until timestamptz, p_warn_at smallint[]
) returns void language plpgsql set enable_seqscan = off as $$
declare
  has_keys boolean := p_kind in ('key', 'member');
  is_new boolean := has_keys and not exists (select from spend_limit where id = p_id);
  keys uuid[];
  open_nano bigint := 0;
  lines uuid[];
  earlier bigint[] := '{0,0,0,0}';
  later bigint[] := '{0,0,0,0}';
  border timestamptz;
  today date := (clock_timestamp() at time zone 'utc')::date;
begin
  if is_new then
    select array_agg(k.id) into keys from api_key k
    where k.workspace_id = p_ws and case p_kind when 'key' then p_id in (k.id, k.limit_id) else k.member_id = p_id end;
    -- The sums of all hours are read before the locks. No record that ends before the border is written later.
    select r.until, spend_of_keys(p_ws, keys, today, r.until, true) into border, earlier from usage_rollup r;
    select array_agg(id order by id) into lines from credit_line where workspace_id = p_ws;
    perform pg_advisory_xact_lock(line_lock(l.id)) from unnest(lines) l(id);
  end if;
  perform from balance where workspace_id = p_ws for update;
  if is_new then
    -- A key that was added meanwhile may have holds and charges already.
    select array_agg(k.id) into keys from api_key k
    where k.workspace_id = p_ws and case p_kind when 'key' then p_id in (k.id, k.limit_id) else k.member_id = p_id end;
    perform from credit_line where workspace_id = p_ws and array_position(lines, id) is null;
    if found then raise exception 'a credit line was opened meanwhile' using errcode = 'SL001'; end if;
    later := spend_of_keys(p_ws, keys, today, border, false);
  elsif has_keys and not exists (select from spend_limit where id = p_id) then
    raise exception 'the limit was removed meanwhile' using errcode = 'SL001';
  end if;
  -- Calls name the subjects of their labels whether they have limits or not. A run, batch or response has no calls before its limit.
  if is_new or p_label is not null then
    select coalesce(sum(h.amount), 0) into open_nano from hold h
    where h.workspace_id = p_ws and h.line_id is null and (h.key_id = any (keys) or p_id = any (h.scopes));
  end if;
  insert into spend_limit as l (id, workspace_id, kind, label, name, caps, raised, raised_until, warn_at, look_at, day, spent, bases, held)
  values (p_id, p_ws, p_kind, p_label, p_name, p_caps, p_raised, p_raised_until, p_warn_at, case when p_warn_at <> '{}' then 0 end, today,
          earlier[4] + later[4],
          array[earlier[4] + later[4] - earlier[1] - later[1], earlier[4] + later[4] - earlier[2] - later[2],
                earlier[4] + later[4] - earlier[3] - later[3]],
          open_nano)
  on conflict (id) do update set caps = excluded.caps, raised = excluded.raised, raised_until = excluded.raised_until,
    warn_at = excluded.warn_at, look_at = excluded.look_at
  where l.workspace_id = p_ws and l.kind = p_kind;
  -- A key and a member of two workspaces may have the same id.
  if not found then raise exception 'the id belongs to another subject' using errcode = 'SL004'; end if;
  update balance set has_limits = true where workspace_id = p_ws and not has_limits;
end $$;

-- Removes the limits of a subject. Its open holds stay.
create function remove_spend_limit(p_ws uuid, p_id uuid) returns void language plpgsql set enable_seqscan = off as $$
begin
  perform from balance where workspace_id = p_ws for update;
  delete from spend_limit where id = p_id and workspace_id = p_ws;
  update balance set has_limits = false
  where workspace_id = p_ws and has_limits and not exists (select from spend_limit where workspace_id = p_ws);
end $$;

-- Deletes the limits of deleted runs or batches of workspaces.
create function drop_spend_limits(p_ws uuid[], p_ids uuid[]) returns void language plpgsql set enable_seqscan = off as $$
begin
  perform from balance where workspace_id = any (p_ws) order by workspace_id for update;
  delete from spend_limit where id = any (p_ids);
  update balance b set has_limits = false
  where b.workspace_id = any (p_ws) and b.has_limits and not exists (select from spend_limit l where l.workspace_id = b.workspace_id);
end $$;

-- Returns the name of a limit's subject: `project=alpha` for a tag, the name of an end user, and null for the other subjects.
create function spend_name(l spend_limit) returns text language sql immutable as $$
  select case l.kind when 'tag' then l.label || '=' || l.name else l.name end
$$;

-- Returns the state of limits: for day, week, month and total the limit that is valid now, the charges, and the end of the period.
create function spend_state(p_ws uuid, p_ids uuid[])
returns table (id uuid, kind text, name text, window_name text, cap bigint, spent bigint, held bigint, resets_at timestamptz)
language sql volatile as $$
  select l.id, l.kind, spend_name(l), w.name, w.cap, l.spent - w.base, l.held,
         case w.name when 'total' then null
           else (date_trunc(w.name, today.day::timestamp) + ('1 ' || w.name)::interval) at time zone 'utc' end
  from spend_limit l
  cross join (select (clock_timestamp() at time zone 'utc')::date as day) today
  cross join lateral unnest(array['day', 'week', 'month', 'total'], spend_caps(l), spend_bases(l, today.day)) w(name, cap, base)
  where l.workspace_id = p_ws and l.id = any (p_ids);
$$;

-- Returns code, param and message of the error for a call that a limit has refused: of the limit that leaves the least. is_final: the
-- limit is max_credits of the call's run or batch and would refuse the call even if no other call were open. p_may_exceed: the call has no
-- output limit, so that p_amount is the cost of the model's longest answer.
create function spend_refusal(p_ws uuid, p_key uuid, p_scopes uuid[], p_amount bigint, p_may_exceed boolean) returns jsonb
language sql volatile as $$
  select coalesce((
    select jsonb_build_object(
      'code', case when s.kind in ('run', 'batch', 'response') then 'max_credits_exceeded' else 'key_limit_reached' end,
      'param', case when s.kind in ('run', 'batch', 'response') then 'max_credits' else 'limits.credits.' || s.window_name end,
      'is_final', s.kind in ('run', 'batch', 'response') and s.cap - s.spent < p_amount,
      'message',
        'This call may cost up to ' || trim_scale(p_amount * 0.000000001) || ' credits; ' ||
        case when s.kind in ('run', 'batch', 'response') then 'max_credits of the ' || s.kind
          else 'the ' || case s.window_name when 'day' then 'daily' when 'week' then 'weekly' when 'month' then 'monthly' else 'total' end
            || ' limit of the ' || replace(s.kind, '_', ' ') || coalesce(' ' || s.name, '') end ||
        ' (' || trim_scale(s.cap * 0.000000001) || ') leaves ' || trim_scale(greatest(s.cap - s.spent - s.held, 0) * 0.000000001) ||
        case when s.held > 0 then ', and ' || trim_scale(s.held * 0.000000001) || ' are held by open calls' else '' end || '. ' ||
        -- Calls that were settled after the admission may have freed what this call needs.
        case when s.cap - s.spent - s.held >= p_amount then 'Calls that held the rest have ended meanwhile: send the request again.'
        else case when s.resets_at is not null then 'It resets at ' || to_char(s.resets_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') || '. ' else '' end ||
        -- No call fits into a limit that is spent.
        case when s.cap <= s.spent + s.held then ''
          when p_may_exceed then 'Set an output limit (max_completion_tokens or max_output_tokens), or ' else 'Request less, or ' end ||
        case when s.cap <= s.spent + s.held and s.kind in ('run', 'batch', 'response') then 'Set a higher max_credits.'
          when s.cap <= s.spent + s.held then 'Ask an owner of the workspace to raise the limit.'
          when s.kind in ('run', 'batch', 'response') then 'set a higher max_credits.'
          else 'ask an owner of the workspace to raise the limit.' end end)
    from spend_state(p_ws, spend_subjects(p_key, p_scopes)) s
    where s.cap is not null
    order by s.cap - s.spent - s.held, s.resets_at desc nulls first
    limit 1
  ), jsonb_build_object('code', 'key_limit_reached', 'param', 'limits.credits', 'message', 'A spend limit of the key leaves less than this call may cost. Request less, or try again.'));
$$;

-- Notices of limits with percentages: one row for each percentage of a limit that was reached in a period. 100 is the limit itself.
create table spend_notice (
  limit_id uuid not null references spend_limit (id) on delete cascade,
  -- day, week, month or total.
  period text not null,
  -- First day of the period; -infinity for the total.
  since date not null,
  cap bigint not null,
  percent smallint not null,
  at timestamptz not null default clock_timestamp(),
  primary key (limit_id, period, since, cap, percent)
);
create index spend_notice_at on spend_notice (at) where period <> 'total';

-- Returns true if the notices of a limit must be checked. The end of a temporary raise lowers the limits, so the janitor checks a day longer.
create function is_spend_notice_due(l spend_limit) returns boolean language sql stable as $$
  select l.look_at is not null
    and (l.spent >= l.look_at or (l.raised_until <= now() and l.raised_until > now() - interval '1 day' and l.look_at > 0));
$$;

-- Returns workspaces with a limit whose notices must be checked.
create function spend_notices_to_check() returns setof uuid language sql stable set enable_seqscan = off as $$
  select distinct l.workspace_id from spend_limit l where l.look_at is not null and is_spend_notice_due(l)
$$;

-- Sends an event for each percentage that a limit of the workspace has reached, once per period, limit and percentage; for several
-- percentages that were reached at once, an event of the highest. Then sets the charges at which the next one is reached. Returns the
-- number of events.
create function fire_spend_notices(p_ws uuid) returns int language plpgsql set enable_seqscan = off as $$
declare
  today date;
  sent int;
begin
  perform from balance where workspace_id = p_ws for update;
  today := (clock_timestamp() at time zone 'utc')::date;
  with due as materialized (
    select l as row, l.id, l.kind, spend_name(l) as name, l.spent, l.warn_at from spend_limit l where l.workspace_id = p_ws and is_spend_notice_due(l)
  ), level as materialized (
    select d.id, d.kind, coalesce(d.name, k.name, m.name) as name, w.name as period, w.cap, w.base, d.spent - w.base as spent, p.percent,
           case w.name when 'total' then '-infinity'::date else date_trunc(w.name, today::timestamp)::date end as since
    from due d
    left join api_key k on d.kind = 'key' and k.id = d.id
    left join member m on d.kind = 'member' and m.id = d.id
    cross join lateral unnest(array['day', 'week', 'month', 'total'], spend_caps(d.row), spend_bases(d.row, today)) w(name, cap, base)
    cross join lateral (select distinct u.percent from unnest(d.warn_at || 100::smallint) u(percent)) p
    where w.cap > 0
  ), fired as (
    insert into spend_notice (limit_id, period, since, cap, percent)
    select id, period, since, cap, percent from level where spent::numeric * 100 >= cap::numeric * percent
    on conflict do nothing
    returning *
  ), told as (
    insert into event (workspace_id, type, metadata)
    select p_ws, case when f.percent = 100 then 'limit.reached' else 'limit.warning' end,
           jsonb_strip_nulls(jsonb_build_object(
             'kind', v.kind, 'id', v.id, 'name', v.name, 'period', v.period, 'percent', f.percent,
             'spent', trim_scale(v.spent * 0.000000001), 'limit', trim_scale(v.cap * 0.000000001),
             'resetsAt', case when v.period <> 'total' then
               to_char(date_trunc(v.period, today::timestamp) + ('1 ' || v.period)::interval, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') end))
    from fired f
    join level v on v.id = f.limit_id and v.period = f.period and v.cap = f.cap and v.percent = f.percent
    where not exists (select from fired o where o.limit_id = f.limit_id and o.period = f.period and o.percent > f.percent)
      and not exists (
        select from spend_notice o
        where o.limit_id = f.limit_id and o.period = f.period and o.since = f.since and o.cap = f.cap and o.percent > f.percent)
    returning 1
  ), looked as (
    update spend_limit l set look_at = coalesce((
      select least(min(ceil(v.cap::numeric * v.percent / 100) + v.base), 9223372036854775807)::bigint from level v
      where v.id = l.id and v.spent::numeric * 100 < v.cap::numeric * v.percent),
      -- The limit that a raise replaces is checked when the raise ends.
      case when l.raised_until > now() then 9223372036854775807 end)
    from due d where l.id = d.id
  )
  select count(*) into sent from told;
  return sent;
end $$;
