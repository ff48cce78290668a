/**
 * Response body whose content is still being produced. Bytes from the worker are relayed as they arrive. Bytes that were lost, or that
 * arrived faster than the client reads, are read from the stored file after the job has ended. An incomplete body is aborted, so that it
 * cannot be mistaken for a complete one.
 */
import type { EndedJob } from "#shared/database/jobs.ts";
import type { JobFrame, MediaResultHead } from "#shared/queue/job-frames.ts";

import { PieceQueue, RELAY_BYTES_MAX } from "./piece-queue.ts";

export interface LiveBodyTools {
  /** Resolves with the job when it has succeeded. @throws ApiError if the job failed */
  readonly ended: Promise<EndedJob>;
  /** Reads the stored file from an offset in bytes, and returns its total size in bytes. */
  readonly read: (
    row: EndedJob,
    from: number,
  ) => Promise<{ readonly size: number; readonly bytes: AsyncIterable<Uint8Array> }>;
}

export class LiveBody {
  /** Resolves with the response head when the first byte has arrived. Never resolves if the job ends before any byte arrives. */
  readonly begun: Promise<MediaResultHead>;
  private begin!: (head: MediaResultHead) => void;
  private run: number | undefined;
  private readonly queue = new PieceQueue();
  /** Number of bytes received without a gap (`receivedBytes`), and number of bytes sent to the client (`sent`). */
  private receivedBytes = 0;
  private sent = 0;
  private isBroken = false;

  constructor() {
    this.begun = new Promise((resolve) => {
      this.begin = resolve;
    });
  }

  onFrame(frame: JobFrame, data: Uint8Array): void {
    if (frame.t === "made") {
      // Another worker repeats the job: its output cannot continue the bytes already sent.
      if (this.run === undefined) this.run = frame.run;
      else if (frame.run !== this.run) this.isBroken = true;
      this.begin(frame);
    }
    if (frame.t !== "bytes" || frame.run !== this.run || this.isBroken) return;
    // The missing bytes and all after them are read from the file.
    if (frame.at !== this.receivedBytes || this.queue.bytes > RELAY_BYTES_MAX) {
      this.isBroken = true;
      return;
    }
    this.receivedBytes += data.length;
    this.queue.push(data);
  }

  /** Yields all bytes in order. @throws Error if the bytes cannot be completed; the connection must then be aborted */
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
