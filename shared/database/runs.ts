/** Creates, finds, lists and cancels workflow runs for callers. Execution is in workers/workflows. */
import type { Lane } from "#shared/queue/subjects.ts";

import type { Led } from "./batch-work.ts";
import type { Queryable } from "./client.ts";
import type { WorkflowReader } from "./workflows.ts";
import { CONTENDED_WAIT_MS } from "./retry.ts";

/** Maximum size of a step's output that is stored in its row, in bytes. Larger outputs are in the object store. */
export const STEP_OUTPUT_TEXT_BYTES_MAX = 65_536;

/**
 * Bytes that each row adds to the used storage of its workspace, in addition to its texts; about the size of the row. A run's bytes are
 * counted in one `storage_blocks` row.
 */
export const RUN_ROW_BYTES = 4_096;
export const STEP_ROW_BYTES = 256;

/** Maximum number of open runs of one workspace. Runs started by steps do not count. */
export const ACTIVE_RUNS_MAX = 5_000;

export const RUN_MODES = ["sync", "stream", "async"] as const;
export type RunMode = (typeof RUN_MODES)[number];
export const RUN_STATUSES = ["queued", "running", "succeeded", "failed", "cancelled"] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

export interface RunRow {
  readonly id: string;
  readonly workspace_id: string;
  readonly workflow_id: string | null;
  readonly version: number | null;
  readonly mode: RunMode;
  readonly lane: Lane;
  /** Status that callers see: `cancelled` as soon as cancellation is requested. */
  readonly status: RunStatus;
  readonly attempt: number;
  readonly max_attempts: number;
  /** Input as JSON text, like `output`. */
  readonly input: string | null;
  /** Object-store reference of an input that is too large for the row. */
  readonly input_ref: string | null;
  readonly output: string | null;
  readonly error: { readonly code: string; readonly message: string; readonly stepId: string } | null;
  readonly parent_id: string | null;
  readonly fingerprint: string | null;
  readonly publisher_key: string | null;
  readonly reply: string | null;
  /** True after the result was reported to the publisher; null if the run has no publisher. */
  readonly told: boolean | null;
  /** Cost of the run's ended jobs and child runs, in nano-credits. */
  readonly credits: bigint;
  /** Maximum cost of the run, in nano-credits; null for no maximum. */
  readonly max_nano: bigint | null;
  /** Sequence number of the run's last stream frame. */
  readonly frames: number;
  readonly created_at: Date;
  readonly started_at: Date | null;
  readonly ended_at: Date | null;
}

const RUN_COLUMNS = `id, workspace_id, workflow_id, version, mode, lane,
  case when cancel_requested and status in ('queued', 'running') then 'cancelled' else status end as status,
  attempt, max_attempts, input, input_ref, output, error, parent_id, fingerprint, publisher_key, reply, told, credits, max_nano, frames, created_at, started_at, ended_at`;

/** A run to create. */
export interface NewRun {
  readonly id: string;
  readonly workspaceId: string;
  readonly keyId: string;
  readonly memberId: string;
  readonly workflow: { readonly id: string; readonly version: number } | null;
  /** Inline definition as JSON text; null for a stored workflow. */
  readonly definition: string | null;
  readonly mode: RunMode;
  readonly lane: Lane;
  readonly maxAttempts: number;
  /** Input as JSON text. */
  readonly input: string | null;
  /** Object-store reference of a large input. `inputBytes` is the size of any input. */
  readonly inputRef?: string;
  readonly inputBytes: number;
  readonly parent?: {
    readonly id: string;
    readonly stepId: string;
    readonly attempt: number;
    readonly index: number;
  };
  readonly depth: number;
  /** Labels of all calls of the run, see shared/calls/labels.ts. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** Maximum cost of the run and its nested runs, in nano-credits. */
  readonly maxNano?: bigint | undefined;
  /** Id of the batch with `max_credits` whose line the run executes. Limits of parent runs apply anyway. */
  readonly limitedBatch?: string | undefined;
  readonly idempotencyKey?: string;
  readonly fingerprint?: string;
  /** Publisher of the batch message that requested the run. The message is counted in the rate-limit window when the run begins. */
  readonly publisher?: RunPublisher;
  readonly traceparent?: string;
}

