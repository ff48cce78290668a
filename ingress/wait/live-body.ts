/**
 * The body of an answer that is made while it is read: bytes go out as the worker tells them, and whatever was lost on the
 * way, or came faster than its reader takes it, is read from the file when the job has ended. A body that cannot be whole
 * is cut, never ended.
 */
import type { EndedJob } from "#shared/database/jobs.ts";
import type { JobFrame, MadeHead } from "#shared/queue/job-frames.ts";

import { PieceQueue, RELAY_BYTES_MAX } from "./piece-queue.ts";

export interface LiveBodyTools {
  /** The job as it ended well. @throws ApiError when it did not */
  readonly ended: Promise<EndedJob>;
  /** Reads the kept file from this offset on, and returns its whole size, in bytes. */
  readonly read: (
    row: EndedJob,
    from: number,
  ) => Promise<{ readonly size: number; readonly bytes: AsyncIterable<Uint8Array> }>;
}

export class LiveBody {
  /** Resolves when the first byte is there, with what it is; never when none comes before the job's end. */
  readonly begun: Promise<MadeHead>;
  private begin!: (head: MadeHead) => void;
  private run: number | undefined;
  private readonly queue = new PieceQueue();
  /** Bytes that have come without a gap, and those of them that were handed out. */
  private heard = 0;
  private sent = 0;
  private isBroken = false;

  constructor() {
    this.begun = new Promise((resolve) => {
      this.begin = resolve;
    });
  }

  onFrame(frame: JobFrame, data: Uint8Array): void {
    if (frame.t === "made") {
      // Another worker makes it anew: what was handed out of the first cannot be gone on with.
      if (this.run === undefined) this.run = frame.run;
      else if (frame.run !== this.run) this.isBroken = true;
      this.begin(frame);
    }
    if (frame.t !== "bytes" || frame.run !== this.run || this.isBroken) return;
    // What is missing, and all that follows it, comes from the file.
    if (frame.at !== this.heard || this.queue.bytes > RELAY_BYTES_MAX) {
      this.isBroken = true;
      return;
    }
    this.heard += data.length;
    this.queue.push(data);
  }

  /** All of it, in order. @throws Error when it cannot be had whole: the connection is to be cut then */
  async *bytes({ ended, read }: LiveBodyTools): AsyncGenerator<Uint8Array, void, void> {
    let row: EndedJob | undefined;
    let fault: unknown;
    const over = ended
      .then((found) => (row = found))
      .catch((error: unknown) => (fault = error))
      .then(() => this.queue.wake());
    for (;;) {
      const piece = this.queue.take();
      if (piece) {
        this.sent += piece.length;
        yield piece;
        continue;
      }
      if (fault !== undefined) throw fault;
      if (row) break;
      await this.queue.more();
    }
    await over;
    const { size, bytes } = await read(row, this.sent);
    if (size === this.sent) return;
    for await (const piece of bytes) yield piece;
  }
}
