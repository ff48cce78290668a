/** Computes checksums of stored and read bytes. */
import { createHash } from "node:crypto";

import { TimeSlices } from "#shared/base/time-slices.ts";

const PIECE_BYTES = 1_048_576;

/** Returns a checksum. Large inputs are hashed in time slices, because the MD5 of 32 MB takes 50 ms. */
export async function checksumOf(
  bytes: Uint8Array,
  algorithm: "md5" | "sha256",
  encoding: "base64" | "hex",
): Promise<string> {
  const hash = createHash(algorithm);
  if (bytes.length <= PIECE_BYTES) return hash.update(bytes).digest(encoding);
  const slices = new TimeSlices();
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    await slices.yieldIfOver();
    hash.update(bytes.subarray(at, at + PIECE_BYTES));
  }
  return hash.digest(encoding);
}
