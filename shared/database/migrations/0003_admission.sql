-- Admission of calls: the exact 60-second rate window, the day's tokens, the balance and its holds. Amounts are bigint nano-credits.
--
-- Locks are taken in one order everywhere: credit line (line_lock), rate_window by workspace, hold, balance by workspace. No transaction
-- waits for a hold, except for one of a call on a credit line: a locked hold is skipped, so holds need no order among themselves. Functions
-- are PL/pgSQL rather than one statement with many CTEs: each statement inside sees the commits of others from before the locks were taken.

-- Available is amount - held. day_tokens counts the UTC day `day`: tokens of its closed calls, and the reservations of its open calls under
-- a daily cap. It is part of this row because every admission and settlement writes the row anyway. The same holds for the total charges of
-- calls (`spent`) and the bound at which a budget stops them (decision 0051).
create table balance (
  workspace_id uuid primary key references workspace (id),
  amount bigint not null default 0,
  held bigint not null default 0 constraint held_not_negative check (held >= 0),
  day date not null default '-infinity',
  day_tokens bigint not null default 0,
  spent bigint not null default 0,
  -- Calls with a cost are rejected once `spent` reaches this, as long as `day` lasts. Null: no budget stops them.
  stop_at bigint,
  -- The janitor checks the workspace's alerts once `spent` reaches this. Null: no alert remains to fire.
  look_at bigint,
  -- True if the workspace has a row in spend_limit.
  has_limits boolean not null default false,
  constraint funds check (amount >= held)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01);

-- Total spending of a workspace at the beginning of a UTC day: recorded with its first admission or settlement of the day. A day without
-- either has no row and no spending.
create table spent_day (
  workspace_id uuid not null,
  day date not null,
  spent bigint not null,
  primary key (workspace_id, day)
);

-- Begins a day for a workspace whose balance of an earlier day is locked by the caller: calls on credit lines settled before this belong to
-- the earlier day. Keeps 70 days: the current month, and another one that no janitor checked.
create function begin_day(p_ws uuid, p_day date) returns balance language plpgsql as $$
declare
  b balance;
begin
  perform book_lines(p_ws);
  insert into spent_day (workspace_id, day, spent) select p_ws, p_day, spent from balance where workspace_id = p_ws
  on conflict (workspace_id, day) do nothing;
  delete from spent_day where workspace_id = p_ws and day < p_day - 70;
  update balance set day = p_day, day_tokens = 0, stop_at = budget_stop_at(p_ws, p_day), look_at = budget_look_now(p_ws)
  where workspace_id = p_ws
  returning * into b;
  return b;
end $$;

-- Credit limits of a key, a member, an end user, a tag, a run or a batch. A subject without a limit has no row. Rows change under the lock on their
-- workspace's balance only, so a hold or a charge and its count in the limits are one change. A foreign key would lock the workspace's row
-- after the balance, against the order of transactions that change settings.
create table spend_limit (
  -- Id of the key or member; of keys that replaced each other, the id of the first (api_key.limit_id). Of a label, see labelIdOf
  -- (shared/calls/labels.ts). Of a run or batch, see work_limit_id.
  id uuid primary key,
  workspace_id uuid not null,
  kind text not null constraint spend_limit_kind check (kind in ('key', 'member', 'end_user', 'tag', 'run', 'batch', 'response')),
  -- Label that the subject's calls have: `user` for an end user, otherwise the name of the tag. Null for the other subjects.
  label text constraint spend_limit_label check ((label is not null) = (kind in ('end_user', 'tag'))),
  -- Value of the label; null for the other subjects.
  name text,
  -- Nano-credits in a UTC day, a week from Monday, a month, and in total; null: no limit.
  caps bigint[] not null constraint spend_limit_caps check (cardinality(caps) = 4),
  -- Limits that replace `caps` until raised_until.
  raised bigint[] constraint spend_limit_raised check (cardinality(raised) = 4),
  raised_until timestamptz,
  -- Total charges of the subject's calls, and what it had been at the beginning of the day, week and month of `day`.
  spent bigint not null default 0,
  day date not null default (clock_timestamp() at time zone 'utc')::date,
  bases bigint[] not null default '{0,0,0}',
  -- Sum of the subject's open holds.
  held bigint not null default 0 constraint spend_limit_held check (held >= 0),
  -- Percentages of a limit at which the workspace is notified.
  warn_at smallint[] not null default '{}',
  -- The janitor checks the notices once `spent` reaches this. Null: none remains.
  look_at bigint,
  created_at timestamptz not null default now()
) with (fillfactor = 50);
create index spend_limit_workspace on spend_limit (workspace_id, label, name);
-- The predicate contains no column that a settlement changes, so that settlements need no index entry.
create index spend_limit_watched on spend_limit (id) where look_at is not null;

