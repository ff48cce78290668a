/**
 * Tokens that authenticate messages about a job, sent by this installation or by a provider that received the token. A token is derived
 * from the job's id and one secret per purpose, so that it is not valid for another purpose.
 */
import { createHmac, timingSafeEqual } from "node:crypto";

export interface JobTokens {
  of(jobId: string): string;
  /** Returns true if the token belongs to the job. */
  isOf(jobId: string, token: string): boolean;
}

export function createJobTokens(secret: Uint8Array): JobTokens {
  const tokenOf = (jobId: string): string => createHmac("sha256", secret).update(jobId).digest("base64url");
  return {
    of: tokenOf,
    isOf(jobId, token) {
      const expected = Buffer.from(tokenOf(jobId));
      const actual = Buffer.from(token);
      return actual.length === expected.length && timingSafeEqual(actual, expected);
    },
  };
}
