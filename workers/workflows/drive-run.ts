/**
 * Executes one run: reads its events, calls `advance`, saves the result and performs its effects. The process may die after any statement.
 * The decision is stored in rows, so that the next worker performs the remaining effects.
 */
import type { NatsConnection } from "nats";

import type { Caller } from "#shared/access/authenticate.ts";
import {
  cancelJobs,
  type EndedWork,
  findDueSteps,
  findEndedWork,
  findOpenWork,
  giveUpRun,
} from "#shared/database/run-work.ts";
import { requestRunCancel } from "#shared/database/runs.ts";
import { ApiError } from "#shared/base/errors.ts";
import { failpoint } from "#shared/base/failpoint.ts";
import type { JobRequest } from "#shared/jobs/admission.ts";
import { paced } from "#shared/config/pace.ts";
import { notifyRun } from "#shared/queue/run-notice.ts";
import { runSubject } from "#shared/queue/subjects.ts";
import { reportToPublisher } from "#shared/workflows/published-run.ts";
import { kindOf } from "#shared/workflows/step-work.ts";

import { advance, type Advanced, resolveWork } from "./advance.ts";
import { countEnds } from "./count-ends.ts";
import { readEnds } from "./ends.ts";
import type { RunPermits } from "./permits.ts";
import { beginStep, type Saved, saveRun, type WorkStart } from "./save.ts";
import {
  callerOf,
  dispatchFirst,
  isRunStep,
  prepareChatRequest,
  type StartContext,
  type Started,
  startWork,
  timeoutMsOf,
  workIdOf,
  type WorkToStart,
} from "./start.ts";
import { type Effect, isEnded, type RunEvent, type WorkPlace } from "./state.ts";
import { placeKey, type RunStore, type StoredRun } from "./store.ts";

/** Maximum number of ended jobs and runs that one pass handles. Further ones wait for the next pass. */
const ENDS_MAX = 256;
/** Time in which another worker may still create the job of a started call, in milliseconds. */
const ABSENT_MS = paced(3_000);

/**
 * Executes passes of a run until it has ended, or must wait for running work or a timer.
 * @param isFullCheck true to look also for calls and sub-workflows that are late, due or never begun. It is true for a notice that was
 * delivered before, and for a notice from the janitor.
 * @param takePermit called before each further pass, so that other runs are executed meanwhile
 * @throws Error on an infrastructure failure; the caller must call the function again
 */
export async function driveRun(
  context: WorkflowContext,
  runId: string,
  isFullCheck: boolean,
  takePermit: () => Promise<void>,
): Promise<void> {
  let refusals: RunEvent[] = [];
  for (let isFirst = true; ; isFirst = false) {
    if (!isFirst) await takePermit();
    const [seen, ended] = await loadRunAndEndedWork(context, runId);
    if (!seen) return;
    const ends = await readEnds(context.storage, seen, ended);
    const finding = callerOf(context, seen.facts);
    const [pass, caller] = await Promise.all([
      takePass(context, finding, seen, [...refusals, ...ends], isFullCheck && isFirst),
      finding,
    ]);
    if (pass === "full") {
      await giveUpRun(context.database, runId, STORAGE_FULL);
      continue;
    }
    if (pass === "overtaken") {
      // Random delay, so that two workers with the same run do not keep overtaking each other.
      await Bun.sleep(Math.random() * OVERTAKEN_MS);
      continue;
    }
    const started = await carryOut(context, caller, pass);
    const own = new Set(refusals);
    refusals = [
      ...pass.deferredEvents.filter((event) => own.has(event)),
      ...started.flatMap((one) => (one === undefined || one === "refused" ? [] : [one])),
    ];
    const hasMore = pass.isCut || started.some((one) => one !== undefined) || ended.length === ENDS_MAX;
    if (!hasMore) return;
  }
}

/** Loads the run and its ended jobs and sub-workflows. A new run has none, so no query for them is needed. */
async function loadRunAndEndedWork(
  { store, database }: Pick<WorkflowContext, "store" | "database">,
  runId: string,
): Promise<[run: StoredRun | undefined, ended: EndedWork[]]> {
  if (store.knows(runId)) return Promise.all([store.load(database, runId), findEndedWork(database, runId, ENDS_MAX)]);
  const run = await store.load(database, runId);
  return [run, run && !isNew(run) ? await findEndedWork(database, runId, ENDS_MAX) : []];
}

