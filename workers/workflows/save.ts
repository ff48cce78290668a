/** Writes the changes of a pass of `advance` in one statement: rows, frames for readers of the stream, and the event. */
import { type Queryable, SQL, sqlState, type SqlValue } from "#shared/database/client.ts";
import { STEP_ROW_BYTES, RUN_ROW_BYTES } from "#shared/database/runs.ts";
import { WORKFLOW_WORK_MAX } from "#shared/workflows/limits.ts";

import { type Effect, isEnded, type ItemRun, type RunState, type StepRun, type WorkPlace } from "./state.ts";
import { placeKey, type StoredRun } from "./store.ts";

/** Work that begins: its job or run, and how long it may take. */
export interface WorkStart {
  readonly workId: string;
  readonly isRun: boolean;
  readonly timeoutMs: number;
}

export interface Change {
  readonly before: StoredRun;
  readonly after: RunState;
  readonly effects: readonly Effect[];
  /** By place. */
  readonly starts: ReadonlyMap<string, WorkStart>;
  /** Milliseconds until the next attempt of the run begins; null: there is none to come. */
  readonly nextAttemptMs: number | null;
  /** Calls and runs that the pass counted for the root. */
  readonly work: number;
  /** Storage limit of the run's workspace. */
  readonly storageBytesMax: number;
}

export interface Saved {
  readonly rev: number;
  /** Number of the last frame. */
  readonly frames: number;
  /** About those that the changed rows add in memory. */
  readonly bytes: number;
}

/**
 * Nothing is written where the run has changed since it was read, is to be cancelled by now, or where its root has come to more work
 * meanwhile (`overtaken`); and where the storage of the workspace does not hold what it would write (`full`).
 */
export async function saveRun(target: Queryable, change: Change): Promise<Saved | "overtaken" | "full"> {
  const { before, after, effects } = change;
  const rev = before.facts.rev + 1;
  const known = new Map(before.state.stepRuns.map((run) => [`${run.stepId}/${run.attempt}`, run]));
  const steps: object[] = [];
  const items: object[] = [];
  const frames: Frame[] = [];
  let grown = 0;
  if (effects.some((effect) => effect.kind === "event" && effect.event === "run.started")) {
    frames.push({ type: "run.started" });
  }
  for (const [seq, run] of after.stepRuns.entries()) {
    const was = known.get(`${run.stepId}/${run.attempt}`);
    if (!was || isChanged(was, run)) {
      const record = stepRecord(change, run, seq);
      steps.push(record);
      if (!was) grown += STEP_ROW_BYTES + bytesOf(record.list) + bytesOf(record.error);
    }
    frames.push(...framesOf(was, run));
    for (const item of run.items) {
      const old = was?.items[item.index];
      if (old && !isItemChanged(old, item)) continue;
      const record = itemRecord(change, run, item);
      items.push(record);
      grown += grownBy(old, item, record);
    }
  }
  if (isEnded(after.status) && !isEnded(before.state.status)) frames.push({ type: "run.finished" });
  const last = before.facts.frames + frames.length;
  const stepsText = JSON.stringify(steps);
  const itemsText = JSON.stringify(items);
  const events = effects.flatMap((effect) => (effect.kind === "event" ? [effect.event] : []));
  const output = after.output === undefined ? null : JSON.stringify(after.output);
  grown += bytesOf(output);
  const saved = await write(target, [
    before.facts.id,
    rev,
    after.status,
    after.attempt,
    after.ends,
    output,
    after.error === undefined ? null : JSON.stringify(after.error),
    creditsOf(after),
    change.nextAttemptMs,
    before.facts.frames,
    last,
    stepsText,
    itemsText,
    JSON.stringify(frames),
    events,
    before.facts.isCancelRequested,
    change.work,
    before.facts.rootId,
    WORKFLOW_WORK_MAX,
    grown,
    change.storageBytesMax,
  ]);
  return saved === "written" ? { rev, frames: last, bytes: stepsText.length + itemsText.length } : saved;
}

async function write(target: Queryable, values: SqlValue[]): Promise<"written" | "overtaken" | "full"> {
  try {
    const rows = await target.query(SAVE, values, "save_run");
    return rows.length > 0 ? "written" : "overtaken";
  } catch (error) {
    if (sqlState(error) === SQL.storageFull) return "full";
    throw error;
  }
}

