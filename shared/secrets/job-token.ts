/**
 * What shows that a message about a job comes from this installation, or from a provider that it gave the token to: made
 * of the job's id and a secret of the installation, one for each purpose, so that no token serves for another.
 */
import { createHmac, timingSafeEqual } from "node:crypto";

export function jobToken(secret: Uint8Array, jobId: string): string {
  return createHmac("sha256", secret).update(jobId).digest("base64url");
}

export function isJobToken(secret: Uint8Array, jobId: string, token: string): boolean {
  const expected = Buffer.from(jobToken(secret, jobId));
  const given = Buffer.from(token);
  return given.length === expected.length && timingSafeEqual(given, expected);
}