-- Returns the id of the spend limit of a run or batch: a UUID of version 8, like the ids of labels. Callers choose the ids of keys and
-- members, but not of this version. So no key counts its calls in the limit of a run, or takes the place of the limit of a later run.
create function work_limit_id(p_id uuid) returns uuid language sql immutable as $$
  select overlay(encode(substr(sha256(uuid_send(p_id)), 1, 16), 'hex') placing '8' from 13 for 1)::uuid;
$$;

-- Returns the charges of a limit's subject before the day, week and month that contain p_day, and zero for the total.
create function spend_bases(l spend_limit, p_day date) returns bigint[] language sql immutable as $$
  select array[
    case when l.day < p_day then l.spent else l.bases[1] end,
    case when date_trunc('week', l.day::timestamp) < date_trunc('week', p_day::timestamp) then l.spent else l.bases[2] end,
    case when date_trunc('month', l.day::timestamp) < date_trunc('month', p_day::timestamp) then l.spent else l.bases[3] end, 0];
$$;

-- Returns the limits of day, week, month and total that are valid now.
create function spend_caps(l spend_limit) returns bigint[] language sql volatile as $$
  select case when l.raised_until > clock_timestamp() then
    (select array_agg(case when c.cap is not null then coalesce(c.raised, c.cap) end order by c.i)
     from unnest(l.caps, l.raised) with ordinality c(cap, raised, i)) else l.caps end;
$$;

-- Returns the nano-credits that a limit leaves for further calls on the day p_day; null if it has no limits.
create function spend_left(l spend_limit, p_day date) returns bigint language sql volatile as $$
  select (min(c.cap - l.spent + c.base) - l.held)::bigint from unnest(spend_caps(l), spend_bases(l, p_day)) c(cap, base);
$$;

-- Returns the ids of the limits that may apply to a call of the key.
create function spend_subjects(p_key uuid, p_scopes uuid[]) returns uuid[] language sql stable as $$
  select array[coalesce(k.limit_id, k.id), k.member_id] || p_scopes from api_key k where k.id = p_key
  union all
  select p_scopes where not exists (select from api_key where id = p_key);
$$;

-- Returns the nano-credits that all limits of a call leave; null if none applies. The caller has locked the balance.
create function spend_left_for(p_ws uuid, p_key uuid, p_scopes uuid[], p_day date) returns bigint
language sql volatile as $$
  select min(spend_left(l, p_day)) from spend_limit l where l.workspace_id = p_ws and l.id = any (spend_subjects(p_key, p_scopes));
$$;

-- Adds a change of the held and charged nano-credits of a call to its limits. The caller has locked the balance.
create function count_spend(p_ws uuid, p_key uuid, p_scopes uuid[], p_held bigint, p_spent bigint, p_day date) returns void
language sql volatile as $$
  update spend_limit l set held = l.held + p_held, spent = l.spent + p_spent, day = greatest(l.day, p_day),
    bases = (spend_bases(l, p_day))[1:3],
    look_at = case when l.day < p_day and l.warn_at <> '{}' then 0 else l.look_at end
  where l.workspace_id = p_ws and l.id = any (spend_subjects(p_key, p_scopes));
$$;

-- Open holds only: closing a hold moves it into usage_record in the same transaction, so this table stays small. Calls on credit lines have
-- none, unless they are open for a second (see credit_line).
create table hold (
  job_id uuid not null,
  attempt smallint not null,
  workspace_id uuid not null,
  key_id uuid not null,
  model text not null,
  amount bigint not null constraint hold_amount_not_negative check (amount >= 0),
  may_exceed boolean not null,
  -- UTC day to which its tokens count, and the reserved tokens (0 without a cap).
  day date not null,
  tokens bigint not null,
  deadline timestamptz not null,
  created_at timestamptz not null default now(),
  -- Credit line that contains its amount, which is then not held in addition.
  line_id uuid,
  -- Further subjects whose limits apply to the call: its end user, tags, run or batch.
  scopes uuid[],
  -- Labels of the call for usage reports.
  labels jsonb,
  primary key (workspace_id, job_id, attempt)
) with (autovacuum_vacuum_scale_factor = 0.01);
create index hold_deadline on hold (deadline);