function isNew({ facts }: StoredRun): boolean {
  return facts.rev === 0;
}

const OVERTAKEN_MS = 10;
const STORAGE_FULL = {
  code: "storage_limit_exceeded",
  message: "The run would exceed the workspace's storage limit; delete files or workflows first.",
} as const;

interface Pass {
  readonly before: StoredRun;
  readonly after: StoredRun;
  readonly effects: readonly Effect[];
  readonly saved: Saved | undefined;
  /** Call that was admitted together with the pass. Dispatch number 0 means that the call waits for capacity of the queue. */
  readonly admitted?: { readonly job: JobRequest; readonly dispatch: number } | undefined;
  /** Places whose call or sub-workflow was started but has no job or run. It is started again. */
  readonly absent: readonly WorkPlace[];
  /** True if further calls or sub-workflows can begin in the next pass. */
  readonly isCut: boolean;
  /** Events for the next pass. Events that come from rows are not included, because they are read again. */
  readonly deferredEvents: readonly RunEvent[];
}

/**
 * Executes one pass of a run. Returns `overtaken` if the run has changed meanwhile, and `full` if the storage of the workspace is full. In
 * both cases nothing is written.
 */
async function takePass(
  context: WorkflowContext,
  caller: Promise<Caller | undefined>,
  before: StoredRun,
  incomingEvents: readonly RunEvent[],
  isAsked: boolean,
): Promise<Pass | "overtaken" | "full"> {
  const { database, store, config } = context;
  const { id, isCancelRequested, isDue } = before.facts;
  // A pass after the end of a work skips the check for late and never begun work; notices of the janitor request it.
  const isFullCheck = (isAsked || incomingEvents.length === 0) && !isNew(before);
  const [open, due] = isFullCheck
    ? await Promise.all([findOpenWork(database, id), findDueSteps(database, id)])
    : [[], []];
  const isOver = isEnded(before.state.status) || isCancelRequested;
  const events: RunEvent[] = [];
  // Work that completed before the cancel counts as completed; work that ended because of it, as cancelled.
  const isCancelled = (event: RunEvent): boolean => event.kind === "work_ended" && event.end.status === "cancelled";
  events.push(...incomingEvents.filter((event) => !isCancelled(event)));
  if (isCancelRequested && !isEnded(before.state.status)) events.push({ kind: "cancel" });
  events.push(...incomingEvents.filter(isCancelled));
  for (const { step_id: stepId, attempt } of due) events.push({ kind: "step_due", stepId, attempt });
  for (const one of open) {
    const place = { stepId: one.step_id, attempt: one.attempt, index: one.item };
    if (one.is_late) events.push({ kind: "work_late", place });
    // Work that was never begun and will not begin.
    if (one.is_absent && isOver)
      events.push({ kind: "work_ended", place, end: { status: "cancelled" }, creditsNano: 0n });
  }
  if (isDue) events.push({ kind: "run_due", attempt: before.state.attempt });
  events.push({ kind: "tick" });
  const advanced = advance(before.compiled, before.state, events, before.facts.remainingWork);
  const { state, effects, isCut, deferredEvents, work } = advanced;
  const absent = isOver
    ? []
    : open
        .filter(({ is_absent, is_late, age_ms }) => is_absent && !is_late && age_ms > ABSENT_MS)
        .map(({ step_id: stepId, attempt, item: index }) => ({ stepId, attempt, index }));
  if (!hasChanged(before, state))
    return { before, after: before, effects: [], saved: undefined, absent, isCut, deferredEvents };
  const change = {
    before,
    after: state,
    effects,
    starts: startsOf(context, before, effects),
    nextAttemptMs: nextAttemptMs(effects),
    work,
    storageBytesMax: config.storageBytesMax,
  };
  const isBeginning = effects.some(({ kind }) => kind === "start_work");
  const first = isBeginning ? await prepareOnlyWork(context, await caller, before, advanced) : undefined;
  const begun = first && (await beginStep(database, first, change));
  const saved = begun?.saved ?? (await saveRun(database, change));
  if (saved === "overtaken" || saved === "full") return saved;
  const after = { ...before, state, bytes: before.bytes + saved.bytes };
  store.remember(after, saved.rev);
  countEnds(context.metrics, before, state);
  failpoint("run.saved");
  const admitted = first && begun ? { job: first, dispatch: begun.dispatch } : undefined;
  return { before, after, effects, saved, admitted, absent, isCut, deferredEvents };
}

