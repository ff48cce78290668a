/** Computes SHA-256 checksums of a stream: one of all bytes, and one of each block. */
import { createHash, type Hash } from "node:crypto";

/** Bytes of a block, each with its own checksum. Small blocks make sure that verifying a range reads little more than the range. */
export const FILE_BLOCK_BYTES = 1_048_576;

export interface Digested {
  readonly bytes: number;
  readonly sha256: Buffer;
  /** Checksums of the blocks, 32 bytes each. The last block may be short. */
  readonly blockSha256: Buffer;
}

export class Digest {
  private readonly whole = createHash("sha256");
  private readonly blocks: Buffer[] = [];
  private block: Hash = createHash("sha256");
  private inBlock = 0;
  private total = 0;

  get bytes(): number {
    return this.total;
  }

  update(bytes: Uint8Array): void {
    this.whole.update(bytes);
    this.total += bytes.length;
    for (let at = 0; at < bytes.length;) {
      const piece = bytes.subarray(at, at + FILE_BLOCK_BYTES - this.inBlock);
      this.block.update(piece);
      this.inBlock += piece.length;
      at += piece.length;
      if (this.inBlock === FILE_BLOCK_BYTES) this.endBlock();
    }
  }

  /** Returns the checksums. Call this once, after the last byte. */
  end(): Digested {
    if (this.inBlock > 0) this.endBlock();
    return { bytes: this.total, sha256: this.whole.digest(), blockSha256: Buffer.concat(this.blocks) };
  }

  private endBlock(): void {
    this.blocks.push(this.block.digest());
    this.block = createHash("sha256");
    this.inBlock = 0;
  }
}