-- The window is a ring of numbered calls: call n under limit L passes if call n - L is at least 60 s old. Rejected calls count. Limits go
-- up to 4,095: the ring keeps 4,608 calls, and a group is far smaller than the difference. Times never decrease from one call to the next,
-- so if call m is old, all earlier calls are, and `passed` remembers that: a block is read about once in 32 calls, or when the window is
-- full. The only clock is the database's, read after the locks are taken.
create table rate_window (
  workspace_id uuid primary key,
  -- Total number of counted calls.
  calls bigint not null default 0,
  last_ms bigint not null default 0,
  -- Added to a clock that was set back, until the clock has caught up.
  shift_ms bigint not null default 0,
  -- Calls up to this number are known to be older than 60 s.
  passed bigint not null default 0,
  -- Times of the calls since the last full block of 32, in order.
  recent bigint[] not null default '{}'
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01);
alter table rate_window alter column recent set storage plain;

-- Times of 32 calls each: block b contains the calls 32 b + 1 to 32 b + 32 and is stored in slot b mod 144.
create table rate_block (
  workspace_id uuid not null,
  slot smallint not null,
  at_ms bigint[] not null,
  primary key (workspace_id, slot)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01);
alter table rate_block alter column at_ms set storage plain;

-- Creates the rows for admission together with the workspace, so that no call has to check for them.
create function workspace_rows() returns trigger language plpgsql as $$
begin
  insert into balance (workspace_id) values (new.id);
  insert into rate_window (workspace_id) values (new.id);
  return new;
end $$;
create trigger workspace_rows after insert on workspace for each row execute function workspace_rows();

-- Returns the milliseconds to add to the clock for a call of the window: a call is never counted before the last one. A clock that was set
-- back by more than a second is shifted; otherwise, the window would not move until the clock has caught up.
create function window_shift(p_now_ms bigint, p_last_ms bigint, p_shift_ms bigint) returns bigint language sql immutable as $$
  select case
    when p_now_ms >= p_last_ms then 0
    when p_now_ms + p_shift_ms < p_last_ms - 1000 then p_last_ms - p_now_ms
    else p_shift_ms
  end;
$$;

-- Returns the time of call `p_number` of a workspace's window, whose row the caller has locked.
create function window_call(p_ws uuid, p_number bigint) returns bigint
language plpgsql volatile set enable_seqscan = off as $$
declare
  w rate_window;
  block bigint[];
begin
  select * into w from rate_window where workspace_id = p_ws;
  if (p_number - 1) / 32 = w.calls / 32 then return w.recent[(p_number - 1) % 32 + 1]; end if;
  select at_ms into block from rate_block where workspace_id = p_ws and slot = ((p_number - 1) / 32 % 144)::smallint;
  return block[(p_number - 1) % 32 + 1];
end $$;

-- Counts of calls on credit lines that are not in a window yet, reported by the workspace's ingresses once a second. The next admission
-- that writes the window adds those of the last 60 s, so that lines do not wait for windows.
create table lined_calls (
  workspace_id uuid not null,
  at_ms bigint not null,
  calls bigint not null
) with (autovacuum_vacuum_scale_factor = 0.01);
create index lined_calls_workspace on lined_calls (workspace_id);
create index lined_calls_at on lined_calls (at_ms);

-- Adds a workspace's calls on credit lines to its window, whose row the caller has locked. Counts above the ring's capacity are reduced to
-- it.
create function count_lined_calls(p_ws uuid, p_now_ms bigint) returns void language plpgsql set enable_seqscan = off as $$
declare
  w rate_window;
  times bigint[];
