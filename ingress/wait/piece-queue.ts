/** Queue of chunks between a producer and a reader. */

/** Maximum number of buffered chunks, above which they are joined into one, and maximum number of bytes buffered for a slow reader. */
export const RELAY_FRAMES_MAX = 256;
export const RELAY_BYTES_MAX = 1_048_576;

export class PieceQueue {
  /** Total size of the queued chunks, in bytes. */
  bytes = 0;
  private pieces: Uint8Array[] = [];
  private resolve: () => void = () => undefined;

  push(piece: Uint8Array): void {
    this.pieces.push(piece);
    this.bytes += piece.length;
    if (this.pieces.length > RELAY_FRAMES_MAX) this.pieces = [this.joined()];
    this.wake();
  }

  /** Removes and returns the first chunk; undefined if the queue is empty. */
  take(): Uint8Array | undefined {
    const piece = this.pieces.shift();
    this.bytes -= piece?.length ?? 0;
    return piece;
  }

  /** Removes all chunks and returns them joined into one; undefined if the queue is empty. */
  takeAll(): Uint8Array | undefined {
    if (this.pieces.length === 0) return undefined;
    const all = this.joined();
    this.clear();
    return all;
  }

  clear(): void {
    this.pieces = [];
    this.bytes = 0;
  }

  /** Resolves when a chunk arrives or `wake` is called. Supports one waiter at a time. */
  more(): Promise<void> {
    return new Promise((resolve) => {
      this.resolve = resolve;
    });
  }

  wake(): void {
    this.resolve();
  }

  private joined(): Uint8Array {
    const [only] = this.pieces;
    return only && this.pieces.length === 1 ? only : Buffer.concat(this.pieces, this.bytes);
  }
}
