/**
 * The pool `workflow` on one lane: wakes of runs. Words are taken in far ahead of their turn, since one workspace's may stand before
 * all others' on the queue: here those about one run are one, and workspaces take turns.
 */
import { countRecovery, giveUpRun } from "#shared/database/run-work.ts";
import { isUuid, newId } from "#shared/ids.ts";
import { paced } from "#shared/pace.ts";
import { openPullLoop } from "#shared/queue/pull-loop.ts";
import type { Delivery } from "#shared/queue/puller.ts";
import { durableName, type Lane, streamName, workspaceOfSubject } from "#shared/queue/subjects.ts";
import { LANE_SETTINGS } from "#shared/queue/topology.ts";
import { RUN_STALLED_MS } from "#shared/workflows/limits.ts";

import type { WorkerContext } from "../context.ts";
import { openLeases } from "../runner/leases.ts";
import { nakDelayMs, type Runner } from "../runner/runner.ts";

import type { WorkflowContext } from "./context.ts";
import { driveRun } from "./drive-run.ts";
import { RunPermits, PermitsOver } from "./permits.ts";

const ASKED_MAX = 256;
/** Four workspaces whose words fill what the queue takes of each. */
const HELD_MAX = 8_192;
const DECODER = new TextDecoder();

export function startWorkflowRunner(options: {
  context: WorkflowContext;
  /** Runs of all lanes of the process. */
  runs: RunLoop;
  work: WorkerContext["work"];
  lane: Lane;
  slots: number;
}): Runner {
  const { context, runs, work, lane, slots } = options;
  const log = context.log.child({ pool: "workflow", lane });
  const settings = LANE_SETTINGS[lane];
  // A pass is mostly statements: more at once than connections would only wait elsewhere, and in no fair order.
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
      if (!isOver) log.error({ err: error, deliveries: message.deliveries }, "a run could not be carried on");
      // The janitor finds runs that stand still: a word that fails for good is not kept.
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
      log.error({ subject: message.subject }, "a message on the queue cannot be read, and is dropped");
      return "dropped";
    }
    const { workspace_id: workspaceId, isFullCheck, isStalled } = value;
    // The worker that had a repeated word may have died.
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
      // A blocked loop cannot keep its messages alive, so it takes no more.
      const isBlocked = context.metrics.eventLoopLag() * 1_000 > settings.ackWaitMs / 4;
      return isBlocked ? 0 : Math.min(HELD_MAX - held, ASKED_MAX);
    },
    handle,
  });
  // It holds no job; the beat tells how many runs this worker carries on at once.
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

interface RunWord {
  readonly run_id: string;
  readonly workspace_id: string;
  readonly isFullCheck: boolean;
  readonly isStalled: boolean;
}

function readMessage(message: Delivery): RunWord | undefined {
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
  /** Permits of the notice's lane. */
  readonly permits: RunPermits;
  /** Also looks for work that is late, due or was never begun. */
  readonly isFullCheck: boolean;
  readonly isStalled: boolean;
}

interface Going {
  /** A look is to come. */
  isAsked: boolean;
  isFullCheck: boolean;
  isStalled: boolean;
  work: Promise<void>;
}

/** Runs that this process carries on, one pass at a time each: what is told of one meanwhile makes for one more. */
export class RunLoop {
  private readonly context: WorkflowContext;
  private readonly going = new Map<string, Going>();

  constructor(context: WorkflowContext) {
    this.context = context;
  }

  /** Resolves when that was done, and at once where another word asked for a look that is yet to come: its delivery stands for both. */
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
      // At once, so that no word comes between the last look and this.
      this.going.delete(runId);
      giveBack();
    }
  }
}

// Runs that stand still. What kills its workers again and again, or cannot be read, must not be tried forever.

/** A worker that dies of a run counts as ten that only failed: ten deaths end a run, or a hundred failures a minute apart. */
const DEATH = 10;
const FAILURE = 1;
const RECOVERIES_MAX = 100;

/**
 * Carries on a run that stands still, or ends it. The look is counted as a death first, since nobody could count one afterwards.
 * @throws what `pass` throws
 */
async function recoverRun(
  { database, log }: Pick<WorkflowContext, "database" | "log">,
  runId: string,
  pass: () => Promise<void>,
): Promise<void> {
  const olderMs = RUN_STALLED_MS;
  const sum = await countRecovery(database, runId, { weight: DEATH, olderMs });
  if (sum !== undefined && sum > RECOVERIES_MAX) {
    log.error({ run_id: runId }, "a run cannot be carried on, and is given up");
    await giveUpRun(database, runId);
  }
  try {
    await pass();
  } catch (error) {
    await countRecovery(database, runId, { weight: FAILURE - DEATH, olderMs });
    throw error;
  }
}
