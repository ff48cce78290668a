/**
 * Consumes the queue of one pool and lane. Pulls one message per free slot, and extends its ack deadline while the handler runs. Only this
 * module acks, naks and terminates messages. A message is acked after its hold is closed in Postgres.
 */
import type { DurableMessage, JobMessage } from "#schemas/generated/types.ts";
import { commonNow } from "#shared/base/clock.ts";
import { validate } from "#shared/json/contracts.ts";
import { type NewDeadLetter, recordDeadLetter } from "#shared/database/dead-letters.ts";
import { sentFailpoint } from "#shared/base/failpoint.ts";
import { type Entry, InFlightSet } from "#shared/limits/in-flight.ts";
import type { Logger } from "#shared/base/logger.ts";
import {
  durableName,
  HEADERS,
  isIngressReply,
  type Lane,
  type Pool,
  streamName,
  workspaceOfSubject,
} from "#shared/queue/subjects.ts";
import { jobFacts, messagingFacts } from "#shared/tracing/attributes.ts";
import { beginSpan, isTracing, keepJobSpan } from "#shared/tracing/tracing.ts";
import { LANE_SETTINGS } from "#shared/queue/topology.ts";
import { paced } from "#shared/config/pace.ts";

import { type CallerAnswer, INGRESS_PROBE_MS } from "./caller-liveness.ts";
import type { Cancels } from "./cancels.ts";
import type { WorkerContext } from "../context.ts";
import type { DurableJobs } from "./durable-jobs.ts";
import { jobAbort } from "../job.ts";
import type { LiveCalls } from "./live-calls.ts";
import { openPullLoop, type PullLoop } from "#shared/queue/pull-loop.ts";
import type { Delivery } from "#shared/queue/puller.ts";

/**
 * Delay after a lost connection is restored, before the ingress is asked about a queue message that may be a repeat, in milliseconds. A
 * server that crashed may deliver a message twice, because its stored state lags by 100 ms. After the delay, the worker of the first
 * delivery has reported to the ingress.
 */
const RECLAIM_MS = 2_500;

/** Time without a reply after which an ingress counts as dead, in milliseconds. It includes the time in which the ingress may reconnect. */
const RECONSIDER_MS = 30_000;

/**
 * Age of a queue message from which the ingress is asked before the call runs, in milliseconds. The caller may have left while no worker
 * was connected.
 */
export const QUEUED_LONG_MS = paced(2_000);

export interface Runner {
  /** Stops pulling messages and resolves when no job runs. `hurry` aborts running jobs. */
  stop(hurry: AbortSignal): Promise<void>;
  running(): number;
}

/** Maximum number of messages per pull. It is enough for the busiest pool, and small enough that a stalled worker delays few calls. */
const ASKED_MAX = 32;

interface RunnerOptions {
  context: WorkerContext;
  pool: Pool;
  lane: Lane;
  slots: number;
  live: LiveCalls;
  /** Executes durable jobs. If absent, their queue messages count as unreadable. */
  durable?: DurableJobs;
  cancels: Cancels;
}

export function startRunner(options: RunnerOptions): Runner {
  return new PullRunner(options);
}

class PullRunner implements Runner {
  private readonly options: RunnerOptions;
  private readonly log: Logger;
  private readonly jobSeconds: { observe(seconds: number): void };
  private readonly queueWaitSeconds: { observe(seconds: number): void };
  private readonly busy: { set(value: number): void };
  private readonly serving = new InFlightSet<AbortController>();
  /** Calls that are answered but not yet settled. They use no slot until there are as many of them as slots. */
  private readonly settling = new InFlightSet<AbortController>();
  private readonly cut = new AbortController();
  private readonly loop: PullLoop;
  private isStopping = false;

  constructor(options: RunnerOptions) {
    const { context, pool, lane } = options;
    this.options = options;
    this.log = context.log.child({ pool, lane });
    this.jobSeconds = context.metrics.jobSeconds.at(pool);
    this.queueWaitSeconds = context.metrics.queueWaitSeconds.at(pool, lane);
    this.busy = context.metrics.workerSlotsBusy.at(pool, lane);
    this.busy.set(0);
    context.metrics.workerSlots.set(options.slots, pool, lane);
    this.loop = openPullLoop({
      connection: context.work,
      role: "worker",
      stream: streamName(pool),
      durable: durableName(pool, lane),
      log: this.log,
      beatMs: LANE_SETTINGS[lane].beatMs,
      capacity: () => this.freeSlots(),
      handle: (message) => this.handle(message),
    });
  }

  running(): number {
    return this.loop.held();
  }

