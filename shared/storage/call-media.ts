/**
 * Stores the input media of a call in S3 under `claims/<job id>/<name>`, next to the call's large request text. They are deleted with the
 * call.
 */

import { checksumOf } from "./checksum.ts";
import { CLAIMS_PREFIX } from "./claim-check.ts";
import type { Storage } from "./client.ts";
import { withRetries } from "./with-retries.ts";
import {
  beginParts,
  deleteObject,
  dropParts,
  joinParts,
  putObject,
  putPart,
  readObject,
  type StoredPart,
  UPLOAD_PART_BYTES,
} from "./objects.ts";

/** Reference to a stored object: `bytes#sha256#key`. Each read verifies the size and the SHA-256. */
export type MediaReference = string;

/**
 * Stores an input medium of a call and returns its reference.
 * @param name name of the input, such as `image`
 */
export async function storeCallMedia(
  storage: Storage,
  jobId: string,
  name: string,
  bytes: Uint8Array,
): Promise<MediaReference> {
  const key = `${CLAIMS_PREFIX}${jobId}/${name}`;
  const digest = await checksumOf(bytes, "sha256", "hex");
  if (bytes.length <= UPLOAD_PART_BYTES) {
    await withRetries(bytes.length, (signal) => putObject(storage, key, bytes, signal));
  } else await storeParts(storage, key, bytes);
  return `${bytes.length}#${digest}#${key}`;
}

async function storeParts(storage: Storage, key: string, bytes: Uint8Array): Promise<void> {
  const uploadId = await beginParts(storage, key);
  try {
    const parts: StoredPart[] = [];
    for (let from = 0; from < bytes.length; from += UPLOAD_PART_BYTES) {
      const piece = bytes.subarray(from, from + UPLOAD_PART_BYTES);
      const number = parts.length + 1;
      parts.push(await withRetries(piece.length, (signal) => putPart(storage, key, uploadId, number, piece, signal)));
    }
    await joinParts(storage, key, uploadId, parts);
  } catch (error) {
    await dropParts(storage, key, uploadId).catch(() => undefined);
    throw error;
  }
}

/** Returns the size of the media behind a reference, in bytes. */
export function mediaSize(reference: MediaReference): number {
  return Number(reference.split("#")[0]);
}

/**
 * Reads the media behind a reference.
 * @throws Error if the object is missing or altered; the signal's reason if the signal aborts
 */
export async function readCallMedia(
  storage: Storage,
  reference: MediaReference,
  signal?: AbortSignal,
): Promise<Uint8Array> {
  const [, digest, key = ""] = reference.split("#");
  const size = mediaSize(reference);
  const bytes = Buffer.allocUnsafeSlow(size);
  let at = 0;
  for await (const piece of readObject(storage, key, 0, size)) {
    signal?.throwIfAborted();
    if (at + piece.length > size) throw new Error(`${key} is longer than it was`);
    bytes.set(piece, at);
    at += piece.length;
  }
  if (at !== size || (await checksumOf(bytes, "sha256", "hex")) !== digest) {
    throw new Error(`${key} is damaged: its checksum differs`);
  }
  return bytes;
}

/** Deletes the media behind a reference. Idempotent. */
export async function deleteCallMedia(storage: Storage, reference: MediaReference): Promise<void> {
  await deleteObject(storage, reference.split("#")[2] ?? "");
}
