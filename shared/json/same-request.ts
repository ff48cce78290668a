/**
 * Repeated requests with the same name, an Idempotency-Key or an id of the caller: an equal request receives the first response, a
 * different one is rejected.
 */
import { createHash } from "node:crypto";

import { writingCanonical } from "./serialize.ts";
import { ApiError } from "../base/errors.ts";
import { TimeSlices } from "../base/time-slices.ts";

/** Retention of the first response for repeats of an upload or a run, in milliseconds. */
export const IDEMPOTENCY_MS = 24 * 3_600_000;

/** Returns 64 hex digits, equal for equal JSON values regardless of the order of members. */
export async function fingerprintOfJson(asked: unknown, slices = new TimeSlices()): Promise<string> {
  const hash = createHash("sha256");
  await slices.run(writingCanonical(asked, (part) => hash.update(part)));
  return hash.digest("hex");
}

/** Returns true if all requested values equal those of the first request. */
export function isSameRequest<First extends object>(first: First, asked: Partial<First>): boolean {
  const names = Object.keys(asked) as (keyof First)[];
  return names.every((name) => Bun.deepEquals(first[name], asked[name], true));
}

/** @param sentence describes the first request. @throws ApiError `idempotency_key_reused` if the requests differ */
export function checkSameRequest<First extends object>(first: First, asked: Partial<First>, sentence: string): void {
  if (!isSameRequest(first, asked)) throw reused(sentence);
}

export function reused(sentence: string, param: string | null = null): ApiError {
  return new ApiError("idempotency_key_reused", sentence, { param });
}