interface RunPublisher {
  /** Idempotency key of the message: the publisher's name for the run. */
  readonly key: string | null;
  readonly reply: string | null;
  /** Rate limit of the publisher's key, in calls per 60 s. */
  readonly limit: number | null;
  /**
   * True if the publisher's message has waited for longer than a rate-limit window. Such messages may use a reserved share of the window.
   */
  readonly starves: boolean;
  /** Batch whose line the run executes, and the epoch in which the calling process leads this batch. Undefined outside of batches. */
  readonly batch?: Led;
}

/**
 * Result of creating a run. `begun`: the run was created. `known`: the id exists already, or its idempotency key was used within a day.
 * `over`: the parent run has ended. `gone`: the definition does not exist. `crowded`: the workspace has the maximum of open runs. `full`:
 * the workspace's storage is full. `waits`: the rate-limit window is full; the message must wait for `waitMs`. `superseded`: another
 * process leads the batch of the line.
 */
export type RunVerdict = "begun" | "known" | "over" | "gone" | "crowded" | "full" | "waits" | "superseded";

export interface RunBegun {
  readonly verdict: RunVerdict;
  /**
   * Milliseconds until the rate-limit window has capacity. Negative: the window is full, but the run was created with the share reserved
   * for messages that waited too long.
   */
  readonly waitMs: number;
}

/**
 * Creates a run, if the limits of its workspace allow it.
 * @param storageBytesMax storage limit of the workspace, in bytes
 */
export async function insertRun(target: Queryable, run: NewRun, storageBytesMax: number): Promise<RunBegun> {
  const definitionBytes = run.definition === null ? 0 : Buffer.byteLength(run.definition);
  // The row of a step's run was counted for its parent run.
  const storedBytes = (run.parent ? 0 : RUN_ROW_BYTES) + definitionBytes + run.inputBytes;
  const [row] = await target.query<{ verdict: RunVerdict; wait_ms: bigint | null; is_made: boolean }>(
    `with admitted as (
       select * from admit_run($1::uuid, $2::uuid, $4::uuid, $17::text, $12::uuid, $5::uuid, $6::int, $22::bigint, $23::int, $24::bigint,
         $28::boolean, $29::int, $30::int, $31::uuid, $32::int)
     ), made as (
       insert into run (id, workspace_id, key_id, member_id, workflow_id, version, definition, mode, lane, max_attempts, input,
         parent_id, parent_step, parent_attempt, parent_index, depth, idempotency_key, fingerprint, traceparent, input_ref, input_bytes,
         stored_bytes, root_id, publisher_key, reply, told, max_nano, limit_ids, labels)
       select $1, $2, $3, $4, $5, $6, $7::json, $8, $9, $10, $11, $12::uuid, $13, $14::smallint, $15::int, $16::smallint, $17, $18, $19, $20,
         $21::int, $22, coalesce(parent.root_id, parent.id), $25, $26, $27::boolean,
         $33::bigint, nullif(coalesce(parent.limit_ids, '{}') || array_remove(array[work_limit_id($34::uuid), case when $33::bigint is not null then work_limit_id($1::uuid) end], null), '{}'),
         $35::jsonb
       from admitted left join run parent on parent.id = $12::uuid where verdict = 'begun'
       on conflict do nothing returning 1
     )
     select verdict, wait_ms, exists (select from made) as is_made,
       (select count(set_spend_limit($2, work_limit_id($1), 'run', null, null, array[null, null, null, $33::bigint], null, null, '{}')) from made
        where $33::bigint is not null) as limits
     from admitted`,
    [
      run.id,
      run.workspaceId,
      run.keyId,
      run.memberId,
      run.workflow?.id ?? null,
      run.workflow?.version ?? null,
      run.definition,
      run.mode,
      run.lane,
      run.maxAttempts,
      run.inputRef === undefined ? run.input : null,
      run.parent?.id ?? null,
      run.parent?.stepId ?? null,
      run.parent?.attempt ?? null,
      run.parent?.index ?? null,
      run.depth,
      run.idempotencyKey ?? null,
      run.fingerprint ?? null,
      run.traceparent ?? null,
      run.inputRef ?? null,
      run.inputBytes,
      storedBytes,
      ACTIVE_RUNS_MAX,
      storageBytesMax,
      run.publisher?.key ?? null,
      run.publisher?.reply ?? null,
      run.publisher ? false : null,
      run.publisher?.starves ?? null,
      run.publisher?.limit ?? null,
      CONTENDED_WAIT_MS,
      run.publisher?.batch?.id ?? null,
      run.publisher?.batch?.epoch ?? null,
      run.maxNano ?? null,
      run.limitedBatch ?? null,
      run.labels === undefined ? null : JSON.stringify(run.labels),
    ],
    "insert_run",
  );
  if (!row) throw new Error("a run that was to begin was told nothing");
  const verdict = row.verdict === "begun" && !row.is_made ? "known" : row.verdict;
  return { verdict, waitMs: Number(row.wait_ms ?? 0n) };
}