  async stop(hurry: AbortSignal): Promise<void> {
    this.isStopping = true;
    // Messages that arrive before the pull has ended still run: a nak would count as a lost call.
    await this.loop.stop();
    const abortAll = (): void => {
      this.cut.abort();
      for (const controller of [...this.serving, ...this.settling]) {
        controller.abort(jobAbort("shutdown"));
      }
    };
    if (hurry.aborted) abortAll();
    hurry.addEventListener("abort", abortAll, { once: true });
    await this.loop.finish();
  }

  private freeSlots(): number {
    const { context, lane, slots } = this.options;
    // A blocked event loop cannot extend ack deadlines, so it pulls nothing.
    if (context.metrics.eventLoopLag() * 1_000 > LANE_SETTINGS[lane].ackWaitMs / 4) return 0;
    const pendingSettlementsMax = Math.max(0, 2 * slots - this.serving.size - this.settling.size);
    return Math.min(slots - this.serving.size, pendingSettlementsMax, ASKED_MAX);
  }

  private async handle(message: Delivery): Promise<void> {
    const { context, pool, live, durable, cancels } = this.options;
    let startedAt = performance.now();
    // Compares the clocks of two machines, which may differ slightly.
    const waitedSeconds = Math.max(0, Date.now() - message.storedAtMs) / 1_000;
    if (message.deliveries === 1) this.queueWaitSeconds.observe(waitedSeconds);
    const text = decoder.decode(message.data);
    const value = readMessage(text);
    const durableJob = durable && asDurable(value, message);
    const job = durableJob ? undefined : asJob(value, message);
    const reply = job?.reply !== undefined && isIngressReply(job.reply) ? job.reply : undefined;
    const controller = new AbortController();
    const endSpan = job === undefined ? undefined : this.openSpan(message, job);
    const served = this.serving.add(controller);
    let settled: Entry<AbortController> | undefined;
    this.busy.set(this.serving.size);
    let result = "failed";
    const countEnd = (outcome: string): void => {
      context.metrics.jobs.inc(pool, outcome);
      this.jobSeconds.observe((performance.now() - startedAt) / 1_000);
      startedAt = performance.now();
    };
    try {
      let outcome = decide({
        deliveries: message.deliveries,
        isReadable: job !== undefined || durableJob !== undefined,
        deadlineMs: job?.deadline_ms ?? 0,
        nowMs: commonNow(),
        isCancelled: job !== undefined && cancels.wasCancelled(job.job_id),
      });
      if (outcome === "run" && job !== undefined && reply !== undefined && this.isDoubtful(message, job)) {
        outcome = await this.reconsider(message, job, reply);
        if (outcome === "run" && cancels.wasCancelled(job.job_id)) outcome = "drop";
      }
      result = outcome;
      if (durable && durableJob) {
        const { deliveries } = message;
        const hasFreeSlots = (): boolean => !this.isStopping && this.freeSlots() > 0;
        const verdict = await durable.run(durableJob, { deliveries, hasFreeSlots, onContinued: countEnd }, controller);
        result = verdict.outcome;
        if (verdict.againMs === undefined) message.ack();
        else message.nak(verdict.againMs);
        await sentFailpoint("job.acknowledged");
      } else if (job === undefined || outcome === "dead_letter") {
        await recordDeadLetter(context.database, deadLetterOf(message, "unreadable"));
        message.term("unreadable");
      } else {
        const onAnswered = (): void => {
          this.serving.delete(served);
          settled = this.settling.add(controller);
          this.busy.set(this.serving.size);
          this.loop.askForMore();
        };
        if (outcome === "run") context.metrics.callPartSeconds.observe(waitedSeconds, "queue");
        if (outcome === "run") await live.run({ job, text, reply, onAnswered }, controller, this.cut.signal);
        else if (outcome === "lost") await live.lost(job, reply);
        else if (outcome === "drop") await live.drop(job, reply);
        message.ack();
      }
    } catch (error) {
      result = "failed";
      this.log.error(
        { err: error, job_id: (job ?? durableJob)?.job_id, deliveries: message.deliveries },
        "a job could not be finished",
      );
      message.nak(paced(nakDelayMs(message.deliveries)));
    } finally {
      this.serving.delete(served);
      if (settled) this.settling.delete(settled);
      this.busy.set(this.serving.size);
      endSpan?.(result === "run" ? undefined : result);
      countEnd(result);
    }
  }

  /** Continues the trace of the call if its ingress records one. */
  private openSpan(message: Delivery, job: JobMessage): ((error?: string) => void) | undefined {
    const parent = isTracing() ? message.header(HEADERS.traceparent) : "";
    if (parent === "") return undefined;
    const { pool, lane } = this.options;
    const facts = jobFacts({ jobId: job.job_id, workspaceId: job.workspace_id, requestId: job.request_id });
    const span = beginSpan(`process work.${pool}`, "consumer", { parent }, { ...messagingFacts(pool, lane), ...facts });
    return keepJobSpan(job.job_id, span);
  }

