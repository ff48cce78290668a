/** A NATS server under deploy/nats/server.conf, as an operator runs it, and connections as its users. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { connect, type NatsConnection, PermissionViolationError } from "nats";

import { freePort } from "#deploy/embedded/probe.mjs";

import { natsServerBinary, PROJECT_ROOT, temporaryDirectory } from "./infrastructure.ts";

/** The workspace that the file's example publisher belongs to. */
export const PUBLISHER_WORKSPACE = "00000000-0000-7000-8000-000000000000";
/** The file's users and the inbox prefix of each. */
export const USERS = {
  ingress: "gw",
  worker: "wk",
  workflow: "wk",
  janitor: "jn",
  publisher: `ws.${PUBLISHER_WORKSPACE}`,
} as const;
export type User = keyof typeof USERS;

export interface ConfiguredClient {
  readonly connection: NatsConnection;
  /** Subjects and directions the server refused so far. */
  readonly refused: string[];
}

export interface ConfiguredNats {
  /** `host:port`. */
  readonly address: string;
  /** `witness` is a user that this helper adds: it may hear and say everything. */
  open(user: User | "witness"): Promise<ConfiguredClient>;
  stop(): Promise<void>;
}

/** deploy/nats/server.conf as it is, but for the ports, a user `witness` and what `edit` changes in its text. */
export async function startConfiguredNats(edit = (text: string): string => text): Promise<ConfiguredNats> {
  const store = temporaryDirectory();
  const port = await freePort();
  const config = join(store.directory, "server.conf");
  const shipped = readFileSync(join(PROJECT_ROOT, "deploy/nats/server.conf"), "utf8");
  writeFileSync(config, edit(shipped).replace("users: [", "users: [ { user: witness, password: pass-witness }"));
  const child = Bun.spawn(
    [await natsServerBinary(), "-c", config, "-a", "127.0.0.1", "-p", `${port}`, "-m", `${await freePort()}`],
    {
      env: { NATS_SERVER_NAME: "test", NATS_STORE_DIR: store.directory, ...passwords() },
      stdout: "ignore",
      stderr: "ignore",
    },
  );
  const address = `127.0.0.1:${port}`;
  return {
    address,
    open: (user) => open(address, user),
    async stop() {
      child.kill("SIGKILL");
      await child.exited;
      store.remove();
    },
  };
}

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
