/**
 * Runs the pool `workflow`. Each lane consumes notices that a run can continue. Many notices are read in advance, because the notices of
 * one workspace may fill the head of the queue. Notices of the same run are merged, and workspaces take turns.
 */
import { randomBytes } from "node:crypto";

import type { Publishers } from "#shared/access/authenticate.ts";
import { openAvailableCapabilities } from "#shared/calls/capabilities/available.ts";
import { countRecovery, giveUpRun } from "#shared/database/run-work.ts";
import { serviceSecret } from "#shared/database/service-secrets.ts";
import { findWorkspace } from "#shared/database/workspaces.ts";
import { isUuid, newId } from "#shared/base/ids.ts";
import { createJobAdmission } from "#shared/jobs/admission.ts";
import { createJobDispatcher } from "#shared/jobs/dispatcher.ts";
import type { Lifecycle } from "#shared/process/lifecycle.ts";
import { paced } from "#shared/config/pace.ts";
import { createPublisher } from "#shared/queue/publish.ts";
import { openPullLoop } from "#shared/queue/pull-loop.ts";
import type { Delivery } from "#shared/queue/puller.ts";
import {
  cancelSubject,
  durableName,
  type Lane,
  LANES,
  streamName,
  workspaceOfSubject,
} from "#shared/queue/subjects.ts";
import { LANE_SETTINGS } from "#shared/queue/topology.ts";
import { createJobTokens } from "#shared/secrets/job-token.ts";
import { RUN_STALLED_MS } from "#shared/workflows/limits.ts";

import type { WorkerContext } from "../context.ts";
import { openLeases } from "../runner/leases.ts";
import { nakDelayMs, type Runner } from "../runner/runner.ts";
import { driveRun, type WorkflowContext } from "./drive-run.ts";
import { PermitsOver, RunPermits } from "./permits.ts";
import type { RunStore } from "./store.ts";

/** Shares of the process's slots for concurrent passes of runs, by lane. A pass takes milliseconds, mostly in the database. */
export const WORKFLOW_SHARES = { liveShare: 1 / 8, batchShare: 1 / 8 } as const;

/**
 * Maximum number of calls and sub-workflows that are started at once. Most of the time, a start waits for a database connection of the
 * process.
 */
const STARTS_MAX = 16;

type Opened = Pick<
  WorkerContext,
  "bodyKeeper" | "config" | "log" | "metrics" | "database" | "storage" | "catalogue" | "probes" | "work" | "replies"
>;

/** Starts the runners of workflow runs for both lanes. */
export async function startWorkflows(
  context: Opened & {
    readonly lifecycle: Pick<Lifecycle, "onStop">;
    readonly store: RunStore;
    readonly publishers: Publishers;
    slots(lane: Lane): number;
  },
): Promise<readonly Runner[]> {
  const adminWorkspaceId = await adminWorkspaceOf(context);
  const { database, catalogue, log, metrics, lifecycle, work, replies } = context;
  const availableCapabilities = await openAvailableCapabilities({ database, catalogue, log });
  lifecycle.onStop("capabilities offered", () => availableCapabilities.close());
  const dispatcher = createJobDispatcher({ database, publisher: createPublisher(work, "worker"), metrics, log });
  lifecycle.onStop("dispatches", () => dispatcher.idle());
  const tokens = createJobTokens(await serviceSecret(database, "cancels", randomBytes(32)));
  const own: WorkflowContext = {
    ...context,
    availableCapabilities,
    adminWorkspaceId,
    jobs: createJobAdmission({ database, metrics }),
    dispatcher,
    starts: new RunPermits(STARTS_MAX),
    cancel(jobId) {
      if (!replies.isClosed()) replies.publish(cancelSubject(jobId), tokens.of(jobId));
    },
  };
  const runs = new RunLoop(own);
  return LANES.map((lane) => startWorkflowRunner({ context: own, runs, work, lane, slots: context.slots(lane) }));
}

/**
 * Returns the id of the workspace that `SLUICE_ADMIN_WORKSPACE` names; undefined without the setting. Called once when the process starts.
 * @throws Error when no workspace has that id or name
 */
