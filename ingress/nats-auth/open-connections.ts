/**
 * Connections that publishers have open at all servers: those that the servers told when they were last asked, and those that this process
 * admitted since. Processes that admit at once do not hear of each other's for a second, so a workspace may come to have more by as much.
 */
import type { NatsConnection } from "nats";

import type { Logger } from "#shared/logger.ts";
import type { PublisherIdentity } from "#shared/queue/subjects.ts";

/** Subject by which the account `AUTH` reads the connections of `SLUICE` (deploy/nats/server.conf). */
const CONNECTIONS_SUBJECT = "publishers.connections";

/** An answer of the servers is asked for anew after this; before, a workspace that has all its connections is refused at once. */
const FRESH_MS = 1_000;
/** Time for the answers of all servers, and for the next one after the last that answered. */
const ANSWER_MS = 1_000;
const NEXT_ANSWER_MS = 150;
/** Connections that one server tells, of 600 bytes each. */
const TOLD_MAX = 16_384;
/** Time in which a server may not yet tell a connection that was admitted. */
const UNTOLD_MS = 250;

export interface OpenConnection extends PublisherIdentity {
  readonly serverId: string;
  /** The connection's number at that server. */
  readonly clientId: number;
}

export interface OpenConnections {
  /** Counts the connection in. @returns false where its workspace has `max` already */
  open(connection: OpenConnection): Promise<boolean>;
  /** Connections as of the last answer of the servers, and those admitted here since. */
  list(): readonly OpenConnection[];
  /** Asks the servers for their connections. Never throws. */
  refresh(): Promise<void>;
}

interface Opened extends OpenConnection {
  readonly sinceMs: number;
}

export function createOpenConnections(options: {
  readonly connection: Pick<NatsConnection, "requestMany">;
  readonly log: Logger;
  /** For one workspace. */
  readonly max: number;
  /** The longest that a connection lives: one that no server tells of, for want of an answer, is forgotten then. */
  readonly livesMs: number;
  readonly now?: (() => number) | undefined;
}): OpenConnections {
  const { connection, log, max, livesMs, now = () => performance.now() } = options;
  let known = new Map<string, Opened>();
  let askedAtMs = -Infinity;
  let asking: Promise<void> | undefined;
  let isTold = true;

  const isFull = (workspaceId: string): boolean => {
    let open = 0;
    for (const one of known.values()) if (one.workspaceId === workspaceId) open += 1;
    return open >= max;
  };

  /** Never throws: where no server answers, what was known before counts on until its time is over. */
  const ask = async (): Promise<void> => {
    askedAtMs = now();
    const told = await readConnections(connection).catch((error: unknown) => {
      if (isTold) log.warn({ err: error }, NO_ANSWER);
      return undefined;
    });
    isTold = told !== undefined;
    const keptSinceMs = told ? askedAtMs - UNTOLD_MS : now() - livesMs;
    const kept = [...known].filter(([id, { sinceMs }]) => sinceMs >= keptSinceMs || told?.has(id));
    const heard = [...(told ?? [])].map(([id, one]) => [id, { ...one, sinceMs: askedAtMs }] as const);
    known = new Map([...heard, ...kept]);
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

const NO_ANSWER = "NATS does not report the connections of publishers: all that were admitted count as open";

/** Connections of publishers by server and number. @throws Error if no server answers */
async function readConnections(connection: Pick<NatsConnection, "requestMany">): Promise<Map<string, OpenConnection>> {
  const question = JSON.stringify({ auth: true, limit: TOLD_MAX });
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

/** Part of a server's answer. */
interface Answer {
  readonly data?: {
    readonly server_id: string;
    readonly connections?: readonly { readonly cid: number; readonly authorized_user?: string }[] | null;
  };
}
