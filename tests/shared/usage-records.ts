/** Usage for tests: calls that are held and settled as they are, and moved to another time where a test is about time. */
import { plainArray } from "#shared/database/arrays.ts";
import type { Queryable } from "#shared/database/client.ts";
import { newId } from "#shared/base/ids.ts";

import { admitGroup, settleGroup } from "./accounts.ts";

export interface Spend {
  readonly workspaceId: string;
  /** Nano-credits; null: the call failed and took nothing. */
  readonly nano: bigint | null;
  readonly tokens?: number;
  readonly keyId?: string;
  readonly model?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly kind?: string;
  /** End of the call; now unless given. */
  readonly at?: Date;
}

/** Ids of the calls. Each has its hold, its settle in the ledger and its usage record. */
export async function spend(target: Queryable, calls: readonly Spend[]): Promise<string[]> {
  const made = calls.map((call) => ({ ...call, jobId: newId() }));
  for (const { jobId, workspaceId, nano } of made) {
    const [verdict] = await admitGroup(target, [{ workspaceId, jobId, amount: nano ?? 1n }], { waitMs: 10_000 });
    if (verdict !== 0) throw new Error(`a call of the test was refused: ${verdict}`);
  }
  for (const { jobId, nano, tokens = 0 } of made) {
    const [taken] = await settleGroup(target, [{ jobId, used: nano, tokens }], { waitMs: 10_000 });
    if (taken !== (nano ?? 0n)) throw new Error(`a call of the test was not settled: ${taken}`);
  }
  await target.query(
    `update usage_record u
     set key_id = coalesce(c.key_id, u.key_id), model = coalesce(c.model, u.model), ended_at = coalesce(c.at, u.ended_at),
       day = least(u.day, (c.at at time zone 'utc')::date), labels = coalesce(c.labels::jsonb, u.labels),
       kind = coalesce(c.kind, u.kind)
     from unnest($1::uuid[], $2::uuid[], $3::text[], $4::timestamptz[], $5::text[], $6::text[]) c(job_id, key_id, model, at, labels, kind)
     where u.job_id = c.job_id`,
    [
      plainArray(made.map(({ jobId }) => jobId)),
      plainArray(made.map(({ keyId }) => keyId ?? null)),
      made.map(({ model }) => model ?? null),
      made.map(({ at }) => at?.toISOString() ?? null),
      made.map(({ labels }) => (labels === undefined ? null : JSON.stringify(labels))),
      made.map(({ kind }) => kind ?? null),
    ],
  );
  // The day's tokens are not those of calls that ended the day before.
  await target.query(
    `update balance b
     set day_tokens = b.day_tokens - moved.tokens
     from (
       select u.workspace_id, sum(u.tokens) as tokens
       from usage_record u join balance o on o.workspace_id = u.workspace_id
       where u.job_id = any ($1::uuid[]) and u.day < o.day
       group by 1) moved
     where b.workspace_id = moved.workspace_id`,
    [plainArray(made.map(({ jobId }) => jobId))],
  );
  return made.map(({ jobId }) => jobId);
}

/**
 * Rolls up until every record that is committed by now is in the sums. One turn draws the border and a later one goes up to it, as soon as
 * no older transaction runs on the whole server, which other tests use too.
 */
export async function rollUpAll(target: Queryable, turn: () => Promise<unknown>): Promise<void> {
  // Text, since a Date knows no microseconds.
  const [row] = await target.query<{ floor: string }>(
    "select greatest(clock_timestamp(), to_timestamp((last_value + 1) / 1e6))::text as floor from usage_floor",
  );
  const isBehind = "select 1 from usage_rollup where until < $1::timestamptz";
  do await turn();
  while ((await target.query(isBehind, [row?.floor ?? ""])).length > 0);
}

/** Makes a call the step of a run of a stored workflow. */
export async function makeStep(
  target: Queryable,
  workspaceId: string,
  jobId: string,
): Promise<{ readonly workflowId: string; readonly runId: string }> {
  const [memberId, workflowId, runId] = [newId(), newId(), newId()];
  await target.query(
    "insert into member (id, workspace_id, name, role) values ($1::uuid, $2, $1::uuid::text, 'owner')",
    [memberId, workspaceId],
  );
  await target.query("insert into workflow (id, workspace_id, name, created_by) values ($1, $2, 'a workflow', $3)", [
    workflowId,
    workspaceId,
    memberId,
  ]);
  await target.query(
    `insert into run (id, workspace_id, key_id, member_id, workflow_id, mode, lane, max_attempts)
     values ($1, $2, $3, $4, $5, 'sync', 'live', 1)`,
    [runId, workspaceId, newId(), memberId, workflowId],
  );
  await target.query(
    `insert into job (id, workspace_id, pool, lane, kind, modality, state, deadline, work, run_id, ended_at)
     values ($1, $2, 'chat', 'live', 'chat', 'text', 'completed', now(), '{}', $3, now())`,
    [jobId, workspaceId, runId],
  );
  return { workflowId, runId };
}
