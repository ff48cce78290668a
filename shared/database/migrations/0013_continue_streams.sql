-- Streams that another model goes on with: which chains ask for it, and what the models before the last one took.

alter table fallback_chain add column continue_streams boolean not null default false;

-- A call has one usage record, which names the model that its hold named last and sums everything. Of a stream that was
-- continued, one row here for each model before that one. Written when the hold moves on, so that it is there whoever
-- closes the hold.
create table usage_part (
  job_id uuid not null,
  attempt smallint not null,
  -- 1 for the model that began the stream.
  part smallint not null,
  model text not null,
  -- provider/model.
  source text not null,
  units jsonb not null,
  is_estimated boolean not null,
  -- Nano-credits, of those that the usage record says were used.
  amount bigint not null check (amount >= 0),
  primary key (job_id, attempt, part)
);

-- adjust_hold, and the parts so far. A second call with the same values changes nothing. Result as adjust_hold's.
create function continue_hold(
  p_job uuid, p_attempt smallint, p_model text, p_amount bigint, p_exceed boolean, p_tokens bigint, p_wait_ms int, p_parts jsonb
) returns smallint language plpgsql as $$
declare
  verdict smallint := adjust_hold(p_job, p_attempt, p_model, p_amount, p_exceed, p_tokens, p_wait_ms);
begin
  if verdict = 0 then
    insert into usage_part (job_id, attempt, part, model, source, units, is_estimated, amount)
    select p_job, p_attempt, p.part, p.value ->> 'model', p.value ->> 'source', p.value -> 'units',
           (p.value ->> 'is_estimated')::boolean, (p.value ->> 'amount')::bigint
    from jsonb_array_elements(p_parts) with ordinality p(value, part)
    on conflict do nothing;
  end if;
  return verdict;
end $$;
