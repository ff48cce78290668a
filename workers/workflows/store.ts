/** Loads and stores the state of runs. Only rows that changed since this process last saw the run are read. */
import type { WorkflowDefinition } from "#schemas/generated/types.ts";
import type { Queryable } from "#shared/database/client.ts";
import type { RunMode } from "#shared/database/runs.ts";
import type { CallLabels } from "#shared/calls/labels.ts";
import { findDefinition } from "#shared/database/workflows.ts";
import { FairLimit } from "#shared/limits/fair-limit.ts";
import type { Lane } from "#shared/queue/subjects.ts";
import { readClaim } from "#shared/storage/claim-check.ts";
import type { Storage } from "#shared/storage/client.ts";
import { type CompiledDefinition, compileDefinition } from "#shared/workflows/definition.ts";
import { WORKFLOW_WORK_MAX } from "#shared/workflows/limits.ts";

import {
  isEnded,
  type ItemRun,
  type RunState,
  type SkippedReason,
  type StepError,
  type StepRun,
  type WorkPlace,
} from "./state.ts";

/** Maximum size of a worker's cache of runs, in bytes. */
const REMEMBERED_RUNS_BYTES_MAX = 67_108_864;

/** Properties of a run that are not part of its state. */
export interface RunFacts {
  readonly id: string;
  readonly workspaceId: string;
  readonly keyId: string;
  readonly memberId: string;
  readonly workflowId: string | null;
  readonly mode: RunMode;
  readonly lane: Lane;
  readonly depth: number;
  readonly parentId: string | null;
  /** Id of the root run, which a caller started; null if this run is the root. */
  readonly rootId: string | null;
  /** Number of calls and runs that may still be created under the root run. */
  readonly remainingWork: number;
  /** Ids of the spend limits of the run, its parents and its batch that apply to its work; null if there is none. */
  readonly limitIds: readonly string[] | null;
  readonly traceparent: string | null;
  /** Labels of all calls of the run; undefined for none. */
  readonly labels: CallLabels | undefined;
  /** Creation time, in Unix milliseconds. */
  readonly createdAtMs: number;
  readonly isCancelRequested: boolean;
  /** True if the next attempt of the run may begin now. */
  readonly isDue: boolean;
  /** True if a publisher must still be notified that the run has ended. */
  readonly shouldReportToPublisher: boolean;
  readonly frames: number;
  readonly hasStarted: boolean;
  readonly rev: number;
}

export interface StoredRun {
  readonly facts: RunFacts;
  readonly compiled: CompiledDefinition;
  readonly state: RunState;
  /** Approximate size of the state in memory, in bytes. */
  readonly bytes: number;
}

interface RunRecord {
  readonly id: string;
  readonly workspace_id: string;
  readonly key_id: string;
  readonly member_id: string;
  readonly workflow_id: string | null;
  readonly version: number | null;
  readonly definition: unknown;
  readonly mode: RunMode;
  readonly lane: Lane;
  readonly status: RunState["status"];
  readonly attempt: number;
  readonly max_attempts: number;
  readonly rev: number;
  readonly ends: number;
  /** Input as JSON. Input and `input_ref` are null if this process has the run in its cache. */
  readonly input: string | null;
  readonly input_ref: string | null;
  readonly cancel_requested: boolean;
  readonly parent_id: string | null;
  readonly root_id: string | null;
  /** Number of calls and runs counted for the root run, or for this run if it is the root. */
  readonly work: number;
  readonly depth: number;
  readonly limit_ids: readonly string[] | null;
  readonly is_due: boolean;
  readonly is_untold: boolean;
  readonly traceparent: string | null;
  readonly labels: CallLabels | null;
  readonly created_ms: number;
  readonly frames: number;
  readonly has_started: boolean;
  /** Changed rows as JSON. Null if none changed, or if they may be large and are therefore read separately. */
  readonly steps: readonly StepRecord[] | null;
  readonly items: readonly ItemRecord[] | null;
}

interface StepRecord {
  readonly step_id: string;
  readonly attempt: number;
  readonly seq: number;
  readonly run_attempt: number;
  readonly status: StepRun["status"];
  readonly skipped_reason: SkippedReason | null;
  readonly list: string | null;
  readonly error: StepError | null;
  readonly ended_seq: number | null;
  readonly is_delayed: boolean;
}

interface ItemRecord {
  readonly step_id: string;
  readonly attempt: number;
  readonly item: number;
  readonly status: ItemRun["status"];
  readonly output: string | null;
  readonly output_ref: string | null;
  readonly error: StepError | null;
  /** Charge in nano-credits, as text because JSON numbers are not exact. */
  readonly credits: string | null;
  readonly ended_seq: number | null;
  readonly is_kept: boolean;
}

const STEP_ROWS = `select step_id, attempt, seq, run_attempt, status, skipped_reason, list, error, ended_seq, due_at is not null as is_delayed
  from step_run where run_id = $1 and rev > $2 order by seq`;