// Locks: the root's run, the run, file_storage; a pass that counts no work and fills no block locks its own run alone.
const SAVE = `
  with root as (
    select id, work from run where $17::int > 0 and id = $18::uuid for no key update
  ), changed as (
    update run set rev = $2, status = $3, attempt = $4, ends = $5, output = coalesce($6, output), error = coalesce($7::json, error), credits = $8, frames = $11,
      due_at = case when $9::float8 is not null then clock_timestamp() + $9 * interval '1 millisecond' when $3 = 'queued' then due_at end,
      work = work + case when $18::uuid is null then $17 else 0 end, stored_bytes = stored_bytes + $20::bigint,
      recoveries = 0, progressed_at = clock_timestamp(),
      started_at = coalesce(started_at, case when $3 <> 'queued' and ($3 <> 'cancelled' or 'run.started' = any ($15::text[])) then clock_timestamp() end),
      ended_at = coalesce(ended_at, case when $3 in ('succeeded', 'failed', 'cancelled') then clock_timestamp() end)
    where id = $1 and rev = $2 - 1 and (not cancel_requested or $16)
      and ($17 = 0 or case when $18 is null then work + $17 <= $19::int else exists (select from root where root.work + $17 <= $19) end)
    returning workspace_id, workflow_id, attempt, max_attempts, credits, error, started_at, ended_at,
      storage_blocks(stored_bytes) - storage_blocks(stored_bytes - $20) as grown
  ), counted as (
    update run set work = root.work + $17 from root, changed where run.id = root.id
  ), steps as (
    insert into step_run (run_id, step_id, attempt, seq, run_attempt, type, status, skipped_reason, list, error, ended_seq, due_at, rev,
      started_at, ended_at)
    select $1, t.step_id, t.attempt, t.seq, t.run_attempt, t.type, t.status, t.skipped_reason, t.list, t.error, t.ended_seq,
      clock_timestamp() + t.due_ms * interval '1 millisecond', $2, case when t.has_started then clock_timestamp() end,
      case when t.has_ended then clock_timestamp() end
    from changed, json_to_recordset($12::json) t(step_id text, attempt smallint, seq int, run_attempt smallint, type text, status text,
      skipped_reason text, list text, error json, ended_seq int, due_ms float8, has_started boolean, has_ended boolean)
    on conflict (run_id, step_id, attempt) do update set status = excluded.status, skipped_reason = excluded.skipped_reason,
      error = excluded.error, ended_seq = excluded.ended_seq, due_at = excluded.due_at, rev = excluded.rev,
      started_at = coalesce(step_run.started_at, excluded.started_at), ended_at = coalesce(step_run.ended_at, excluded.ended_at)
  ), items as (
    insert into step_item (run_id, step_id, attempt, item, status, work_id, is_run, output, output_ref, error, credits, ended_seq, is_kept,
      late_at, rev, started_at, ended_at)
    select $1, t.step_id, t.attempt, t.item, t.status, t.work_id, t.is_run, t.output, t.output_ref, t.error, t.credits, t.ended_seq,
      t.is_kept, clock_timestamp() + t.timeout_ms * interval '1 millisecond', $2, case when t.timeout_ms is not null then clock_timestamp() end,
      case when t.has_ended then clock_timestamp() end
    from changed, json_to_recordset($13::json) t(step_id text, attempt smallint, item int, status text, work_id uuid, is_run boolean, output text,
      output_ref text, error json, credits bigint, ended_seq int, is_kept boolean, timeout_ms float8, has_ended boolean)
    on conflict (run_id, step_id, attempt, item) do update set status = excluded.status, work_id = coalesce(excluded.work_id, step_item.work_id),
      is_run = excluded.is_run or step_item.is_run, output = excluded.output, output_ref = excluded.output_ref, error = excluded.error,
      credits = excluded.credits, ended_seq = excluded.ended_seq, late_at = excluded.late_at, rev = excluded.rev,
      started_at = coalesce(step_item.started_at, excluded.started_at), ended_at = coalesce(step_item.ended_at, excluded.ended_at)
  ), told as (
    insert into run_frame (run_id, seq, type, step_id, attempt)
    select $1, $10 + row_number() over (), t.type, t.step_id, t.attempt
    from changed, json_to_recordset($14::json) t(type text, step_id text, attempt smallint)
  ), noted as (
  insert into event (workspace_id, workflow_id, type, metadata, occurred_at)
  select workspace_id, workflow_id, t.type, jsonb_strip_nulls(jsonb_build_object('runId', $1::uuid, 'workflowId', workflow_id)) || case
    when t.type = 'run.started' then jsonb_build_object('attempt', attempt)
    when t.type = 'run.retrying' then jsonb_build_object('attempt', attempt, 'maxAttempts', max_attempts)
    else jsonb_strip_nulls(jsonb_build_object('creditsUsed', trim_scale(credits / 1000000000.0),
      'durationMs', (extract(epoch from ended_at - started_at) * 1000)::bigint, 'error', error::jsonb)) end,
    clock_timestamp()
  from changed cross join unnest($15::text[]) with ordinality t(type, n) order by t.n
  )
  select case when grown > 0 then take_storage(workspace_id, grown, $21::bigint) end from changed`;

