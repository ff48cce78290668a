/**
 * One pool on one lane: pulls a message per free slot, keeps it alive, runs the handler, and is the only place that
 * acks, naks and terms. Nothing is acked before its hold is closed in Postgres.
 */
import { type Consumer, type JsMsg, jetstream } from "@nats-io/jetstream";
import { RequestError } from "nats";

import type { JobMessage } from "#schemas/generated/types.ts";
import { validate } from "#shared/contracts.ts";
import { recordDeadLetter } from "#shared/database/dead-letters.ts";
import { CALLER_GONE, encodeFrame } from "#shared/queue/frames.ts";
import {
  durableName,
  HEADERS,
  isIngressReply,
  type Lane,
  type Pool,
  streamName,
  workspaceOfSubject,
} from "#shared/queue/subjects.ts";
import { LANE_SETTINGS } from "#shared/queue/topology.ts";
import { LIMITS } from "#shared/limits.ts";

import type { Cancels } from "./cancels.ts";
import type { WorkerContext } from "./context.ts";
import { JobAbort, type JobHandler } from "./job.ts";
import { decide, nakDelayMs } from "./outcome.ts";

const PULL_EXPIRES_MS = 30_000;
const PULL_RETRY_MS = 250;
/** Evidence that a caller is gone: a refusal by the broker weighs more than an answer that did not come in time. */
const GONE_WEIGHT = { noResponder: 4, timeout: 1, limit: 8 } as const;

interface Running {
  readonly message: JsMsg;
  readonly jobId: string;
  readonly reply: string | undefined;
  readonly controller: AbortController;
  readonly startedAt: number;
  goneEvidence: number;
}

export interface Runner {
  /** Stops pulling and resolves when nothing runs; `hurry` aborts what runs. */
  stop(hurry: AbortSignal): Promise<void>;
  running(): number;
}

