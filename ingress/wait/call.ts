/**
 * One synchronous call in the ingress, from publish to response. The ingress receives frames from the worker and sends an HTTP response. A
 * call ends with its result, an error, a lost frame, a lost worker, a timeout, or a client that disconnects. In each case its hold is
 * closed exactly once: by the worker if one is alive, otherwise by the ingress.
 */
import { commonNow } from "#shared/base/clock.ts";
import { ApiError, type Code, errorEnvelope } from "#shared/base/errors.ts";
import type { CreditLineHold } from "#shared/ledger/credit-line-calls.ts";
import type { UsageKind } from "#shared/ledger/settle.ts";
import { formatCredits } from "#shared/base/money.ts";
import type { EndFrame, ErrorFrame, Frame, HeadFrame, SettleNote } from "#shared/queue/frames.ts";
import type { ReplyListener } from "#shared/queue/reply.ts";
import type { Pool } from "#shared/queue/subjects.ts";
import { paced } from "#shared/config/pace.ts";
import type { Span } from "#shared/tracing/tracing.ts";

import { fallbackHeaders, JSON_TYPE } from "../core/answers.ts";
import type { Meter } from "../core/call.ts";
import type { FailureEvents } from "../core/response-object.ts";
import { SSE_HEADERS } from "../core/sse.ts";

import { StreamBody } from "./stream-body.ts";

/** Time without a frame after which a worker that has sent one is considered lost, in milliseconds. */
export const FRAME_SILENCE_MS = paced(20_000);

/**
 * Maximum age of a worker's last frame at which the worker still counts as alive, in milliseconds. This is so even if the queue has
 * redelivered the call's message to another worker.
 */
const WORKER_LIVES_MS = paced(5_000);

export interface CallFacts {
  readonly pool: Pool;
  readonly jobId: string;
  readonly workspaceId: string;
  readonly requestId: string;
  /** performance.now() time at which the request arrived. */
  readonly startedAt: number;
  /** Maximum time from publish to the end of the call, in milliseconds. */
  readonly waitMs: number;
  /** Maximum time from publish until a worker must have accepted the call, in milliseconds. */
  readonly queueMs: number;
  /** Memory used by the request until it is on the queue, in bytes. */
  readonly requestBytes: number;
  /** Span of the request; `NO_SPAN` when tracing is off. */
  readonly span: Span;
  /** API whose format is used for the response and for errors inside a stream. */
  readonly api: "openai" | "anthropic" | "responses";
  /** Kind for the usage record. */
  readonly usageKind: UsageKind;
  /** Returns the last events of a Responses stream that failed. */
  readonly failureEvents?: FailureEvents;
  /** Credits that the call has drawn from a credit line in place of a hold. Undefined for a call with a hold of its own. */
  readonly creditLineHold?: CreditLineHold | undefined;
  /**
   * Called with the cost of the call before the response ends, in nano-credits. After an aborted stream, it is the cost of the relayed
   * output.
   */
  readonly addCharge: Meter["addCharge"];
}

/** Reason for which the ingress has ended a call. */
export type EndReason =
  | "client"
  | "stuck"
  | "gap"
  | "silence"
  | "queue"
  | "deadline"
  | "lost"
  | "shutdown"
  | "dispatch";

export interface CallEvents {
  /**
   * Called when the call has ended. `reason` is undefined if the worker ended the call and has closed the hold. Resolves with true if
   * certainly nothing was or will be charged; never rejects.
   */
  onEnd(call: Call, reason: EndReason | undefined): Promise<boolean>;
  /** Called when the complete response has arrived before the worker has settled the call. */
  onSettlementPending(call: Call, frame: EndFrame, settle: SettleNote): void;
  /** Called with the first output of a response, and with the time that the provider took until then, in milliseconds. */
  onFirst(call: Call, upstreamMs: number, isStream: boolean): void;
}

/**
 * Error that the caller receives, by the reason for which the ingress ended the call. Clients may retry the call unless the error forbids
 * it.
 */
const FAILURES: Readonly<Record<Exclude<EndReason, "client" | "stuck" | "dispatch">, () => ApiError>> = {
  gap: () => new ApiError("internal_error", "A part of the response was lost; try again.", { shouldRetry: false }),
  silence: () => new ApiError("internal_error", "The worker that served this call was lost.", { shouldRetry: false }),
  lost: () => new ApiError("internal_error", "The worker that served this call was lost.", { shouldRetry: false }),
  queue: () => new ApiError("overloaded", "No worker was free in time; try again shortly."),
  deadline: () => new ApiError("upstream_timeout", "The call did not end in time.", { shouldRetry: false }),
  shutdown: () =>
    new ApiError(
      "service_unavailable",
      "The service is restarting. The call may have been served: look up its x-request-id before a retry.",
      { shouldRetry: false },
    ),
};

