/**
 * Starts PgBouncer in transaction mode between the clients and a test's Postgres, with the settings of schemas/docs/operate/connections.md.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { serviceAccount } from "#deploy/embedded/account.mjs";
import { freePort } from "#deploy/embedded/probe.mjs";
import { launch, launchUntil } from "#deploy/embedded/process.mjs";

import { debianProgram } from "./debian-program.ts";
import { PROJECT_ROOT, temporaryDirectory } from "./infrastructure.ts";

/**
 * Debian release whose PgBouncer supports named statements (since 1.21). Its libraries are also downloaded, including the C library,
 * because the libraries of an older release are too old.
 */
const RELEASE = "trixie";
const PACKAGES = [
  "pgbouncer",
  "libaudit1",
  "libc6",
  "libcap-ng0",
  "libcap2",
  "libcares2",
  "libevent-2.1-7t64",
  "libpam0g",
  "libssl3t64",
  "libsystemd0",
  "libzstd1",
  "zlib1g",
];
const PROGRAM = "usr/sbin/pgbouncer";

export interface PgBouncer {
  /** URL of the test's database through the pooler. */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Starts PgBouncer.
 * @param poolSize number of connections to Postgres, shared by all clients
 * @param settings default: the settings of the documentation page
 */
export async function startPgBouncer(
  databaseUrl: string,
  poolSize: number,
  settings: readonly string[] = documentedSettings(),
): Promise<PgBouncer> {
  const [program, ...loading] = await debianProgram({ release: RELEASE, packages: PACKAGES, path: PROGRAM });
  const { directory, remove } = temporaryDirectory();
  const port = await freePort();
  const { hostname, port: serverPort, pathname, username, password } = new URL(databaseUrl);
  const database = pathname.slice(1);
  const file = join(directory, "pgbouncer.ini");
  const account = serviceAccount();
  const lines = [
    "[databases]",
    `${database} = host=${hostname} port=${serverPort} user=${username} password=${password}`,
    "[pgbouncer]",
    "listen_addr = 127.0.0.1",
    `listen_port = ${port}`,
    "unix_socket_dir =",
    "auth_type = any",
    `default_pool_size = ${poolSize}`,
    "max_client_conn = 1000",
    ...settings,
    ...(account === null ? [] : [`user = ${account.name}`]),
  ];
  writeFileSync(file, lines.join("\n"));
  const start = launchUntil(
    (onLine) =>
      launch({
        name: "pgbouncer",
        command: program,
        args: [...loading, file],
        cwd: "/",
        stopSignal: "INT",
        onLine,
      }),
    (line) => (line.includes("process up") ? true : null),
    30_000,
  );
  const { running } = await start.catch((error: unknown) => {
    remove();
    throw error;
  });
  return {
    url: `postgres://${username}:${password}@127.0.0.1:${port}/${database}`,
    async close() {
      await running.stop("SIGKILL");
      remove();
    },
  };
}

/** Returns the lines of `pgbouncer.ini` from the operators' documentation page. */
function documentedSettings(): string[] {
  const text = readFileSync(join(PROJECT_ROOT, "schemas/docs/operate/connections.md"), "utf8");
  const settings = /```ini\n([\s\S]*?)```/.exec(text)?.[1]?.trim().split("\n");
  if (!settings?.includes("pool_mode = transaction")) throw new Error("the page has no settings of a pooler");
  return settings;
}
