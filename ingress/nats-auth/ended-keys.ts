/**
 * Ends connections of publishers whose key is not active any more: it was revoked or has expired, or its member or workspace is disabled.
 * Their next login is refused. A server that ends no connections for us keeps them until their login expires.
 */
import type { NatsConnection } from "nats";

import type { ActiveKeys } from "#shared/access/active-keys.ts";
import { KEY_CACHE_MS } from "#shared/access/questions.ts";
import type { Logger } from "#shared/logger.ts";
import { paced } from "#shared/pace.ts";

import type { OpenConnection, OpenConnections } from "./open-connections.ts";

/** Subject by which the account `AUTH` has a server end a connection (deploy/nats/server.conf). */
const endSubject = (serverId: string): string => `publishers.end.${serverId}`;

/** Interval at which the servers are asked for connections that other processes admitted, in milliseconds. */
const REFRESH_MS = paced(10_000);
/** Time for a server's answer, in milliseconds. */
const ANSWER_MS = 1_000;

/** @returns a function that stops it */
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
  /** Connections that were ended already: a server may still list them for a moment. */
  let ended = new Set<string>();

  const end = async ({ serverId, clientId, workspaceId, keyId }: OpenConnection): Promise<void> => {
    const answer = await connection.request(endSubject(serverId), JSON.stringify({ cid: clientId }), {
      timeout: ANSWER_MS,
    });
    const { error } = answer.json<{ error?: { description?: string } }>();
    // A connection that has ended by itself is not found any more.
    log.info({ workspace_id: workspaceId, key_id: keyId, reason: error?.description }, "a publisher's key has ended");
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
      log.warn({ err: error }, "connections of publishers whose key has ended stay until their login expires");
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