async function adminWorkspaceOf({
  config,
  database,
}: Pick<Opened, "config" | "database">): Promise<string | undefined> {
  const { adminWorkspace: nameOrId } = config;
  if (nameOrId === undefined) return undefined;
  const row = await findWorkspace(database, nameOrId);
  if (row !== undefined) return row.id;
  throw new Error(
    `SLUICE_ADMIN_WORKSPACE names no workspace: ${nameOrId}; give the id or the name of one, made by admin workspace create`,
  );
}

const ASKED_MAX = 256;
/** Maximum number of run notices in memory: as many as four workspaces with full queues have. */
const HELD_MAX = 8_192;
const DECODER = new TextDecoder();

function startWorkflowRunner(options: {
  context: WorkflowContext;
  /** Executes the runs of all lanes of the process. */
  runs: RunLoop;
  work: WorkerContext["work"];
  lane: Lane;
  slots: number;
}): Runner {
  const { context, runs, work, lane, slots } = options;
  const log = context.log.child({ pool: "workflow", lane });
  const settings = LANE_SETTINGS[lane];
  // A pass mostly waits for statements. More concurrent passes than connections would wait elsewhere, in no fair order.
  const permits = new RunPermits(Math.min(slots, context.config.databasePoolMax));
  const handle = async (message: Delivery): Promise<void> => {
    const startedAt = performance.now();
    if (message.deliveries === 1) {
      const waitedMs = Math.max(0, Date.now() - message.storedAtMs);
      context.metrics.queueWaitSeconds.observe(waitedMs / 1_000, "workflow", lane);
    }
    let result = "failed";
    try {
      result = await carry(message);
      message.ack();
    } catch (error) {
      const isOver = error instanceof PermitsOver;
      if (isOver) result = "repeat";
      if (!isOver) log.error({ err: error, deliveries: message.deliveries }, "a run could not be continued");
      // A notice that fails permanently is dropped, because the janitor finds runs without progress.
      if (message.deliveries >= settings.maxDeliver - 1) message.ack();
      else message.nak(isOver ? 0 : paced(nakDelayMs(message.deliveries)));
    } finally {
      context.metrics.jobs.inc("workflow", result);
      context.metrics.jobSeconds.at("workflow").observe((performance.now() - startedAt) / 1_000);
    }
  };

  const carry = async (message: Delivery): Promise<string> => {
    const value = readMessage(message);
    if (value === undefined) {
      log.error({ subject: message.subject }, "dropped an unreadable message of the queue");
      return "dropped";
    }
    const { workspace_id: workspaceId, isFullCheck, isStalled } = value;
    // The worker of an earlier delivery may have died.
    const isFull = isFullCheck || isStalled || message.deliveries > 1;
    await runs.drive(value.run_id, { workspaceId, permits, isFullCheck: isFull, isStalled });
    return "run";
  };

  context.metrics.workerSlots.set(slots, "workflow", lane);
  const loop = openPullLoop({
    connection: work,
    role: "worker",
    stream: streamName("workflow"),
    durable: durableName("workflow", lane),
    log,
    beatMs: settings.beatMs,
    capacity(held) {
      // A blocked event loop cannot extend ack deadlines, so it pulls nothing.
      const isBlocked = context.metrics.eventLoopLag() * 1_000 > settings.ackWaitMs / 4;
      return isBlocked ? 0 : Math.min(HELD_MAX - held, ASKED_MAX);
    },
    handle,
  });
  // The leases contain no job; their beat reports the number of concurrent runs of this worker.
  const leases = openLeases({ context, worker: newId(), pool: "workflow", lane, slots });
  return {
    running: () => loop.held(),
    async stop(_hurry) {
      await loop.stop();
      permits.end();
      await loop.finish();
      await leases.close();
    },
  };
}

interface RunNotice {
  readonly run_id: string;
  readonly workspace_id: string;
  readonly isFullCheck: boolean;
  readonly isStalled: boolean;
}

