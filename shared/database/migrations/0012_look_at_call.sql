-- What admit_call would say now of a call that holds nothing, and what is free of the balance: counts and locks nothing.
create function look_at_call(p_ws uuid, p_limit int, p_now_ms bigint default null, out is_full boolean, out free bigint)
language plpgsql stable set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
  w rate_window;
  at bigint;
  past bigint;
  block bigint[];
begin
  select * into w from rate_window where workspace_id = p_ws;
  if not found then return; end if;
  select amount - held into free from balance where workspace_id = p_ws;
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
