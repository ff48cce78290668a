/**
 * Reads the bytes of a file and verifies the checksum of each block before any of its bytes are returned. Truncated or altered data is
 * never served. A block with a wrong checksum is requested again.
 */
import { createHash } from "node:crypto";

import type { FileBlocks } from "#shared/database/files.ts";
import type { Storage } from "#shared/storage/client.ts";
import { isMissing, readObject, StorageError } from "#shared/storage/objects.ts";

import { objectKey } from "./id.ts";
import { freeMemory } from "./memory.ts";

/** Maximum attempts to read a file. Each further attempt starts at the block that failed. */
const FILE_READ_ATTEMPTS = 3;

const HASH_BYTES = 32;

/**
 * Yields the bytes of a file from `from` up to, but not including, `to`, at most one block at a time.
 * @throws StorageError if the stored bytes are damaged; Error of the SDK if the store is unreachable
 */
export async function* readFile(
  storage: Storage,
  file: FileBlocks,
  from = 0,
  to = file.bytes,
): AsyncGenerator<Uint8Array, void, void> {
  const { blockBytes } = file;
  let block = Math.floor(from / blockBytes);
  const end = Math.ceil(to / blockBytes);
  for (let attempt = 1; block < end; attempt++) {
    try {
      for await (const bytes of readBlocks(storage, file, block, end)) {
        const start = block * blockBytes;
        yield bytes.subarray(Math.max(0, from - start), Math.min(bytes.length, to - start));
        block += 1;
        attempt = 1;
      }
    } catch (error) {
      if (isMissing(error))
        throw new StorageError("damaged", `the bytes of ${file.id} are not there`, { cause: error });
      if (attempt >= FILE_READ_ATTEMPTS || (error instanceof StorageError && error.fault === "silent")) throw error;
    }
  }
}

/**
 * Yields the blocks of a file after verifying each.
 * @throws StorageError at the first damaged block
 */
async function* readBlocks(
  storage: Storage,
  file: FileBlocks,
  first: number,
  end: number,
): AsyncGenerator<Buffer, void, void> {
  const { blockBytes } = file;
  let block = first;
  const sizeOf = (index: number): number => Math.min(blockBytes, file.bytes - index * blockBytes);
  let memory = Buffer.allocUnsafeSlow(sizeOf(block));
  let length = 0;
  const upTo = Math.min(file.bytes, end * blockBytes);
  for await (const chunk of readObject(storage, objectKey(file.id), first * blockBytes, upTo)) {
    for (let at = 0; at < chunk.length;) {
      if (block >= end) throw new StorageError("damaged", `${file.id} is longer than it was`);
      const taken = chunk.subarray(at, at + memory.length - length);
      memory.set(taken, length);
      length += taken.length;
      at += taken.length;
      if (length < memory.length) continue;
      checkBlock(file, block, memory);
      yield memory;
      block += 1;
      length = 0;
      // The consumer may still use the last one.
      if (block < end) memory = Buffer.allocUnsafeSlow(sizeOf(block));
    }
    if (chunk.buffer instanceof ArrayBuffer) freeMemory(chunk as Uint8Array<ArrayBuffer>);
  }
  if (block < end) throw new StorageError("damaged", `${file.id} ended in block ${block} of ${end}`);
}

function checkBlock(file: FileBlocks, block: number, bytes: Uint8Array): void {
  const expected = file.blockSha256.subarray(block * HASH_BYTES, (block + 1) * HASH_BYTES);
  if (Buffer.compare(createHash("sha256").update(bytes).digest(), expected) === 0) return;
  throw new StorageError("damaged", `block ${block} of ${file.id} has another checksum`);
}
