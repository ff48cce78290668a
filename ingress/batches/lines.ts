/** Lines of a file that comes in blocks: one is in memory at a time. */

/** Longest line, its end not counted. A call with media of some megabytes in it fits. */
export const LINE_BYTES_MAX = 8 * 1_048_576;

/** A line without its end. */
export interface Line {
  /** From 1. */
  readonly number: number;
  /** Its first byte's place in the file. */
  readonly start: number;
  /** Undefined: it is longer than it may be, and was passed over. */
  readonly bytes: Uint8Array | undefined;
}

const LF = 0x0a;
const CR = 0x0d;

/** Every line, the last one with or without an end; what stands behind the last end is no line where it is empty. */
export async function* linesOf(
  blocks: AsyncIterable<Uint8Array>,
  bytesMax = LINE_BYTES_MAX,
): AsyncGenerator<Line, void, void> {
  let number = 1;
  let start = 0;
  let length = 0;
  // Copies: a block is its reader's again when the next one is asked for.
  let pieces: Uint8Array[] = [];
  const add = (piece: Uint8Array): void => {
    length += piece.length;
    if (length > bytesMax + 1) pieces = [];
    else if (piece.length > 0) pieces.push(new Uint8Array(piece));
  };
  const lineOf = (): Line => {
    const bytes = length > bytesMax + 1 ? undefined : withoutReturn(pieces.length === 1 ? pieces[0] : joined(pieces));
    return { number, start, bytes: bytes && bytes.length <= bytesMax ? bytes : undefined };
  };
  for await (const block of blocks) {
    let from = 0;
    for (let end = block.indexOf(LF); end >= 0; end = block.indexOf(LF, from)) {
      add(block.subarray(from, end));
      yield lineOf();
      number += 1;
      start += length + 1;
      length = 0;
      pieces = [];
      from = end + 1;
    }
    add(block.subarray(from));
  }
  if (length > 0) yield lineOf();
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(pieces);
}

function withoutReturn(bytes: Uint8Array = new Uint8Array(0)): Uint8Array {
  return bytes.at(-1) === CR ? bytes.subarray(0, -1) : bytes;
}

/** Longest line of blanks that is passed over: 8 MiB of them took the thread for 400 ms. */
const BLANK_BYTES_MAX = 4_096;

/** True for a line of blanks alone, which is passed over. */
export function isBlank(bytes: Uint8Array): boolean {
  return bytes.length <= BLANK_BYTES_MAX && bytes.every((byte) => byte === 0x20 || byte === 0x09);
}
