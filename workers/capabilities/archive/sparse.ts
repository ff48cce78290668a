/**
 * Reads sparse files in tar archives, which do not store the holes of a file. GNU tar writes four formats (its manual, "Storing Sparse
 * Files"). Type `S` has a map in the header and in following blocks. The others are pax 0.0, 0.1 and 1.0.
 */
import { MediaError } from "#shared/children/media-error.ts";

export interface SparseMap {
  /** Size of the file in bytes, including its holes. */
  readonly size: number;
  /** Offset and length of each stored section of the file, in bytes and in order. */
  readonly pieces: readonly (readonly [offset: number, bytes: number])[];
}

/** Maps found by `plainTar`, by the offset of the file's data in the output of `plainTar`. */
export type SparseMaps = Map<number, SparseMap>;

const BLOCK = 512;
const PAX_BYTES_MAX = 1_048_576;
const PIECES_MAX = 100_000;
const LINE_FEED = 0x0a;
/** Maximum number of 512-byte blocks of a sparse map. Each section takes two numbers of at most 20 digits. */
const MAP_BLOCKS_MAX = Math.ceil((PIECES_MAX * 2 * 21) / BLOCK) + 1;
const NO_BYTES: Buffer = Buffer.alloc(0);

/**
 * Yields a tar stream in which entries of type `S`, which tar parsers do not support, are plain files of their stored sections. The sparse
 * map of such an entry is removed from the stream and added to `maps`.
 */
export async function* plainTar(source: AsyncIterable<Uint8Array>, maps: SparseMaps): AsyncGenerator<Buffer> {
  const reader = openReader(source);
  let place = 0;
  /** Data of the last pax header, which applies to the next file. */
  let pax = NO_BYTES;
  for (let header = await reader.take(BLOCK); header.length > 0; header = await reader.take(BLOCK)) {
    const type = isTarHeader(header) ? String.fromCharCode(header[156] ?? 0) : "";
    const isOfNext = "xgLKN".includes(type) && type !== "";
    const size = type === "" ? 0 : dataBytes(header, isOfNext ? NO_BYTES : pax);
    let map = isOfNext ? undefined : offsetsOf(pax);
    if (type === "S") {
      map = { size: numberAt(header, 483), pieces: await headerPieces(header, () => reader.take(BLOCK)) };
      header = asFile(header);
    }
    place += header.length;
    if (map) maps.set(place, map);
    yield header;
    if (!isOfNext) pax = NO_BYTES;
    // An invalid size is left to the tar parser, which rejects it.
    let bytes = Number.isSafeInteger(size) ? Math.ceil(size / BLOCK) * BLOCK : 0;
    if (type === "x" && bytes <= PAX_BYTES_MAX) {
      pax = await reader.take(bytes);
      place += pax.length;
      yield pax;
      continue;
    }
    while (bytes > 0) {
      const piece = await reader.some(bytes);
      if (piece.length === 0) break;
      bytes -= piece.length;
      place += piece.length;
      yield piece;
    }
  }
}

/** Returns the length of an entry's data in bytes. Folders have no data, even if their header states a length. */
function dataBytes(header: Buffer, pax: Buffer): number {
  const type = header[156];
  const name = header.subarray(0, 100).toString("latin1").replace(/\0.*$/s, "");
  if (type === 0x35 || ((type === 0 || type === 0x30) && name.endsWith("/"))) return 0;
  const size = /(?:^|\n)\d+ size=(\d{1,16})\n/.exec(pax.toString("latin1"))?.[1];
  return size === undefined ? numberAt(header, 124) : Number(size);
}

/** Reads a 12-byte number field: octal digits, or a binary integer if the first bit is set. */
function numberAt(block: Buffer, at: number): number {
  const first = block[at] ?? 0;
  if (first === 0x80) return Number(`0x${block.subarray(at + 1, at + 12).toString("hex")}`);
  const digits = block
    .subarray(at, at + 12)
    .toString("latin1")
    .replace(/^[ \0]+/, "");
  return digits === "" ? 0 : Number.parseInt(digits, 8);
}

/**
 * Reads the sections of a sparse map from the header, which contains at most four. If the byte after them is 1, a block with 21 more
 * sections follows.
 */
async function headerPieces(header: Buffer, nextBlock: () => Promise<Buffer>): Promise<SparseMap["pieces"]> {
  const pieces = piecesIn(header, 386, 4);
  for (let isMore = header[482] === 1; isMore;) {
    const block = await nextBlock();
    if (block.length < BLOCK) throw damaged();
    pieces.push(...piecesIn(block, 0, 21));
    checkPieces(pieces.length);
    isMore = block[504] === 1;
  }
  return pieces;
}

function piecesIn(block: Buffer, start: number, count: number): [number, number][] {
  const places = Array.from({ length: count }, (_, at) => start + at * 24);
  return places.filter((at) => block[at] !== 0).map((at) => [numberAt(block, at), numberAt(block, at + 12)]);
}

