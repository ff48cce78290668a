/**
 * Encodes and decodes the frames that parent and child exchange over stdin and stdout. A frame contains all lengths, a JSON head, then the
 * byte strings. Bytes are not encoded, because base64 over IPC would need a third more space and a copy.
 */

import { MediaError } from "./media-error.ts";

export interface ChildFrame {
  readonly head: Readonly<Record<string, unknown>>;
  readonly parts: readonly Uint8Array[];
}

/**
 * Size of the fixed beginning of a frame, in bytes: four for the head's length and four for the number of byte strings. Four more follow
 * for each byte string.
 */
const FIXED_BYTES = 8;
/** Maximum number of byte strings in a frame. No task sends or returns more, so a child that announces more is broken. */
const PARTS_MAX = 8;
const HEAD_BYTES_MAX = 4 * 1_048_576;
const PART_BYTES_MAX = 256 * 1_048_576;

/**
 * Returns one frame as byte strings that must be written in order. The byte strings of the frame are not copied.
 * @throws MediaError `too_large` if the receiver would reject the head; nothing is written then
 */
export function encodeFrame(frame: ChildFrame): Uint8Array[] {
  const head = new TextEncoder().encode(JSON.stringify(frame.head));
  if (head.byteLength > HEAD_BYTES_MAX) {
    const said = `Expected at most ${HEAD_BYTES_MAX} bytes of parameters and metadata, got ${head.byteLength}.`;
    throw new MediaError("too_large", said);
  }
  const lengths = new DataView(new ArrayBuffer(FIXED_BYTES + 4 * frame.parts.length));
  lengths.setUint32(0, head.byteLength);
  lengths.setUint32(4, frame.parts.length);
  frame.parts.forEach((part, index) => lengths.setUint32(FIXED_BYTES + 4 * index, part.byteLength));
  return [new Uint8Array(lengths.buffer), head, ...frame.parts];
}

/**
 * Yields the complete frames of a byte stream. Returns when the stream ends between two frames.
 * @throws Error if the stream ends within a frame or announces an invalid one
 */
export async function* readFrames(stream: AsyncIterable<Uint8Array>): AsyncGenerator<ChildFrame, void, void> {
  const reader = byteReader(stream);
  for (;;) {
    const fixed = await reader.take(FIXED_BYTES, true);
    if (fixed === null) return;
    const sizes = viewOf(fixed);
    const headBytes = sizes.getUint32(0);
    const count = sizes.getUint32(4);
    if (headBytes > HEAD_BYTES_MAX || count > PARTS_MAX) throw new Error("the other side sent no frame");
    const lengths = viewOf(await reader.need(4 * count));
    const head = JSON.parse(new TextDecoder().decode(await reader.need(headBytes))) as Record<string, unknown>;
    const parts: Uint8Array[] = [];
    for (let index = 0; index < count; index += 1) {
      const length = lengths.getUint32(4 * index);
      if (length > PART_BYTES_MAX) throw new Error("the other side sent a part that is too large");
      parts.push(await reader.need(length));
    }
    yield { head, parts };
  }
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

interface ByteReader {
  /** Reads exactly `length` bytes. Returns null at the end of the stream if `mayEnd` is true. */
  take(length: number, mayEnd: boolean): Promise<Uint8Array | null>;
  need(length: number): Promise<Uint8Array>;
}

function byteReader(stream: AsyncIterable<Uint8Array>): ByteReader {
  const source = stream[Symbol.asyncIterator]();
  let buffered: Uint8Array = new Uint8Array(0);

  async function take(length: number, mayEnd: boolean): Promise<Uint8Array | null> {
    const whole = new Uint8Array(length);
    let filled = 0;
    while (filled < length) {
      if (buffered.byteLength === 0) {
        const next = await source.next();
        if (next.done === true) {
          if (filled === 0 && mayEnd) return null;
          throw new Error("the other side ended within a frame");
        }
        buffered = next.value;
      }
      const taken = buffered.subarray(0, length - filled);
      whole.set(taken, filled);
      filled += taken.byteLength;
      buffered = buffered.subarray(taken.byteLength);
    }
    return whole;
  }

  return {
    take,
    need: async (length) => (await take(length, false)) ?? new Uint8Array(0),
  };
}
