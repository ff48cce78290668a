/**
 * Connections that publishers have open at all NATS servers: those last reported by the servers, and those admitted by this process since.
 * Processes see each other's admissions after a second, so a workspace may briefly exceed its limit.
 */
import type { NatsConnection } from "nats";

import type { ActiveKeys } from "#shared/access/active-keys.ts";
import { KEY_CACHE_MS } from "#shared/access/questions.ts";
import type { Logger } from "#shared/base/logger.ts";
import { paced } from "#shared/config/pace.ts";
import type { PublisherIdentity } from "#shared/queue/subjects.ts";

/** NATS subject on which the account `AUTH` reads the connections of the account `SLUICE` (deploy/nats/server.conf). */
const CONNECTIONS_SUBJECT = "publishers.connections";

/**
 * Time for which a report of the NATS servers counts as current, in milliseconds. During this time, a workspace at its limit is refused
 * without reading the connections from the servers again.
 */
const FRESH_MS = 1_000;
/** Timeout for the responses of all NATS servers, and for each further response after the last one, in milliseconds. */
const ANSWER_MS = 1_000;
const NEXT_ANSWER_MS = 150;
/** Maximum number of connections that one NATS server reports, at 600 bytes each. */
const REPORTED_CONNECTIONS_MAX = 16_384;
/** Time after the admission of a connection during which a NATS server may not report it yet, in milliseconds. */
const UNREPORTED_MS = 250;

interface OpenConnection extends PublisherIdentity {
  readonly serverId: string;
  /** Id of the connection at its NATS server. */
  readonly clientId: number;
}

interface OpenConnections {
  /** Counts a new connection. @returns false without counting if the workspace already has `max` connections */
  open(connection: OpenConnection): Promise<boolean>;
  /** Returns the connections of the last report and those that this process has admitted since. */
  list(): readonly OpenConnection[];
  /** Reads the open connections from the NATS servers; never throws. */
  refresh(): Promise<void>;
}

interface Opened extends OpenConnection {
  readonly sinceMs: number;
}

export function createOpenConnections(options: {
  readonly connection: Pick<NatsConnection, "requestMany">;
  readonly log: Logger;
  /** Maximum number of connections per workspace. */
  readonly max: number;
  /** Maximum lifetime of a connection, in milliseconds. If no server reports arrive, a connection stops counting after this time. */
  readonly livesMs: number;
  readonly now?: (() => number) | undefined;
}): OpenConnections {
  const { connection, log, max, livesMs, now = () => performance.now() } = options;
  let known = new Map<string, Opened>();
  let askedAtMs = -Infinity;
  let asking: Promise<void> | undefined;
  let isResponding = true;

  const isFull = (workspaceId: string): boolean => {
    let open = 0;
    for (const one of known.values()) if (one.workspaceId === workspaceId) open += 1;
    return open >= max;
  };

  /**
   * Reads the open connections from the NATS servers; never throws. If no NATS server responds, connections read or admitted earlier count
   * until their lifetime has passed.
   */
  const ask = async (): Promise<void> => {
    askedAtMs = now();
    const reported = await readConnections(connection).catch((error: unknown) => {
      if (isResponding) log.warn({ err: error }, NO_ANSWER);
      return undefined;
    });
    isResponding = reported !== undefined;
    const keptSinceMs = reported ? askedAtMs - UNREPORTED_MS : now() - livesMs;
    const kept = [...known].filter(([id, { sinceMs }]) => sinceMs >= keptSinceMs || reported?.has(id));
    const received = [...(reported ?? [])].map(([id, one]) => [id, { ...one, sinceMs: askedAtMs }] as const);
    known = new Map([...received, ...kept]);
  };
  const askOnce = (): Promise<void> => {
    asking ??= ask().finally(() => (asking = undefined));
    return asking;
  };

  return {
    list: () => [...known.values()],
    refresh: askOnce,
    async open(one) {
      const { serverId, clientId, workspaceId } = one;
      if (now() - askedAtMs >= FRESH_MS) {
        const asked = askOnce();
        if (isFull(workspaceId)) await asked;
      } else if (asking && isFull(workspaceId)) await asking;
      if (isFull(workspaceId)) return false;
      known.set(`${serverId}/${clientId}`, { ...one, sinceMs: now() });
      return true;
    },
  };
}

const NO_ANSWER = "NATS does not report the connections of publishers; every admitted connection counts as open";

/** Reads the open connections of publishers, keyed by server and connection id. @throws Error if no NATS server responds */
async function readConnections(connection: Pick<NatsConnection, "requestMany">): Promise<Map<string, OpenConnection>> {
  const question = JSON.stringify({ auth: true, limit: REPORTED_CONNECTIONS_MAX });
  const answers = await connection.requestMany(CONNECTIONS_SUBJECT, question, {
    strategy: "stall",
    maxWait: ANSWER_MS,
    stall: NEXT_ANSWER_MS,
  });
  const found = new Map<string, OpenConnection>();
  let count = 0;
  for await (const answer of answers) {
    const { data } = answer.json<Answer>();
    if (!data) continue;
    count += 1;
    for (const { cid, authorized_user } of data.connections ?? []) {
      const [, workspaceId, keyId] = /^([\da-f-]{36})\/([\da-f-]{36})$/.exec(authorized_user ?? "") ?? [];
      if (workspaceId === undefined || keyId === undefined) continue;
      found.set(`${data.server_id}/${cid}`, { serverId: data.server_id, clientId: cid, workspaceId, keyId });
    }
  }
  if (count === 0) throw new Error("expected an answer of one server at least");
  return found;
}

/** Members of a NATS server's response that are read here. */
interface Answer {
  readonly data?: {
    readonly server_id: string;
    readonly connections?: readonly { readonly cid: number; readonly authorized_user?: string }[] | null;
  };
}

// Closes connections of publishers whose key is no longer active: revoked, expired, or of a disabled member or workspace. Their next login
// is refused. If a server cannot close a connection, it remains until its login expires.

/** Returns the NATS subject with which the account `AUTH` closes connections at a server (deploy/nats/server.conf). */
const endSubject = (serverId: string): string => `publishers.end.${serverId}`;

/**
 * Interval at which the open connections are read from the NATS servers, in milliseconds. They include connections that other processes
 * have admitted.
 */
const REFRESH_MS = paced(10_000);
/** Timeout of a NATS server's response, in milliseconds. */
const END_ANSWER_MS = 1_000;

/** Starts to close the connections of inactive keys, repeatedly. @returns a function that stops this */
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
  /** Ids of connections that this process has already closed. A NATS server may still list them for a moment. */
  let ended = new Set<string>();

  const end = async ({ serverId, clientId, workspaceId, keyId }: OpenConnection): Promise<void> => {
    const answer = await connection.request(endSubject(serverId), JSON.stringify({ cid: clientId }), {
      timeout: END_ANSWER_MS,
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
