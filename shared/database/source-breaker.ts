/** Circuit-breaker state that the workers of a pool share. Only state changes and probes are stored, not calls. */

import { type Actor, actorJson } from "./audit-log.ts";
import type { Queryable } from "./client.ts";

/** Limits of the circuit-breaker rows that a pool's workers share. */
export const BREAKER_ROWS = {
  /** Lease of a probe, in milliseconds. If the probing worker crashes, another worker may probe after this time. */
  probeLeaseMs: 30_000,
  /** Idle time after which the row of a source whose circuit was open is deleted, in milliseconds. */
  forgetMs: 3_600_000,
  /** Maximum number of stored sources. Above it, the least recently used one is deleted. */
  sourcesMax: 1_000,
} as const;

export interface OpenSource {
  readonly source: string;
  /** Remaining cooldown, in milliseconds from now. 0 or less while the source's probe is due or running. */
  readonly remaining_ms: number;
  /** Current cooldown in milliseconds, without jitter. */
  readonly cooldown_ms: number;
  /** Hash that identifies the API key that the source rejected (workers/routing/key-marks.ts); null after other failures. */
  readonly key_mark: string | null;
  /** HTTP status with which the source rejected the key. */
  readonly status: number | null;
}

const REMAINING = "(extract(epoch from open_until - now()) * 1000)::float8 as remaining_ms";

/** Returns the pool's disabled sources, longest cooldown first, at most BREAKER_ROWS.sourcesMax. */
export function listOpenSources(target: Queryable, pool: string): Promise<OpenSource[]> {
  return target.query<OpenSource>(
    `select source, ${REMAINING}, cooldown_ms, key_mark, status from source_breaker where pool = $1 order by open_until desc limit $2`,
    [pool, BREAKER_ROWS.sourcesMax],
    "list_open_sources",
  );
}

/**
 * Records that a source's circuit is open for `remainingMs` from now. Never shortens a recorded cooldown. Also releases this worker's probe
 * of the source.
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
 * Claims the right to probe a source, which only one worker has at a time. The claim lasts for BREAKER_ROWS.probeLeaseMs.
 * @returns true if this worker may probe; otherwise the state of the source, or undefined if the source is enabled again
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

/** Releases this worker's probe without a result. */
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

/**
 * Closes the circuit of a source after a successful probe. Does nothing if another worker extended the cooldown during the probe, because
 * its failure is more recent.
 */
export async function wakeSource(target: Queryable, row: { pool: string; source: string }): Promise<void> {
  await target.query(
    "delete from source_breaker where pool = $1 and source = $2 and open_until <= now()",
    [row.pool, row.source],
    "breaker_wake",
  );
}

/** Ends the cooldown of a source that rejected an API key, because the key is no longer used. */
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

/** Returns the disabled sources of all pools, at most BREAKER_ROWS.sourcesMax. */
export function listDisabledSources(target: Queryable): Promise<DisabledSource[]> {
  return target.query<DisabledSource>(
    `select pool, source, ${REMAINING}, cooldown_ms, key_mark, status, opened_at from source_breaker
     order by source, pool limit $1`,
    [BREAKER_ROWS.sourcesMax],
  );
}

/** Ends the cooldowns of a source in all pools, and writes an audit row. @returns the pools in which the source was disabled */
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

/** Deletes the rows of sources that were removed from the catalogue while their circuit was open. */
export async function forgetOldSources(target: Queryable): Promise<void> {
  await target.query("delete from source_breaker where open_until < now() - $1 * interval '1 millisecond'", [
    BREAKER_ROWS.forgetMs,
  ]);
}
