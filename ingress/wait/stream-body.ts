/**
 * The body of a streamed answer. Pulled by the client's socket, so a reader that stops costs a bounded buffer and slows
 * nobody else; what comes beyond the bound ends the stream.
 */
import { LIMITS } from "#shared/limits.ts";

const KEEPALIVE = new TextEncoder().encode(": keepalive\n\n");

/** The server underneath prints the reason of every failed body to stderr, with an excerpt of our source. */
const NO_REASON = undefined;

export interface StreamBodyEvents {
  /** The client closed its side, or the reader was stuck too long. */
  onLeft(reason: "client" | "stuck"): void;
}

export class StreamBody {
  readonly readable: ReadableStream<Uint8Array>;
  private readonly events: StreamBodyEvents;
  private pieces: Uint8Array[] = [];
  private bytes = 0;
  private isEnded = false;
  private isClosed = false;
  private isCut = false;
  private wake: (() => void) | undefined;
  private lastWriteAt = performance.now();
  private lastPullAt = performance.now();

  constructor(events: StreamBodyEvents) {
    this.events = events;
    this.readable = new ReadableStream<Uint8Array>(
      {
        pull: (controller) => this.pull(controller),
        cancel: () => this.left("client"),
      },
      { highWaterMark: 0 },
    );
  }

  get isOpen(): boolean {
    return !this.isClosed;
  }

  write(piece: Uint8Array): void {
    if (this.isClosed || this.isEnded || piece.length === 0) return;
    this.pieces.push(piece);
    this.bytes += piece.length;
    if (this.pieces.length > LIMITS.relayFramesMax) {
      this.pieces = [Buffer.concat(this.pieces, this.bytes)];
    }
    this.lastWriteAt = performance.now();
    if (this.bytes > 2 * LIMITS.relayBytesMax) this.left("stuck");
    else this.wake?.();
  }

  /** No more pieces; what is buffered still goes out. */
  end(): void {
    this.isEnded = true;
    this.wake?.();
  }

  /** Called about once a second: keeps a silent stream alive, cuts one whose reader takes nothing. */
  tick(now: number): void {
    if (this.isClosed) return;
    const isStuck = this.bytes > 0 && now - this.lastPullAt > LIMITS.readerStuckMs;
    if (isStuck || this.bytes > LIMITS.relayBytesMax + LIMITS.frameBytesMax) this.left("stuck");
    else if (!this.isEnded && this.bytes === 0 && now - this.lastWriteAt > LIMITS.keepaliveMs) this.write(KEEPALIVE);
  }

  private async pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    this.lastPullAt = performance.now();
    if (this.bytes === 0 && !this.isEnded && !this.isClosed) {
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
      this.wake = undefined;
    }
    this.lastPullAt = performance.now();
    if (this.isClosed) {
      // The reader was cut: an error makes the socket close without the end marker of a whole answer. One that left
      // by itself has closed the controller already.
      if (this.isCut) controller.error(NO_REASON);
      return;
    }
    if (this.bytes > 0) {
      const [only] = this.pieces;
      controller.enqueue(this.pieces.length === 1 && only ? only : Buffer.concat(this.pieces, this.bytes));
      this.pieces = [];
      this.bytes = 0;
    }
    if (this.isEnded) {
      this.isClosed = true;
      controller.close();
    }
  }

  private left(reason: "client" | "stuck"): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.isCut = reason === "stuck";
    this.pieces = [];
    this.bytes = 0;
    this.wake?.();
    this.events.onLeft(reason);
  }
}
