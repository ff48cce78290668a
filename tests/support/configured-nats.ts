/**
 * Starts a NATS server with an operator's deploy/nats/server.conf. Accepts logins in place of the role that does so in production, and
 * connects as the users in the file.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createAccount, createCurve } from "@nats-io/nkeys";
import { connect, type NatsConnection, PermissionViolationError } from "nats";

import { freePort } from "#deploy/embedded/probe.mjs";
import { openCallout } from "#ingress/nats-auth/callout.ts";
import { type LoginContext, serveLogins } from "#ingress/nats-auth/logins.ts";
import type { KnownKey } from "#shared/access/authenticate.ts";
import { createLogger } from "#shared/base/logger.ts";
import { createMetrics } from "#shared/metrics/metrics.ts";

import { natsServerBinary, PROJECT_ROOT, temporaryDirectory } from "./infrastructure.ts";

/** Workspace of the publisher as which `open` connects. */
export const PUBLISHER_WORKSPACE = "00000000-0000-7000-8000-000000000000";
export const PUBLISHER_KEY = "00000000-0000-7000-8000-00000000000a";
const PUBLISHER: KnownKey = {
  keyId: PUBLISHER_KEY,
  workspaceId: PUBLISHER_WORKSPACE,
  workspaceName: "publisher",
  memberId: "00000000-0000-7000-8000-00000000000b",
  role: "developer",
  preset: "default",
};
/** Inbox prefix of each user in the configuration, and of a publisher. */
export const USERS = {
  ingress: "gw",
  worker: "wk",
  workflow: "wk",
  janitor: "jn",
  auth: "au",
  publisher: `ws.${PUBLISHER_WORKSPACE}.${PUBLISHER_KEY}`,
} as const;
export type User = keyof typeof USERS;

export interface ConfiguredClient {
  readonly connection: NatsConnection;
  /** Subjects and directions that the server has rejected for this client so far. */
  readonly refused: string[];
}

export interface ConfiguredNats {
  /** Address of the server, as `host:port`. */
  readonly address: string;
  /** Seeds of the keys that the server trusts. In production, the role that accepts logins receives them. */
  readonly seeds: { readonly issuer: string; readonly curve: string };
  /** Connects as a user of the configuration. `witness` is a user that only tests have; it may use all subjects. */
  open(user: User | "witness"): Promise<ConfiguredClient>;
  /**
   * Starts to accept logins, as one process of the responsible role does in production.
   * @returns a function that stops accepting logins
   */
  serveLogins(context: Partial<Omit<LoginContext, "connection">>): Promise<() => Promise<void>>;
  /** Returns the complete log output of the server. */
  log(): string;
  stop(): Promise<void>;
}

/**
 * Starts a server with deploy/nats/server.conf. Only the ports, the user `witness`, and the changes by `edit` differ from the file.
 * @param options.logins false if no process accepts logins
 */
export async function startConfiguredNats(
  edit = (text: string): string => text,
  { logins = true }: { readonly logins?: boolean } = {},
): Promise<ConfiguredNats> {
  const store = temporaryDirectory();
  const port = await freePort();
  const config = join(store.directory, "server.conf");
  const shipped = readFileSync(join(PROJECT_ROOT, "deploy/nats/server.conf"), "utf8");
  const watched = edit(shipped)
    .replace("users: [", "users: [ { user: witness, password: pass-witness }")
    .replace("auth_users: [", "auth_users: [ witness,");
  writeFileSync(config, watched);
  const [issuer, curve] = [createAccount(), createCurve()];
  const seeds = { issuer: textOf(issuer.getSeed()), curve: textOf(curve.getSeed()) };
  const logFile = join(store.directory, "server.log");
  const child = Bun.spawn(
    [
      await natsServerBinary(),
      "-c",
      config,
      "-a",
      "127.0.0.1",
      "-p",
      `${port}`,
      "-m",
      `${await freePort()}`,
      "-l",
      logFile,
    ],
    {
      env: {
        NATS_SERVER_NAME: "test",
        NATS_STORE_DIR: store.directory,
        NATS_AUTH_ISSUER: issuer.getPublicKey(),
        NATS_AUTH_XKEY: curve.getPublicKey(),
        ...passwords(),
      },
      stdout: "ignore",
      stderr: "ignore",
    },
  );
  const address = `127.0.0.1:${port}`;
  const metrics = createMetrics("test");
  const ends: (() => Promise<void>)[] = [];
  const answerLogins: ConfiguredNats["serveLogins"] = async (context) => {
    const { connection } = await open(address, "auth");
    const served = serveLogins({
      keys: { find: (key) => Promise.resolve(key === "pass-publisher" ? PUBLISHER : undefined) },
      activeKeys: (ids) => Promise.resolve(new Set(ids)),
      log: createLogger({ level: "silent", role: "test" }),
      metrics,
      callout: openCallout(seeds),
      connectionsMax: 100,
      ...context,
      connection,
    });
    await connection.flush();
    const end = async (): Promise<void> => {
      await served.stop();
      await connection.close();
    };
    ends.push(end);
    return end;
  };
  if (logins) await answerLogins({});
  return {
    address,
    seeds,
    open: (user) => open(address, user),
    serveLogins: answerLogins,
    log: () => readFileSync(logFile, "utf8"),
    async stop() {
      await Promise.all(ends.map((end) => end().catch(() => undefined)));
      metrics.close();
      child.kill("SIGKILL");
      await child.exited;
      store.remove();
    },
  };
}

const textOf = (seed: Uint8Array): string => Buffer.from(seed).toString();

function passwords(): Record<string, string> {
  return Object.fromEntries(Object.keys(USERS).map((user) => [`NATS_${user.toUpperCase()}_PASSWORD`, `pass-${user}`]));
}

async function open(address: string, user: User | "witness"): Promise<ConfiguredClient> {
  const connection = await connect({
    servers: address,
    user,
    pass: `pass-${user}`,
    inboxPrefix: user === "witness" ? "_INBOX.witness" : `_INBOX.${USERS[user]}`,
    // The server is still starting.
    waitOnFirstConnect: true,
    reconnectTimeWait: 20,
    maxReconnectAttempts: 500,
  });
  const refused: string[] = [];
  void (async () => {
    for await (const status of connection.status()) {
      if (status.type === "error" && status.error instanceof PermissionViolationError) {
        refused.push(`${status.error.operation} ${status.error.subject}`);
      }
    }
  })();
  return { connection, refused };
}
