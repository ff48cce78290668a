/**
 * Connections that publishers have open at all servers: those last reported by the servers, and those admitted by this process since.
 * Processes learn of each other's admissions after a second, so a workspace may briefly exceed its limit.
 */
import type { NatsConnection } from "nats";

import type { Logger } from "#shared/logger.ts";
import type { PublisherIdentity } from "#shared/queue/subjects.ts";

/** Subject on which the account `AUTH` reads the connections of `SLUICE` (deploy/nats/server.conf). */
const CONNECTIONS_SUBJECT = "publishers.connections";

/** Time for which a report of the servers is fresh. Within it, a workspace at its limit is refused immediately. */
const FRESH_MS = 1_000;
/** Timeout of all servers' responses, and of the next response after the last one. */
const ANSWER_MS = 1_000;
const NEXT_ANSWER_MS = 150;
/** Most connections that one server reports, of 600 bytes each. */
const TOLD_MAX = 16_384;
/** Time after its admission in which a server may not report a connection yet. */
const UNTOLD_MS = 250;

export interface OpenConnection extends PublisherIdentity {
  readonly serverId: string;
  /** Id of the connection at that server. */
  readonly clientId: number;
}

export interface OpenConnections {
  /** Counts a connection. @returns false if its workspace already has `max` */
  open(connection: OpenConnection): Promise<boolean>;
  /** Returns the connections of the last report, and those admitted here since. */
  list(): readonly OpenConnection[];
  /** Reads the connections from the servers; never throws. */
  refresh(): Promise<void>;
}

interface Opened extends OpenConnection {
  readonly sinceMs: number;
}

export function createOpenConnections(options: {
  readonly connection: Pick<NatsConnection, "requestMany">;
  readonly log: Logger;
  /** Most connections of one workspace. */
  readonly max: number;
  /** Longest lifetime of a connection, in milliseconds: without reports, it is forgotten after that. */
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

  /** Reads the connections; never throws. If no server responds, known connections count until their lifetime has passed. */
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

const NO_ANSWER = "NATS does not report the connections of publishers; every admitted connection counts as open";

/** Returns the connections of publishers by server and id. @throws Error if no server responds */
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

/** Part of a server's response. */
interface Answer {
  readonly data?: {
    readonly server_id: string;
    readonly connections?: readonly { readonly cid: number; readonly authorized_user?: string }[] | null;
  };
}
