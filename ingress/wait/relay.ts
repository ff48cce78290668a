/**
 * Relays all calls that this ingress waits for. It dispatches them, receives their replies on one subscription, checks their timeouts, and
 * records the relayed amounts.
 */
import type { JobMessage } from "#schemas/generated/types.ts";
import { commonNow } from "#shared/base/clock.ts";
import type { Database } from "#shared/database/client.ts";
import { ApiError } from "#shared/base/errors.ts";
import { failpoint } from "#shared/base/failpoint.ts";
import type { Lease } from "#shared/limits/fair-limit.ts";
import type { CreditLines } from "#shared/ledger/credit-lines.ts";
import type { FailureLog } from "#shared/ledger/failure-log.ts";
import type { Ledger } from "#shared/ledger/settle.ts";
import { InFlightMap } from "#shared/limits/in-flight.ts";
import { paced } from "#shared/config/pace.ts";
import type { Logger } from "#shared/base/logger.ts";
import type { Metrics } from "#shared/metrics/metrics.ts";
import type { EndFrame, SettleNote } from "#shared/queue/frames.ts";
import type { Publisher } from "#shared/queue/publish.ts";
import type { ReplyInbox } from "#shared/queue/reply.ts";
import { storeClaim } from "#shared/storage/claim-check.ts";
import type { Storage } from "#shared/storage/client.ts";
import { messagingFacts } from "#shared/tracing/attributes.ts";
import { beginPart, errorName } from "#shared/tracing/tracing.ts";

import { startClock } from "../core/clock.ts";

import { Call, type CallEvents, type CallFacts, codeOfEnd, type EndReason } from "./call.ts";
import type { Cancel } from "./cancel.ts";
import type { LiveShares } from "./live-shares.ts";
import { recordRelayed } from "./progress.ts";
import type { PendingSettlements } from "./pending-settlements.ts";

/** Maximum size of a request inside a NATS message, in bytes. A larger request is stored in S3 as a claim check. */
const MESSAGE_BYTES_MAX = 448 * 1024;

/**
 * Time after which a call that no worker has accepted is looked up in the queue, in milliseconds. It may still be waiting, or was delivered
 * to a worker that crashed.
 */
const UNCLAIMED_MS = paced(3_000);

/** Interval of recording the relayed amounts, in milliseconds. The call of a lost worker is settled at the recorded amount. */
const RELAY_RECORD_MS = paced(2_000);

/** Content of the queue message for a call. */
export interface CallMessage {
  /** Job message without the request and the reply subject. */
  readonly head: JobMessage;
  /** Request for the worker, as JSON text. */
  readonly text: string;
}

export interface Relay {
  /**
   * Dispatches a call and returns its response. The hold must exist; the relay makes sure that it is closed.
   * @param signal aborts when the client has disconnected
   * @param onOffloaded called when the request no longer counts as this call's memory. It has then been sent, or it waits for a permit,
   * where its memory is counted separately
   * @throws ApiError of the call
   */
  run(facts: CallFacts, message: CallMessage, signal: AbortSignal, onOffloaded?: () => void): Promise<Response>;
  /** Returns the number of calls that have not ended. */
  active(): number;
  /** Ends every running call with an error. Called near the end of the shutdown grace period. */
  endAll(): void;
  close(): void;
}

const TICK_MS = paced(1_000);
/** Wait after a failed dispatch, in milliseconds. In this time the process reads the frames that have already arrived on its sockets. */
const SOCKET_READ_MS = 100;

/** Reasons after which the call's worker aborts the call and settles the output produced so far. */
const LEFT_TO_WORKER: ReadonlySet<EndReason> = new Set(["client", "stuck", "gap", "deadline", "shutdown"]);

interface RelayOptions {
  cancel: Cancel;
  inbox: ReplyInbox;
  pendingSettlements: Pick<PendingSettlements, "keep" | "has">;
  /** Credit lines. They are notified of calls that the relay has settled. */
  lines?: Pick<CreditLines, "forget"> | undefined;
  database: Database;
  /** Records the failure reasons of calls that no worker ends. */
  failures: FailureLog;
  ledger: Ledger;
  log: Logger;
  metrics: Metrics;
  /** Limits the number of a workspace's calls on the queue. */
  shares: LiveShares;
  publisher: Publisher;
  /** Object storage for requests that are too large for a message. */
  storage: Storage;
}

export function createRelay(options: RelayOptions): Relay {
  return new CallRelay(options);
}

