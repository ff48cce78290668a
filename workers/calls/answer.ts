/** Sends the numbered response frames of one call to its ingress. The first chunk is sent immediately, later chunks in small batches. */
import { commonNow } from "#shared/base/clock.ts";
import type { Code } from "#shared/base/errors.ts";
import { encodeFrame, type Fallback, type SettleNote, FRAME_BYTES_MAX } from "#shared/queue/frames.ts";

import type { BufferedPublisher } from "#shared/queue/buffered-publisher.ts";
import { runEach } from "#shared/queue/tick-end.ts";

import type { Result } from "../outcome.ts";

/**
 * Maximum age of a batch of chunks in milliseconds (DELTA_BATCH_MS), and its maximum size in bytes (DELTA_BATCH_BYTES). The first chunk is
 * not batched.
 */
export const DELTA_BATCH_MS = 20;
/**
 * Width of the time slots in which batches of several calls are sent together, in milliseconds. A batch is sent at most this much early.
 */
export const DELTA_MOMENT_MS = 5;
export const DELTA_BATCH_BYTES = 1_024;

type Sender = Pick<BufferedPublisher, "publish" | "isClosed" | "waitForDrain">;

/** Returns the cost of a call so far. Called when a batch is sent. */
export type Progress = () => { nano: bigint; tokens: number };

export interface FailureFrame {
  readonly code: Code;
  readonly message: string;
  readonly param: string | null;
  /** False if credits were charged or a provider may have done paid work. */
  readonly retry: boolean;
  readonly retryAfterS?: number;
  /** Set if fallback models were tried and failed too. */
  readonly fallback?: Fallback;
}

/** Model that serves the call, for the response headers. */
export interface Server {
  readonly model: string;
  /** Set if a fallback model serves instead of the requested model. */
  readonly fallback?: Fallback;
}

export class Answer {
  private readonly sender: Sender;
  private readonly reply: string | undefined;
  /** Model that serves the call. Set again for each attempt, until one has sent a chunk. */
  server: Server;
  /** Returns the cost so far. Zero, except for calls that are charged for the part of the response that was sent. */
  progress: Progress = () => ({ nano: 0n, tokens: 0 });
  /** Time at which the first chunk was sent, in Unix milliseconds; undefined before, and for an answer without chunks. */
  firstMs: number | undefined;
  private n = 0;
  private readonly cancel: string | undefined;
  private readonly run = Math.random().toString(36).slice(2, 8);
  private ending: Uint8Array[] = [];
  private batch = "";
  /** True while the batch waits to be sent together with batches of other calls. */
  private isBatchScheduled = false;

  /**
   * Creates the sender of a call's response frames.
   * @param reply reply subject; undefined: the response is discarded
   * @param cancel subject prefix on which the worker receives cancellations
   */
  constructor(sender: Sender, reply: string | undefined, model: string, cancel?: string) {
    this.sender = sender;
    this.reply = reply;
    this.server = { model };
    this.cancel = cancel;
  }

  /** True if a chunk was sent. A later failure is then sent as an error frame instead of an HTTP status. */
  get hasBegun(): boolean {
    return this.n > 0;
  }

  /**
   * Returns undefined if the publisher has capacity for more frames. Otherwise returns a promise that resolves when it has capacity again.
   * See BufferedPublisher.
   */
  waitForDrain(): Promise<void> | undefined {
    return this.reply === undefined ? undefined : this.sender.waitForDrain();
  }

  /** Sends a formatted chunk of a stream. `upstreamMs`: milliseconds from the provider request to the provider's first chunk. */
  write(text: string, upstreamMs: number): void {
    if (this.n === 0) {
      this.firstMs = Math.round(commonNow());
      const [first = "", ...rest] = inFrames(text);
      const { nano, tokens } = this.progress();
      const price = { nano: nano.toString(), tokens };
      const sign = { upstream_ms: upstreamMs, ...(this.cancel !== undefined && { cancel: this.cancel }) };
      this.send(encodeFrame({ n: this.n++, run: this.run, t: "head", ...this.server, ...sign, ...price }, first));
      this.sendDeltas(rest);
      return;
    }
    this.batch += text;
    if (this.batch.length >= DELTA_BATCH_BYTES) this.flush();
    else if (!this.isBatchScheduled) {
      this.isBatchScheduled = true;
      scheduleBatch(this);
    }
  }

