/** Splits a Matroska block into its frames (RFC 9559, 10). A block may contain several frames by lacing. */
import type { Cursor } from "./facts.ts";

export type OnFrame<Track> = (track: Track, at: number, end: number) => void;

const XIPH = 1;
const FIXED = 2;

/** Calls `onFrame` for each frame of a block. @param at offset of the block's flags */
export function readFrames(cursor: Cursor, at: number, end: number, onFrame: (at: number, end: number) => void): void {
  const { bytes } = cursor;
  const lacing = ((bytes[at] ?? 0) >> 1) & 3;
  if (lacing === 0) return onFrame(at + 1, end);
  const count = (bytes[at + 1] ?? 0) + 1;
  let place = at + 2;
  const sizes: number[] = [];
  const statedSizes = lacing === FIXED ? 0 : count - 1;
  for (let index = 0; index < statedSizes && place < end; index += 1) {
    cursor.step();
    const read = lacing === XIPH ? readXiph(cursor, place, end) : readDifference(cursor, place, sizes.at(-1));
    sizes.push(read.size);
    place = read.next;
  }
  for (let index = 0; index < count && place < end; index += 1) {
    cursor.step();
    const size = lacing === FIXED ? Math.floor((end - at - 2) / count) : (sizes[index] ?? end - place);
    onFrame(place, Math.min(end, place + size));
    place += size;
  }
}

interface Size {
  readonly size: number;
  readonly next: number;
}

/** Reads a size in Xiph lacing: the sum of its bytes. A byte below 255 is the last one. */
export function readXiph({ bytes }: Cursor, at: number, end: number): Size {
  let size = 0;
  let next = at;
  do size += bytes[next] ?? 0;
  while (bytes[next++] === 255 && next < end);
  return { size, next };
}

/** Reads a size in EBML lacing. The first value is a size; each further one is the difference from the previous size. */
function readDifference(cursor: Cursor, at: number, former: number | undefined): Size {
  const read = readVint(cursor, at, true);
  if (read === null) throw cursor.corrupt("has a block with frames of unknown size");
  const middle = 2 ** (7 * read.length - 1) - 1;
  const size = former === undefined ? read.value : former + read.value - middle;
  if (size < 0) throw cursor.corrupt("has a block with a frame of negative size");
  return { size, next: at + read.length };
}

/** Reads a number whose length is in its first bits. An unknown size is returned as a value larger than any file. */
export function readVint(
  cursor: Cursor,
  at: number,
  isMasked: boolean,
): { readonly value: number; readonly length: number } | null {
  const first = cursor.bytes[at];
  if (first === undefined || first === 0) return null;
  const length = Math.clz32(first) - 23;
  if (at + length > cursor.length) return null;
  let value = isMasked ? first & (0xff >> length) : first;
  let isUnknown = isMasked && value === 0xff >> length;
  for (let index = 1; index < length; index += 1) {
    const next = cursor.bytes[at + index] ?? 0;
    isUnknown &&= next === 0xff;
    value = value * 256 + next;
  }
  return { value: isUnknown ? Number.MAX_SAFE_INTEGER : value, length };
}
