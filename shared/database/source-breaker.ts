/** Shared memory of a pool's workers about open sources: only changes and trials come here, never calls. */

import { type Actor, actorJson } from "./audit-log.ts";
import type { Queryable } from "./client.ts";

/** Bounds of the rows that a pool's workers share. */
export const BREAKER_ROWS = {
  /** A trial whose worker died is given to another after this long. */
  probeLeaseMs: 30_000,
  /** A source that was open, and has had no call for this long since, is no longer used: its row is forgotten. */
  forgetMs: 3_600_000,
  /** Sources remembered at once; beyond it the one unused for longest is forgotten. */
  sourcesMax: 1_000,
} as const;

export interface OpenSource {
  readonly source: string;
  /** Milliseconds from now; not above 0 when its trial is due or under way. */
  readonly remaining_ms: number;
  /** The cooldown it is in, without jitter. */
  readonly cooldown_ms: number;
  /** Mark of the key that the source refused (workers/routing/key-marks.ts); null: it failed in another way. */
  readonly key_mark: string | null;
  /** HTTP status with which it refused the key. */
  readonly status: number | null;
}

const REMAINING = "(extract(epoch from open_until - now()) * 1000)::float8 as remaining_ms";

/** The pool's sources that are out of rotation, longest cooldown first, at most BREAKER_ROWS.sourcesMax. */
export function listOpenSources(target: Queryable, pool: string): Promise<OpenSource[]> {
  return target.query<OpenSource>(
    `select source, ${REMAINING}, cooldown_ms, key_mark, status from source_breaker where pool = $1 order by open_until desc limit $2`,
    [pool, BREAKER_ROWS.sourcesMax],
    "list_open_sources",
  );
}

/**
 * Notes that a source is open for `remainingMs` from now. What is noted already is only ever lengthened. A trial of this
 * worker has ended with it.
 */
export async function noteOpenSource(
  target: Queryable,
  row: {
    pool: string;
    source: string;
    remainingMs: number;
    cooldownMs: number;
    worker: string;
    mark?: string | undefined;
    status?: number | undefined;
  },
): Promise<void> {
  await target.query(
    `insert into source_breaker as b (pool, source, open_until, cooldown_ms, key_mark, status)
     values ($1, $2, now() + $3::float8 * interval '1 millisecond', $4, $6, $7)
     on conflict (pool, source) do update set
       key_mark = excluded.key_mark, status = excluded.status,
       open_until = greatest(b.open_until, excluded.open_until),
       cooldown_ms = greatest(b.cooldown_ms, excluded.cooldown_ms),
       probe_until = case when b.probe_by = $5 then null else b.probe_until end`,
    [row.pool, row.source, row.remainingMs, row.cooldownMs, row.worker, row.mark ?? null, row.status ?? null],
    "note_open_source",
  );
}

/**
 * Hands the fleet's one trial of a source to this worker, for BREAKER_ROWS.probeLeaseMs.
 * @returns true: it is ours; otherwise how the source stands, undefined when it is back in rotation
 */
export async function claimProbe(
  target: Queryable,
  ask: { pool: string; source: string; cooldownMs: number; worker: string },
): Promise<true | OpenSource | undefined> {
  // A row that is missing was never written, because Postgres was away: it is made up for here.
  const claimed = await target.query(
    `insert into source_breaker as b (pool, source, open_until, cooldown_ms, probe_by, probe_until)
     values ($1, $2, now(), $3, $4, now() + $5 * interval '1 millisecond')
     on conflict (pool, source) do update set probe_by = excluded.probe_by, probe_until = excluded.probe_until
     where b.open_until <= now() and (b.probe_until is null or b.probe_until <= now())
     returning 1 as claimed`,
    [ask.pool, ask.source, ask.cooldownMs, ask.worker, BREAKER_ROWS.probeLeaseMs],
    "breaker_claim",
  );
  if (claimed.length > 0) return true;
  const rows = await target.query<OpenSource>(
    `select source, ${REMAINING}, cooldown_ms, key_mark, status from source_breaker where pool = $1 and source = $2`,
    [ask.pool, ask.source],
    "breaker_standing",
  );
  return rows[0];
}

/** Gives this worker's trial back, without a verdict. */
export async function releaseProbe(
  target: Queryable,
  row: { pool: string; source: string; worker: string },
): Promise<void> {
  await target.query(
    "update source_breaker set probe_until = null where pool = $1 and source = $2 and probe_by = $3",
    [row.pool, row.source, row.worker],
    "breaker_release",
  );
}

/** Back in rotation, unless somebody lengthened the cooldown while the trial ran: then that is the newer evidence. */
export async function wakeSource(target: Queryable, row: { pool: string; source: string }): Promise<void> {
  await target.query(
    "delete from source_breaker where pool = $1 and source = $2 and open_until <= now()",
    [row.pool, row.source],
    "breaker_wake",
  );
}

/** Deletes the cooldown of a source that refused this key: the key is not in use any more. */
export async function forgetRefusedKey(
  target: Queryable,
  row: { pool: string; source: string; mark: string },
): Promise<void> {
  await target.query("delete from source_breaker where pool = $1 and source = $2 and key_mark = $3", [
    row.pool,
    row.source,
    row.mark,
  ]);
}

export interface DisabledSource extends OpenSource {
  readonly pool: string;
  readonly opened_at: Date;
}

/** Sources that are disabled, of all pools, at most BREAKER_ROWS.sourcesMax. */
export function listDisabledSources(target: Queryable): Promise<DisabledSource[]> {
  return target.query<DisabledSource>(
    `select pool, source, ${REMAINING}, cooldown_ms, key_mark, status, opened_at from source_breaker
     order by source, pool limit $1`,
    [BREAKER_ROWS.sourcesMax],
  );
}

/** Ends the cooldowns of a source in all pools, on record. @returns the pools in which it was disabled */
export async function resetSource(target: Queryable, source: string, actor: Actor): Promise<string[]> {
  const rows = await target.query<{ pool: string }>(
    `with changed as (delete from source_breaker where source = $1 returning pool),
     logged as (
       insert into audit_log (actor, action, subject, before) values ($2, 'source.reset', $1,
         jsonb_build_object('disabled_in', (select coalesce(jsonb_agg(pool order by pool), '[]') from changed)))
     )
     select pool from changed order by pool`,
    [source, actorJson(actor)],
  );
  return rows.map(({ pool }) => pool);
}

/** Sources that left the catalogue while they were open are never tried again. */
export async function forgetOldSources(target: Queryable): Promise<void> {
  await target.query("delete from source_breaker where open_until < now() - $1 * interval '1 millisecond'", [
    BREAKER_ROWS.forgetMs,
  ]);
}