const ITEM_ROWS = `select step_id, attempt, item, status, output, output_ref, error, credits::text as credits, ended_seq, is_kept
  from step_item where run_id = $1 and rev > $2 order by step_id, attempt, item`;
/**
 * Maximum size of a stored run that is read in one statement, in bytes. Parsing the text of many rows at once would block the event loop.
 */
const SMALL_BYTES_MAX = 65_536;
const rowsOf = (rows: string): string =>
  `case when rev > $2 and stored_bytes <= $3 then (select coalesce(json_agg(r), '[]') from (${rows}) r) end`;
const isKnown = "$2 >= 0";
const LOAD = `select id, workspace_id, key_id, member_id, workflow_id, version, case when not ${isKnown} then definition end as definition, mode,
    lane, status, attempt, max_attempts, rev, ends, case when not ${isKnown} then input end as input,
    case when not ${isKnown} then input_ref end as input_ref, root_id,
    coalesce((select root.work from run root where root.id = run.root_id), work) as work,
    cancel_requested or (parent_id is not null and run_is_over(parent_id)) as cancel_requested, parent_id, depth,
    limit_ids::text[] as limit_ids, due_at <= clock_timestamp() as is_due, told is false as is_untold, traceparent, labels,
    extract(epoch from created_at)::float8 * 1000 as created_ms, frames, started_at is not null as has_started,
    ${rowsOf(STEP_ROWS)} as steps, ${rowsOf(ITEM_ROWS)} as items
  from run where id = $1`;

interface Remembered {
  readonly rev: number;
  readonly compiled: CompiledDefinition;
  readonly inputs: RunState["inputs"];
  readonly stepRuns: readonly StepRun[];
  readonly bytes: number;
}

/** Maximum number of outputs that are read at once. */
const READS_MAX = 16;

export class RunStore {
  private readonly storage: Storage;
  /** Cached runs by id, the least recently used first. */
  private readonly remembered = new Map<string, Remembered>();
  private bytes = 0;

  constructor(storage: Storage) {
    this.storage = storage;
  }

  /**
   * Loads a run, including large inputs and outputs from the object store. A later save succeeds only if the run has not changed since.
   * @returns undefined if the run does not exist
   * @throws Error if an input or output cannot be read
   */
  async load(target: Queryable, runId: string): Promise<StoredRun | undefined> {
    const known = this.remembered.get(runId);
    const [row] = await target.query<RunRecord>(LOAD, [runId, known?.rev ?? -1, SMALL_BYTES_MAX], "load_run");
    if (!row) return undefined;
    if (known && known.rev > row.rev) {
      // The database was restored to an earlier state.
      this.forget(runId);
      return this.load(target, runId);
    }
    const from = known ?? (await this.begun(target, row));
    const found = from.rev === row.rev ? from : await this.changed(target, row, from);
    const state = stateOf(row, from.inputs, found.stepRuns);
    const stored = { facts: factsOf(row), compiled: from.compiled, state, bytes: found.bytes };
    this.remember(stored, row.rev);
    return stored;
  }

  /** Loads the definition and the input of a run, which never change, and returns them with an empty state. */
  private async begun(target: Queryable, row: RunRecord): Promise<Remembered> {
    const compiled = await compiledOf(target, row);
    const text = row.input_ref === null ? row.input : await readClaim(this.storage, row.input_ref);
    const inputs = text === null ? {} : (JSON.parse(text) as RunState["inputs"]);
    return { rev: -1, compiled, inputs, stepRuns: [], bytes: 1_000 + (text?.length ?? 0) };
  }

  /** Returns true for a cached run. Only the changes of such a run are read. */
  knows(runId: string): boolean {
    return this.remembered.has(runId);
  }

  /** Caches a run that was just written and committed. */
  remember({ facts, compiled, state, bytes }: StoredRun, rev: number): void {
    this.forget(facts.id);
    if (isEnded(state.status) || bytes > REMEMBERED_RUNS_BYTES_MAX) return;
    this.remembered.set(facts.id, { rev, compiled, inputs: state.inputs, stepRuns: state.stepRuns, bytes });
    this.bytes += bytes;
    for (const [id] of this.remembered) {
      if (this.bytes <= REMEMBERED_RUNS_BYTES_MAX) return;
      this.forget(id);
    }
  }

  private forget(runId: string): void {
    this.bytes -= this.remembered.get(runId)?.bytes ?? 0;
    this.remembered.delete(runId);
  }