interface Frame {
  readonly type: string;
  readonly step_id?: string;
  readonly attempt?: number;
}

function* framesOf(was: StepRun | undefined, { stepId, attempt, status }: StepRun): Generator<Frame> {
  const place = { step_id: stepId, attempt };
  if (status === was?.status || status === "queued") return;
  if (was === undefined || was.status === "queued") {
    if (status !== "skipped" && status !== "cancelled") yield { type: "step.started", ...place };
  }
  if (status !== "running") yield { type: "step.finished", ...place };
}

function isChanged(was: StepRun, run: StepRun): boolean {
  return was.status !== run.status || was.isDelayed !== run.isDelayed;
}

/** An item that never began says what its step says: however many they are, they are not written again when that ends. */
function isItemChanged(was: ItemRun, item: ItemRun): boolean {
  if (was.status === "queued" && item.status === "cancelled") return false;
  return was.status !== item.status || was.creditsNano !== item.creditsNano;
}

function bytesOf(value: unknown): number {
  if (value === null || value === undefined) return 0;
  return Buffer.byteLength(typeof value === "string" ? value : JSON.stringify(value));
}

/** Bytes that the item adds: its row, an output here or in the object store, and the row of its run. */
function grownBy(was: ItemRun | undefined, item: ItemRun, record: ReturnType<typeof itemRecord>): number {
  let bytes = was ? 0 : STEP_ROW_BYTES;
  if (record.is_run) bytes += RUN_ROW_BYTES;
  if (was?.status !== item.status) bytes += bytesOf(record.output) + bytesOf(record.error);
  // An output that an earlier attempt gave stays in its place.
  if (was?.status !== item.status && item.outputRef !== undefined && !item.isKept) bytes += bytesOf(item.output);
  return bytes;
}

function stepRecord({ before, effects }: Change, run: StepRun, seq: number) {
  const { stepId, attempt } = run;
  const timer = effects.find(
    (effect) => effect.kind === "step_timer" && effect.stepId === stepId && effect.attempt === attempt,
  );
  return {
    step_id: stepId,
    attempt,
    seq,
    run_attempt: run.runAttempt,
    type: before.compiled.definition.steps.find(({ id }) => id === stepId)?.type ?? "",
    status: run.status,
    skipped_reason: run.skippedReason ?? null,
    list: run.list === undefined ? null : JSON.stringify(run.list),
    error: run.error ?? null,
    ended_seq: run.endedSeq ?? null,
    due_ms: timer?.kind === "step_timer" ? timer.seconds * 1_000 : null,
    has_started: run.status !== "queued" && run.status !== "skipped",
    has_ended: run.status !== "queued" && run.status !== "running",
  };
}

function itemRecord({ starts }: Change, { stepId, attempt }: StepRun, item: ItemRun) {
  const place: WorkPlace = { stepId, attempt, index: item.index };
  const start = item.status === "running" ? starts.get(placeKey(place)) : undefined;
  return {
    step_id: stepId,
    attempt,
    item: item.index,
    status: item.status,
    work_id: start?.workId ?? null,
    is_run: start?.isRun ?? false,
    output: item.output === undefined || item.outputRef !== undefined ? null : JSON.stringify(item.output),
    output_ref: item.outputRef ?? null,
    error: item.error ?? null,
    credits: item.creditsNano === undefined ? null : item.creditsNano.toString(),
    ended_seq: item.endedSeq ?? null,
    is_kept: item.isKept ?? false,
    timeout_ms: start?.timeoutMs ?? null,
    has_ended: item.status !== "queued" && item.status !== "running",
  };
}

/** Nano-credits of all work that has ended. */
function creditsOf({ stepRuns }: RunState): bigint {
  let sum = 0n;
  for (const { items } of stepRuns) for (const { creditsNano } of items) sum += creditsNano ?? 0n;
  return sum;
}