begin
  with told as (delete from lined_calls where workspace_id = p_ws returning at_ms, calls)
  select array_agg(s.at_ms order by s.at_ms) into times
  from (select t.at_ms, t.calls, sum(t.calls) over (order by t.at_ms desc rows unbounded preceding) - t.calls as later
        from told t where t.at_ms > p_now_ms - 60000) s
  cross join generate_series(1, least(s.calls, 4096 - s.later)::int)
  where s.later < 4096;
  if times is null then return; end if;
  select * into w from rate_window where workspace_id = p_ws;
  select array_agg(greatest(t.at_ms, w.last_ms) order by t.i) into times from unnest(times) with ordinality t(at_ms, i);
  w.calls := w.calls + cardinality(times);
  w.last_ms := times[cardinality(times)];
  times := w.recent || times;
  insert into rate_block (workspace_id, slot, at_ms)
  select p_ws, ((w.calls / 32 - cardinality(times) / 32 + b.i) % 144)::smallint, times[b.i * 32 + 1 : b.i * 32 + 32]
  from generate_series(0, cardinality(times) / 32 - 1) b(i)
  on conflict (workspace_id, slot) do update set at_ms = excluded.at_ms;
  update rate_window set calls = w.calls, last_ms = w.last_ms, recent = times[cardinality(times) / 32 * 32 + 1 : cardinality(times)]
  where workspace_id = p_ws;
end $$;

-- Decides grouped calls: window, daily tokens, balance. Returns one verdict per call, in the given order: 0 admitted, 1 window full, 2
-- daily tokens used up, 3 balance too low, 4 busy (locked elsewhere, nothing done), 5 unknown workspace, 9 a budget is spent (counted,
-- regardless of the window), 13 more than a limit of its key, member, end user, tags, run or batch leaves. A call with p_job null is only counted (it needs no hold, or was invalid) and needs no balance. p_limit: null
-- counts the call without rejection, -1 does not count it either. p_cap: null for no daily cap. A call that can use tokens is rejected once
-- used and reserved tokens have reached the cap: together, calls exceed it by one call at most. p_scopes: further subjects whose limits apply
-- to a call, as text of a uuid[]. p_wait_ms: null skips locked rows;
-- otherwise the wait for each lock (SQLSTATE 55P03 after it). p_late: decides on the balance as read, and locks it with the last write
-- only, so that admission and settlements of a busy workspace hardly wait for each other. If the balance no longer covers the decision, the
-- day has changed, or a call has a spend limit, nothing is done and SQLSTATE SL001 requests a repeat without p_late. Not for calls under a
-- daily cap.
--
-- One loop over the calls and one write per table: joins and CTEs over the same rows cost twice as much, single ring rows per call twice
-- again (groups of 50: 24 instead of 52 microseconds of CPU per call). The planner settings prevent plans that were made while a table was
-- empty from scanning it completely later.
create function admit_calls(
  p_ws uuid[], p_limit int[], p_job uuid[], p_key uuid[], p_model text[], p_amount bigint[], p_exceed boolean[],
  p_tokens bigint[], p_cap bigint[], p_life_ms bigint[], p_wait_ms int, p_now_ms bigint default null,
  p_late boolean default false, p_scopes text[] default null, p_labels jsonb[] default null
) returns smallint[] language plpgsql set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
  v smallint[] := array_fill(4::smallint, array[cardinality(p_ws)]);
  -- One element for each locked workspace; all arrays have the same length.
  wss uuid[]; w_calls bigint[]; w_at bigint[]; w_shift bigint[]; w_passed bigint[]; w_number bigint[]; w_young bigint[];
  b_free bigint[]; b_held bigint[]; b_day date[]; b_tokens bigint[]; b_stopped boolean[];
  -- One element for each locked balance.
  got_ws uuid[]; got_free bigint[]; got_days date[]; got_tokens bigint[]; got_stopped boolean[];
  begun balance;
  at_utc timestamptz;
  now_ms bigint;
  today date;
  cur uuid;
  w int;
  number bigint;
  past bigint;
  block bigint[];
  k int;
  covered boolean;
  has_hold boolean := false;
  has_block boolean := false;
  has_busy boolean := false;
  known uuid[];
  -- Spend limits of the calls: one element for each limit; subjects of a call.
  l_ids uuid[]; l_left bigint[]; l_held bigint[]; subjects uuid[];
  fits boolean;
