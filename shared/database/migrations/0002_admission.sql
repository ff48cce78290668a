-- Admission of grouped calls: exact 60-second window, daily tokens, funds. One verdict per call, in the order given.
-- Verdicts: 0 admitted, 1 window full, 2 daily tokens used up, 3 funds missing, 4 busy (locked elsewhere, nothing done),
-- 5 unknown workspace. A call whose p_job is null is only counted (a GET, or a call refused by validation).
-- p_limit null = counted and never refused. p_cap null = no daily cap.
--
-- The window is a ring of numbered calls: call n under limit L passes when call n - L is at least 60 s old. Refused
-- calls count. Limits go up to 4,095 and groups stay below the ring's 4,096 slots. The only clock is the database's,
-- kept from going back by last_ms.

create function daily_tokens_of(p_ws uuid, p_day date) returns bigint language sql stable as $$
  select (select coalesce(sum(tokens), 0) from usage_record
          where workspace_id = p_ws and ended_at >= p_day::timestamp at time zone 'utc'
            and ended_at < (p_day + 1)::timestamp at time zone 'utc')::bigint;
$$;

create function admit_calls(
  p_ws uuid[], p_limit int[], p_job uuid[], p_key uuid[], p_model text[], p_amount bigint[], p_exceed boolean[],
  p_tokens bigint[], p_cap bigint[], p_life_ms bigint[], p_wait boolean, p_now_ms bigint default null
) returns smallint[] language plpgsql as $$
declare
  v smallint[] := array_fill(4::smallint, array[cardinality(p_ws)]);
  windows uuid[];
  got uuid[];
  passed boolean[];
  ok int[] := '{}';
  at_utc timestamptz := clock_timestamp();
  now_ms bigint := coalesce(p_now_ms, (extract(epoch from at_utc) * 1000)::bigint);
  today date := (to_timestamp(now_ms / 1000.0) at time zone 'utc')::date;
  cur uuid;
  free bigint;
  used bigint;
  r record;
