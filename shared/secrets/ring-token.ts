/**
 * What a provider shows when it rings for a job of ours: made of the job's id and the installation's secret. A ring only
 * makes us ask, so who forges one gains nothing; the token keeps strangers from making us ask for others' jobs.
 */
import { createHmac, timingSafeEqual } from "node:crypto";

export function ringToken(secret: Uint8Array, jobId: string): string {
  return createHmac("sha256", secret).update(jobId).digest("base64url");
}

export function isRingToken(secret: Uint8Array, jobId: string, token: string): boolean {
  const expected = Buffer.from(ringToken(secret, jobId));
  const given = Buffer.from(token);
  return given.length === expected.length && timingSafeEqual(given, expected);
}
