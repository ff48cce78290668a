/** Splits a file that arrives in blocks into lines. One line is in memory at a time. */

/** Longest line without its end, in bytes. A call with some megabytes of media fits. */
export const LINE_BYTES_MAX = 8 * 1_048_576;

/** Line without its end. */
export interface Line {
  /** Line number, from 1. */
  readonly number: number;
  /** Offset of the line's first byte in the file. */
  readonly start: number;
  /** Content of the line. Undefined: the line is too long and was skipped. */
  readonly bytes: Uint8Array | undefined;
}

const LF = 0x0a;
const CR = 0x0d;

/** Yields every line. The last one may lack an end; nothing after the last end is no line. */
export async function* linesOf(
  blocks: AsyncIterable<Uint8Array>,
  bytesMax = LINE_BYTES_MAX,
): AsyncGenerator<Line, void, void> {
  let number = 1;
  let start = 0;
  let length = 0;
  // Copies, because the reader may reuse a block when the next one is requested.
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

/** Longest line that can count as blank, in bytes: the check of 8 MiB blocked the thread for 400 ms. */
const BLANK_BYTES_MAX = 4_096;

/** True for a line of only blanks, which is skipped. */
export function isBlank(bytes: Uint8Array): boolean {
  return bytes.length <= BLANK_BYTES_MAX && bytes.every((byte) => byte === 0x20 || byte === 0x09);
}