/**
 * Returns the only call that a pass begins, so that it is admitted together with the pass. Undefined if the pass begins none or several, or
 * if the call is not a plain chat call.
 */
export async function prepareOnlyWork(
  context: Parameters<typeof prepareChatRequest>[0],
  caller: Caller | undefined,
  before: StoredRun,
  { effects, state, work }: Advanced,
): Promise<JobRequest | undefined> {
  const [effect, ...others] = effects.filter(({ kind }) => kind !== "event");
  if (!caller || effect?.kind !== "start_work" || others.length > 0) return undefined;
  // The root run, which counts this work, must be locked first.
  if ((work > 0 && before.facts.rootId !== null) || !canContinueInWorker({ ...before, state })) return undefined;
  const step = stepOf(before, effect.place.stepId);
  try {
    return await prepareChatRequest(context, caller, { ...effect, facts: before.facts, step, isOnlyWork: true });
  } catch (error) {
    // The separate start of the call reports the refusal.
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

function hasChanged({ state: before }: StoredRun, after: StoredRun["state"]): boolean {
  if (before.status !== after.status || before.attempt !== after.attempt || before.ends !== after.ends) return true;
  if (before.stepRuns.length !== after.stepRuns.length) return true;
  return after.stepRuns.some((run, at) => {
    const was = before.stepRuns[at];
    if (was?.status !== run.status || was.isDelayed !== run.isDelayed) return true;
    return run.items.some(
      (item, index) => item.status !== was.items[index]?.status || item.creditsNano !== was.items[index]?.creditsNano,
    );
  });
}

function stepOf({ compiled }: StoredRun, stepId: string) {
  const found = compiled.definition.steps.find(({ id }) => id === stepId);
  if (!found) throw new Error(`the definition has no step ${stepId}`);
  return found;
}

export function startsOf(
  { catalogue }: Pick<WorkflowContext, "catalogue">,
  run: StoredRun,
  effects: readonly Effect[],
): ReadonlyMap<string, WorkStart> {
  const starts = new Map<string, WorkStart>();
  for (const effect of effects) {
    if (effect.kind !== "start_work") continue;
    const step = stepOf(run, effect.place.stepId);
    const model = step.type === "model" ? catalogue.current().models.get(step.model ?? "") : undefined;
    const pool = model ? kindOf(model, {}).pool : step.type === "model" || isRunStep(step) ? undefined : "capability";
    starts.set(placeKey(effect.place), {
      workId: workIdOf(run.facts.id, effect.place),
      isRun: isRunStep(step),
      timeoutMs: timeoutMsOf(step, pool, run.facts.lane),
    });
  }
  return starts;
}

/** Returns the delay of the next attempt in milliseconds: 5 s · 2ⁿ ± 20 %, at most five minutes. Null if there is no next attempt. */
function nextAttemptMs(effects: readonly Effect[]): number | null {
  const timer = effects.find((effect) => effect.kind === "run_timer");
  if (!timer) return null;
  return paced(Math.min(250_000, 5_000 * 2 ** (timer.attempt - 2)) * (0.8 + 0.4 * Math.random()));
}

async function carryOut(context: WorkflowContext, caller: Caller | undefined, pass: Pass): Promise<readonly Started[]> {
  const { before, after, effects, saved, admitted, absent } = pass;
  const { facts } = before;
  const isOnlyWork = canContinueInWorker(after);
  const works = [
    ...effects.flatMap((effect): WorkToStart[] =>
      effect.kind === "start_work" && !admitted
        ? [{ ...effect, facts, step: stepOf(after, effect.place.stepId), isOnlyWork }]
        : [],
    ),
    ...absent.flatMap((place) => {
      const work = resolveWork(after.compiled, after.state, place);
      return work ? [{ ...work, facts, step: stepOf(after, place.stepId) }] : [];
    }),
  ];
  if (saved) notifyReaders(context, after, saved);
  if (admitted) await dispatchFirst(context, admitted.job, admitted.dispatch);
  await cancelWork(context, pass);
  const started = await Promise.all(
    works.map(async (work) => {
      const giveBack = await context.starts.take(facts.workspaceId);
      return startWork(context, caller, work).finally(giveBack);
    }),
  );
  for (const work of works) {
    if (isRunStep(work.step)) {
      notifyRun(context.replies, {
        id: workIdOf(facts.id, work.place),
        workspace_id: facts.workspaceId,
        lane: facts.lane,
      });
    }
  }
  // Also after an earlier end: its worker may have died before the notification, and late work may have added costs.
  if (isEnded(after.state.status)) {
    if (!isEnded(before.state.status)) failpoint("run.ended");
    await notifyRunEnd(context, after);
  }
  return started;
}

/**
 * Maximum size of a run that a worker keeps in memory during a call, in bytes. There are as many such runs as slots; larger runs are loaded
 * again.
 */
const CONTINUED_BYTES_MAX = 262_144;

/**
 * Returns true if a worker may keep the run in memory during a call. Exactly one call must be running, and no other may be able to begin.
 */
export function canContinueInWorker({ state: { stepRuns }, bytes }: Pick<StoredRun, "state" | "bytes">): boolean {
  if (bytes > CONTINUED_BYTES_MAX) return false;
  const isOpen = ({ status }: { readonly status: string }): boolean => status === "running" || status === "queued";
  const open = stepRuns.filter(isOpen);
  return open.length === 1 && open[0]?.list === undefined && open[0]?.items.filter(isOpen).length === 1;
}

/** Notifies readers of the run's stream, and callers that wait for the end of the run, that a pass was saved. */
export function notifyReaders(
  { replies }: Pick<WorkflowContext, "replies">,
  { facts, state }: StoredRun,
  { frames }: Saved,
): void {
  const notice = { frames, is_over: isEnded(state.status) };
  if (!replies.isClosed()) replies.publish(runSubject(facts.id), JSON.stringify(notice));
}

/** Notifies the parent run and the publisher that a run has ended. */
export async function notifyRunEnd(
  context: Pick<WorkflowContext, "database" | "storage" | "replies">,
  { facts }: StoredRun,
): Promise<void> {
  if (facts.parentId !== null) {
    notifyRun(context.replies, { id: facts.parentId, workspace_id: facts.workspaceId, lane: facts.lane });
  }
  if (facts.shouldReportToPublisher) await reportToPublisher({ ...context, connection: context.replies }, facts.id);
}

async function cancelWork(context: WorkflowContext, { after, effects }: Pass): Promise<void> {
  const places = effects.flatMap((effect) => (effect.kind === "cancel_work" ? [effect.place] : []));
  const { facts } = after;
  const jobs: string[] = [];
  for (const place of places) {
    const id = workIdOf(facts.id, place);
    if (!isRunStep(stepOf(after, place.stepId))) {
      jobs.push(id);
      continue;
    }
    const children = await requestRunCancel(context.database, id);
    jobs.push(...(children ?? []));
    notifyRun(context.replies, { id, workspace_id: facts.workspaceId, lane: facts.lane });
  }
  if (jobs.length === 0) return;
  await cancelJobs(context.database, jobs);
  for (const id of jobs) context.cancel(id);
}

/** Dependencies of the code that executes runs. */
export interface WorkflowContext extends StartContext {
  readonly store: RunStore;
  /** Limits how many calls and runs the process reads and admits at once. */
  readonly starts: RunPermits;
  /** Publishes notices of runs, and messages to readers of runs. */
  readonly replies: Pick<NatsConnection, "publish" | "isClosed">;
  /** Cancels a job at the worker that executes it. */
  readonly cancel: (jobId: string) => void;
}
