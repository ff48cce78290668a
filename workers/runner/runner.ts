/**
 * One pool on one lane: pulls a message per free slot, keeps it alive, runs the handler, and is the only place that
 * acks, naks and terms. Nothing is acked before its hold is closed in Postgres.
 */
import type { DurableMessage, JobMessage } from "#schemas/generated/types.ts";
import { commonNow } from "#shared/clock.ts";
import { validate } from "#shared/contracts.ts";
import { type NewDeadLetter, recordDeadLetter } from "#shared/database/dead-letters.ts";
import { sentFailpoint } from "#shared/failpoint.ts";
import { type Entry, InFlightSet } from "#shared/in-flight.ts";
import type { Logger } from "#shared/logger.ts";
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
import { paced } from "#shared/pace.ts";

import { type CallerAnswer, INGRESS_PROBE_MS } from "./caller-watch.ts";
import type { Cancels } from "./cancels.ts";
import type { WorkerContext } from "../context.ts";
import type { DurableJobs } from "./durable-jobs.ts";
import { jobAbort } from "../job.ts";
import type { LiveCalls } from "./live-calls.ts";
import { openPullLoop, type PullLoop } from "#shared/queue/pull-loop.ts";
import type { Delivery } from "#shared/queue/puller.ts";

/**
 * A server that crashed may hand out again what it had handed out (its record lags by 100 ms). Messages from before a
 * lost connection are asked about this late: a worker that had them has shown itself to the ingress by then.
 */
const RECLAIM_MS = 2_500;

/** An ingress that cannot be asked for this long, over all lost connections, is taken for gone. */
const RECONSIDER_MS = 30_000;

/** A message that waited this long is asked about before it is run: its caller may have left while no worker heard it. */
export const QUEUED_LONG_MS = paced(2_000);

export interface Runner {
  /** Stops pulling and resolves when nothing runs; `hurry` aborts what runs. */
  stop(hurry: AbortSignal): Promise<void>;
  running(): number;
}

/** Asked for at once: enough for the busiest pool, few enough to lose little to a worker that stands still. */
const ASKED_MAX = 32;

interface RunnerOptions {
  context: WorkerContext;
  pool: Pool;
  lane: Lane;
  slots: number;
  live: LiveCalls;
  /** Takes the jobs that have a row of their own; without it they count as unreadable. */
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
  /** Answered, and not settled yet: they hold no slot, unless there are as many of them as slots. */
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
    // Messages that reach us before the pull has ended are still run: a hand-back would count as a loss.
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
    // A blocked loop cannot keep its messages alive, so it takes no more.
    if (context.metrics.eventLoopLag() * 1_000 > LANE_SETTINGS[lane].ackWaitMs / 4) return 0;
    const unsettledMax = Math.max(0, 2 * slots - this.serving.size - this.settling.size);
    return Math.min(slots - this.serving.size, unsettledMax, ASKED_MAX);
  }

  private async handle(message: Delivery): Promise<void> {
    const { context, pool, live, durable, cancels } = this.options;
    let startedAt = performance.now();
    // By the clocks of two machines, which may differ a little.
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
        const isRoomy = (): boolean => !this.isStopping && this.freeSlots() > 0;
        const verdict = await durable.run(durableJob, { deliveries, isRoomy, onContinued: countEnd }, controller);
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
        "job could not be finished",
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

  /** Goes on with the trace of the call, where its ingress records one. */
  private openSpan(message: Delivery, job: JobMessage): ((error?: string) => void) | undefined {
    const parent = isTracing() ? message.header(HEADERS.traceparent) : "";
    if (parent === "") return undefined;
    const { pool, lane } = this.options;
    const facts = jobFacts({ jobId: job.job_id, workspaceId: job.workspace_id, requestId: job.request_id });
    const span = beginSpan(`process work.${pool}`, "consumer", { parent }, { ...messagingFacts(pool, lane), ...facts });
    return keepJobSpan(job.job_id, span);
  }

  /** A crashed server may have handed it out before and remember nothing of it, not even that it had it. */
  private mayBeRepeat(message: Delivery, job: JobMessage): boolean {
    return this.loop.mayBeRepeat(message) || job.repeat === true;
  }

  /** A first delivery that may not be the first, or may come too late. */
  private isDoubtful(message: Delivery, job: JobMessage): boolean {
    return this.mayBeRepeat(message, job) || commonNow() - message.storedAtMs > QUEUED_LONG_MS;
  }

  /** Asks the caller of a doubtful delivery. Silence is no answer: a lost connection loses questions and answers alike. */
  private async reconsider(message: Delivery, job: JobMessage, reply: string): Promise<DeliveryVerdict> {
    const isRepeat = this.mayBeRepeat(message, job);
    const giveUpAt = performance.now() + RECONSIDER_MS;
    let answer: CallerAnswer = "silent";
    // Where all messages are late, an answer comes behind the first wait for it.
    for (let waitMs = INGRESS_PROBE_MS; answer === "silent" && performance.now() < giveUpAt; waitMs *= 2) {
      const restoredAt = this.loop.restoredAt();
      // A worker that had it has shown itself by then, also when it could tell its end only after the loss.
      if (isRepeat) await Bun.sleep(Math.max(0, restoredAt + RECLAIM_MS - performance.now()));
      if (this.loop.restoredAt() === restoredAt) answer = await this.options.live.ask(reply, waitMs);
    }
    if (answer === "waiting") return "run";
    // A cluster whose leader died may repeat a message as a first delivery to workers that lost no connection: to drop it would
    // release the hold of a call that is being served, or was answered.
    if (answer === "served") return "repeat";
    // Who knows it as ended or served elsewhere closes its hold as well; while no worker was there, nobody heard a cancel
    // either, and a provider is not called for nobody.
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

/** undefined when the message is not a job of the workspace its subject names. */
function asJob(value: unknown, message: Delivery): JobMessage | undefined {
  if (validate("JobMessage", value) !== null) return undefined;
  const job = value as JobMessage;
  return job.workspace_id === workspaceOfSubject(message.subject) ? job : undefined;
}

/** undefined when the message names no durable job of the workspace of its subject. */
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

/** Facts about a delivery when it comes. */
export interface DeliveryFacts {
  /** 1 on the first delivery. */
  readonly deliveries: number;
  readonly isReadable: boolean;
  /** Unix milliseconds. */
  readonly deadlineMs: number;
  readonly nowMs: number;
  readonly isCancelled: boolean;
}

/** `repeat`: another worker has it, or had it; nothing is left to do. */
export type DeliveryVerdict = "run" | "drop" | "lost" | "repeat" | "dead_letter";

/** Decides what to do with a delivery, from facts alone. */
export function decide(facts: DeliveryFacts): DeliveryVerdict {
  if (!facts.isReadable) return "dead_letter";
  if (facts.deliveries > 1) return "lost";
  if (facts.isCancelled || facts.nowMs >= facts.deadlineMs) return "drop";
  return "run";
}

/** Delay before a delivery is tried again after a failure of our own surroundings: 5 s · 4ⁿ ± 20 %, at most 60 s. */
export function nakDelayMs(deliveries: number, random: number = Math.random()): number {
  // 50 s with its 20 % is the minute: the longest wait is spread like the others.
  const base = Math.min(50_000, 5_000 * 4 ** Math.max(0, deliveries - 1));
  return Math.round(base * (0.8 + 0.4 * random));
}
