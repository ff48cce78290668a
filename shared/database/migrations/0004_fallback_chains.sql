-- Models that serve in place of another when its provider fails, and moving the hold to the price of the one that does.

-- Which models may stand in a chain is the catalogue's to say, which the database does not know. Kept here is what needs
-- no catalogue.
create table fallback_chain (
  workspace_id uuid not null references workspace (id),
  model text not null,
  -- In the order they are tried.
  fallbacks text[] not null constraint fallback_count check (cardinality(fallbacks) between 1 and 10),
  updated_at timestamptz not null default now(),
  primary key (workspace_id, model),
  constraint fallback_not_itself check (array_position(fallbacks, model) is null),
  constraint fallback_named check (array_position(fallbacks, null) is null)
);

-- The price of another model replaces the one held, in place: whoever closes the hold finds it under the same job and
-- attempt, and what it says then is what the usage record says. A second call with the same values changes nothing.
-- Result: 0 = the hold says this now, 1 = funds missing, nothing changed, 3 = closed, 4 = busy (locked elsewhere, nothing
-- changed). Locks: hold, then balance. p_wait_ms: how long the balance is waited for (SQLSTATE 55P03 after that); null
-- leaves it to the session.
-- Tokens reserved under a daily cap follow, but are not held against the cap again: the call was admitted under it.
create function adjust_hold(
  p_job uuid, p_attempt smallint, p_model text, p_amount bigint, p_exceed boolean, p_tokens bigint, p_wait_ms int default null
) returns smallint language plpgsql set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
  h hold;
  b balance;
  reserved bigint;
begin
  select * into h from hold where job_id = p_job and attempt = p_attempt for update skip locked;
  if not found then
    return case when exists (select from hold where job_id = p_job and attempt = p_attempt) then 4 else 3 end;
  end if;
  -- Never 0 for a call under a cap: that would read as one under none.
  reserved := case when h.tokens = 0 then 0 else greatest(p_tokens, 1) end;
  if p_amount <> h.amount or reserved <> h.tokens then
    if p_wait_ms is not null then perform set_config('lock_timeout', p_wait_ms::text, true); end if;
    select * into b from balance where workspace_id = h.workspace_id for update;
    if p_amount - h.amount > b.amount - b.held then return 1; end if;
    update balance set held = b.held + p_amount - h.amount,
      day_tokens = b.day_tokens + case when h.day = b.day then reserved - h.tokens else 0 end
    where workspace_id = h.workspace_id;
  end if;
  if (p_model, p_amount, p_exceed, reserved) is distinct from (h.model, h.amount, h.may_exceed, h.tokens) then
    update hold set model = p_model, amount = p_amount, may_exceed = p_exceed, tokens = reserved
    where job_id = p_job and attempt = p_attempt;
  end if;
  return 0;
end $$;
