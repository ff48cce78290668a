/** NATS connections: endless reconnects with jitter, and a version gate. */
import type { Socket } from "node:net";
import { NatsConnectionImpl, setTransportFactory } from "@nats-io/nats-core/internal";
import type { NatsConnection } from "nats";
import { nodeResolveHost, NodeTransport } from "nats/lib/node_transport.js";

import type { Config } from "#shared/config.ts";
import { awaitServer } from "#shared/dependencies.ts";
import type { Logger } from "#shared/logger.ts";
import { PlainSocket } from "#shared/plain-socket.ts";

import { sendAtTurnEnd } from "./loop-turn.ts";

/** Older servers lose or repeat messages in known ways. */
export const NATS_VERSION_MIN = "2.11.0";
/** Clustered servers of these versions can lose a message at its delivery limit. */
const NATS_VERSIONS_WARNED = new Set(["2.12.3", "2.12.4"]);

export type NatsRole = "ingress" | "worker" | "janitor" | "nats-auth";

/** Users of deploy/nats/server.conf. */
export type NatsUser = keyof Config["natsPasswords"];

export const INBOX_PREFIXES: Readonly<Record<NatsRole, string>> = {
  ingress: "_INBOX.gw",
  worker: "_INBOX.wk",
  janitor: "_INBOX.jn",
  "nats-auth": "_INBOX.au",
};

/**
 * Connects; `name` shows in the server's connection list.
 * @param options.login user and password where the URL names no user; without a password there is no login
 * @param options.waitMs for as long a server that is away is waited for; 0 unless given
 * @throws Error with one sentence when the server cannot be reached or is older than 2.11
 */
export async function connectNats(options: {
  url: string;
  name: string;
  role: NatsRole;
  login?: { readonly user: NatsUser; readonly pass: string | undefined } | undefined;
  waitMs?: number;
  log: Logger;
}): Promise<NatsConnection> {
  const attempt = (): Promise<NatsConnection> =>
    NatsConnectionImpl.connect({
      ...serversOf(options.url, options.login),
      name: options.name,
      // Each role has an inbox prefix of its own, so that the server's permissions can keep their replies apart.
      inboxPrefix: INBOX_PREFIXES[options.role],
      maxReconnectAttempts: -1,
      reconnectTimeWait: 250,
      reconnectJitter: 250,
      pingInterval: 20_000,
      maxPingOut: 2,
      timeout: 10_000,
    });
  const { waitMs = 0, log } = options;
  const connection = await awaitServer("queue", attempt, { waitMs, log }).catch((error: unknown) => {
    throw new Error(`NATS at ${redactUrl(options.url)} cannot be reached`, { cause: error });
  });
  const version = connection.info?.version ?? "0.0.0";
  if (compareVersions(version, NATS_VERSION_MIN) < 0) {
    await connection.close();
    throw new Error(`nats-server ${version} is too old; ${NATS_VERSION_MIN} or newer is needed`);
  }
  if (NATS_VERSIONS_WARNED.has(version)) {
    options.log.warn({ version }, "this nats-server version can lose messages when clustered; upgrade it");
  }
  void watch(connection, options.name, options.log);
  return connection;
}

/** The library's own transport over a lean socket; a server that wants TLS is dialled again the library's way. */
class PlainTransport extends NodeTransport {
  private server: Parameters<NodeTransport["connect"]>[0] | undefined;

  override connect(
    server: Parameters<NodeTransport["connect"]>[0],
    options: Parameters<NodeTransport["connect"]>[1],
  ): Promise<void> {
    this.server = server;
    return super.connect(server, options);
  }

  override dial({ port, hostname }: { port: number; hostname: string }): Promise<Socket> {
    const socket: Pick<Socket, "on" | "removeAllListeners"> = (PlainSocket.open() as Socket)
      .setNoDelay()
      .connect(port, hostname);
    return new Promise((resolve, reject) => {
      let fault: Error | undefined;
      socket.on("error", (error: Error) => {
        fault = error;
      });
      socket.on("close", () => reject(fault ?? new Error("the connection was closed")));
      socket.on("connect", () => {
        socket.removeAllListeners();
        resolve(socket as unknown as Socket);
      });
    });
  }

  override async startTLS(): ReturnType<NodeTransport["startTLS"]> {
    this.socket.destroy();
    this.yields.length = 0;
    if (this.server) this.socket = await super.dial(this.server);
    await this.peekInfo();
    return super.startTLS();
  }

