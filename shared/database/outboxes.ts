/** Outboxes: rows that are written together with the change that they report. Any process may send them afterwards. */
import type { Queryable } from "./client.ts";

export interface OutboxCount {
  /**
   * Name of the outbox. `jobs`: job messages that the queue has not confirmed. `events`: events for which no deliveries were created yet.
   */
  readonly outbox: "jobs" | "events";
  readonly depth: number;
  readonly oldest_seconds: number;
}

const COUNTED_MAX = 10_000;

export function countOutboxes(target: Queryable): Promise<OutboxCount[]> {
  return target.query<OutboxCount>(
    `select outbox, count(since)::int as depth, coalesce(greatest(0, extract(epoch from now() - min(since))), 0)::float8 as oldest_seconds
     from (values ('jobs'), ('events')) known(outbox)
     left join lateral (
       (select dispatched_at as since from job
        where outbox = 'jobs' and state = 'queued' and stream_seq is null and dispatched_at is not null
        order by dispatched_at limit $1)
       union all
       (select occurred_at from event where outbox = 'events' and fanned_out_at is null order by occurred_at limit $1)
     ) waiting on true
     group by outbox`,
    [COUNTED_MAX],
  );
}
