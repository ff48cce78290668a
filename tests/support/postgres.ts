/** Creates databases for tests: a new one on the shared server, or a separate server that tests can stop and start. */
import { randomBytes } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { type Postgres, startPostgres } from "#deploy/embedded/postgres.mjs";
import { freePort } from "#deploy/embedded/probe.mjs";
import { openDatabase, type Database, SQL, sqlState, type SqlValue } from "#shared/database/client.ts";
import { migrate } from "#shared/database/migrate.ts";
import { createLogger } from "#shared/base/logger.ts";

import { sharedPostgresUrl, temporaryDirectory } from "./infrastructure.ts";

const log = createLogger({ level: "silent", role: "test" });

export type Query = <Row extends object = Record<string, unknown>>(
  text: string,
  values?: readonly SqlValue[],
) => Promise<Row[]>;

export interface TestDatabase {
  readonly url: string;
  /** Small connection pool to this database, for queries of the test. */
  readonly database: Database;
  readonly query: Query;
  /** Closes the pool and drops the database, even if other connections to it are open. */
  drop(): Promise<void>;
}

export interface TestDatabaseOptions {
  /** False to create an empty database without migrations. */
  readonly migrated?: boolean;
  /** URL of the server to use instead of the shared one. */
  readonly serverUrl?: string;
}

/** Creates a database with a random name. */
export async function createTestDatabase(options: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const serverUrl = options.serverUrl ?? (await sharedPostgresUrl());
  const name = `test_${randomBytes(8).toString("hex")}`;
  const isCopied = options.migrated !== false && options.serverUrl === undefined;
  if (isCopied) await copyMigrated(serverUrl, name);
  else await onServer(serverUrl, `create database ${name}`);
  const url = urlOf(serverUrl, name);
  const database = openDatabase({ url, poolMax: 4, log });
  const drop = async (): Promise<void> => {
    await database.close();
    try {
      await onServer(serverUrl, `drop database if exists ${name} with (force)`);
    } catch (error) {
      // The server's checkpoint waits for a busy disk. The server is removed soon, with all of its data.
      if (sqlState(error) !== SQL.statementTimeout) throw error;
    }
  };
  try {
    if (options.migrated !== false && !isCopied) await migrate(database, log);
  } catch (error) {
    await drop();
    throw error;
  }
  return { url, database, query: (text, values) => database.query(text, values), drop };
}

/** Name of the template database on the shared server. It is migrated once per run, and copied for every test file. */
const MIGRATED = "test_migrated";

/**
 * Copies the template database. Copies file by file, which takes 22 ms of CPU in memory, against 36 ms by the write-ahead log. `truncate`
 * of a used database takes 39 ms, because each of 65 tables and 175 indexes gets a new file.
 */
async function copyMigrated(serverUrl: string, name: string): Promise<void> {
  const copy = `create database ${name} template ${MIGRATED} strategy file_copy`;
  try {
    await onServer(serverUrl, copy);
  } catch (error) {
    if (sqlState(error) !== UNDEFINED_DATABASE) throw error;
    await ensureMigratedTemplate(serverUrl);
    await onServer(serverUrl, copy);
  }
}

const UNDEFINED_DATABASE = "3D000";

async function ensureMigratedTemplate(serverUrl: string): Promise<void> {
  const server = openDatabase({ url: serverUrl, poolMax: 1, log });
  try {
    const isThere = async (): Promise<boolean> =>
      (await server.query("select 1 from pg_database where datname = $1", [MIGRATED])).length > 0;
    if (await isThere()) return;
    // Only one test process at a time creates the template, because a copy needs a database without connections. This takes seconds on a
    // busy machine, which is longer than the service waits for locks.
    await server.query("set lock_timeout = '60s'");
    await server.query("set statement_timeout = '60s'");
    await server.query("select pg_advisory_lock(hashtext($1))", [MIGRATED]);
    if (await isThere()) return;
    await server.query(`drop database if exists ${MIGRATED}_new`);
    await server.query(`create database ${MIGRATED}_new`);
    const database = openDatabase({ url: urlOf(serverUrl, `${MIGRATED}_new`), poolMax: 1, log });
    try {
      await migrate(database, log);
    } finally {
      await database.close();
    }
    await server.query(`alter database ${MIGRATED}_new rename to ${MIGRATED}`);
  } finally {
    // Closing the connection releases the lock.
    await server.close();
  }
}

function urlOf(serverUrl: string, database: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  return url.href;
}

export interface OwnPostgres {
  readonly url: string;
  /** Stops the server. `fast` ends sessions cleanly, `immediate` crashes with a warning, `kill` sends SIGKILL to the postmaster. */
  stop(mode: "smart" | "fast" | "immediate" | "kill"): Promise<void>;
  /** Starts the server again with the same port and data. */
  start(): Promise<void>;
  /** Makes a base backup: copies the running server's files and log into a new folder, from which `startOwnPostgres` can start. */
  backUp(to: string): Promise<void>;
  /** Stops the server permanently and removes its files. */
  close(): Promise<void>;
}

export interface OwnPostgresOptions {
  readonly settings?: Readonly<Record<string, string>>;
  /** Folder of the server's files. A cluster in it is reused. Default: a temporary folder. */
  readonly directory?: string;
  readonly port?: number;
}

/** Starts a Postgres server that no other test uses, for tests that stop it. */
export async function startOwnPostgres({ settings = {}, ...options }: OwnPostgresOptions = {}): Promise<OwnPostgres> {
  const { directory, remove } =
    options.directory === undefined ? temporaryDirectory() : { directory: options.directory, remove: () => undefined };
  const port = options.port ?? (await freePort());
  const start = (): Promise<Postgres> => startPostgres({ directory, port, settings, throwaway: true });
  let server = await start().catch((error: unknown) => {
    remove();
    throw error;
  });
  return {
    url: server.url,
    async stop(mode) {
      await server.stopAs(mode);
    },
    async start() {
      if (!server.alive()) server = await start();
    },
    backUp: (to) => backUp(server.url, directory, to),
    async close() {
      await server.stopAs("immediate");
      remove();
    },
  };
}

/** Makes a base backup with Postgres' low-level backup API, because the packaged server has no pg_basebackup. */
async function backUp(url: string, from: string, to: string): Promise<void> {
  const server = openDatabase({ url, poolMax: 1, log });
  const copy = async (...args: string[]): Promise<void> => {
    const { exitCode, stderr } = await Bun.$`cp -a ${args}`.quiet().nothrow();
    // A file may disappear during the copy; the log restores it.
    if (exitCode !== 0 && !/No such file/.test(stderr.toString())) throw new Error(stderr.toString());
  };
  try {
    // Both statements must run in one session, which may be idle for long between them.
    const label = await server.slowSession(60_000, async (session) => {
      await session.query("select pg_backup_start('drill', true)");
      await copy(from, to);
      const [end] = await session.query<{ label: string }>("select labelfile as label from pg_backup_stop(false)");
      return end?.label ?? "";
    });
    rmSync(join(to, "cluster/pg_wal"), { recursive: true });
    await copy(join(from, "cluster/pg_wal"), join(to, "cluster/pg_wal"));
    writeFileSync(join(to, "cluster/backup_label"), label);
    rmSync(join(to, "cluster/postmaster.pid"), { force: true });
  } finally {
    await server.close();
  }
}

async function onServer(url: string, statement: string): Promise<void> {
  const server = openDatabase({ url, poolMax: 1, log });
  try {
    await server.query(statement);
  } finally {
    await server.close();
  }
}
