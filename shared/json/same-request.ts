/**
 * Recognizes repeated requests by their Idempotency-Key or by an id of the caller. An equal request receives the first response; a
 * different one is rejected.
 */
import { createHash } from "node:crypto";

import { writingCanonical } from "./serialize.ts";
import { ApiError } from "../base/errors.ts";
import { TimeSlices } from "../base/time-slices.ts";

/** Time for which the first response to an upload or a run is kept for repeats, in milliseconds. */
export const IDEMPOTENCY_MS = 24 * 3_600_000;

/** Returns the fingerprint of a JSON value as 64 hex digits. It is equal for equal values, regardless of the order of members. */
export async function fingerprintOfJson(asked: unknown, slices = new TimeSlices()): Promise<string> {
  const hash = createHash("sha256");
  await slices.run(writingCanonical(asked, (part) => hash.update(part)));
  return hash.digest("hex");
}

/** Returns true if all given values equal those of the first request. */
export function isSameRequest<First extends object>(first: First, asked: Partial<First>): boolean {
  const names = Object.keys(asked) as (keyof First)[];
  return names.every((name) => Bun.deepEquals(first[name], asked[name], true));
}

/**
 * Rejects a repeat that differs from the first request.
 * @param sentence describes the first request
 * @throws ApiError `idempotency_key_reused` if the requests differ
 */
export function checkSameRequest<First extends object>(first: First, asked: Partial<First>, sentence: string): void {
  if (!isSameRequest(first, asked)) throw reused(sentence);
}

export function reused(sentence: string, param: string | null = null): ApiError {
  return new ApiError("idempotency_key_reused", sentence, { param });
}
