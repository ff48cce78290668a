/**
 * Continues a run in the worker of its last call. One statement ends the step, saves the next pass of the run and admits the next call. The
 * same worker executes that call immediately. This applies only if nothing else of the run is running, and the run ends or continues with a
 * plain chat call. The pool `workflow` executes all other passes.
 */
import { commonNow } from "#shared/base/clock.ts";
import type { ClaimedJob } from "#shared/database/jobs.ts";
import { failpoint } from "#shared/base/failpoint.ts";
import type { JobRequest } from "#shared/jobs/admission.ts";
import type { JobEnd } from "#shared/jobs/end.ts";

import type { JobOwner, RunContinuation, StepContinuation, StepContinued } from "../job.ts";

import { advance, type Advanced } from "./advance.ts";
import { countEnds } from "./count-ends.ts";
import {
  canContinueInWorker,
  prepareOnlyWork,
  startsOf,
  notifyRunEnd,
  notifyReaders,
  type WorkflowContext,
} from "./drive-run.ts";
import { readEnds } from "./ends.ts";
import { endStep, type Saved, type StepEnd } from "./save.ts";
import { callerOf, workIdOf } from "./start.ts";
import { isEnded, type WorkPlace } from "./state.ts";
import type { StoredRun } from "./store.ts";

type Context = Pick<
  WorkflowContext,
  "config" | "database" | "catalogue" | "storage" | "log" | "metrics" | "replies" | "store" | "publishers"
>;

export function openRunContinuation(context: Context): RunContinuation {
  return {
    open(job) {
      if (job.run_id === null || job.work["goes_on"] !== true) return undefined;
      return new OpenStep(context, job, context.store.load(context.database, job.run_id));
    },
  };
}

class OpenStep implements StepContinuation {
  private readonly context: Context;
  private readonly job: ClaimedJob;
  /** Run of the step. It is loaded while the provider works on the call. */
  private readonly run: Promise<StoredRun | undefined>;

  constructor(context: Context, job: ClaimedJob, run: Promise<StoredRun | undefined>) {
    this.context = context;
    this.job = job;
    this.run = run;
    // A failed load is reported when the step ends, if it succeeds.
    run.catch(() => undefined);
  }

  async end(ending: JobEnd, owner: JobOwner, retryMs: number): Promise<StepContinued | undefined> {
    try {
      const step = await this.prepare(ending);
      return step && (await this.write(step, owner, retryMs));
    } catch (error) {
      const { log } = this.context;
      log.warn({ err: error, job_id: this.job.id }, "a run could not be continued by the worker of its step");
      return undefined;
    }
  }

  /**
   * Computes the next pass of the run after its call has ended. Undefined if the run cannot continue in this worker.
   * @throws Error on an infrastructure failure
   */
  private async prepare(ending: JobEnd): Promise<Prepared | undefined> {
    const { context, job } = this;
    const { usage, result, state } = ending;
    if (state !== "completed" || usage.status !== "succeeded" || usage.usedNano === null) return undefined;
    if (result === null || !("text" in result) || ending.files) return undefined;
    const run = await this.run;
    if (!run || run.facts.isCancelRequested || !canContinueInWorker(run)) return undefined;
    const place = placeOf(run, job.id);
    if (!place) return undefined;
    const events = await readEnds(context.storage, run, [
      {
        step_id: place.stepId,
        attempt: place.attempt,
        item: place.index,
        work_id: job.id,
        kind: "chat",
        state: "completed",
        credits: usage.usedNano,
        result: result.text,
        result_ref: null,
        error: null,
      },
    ]);
    const advanced = advance(run.compiled, run.state, [...events, { kind: "tick" }], run.facts.remainingWork);
    if (advanced.isCut || advanced.deferredEvents.length > 0 || advanced.work > 0) return undefined;
    const end = { end: ending, usedNano: usage.usedNano, resultText: result.text };
    if (isEnded(advanced.state.status)) return { run, advanced, end, next: null };
    // Checked now, because the key may have been revoked while the provider worked.
    const caller = await callerOf(context, run.facts);
    const next = await prepareOnlyWork(context, caller, run, advanced);
    return next && { run, advanced, end, next };
  }

  private async write(step: Prepared, owner: JobOwner, retryMs: number): Promise<StepContinued | undefined> {
    const { context, job } = this;
    const { database, store, config, log } = context;
    const { run, advanced, end, next } = step;
    const change = {
      before: run,
      after: advanced.state,
      effects: advanced.effects,
      starts: startsOf(context, run, advanced.effects),
      nextAttemptMs: null,
      work: 0,
      storageBytesMax: config.storageBytesMax,
    };
    const saved = await endStep(database, { ...end, next, owner }, change, {
      retryMs,
      onRetry: (error, attempts) =>
        log.warn({ err: error, job_id: job.id, attempts }, "retrying to write a step's end"),
    });
    if (!saved) return undefined;
    failpoint("step.continued");
    const after = runAfter(step, saved);
    store.remember(after, saved.rev);
    countEnds(context.metrics, run, advanced.state);
    notifyReaders(context, after, saved);
    if (next === null) {
      failpoint("run.ended");
      // The janitor repeats a missing notification of the publisher.
      await notifyRunEnd(context, after).catch((error: unknown) =>
        log.warn({ err: error, run_id: run.facts.id }, "the end of a run could not be reported"),
      );
      return { takenNano: end.usedNano };
    }
    const claimed = claimedOf(next);
    const following = canContinueInWorker(after) ? new OpenStep(context, claimed, Promise.resolve(after)) : undefined;
    return { takenNano: end.usedNano, next: { job: claimed, step: following } };
  }
}

interface Prepared {
  readonly run: StoredRun;
  readonly advanced: Advanced;
  readonly end: Pick<StepEnd, "end" | "usedNano" | "resultText">;
  /** Next job; null if the run has ended. */
  readonly next: JobRequest | null;
}

/** Returns the step, attempt and item to which the job belongs. Undefined unless the job is the only running work of the run. */
function placeOf({ facts, state }: StoredRun, jobId: string): WorkPlace | undefined {
  const run = state.stepRuns.find(({ status }) => status === "running");
  const item = run?.items.find(({ status }) => status === "running");
  if (!run || !item) return undefined;
  const place = { stepId: run.stepId, attempt: run.attempt, index: item.index };
  return workIdOf(facts.id, place) === jobId ? place : undefined;
}

function runAfter({ run, advanced }: Prepared, { rev, frames, bytes }: Saved): StoredRun {
  return {
    ...run,
    facts: { ...run.facts, rev, frames, hasStarted: true },
    state: advanced.state,
    bytes: run.bytes + bytes,
  };
}

/** Returns the job as advance_run creates it. It is claimed by this worker, and no request to its provider has been sent. */
function claimedOf({ id, workspaceId, work, request, lifeMs, step, traceparent }: JobRequest): ClaimedJob {
  return {
    id,
    workspace_id: workspaceId,
    epoch: 1,
    attempt: 1,
    dispatch: 1,
    deadline: new Date(commonNow() + lifeMs),
    claims: 1,
    work: work as Record<string, unknown>,
    request: request && "text" in request ? request.text : null,
    request_ref: request && "reference" in request ? request.reference : null,
    provider_job: null,
    is_unknown: false,
    is_hidden: false,
    cancel_requested: false,
    publisher_key: null,
    reply: null,
    run_id: step?.runId ?? null,
    traceparent: traceparent ?? null,
  };
}