function readMessage(message: Delivery): RunNotice | undefined {
  let value: unknown;
  try {
    value = JSON.parse(DECODER.decode(message.data));
  } catch {
    return undefined;
  }
  const {
    workspace_id: workspaceId,
    run_id: runId,
    is_full_check: isFullCheck,
    is_stalled: isStalled,
  } = (value ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof workspaceId !== "string" || workspaceId !== workspaceOfSubject(message.subject)) return undefined;
  if (typeof runId !== "string" || !isUuid(runId)) return undefined;
  return { run_id: runId, workspace_id: workspaceId, isFullCheck: isFullCheck === true, isStalled: isStalled === true };
}

interface DriveRequest {
  readonly workspaceId: string;
  /** Permits of the lane on which the notice arrived. */
  readonly permits: RunPermits;
  /** True to look also for calls and sub-workflows that are late, due or never begun. */
  readonly isFullCheck: boolean;
  readonly isStalled: boolean;
}

interface Going {
  /** True if a pass of the run was requested and has not begun yet. */
  isAsked: boolean;
  isFullCheck: boolean;
  isStalled: boolean;
  work: Promise<void>;
}

/** Executes the runs of this process. Each run has one pass at a time. All notices during a pass cause only one more pass. */
class RunLoop {
  private readonly context: WorkflowContext;
  private readonly going = new Map<string, Going>();

  constructor(context: WorkflowContext) {
    this.context = context;
  }

  /**
   * Resolves after the pass of a run. Resolves immediately if an earlier notice has already requested the pending pass, because that
   * notice's delivery covers both.
   */
  drive(runId: string, request: DriveRequest): Promise<void> {
    const known = this.going.get(runId);
    if (known) {
      known.isFullCheck ||= request.isFullCheck;
      known.isStalled ||= request.isStalled;
      if (known.isAsked) return Promise.resolve();
      known.isAsked = true;
      return known.work;
    }
    const one: Going = {
      isAsked: true,
      isFullCheck: request.isFullCheck,
      isStalled: request.isStalled,
      work: Promise.resolve(),
    };
    this.going.set(runId, one);
    one.work = this.carry(runId, one, request);
    return one.work;
  }

  private async carry(runId: string, one: Going, { workspaceId, permits }: DriveRequest): Promise<void> {
    let giveBack = (): void => undefined;
    const takePermit = async (): Promise<void> => {
      giveBack();
      giveBack = () => undefined;
      giveBack = await permits.take(workspaceId);
    };
    try {
      do {
        await takePermit();
        const { isFullCheck, isStalled } = one;
        Object.assign(one, { isAsked: false, isFullCheck: false, isStalled: false });
        const pass = () => driveRun(this.context, runId, isFullCheck, takePermit);
        await (isStalled ? recoverRun(this.context, runId, pass) : pass());
      } while (one.isAsked);
    } finally {
      // Synchronous, so that no notice can arrive between the last pass and the removal.
      this.going.delete(runId);
      giveBack();
    }
  }
}

// Runs without progress. A run that repeatedly kills its workers, or cannot be read, must not be retried forever.

/** Weight of a worker crash relative to the weight of a failure. Ten crashes end a run, or a hundred failures at one per minute. */
const DEATH = 10;
const FAILURE = 1;
const RECOVERIES_MAX = 100;

/**
 * Executes a run that made no progress, or ends it. The attempt is counted as a worker crash in advance, because a crashed worker cannot
 * count it.
 * @throws any error of `pass`
 */
async function recoverRun(
  { database, log }: Pick<WorkflowContext, "database" | "log">,
  runId: string,
  pass: () => Promise<void>,
): Promise<void> {
  const olderMs = RUN_STALLED_MS;
  const sum = await countRecovery(database, runId, { weight: DEATH, olderMs });
  if (sum !== undefined && sum > RECOVERIES_MAX) {
    log.error({ run_id: runId }, "a run failed because it cannot be continued");
    await giveUpRun(database, runId);
  }
  try {
    await pass();
  } catch (error) {
    await countRecovery(database, runId, { weight: FAILURE - DEATH, olderMs });
    throw error;
  }
}
