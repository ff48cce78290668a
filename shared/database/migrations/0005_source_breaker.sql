-- Sources of providers that are out of rotation, per pool: one row from the first failure that took a source out until
-- the trial that brought it back. A restarted worker reads what rests from here, and the fleet's one trial is handed out
-- here. All times are this server's: workers ask how long from now, so their clocks need not agree.
create table source_breaker (
  pool text not null,
  -- provider/model
  source text not null,
  open_until timestamptz not null,
  -- The rest this row stands for, without its jitter; the next failed trial doubles it.
  rest_ms int not null constraint source_breaker_rest check (rest_ms > 0),
  -- Who tries it now, and until when that is believed.
  probe_by uuid,
  probe_until timestamptz,
  primary key (pool, source)
) with (fillfactor = 50);