class CallRelay implements Relay, CallEvents {
  private readonly options: RelayOptions;
  private readonly calls = new InFlightMap<Call>();
  private readonly permits = new WeakMap<Call, Lease>();
  private readonly clock: ReturnType<typeof setInterval>;
  private readonly recorder: ReturnType<typeof setInterval>;
  private isFinding = false;
  private isRecording = false;

  constructor(options: RelayOptions) {
    this.options = options;
    this.clock = startClock(TICK_MS, (now) => this.tick(now));
    this.recorder = setInterval(() => this.record(), RELAY_RECORD_MS);
  }

  active(): number {
    return this.calls.size;
  }

  async run(facts: CallFacts, message: CallMessage, signal: AbortSignal, onOffloaded?: () => void): Promise<Response> {
    const call = new Call(facts, this);
    this.options.metrics.callPartSeconds.observe((performance.now() - facts.startedAt) / 1_000, "admit");
    this.calls.set(facts.jobId, call);
    const reply = this.options.inbox.listen(facts.jobId, call);
    const onDisconnect = (): void => call.end("client");
    if (signal.aborted) onDisconnect();
    else {
      signal.addEventListener("abort", onDisconnect, { once: true });
      const send = (): Promise<void> => this.dispatch(call, message, reply, onOffloaded);
      void this.sendWhenPermitted(call, send, onOffloaded);
    }
    try {
      return await call.response;
    } finally {
      // A stream detects the disconnect in its own body. A remaining listener would keep the request in memory.
      if (!call.isStream) signal.removeEventListener("abort", onDisconnect);
    }
  }

  endAll(): void {
    for (const call of this.calls.values()) call.end("shutdown");
  }

  close(): void {
    clearInterval(this.clock);
    clearInterval(this.recorder);
  }

  onFirst(call: Call, upstreamMs: number, isStream: boolean): void {
    const { metrics } = this.options;
    const totalMs = performance.now() - call.facts.startedAt;
    metrics.gatewayOverheadSeconds.observe(Math.max(0, totalMs - upstreamMs) / 1_000);
    if (!isStream) return;
    metrics.streamsActive.add(1);
    metrics.timeToFirstTokenSeconds.observe(totalMs / 1_000);
  }

  onSettlementPending({ facts }: Call, frame: EndFrame, settle: SettleNote): void {
    this.options.pendingSettlements.keep({ ...facts, course: { kind: facts.usageKind } }, frame, settle);
  }

  async onEnd(call: Call, reason: EndReason | undefined): Promise<boolean> {
    const { cancel, inbox, metrics, pendingSettlements } = this.options;
    if (!call.isStream) this.calls.take(call.facts.jobId);
    inbox.forget(call.facts.jobId);
    this.permits.get(call)?.release();
    if (call.isStream) metrics.streamsActive.add(-1);
    if (reason === undefined) {
      if (!pendingSettlements.has(call.facts.jobId)) this.options.lines?.forget(call.facts.jobId);
      return false;
    }
    if (call.isStream) metrics.streamAborts.inc(reason);
    // The worker, if there is one, stops immediately and settles what was produced.
    cancel(call.facts.jobId, call.cancelAt);
    if (LEFT_TO_WORKER.has(reason) && !call.isUnclaimed) return false;
    return this.settleAbandoned(call, reason);
  }

  /** Closes the hold of a call whose worker is lost or unknown. Resolves with true if certainly nothing was or will be charged. */
  private async settleAbandoned(call: Call, reason: EndReason): Promise<boolean> {
    const { failures, ledger, log, metrics } = this.options;
    const isLost = reason === "silence" || reason === "lost";
    const relayed = isLost ? call.relayed : undefined;
    if (isLost) metrics.callsLost.inc();
    const { workspaceId, jobId, usageKind: kind } = call.facts;
    const status = isLost ? "lost" : reason === "client" ? "cancelled" : "failed";
    const recorded = failures.record(
      { workspaceId, jobId, attempt: 1 },
      { status, failure: { code: codeOfEnd(reason) } },
    );
    try {
      const { takenNano } = await ledger.settle({
        workspaceId,
        jobId,
        attempt: 1,
        usedNano: relayed && relayed.nano > 0n ? relayed.nano : null,
        status,
        source: null,
        units: relayed && relayed.tokens > 0 ? { tokens: relayed.tokens } : {},
        isEstimated: relayed !== undefined,
        tokens: relayed?.tokens ?? 0,
        creditLineHold: call.facts.creditLineHold,
        course: { kind, first_ms: call.firstMs },
      });
      this.options.lines?.forget(call.facts.jobId);
      await recorded;
      return takenNano === 0n;
    } catch (error) {
      log.error({ err: error, job_id: call.facts.jobId }, "a hold could not be closed; the janitor closes it");
      return false;
    }
  }

