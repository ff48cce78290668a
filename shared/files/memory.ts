/**
 * Manually managed buffers. The garbage collector frees buffers outside its heap too late, so that uploads would use many times their
 * memory.
 */

const KEPT_MAX = 4;
const kept: Buffer[] = [];
let keptBytes = 0;

/** Returns a buffer that is not zeroed. Freed buffers of the same size are reused. */
export function takeMemory(bytes: number): Buffer {
  if (bytes === keptBytes) {
    const used = kept.pop();
    if (used) return used;
  }
  return Buffer.allocUnsafeSlow(bytes);
}

/** Frees a buffer. Set `keep` if a buffer of this size will be needed again soon. */
export function freeMemory(memory: Uint8Array<ArrayBuffer>, keep = false): void {
  if (keep && (kept.length === 0 || keptBytes === memory.length)) {
    keptBytes = memory.length;
    if (kept.length < KEPT_MAX) {
      kept.push(Buffer.from(memory.buffer, 0, memory.length));
      return;
    }
  }
  // A view of a shared buffer must not be transferred.
  if (memory.byteLength === memory.buffer.byteLength && memory.byteLength > 0) memory.buffer.transfer(0);
}