begin
  if p_wait_ms is null then
    select array_agg(s.workspace_id), array_agg(s.calls), array_agg(s.last_ms), array_agg(s.shift_ms), array_agg(s.passed)
    into wss, w_calls, w_at, w_shift, w_passed
    from (select * from rate_window where workspace_id = any (p_ws) order by workspace_id for update skip locked) s;
    select array_agg(s.workspace_id), array_agg(s.amount - s.held), array_agg(s.day), array_agg(s.day_tokens), array_agg(s.spent >= s.stop_at)
    into got_ws, got_free, got_days, got_tokens, got_stopped
    from (select * from balance where workspace_id = any (wss) order by workspace_id for update skip locked) s;
  else
    perform set_config('lock_timeout', p_wait_ms::text, true);
    select array_agg(s.workspace_id), array_agg(s.calls), array_agg(s.last_ms), array_agg(s.shift_ms), array_agg(s.passed)
    into wss, w_calls, w_at, w_shift, w_passed
    from (select * from rate_window where workspace_id = any (p_ws) order by workspace_id for update) s;
    if p_late then
      select array_agg(s.workspace_id), array_agg(s.amount - s.held), array_agg(s.day), array_agg(s.day_tokens), array_agg(s.spent >= s.stop_at)
      into got_ws, got_free, got_days, got_tokens, got_stopped
      from (select * from balance where workspace_id = any (wss) order by workspace_id) s;
    else
      select array_agg(s.workspace_id), array_agg(s.amount - s.held), array_agg(s.day), array_agg(s.day_tokens), array_agg(s.spent >= s.stop_at)
      into got_ws, got_free, got_days, got_tokens, got_stopped
      from (select * from balance where workspace_id = any (wss) order by workspace_id for update) s;
    end if;
  end if;
  at_utc := case when p_now_ms is null then clock_timestamp() else to_timestamp(p_now_ms / 1000.0) end;
  now_ms := coalesce(p_now_ms, (extract(epoch from at_utc) * 1000)::bigint);
  today := (at_utc at time zone 'utc')::date;

  -- Calls on credit lines count in the window, and a daily cap applies to everything settled.
  if exists (select from lined_calls where workspace_id = any (wss)) then
    perform count_lined_calls(ws, now_ms) from unnest(wss) l(ws);
    select array_agg(s.calls), array_agg(s.last_ms), array_agg(s.shift_ms), array_agg(s.passed) into w_calls, w_at, w_shift, w_passed
    from (select * from rate_window where workspace_id = any (wss) order by workspace_id) s;
  end if;
  if array_remove(p_cap, null) <> '{}' and not p_late and exists (select from line_settle where workspace_id = any (got_ws)) then
    perform book_lines(ws) from unnest(got_ws) l(ws);
    select array_agg(s.amount - s.held), array_agg(s.day), array_agg(s.day_tokens), array_agg(s.spent >= s.stop_at)
    into got_free, got_days, got_tokens, got_stopped
    from (select * from balance where workspace_id = any (got_ws) order by workspace_id) s;
  end if;

  if wss is not null then
    -- A call with a hold begins the day, regardless of its verdict. A clock set back over midnight does not reopen the previous day.
    for i in 1 .. coalesce(cardinality(got_ws), 0) loop
      if got_days[i] < today and exists (select from unnest(p_ws, p_job) c(ws, job) where c.ws = got_ws[i] and c.job is not null) then
        if p_late then raise exception 'the day has turned' using errcode = 'SL001'; end if;
        begun := begin_day(got_ws[i], today);
        got_days[i] := today;
        got_tokens[i] := 0;
        got_stopped[i] := begun.spent >= begun.stop_at;
      end if;
    end loop;
    if exists (select from spend_limit where workspace_id = any (got_ws)) then
      select array_agg(l.id), array_agg(spend_left(l, today)) into l_ids, l_left from spend_limit l where l.id = any (array(
        select s.id from generate_series(1, cardinality(p_ws)) c(i) cross join lateral unnest(spend_subjects(p_key[c.i], p_scopes[c.i]::uuid[])) s(id)
        where p_job[c.i] is not null and p_ws[c.i] = any (got_ws)));
      if l_ids is not null then
        if p_late then raise exception 'limits need the lock on the balance' using errcode = 'SL001'; end if;
        l_held := array_fill(0::bigint, array[cardinality(l_ids)]);
      end if;
    end if;
    w_number := w_calls;
    w_young := array_fill(null::bigint, array[cardinality(wss)]);
    b_held := w_young;
    if got_ws = wss then
      b_free := got_free;
      b_day := got_days;
      b_tokens := got_tokens;
      b_stopped := got_stopped;
    else
      b_stopped := array_fill(null::boolean, array[cardinality(wss)]);
      b_free := w_young;
      b_tokens := w_young;
      b_day := array_fill(today, array[cardinality(wss)]);
      for i in 1 .. coalesce(cardinality(got_ws), 0) loop
        w := array_position(wss, got_ws[i]);
        b_free[w] := got_free[i];
        b_day[w] := got_days[i];
        b_tokens[w] := got_tokens[i];
        b_stopped[w] := got_stopped[i];
      end loop;
    end if;
    for i in 1 .. cardinality(wss) loop
      if now_ms >= w_at[i] then
        w_at[i] := now_ms;
        w_shift[i] := 0;
      else
        w_shift[i] := window_shift(now_ms, w_at[i], w_shift[i]);
        w_at[i] := greatest(w_at[i], now_ms + w_shift[i]);
      end if;
    end loop;

    for i in 1 .. cardinality(p_ws) loop
      if cur is distinct from p_ws[i] then
        cur := p_ws[i];
        w := array_position(wss, cur);
      end if;
      if w is null or (p_job[i] is not null and b_free[w] is null) then
        has_busy := true;
        continue;
      end if;
      if p_limit[i] is distinct from -1 then
        number := w_number[w] + 1;
        w_number[w] := number;
        if number % 32 = 0 then has_block := true; end if;
        past := number - p_limit[i];
      end if;
      if b_stopped[w] and p_amount[i] > 0 and p_job[i] is not null then
        v[i] := 9;
        continue;
      end if;
      if p_limit[i] <> -1 and past > w_passed[w] then
        if past > w_calls[w] or past >= w_young[w] then
          v[i] := 1;
          continue;
        end if;
        if (past - 1) / 32 = w_calls[w] / 32 then
          select recent into block from rate_window where workspace_id = cur;
        else
          select at_ms into block from rate_block where workspace_id = cur and slot = ((past - 1) / 32 % 144)::smallint;
        end if;
        k := (past - 1) % 32 + 1;
        if block[k] > w_at[w] - 60000 then
          w_young[w] := past;
          v[i] := 1;
          continue;
        end if;
        while block[k + 1] <= w_at[w] - 60000 loop k := k + 1; end loop;
        w_passed[w] := (past - 1) / 32 * 32 + k;
      end if;
      if p_job[i] is null then
        v[i] := 0;
        continue;
      end if;
      if p_tokens[i] > 0 and b_tokens[w] >= p_cap[i] then
        v[i] := 2;
        continue;
      end if;
      if l_ids is not null and p_amount[i] > 0 then
        subjects := spend_subjects(p_key[i], p_scopes[i]::uuid[]);
        fits := true;
        for k in 1 .. cardinality(l_ids) loop
          if l_ids[k] = any (subjects) and p_amount[i] > l_left[k] then fits := false; end if;
        end loop;
        if not fits then
          v[i] := 13;
          continue;
        end if;
      end if;
      if p_amount[i] > b_free[w] then
        v[i] := 3;
        continue;
      end if;
      if l_ids is not null and p_amount[i] > 0 then
        for k in 1 .. cardinality(l_ids) loop
          if l_ids[k] = any (subjects) then
            l_left[k] := l_left[k] - p_amount[i];
            l_held[k] := l_held[k] + p_amount[i];
          end if;
        end loop;
      end if;
      b_free[w] := b_free[w] - p_amount[i];
      b_held[w] := coalesce(b_held[w], 0) + p_amount[i];
      if p_cap[i] is not null then b_tokens[w] := b_tokens[w] + p_tokens[i]; end if;
      v[i] := 0;
      has_hold := true;
    end loop;

    if has_block then
      insert into rate_block (workspace_id, slot, at_ms)
      select r.workspace_id, ((r.calls / 32 + b.i) % 144)::smallint,
             (r.recent || array_fill(w_at[g.i], array[(w_number[g.i] - r.calls)::int]))[b.i * 32 + 1 : b.i * 32 + 32]
      from unnest(wss) with ordinality g(ws, i)
      join rate_window r on r.workspace_id = g.ws
      cross join generate_series(0, (w_number[g.i] / 32 - r.calls / 32)::int - 1) b(i)
      on conflict (workspace_id, slot) do update set at_ms = excluded.at_ms;
    end if;
    update rate_window r set calls = w_number[g.i], last_ms = w_at[g.i], shift_ms = w_shift[g.i], passed = w_passed[g.i],
      recent = case
        when w_number[g.i] / 32 > r.calls / 32 then array_fill(w_at[g.i], array[(w_number[g.i] % 32)::int])
        else r.recent || array_fill(w_at[g.i], array[(w_number[g.i] - r.calls)::int])
      end
    from unnest(wss) with ordinality g(ws, i)
    where r.workspace_id = g.ws and w_number[g.i] > r.calls;
    if has_hold then
      insert into hold (job_id, attempt, workspace_id, key_id, model, amount, may_exceed, day, tokens, deadline, created_at, scopes, labels)
      select p_job[c.i], 1, p_ws[c.i], p_key[c.i], p_model[c.i], p_amount[c.i], p_exceed[c.i], b_day[array_position(wss, p_ws[c.i])],
             case when p_cap[c.i] is null then 0 else p_tokens[c.i] end, at_utc + p_life_ms[c.i] * interval '1 millisecond', at_utc,
             p_scopes[c.i]::uuid[], p_labels[c.i]
      from generate_series(1, cardinality(p_ws)) c(i)
      where v[c.i] = 0 and p_job[c.i] is not null;
      if p_late then
        select bool_and(s.amount - s.held >= b_held[s.w] and s.day = b_day[s.w] and (s.spent >= s.stop_at) is not true) into covered
        from (select *, array_position(wss, workspace_id) as w from balance where workspace_id = any (wss)
              order by workspace_id for update) s
        where b_held[s.w] is not null;
        if not covered then raise exception 'the balance changed meanwhile' using errcode = 'SL001'; end if;
        -- A limit may have been set between the decision and the lock.
        if exists (select from spend_limit where workspace_id = any (wss)) then
          perform from spend_limit l where l.id = any (array(
            select s.id from generate_series(1, cardinality(p_ws)) c(i)
            cross join lateral unnest(spend_subjects(p_key[c.i], p_scopes[c.i]::uuid[])) s(id) where p_job[c.i] is not null));
          if found then raise exception 'limits need the lock on the balance' using errcode = 'SL001'; end if;
        end if;
      end if;
      update balance b set held = b.held + b_held[g.i],
        day_tokens = case when p_late then b.day_tokens else b_tokens[g.i] end
      from unnest(wss) with ordinality g(ws, i)
      where b.workspace_id = g.ws and b_held[g.i] is not null;
      update spend_limit l set held = l.held + g.nano
      from unnest(l_ids, l_held) g(id, nano)
      where l.id = g.id and g.nano > 0;
    end if;
  end if;

  if has_busy or wss is null then
    select array_agg(workspace_id) into known from rate_window where workspace_id = any (p_ws);
    for i in 1 .. cardinality(p_ws) loop
      if v[i] = 4 and array_position(known, p_ws[i]) is null then v[i] := 5; end if;
    end loop;
  end if;
  return v;
