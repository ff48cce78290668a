/**
 * Limits sign-in attempts per address and minute; an IPv6 network of 64 bits counts as one address. A process refuses a known excess itself,
 * so that a flood costs no statements. Postgres counts the others, for all processes.
 */
import { networkOf } from "#shared/access/ip-net.ts";
import { ApiError } from "#shared/base/errors.ts";
import { takeSignInTry } from "#shared/database/console-sessions.ts";
import type { Queryable } from "#shared/database/client.ts";

export const TRIES_PER_MINUTE_MAX = 10;
const WINDOW_MS = 60_000;
/** Maximum number of IP addresses whose sign-in attempts are kept in memory. The addresses with the oldest attempts are removed. */
const ADDRESSES_MAX = 100_000;

interface Tries {
  /** Counts a sign-in attempt of an IP address. @throws ApiError `ip_rate_limit_exceeded` after too many attempts */
  take(address: string): Promise<void>;
}

export function createTries(database: Queryable, now: () => number = () => performance.now()): Tries {
  /** Times of recent sign-in attempts by IP address. The address with the oldest last attempt comes first. */
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
