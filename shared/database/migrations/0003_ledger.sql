-- The only functions that move money. Idempotent by (job_id, attempt): a hold is closed once, later calls see null.

-- p_used null = release. Result per call: amount taken, null = closed before, -1 = busy (locked elsewhere, nothing done).
-- A settle takes what was used, at most the hold; a call that may exceed also takes from what is available then, in the
-- order given. What cannot be taken is uncollected. No figure ever credits a caller: negative ones count as 0.
-- p_wait_ms: null skips what is locked elsewhere; else balances are waited for, this long each (SQLSTATE 55P03).
-- p_late: take the balances' locks with the last write only (see admit_calls). A call that takes more than its hold needs
-- the lock to know how much there is: nothing is done then, and SQLSTATE SL001 says: again, without p_late.
create function finish_calls(
  p_job uuid[], p_attempt smallint[], p_used bigint[], p_status text[], p_source text[], p_units jsonb[],
  p_estimated boolean[], p_tokens bigint[], p_wait_ms int, p_late boolean default false
) returns bigint[] language plpgsql set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
  result bigint[] := array_fill(null::bigint, array[cardinality(p_job)]);
  -- Two attempts of one job never share a group unless someone mixes them up; the second then reads as busy.
  is_uniform boolean := p_attempt[1] = all (p_attempt);
  -- Per hold found, in the order of the calls; takes is null for those of a locked workspace.
  places tid[]; calls int[]; owners uuid[]; keys uuid[]; models text[]; holds bigint[]; exceeds boolean[];
  hold_days date[]; reserved bigint[]; starts timestamptz[]; takes bigint[];
  -- Per workspace: what is available and on which day it counts tokens, then what the calls change.
  wss uuid[]; free bigint[]; days date[]; paid bigint[]; released bigint[]; tokens bigint[];
  cur uuid;
  w int;
  used bigint;
  open boolean[];
begin
  select array_agg(c.place), array_agg(c.n), array_agg(c.workspace_id), array_agg(c.key_id), array_agg(c.model),
         array_agg(c.amount), array_agg(c.may_exceed), array_agg(c.day), array_agg(c.tokens), array_agg(c.created_at)
  into places, calls, owners, keys, models, holds, exceeds, hold_days, reserved, starts
  from (
    select array_position(p_job, job_id) as n, ctid as place, *
    from hold
    where job_id = any (p_job)
      and attempt = case when is_uniform then p_attempt[1] else p_attempt[array_position(p_job, job_id)] end
    order by 1
    for update skip locked) c;

  if calls is not null then
    if p_wait_ms is null then
      select array_agg(s.workspace_id), array_agg(s.amount - s.held), array_agg(s.day) into wss, free, days
      from (select * from balance where workspace_id = any (owners) order by workspace_id for update skip locked) s;
    else
      perform set_config('lock_timeout', p_wait_ms::text, true);
      if p_late then
        select array_agg(s.workspace_id), array_agg(s.amount - s.held), array_agg(s.day) into wss, free, days
        from (select * from balance where workspace_id = any (owners) order by workspace_id) s;
      else
        select array_agg(s.workspace_id), array_agg(s.amount - s.held), array_agg(s.day) into wss, free, days
        from (select * from balance where workspace_id = any (owners) order by workspace_id for update) s;
      end if;
    end if;
  end if;

  if wss is not null then
    takes := array_fill(null::bigint, array[cardinality(calls)]);
    paid := array_fill(0::bigint, array[cardinality(wss)]);
    tokens := paid;
    released := paid;
    for i in 1 .. cardinality(calls) loop
      if cur is distinct from owners[i] then
        cur := owners[i];
        w := array_position(wss, cur);
      end if;
      if w is null then
        places[i] := null;
        continue;
      end if;
      used := coalesce(greatest(p_used[calls[i]], 0), 0);
      if used > holds[i] then
        if not exceeds[i] then used := holds[i];
        elsif p_late then raise exception 'more than the hold is taken' using errcode = 'SL001';
        else used := least(used, holds[i] + free[w]);
        end if;
      end if;
      takes[i] := used;
      free[w] := free[w] + holds[i] - used;
      paid[w] := paid[w] + used;
      released[w] := released[w] + holds[i];
      if hold_days[i] = days[w] then tokens[w] := tokens[w] + greatest(p_tokens[calls[i]], 0) - reserved[i]; end if;
      result[calls[i]] := used;
    end loop;

    delete from hold where ctid = any (places);
    insert into ledger_entry (workspace_id, kind, amount, source_id, attempt)
    select owners[c.i], 'settle', -takes[c.i], p_job[c.n], p_attempt[c.n]
    from unnest(calls) with ordinality c(n, i)
    where takes[c.i] is not null and p_used[c.n] is not null;
    insert into usage_record (job_id, attempt, workspace_id, key_id, model, source, status, units, is_estimated, held,
                              settled, uncollected, day, tokens, started_at)
    select p_job[c.n], p_attempt[c.n], owners[c.i], keys[c.i], models[c.i], p_source[c.n], p_status[c.n], p_units[c.n],
           p_estimated[c.n], holds[c.i], takes[c.i], coalesce(greatest(p_used[c.n], 0), 0) - takes[c.i], hold_days[c.i],
           greatest(p_tokens[c.n], 0), starts[c.i]
    from unnest(calls) with ordinality c(n, i)
    where takes[c.i] is not null;
    -- Last, so that with p_late its locks are held for little more than the commit.
    if p_late then
      perform 1 from (select from balance where workspace_id = any (wss) order by workspace_id for update) s;
    end if;
    update balance b set amount = b.amount - paid[g.i], held = b.held - released[g.i],
      day_tokens = b.day_tokens + case when b.day = days[g.i] then tokens[g.i] else 0 end
    from unnest(wss) with ordinality g(ws, i)
    where b.workspace_id = g.ws;
  end if;

  if array_position(result, null) is not null then
    select array_agg(exists (select from hold h where h.job_id = c.job and h.attempt = c.attempt) order by c.n) into open
    from unnest(p_job, p_attempt) with ordinality c(job, attempt, n);
    for i in 1 .. cardinality(p_job) loop
      if open[i] then result[i] := -1; end if;
    end loop;
  end if;
  return result;