begin
  if p_wait then
    select array_agg(w) into windows from (select workspace_id w from rate_window where workspace_id = any (p_ws) order by 1 for update) s;
    select array_agg(w) into got from (select workspace_id w from balance where workspace_id = any (windows) order by 1 for update) s;
  else
    select array_agg(w) into windows from (select workspace_id w from rate_window where workspace_id = any (p_ws) order by 1 for update skip locked) s;
    select array_agg(w) into got from (select workspace_id w from balance where workspace_id = any (windows) order by 1 for update skip locked) s;
  end if;

  with asked as (
      select t.n, t.ws, t.lim, greatest(now_ms, w.last_ms) as at_ms, w.calls as before,
             w.calls + row_number() over (partition by t.ws order by t.n) as number
      from unnest(p_ws, p_limit) with ordinality t(ws, lim, n)
      join rate_window w on w.workspace_id = t.ws
      where t.ws = any (got)),
    decided as (
      select a.n, a.ws, a.number, a.at_ms,
             a.lim is null or a.number <= a.lim
               or (a.number - a.lim <= a.before and c.at_ms <= a.at_ms - 60000) as ok
      from asked a
      left join rate_call c on a.lim is not null and c.workspace_id = a.ws and c.slot = ((a.number - a.lim) % 4096)::smallint),
    kept as (
      insert into rate_call (workspace_id, slot, at_ms)
      select ws, (number % 4096)::smallint, at_ms from decided
      on conflict (workspace_id, slot) do update set at_ms = excluded.at_ms),
    counted as (
      update rate_window w set calls = g.number, last_ms = g.at_ms
      from (select ws, max(number) as number, max(at_ms) as at_ms from decided group by ws) g
      where w.workspace_id = g.ws)
  select array_agg(d.ok order by t.n) into passed
  from generate_subscripts(p_ws, 1) t(n) left join decided d on d.n = t.n;

  for r in
    select t.n, t.ws, t.job, t.amount, t.tokens, t.cap, b.amount - b.held as available
    from unnest(p_ws, p_job, p_amount, p_tokens, p_cap) with ordinality t(ws, job, amount, tokens, cap, n)
    join balance b on b.workspace_id = t.ws
    where t.ws = any (got)
    order by t.ws, t.n
  loop
    if cur is distinct from r.ws then
      cur := r.ws;
      free := r.available;
      used := null;
    end if;
    if not passed[r.n] then
      v[r.n] := 1;
      continue;
    end if;
    if r.job is null then
      v[r.n] := 0;
      continue;
    end if;
    if r.cap is not null then
      if used is null then
        -- Two ingresses may both find no row yet for the day; the balance lock makes the second one wait or skip.
        insert into daily_token (workspace_id, day, tokens) values (r.ws, today, daily_tokens_of(r.ws, today)) on conflict do nothing;
        select tokens into used from daily_token where workspace_id = r.ws and day = today;
      end if;
      if used + r.tokens > r.cap then
        v[r.n] := 2;
        continue;
      end if;
    end if;
    if r.amount > free then
      v[r.n] := 3;
      continue;
    end if;
    free := free - r.amount;
    if r.cap is not null then
      used := used + r.tokens;
      update daily_token set tokens = used where workspace_id = r.ws and day = today;
    end if;
    ok := ok || r.n::int;
    v[r.n] := 0;
  end loop;

  if cardinality(ok) > 0 then
    insert into hold (job_id, attempt, workspace_id, key_id, model, amount, may_exceed, day, tokens, deadline)
    select p_job[i], 1, p_ws[i], p_key[i], p_model[i], p_amount[i], p_exceed[i],
           case when p_cap[i] is not null then today end, case when p_cap[i] is not null then p_tokens[i] end,
           at_utc + p_life_ms[i] * interval '1 millisecond'
    from unnest(ok) i;
    update balance b set held = b.held + g.amount
    from (select p_ws[i] as ws, sum(p_amount[i]) as amount from unnest(ok) i group by 1) g
    where b.workspace_id = g.ws;
  end if;

  for r in select t.n from unnest(p_ws) with ordinality t(ws, n)
           where v[t.n] = 4 and not exists (select from rate_window w where w.workspace_id = t.ws) loop
    v[r.n] := 5;
  end loop;
  return v;
end $$;

-- The same steps for a lone call under no daily cap: the group form costs several times as much for a group of one.
create function admit_call(
  p_ws uuid, p_limit int, p_job uuid, p_key uuid, p_model text, p_amount bigint, p_exceed boolean, p_life_ms bigint
) returns smallint language plpgsql as $$
declare
  w rate_window;
  number bigint;
  at bigint;
  past bigint;
  free bigint;
begin
  select * into w from rate_window where workspace_id = p_ws for update skip locked;
  if not found then
    return case when exists (select from rate_window where workspace_id = p_ws) then 4 else 5 end;
  end if;
  if p_job is not null then
    select b.amount - b.held into free from balance b where b.workspace_id = p_ws for update skip locked;
    if not found then return 4; end if;
  end if;
  at := greatest((extract(epoch from clock_timestamp()) * 1000)::bigint, w.last_ms);
  number := w.calls + 1;
  update rate_window set calls = number, last_ms = at where workspace_id = p_ws;
  if p_limit is not null and number > p_limit then
    select at_ms into past from rate_call where workspace_id = p_ws and slot = ((number - p_limit) % 4096)::smallint;
  end if;
  insert into rate_call (workspace_id, slot, at_ms) values (p_ws, (number % 4096)::smallint, at)
  on conflict (workspace_id, slot) do update set at_ms = excluded.at_ms;
  if p_limit is not null and number > p_limit and (past is null or past > at - 60000) then return 1; end if;
  if p_job is null then return 0; end if;
  if p_amount > free then return 3; end if;
  update balance set held = held + p_amount where workspace_id = p_ws;
  insert into hold (job_id, attempt, workspace_id, key_id, model, amount, may_exceed, deadline)
  values (p_job, 1, p_ws, p_key, p_model, p_amount, p_exceed, clock_timestamp() + p_life_ms * interval '1 millisecond');
  return 0;
end $$;
