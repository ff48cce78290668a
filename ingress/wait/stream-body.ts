/**
 * Streamed response body whose chunks arrive at the producer's speed. If the client stops reading, chunks are buffered up to a limit, and a
 * chunk beyond the limit aborts the stream. Other clients are not delayed.
 */

import { FRAME_BYTES_MAX } from "#shared/queue/frames.ts";

import { ResponseBody } from "../core/response-body.ts";
import { KEEPALIVE, KEEPALIVE_MS } from "../core/sse.ts";

import { PieceQueue, RELAY_BYTES_MAX } from "./piece-queue.ts";

export interface StreamBodyEvents {
  /** Called when the client has disconnected or has not read for too long. */
  onDisconnect(reason: "client" | "stuck"): void;
}

export class StreamBody extends ResponseBody {
  private readonly events: StreamBodyEvents;
  private readonly queue = new PieceQueue();
  private isEnded = false;
  private lastWriteAt = performance.now();

  constructor(events: StreamBodyEvents) {
    super();
    this.events = events;
  }

  write(piece: Uint8Array): void {
    if (!this.isOpen || this.isEnded || piece.length === 0) return;
    this.queue.push(piece);
    this.lastWriteAt = performance.now();
    if (this.queue.bytes > 2 * RELAY_BYTES_MAX) this.cut();
  }

  /** Ends the stream after the buffered chunks have been sent. */
  end(): void {
    this.isEnded = true;
    this.queue.wake();
  }

  /** Checks the buffer and the timeout, and sends a keepalive comment while no data arrives. */
  override tick(now: number): void {
    super.tick(now);
    const { bytes } = this.queue;
    if (bytes > RELAY_BYTES_MAX + FRAME_BYTES_MAX) this.cut();
    else if (bytes === 0 && now - this.lastWriteAt > KEEPALIVE_MS) this.write(KEEPALIVE);
  }

  protected next(): Uint8Array | Promise<void> | undefined {
    return this.queue.takeAll() ?? (this.isEnded ? undefined : this.queue.more());
  }

  protected override isAtEnd(): boolean {
    return this.isEnded;
  }

  protected onDisconnect(reason: "client" | "stuck"): void {
    this.queue.clear();
    this.queue.wake();
    this.events.onDisconnect(reason);
  }
}
