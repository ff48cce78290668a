/**
 * Handles NATS logins of batch publishers. An API key, sent as password or token, grants access to the subjects of that key for minutes.
 * The connection may publish and subscribe only there, so the origin of every message is certain.
 */
import type { Msg, NatsConnection } from "nats";

import type { ActiveKeys } from "#shared/access/active-keys.ts";
import { checkAddress } from "#shared/access/access-lists.ts";
import type { Keys } from "#shared/access/authenticate.ts";
import { networkOf } from "#shared/access/ip-net.ts";
import { FairLimit } from "#shared/limits/fair-limit.ts";
import { apiErrorsOf } from "#shared/base/errors.ts";
import type { Logger } from "#shared/base/logger.ts";
import type { Metrics } from "#shared/metrics/metrics.ts";
import { batchSubject, POOLS, type PublisherIdentity, publisherInbox } from "#shared/queue/subjects.ts";

import { type Callout, CALLOUT_SUBJECT, type LoginRequest, SERVER_XKEY, type UserClaims } from "./callout.ts";
import { createOpenConnections, endConnectionsOfEndedKeys } from "./open-connections.ts";

/** NATS account in deploy/nats/server.conf that publishers and Sluice share. */
const ACCOUNT = "SLUICE";
/** Queue group of the login requests, so that only one replica answers each request. */
const REPLICAS = "nats-auth";

/** Maximum lifetime of a publisher's connection, in milliseconds. */
const LOGIN_MS = 600_000;
/** Jitter of connection lifetimes, from 0 to 1. Publishers that logged in together therefore do not reconnect together. */
const LOGIN_SPREAD = 0.2;
/** Maximum number of subscriptions of a connection. A publisher has one inbox, or one per request. */
const SUBSCRIPTIONS_MAX = 100;

/** Maximum number of concurrent database look-ups of keys. At most half of them may be for one IP address. */
const LOOKUPS_MAX = 4;
/**
 * Maximum number of logins that wait for a look-up, in total and per IP address, and their timeout in milliseconds. The NATS server
 * abandons a login after 2 s.
 */
const WAITING_MAX = 1_024;
const WAITING_PER_ADDRESS_MAX = 32;
const WAIT_MS = 1_000;

export interface LoginContext {
  readonly connection: NatsConnection;
  readonly callout: Callout;
  readonly keys: Pick<Keys, "find">;
  /** Returns the active keys among the given ones. */
  readonly activeKeys: ActiveKeys;
  readonly metrics: Pick<Metrics, "publisherLogins">;
  readonly log: Logger;
  /** Maximum number of open connections per workspace. */
  readonly connectionsMax: number;
  /** Maximum lifetime of a connection, in milliseconds. Default: LOGIN_MS. */
  readonly loginMs?: number;
  /** Clock for counting connections, in milliseconds. Default: performance.now. */
  readonly now?: () => number;
}

export interface Logins {
  /** Stops accepting logins. Resolves when the pending logins are answered. */
  stop(): Promise<void>;
}

class Busy extends Error {}

export function serveLogins(context: LoginContext): Logins {
  const { connection, callout, keys, activeKeys, metrics, log, connectionsMax: max, loginMs = LOGIN_MS, now } = context;
  const connections = createOpenConnections({ connection, log, max, livesMs: loginMs, now });
  const lookups: FairLimit = new FairLimit({
    max: LOOKUPS_MAX,
    mayHave: ({ taken }) => taken < LOOKUPS_MAX / 2,
    mayWait: ({ waiting }) => waiting <= WAITING_PER_ADDRESS_MAX && lookups.waiting <= WAITING_MAX,
    waitMs: WAIT_MS,
    refusal: () => new Busy(),
  });
  const inHand = new Set<Promise<void>>();
  const stopEnding = endConnectionsOfEndedKeys({ connection, connections, activeKeys, log });

  const decide = async (request: LoginRequest): Promise<UserClaims | Refusal> => {
    const { address, secret } = request;
    if (secret === "") return "refused";
    try {
      const lease = await lookups.take({ owner: networkOf(address) });
      const key = await keys.find(secret).finally(() => lease.release());
      if (!key) return "refused";
      if (apiErrorsOf(() => checkAddress(key, address)).length > 0) return "address";
      if (!(await connections.open({ ...request, workspaceId: key.workspaceId, keyId: key.keyId }))) {
        log.warn(
          { workspace_id: key.workspaceId, key_id: key.keyId, address, max },
          "a workspace has reached its limit of batch publisher connections",
        );
        return "full";
      }
      log.info({ workspace_id: key.workspaceId, key_id: key.keyId, address }, "a batch publisher logged in");
      return claimsOf(key, loginMs);
    } catch (error) {
      if (error instanceof Busy) return "busy";
      log.warn({ err: error }, "a batch publisher's key could not be looked up");
      return "failed";
    }
  };

  /** Sends the response to a login request, and counts the decision in the metrics; never throws. */
  const answer = async (message: Msg): Promise<void> => {
    const serverKey = message.headers?.get(SERVER_XKEY) ?? "";
    const request = callout.open(message.data, serverKey);
    if (!request) {
      // The request was encrypted for another key, or not encrypted.
      metrics.publisherLogins.inc("failed");
      log.error("a login request could not be decrypted with SLUICE_NATS_AUTH_XKEY_SEED");
      return;
    }
    const decision = await decide(request);
    const isRefused = typeof decision === "string";
    metrics.publisherLogins.inc(isRefused ? decision : "admitted");
    message.respond(
      isRefused ? callout.refuse(request, serverKey, REASONS[decision]) : callout.admit(request, serverKey, decision),
    );
  };
  const take = (message: Msg): void => {
    const work = answer(message);
    inHand.add(work);
    void work.finally(() => inHand.delete(work));
  };

  const subscription = connection.subscribe(CALLOUT_SUBJECT, {
    queue: REPLICAS,
    callback(error, message) {
      if (error) log.error({ err: error }, "logins of batch publishers cannot be answered");
      else take(message);
    },
  });
  return {
    async stop() {
      stopEnding();
      await subscription.drain();
      await Promise.all(inHand);
    },
  };
}

type Refusal = "refused" | "address" | "full" | "busy" | "failed";

/** Reasons for refusals, written to the NATS server's log. They never contain the key. */
const REASONS: Readonly<Record<Refusal, string>> = {
  refused: "no active API key",
  address: "the list of IP addresses of the API key or of its member does not contain the address of the client",
  full: "the workspace has as many connections open as SLUICE_PUBLISHER_CONNECTIONS_MAX lets it have",
  busy: "too many logins at once",
  failed: "API keys cannot be looked up",
};

/**
 * Returns the permissions of a publisher: it may publish batch messages of its own key to every pool, and receive answers below the key's
 * inbox subject.
 */
function claimsOf(key: PublisherIdentity, loginMs: number): UserClaims {
  return {
    name: `${key.workspaceId}/${key.keyId}`,
    account: ACCOUNT,
    expiresAtMs: Date.now() + loginMs * (1 - LOGIN_SPREAD * Math.random()),
    publish: POOLS.map((pool) => batchSubject(pool, key)),
    subscribe: [`${publisherInbox(key)}.>`],
    subscriptionsMax: SUBSCRIPTIONS_MAX,
  };
}
