/**
 * Requests that come again under the same name, be it an Idempotency-Key or an id that the caller made: one that asks for the same hears
 * the first answer, and one that asks for something else is refused.
 */
import { createHash } from "node:crypto";

import { writingCanonical } from "./canonical-json.ts";
import { ApiError } from "./errors.ts";
import { TimeSlices } from "./time-slices.ts";

/** A repeat of an upload or a run under the same key hears the first answer for this long. */
export const IDEMPOTENCY_MS = 24 * 3_600_000;

/** Returns 64 hex digits: equal for values that are the same JSON, however the members of their objects are ordered. */
export async function fingerprintOfJson(asked: unknown, slices = new TimeSlices()): Promise<string> {
  const hash = createHash("sha256");
  await slices.run(writingCanonical(asked, (part) => hash.update(part)));
  return hash.digest("hex");
}

/** True if all that is asked for now is as it was asked for first. */
export function isSameRequest<First extends object>(first: First, asked: Partial<First>): boolean {
  const names = Object.keys(asked) as (keyof First)[];
  return names.every((name) => Bun.deepEquals(first[name], asked[name], true));
}

/** @param sentence says of what kind the first request was. @throws ApiError `idempotency_key_reused` where another is asked for now */
export function checkSameRequest<First extends object>(first: First, asked: Partial<First>, sentence: string): void {
  if (!isSameRequest(first, asked)) throw reused(sentence);
}

export function reused(sentence: string, param: string | null = null): ApiError {
  return new ApiError("idempotency_key_reused", sentence, { param });
}