end $$;

-- Makes the same steps for a single call, since the group form costs several times as much for a group of one. Waits for its workspace's
-- rows, which usually takes a statement and a commit, instead of skipping them and repeating the call in the contended group. The wait is
-- the statement's lock_timeout (waitingForLocks); SQLSTATE 55P03 after it sends the call to the contended group. p_limit -1: the window is
-- not changed.
create function admit_call(
  p_ws uuid, p_limit int, p_job uuid, p_key uuid, p_model text, p_amount bigint, p_exceed boolean, p_tokens bigint,
  p_cap bigint, p_life_ms bigint, p_now_ms bigint default null, p_scopes uuid[] default null, p_labels jsonb default null
) returns smallint language plpgsql set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
  w rate_window;
  b balance;
  at_utc timestamptz;
  at bigint;
  today date;
  past bigint;
  block bigint[];
  k int;
  v smallint := 0;
begin
  if p_limit is distinct from -1 then
    select * into w from rate_window where workspace_id = p_ws for update;
    if not found then return 5; end if;
    if exists (select from lined_calls where workspace_id = p_ws) then
      perform count_lined_calls(p_ws, coalesce(p_now_ms, (extract(epoch from clock_timestamp()) * 1000)::bigint));
      select * into w from rate_window where workspace_id = p_ws;
    end if;
  end if;
  if p_job is not null then
    select * into b from balance where workspace_id = p_ws for update;
    if not found then return 5; end if;
    if p_cap is not null and exists (select from line_settle where workspace_id = p_ws) then
      perform book_lines(p_ws);
      select * into b from balance where workspace_id = p_ws;
    end if;
  end if;
  at_utc := case when p_now_ms is null then clock_timestamp() else to_timestamp(p_now_ms / 1000.0) end;
  at := coalesce(p_now_ms, (extract(epoch from at_utc) * 1000)::bigint);
  today := (at_utc at time zone 'utc')::date;
  if b.day < today then b := begin_day(p_ws, today); end if;
  if b.spent >= b.stop_at and p_amount > 0 then v := 9; end if;

  if p_limit is distinct from -1 then
    w.shift_ms := window_shift(at, w.last_ms, w.shift_ms);
    at := greatest(at + w.shift_ms, w.last_ms);
    past := w.calls + 1 - p_limit;
    if v = 0 and past > w.passed then
      if past > w.calls then v := 1;
      else
        block := w.recent;
        if (past - 1) / 32 <> w.calls / 32 then
          select at_ms into block from rate_block where workspace_id = p_ws and slot = ((past - 1) / 32 % 144)::smallint;
        end if;
        k := (past - 1) % 32 + 1;
        if block[k] > at - 60000 then v := 1;
        else
          while block[k + 1] <= at - 60000 loop k := k + 1; end loop;
          w.passed := (past - 1) / 32 * 32 + k;
        end if;
      end if;
    end if;
    w.recent := w.recent || at;
    if cardinality(w.recent) = 32 then
      insert into rate_block (workspace_id, slot, at_ms) values (p_ws, (w.calls / 32 % 144)::smallint, w.recent)
      on conflict (workspace_id, slot) do update set at_ms = excluded.at_ms;
      w.recent := '{}';
    end if;
    update rate_window set calls = w.calls + 1, last_ms = at, shift_ms = w.shift_ms, passed = w.passed, recent = w.recent
    where workspace_id = p_ws;
  end if;
  if v <> 0 or p_job is null then return v; end if;
  if p_tokens > 0 and b.day_tokens >= p_cap then return 2; end if;
  if b.has_limits and p_amount > 0 and p_amount > spend_left_for(p_ws, p_key, p_scopes, today) then return 13; end if;
  if p_amount > b.amount - b.held then return 3; end if;
  if b.has_limits and p_amount > 0 then perform count_spend(p_ws, p_key, p_scopes, p_amount, 0, today); end if;
  update balance set held = b.held + p_amount,
    day_tokens = b.day_tokens + case when p_cap is null then 0 else p_tokens end
  where workspace_id = p_ws;
  insert into hold (job_id, attempt, workspace_id, key_id, model, amount, may_exceed, day, tokens, deadline, created_at, scopes, labels)
  values (p_job, 1, p_ws, p_key, p_model, p_amount, p_exceed, b.day, case when p_cap is null then 0 else p_tokens end,
          at_utc + p_life_ms * interval '1 millisecond', at_utc, p_scopes, p_labels);
  return 0;
