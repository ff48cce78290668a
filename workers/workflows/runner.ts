/** The pool `workflow` on one lane: wakes of runs, and jobs that are to become runs. Words about one run that come together are one. */
import type { DurableMessage } from "#schemas/generated/types.ts";
import { validate } from "#shared/contracts.ts";
import { isUuid, newId } from "#shared/ids.ts";
import { durableName, type Lane, streamName, workspaceOfSubject } from "#shared/queue/subjects.ts";
import { type Delivery, openPuller } from "#shared/queue/puller.ts";
import { LANE_SETTINGS } from "#shared/queue/topology.ts";

import type { WorkerContext } from "../context.ts";
import { openLeases } from "../jobs/leases.ts";
import { nakDelayMs, type Runner } from "../runner/runner.ts";
import type { WorkflowContext } from "./context.ts";
import { goOn } from "./go-on.ts";
import { recoverRun } from "./recover.ts";
import { takeTicket } from "./ticket.ts";

const ASKED_MAX = 32;
const DECODER = new TextDecoder();

export function startWorkflowRunner(options: {
  context: WorkflowContext;
  /** Of all lanes of the process. */
  runs: CarriedRuns;
  work: WorkerContext["work"];
  lane: Lane;
  slots: number;
}): Runner {
  const { context, runs, work, lane, slots } = options;
  const log = context.log.child({ pool: "workflow", lane });
  const settings = LANE_SETTINGS[lane];
  const running = new Set<Delivery>();
  let isStopping = false;
  let isPumpQueued = false;
  let whenIdle: (() => void) | undefined;

  const pump = (): void => {
    isPumpQueued = false;
    if (isStopping || context.metrics.eventLoopLag() * 1_000 > settings.ackWaitMs / 4) return;
    const asked = puller.asked();
    const free = Math.min(slots - running.size, ASKED_MAX) - asked;
    if (free > 0 && free >= asked) puller.ask(free);
  };
  const queuePump = (): void => {
    if (isPumpQueued || isStopping) return;
    isPumpQueued = true;
    setImmediate(pump);
  };

  const handle = async (message: Delivery): Promise<void> => {
    const startedAt = performance.now();
    running.add(message);
    let result = "failed";
    try {
      result = await carry(message);
      message.ack();
    } catch (error) {
      log.error({ err: error, deliveries: message.deliveries }, "a run could not be carried on");
      // The janitor finds runs that stand still: a word that fails for good is not kept.
      if (message.deliveries >= settings.maxDeliver - 1) message.ack();
      else message.nak(nakDelayMs(message.deliveries));
    } finally {
      running.delete(message);
      context.metrics.jobs.inc("workflow", result);
      context.metrics.jobSeconds.at("workflow").observe((performance.now() - startedAt) / 1_000);
      if (running.size === 0) whenIdle?.();
      queuePump();
    }
  };

  const carry = async (message: Delivery): Promise<string> => {
    const value = readMessage(message);
    if (value === undefined) {
      log.error({ subject: message.subject }, "a message on the queue cannot be read, and is dropped");
      return "dropped";
    }
    if ("job_id" in value) {
      if (!(await takeTicket(context, value))) return "repeat";
      await runs.goOn(value.job_id, false);
    } else if (value.isStalled) await recoverRun(context, value.run_id, () => runs.goOn(value.run_id, true));
    else await runs.goOn(value.run_id, message.deliveries > 1);
    return "run";
  };

  const puller = openPuller({
    connection: work,
    role: "worker",
    stream: streamName("workflow"),
    durable: durableName("workflow", lane),
    log,
    onMessage: (message) => void handle(message),
    onRoom: queuePump,
  });
  // It holds no job; the beat tells how many runs this worker carries on at once.
  const leases = openLeases({ context, worker: newId(), pool: "workflow", lane, slots });
  const beats = setInterval(() => {
    for (const message of running) message.working();
    queuePump();
  }, settings.beatMs);
  pump();
  return {
    running: () => running.size,
    async stop(_hurry) {
      isStopping = true;
      await puller.stop();
      if (running.size > 0) {
        await new Promise<void>((resolve) => {
          whenIdle = resolve;
        });
      }
      clearInterval(beats);
      await leases.close();
    },
  };
}

type Word = DurableMessage | { readonly run_id: string; readonly isStalled: boolean };

function readMessage(message: Delivery): Word | undefined {
  let value: unknown;
  try {
    value = JSON.parse(DECODER.decode(message.data));
  } catch {
    return undefined;
  }
  const {
    workspace_id: workspaceId,
    run_id: runId,
    is_stalled: isStalled,
  } = (value ?? {}) as Readonly<Record<string, unknown>>;
  if (workspaceId !== workspaceOfSubject(message.subject)) return undefined;
  if (typeof runId === "string") return isUuid(runId) ? { run_id: runId, isStalled: isStalled === true } : undefined;
  return validate("DurableMessage", value) === null ? (value as DurableMessage) : undefined;
}

interface Going {
  isAskedAgain: boolean;
  isRepeat: boolean;
  work: Promise<void>;
}

/** Runs that this process carries on, one pass at a time each: what is told of one meanwhile makes for one more. */
export class CarriedRuns {
  private readonly context: WorkflowContext;
  private readonly going = new Map<string, Going>();

  constructor(context: WorkflowContext) {
    this.context = context;
  }

  /** @param isRepeat the word came before, and who had it may have died */
  goOn(runId: string, isRepeat: boolean): Promise<void> {
    const known = this.going.get(runId);
    if (known) {
      known.isAskedAgain = true;
      known.isRepeat ||= isRepeat;
      return known.work;
    }
    const one: Going = { isAskedAgain: false, isRepeat, work: Promise.resolve() };
    this.going.set(runId, one);
    one.work = this.carry(runId, one);
    return one.work;
  }

  private async carry(runId: string, one: Going): Promise<void> {
    try {
      do {
        const { isRepeat } = one;
        one.isAskedAgain = false;
        one.isRepeat = false;
        await goOn(this.context, runId, isRepeat);
      } while (one.isAskedAgain);
    } finally {
      // At once, so that no word comes between the last look and this.
      this.going.delete(runId);
    }
  }
}