/**
 * Returns a member's run with this idempotency key. If the run is older than `keepMs` milliseconds, removes its key and returns undefined.
 * The key can then be used again.
 */
export async function findIdempotentRun(
  target: Queryable,
  { workspaceId, memberId }: Pick<WorkflowReader, "workspaceId" | "memberId">,
  key: string,
  keepMs: number,
): Promise<RunRow | undefined> {
  const rows = await target.query<RunRow & { is_fresh: boolean }>(
    `update run set idempotency_key = case when created_at > now() - $3 * interval '1 millisecond' then idempotency_key end
     where workspace_id = $1 and idempotency_key = $2 and member_id = $4
     returning ${RUN_COLUMNS}, idempotency_key is not null as is_fresh`,
    [workspaceId, key, keepMs, memberId],
  );
  return rows.find(({ is_fresh }) => is_fresh);
}

/**
 * SQL condition for the runs that a reader may see: own runs, or the runs of all members. $1 is the workspace, $2 the member. $3 is true if
 * all runs are visible.
 */
const VISIBLE = "workspace_id = $1 and ($3 or member_id = $2)";
const readerValues = ({ workspaceId, memberId, seesAll }: WorkflowReader) => [workspaceId, memberId, seesAll] as const;

/**
 * Returns the SQL condition for runs whose workflow is in a list of tools. A run started by a step matches if the caller's run does,
 * because steps may use any tool.
 * @param list parameter with the list; null for no restriction
 */
export const ranByTools = (list: string): string =>
  `(${list}::text[] is null or exists (select from run root where root.id = coalesce(run.root_id, run.id)
     and (root.workflow_id::text = any(${list}) or (root.workflow_id is not null and 'workflow.*' = any(${list})))))`;
export const toolValues = (tools: ReadonlySet<string> | undefined): readonly string[] | null =>
  tools ? [...tools] : null;

/** Finds a run. Returns undefined for a run that the reader may not see. */
export async function findRun(target: Queryable, reader: WorkflowReader, id: string): Promise<RunRow | undefined> {
  const rows = await target.query<RunRow>(
    `select ${RUN_COLUMNS} from run where ${VISIBLE} and id = $4 and ${ranByTools("$5")}`,
    [...readerValues(reader), id, toolValues(reader.tools)],
    "find_run",
  );
  return rows[0];
}

/** Finds a run for the service itself, without a reader. */
export async function findRunById(target: Queryable, id: string): Promise<RunRow | undefined> {
  const rows = await target.query<RunRow>(`select ${RUN_COLUMNS} from run where id = $1`, [id], "find_run_by_id");
  return rows[0];
}

export interface RunFilter {
  readonly workflowId: string | null;
  readonly parentId: string | null;
  readonly status: RunStatus | null;
  readonly mode: RunMode | null;
  readonly limit: number;
  readonly offset: number;
}

/** Lists runs, newest first. Includes runs started by steps only if their parent is given. */
export async function listRuns(
  target: Queryable,
  reader: WorkflowReader,
  { workflowId, parentId, status, mode, limit, offset }: RunFilter,
): Promise<{ readonly rows: readonly RunRow[]; readonly total: number }> {
  const from = `(select *, case when cancel_requested and status in ('queued', 'running') then 'cancelled' else status end as shown
      from run where ${VISIBLE} and ${ranByTools("$8")} and case when $5::uuid is null then parent_id is null else parent_id = $5 end) run
    where ($4::uuid is null or workflow_id = $4) and ($6::text is null or shown = $6) and ($7::text is null or mode = $7)`;
  const values = [...readerValues(reader), workflowId, parentId, status, mode, toolValues(reader.tools)];
  const [rows, counted] = await Promise.all([
    target.query<RunRow>(`select ${RUN_COLUMNS} from ${from} order by created_at desc, id desc limit $9 offset $10`, [
      ...values,
      limit,
      offset,
    ]),
    target.query<{ total: number }>(`select count(*)::int as total from ${from}`, values),
  ]);
  return { rows, total: counted[0]?.total ?? 0 };
}