  /** Returns true when a crashed server may have delivered the message before without remembering it. */
  private mayBeRepeat(message: Delivery, job: JobMessage): boolean {
    return this.loop.mayBeRepeat(message) || job.repeat === true;
  }

  /** Returns true for a delivery that may be a repeat of an earlier one, or that waited in the queue for long. */
  private isDoubtful(message: Delivery, job: JobMessage): boolean {
    return this.mayBeRepeat(message, job) || commonNow() - message.storedAtMs > QUEUED_LONG_MS;
  }

  /**
   * Asks the ingress whether it still waits for a call, and decides whether the call runs. Requests are repeated without a reply, because a
   * lost connection loses requests and replies.
   */
  private async reconsider(message: Delivery, job: JobMessage, reply: string): Promise<DeliveryVerdict> {
    const isRepeat = this.mayBeRepeat(message, job);
    const giveUpAt = performance.now() + RECONSIDER_MS;
    let answer: CallerAnswer = "silent";
    // If all messages are late, the reply may arrive after the first timeout, so the timeout doubles.
    for (let waitMs = INGRESS_PROBE_MS; answer === "silent" && performance.now() < giveUpAt; waitMs *= 2) {
      const restoredAt = this.loop.restoredAt();
      // The worker of an earlier delivery has reported by then, even if it finished while it was disconnected.
      if (isRepeat) await Bun.sleep(Math.max(0, restoredAt + RECLAIM_MS - performance.now()));
      if (this.loop.restoredAt() === restoredAt) answer = await this.options.live.ask(reply, waitMs);
    }
    if (answer === "waiting") return "run";
    // After its leader died, a cluster may repeat a message as a first delivery to workers that lost no connection. Dropping it would
    // release the hold of a call that is being served or was answered.
    if (answer === "served") return "repeat";
    // A repeat is closed by the process that served it. Otherwise the caller left while no worker was connected to receive the cancel,
    // and the provider must not be called.
    return isRepeat ? "repeat" : "drop";
  }
}

const decoder = new TextDecoder();

function readMessage(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns the job of a queue message. Undefined if the message is not a job of the workspace in its subject. */
function asJob(value: unknown, message: Delivery): JobMessage | undefined {
  if (validate("JobMessage", value) !== null) return undefined;
  const job = value as JobMessage;
  return job.workspace_id === workspaceOfSubject(message.subject) ? job : undefined;
}

/** Returns the checked message. Undefined if it does not name a durable job of the workspace in its subject. */
function asDurable(value: unknown, message: Delivery): DurableMessage | undefined {
  if ((value as { durable?: unknown } | null | undefined)?.durable !== true) return undefined;
  if (validate("DurableMessage", value) !== null) return undefined;
  const job = value as DurableMessage;
  return job.workspace_id === workspaceOfSubject(message.subject) ? job : undefined;
}

function deadLetterOf(message: Delivery, reason: string): NewDeadLetter {
  return {
    stream: message.stream,
    streamSeq: BigInt(message.streamSeq),
    subject: message.subject,
    messageId: message.header(HEADERS.messageId) || null,
    reason,
    deliveries: message.deliveries,
    body: message.data,
    jobId: null,
  };
}

/** Facts about a delivery at the time of its arrival. */
export interface DeliveryFacts {
  /** Number of deliveries of the message, including this one; 1 on the first delivery. */
  readonly deliveries: number;
  readonly isReadable: boolean;
  /** Deadline of the call, in Unix milliseconds. */
  readonly deadlineMs: number;
  readonly nowMs: number;
  readonly isCancelled: boolean;
}

/** Decision about a delivery. `repeat` means that another worker runs or ran the call, so that this delivery does nothing. */
export type DeliveryVerdict = "run" | "drop" | "lost" | "repeat" | "dead_letter";

/** Decides what to do with a delivery, from facts alone. */
export function decide(facts: DeliveryFacts): DeliveryVerdict {
  if (!facts.isReadable) return "dead_letter";
  if (facts.deliveries > 1) return "lost";
  if (facts.isCancelled || facts.nowMs >= facts.deadlineMs) return "drop";
  return "run";
}

/** Returns the delay before redelivery after an infrastructure failure, in milliseconds: 5 s · 4ⁿ ± 20 %, at most 60 s. */
export function nakDelayMs(deliveries: number, random: number = Math.random()): number {
  // 50 s plus 20 % is one minute, so that the longest delay is jittered like the others.
  const base = Math.min(50_000, 5_000 * 4 ** Math.max(0, deliveries - 1));
  return Math.round(base * (0.8 + 0.4 * random));
}
