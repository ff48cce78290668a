/** The part of an upload that is being gathered: memory grows with what has come, up to one part. */
import { freeMemory, takeMemory } from "./memory.ts";

const FIRST_BYTES = 64 * 1024;
/** Two steps from the first size to a part: each step copies what there is. */
const GROWTH = 10;

export class PartBuffer {
  private memory: Buffer<ArrayBuffer>;
  private length = 0;
  private readonly bytesMax: number;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
    this.memory = Buffer.allocUnsafeSlow(Math.min(FIRST_BYTES, bytesMax));
  }

  get isFull(): boolean {
    return this.length === this.bytesMax;
  }

  /** Copies as much as there is room for. Returns what is left over. */
  fill(bytes: Uint8Array): Uint8Array {
    const taken = bytes.subarray(0, this.bytesMax - this.length);
    this.makeRoom(this.length + taken.length);
    this.memory.set(taken, this.length);
    this.length += taken.length;
    return bytes.subarray(taken.length);
  }

  /** Valid until the next call. */
  get content(): Buffer {
    return this.memory.subarray(0, this.length);
  }

  clear(): void {
    this.length = 0;
  }

  /** It is not used any more. */
  free(): void {
    this.length = 0;
    freeMemory(this.memory, this.memory.length === this.bytesMax);
    this.memory = Buffer.alloc(0);
  }

  private makeRoom(wanted: number): void {
    if (wanted <= this.memory.length) return;
    let size = Math.max(1, this.memory.length);
    while (size < wanted) size = Math.min(this.bytesMax, size * GROWTH);
    const grown = takeMemory(size) as Buffer<ArrayBuffer>;
    grown.set(this.content);
    freeMemory(this.memory);
    this.memory = grown;
  }
}
