/**
 * Sign-ins that one address may try in a minute. Of IPv6 a network of 64 bits counts as one address. A process refuses what it knows to be too
 * many, so that a flood costs no statements; Postgres counts the rest, for all processes together.
 */
import { networkOf } from "#shared/access/ip-net.ts";
import { takeSignInTry } from "#shared/database/console-sessions.ts";
import type { Queryable } from "#shared/database/client.ts";
import { ApiError } from "#shared/errors.ts";

export const TRIES_PER_MINUTE_MAX = 10;
const WINDOW_MS = 60_000;
/** Beyond it those that tried first are forgotten. */
const ADDRESSES_MAX = 100_000;

export interface Tries {
  /** Counts one. @throws ApiError `ip_rate_limit_exceeded` */
  take(address: string): Promise<void>;
}

export function createTries(database: Queryable, now: () => number = () => performance.now()): Tries {
  /** Times of the last tries; those that tried last stand last. */
  const tries = new Map<string, readonly number[]>();
  return {
    async take(address) {
      const network = networkOf(address);
      const recent = (tries.get(network) ?? []).filter((at) => at > now() - WINDOW_MS);
      tries.delete(network);
      if (tries.size >= ADDRESSES_MAX) {
        for (const oldest of tries.keys()) {
          tries.delete(oldest);
          break;
        }
      }
      const isOver = recent.length >= TRIES_PER_MINUTE_MAX;
      tries.set(network, isOver ? recent : [...recent, now()]);
      if (!isOver && (await takeSignInTry(database, network, TRIES_PER_MINUTE_MAX))) return;
      throw new ApiError(
        "ip_rate_limit_exceeded",
        `This IP address sent more than ${TRIES_PER_MINUTE_MAX} sign-ins in a minute; try again in a minute.`,
      );
    },
  };
}
