/**
 * Tokens that show that a message about a job comes from this installation, or from a provider that it gave the token to: made
 * of the job's id and a secret of the installation, one secret for each purpose, so that no token serves for another.
 */
import { createHmac, timingSafeEqual } from "node:crypto";

export interface JobTokens {
  of(jobId: string): string;
  /** True if it is the job's token. */
  isOf(jobId: string, token: string): boolean;
}

export function createJobTokens(secret: Uint8Array): JobTokens {
  const tokenOf = (jobId: string): string => createHmac("sha256", secret).update(jobId).digest("base64url");
  return {
    of: tokenOf,
    isOf(jobId, token) {
      const expected = Buffer.from(tokenOf(jobId));
      const given = Buffer.from(token);
      return given.length === expected.length && timingSafeEqual(given, expected);
    },
  };
}
