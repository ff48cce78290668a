-- The only functions that move money. Idempotent by (job_id, attempt): a hold is closed once, later calls see null.

-- p_used null = release. Result per call: amount taken, null = closed before, -1 = busy (locked elsewhere, nothing done).
create function finish_calls(
  p_job uuid[], p_attempt smallint[], p_used bigint[], p_status text[], p_source text[], p_units jsonb[],
  p_estimated boolean[], p_tokens bigint[], p_wait boolean
) returns bigint[] language plpgsql as $$
declare
  taken bigint[] := array_fill(null::bigint, array[cardinality(p_job)]);
  missed bigint[] := taken;
  mine uuid[];
  wss uuid[];
  got uuid[];
  ok int[] := '{}';
  cur uuid;
  free bigint;
  take bigint;
  r record;
begin
  if p_wait then
    select array_agg(j), array_agg(distinct w) into mine, wss
    from (select job_id j, workspace_id w from hold where job_id = any (p_job) order by job_id, attempt for update) s;
    select array_agg(w) into got from (select workspace_id w from balance where workspace_id = any (wss) order by 1 for update) s;
  else
    select array_agg(j), array_agg(distinct w) into mine, wss
    from (select job_id j, workspace_id w from hold where job_id = any (p_job) order by job_id, attempt for update skip locked) s;
    select array_agg(w) into got from (select workspace_id w from balance where workspace_id = any (wss) order by 1 for update skip locked) s;
  end if;

  for r in
    select t.n, t.used, h.workspace_id as ws, h.amount as held, h.may_exceed, b.amount - b.held as available,
           h.workspace_id = any (got) and t.job = any (mine) as locked
    from (select distinct on (job, attempt) * from unnest(p_job, p_attempt, p_used) with ordinality t(job, attempt, used, n) order by job, attempt, n) t
    join hold h on h.job_id = t.job and h.attempt = t.attempt
    join balance b on b.workspace_id = h.workspace_id
    order by h.workspace_id, t.n
  loop
    if r.locked is not true then
      taken[r.n] := -1;
      continue;
    end if;
    if cur is distinct from r.ws then
      cur := r.ws;
      free := r.available;
    end if;
    take := case when r.used is null then 0 else least(r.used, r.held + case when r.may_exceed then free else 0 end) end;
    free := free + r.held - take;
    taken[r.n] := take;
    missed[r.n] := coalesce(r.used, 0) - take;
    ok := ok || r.n::int;
  end loop;
  if cardinality(ok) = 0 then return taken; end if;

  update balance b set amount = b.amount - g.taken, held = b.held - g.held
  from (select h.workspace_id as ws, sum(taken[i]) as taken, sum(h.amount) as held
        from unnest(ok) i join hold h on h.job_id = p_job[i] and h.attempt = p_attempt[i] group by 1) g
  where b.workspace_id = g.ws;
  insert into ledger_entry (workspace_id, kind, amount, source_id, attempt)
  select h.workspace_id, 'settle', -taken[i], p_job[i], p_attempt[i]
  from unnest(ok) i join hold h on h.job_id = p_job[i] and h.attempt = p_attempt[i]
  where p_used[i] is not null;
  insert into usage_record (job_id, attempt, workspace_id, key_id, model, source, status, units, is_estimated, held, settled, uncollected, tokens, started_at)
  select h.job_id, h.attempt, h.workspace_id, h.key_id, h.model, p_source[i], p_status[i], p_units[i], p_estimated[i],
         h.amount, taken[i], missed[i], p_tokens[i], h.created_at
  from unnest(ok) i join hold h on h.job_id = p_job[i] and h.attempt = p_attempt[i];
  -- Each call's share, summed per row: several calls of one workspace may finish in one statement.
  update daily_token d set tokens = greatest(0, d.tokens - g.reserved + g.used)
  from (select h.workspace_id as ws, h.day, sum(h.tokens) as reserved, sum(p_tokens[i]) as used
        from unnest(ok) i join hold h on h.job_id = p_job[i] and h.attempt = p_attempt[i]
        where h.day is not null group by 1, 2) g
  where d.workspace_id = g.ws and d.day = g.day;
  delete from hold h using unnest(ok) i where h.job_id = p_job[i] and h.attempt = p_attempt[i];
  return taken;
