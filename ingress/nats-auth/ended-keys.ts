/**
 * Closes connections of publishers whose key is no longer active: revoked, expired, or of a disabled member or workspace. Their next login
 * is refused. If a server cannot close a connection, it remains until its login expires.
 */
import type { NatsConnection } from "nats";

import type { ActiveKeys } from "#shared/access/active-keys.ts";
import { KEY_CACHE_MS } from "#shared/access/questions.ts";
import type { Logger } from "#shared/logger.ts";
import { paced } from "#shared/pace.ts";

import type { OpenConnection, OpenConnections } from "./open-connections.ts";

/** Returns the subject with which the account `AUTH` closes connections at a server (deploy/nats/server.conf). */
const endSubject = (serverId: string): string => `publishers.end.${serverId}`;

/** Interval of reading the connections that other processes admitted from the servers, in milliseconds. */
const REFRESH_MS = paced(10_000);
/** Timeout of a server's response, in milliseconds. */
const ANSWER_MS = 1_000;

/** Starts closing connections. @returns a function that stops it */
export function endConnectionsOfEndedKeys(options: {
  readonly connection: Pick<NatsConnection, "request">;
  readonly connections: Pick<OpenConnections, "list" | "refresh">;
  readonly activeKeys: ActiveKeys;
  readonly log: Logger;
}): () => void {
  const { connection, connections, activeKeys, log } = options;
  let isStopped = false;
  let refreshedAt = -Infinity;
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** Connections that were closed already; a server may still list them for a moment. */
  let ended = new Set<string>();

  const end = async ({ serverId, clientId, workspaceId, keyId }: OpenConnection): Promise<void> => {
    const answer = await connection.request(endSubject(serverId), JSON.stringify({ cid: clientId }), {
      timeout: ANSWER_MS,
    });
    const { error } = answer.json<{ error?: { description?: string } }>();
    // The error reports a connection that had already closed.
    log.info(
      { workspace_id: workspaceId, key_id: keyId, reason: error?.description },
      "disconnected a batch publisher whose key has ended",
    );
  };

  const sweep = async (): Promise<void> => {
    if (performance.now() - refreshedAt > REFRESH_MS) {
      refreshedAt = performance.now();
      await connections.refresh();
    }
    const open = connections.list();
    if (open.length === 0) return;
    const active = await activeKeys([...new Set(open.map(({ keyId }) => keyId))]);
    const over = open.filter(({ keyId }) => !active.has(keyId));
    const before = ended;
    ended = new Set(over.map(nameOf));
    await Promise.all(over.filter((one) => !before.has(nameOf(one))).map(end));
  };

  const run = async (): Promise<void> => {
    await sweep().catch((error: unknown) => {
      ended = new Set();
      log.warn(
        { err: error },
        "publishers whose keys have ended could not be disconnected; their logins expire by themselves",
      );
    });
    if (!isStopped) timer = setTimeout(() => void run(), KEY_CACHE_MS);
  };
  void run();
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}

const nameOf = ({ serverId, clientId }: OpenConnection): string => `${serverId}/${clientId}`;
