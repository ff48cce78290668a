/**
 * One synchronous call from publish to answer, as the ingress sees it: frames come in, an HTTP response goes out, and
 * every way to end (answer, failure, gap, silence, a client that leaves) closes the hold exactly once, by the worker
 * where one lives and by us where none does.
 */
import { commonNow } from "#shared/clock.ts";
import { ApiError, type Code, errorEnvelope } from "#shared/errors.ts";
import type { LinedHold } from "#shared/ledger/lined-calls.ts";
import { formatCredits } from "#shared/money.ts";
import type { EndFrame, ErrorFrame, Frame, HeadFrame, SettleNote } from "#shared/queue/frames.ts";
import type { ReplyListener } from "#shared/queue/reply.ts";
import type { Pool } from "#shared/queue/subjects.ts";
import { paced } from "#shared/pace.ts";
import type { Span } from "#shared/tracing/tracing.ts";

import { fallbackHeaders, JSON_TYPE } from "../answers.ts";
import type { FailureEvents } from "../responses/object.ts";
import { SSE_HEADERS } from "../sse.ts";

import { StreamBody } from "./stream-body.ts";

/** No frame for this long after the first one: the worker is taken for lost. */
export const FRAME_SILENCE_MS = paced(20_000);

/** A worker that showed itself this recently lives, whatever a second delivery of its message says. */
const WORKER_LIVES_MS = paced(5_000);

export interface CallFacts {
  readonly pool: Pool;
  readonly jobId: string;
  readonly workspaceId: string;
  readonly requestId: string;
  /** performance.now() when the request came in. */
  readonly startedAt: number;
  /** Milliseconds from publish until the wait ends. */
  readonly waitMs: number;
  /** Milliseconds from publish within which a worker must have taken it. */
  readonly queueMs: number;
  /** Bytes that its request takes in memory until it is on the queue. */
  readonly requestBytes: number;
  /** Span of the request that it is of. */
  readonly span?: Span;
  /** API whose format the response has, and an error inside a stream. */
  readonly api: "openai" | "anthropic" | "responses";
  /** Last events of a Responses stream that failed. */
  readonly failureEvents?: FailureEvents;
  /** Its share of the credit line on which it was admitted. */
  readonly lined?: LinedHold | undefined;
  /** Told what the call cost, before the end of its answer; of one that broke off, what was relayed. */
  readonly onCharged?: (nano: bigint) => void;
}

/** Reason why a call ends from our side. */
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
   * The call is over for us. `reason` undefined = the worker ended it and has closed the hold. Resolves with whether it is
   * certain that nothing was or will be paid; never rejects.
   */
  onEnd(call: Call, reason: EndReason | undefined): Promise<boolean>;
  /** The whole answer came before it was settled. */
  onUnsettled(call: Call, frame: EndFrame, settle: SettleNote): void;
  /** First real frame: milliseconds the provider took so far. */
  onFirst(call: Call, upstreamMs: number, isStream: boolean): void;
}

/** Text of the error frame or answer, by what went wrong. A caller may repeat a call whose error does not say otherwise. */
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

/** Error code that a caller receives for an end from our side. */
export function codeOfEnd(reason: EndReason): Code {
  if (reason === "client" || reason === "stuck") return "request_timeout";
  return reason === "dispatch" ? "service_unavailable" : FAILURES[reason]().code;
}

