/** Memory of known life. The collector learns too late of buffers outside its heap: uploads would hold many times theirs. */

const KEPT_MAX = 4;
const kept: Buffer[] = [];
let keptBytes = 0;

/** Not zeroed. All of one size are used again. */
export function takeMemory(bytes: number): Buffer {
  if (bytes === keptBytes) {
    const used = kept.pop();
    if (used) return used;
  }
  return Buffer.allocUnsafeSlow(bytes);
}

/** Nobody looks at it any more. `keep`: the like of it will be wanted again soon. */
export function freeMemory(memory: Uint8Array<ArrayBuffer>, keep = false): void {
  if (keep && (kept.length === 0 || keptBytes === memory.length)) {
    keptBytes = memory.length;
    if (kept.length < KEPT_MAX) {
      kept.push(Buffer.from(memory.buffer, 0, memory.length));
      return;
    }
  }
  // A part of a shared buffer is not ours to take.
  if (memory.byteLength === memory.buffer.byteLength && memory.byteLength > 0) memory.buffer.transfer(0);
}
