-- A lone call waits for its workspace's rows instead of skipping them and coming back through the contended group, which
-- costs it a second trip: usually they are held for a statement and a commit. How long is the session's lock_timeout, set
-- short on the connections that send these; after it SQLSTATE 55P03 sends the call to the contended group as before.

create or replace function admit_call(
  p_ws uuid, p_limit int, p_job uuid, p_key uuid, p_model text, p_amount bigint, p_exceed boolean, p_tokens bigint,
  p_cap bigint, p_life_ms bigint, p_now_ms bigint default null
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
  select * into w from rate_window where workspace_id = p_ws for update;
  if not found then return 5; end if;
  if p_job is not null then
    select * into b from balance where workspace_id = p_ws for update;
    if not found then return 5; end if;
  end if;
  at_utc := case when p_now_ms is null then clock_timestamp() else to_timestamp(p_now_ms / 1000.0) end;
  at := coalesce(p_now_ms, (extract(epoch from at_utc) * 1000)::bigint);
  w.shift_ms := window_shift(at, w.last_ms, w.shift_ms);
  at := greatest(at + w.shift_ms, w.last_ms);

  past := w.calls + 1 - p_limit;
  if past > w.passed then
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
  if v = 1 or p_job is null then return v; end if;

  today := (at_utc at time zone 'utc')::date;
  if b.day < today then
    b.day := today;
    b.day_tokens := 0;
  end if;
  if b.day_tokens + p_tokens > p_cap then return 2; end if;
  if p_amount > b.amount - b.held then return 3; end if;
  update balance set held = b.held + p_amount, day = b.day,
    day_tokens = b.day_tokens + case when p_cap is null then 0 else p_tokens end
  where workspace_id = p_ws;
  insert into hold (job_id, attempt, workspace_id, key_id, model, amount, may_exceed, day, tokens, deadline, created_at)
  values (p_job, 1, p_ws, p_key, p_model, p_amount, p_exceed, b.day, case when p_cap is null then 0 else p_tokens end,
          at_utc + p_life_ms * interval '1 millisecond', at_utc);
  return 0;
end $$;

create or replace function finish_call(
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
  select * into b from balance where workspace_id = h.workspace_id for update;
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