  /**
   * Sends the last frames of a successful call to the ingress. A response that is larger than a frame is sent in parts.
   * @param settle values of the settlement that the worker still has to write; absent if the call is already settled
   */
  end({ text, upstreamMs, contentType }: Result, nano: bigint, settle?: SettleNote): void {
    this.flush();
    const pieces = inFrames(text);
    const last = pieces.pop() ?? "";
    this.ending = pieces.map((piece) => encodeFrame({ n: this.n++, run: this.run, t: "part" }, piece));
    this.ending.push(
      encodeFrame(
        {
          n: this.n++,
          run: this.run,
          t: "end",
          ...this.server,
          nano: nano.toString(),
          upstream_ms: upstreamMs,
          ...(contentType === undefined ? {} : { content_type: contentType }),
          ...(settle === undefined ? {} : { settle }),
        },
        last,
      ),
    );
    this.sendEndAgain();
  }

  /** Sends the frames of `end` again to an ingress that lost one. The ingress ignores frames that it already received. */
  sendEndAgain(): void {
    for (const frame of this.ending) this.send(frame);
  }

  fail(failure: FailureFrame): void {
    this.flush();
    this.send(
      encodeFrame({
        n: this.n++,
        run: this.run,
        t: "error",
        code: failure.code,
        message: failure.message,
        param: failure.param,
        retry: failure.retry,
        ...(failure.retryAfterS === undefined ? {} : { retry_after_s: failure.retryAfterS }),
        ...(failure.fallback === undefined ? {} : { fallback: failure.fallback }),
      }),
    );
  }

  /** Sends the waiting batch in its time slot, together with batches of other calls. */
  sendBatch(): void {
    this.isBatchScheduled = false;
    this.flush();
  }

  private flush(): void {
    if (this.batch === "") return;
    const text = this.batch;
    this.batch = "";
    this.sendDeltas(inFrames(text));
  }

  private sendDeltas(pieces: readonly (string | Uint8Array)[]): void {
    if (pieces.length === 0) return;
    const { nano, tokens } = this.progress();
    for (const piece of pieces) {
      this.send(encodeFrame({ n: this.n++, run: this.run, t: "delta", nano: nano.toString(), tokens }, piece));
    }
  }

  private send(bytes: Uint8Array): void {
    // The runner rejected a reply address that is not ours: the call is settled, and its response is discarded.
    if (this.reply !== undefined && !this.sender.isClosed()) this.sender.publish(this.reply, bytes);
  }
}

/** Responses with a waiting batch, by the number of their time slot since the process start. */
const scheduledBatches = new Map<number, Answer[]>();

function scheduleBatch(answer: Answer): void {
  const now = performance.now();
  const moment = Math.floor((now + DELTA_BATCH_MS) / DELTA_MOMENT_MS);
  const together = scheduledBatches.get(moment);
  if (together) {
    together.push(answer);
    return;
  }
  const answers = [answer];
  scheduledBatches.set(moment, answers);
  setTimeout(
    () => {
      scheduledBatches.delete(moment);
      // A used array would keep the answers from the collector's short cycles.
      runEach(answers.splice(0).map((each) => () => each.sendBatch()));
    },
    moment * DELTA_MOMENT_MS - now,
  );
}

/** Splits a text into chunks that each fit into a frame. A chunk may end within a character, because the receiver joins the bytes. */
function inFrames(text: string): (string | Uint8Array)[] {
  // A UTF-16 code unit has at most three bytes in UTF-8.
  if (text.length <= FRAME_BYTES_MAX / 3) return [text];
  const bytes = new TextEncoder().encode(text);
  const pieces: Uint8Array[] = [];
  for (let from = 0; from < bytes.length; from += FRAME_BYTES_MAX) {
    pieces.push(bytes.subarray(from, from + FRAME_BYTES_MAX));
  }
  return pieces;
}