/** Returns the error code that a caller receives when the ingress ends the call for this reason. */
export function codeOfEnd(reason: EndReason): Code {
  if (reason === "client" || reason === "stuck") return "request_timeout";
  return reason === "dispatch" ? "service_unavailable" : FAILURES[reason]().code;
}

export class Call implements ReplyListener {
  readonly facts: CallFacts;
  readonly response: Promise<Response>;
  /** Cost and tokens of the output relayed so far. If the worker is lost, the call is settled at this cost. */
  relayed: { nano: bigint; tokens: number } | undefined;
  /** Time of the first frame of a stream, in Unix milliseconds; undefined before, and for other calls. */
  firstMs: number | undefined;
  /** Sequence number of the call's message in the NATS stream; undefined until known. */
  streamSeq: number | undefined;
  /** Time of the last dispatch, in Unix milliseconds. */
  dispatchedAtMs = commonNow();
  /** NATS subject on which the call's worker receives a cancel; undefined until the worker has reported it. */
  cancelAt: string | undefined;
  /** Dispatches the call again under the same message id; undefined once a worker has accepted the call. */
  dispatchAgain: (() => void) | undefined;
  private readonly events: CallEvents;
  private readonly publishedAt = performance.now();
  private parts: Uint8Array[] = [];
  /** Slug of the model that serves the stream. */
  private model = "";
  /**
   * Number of text lines of a Responses stream that have been sent. The number of events is calculated from it, because each event has
   * three lines.
   */
  private lines = 0;
  private body: StreamBody | undefined;
  private lastFrameAt = 0;
  private handedOutAt = 0;
  private isOver = false;
  private resolve!: (response: Response) => void;
  private reject!: (error: unknown) => void;

  constructor(facts: CallFacts, events: CallEvents) {
    this.facts = facts;
    this.events = events;
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    this.response = promise;
    this.resolve = resolve;
    this.reject = reject;
    // No handler is left after the client has disconnected; the rejection must not count as unhandled.
    promise.catch(() => undefined);
  }

  get isStream(): boolean {
    return this.body !== undefined;
  }

  /** True if the call has not ended and no worker has reported that it has accepted the call. */
  get isWaiting(): boolean {
    return !this.isOver && this.isUnclaimed;
  }

  /** True if no worker has reported that it has accepted the call. */
  get isUnclaimed(): boolean {
    return this.lastFrameAt === 0;
  }

  /** Returns the time since the call was published, in milliseconds. */
  age(now: number): number {
    return now - this.publishedAt;
  }

  /** True if the call has ended and the client has read the last byte. */
  get isFinished(): boolean {
    return this.isOver && !(this.body?.isOpen ?? false);
  }

  onFrame(frame: Frame, data: Uint8Array): void {
    // After a pause of the process, a frame may arrive long after the caller got an error or disconnected.
    if (DELIVERS.has(frame.t) && this.age(performance.now()) > this.facts.waitMs) {
      this.end("deadline");
      return;
    }
    const lastFrameAt = this.lastFrameAt;
    if (frame.t !== "lost") {
      this.lastFrameAt = performance.now();
      this.dispatchAgain = undefined;
    }
    if ("cancel" in frame) this.cancelAt = frame.cancel;
    switch (frame.t) {
      case "head":
        this.firstMs = Math.round(commonNow());
        this.begin(frame, data);
        break;
      case "delta":
        this.relayed = { nano: BigInt(frame.nano), tokens: frame.tokens };
        this.body?.write(data);
        this.countLines(data);
        break;
      case "part":
        if (this.body) this.body.write(data);
        else this.parts.push(data);
        break;
      case "end":
        this.facts.addCharge(BigInt(frame.nano));
        if (this.body) {
          this.body.write(data);
          this.body.end();
        } else {
          this.events.onFirst(this, frame.upstream_ms, false);
          this.resolve(plainResponse(this.parts, data, frame));
        }
        if (frame.settle) this.events.onSettlementPending(this, frame, frame.settle);
        void this.over(undefined);
        break;
      case "error":
        this.fail(failureOf(frame));
        void this.over(undefined);
        break;
      case "lost":
        // A redelivery while the worker is alive: acknowledgments of progress were lost, not the worker.
        if (lastFrameAt === 0 || performance.now() - lastFrameAt > WORKER_LIVES_MS) this.end("lost");
        break;
      case "ask":
      case "beat":
        break;
      default:
        frame satisfies never;
    }
  }

  /**
   * Records that the queue delivered the call to a worker. A provider may have the request from now on. A worker that sends no frames is
   * therefore considered lost.
   */
  onHandedOut(): void {
    this.handedOutAt ||= performance.now();
  }

  onGap(): void {
    this.end("gap");
  }