  /** Waits for a permit for the queue, and then dispatches the call. If the permit is refused, the call ends with the error. */
  private async sendWhenPermitted(call: Call, send: () => Promise<void>, onOffloaded?: () => void): Promise<void> {
    try {
      const permit = this.options.shares.enter(call.facts);
      this.permits.set(call, permit);
      if (permit.entered) {
        onOffloaded?.();
        await permit.entered;
      }
    } catch (error) {
      call.end("dispatch", error);
      return;
    }
    if (!call.isWaiting) return;
    call.dispatchAgain = () => void send();
    void send();
  }

  private async dispatch(call: Call, message: CallMessage, reply: string, onOffloaded?: () => void): Promise<void> {
    const { facts } = call;
    call.streamSeq = undefined;
    call.dispatchedAtMs = commonNow();
    const { pool, jobId, workspaceId } = facts;
    const span = beginPart(facts.span, `send work.${pool}`, "producer", messagingFacts(pool, "live"));
    try {
      const body = await messageBody(this.options.storage, facts, message, reply);
      onOffloaded?.();
      const { traceparent } = span;
      const dispatch = { pool, lane: "live", workspaceId, jobId, attempt: 1, dispatch: 1, body, traceparent } as const;
      call.streamSeq = await this.options.publisher.dispatch(dispatch, () => call.isWaiting);
      span.end();
      failpoint("call.dispatched");
    } catch (error) {
      span.end(errorName(error));
      // After a pause of the process, received frames must be read first.
      await Bun.sleep(SOCKET_READ_MS);
      // Perhaps only the queue's acknowledgment was lost: a call that a worker has reported continues.
      if (call.isWaiting) call.end("dispatch", error);
    }
  }

  private tick(now: number): void {
    const unclaimed: Call[] = [];
    for (const call of this.calls.values()) {
      // An ended stream remains until the client has read the rest, or was cut off for not reading.
      if (call.isFinished) this.calls.take(call.facts.jobId);
      else call.tick(now);
      const isSent = call.dispatchAgain !== undefined;
      if (isSent && call.isUnclaimed && call.age(now) > UNCLAIMED_MS) unclaimed.push(call);
    }
    void this.findUnclaimed(unclaimed);
  }

  /**
   * Asks the queue about calls that no worker has accepted. Calls that the queue has delivered are marked, because their worker may have
   * crashed before its first frame. Calls that the queue has lost are dispatched again.
   */
  private async findUnclaimed(unclaimed: readonly Call[]): Promise<void> {
    const { log, publisher } = this.options;
    if (this.isFinding || unclaimed.length === 0) return;
    this.isFinding = true;
    try {
      for (const [pool, theirs] of Map.groupBy(unclaimed, ({ facts }) => facts.pool)) {
        const { upTo, sinceMs } = await publisher.handedOut(pool, "live");
        for (const call of theirs) {
          if (!call.isWaiting) continue;
          // The queue is younger than the message: its storage, and with it the message, was lost.
          if (sinceMs > call.dispatchedAtMs) call.dispatchAgain?.();
          else if (call.streamSeq !== undefined && call.streamSeq <= upTo) call.onHandedOut();
        }
      }
    } catch (error) {
      log.warn({ err: error, calls: unclaimed.length }, "calls without a worker could not be looked up in the queue");
    } finally {
      this.isFinding = false;
    }
  }

  private record(): void {
    const { database, log } = this.options;
    if (this.isRecording) return;
    this.isRecording = true;
    recordRelayed(database, this.calls.values())
      .catch((error: unknown) => log.warn({ err: error }, "relayed output could not be recorded"))
      .finally(() => {
        this.isRecording = false;
      });
  }
}

/**
 * Builds the JSON of a call's message. The validated request text is inserted without parsing, which saves CPU time. A large request is
 * stored in S3 instead.
 */
async function messageBody(
  storage: Storage,
  { jobId, requestBytes }: CallFacts,
  { head, text }: CallMessage,
  reply: string,
): Promise<string> {
  const members = JSON.stringify({ ...head, reply, frame_bundles: true }).slice(0, -1);
  if (requestBytes <= MESSAGE_BYTES_MAX) return `${members},"request":${text}}`;
  try {
    const reference = await storeClaim(storage, jobId, text);
    failpoint("request.stored");
    return `${members},"request_ref":${JSON.stringify(reference)}}`;
  } catch (error) {
    throw new ApiError("service_unavailable", "Large requests cannot be stored right now; try again shortly.", {
      cause: error,
    });
  }
}