end $$;

-- Returns admit_call's current verdict on a call without hold, the free part of the balance, and whether a budget is spent. Counts and
-- locks nothing.
create function check_window(
  p_ws uuid, p_limit int, p_now_ms bigint default null, out is_full boolean, out free bigint, out is_stopped boolean
)
language plpgsql stable set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
  w rate_window;
  b balance;
  today date;
  at bigint;
  past bigint;
  block bigint[];
begin
  select * into w from rate_window where workspace_id = p_ws;
  if not found then return; end if;
  select * into b from balance where workspace_id = p_ws;
  -- Credit lines are reclaimed for calls that need their credits.
  free := b.amount - b.held + lines_to_recall(p_ws);
  today := (case when p_now_ms is null then clock_timestamp() else to_timestamp(p_now_ms / 1000.0) end at time zone 'utc')::date;
  if b.day < today then b.stop_at := budget_stop_at(p_ws, today); end if;
  is_stopped := coalesce(b.spent >= b.stop_at, false);
  at := coalesce(p_now_ms, (extract(epoch from clock_timestamp()) * 1000)::bigint);
  at := greatest(at + window_shift(at, w.last_ms, w.shift_ms), w.last_ms);
  past := w.calls + 1 - p_limit;
  is_full := false;
  if past > w.passed then
    if past > w.calls then is_full := true;
    else
      block := w.recent;
      if (past - 1) / 32 <> w.calls / 32 then
        select at_ms into block from rate_block where workspace_id = p_ws and slot = ((past - 1) / 32 % 144)::smallint;
      end if;
      is_full := block[(past - 1) % 32 + 1] > at - 60000;
    end if;
  end if;
end $$;
