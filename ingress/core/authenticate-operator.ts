/**
 * Authenticates callers of /operator, by a token or by a browser session that acts for a token. All valid tokens are read with one query and cached for at most `KEY_CACHE_MS`, counted from before
 * the query. A revoked token is therefore rejected everywhere within a second, and guessed tokens cause no look-ups.
 */
import { timingSafeEqual } from "node:crypto";

import { addressList, isListed } from "#shared/access/ip-net.ts";
import { type Asking, shared, KEY_CACHE_MS } from "#shared/access/questions.ts";
import type { Config } from "#shared/config/config.ts";
import type { Queryable } from "#shared/database/client.ts";
import { useOperatorSession } from "#shared/database/operator-sessions.ts";
import { liveOperatorTokens, type LiveToken, type Scope, SCOPES } from "#shared/database/operator-tokens.ts";
import { ApiError } from "#shared/base/errors.ts";
import { hashKey, isOperatorToken, isSessionToken } from "#shared/secrets/api-keys.ts";

import { openMinuteBound } from "./minute-bound.ts";
import { unknownPath } from "./unknown-path.ts";

/** Maximum number of calls per minute with one token, in one process. */
export const OPERATOR_CALLS_PER_MINUTE_MAX = 600;

export interface Operator {
  /** Name of the operator's token. */
  readonly name: string;
  readonly scope: Scope;
  readonly expires_at: Date | null;
}

export interface Operators {
  /**
   * Authenticates a request.
   * @param authorization value of the Authorization header
   * @param session token of a browser session, which replaces the Authorization header
   * @throws ApiError `not_found` if no token exists or the IP address is not allowed; `missing_api_key`, `invalid_api_key`,
   * `rate_limit_exceeded`; `service_unavailable` when the database is unavailable
   */
  authenticate(authorization: string | null, address: string, session?: string): Promise<Operator>;
  /**
   * Checks that operators exist and may call from this address.
   * @throws ApiError `not_found` if no token exists or the IP address is not allowed; `service_unavailable`
   */
  checkReachable(address: string): Promise<void>;
}

/** Operator who uses the token from the settings, which has every scope. */
const SETTINGS: Operator = { name: "settings", scope: "money", expires_at: null };

/** Checks that an operator has the needed scope. @throws ApiError `permission_denied` */
export function checkScope({ scope }: Operator, needed: Scope): void {
  if (SCOPES.indexOf(scope) >= SCOPES.indexOf(needed)) return;
  throw new ApiError("permission_denied", `Expected an operator token with the scope ${needed}, got ${scope}.`);
}

interface Snapshot {
  readonly tokens: ReadonlyMap<string, LiveToken>;
  readonly bornAt: number;
}

export function createOperators(options: {
  database: Queryable;
  config: Pick<Config, "operatorToken" | "operatorAllow">;
  now?: () => number;
}): Operators {
  const now = options.now ?? (() => performance.now());
  const { operatorToken, operatorAllow } = options.config;
  const ownHash = operatorToken === undefined ? undefined : hashKey(operatorToken);
  const allowed = operatorAllow.length === 0 ? undefined : addressList(operatorAllow);
  const bound = openMinuteBound(now);
  const asking = new Map<string, Asking<Snapshot>>();
  let known: Snapshot | undefined;

  const ask = (): Promise<Snapshot> =>
    shared(asking, "", now(), async (bornAt) => {
      const live = await liveOperatorTokens(options.database);
      const snapshot: Snapshot = { tokens: new Map(live.map((token) => [token.hash, token])), bornAt };
      // A slow query must not replace the result of a later one.
      if ((known?.bornAt ?? bornAt) <= bornAt) known = snapshot;
      return snapshot;
    });

  const liveTokens = async (): Promise<Snapshot["tokens"]> => {
    const { tokens } = known && now() - known.bornAt < KEY_CACHE_MS ? known : await ask().catch(unverified);
    return tokens;
  };

  const find = async (token: string | undefined): Promise<Operator | undefined> => {
    if (token === undefined) return undefined;
    const hash = hashKey(token);
    if (ownHash !== undefined && timingSafeEqual(hash, ownHash)) return SETTINGS;
    return isOperatorToken(token) ? (await liveTokens()).get(Buffer.from(hash).toString("hex")) : undefined;
  };

  const findBySession = async (session: string): Promise<Operator | undefined> => {
    if (!isSessionToken(session)) return undefined;
    const row = await useOperatorSession(options.database, hashKey(session)).catch(unverified);
    if (row === undefined) return undefined;
    const isSettings = ownHash !== undefined && Buffer.from(ownHash).toString("hex") === row.token_hash;
    return isSettings ? SETTINGS : (await liveTokens()).get(row.token_hash);
  };

  const checkAllowed = (address: string): void => {
    if (allowed !== undefined && !isListed(allowed, address)) throw unknownPath();
  };

  const checkExists = async (): Promise<void> => {
    if (ownHash === undefined && (await liveTokens()).size === 0) throw unknownPath();
  };

  return {
    async checkReachable(address) {
      checkAllowed(address);
      await checkExists();
    },
    async authenticate(authorization, address, session) {
      checkAllowed(address);
      const operator = await (session === undefined
        ? find(/^Bearer ([\x21-\x7e]{1,256})$/i.exec(authorization ?? "")?.[1])
        : findBySession(session));
      if (operator === undefined) {
        await checkExists();
        if (session !== undefined) throw sessionOver();
        throw authorization === null || authorization === "" ? missing() : invalid();
      }
      const max = OPERATOR_CALLS_PER_MINUTE_MAX;
      if (!bound.take(operator.name, max)) {
        throw new ApiError(
          "rate_limit_exceeded",
          `This operator token made more than ${max} calls in a minute; try again in a minute.`,
        );
      }
      const { name, scope, expires_at } = operator;
      return { name, scope, expires_at };
    },
  };
}

function unverified(cause: unknown): never {
  const message = "The service cannot verify operator tokens right now; try again shortly.";
  throw new ApiError("service_unavailable", message, { cause });
}

function missing(): ApiError {
  return new ApiError(
    "missing_api_key",
    "Missing operator token. Send it in the header `Authorization: Bearer <token>`.",
  );
}

function sessionOver(): ApiError {
  return new ApiError("invalid_api_key", "The operator session has ended; sign in with an operator token again.");
}

function invalid(): ApiError {
  return new ApiError("invalid_api_key", "The operator token is unknown, revoked or expired.");
}
