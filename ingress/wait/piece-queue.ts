/** Pieces that come by themselves, until they are taken. */

/** Frames or bytes held for a reader that does not read; deltas are merged beyond it. */
export const RELAY_FRAMES_MAX = 256;
export const RELAY_BYTES_MAX = 1_048_576;

export class PieceQueue {
  /** Bytes of all that is there. */
  bytes = 0;
  private pieces: Uint8Array[] = [];
  private resolve: () => void = () => undefined;

  push(piece: Uint8Array): void {
    this.pieces.push(piece);
    this.bytes += piece.length;
    if (this.pieces.length > RELAY_FRAMES_MAX) this.pieces = [this.joined()];
    this.wake();
  }

  /** Takes the first piece. */
  take(): Uint8Array | undefined {
    const piece = this.pieces.shift();
    this.bytes -= piece?.length ?? 0;
    return piece;
  }

  /** Takes all that is there as one piece. */
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

  /** Resolves when a piece has come, or at `wake`. For one waiter. */
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
