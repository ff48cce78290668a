/** Checks that a Zstandard file is complete, because the decoder reports no error if its input ends early (RFC 8878, 3.1). */
import { open, type FileHandle } from "node:fs/promises";

import { MediaError } from "#shared/children/media-error.ts";

const FRAME_MAGIC = 0xfd2fb528;
const SKIPPABLE_MAGIC = 0x184d2a50;
const RLE_BLOCK = 1;
const RESERVED_BLOCK = 3;

/** Checks the frames of a Zstandard file. @throws MediaError corrupt if the file is truncated, or has data after its frames */
export async function checkZstdWhole(path: string): Promise<void> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    let at = 0;
    do at = await frameEnd(file, at);
    while (at < size);
    if (at > size) throw cut();
  } finally {
    await file.close();
  }
}

async function frameEnd(file: FileHandle, start: number): Promise<number> {
  const magic = await numberAt(file, start, 4);
  if ((magic & ~0xf) >>> 0 === SKIPPABLE_MAGIC) return start + 8 + (await numberAt(file, start + 4, 4));
  if (magic !== FRAME_MAGIC) throw cut();
  const descriptor = await numberAt(file, start + 4, 1);
  const isSingle = (descriptor & 0x20) !== 0;
  const sizeBytes = [isSingle ? 1 : 0, 2, 4, 8][descriptor >> 6] ?? 0;
  const dictionaryBytes = [0, 1, 2, 4][descriptor & 3] ?? 0;
  let at = start + 5 + (isSingle ? 0 : 1) + dictionaryBytes + sizeBytes;
  for (let isLast = false; !isLast;) {
    const header = await numberAt(file, at, 3);
    isLast = (header & 1) === 1;
    const type = (header >> 1) & 3;
    if (type === RESERVED_BLOCK) throw cut();
    at += 3 + (type === RLE_BLOCK ? 1 : header >> 3);
  }
  return at + ((descriptor & 4) === 0 ? 0 : 4);
}

async function numberAt(file: FileHandle, position: number, length: number): Promise<number> {
  const { bytesRead, buffer } = await file.read(Buffer.alloc(length), 0, length, position);
  if (bytesRead < length) throw cut();
  return buffer.readUIntLE(0, length);
}

function cut(): MediaError {
  return new MediaError("corrupt", "Expected complete Zstandard frames, got truncated ones or none.");
}
