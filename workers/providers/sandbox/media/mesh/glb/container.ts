/** The outer form of a binary glTF file (glTF 2.0, section 4.4): twelve bytes, then chunks with their lengths. */
import { readJson } from "#shared/json.ts";
import { MEDIA_LIMITS } from "#workers/providers/sandbox/media/limits.ts";
import { MediaError } from "#shared/media/media-error.ts";

export interface Container {
  readonly json: unknown;
  /** Empty where the file has none. */
  readonly binary: Uint8Array;
}

const MAGIC = 0x46546c67;
const JSON_CHUNK = 0x4e4f534a;
const BINARY_CHUNK = 0x004e4942;
const HEADER_BYTES = 12;
const CHUNK_HEADER_BYTES = 8;

/** @throws MediaError too_large, unsupported, corrupt */
export function openContainer(bytes: Uint8Array): Container {
  const { meshBytesMax, meshJsonBytesMax } = MEDIA_LIMITS;
  if (bytes.byteLength > meshBytesMax) {
    throw new MediaError("too_large", `The mesh has ${bytes.byteLength} bytes; at most ${meshBytesMax} are taken.`);
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.byteLength < 4 || view.getUint32(0, true) !== MAGIC) {
    throw new MediaError("unsupported", "The mesh is no binary glTF file (GLB).");
  }
  if (bytes.byteLength < HEADER_BYTES + CHUNK_HEADER_BYTES) throw cutOff();
  const version = view.getUint32(4, true);
  if (version !== 2) throw new MediaError("unsupported", `The mesh is glTF of version ${version}; version 2 is taken.`);
  const length = view.getUint32(8, true);
  if (length > bytes.byteLength) throw cutOff();
  if (length < bytes.byteLength) throw new MediaError("unsupported", "The mesh has other data behind its end.");
  const [first, second] = chunksOf(view);
  if (first?.kind !== JSON_CHUNK) throw new MediaError("corrupt", "The mesh does not begin with its description.");
  if (first.bytes.byteLength > meshJsonBytesMax) {
    throw new MediaError("too_large", `The mesh's description is larger than ${meshJsonBytesMax} bytes.`);
  }
  return {
    json: parse(first.bytes),
    binary: second?.kind === BINARY_CHUNK ? second.bytes : new Uint8Array(0),
  };
}

interface Chunk {
  readonly kind: number;
  readonly bytes: Uint8Array;
}

/** Further chunks may be there and mean nothing to us, but their lengths must be true. */
function chunksOf(view: DataView): Chunk[] {
  const chunks: Chunk[] = [];
  for (let at = HEADER_BYTES; at < view.byteLength;) {
    if (at + CHUNK_HEADER_BYTES > view.byteLength) throw cutOff();
    const length = view.getUint32(at, true);
    const start = at + CHUNK_HEADER_BYTES;
    if (start + length > view.byteLength) throw cutOff();
    const bytes = new Uint8Array(view.buffer, view.byteOffset + start, length);
    // Only the first two are looked at.
    if (chunks.length < 2) chunks.push({ kind: view.getUint32(at + 4, true), bytes });
    at = start + length;
  }
  return chunks;
}

/** Strict UTF-8, bounded depth, finite numbers. */
function parse(bytes: Uint8Array): unknown {
  try {
    return readJson(bytes).value;
  } catch (error) {
    throw new MediaError("corrupt", "The mesh's description is no valid JSON, or is nested too deeply.", {
      cause: error,
    });
  }
}

function cutOff(): MediaError {
  return new MediaError("corrupt", "The mesh is cut off before its end.");
}