/**
 * Requests cancellation of a run and of its open jobs. No further steps begin.
 * @returns ids of these jobs; undefined if the run had ended, or its cancellation was already requested
 */
export async function requestRunCancel(target: Queryable, id: string): Promise<readonly string[] | undefined> {
  const rows = await target.query<{ jobs: string[] | null }>(
    `with asked as (
       update run set cancel_requested = true, due_at = null
       where id = $1 and status in ('queued', 'running') and not cancel_requested
       returning id
     ), jobs as (
       update job set cancel_requested = true from asked
       where job.run_id = asked.id and job.state in ('queued', 'running')
       returning job.id
     )
     select (select array_agg(id) from jobs) as jobs from asked`,
    [id],
  );
  const [row] = rows;
  return row && (row.jobs ?? []);
}

export interface StepRunRow {
  readonly run_id: string;
  readonly step_id: string;
  readonly attempt: number;
  readonly seq: number;
  readonly type: string;
  readonly status: "queued" | "running" | "succeeded" | "failed" | "skipped" | "cancelled";
  readonly skipped_reason: "condition_false" | "dependency_failed" | null;
  readonly is_list: boolean;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly started_at: Date | null;
  readonly ended_at: Date | null;
  /** Cost of the step's ended jobs and child runs, in nano-credits. */
  readonly credits: bigint;
  /** Ids of the child runs, in the order of the step's items. */
  readonly child_run_ids: readonly string[] | null;
  /**
   * Outputs as JSON texts, in the order of the step's items; null for missing and for large outputs. Null instead of the list if all
   * outputs together are too large.
   */
  readonly outputs: readonly (string | null)[] | null;
  /** Object-store references of large outputs, in the same order as `outputs`; null for the other outputs. */
  readonly output_refs: readonly (string | null)[] | null;
}

/**
 * Returns the steps of these runs.
 * @param only limits the result to one attempt of one step
 * @param outputBytesMax maximum total of a step's outputs, in bytes; larger ones are omitted
 */
export function findStepRuns(
  target: Queryable,
  runIds: readonly string[],
  only: { readonly stepId: string; readonly attempt: number } | null = null,
  outputBytesMax: number = STEP_OUTPUT_TEXT_BYTES_MAX,
): Promise<StepRunRow[]> {
  return target.query<StepRunRow>(
    `select s.run_id, s.step_id, s.attempt, s.seq, s.type, s.status, s.skipped_reason, s.list is not null as is_list, s.error, s.started_at,
            s.ended_at, coalesce(i.credits, 0)::bigint as credits, i.child_run_ids, i.outputs, i.output_refs
     from step_run s
     left join lateral (
       select sum(credits) as credits,
              array_agg(work_id::text order by item)
                filter (where is_run and exists (select from run c where c.id = work_id)) as child_run_ids,
              case when coalesce(sum(octet_length(output)), 0) <= $4 then array_agg(output order by item) end as outputs,
              array_agg(output_ref order by item) as output_refs
       from step_item where run_id = s.run_id and step_id = s.step_id and attempt = s.attempt) i on true
     where s.run_id = any ($1) and ($2::text is null or (s.step_id = $2 and s.attempt = $3))
     order by s.seq`,
    [[...runIds], only?.stepId ?? null, only?.attempt ?? null, outputBytesMax],
    "find_step_runs",
  );
}

export interface FrameRow {
  readonly seq: number;
  readonly type: "run.started" | "step.started" | "step.finished" | "run.finished";
  readonly step_id: string | null;
  readonly attempt: number | null;
}

/** Returns stream frames of a run after sequence number `after`, in order. */
export function findFrames(target: Queryable, runId: string, after: number, max: number): Promise<FrameRow[]> {
  return target.query<FrameRow>(
    "select seq, type, step_id, attempt from run_frame where run_id = $1 and seq > $2 order by seq limit $3",
    [runId, after, max],
    "find_frames",
  );
}
