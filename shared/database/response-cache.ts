/** Cache of responses to exactly repeated requests. Every query includes the workspace id, so that workspaces never share responses. */

import type { Queryable } from "./client.ts";

/** Maximum number of cached responses of a workspace. Above it, the oldest ones are deleted first. */
export const CACHED_ANSWERS_MAX = 2_000;

export interface CachedAnswer {
  /** Slug of the model that created the response. */
  readonly model: string;
  readonly body: Uint8Array;
  readonly isStream: boolean;
  /** Age of the cached response, in seconds. */
  readonly ageS: number;
}

/**
 * Finds a cached response that has not expired.
 * @param key hash of the request, as 64 hexadecimal digits
 */
export async function findAnswer(
  database: Queryable,
  workspaceId: string,
  key: string,
): Promise<CachedAnswer | undefined> {
  const rows = await database.query<CachedAnswer>(
    `select model, body, is_stream as "isStream", floor(extract(epoch from now() - created_at))::int as "ageS"
     from response_cache where workspace_id = $1 and key = decode($2, 'hex') and expires_at > now()`,
    [workspaceId, key],
    "find_answer",
  );
  return rows[0];
}

/** Stores a response of at most CACHED_ANSWER_BYTES_MAX bytes. Replaces an older response with the same key. */
export async function keepAnswer(
  database: Queryable,
  answer: {
    readonly workspaceId: string;
    readonly key: string;
    readonly model: string;
    readonly text: string;
    readonly isStream: boolean;
    readonly ttlS: number;
  },
  random: number = Math.random(),
): Promise<void> {
  await database.query(
    `insert into response_cache (workspace_id, key, model, body, is_stream, expires_at)
     values ($1, decode($2, 'hex'), $3, $4, $5, now() + $6 * interval '1 second')
     on conflict (workspace_id, key) do update set model = excluded.model, body = excluded.body,
       is_stream = excluded.is_stream, created_at = now(), expires_at = excluded.expires_at`,
    [answer.workspaceId, answer.key, answer.model, Buffer.from(answer.text), answer.isStream, answer.ttlS],
    "keep_answer",
  );
  // Counting on every insert would cost more than the few rows above the maximum.
  if (random < TRIM_SHARE) await trimAnswers(database, answer.workspaceId);
}

const TRIM_SHARE = 0.01;
const TRIM_BATCH = 1_000;

/** Deletes the oldest cached responses of a workspace above CACHED_ANSWERS_MAX. */
async function trimAnswers(database: Queryable, workspaceId: string): Promise<void> {
  await database.query(
    `delete from response_cache where workspace_id = $1 and key in (
       select key from response_cache where workspace_id = $1 order by created_at desc offset $2 limit $3)`,
    [workspaceId, CACHED_ANSWERS_MAX, TRIM_BATCH],
  );
}

/** Deletes up to `batch` expired responses. Returns their number. */
export async function dropExpiredAnswers(database: Queryable, batch: number): Promise<number> {
  const rows = await database.query(
    `delete from response_cache where (workspace_id, key) in (
       select workspace_id, key from response_cache where expires_at <= now() order by expires_at limit $1)
     returning 1`,
    [batch],
  );
  return rows.length;
}