  /** Returns the rows of a run. Changed rows come from the database, all others from the cache. */
  private async changed(
    target: Queryable,
    row: RunRecord,
    known: Remembered,
  ): Promise<Pick<Remembered, "stepRuns" | "bytes">> {
    const since = [row.id, known.rev] as const;
    const steps = row.steps ?? (await target.query<StepRecord>(STEP_ROWS, [...since], "load_step_runs"));
    const items = row.items ?? (await target.query<ItemRecord>(ITEM_ROWS, [...since], "load_step_items"));
    const byPlace = new Map(known.stepRuns.map((one) => [keyOf(one.stepId, one.attempt), one]));
    for (const row of steps) {
      const key = keyOf(row.step_id, row.attempt);
      byPlace.set(key, stepRunOf(row, byPlace.get(key)?.items ?? []));
    }
    const outputs = new Map<ItemRecord, unknown>();
    const places = new FairLimit({ max: READS_MAX });
    const texts = await Promise.all(
      items.map(async ({ output, output_ref: reference }) => {
        if (reference === null) return output;
        const { release } = await places.take({});
        return readClaim(this.storage, reference).finally(release);
      }),
    );
    let bytes = known.bytes + steps.reduce((sum, { list }) => sum + 500 + (list?.length ?? 0), 0);
    for (const [at, row] of items.entries()) {
      const text = texts[at] ?? null;
      if (text !== null) outputs.set(row, JSON.parse(text));
      bytes += 200 + (text?.length ?? 0);
    }
    const changedItems = Map.groupBy(items, (row) => keyOf(row.step_id, row.attempt));
    for (const [key, rows] of changedItems) {
      const one = byPlace.get(key);
      if (!one) continue;
      const all = [...one.items];
      for (const row of rows) all[row.item] = itemOf(row, outputs);
      byPlace.set(key, withOutput({ ...one, items: all }));
    }
    const stepRuns = [...byPlace.values()].map((run) => (isOpen(run) ? run : { ...run, items: run.items.map(closed) }));
    return { stepRuns, bytes };
  }
}

async function compiledOf(target: Queryable, row: RunRecord): Promise<CompiledDefinition> {
  const definition =
    row.definition ?? (await findDefinition(target, row.workflow_id ?? row.id, row.version ?? 0)) ?? undefined;
  if (definition === undefined) throw new Error(`run ${row.id} has no definition`);
  return compileDefinition(definition as WorkflowDefinition);
}

function factsOf(row: RunRecord): RunFacts {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    keyId: row.key_id,
    memberId: row.member_id,
    workflowId: row.workflow_id,
    mode: row.mode,
    lane: row.lane,
    depth: row.depth,
    parentId: row.parent_id,
    rootId: row.root_id,
    remainingWork: WORKFLOW_WORK_MAX - row.work,
    limitIds: row.limit_ids,
    traceparent: row.traceparent,
    labels: row.labels ?? undefined,
    createdAtMs: row.created_ms,
    isCancelRequested: row.cancel_requested,
    isDue: row.is_due,
    shouldReportToPublisher: row.is_untold,
    frames: row.frames,
    hasStarted: row.has_started,
    rev: row.rev,
  };
}

function stateOf(row: RunRecord, inputs: RunState["inputs"], stepRuns: readonly StepRun[]): RunState {
  return {
    id: row.id,
    status: row.status,
    attempt: row.attempt,
    maxAttempts: row.max_attempts,
    inputs,
    ends: row.ends,
    stepRuns,
  };
}

function stepRunOf(row: StepRecord, items: readonly ItemRun[]): StepRun {
  return withOutput({
    stepId: row.step_id,
    attempt: row.attempt,
    runAttempt: row.run_attempt,
    status: row.status,
    ...(row.skipped_reason == null ? {} : { skippedReason: row.skipped_reason }),
    ...(row.list === null ? {} : { list: JSON.parse(row.list) as unknown[] }),
    items,
    ...(row.error === null ? {} : { error: row.error }),
    ...(row.ended_seq === null ? {} : { endedSeq: row.ended_seq }),
    ...(row.is_delayed && row.status === "queued" ? { isDelayed: true as const } : {}),
  });
}

function itemOf(row: ItemRecord, outputs: ReadonlyMap<ItemRecord, unknown>): ItemRun {
  return {
    index: row.item,
    status: row.status,
    ...(outputs.has(row) ? { output: outputs.get(row) } : {}),
    ...(row.output_ref === null ? {} : { outputRef: row.output_ref }),
    ...(row.error === null ? {} : { error: row.error }),
    ...(row.credits === null ? {} : { creditsNano: BigInt(row.credits) }),
    ...(row.ended_seq === null ? {} : { endedSeq: row.ended_seq }),
    ...(row.is_kept ? { isKept: true as const } : {}),
  };
}

function isOpen({ status }: StepRun): boolean {
  return status === "queued" || status === "running";
}

/** Returns an item of an ended step. An item that never began becomes cancelled; its row is not written again. */
function closed(item: ItemRun): ItemRun {
  return item.status === "queued" ? { ...item, status: "cancelled" } : item;
}

/** Returns an attempt with its output. The output is not stored, because it is derived from the outputs of its items. */
function withOutput(run: StepRun): StepRun {
  if (run.status !== "succeeded") return run;
  const outputs = run.items.map(({ status, output }) => (status === "succeeded" ? (output ?? null) : null));
  return { ...run, output: run.list === undefined ? outputs[0] : outputs };
}

function keyOf(stepId: string, attempt: number): string {
  return `${stepId}/${attempt}`;
}

export function placeKey({ stepId, attempt, index }: WorkPlace): string {
  return `${stepId}/${attempt}/${index}`;
}