export function startRunner(options: {
  context: WorkerContext;
  pool: Pool;
  lane: Lane;
  slots: number;
  handler: JobHandler;
  cancels: Cancels;
}): Runner {
  const { context, pool, lane, slots, handler, cancels } = options;
  const log = context.log.child({ pool, lane });
  const settings = LANE_SETTINGS[lane];
  const running = new Map<JsMsg, Running>();
  const pulls = new Set<{ close(): Promise<void | Error> }>();
  const outcomes = context.metrics.jobs;
  const jobSeconds = context.metrics.jobSeconds.at(pool);
  const beatFrame = encodeFrame({ t: "beat" });
  let asked = 0;
  let isStopping = false;
  let consumer: Promise<Consumer> | undefined;
  let whenIdle: (() => void) | undefined;
  let isPumpQueued = false;

  const pump = (): void => {
    isPumpQueued = false;
    // A blocked loop cannot keep its messages alive, so it takes no more (lesson QUE-5).
    if (isStopping || context.metrics.eventLoopLag() * 1_000 > settings.ackWaitMs / 4) return;
    const free = slots - running.size - asked;
    if (free > 0) void pull(free);
  };

  /** Slots freed in the same turn share one pull. */
  const queuePump = (): void => {
    if (isPumpQueued || isStopping) return;
    isPumpQueued = true;
    setImmediate(pump);
  };

  const pull = async (count: number): Promise<void> => {
    asked += count;
    let left = count;
    try {
      consumer ??= jetstream(context.work).consumers.get(streamName(pool), durableName(pool, lane));
      const messages = await (await consumer).fetch({ max_messages: count, expires: PULL_EXPIRES_MS });
      pulls.add(messages);
      try {
        for await (const message of messages) {
          left -= 1;
          asked -= 1;
          void handle(message);
        }
      } finally {
        pulls.delete(messages);
      }
    } catch (error) {
      consumer = undefined;
      if (!isStopping) {
        log.warn({ err: error }, "pull failed, is repeated");
        await Bun.sleep(PULL_RETRY_MS * (0.5 + Math.random()));
      }
    } finally {
      asked -= left;
      queuePump();
    }
  };

  const handle = async (message: JsMsg): Promise<void> => {
    const startedAt = performance.now();
    const job = readJob(message);
    const address = message.headers?.get(HEADERS.reply) ?? "";
    const reply = isIngressReply(address) ? address : undefined;
    const controller = new AbortController();
    const entry: Running = { message, jobId: job?.job_id ?? "", reply, controller, startedAt, goneEvidence: 0 };
    running.set(message, entry);
    const outcome = decide({
      deliveries: message.info.deliveryCount,
      isReadable: job !== undefined,
      deadlineMs: job?.deadline_ms ?? 0,
      nowMs: Date.now(),
      isCancelled: job !== undefined && cancels.wasCancelled(job.job_id),
    });
    let result: string = outcome;
    try {
      if (job === undefined || outcome === "dead_letter") {
        await recordDeadLetter(context.database, deadLetter(message, "unreadable"));
        message.term("unreadable");
      } else {
        if (outcome === "run") {
          const forget = cancels.onCancel(job.job_id, () => controller.abort(new JobAbort("caller_left")));
          try {
            await handler.run(job, { signal: controller.signal, reply });
          } finally {
            forget();
          }
        } else if (outcome === "lost") await handler.lost(job, { reply });
        else await handler.drop(job);
        message.ack();
      }
    } catch (error) {
      result = "failed";
      log.error(
        { err: error, job_id: job?.job_id, deliveries: message.info.deliveryCount },
        "job could not be finished",
      );
      message.nak(nakDelayMs(message.info.deliveryCount));
    } finally {
      running.delete(message);
      outcomes.inc(pool, result);
      jobSeconds.observe((performance.now() - startedAt) / 1_000);
      if (running.size === 0) whenIdle?.();
      queuePump();
    }
  };

  const deadLetter = (message: JsMsg, reason: string) => ({
    stream: message.info.stream,
    streamSeq: BigInt(message.info.streamSequence),
    subject: message.subject,
    messageId: message.headers?.get(HEADERS.messageId) || null,
    reason,
    deliveries: message.info.deliveryCount,
    body: message.data,
    jobId: null,
  });

  const beats = setInterval(() => {
    for (const entry of running.values()) entry.message.working();
    queuePump();
  }, settings.beatMs);

  /** Tells the ingress that we live, and learns whether it still does. */
  const probe = async (entry: Running): Promise<void> => {
    if (entry.reply === undefined) return;
    try {
      const answer = await context.replies.request(entry.reply, beatFrame, { timeout: LIMITS.ingressProbeMs });
      entry.goneEvidence = answer.string() === CALLER_GONE ? GONE_WEIGHT.limit : 0;
    } catch (error) {
      const isRefused = error instanceof RequestError && error.isNoResponders();
      entry.goneEvidence += isRefused ? GONE_WEIGHT.noResponder : GONE_WEIGHT.timeout;
    }
    if (entry.goneEvidence >= GONE_WEIGHT.limit && running.has(entry.message)) {
      entry.controller.abort(new JobAbort("caller_gone"));
    }
  };
  const probes = setInterval(() => {
    const old = performance.now() - LIMITS.ingressProbeMs;
    for (const entry of running.values()) if (entry.startedAt < old) void probe(entry);
  }, LIMITS.ingressProbeMs);

  pump();
  return {
    running: () => running.size,
    async stop(hurry) {
      isStopping = true;
      // Messages that reached us before the pulls closed are still run: a hand-back would count as a loss.
      await Promise.all(Array.from(pulls, (messages) => messages.close()));
      const abortAll = (): void => {
        for (const entry of running.values()) entry.controller.abort(new JobAbort("shutdown"));
      };
      if (hurry.aborted) abortAll();
      hurry.addEventListener("abort", abortAll, { once: true });
      if (running.size > 0) {
        await new Promise<void>((resolve) => {
          whenIdle = resolve;
        });
      }
      clearInterval(beats);
      clearInterval(probes);
    },
  };
}

/** undefined when the message is not a job of the workspace its subject names. */
function readJob(message: JsMsg): JobMessage | undefined {
  let value: unknown;
  try {
    value = JSON.parse(message.string());
  } catch {
    return undefined;
  }
  if (validate("JobMessage", value) !== null) return undefined;
  const job = value as JobMessage;
  return job.workspace_id === workspaceOfSubject(message.subject) ? job : undefined;
}