export class Call implements ReplyListener {
  readonly facts: CallFacts;
  readonly response: Promise<Response>;
  /** Charge of the part relayed so far, for the record that a lost call is settled by. */
  relayed: { nano: bigint; tokens: number } | undefined;
  /** Sequence number of its message in the stream, once that is known. */
  streamSeq: number | undefined;
  /** Unix milliseconds of its last dispatch. */
  dispatchedAtMs = commonNow();
  /** Subject at which the worker that has the call hears that it is not wanted any more, once it has said so. */
  cancelAt: string | undefined;
  /** Puts it on the queue again, under the same message id; until a worker has it. */
  dispatchAgain: (() => void) | undefined;
  private readonly events: CallEvents;
  private readonly publishedAt = performance.now();
  private parts: Uint8Array[] = [];
  /** The model that answers a stream. */
  private model = "";
  /** Lines that a Responses stream has been sent; an event has three. */
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
    // A client that left hears nothing; its call must not surface as an unhandled rejection.
    promise.catch(() => undefined);
  }

  get isStream(): boolean {
    return this.body !== undefined;
  }

  /** It is not over, and no worker has shown that it has it. */
  get isWaiting(): boolean {
    return !this.isOver && this.isUnclaimed;
  }

  /** No worker has shown that it has the call. */
  get isUnclaimed(): boolean {
    return this.lastFrameAt === 0;
  }

  /** Milliseconds since it was published. */
  age(now: number): number {
    return now - this.publishedAt;
  }

  /** Nothing is left to do: the call is over and its last byte is taken. */
  get isFinished(): boolean {
    return this.isOver && !(this.body?.isOpen ?? false);
  }

  onFrame(frame: Frame, data: Uint8Array): void {
    // A process that stood still may find the answer of a call whose caller was told otherwise, or left, long ago.
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
        this.facts.onCharged?.(BigInt(frame.nano));
        if (this.body) {
          this.body.write(data);
          this.body.end();
        } else {
          this.events.onFirst(this, frame.upstream_ms, false);
          this.resolve(plainResponse(this.parts, data, frame));
        }
        if (frame.settle) this.events.onUnsettled(this, frame, frame.settle);
        void this.over(undefined);
        break;
      case "error":
        this.fail(failureOf(frame));
        void this.over(undefined);
        break;
      case "lost":
        // Delivered twice although its worker lives: the beats to the queue were lost, not the worker.
        if (lastFrameAt === 0 || performance.now() - lastFrameAt > WORKER_LIVES_MS) this.end("lost");
        break;
      case "ask":
      case "beat":
        break;
      default:
        frame satisfies never;
    }
  }

  /** The queue handed it to a worker, so it may have reached a provider: from now on silence counts as a loss. */
  onHandedOut(): void {
    this.handedOutAt ||= performance.now();
  }

  onGap(): void {
    this.end("gap");
  }

  /** Ends the call from our side; the first reason counts. */
  end(reason: EndReason, error?: unknown): void {
    if (this.isOver) return;
    const isReleased = this.over(reason);
    if (reason === "client" || reason === "stuck")
      this.reject(new ApiError("request_timeout", "The client closed the connection."));
    else if (reason === "dispatch") void this.failUnpaid(error, isReleased);
    else if (reason === "queue") void this.failUnpaid(FAILURES.queue(), isReleased);
    else this.fail(FAILURES[reason]());
  }

  /** An error that invites a repeat is told only when nothing was paid: a worker may have answered without our hearing it. */
  private async failUnpaid(error: unknown, isReleased: Promise<boolean>): Promise<void> {
    this.reject((await isReleased) ? error : FAILURES.gap());
  }

  /** Called about once a second. */
  tick(now: number): void {
    if (this.isOver) return;
    const shownAt = Math.max(this.lastFrameAt, this.handedOutAt);
    if (this.age(now) > this.facts.waitMs) this.end("deadline");
    else if (shownAt > 0 && now - shownAt > FRAME_SILENCE_MS) this.end("silence");
    else if (shownAt === 0 && this.age(now) > this.facts.queueMs) this.end("queue");
  }

  private begin(frame: HeadFrame, data: Uint8Array): void {
    const body = new StreamBody({ onLeft: (reason) => this.end(reason) });
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
    const { failureEvents, onCharged } = this.facts;
    if (this.relayed) onCharged?.(this.relayed.nano);
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

/** Frames that bring a part of the answer. */
const DELIVERS: ReadonlySet<Frame["t"]> = new Set(["head", "delta", "part", "end"]);
const LINE_END = 0x0a;
/** Its name, its data, and an empty one. */
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

/** The last event of a stream that failed. */
function errorEvent(error: ApiError, { api, requestId }: CallFacts): string {
  if (api !== "anthropic") return `data: ${JSON.stringify(errorEnvelope(error.code, error.message, error.param))}\n\n`;
  const type = ANTHROPIC_TYPES[error.code] ?? "api_error";
  const members = { type: "error", error: { type, message: error.message }, request_id: requestId };
  return `event: error\ndata: ${JSON.stringify(members)}\n\n`;
}

/** Anthropic's types of the failures that a stream may still meet; every other one is an api_error. */
const ANTHROPIC_TYPES: Readonly<Partial<Record<Code, string>>> = {
  overloaded: "overloaded_error",
  service_unavailable: "overloaded_error",
  upstream_timeout: "timeout_error",
};

/** Spec "General rules" 6. */
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
