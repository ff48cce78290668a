/** Shared state of a pool's workers about open sources: only changes and probes are stored here, no calls. */

import { type Actor, actorJson } from "./audit-log.ts";
import type { Queryable } from "./client.ts";

/** Bounds of the rows shared by a pool's workers. */
export const BREAKER_ROWS = {
  /** Lease of a probe in milliseconds; after a crash of its worker, another one gets the probe. */
  probeLeaseMs: 30_000,
  /** Idle time after which the row of a source that was open is deleted, in milliseconds. */
  forgetMs: 3_600_000,
  /** Maximum sources; above it, the least recently used one is deleted. */
  sourcesMax: 1_000,
} as const;

export interface OpenSource {
  readonly source: string;
  /** Milliseconds from now; 0 or less while its probe is due or running. */
  readonly remaining_ms: number;
  /** Current cooldown in milliseconds, without jitter. */
  readonly cooldown_ms: number;
  /** Mark of the key that the source refused (workers/routing/key-marks.ts); null after other failures. */
  readonly key_mark: string | null;
  /** HTTP status of the refusal. */
  readonly status: number | null;
}

const REMAINING = "(extract(epoch from open_until - now()) * 1000)::float8 as remaining_ms";

/** Returns the pool's sources out of rotation, longest cooldown first, at most BREAKER_ROWS.sourcesMax. */
export function listOpenSources(target: Queryable, pool: string): Promise<OpenSource[]> {
  return target.query<OpenSource>(
    `select source, ${REMAINING}, cooldown_ms, key_mark, status from source_breaker where pool = $1 order by open_until desc limit $2`,
    [pool, BREAKER_ROWS.sourcesMax],
    "list_open_sources",
  );
}

/** Records that a source is open for `remainingMs` from now. A recorded cooldown is only ever extended. Ends a probe of this worker. */
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
 * Gives the single probe of a source to this worker, for BREAKER_ROWS.probeLeaseMs.
 * @returns true if granted; otherwise the state of the source, undefined if it is back in rotation
 */
export async function claimProbe(
  target: Queryable,
  ask: { pool: string; source: string; cooldownMs: number; worker: string },
): Promise<true | OpenSource | undefined> {
  // A missing row was never written because Postgres was unavailable; it is inserted here.
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

/** Gives this worker's probe back, without a verdict. */
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

/** Closes a circuit, unless another worker extended the cooldown during the probe, which is newer evidence. */
export async function wakeSource(target: Queryable, row: { pool: string; source: string }): Promise<void> {
  await target.query(
    "delete from source_breaker where pool = $1 and source = $2 and open_until <= now()",
    [row.pool, row.source],
    "breaker_wake",
  );
}

/** Deletes the cooldown of a source that refused this key, because the key is no longer used. */
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

/** Returns disabled sources of all pools, at most BREAKER_ROWS.sourcesMax. */
export function listDisabledSources(target: Queryable): Promise<DisabledSource[]> {
  return target.query<DisabledSource>(
    `select pool, source, ${REMAINING}, cooldown_ms, key_mark, status, opened_at from source_breaker
     order by source, pool limit $1`,
    [BREAKER_ROWS.sourcesMax],
  );
}

/** Ends the cooldowns of a source in all pools, with an audit row. @returns the pools in which it was disabled */
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

/** Deletes the rows of sources that left the catalogue while they were open. */
export async function forgetOldSources(target: Queryable): Promise<void> {
  await target.query("delete from source_breaker where open_until < now() - $1 * interval '1 millisecond'", [
    BREAKER_ROWS.forgetMs,
  ]);
}