end $$;

-- The same steps for a lone call.
create function finish_call(
  p_job uuid, p_attempt smallint, p_used bigint, p_status text, p_source text, p_units jsonb, p_estimated boolean, p_tokens bigint
) returns bigint language plpgsql as $$
declare
  h hold;
  free bigint;
  take bigint;
begin
  select * into h from hold where job_id = p_job and attempt = p_attempt for update skip locked;
  if not found then
    return case when exists (select from hold where job_id = p_job and attempt = p_attempt) then -1 end;
  end if;
  select amount - held into free from balance where workspace_id = h.workspace_id for update skip locked;
  if not found then return -1; end if;
  take := case when p_used is null then 0 else least(p_used, h.amount + case when h.may_exceed then free else 0 end) end;
  update balance set amount = amount - take, held = held - h.amount where workspace_id = h.workspace_id;
  if p_used is not null then
    insert into ledger_entry (workspace_id, kind, amount, source_id, attempt) values (h.workspace_id, 'settle', -take, p_job, p_attempt);
  end if;
  insert into usage_record (job_id, attempt, workspace_id, key_id, model, source, status, units, is_estimated, held, settled, uncollected, tokens, started_at)
  values (p_job, p_attempt, h.workspace_id, h.key_id, h.model, p_source, p_status, p_units, p_estimated,
          h.amount, take, coalesce(p_used, 0) - take, p_tokens, h.created_at);
  if h.day is not null then
    update daily_token set tokens = greatest(0, tokens - h.tokens + p_tokens) where workspace_id = h.workspace_id and day = h.day;
  end if;
  delete from hold where job_id = p_job and attempt = p_attempt;
  return take;
end $$;

-- Top-ups and corrections; p_source makes a repeat harmless. Result: true = moved now, false = was moved before.
create function move_credits(p_ws uuid, p_kind text, p_amount bigint, p_source uuid, p_note text) returns boolean language plpgsql as $$
begin
  perform 1 from balance where workspace_id = p_ws for update;
  if not found then raise exception 'unknown workspace' using errcode = 'no_data_found'; end if;
  insert into ledger_entry (workspace_id, kind, amount, source_id, note) values (p_ws, p_kind, p_amount, p_source, p_note)
  on conflict on constraint ledger_once do nothing;
  if not found then return false; end if;
  update balance set amount = amount + p_amount where workspace_id = p_ws;
  return true;
end $$;

-- Every disagreement between ledger, holds, balances and usage; no row means exact.
create function audit_ledger() returns table (workspace_id uuid, fault text, expected text, found text) language sql stable as $$
  select b.workspace_id, 'balance is not the sum of ledger entries', coalesce(l.sum, 0)::text, b.amount::text
  from balance b left join (select e.workspace_id, sum(amount) from ledger_entry e group by 1) l using (workspace_id)
  where b.amount <> coalesce(l.sum, 0)
  union all
  select b.workspace_id, 'held is not the sum of open holds', coalesce(h.sum, 0)::text, b.held::text
  from balance b left join (select o.workspace_id, sum(amount) from hold o group by 1) h using (workspace_id)
  where b.held <> coalesce(h.sum, 0)
  union all
  select u.workspace_id, 'usage record without its settle', u.settled::text, coalesce((-e.amount)::text, 'none')
  from usage_record u
  left join ledger_entry e on e.source_id = u.job_id and e.attempt = u.attempt and e.kind = 'settle'
  where (u.settled <> 0 and e.id is null) or (e.id is not null and -e.amount <> u.settled)
  union all
  select e.workspace_id, 'settle without a usage record', '-', e.source_id::text
  from ledger_entry e left join usage_record u on u.job_id = e.source_id and u.attempt = e.attempt
  where e.kind = 'settle' and u.job_id is null
  union all
  select o.workspace_id, 'hold open and closed at once', '-', o.job_id::text
  from hold o join usage_record u on u.job_id = o.job_id and u.attempt = o.attempt
  union all
  select b.workspace_id, 'available balance is negative', '0', (b.amount - b.held)::text from balance b where b.amount < b.held;
$$;