  /** Ends the call for the given reason. Only the first reason counts. */
  end(reason: EndReason, error?: unknown): void {
    if (this.isOver) return;
    const isReleased = this.over(reason);
    if (reason === "client" || reason === "stuck")
      this.reject(new ApiError("request_timeout", "The client closed the connection."));
    else if (reason === "dispatch") void this.failUnpaid(error, isReleased);
    else if (reason === "queue") void this.failUnpaid(FAILURES.queue(), isReleased);
    else this.fail(FAILURES[reason]());
  }

  /**
   * Sends the error to the caller only if nothing was charged. Otherwise the response of a worker may have been paid and lost on the way.
   * The caller then receives an error that forbids a retry.
   */
  private async failUnpaid(error: unknown, isReleased: Promise<boolean>): Promise<void> {
    this.reject((await isReleased) ? error : FAILURES.gap());
  }

  /** Checks the timeouts of the call. Called about once a second. */
  tick(now: number): void {
    if (this.isOver) return;
    const lastActivityAt = Math.max(this.lastFrameAt, this.handedOutAt);
    if (this.age(now) > this.facts.waitMs) this.end("deadline");
    else if (lastActivityAt > 0 && now - lastActivityAt > FRAME_SILENCE_MS) this.end("silence");
    else if (lastActivityAt === 0 && this.age(now) > this.facts.queueMs) this.end("queue");
  }

  private begin(frame: HeadFrame, data: Uint8Array): void {
    const body = new StreamBody({ onDisconnect: (reason) => this.end(reason) });
    this.body = body;
    this.model = frame.model;
    body.write(data);
    this.countLines(data);
    this.relayed = { nano: BigInt(frame.nano), tokens: frame.tokens };
    this.events.onFirst(this, frame.upstream_ms, true);
    this.resolve(
      new Response(body.readable, {
        headers: { ...SSE_HEADERS, ...servedBy(frame) },
      }),
    );
  }

  private fail(error: ApiError): void {
    if (!this.body) {
      this.reject(error);
      return;
    }
    const { failureEvents, addCharge } = this.facts;
    if (this.relayed) addCharge(this.relayed.nano);
    const events = failureEvents?.(error, this.model, Math.floor(this.lines / LINES_OF_EVENT));
    this.body.write(new TextEncoder().encode(events ?? errorEvent(error, this.facts)));
    this.body.end();
  }

  private countLines(data: Uint8Array): void {
    if (this.facts.failureEvents === undefined) return;
    for (let at = data.indexOf(LINE_END); at >= 0; at = data.indexOf(LINE_END, at + 1)) this.lines += 1;
  }

  private over(reason: EndReason | undefined): Promise<boolean> {
    if (this.isOver) return Promise.resolve(false);
    this.isOver = true;
    return this.events.onEnd(this, reason);
  }
}

/** Types of frames that contain output of the response. */
const DELIVERS: ReadonlySet<Frame["t"]> = new Set(["head", "delta", "part", "end"]);
const LINE_END = 0x0a;
/** Number of text lines of an SSE event: its name, its data, and an empty line. */
const LINES_OF_EVENT = 3;

function plainResponse(parts: readonly Uint8Array[], last: Uint8Array, frame: EndFrame): Response {
  return new Response(parts.length === 0 ? (last as Uint8Array<ArrayBuffer>) : Buffer.concat([...parts, last]), {
    headers: {
      "content-type": frame.content_type ?? JSON_TYPE,
      ...servedBy(frame),
      "x-credits-used": formatCredits(BigInt(frame.nano)),
    },
  });
}

/** Returns the last event of a failed stream, in the format of the caller's API. */
function errorEvent(error: ApiError, { api, requestId }: CallFacts): string {
  if (api !== "anthropic") return `data: ${JSON.stringify(errorEnvelope(error.code, error.message, error.param))}\n\n`;
  const type = ANTHROPIC_TYPES[error.code] ?? "api_error";
  const members = { type: "error", error: { type, message: error.message }, request_id: requestId };
  return `event: error\ndata: ${JSON.stringify(members)}\n\n`;
}

/** Anthropic's error types for failures inside a stream. All other codes become `api_error`. */
const ANTHROPIC_TYPES: Readonly<Partial<Record<Code, string>>> = {
  overloaded: "overloaded_error",
  service_unavailable: "overloaded_error",
  upstream_timeout: "timeout_error",
};

/** Returns the headers that name the serving model (spec "General rules" 6). */
function servedBy({ model, fallback }: HeadFrame | EndFrame): Record<string, string> {
  return { "x-model-used": model, ...fallbackHeaders(fallback) };
}

function failureOf(frame: ErrorFrame): ApiError {
  return new ApiError(frame.code, frame.message, {
    param: frame.param,
    ...(frame.retry ? {} : { shouldRetry: false }),
    headers: {
      ...(frame.retry && frame.retry_after_s !== undefined ? { "retry-after": String(frame.retry_after_s) } : {}),
      ...fallbackHeaders(frame.fallback),
    },
  });
}
