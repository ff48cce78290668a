/** Error details of failed calls, stored beside their usage records. Successful calls have no row. */
import type { Code } from "#shared/base/errors.ts";

import type { Queryable } from "./client.ts";

/** Number of days for which a provider's error text is kept. */
export const FAILURE_TEXT_DAYS = 7;
/** Longest stored error text of a provider, in characters. */
export const FAILURE_TEXT_CHARS_MAX = 1_000;
/** Maximum number of failed attempts stored for one call; later attempts are omitted. */
export const FAILED_ATTEMPTS_MAX = 20;

export interface FailedAttempt {
  /** Source of the attempt, as `provider/model`. */
  readonly source: string;
  /** Class of the error, such as `misconfigured` or `timeout`. */
  readonly error: string;
  /** HTTP status of the provider's response; null if there was none. */
  readonly status: number | null;
  /** Time of the request to the source, in ISO 8601. */
  readonly started_at: string;
  readonly duration_ms: number;
}

export interface UsageFailure {
  readonly workspaceId: string;
  readonly jobId: string;
  readonly attempt: number;
  /** Error code that the caller received. */
  readonly code: Code;
  readonly attempts: readonly FailedAttempt[];
  /** Encrypted error text of the provider that was called last. */
  readonly text: string | null;
}

/** Failure as listed in a usage record. */
export interface FailureFacts {
  readonly code: string;
  readonly attempts: readonly FailedAttempt[];
  readonly text: string | null;
}

/** Stores the failures of calls. A later failure of the same call replaces the earlier one. */
export async function insertUsageFailures(target: Queryable, failures: readonly UsageFailure[]): Promise<void> {
  const rows = failures.map(({ workspaceId, jobId, attempt, code, attempts, text }) => {
    const kept = attempts.slice(0, FAILED_ATTEMPTS_MAX);
    return { workspace_id: workspaceId, job_id: jobId, attempt, code, attempts: kept, text };
  });
  await target.query(
    `insert into usage_failure (workspace_id, job_id, attempt, code, tries, text)
     select distinct on (workspace_id, job_id, attempt) workspace_id, job_id, attempt, code, attempts, text
     from jsonb_to_recordset($1::jsonb)
       as r(workspace_id uuid, job_id uuid, attempt smallint, code text, attempts jsonb, text text)
     on conflict (workspace_id, job_id, attempt) do update set
       code = excluded.code, tries = excluded.tries, text = excluded.text, at = excluded.at`,
    [JSON.stringify(rows)],
    "usage_failures",
  );
}

/** SQL expression for the failure of the usage record `u`, as JSON; null for a successful call. */
export const FAILURE = `(
  select jsonb_build_object('code', f.code, 'attempts', f.tries,
    'text', case when f.at > now() - interval '${FAILURE_TEXT_DAYS} days' then f.text end)
  from usage_failure f
  where f.workspace_id = u.workspace_id and f.job_id = u.job_id and f.attempt = u.attempt
    and u.status not in ('succeeded', 'cancelled')) as failure`;