end $$;

-- The same steps for a lone call.
create function finish_call(
  p_job uuid, p_attempt smallint, p_used bigint, p_status text, p_source text, p_units jsonb, p_estimated boolean, p_tokens bigint
) returns bigint language plpgsql set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
  h hold;
  b balance;
  take bigint;
begin
  select * into h from hold where job_id = p_job and attempt = p_attempt for update skip locked;
  if not found then
    return case when exists (select from hold where job_id = p_job and attempt = p_attempt) then -1 end;
  end if;
  select * into b from balance where workspace_id = h.workspace_id for update skip locked;
  if not found then return -1; end if;
  take := least(coalesce(greatest(p_used, 0), 0), h.amount + case when h.may_exceed then b.amount - b.held else 0 end);
  delete from hold where job_id = p_job and attempt = p_attempt;
  update balance set amount = b.amount - take, held = b.held - h.amount,
    day_tokens = b.day_tokens + case when h.day = b.day then greatest(p_tokens, 0) - h.tokens else 0 end
  where workspace_id = h.workspace_id;
  if p_used is not null then
    insert into ledger_entry (workspace_id, kind, amount, source_id, attempt)
    values (h.workspace_id, 'settle', -take, p_job, p_attempt);
  end if;
  insert into usage_record (job_id, attempt, workspace_id, key_id, model, source, status, units, is_estimated, held,
                            settled, uncollected, day, tokens, started_at)
  values (p_job, p_attempt, h.workspace_id, h.key_id, h.model, p_source, p_status, p_units, p_estimated, h.amount,
          take, coalesce(greatest(p_used, 0), 0) - take, h.day, greatest(p_tokens, 0), h.created_at);
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
  select b.workspace_id, 'available balance is negative', '0', (b.amount - b.held)::text from balance b where b.amount < b.held
  union all
  select b.workspace_id, 'daily tokens are not the sum of the day''s calls', (coalesce(u.sum, 0) + coalesce(h.sum, 0))::text, b.day_tokens::text
  from balance b
  left join (select r.workspace_id, r.day, sum(r.tokens) from usage_record r group by 1, 2) u on u.workspace_id = b.workspace_id and u.day = b.day
  left join (select o.workspace_id, o.day, sum(o.tokens) from hold o group by 1, 2) h on h.workspace_id = b.workspace_id and h.day = b.day
  where b.day_tokens <> coalesce(u.sum, 0) + coalesce(h.sum, 0);
$$;