  /**
   * Frames of one turn of the event loop go out in one piece at its end: calls that end in one turn cost one call of the kernel, and one
   * wake-up of the server, together. A frame that comes alone waits for no timer.
   */
  override send(frame: Uint8Array): void {
    if (this.isClosed) return;
    const { socket } = this;
    if (socket.writableCorked === 0) {
      socket.cork();
      sendAtTurnEnd(() => socket.uncork());
    }
    // What cannot be written is missed when the connection is found to be lost.
    socket.write(frame);
  }

  override close(error?: Error): Promise<void> {
    // What was published last still goes out.
    if (this.socket?.writableCorked > 0) this.socket.uncork();
    return super.close(error);
  }

  /** The library waits here until all is written, which never happens on a link that takes nothing: the one that heartbeats find. */
  override disconnect(): void {
    void this.close();
  }
}

setTransportFactory({ factory: () => new PlainTransport(), dnsResolveFn: nodeResolveHost });

/** The client reads no credentials from a URL, so they are taken out and given apart. */
function serversOf(
  urls: string,
  login: Parameters<typeof connectNats>[0]["login"],
): { servers: string[]; user?: string; pass?: string } {
  const parsed = urls.split(",").map((url) => new URL(url));
  const first = parsed[0];
  const servers = parsed.map((url) => `${url.protocol}//${url.host}`);
  if (!first || first.username === "") {
    return login?.pass === undefined ? { servers } : { servers, user: login.user, pass: login.pass };
  }
  return { servers, user: decodeURIComponent(first.username), pass: decodeURIComponent(first.password) };
}

/**
 * Calls back when the connection is lost and when it is there again, until it closes. In between the client drops
 * whatever is published (measured on 3.4.0: its buffer is emptied at each attempt to connect).
 */
export function onLink(connection: NatsConnection, on: { lost?(): void; restored?(): void }): void {
  void (async () => {
    for await (const status of connection.status()) {
      if (status.type === "disconnect") on.lost?.();
      else if (status.type === "reconnect") on.restored?.();
    }
  })();
}

/**
 * Resolves when the server has passed on everything that it had for us, and after `ms` milliseconds at the latest. Never rejects: a link that
 * is lost passes nothing on.
 */
export async function flushed(connection: Pick<NatsConnection, "flush">, ms: number): Promise<void> {
  const flush = connection.flush().catch(() => undefined);
  await Promise.race([flush, Bun.sleep(ms)]);
}

/** Acts that wait for the link of a connection, of those whose link is lost. */
const waiting = new WeakMap<object, (() => void)[]>();
/** A thousand jobs a second may end during an outage of ten seconds. */
const WAITING_MAX = 10_000;

/** Runs the act now, or once the link that is lost is there again: what it publishes would be dropped before. Acts beyond ten thousand are not run. */
export function whenLinked(connection: object, act: () => void): void {
  const acts = waiting.get(connection);
  if (!acts) act();
  else if (acts.length < WAITING_MAX) acts.push(act);
}

async function watch(connection: NatsConnection, name: string, log: Logger): Promise<void> {
  for await (const status of connection.status()) {
    switch (status.type) {
      case "disconnect":
      case "staleConnection":
        log.warn({ connection: name, status: status.type }, "nats connection lost");
        if (status.type === "disconnect" && !waiting.has(connection)) waiting.set(connection, []);
        break;
      case "reconnect": {
        log.info({ connection: name }, "nats connection restored");
        const acts = waiting.get(connection) ?? [];
        waiting.delete(connection);
        for (const act of acts) act();
        break;
      }
      case "error":
        log.error({ connection: name, err: status.error }, "nats error");
        break;
      default:
        break;
    }
  }
}

/** Negative when `a` is older than `b`; a pre-release suffix is ignored. */
export function compareVersions(a: string, b: string): number {
  const parts = (text: string): number[] => text.split("-")[0]?.split(".").map(Number) ?? [];
  const left = parts(a);
  const right = parts(b);
  for (let i = 0; i < 3; i++) {
    // A part that is not a number counts as 0, so an unreadable version counts as too old.
    const difference = (left[i] || 0) - (right[i] || 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function redactUrl(url: string): string {
  return url.replaceAll(/\/\/[^/@]*@/g, "//");
}