/** Returns the header of a plain file, with a new checksum. */
function asFile(header: Buffer): Buffer {
  const plain = Buffer.from(header);
  plain.fill(0, 345);
  plain[156] = 0x30;
  plain.fill(0x20, 148, 156);
  plain.write(`${checksum(plain).toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return plain;
}

/** True if the block is a tar header with a correct checksum. Even the oldest tar files have one. */
export function isTarHeader(block: Buffer): boolean {
  if (block.length < BLOCK) return false;
  return (
    Number.parseInt(
      block
        .subarray(148, 156)
        .toString("latin1")
        .replace(/^[ \0]+/, ""),
      8,
    ) === checksum(block)
  );
}

/** Calculates the checksum of a header. The eight bytes of the checksum itself count as blanks (POSIX ustar). */
function checksum(header: Buffer): number {
  return header.reduce((sum, byte, at) => sum + (at >= 148 && at < 156 ? 0x20 : byte), 0);
}

/**
 * Reads the sparse map of a pax 0.0 file; undefined for other files. The pax records of this format repeat the same names, of which tar
 * parsers keep only the last.
 */
function offsetsOf(pax: Buffer): SparseMap | undefined {
  const records = pax.toString("latin1");
  if (!records.includes("GNU.sparse.offset=")) return undefined;
  const numbers = [...records.matchAll(/ GNU\.sparse\.(?:offset|numbytes)=(\d{1,16})\n/g)].map(([, one]) =>
    Number(one),
  );
  return { size: Number(/ GNU\.sparse\.size=(\d{1,16})\n/.exec(records)?.[1]), pieces: pairs(numbers) };
}

function pairs(numbers: readonly number[]): [number, number][] {
  checkPieces(numbers.length / 2);
  return Array.from({ length: numbers.length / 2 }, (_, at) => [numbers[2 * at] ?? 0, numbers[2 * at + 1] ?? 0]);
}

/** Yields the file's data with zeros for the holes. @throws MediaError corrupt, too_large */
async function* filled(data: AsyncIterable<Uint8Array>, map: SparseMap): AsyncGenerator<Uint8Array> {
  const reader = openReader(data);
  let place = 0;
  for (const [offset, bytes] of [...map.pieces, [map.size, 0] as const]) {
    if (!(offset >= place && offset + bytes <= map.size)) throw damaged();
    yield* zeros(offset - place);
    for (let remaining = bytes; remaining > 0;) {
      const piece = await reader.some(remaining);
      if (piece.length === 0) throw damaged();
      remaining -= piece.length;
      yield piece;
    }
    place = offset + bytes;
  }
  if ((await reader.some(1)).length > 0) throw damaged();
}

function* zeros(count: number): Generator<Uint8Array> {
  const block = new Uint8Array(Math.min(count, 65_536));
  for (let remaining = count; remaining > 0; remaining -= block.length)
    yield block.subarray(0, Math.min(remaining, block.length));
}

/**
 * Returns the name, size and data of a sparse file; undefined for other files. The map comes from `plainTar`, or from pax 0.1 or 1.0
 * records.
 * @throws MediaError corrupt, too_large
 */
export function sparseFile(
  found: SparseMap | undefined,
  pax: Readonly<Record<string, string>> | null,
): SparseFile | undefined {
  const record = (name: string): string | undefined => pax?.[`GNU.sparse.${name}`];
  const name = record("name");
  if (found) return { name, size: found.size, read: (data) => filled(data, found) };
  const map = record("map");
  if (map === undefined && record("major") !== "1") return undefined;
  const size = Number(record("realsize") ?? record("size"));
  if (map !== undefined) {
    const pieces = map === "" ? [] : pairs(map.split(",").map(Number));
    return { name, size, read: (data) => filled(data, { size, pieces }) };
  }
  return {
    name,
    size,
    async *read(data) {
      // In version 1.0, blocks before the data contain the number of pieces and their numbers, one per line.
      const reader = openReader(data);
      const blocks: string[] = [];
      let lines = 0;
      for (let wanted = 1; lines < wanted;) {
        const block = await reader.take(BLOCK);
        if (block.length < BLOCK || blocks.length > MAP_BLOCKS_MAX) throw damaged();
        blocks.push(block.toString("latin1"));
        const isFirst = lines === 0;
        lines += block.reduce((count, byte) => count + (byte === LINE_FEED ? 1 : 0), 0);
        if (!isFirst || lines === 0) continue;
        wanted = 1 + 2 * Number(blocks.join("").split("\n", 1)[0]);
        checkPieces(wanted / 2);
      }
      const [count = "", ...numbers] = blocks.join("").split("\n");
      yield* filled(reader.others(), { size, pieces: pairs(numbers.slice(0, 2 * Number(count)).map(Number)) });
    },
  };
}

interface SparseFile {
  readonly name: string | undefined;
  readonly size: number;
  read(data: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array>;
}

/** Checks that a sparse map has at most PIECES_MAX sections, and no negative number of them. @throws MediaError corrupt, too_large */
function checkPieces(count: number): void {
  if (!(count >= 0)) throw damaged();
  if (count > PIECES_MAX) throw new MediaError("too_large", `Expected sparse files of at most ${PIECES_MAX} pieces.`);
}

function damaged(): MediaError {
  return new MediaError("corrupt", "The archive cannot be read: the map of a sparse file is damaged.");
}

/** Creates a reader that returns a stream in chunks of a requested length. Only the last chunk may be shorter. */
function openReader(source: AsyncIterable<Uint8Array>) {
  const pieces = source[Symbol.asyncIterator]();
  let kept = NO_BYTES;
  const next = async (): Promise<boolean> => {
    const { done, value } = (await pieces.next()) as IteratorResult<Uint8Array, undefined>;
    if (done !== true) kept = kept.length === 0 ? view(value) : Buffer.concat([kept, value]);
    return done !== true;
  };
  const cut = (bytes: number): Buffer => {
    const taken = kept.subarray(0, bytes);
    kept = kept.subarray(bytes);
    return taken;
  };
  return {
    async take(bytes: number): Promise<Buffer> {
      while (kept.length < bytes && (await next()));
      return cut(bytes);
    },
    /** Returns bytes that are already available, at most `bytes`; empty at the end of the stream. */
    async some(bytes: number): Promise<Buffer> {
      while (kept.length === 0 && (await next()));
      return cut(bytes);
    },
    async *others(): AsyncGenerator<Buffer> {
      for (let piece = await this.some(Infinity); piece.length > 0; piece = await this.some(Infinity)) yield piece;
    },
  };
}

function view({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length);
}
