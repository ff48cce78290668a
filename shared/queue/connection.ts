/** Opens NATS connections, which reconnect forever with jitter, and checks the version of the server. */
import type { Socket } from "node:net";
import { NatsConnectionImpl, setTransportFactory } from "@nats-io/nats-core/internal";
import type { NatsConnection } from "nats";
import { nodeResolveHost, NodeTransport } from "nats/lib/node_transport.js";

import type { Config } from "#shared/config/config.ts";
import { awaitServer } from "#shared/net/dependencies.ts";
import type { Logger } from "#shared/base/logger.ts";
import { PlainSocket } from "#shared/net/plain-socket.ts";

import { sendAtTickEnd } from "./tick-end.ts";

/** Lowest supported version of the server. Older servers are known to lose or repeat messages. */
export const NATS_VERSION_MIN = "2.11.0";
/** Server versions that cause a warning, because a cluster of them can lose a message at its delivery limit. */
const NATS_VERSIONS_WARNED = new Set(["2.12.3", "2.12.4"]);

export type NatsRole = "ingress" | "worker" | "janitor" | "nats-auth";

/** User in deploy/nats/server.conf. */
export type NatsUser = keyof Config["natsPasswords"];

export const INBOX_PREFIXES: Readonly<Record<NatsRole, string>> = {
  ingress: "_INBOX.gw",
  worker: "_INBOX.wk",
  janitor: "_INBOX.jn",
  "nats-auth": "_INBOX.au",
};

/**
 * Connects to NATS.
 * @param options.name name in the server's connection list
 * @param options.login user and password if the URL contains no user; no login without a password
 * @param options.waitMs maximum wait for an unreachable server, in milliseconds; default: 0
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
      // Each role has its own inbox prefix, so that the permissions of the server can separate their replies.
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

/** Transport of the NATS library over a PlainSocket. A server that requires TLS is connected through the library's own socket. */
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
   * Sends all frames of one turn of the event loop together at its end, with one system call and one wake-up of the server. A single frame
   * waits for no timer.
   */
  override send(frame: Uint8Array): void {
    if (this.isClosed) return;
    const { socket } = this;
    if (socket.writableCorked === 0) {
      socket.cork();
      sendAtTickEnd(() => socket.uncork());
    }
    // A failed write is detected when the connection is lost.
    socket.write(frame);
  }

  override close(error?: Error): Promise<void> {
    // The last published frames are still sent.
    if (this.socket?.writableCorked > 0) this.socket.uncork();
    return super.close(error);
  }

  /** Closes the socket immediately. The library would wait for pending writes, which never finish on a stalled connection. */
  override disconnect(): void {
    void this.close();
  }
}

setTransportFactory({ factory: () => new PlainTransport(), dnsResolveFn: nodeResolveHost });

/** Separates credentials from the server URLs, because the client does not read them from a URL. */
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
 * Calls `lost` and `restored` whenever the connection is lost and restored, until it is closed. While it is lost, the client drops
 * published messages (measured on 3.4.0: its buffer is cleared at each attempt to connect).
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
 * Resolves when the server has delivered all pending messages, or after `ms` milliseconds. Never rejects: a lost connection delivers
 * nothing.
 */
export async function flushed(connection: Pick<NatsConnection, "flush">, ms: number): Promise<void> {
  const flush = connection.flush().catch(() => undefined);
  await Promise.race([flush, Bun.sleep(ms)]);
}

/** Actions that wait until a lost connection is restored, by connection. */
const waiting = new WeakMap<object, (() => void)[]>();
/** Maximum number of waiting actions. During an outage of ten seconds, 1,000 jobs a second may end. */
const WAITING_MAX = 10_000;

/** Runs an action now, or after the reconnect if the connection is lost. Actions above WAITING_MAX are dropped. */
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

/** Compares two version numbers. Returns a negative number if `a` is older than `b`. Ignores a pre-release suffix. */
export function compareVersions(a: string, b: string): number {
  const parts = (text: string): number[] => text.split("-")[0]?.split(".").map(Number) ?? [];
  const left = parts(a);
  const right = parts(b);
  for (let i = 0; i < 3; i++) {
    // A non-numeric part counts as 0, so an unreadable version counts as too old.
    const difference = (left[i] || 0) - (right[i] || 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function redactUrl(url: string): string {
  return url.replaceAll(/\/\/[^/@]*@/g, "//");
}
