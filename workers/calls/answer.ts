/** Frames of one call to its ingress, numbered; the first piece leaves at once, later ones in small batches. */
import type { Code } from "#shared/errors.ts";
import { encodeFrame, type Fallback, type SettleNote, FRAME_BYTES_MAX } from "#shared/queue/frames.ts";

import type { BufferedPublisher } from "#shared/queue/buffered-publisher.ts";
import { runEach } from "#shared/queue/loop-turn.ts";

import type { Result } from "../outcome.ts";

/** Tokens after the first leave in batches of this age or size. */
export const DELTA_BATCH_MS = 20;
/** Batches of several calls leave at one moment, up to so much before their time. */
export const DELTA_MOMENT_MS = 5;
export const DELTA_BATCH_BYTES = 1_024;

type Sender = Pick<BufferedPublisher, "publish" | "isClosed" | "room">;

/** Returns the cost of a call so far; called when a batch leaves. */
export type Progress = () => { nano: bigint; tokens: number };

export interface FailureFrame {
  readonly code: Code;
  readonly message: string;
  readonly param: string | null;
  /** False when money moved or paid work may exist. */
  readonly retry: boolean;
  readonly retryAfterS?: number;
  /** Set when fallbacks of the model were tried and failed too. */
  readonly fallback?: Fallback;
}

/** The model that answers, for the headers. */
export interface Server {
  readonly model: string;
  /** Set when a fallback serves in place of the model asked for. */
  readonly fallback?: Fallback;
}

export class Answer {
  private readonly sender: Sender;
  private readonly reply: string | undefined;
  /** Set anew for each attempt, until one has begun. */
  server: Server;
  /** Zero, unless the call is one that is charged for the part of its answer that was sent. */
  progress: Progress = () => ({ nano: 0n, tokens: 0 });
  private n = 0;
  private readonly cancel: string | undefined;
  private readonly run = Math.random().toString(36).slice(2, 8);
  private ending: Uint8Array[] = [];
  private batch = "";
  /** Set while its batch waits to leave with those of others. */
  private isLeaving = false;

  /**
   * @param reply undefined: the answer goes nowhere
   * @param cancel subject below which the worker is told that it is not wanted any more
   */
  constructor(sender: Sender, reply: string | undefined, model: string, cancel?: string) {
    this.sender = sender;
    this.reply = reply;
    this.server = { model };
    this.cancel = cancel;
  }

  /** True once a piece has left: from here on a failure is an error frame, no status. */
  get hasBegun(): boolean {
    return this.n > 0;
  }

  /** Resolves when the publisher has room again; undefined: there is room. See BufferedPublisher. */
  room(): Promise<void> | undefined {
    return this.reply === undefined ? undefined : this.sender.room();
  }

  /** A piece of a stream, ready for the client. `upstreamMs` = time the provider took until the first one. */
  write(text: string, upstreamMs: number): void {
    if (this.n === 0) {
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
    else if (!this.isLeaving) {
      this.isLeaving = true;
      leaveTogether(this);
    }
  }

  /**
   * Ends the call well. A plain answer larger than a frame leaves in parts.
   * @param settle absent: the call is settled
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

  /** The frames of `end`, for an ingress that lost one. It takes no notice of those that it has. */
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

  /** Sends what is batched at the moment it leaves with others. */
  leave(): void {
    this.isLeaving = false;
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
    // The runner refused an address that is not ours: the call is settled, and its answer goes nowhere.
    if (this.reply !== undefined && !this.sender.isClosed()) this.sender.publish(this.reply, bytes);
  }
}

/** Answers that leave at a moment, by its number since the process began. */
const leaving = new Map<number, Answer[]>();

function leaveTogether(answer: Answer): void {
  const now = performance.now();
  const moment = Math.floor((now + DELTA_BATCH_MS) / DELTA_MOMENT_MS);
  const together = leaving.get(moment);
  if (together) {
    together.push(answer);
    return;
  }
  const answers = [answer];
  leaving.set(moment, answers);
  setTimeout(
    () => {
      leaving.delete(moment);
      // An array that is in use no more would keep the answers from the collector's short cycles.
      runEach(answers.splice(0).map((each) => () => each.leave()));
    },
    moment * DELTA_MOMENT_MS - now,
  );
}

/** Pieces that each fit into a frame; a character may be cut, since the other side joins bytes. */
function inFrames(text: string): (string | Uint8Array)[] {
  // A character of a string has at most three bytes.
  if (text.length <= FRAME_BYTES_MAX / 3) return [text];
  const bytes = new TextEncoder().encode(text);
  const pieces: Uint8Array[] = [];
  for (let from = 0; from < bytes.length; from += FRAME_BYTES_MAX) {
    pieces.push(bytes.subarray(from, from + FRAME_BYTES_MAX));
  }
  return pieces;
}
