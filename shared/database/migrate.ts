/**
 * Applies numbered SQL migration files, one per area. Each file is applied once, under an advisory lock. Released files never change. A
 * file is one transaction, unless its first line says `outside a transaction`. Such a file creates or drops indexes concurrently, one by
 * one, and can be repeated after an interruption.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";

import type { Logger } from "#shared/base/logger.ts";
import { paced } from "#shared/config/pace.ts";

import { type Database, type Queryable, SQL, sqlState } from "./client.ts";

const FOLDER = new URL("migrations/", import.meta.url);
const FILE = /^\d{4}_[a-z0-9_]+\.sql$/;
/** Id of the advisory lock that prevents two processes from migrating at the same time. The value is arbitrary. */
const LOCK = 7_514_200_111n;
/** Time limit of a migration, in milliseconds: a large table takes minutes, not hours. */
const LIMIT_MS = 3_600_000;
/**
 * Lock timeout of a migration file, in milliseconds. Statements of the service queue behind a waiting migration, and time out after 2 s.
 * The migration therefore times out earlier, and retries.
 */
const LOCK_WAIT_MS = 500;
const LOCK_PAUSE_MS = 2_000;
/** Pause between two attempts to get the advisory lock, in milliseconds. */
const TURN_MS = 100;
/** Maximum total time of the attempts to lock a table, in milliseconds. */
const LOCK_TRIES_MS = 600_000;

/**
 * Matches the first line of a file added after the first release. The line names the release and says if the file runs outside a
 * transaction.
 */
const RELEASE = /^-- Release (\d+)\b(, outside a transaction$)?/m;
const OUTSIDE = {
  create: /^create\s+(?:unique\s+)?index\s+concurrently\s+(?:if\s+not\s+exists\s+)?(\w+)\s+on\s/i,
  drop: /^drop\s+index\s+concurrently\s+if\s+exists\s+\w+$/i,
} as const;

interface Migration {
  readonly name: string;
  readonly release: number;
  readonly isOutside: boolean;
  readonly text: string;
  readonly sha256: string;
}

interface MigrateOptions {
  readonly folder?: URL;
  /** Maximum total time of the attempts to lock a table, in milliseconds. Default: LOCK_TRIES_MS. */
  readonly lockTriesMs?: number;
}

/**
 * Applies missing migrations and returns their names. Safe to repeat and to run concurrently. A database of the next release is accepted,
 * because the older program can run on it.
 * @throws Error that names a file which differs from the applied version, or that names the releases if they are too far apart
 */
export async function migrate(database: Database, log: Logger, options: MigrateOptions = {}): Promise<string[]> {
  const { folder = FOLDER, lockTriesMs = LOCK_TRIES_MS } = options;
  const applied: string[] = [];
  const all = migrations(folder);
  const release = releaseOf(all);
  await checkStep(database, release);
  for (const migration of all) {
    const isNew = await untilLocked({ database, log, migration, lockTriesMs }, () =>
      inTurn(database, async (tx) => {
        await tx.query(
          "create table if not exists migration (name text primary key, sha256 text not null, at timestamptz not null default now(), release int not null default 1)",
        );
        if ((await missing(tx, [migration], release)).length === 0) return false;
        await apply({ database, tx, log }, migration);
        return true;
      }),
    );
    if (isNew) {
      applied.push(migration.name);
      log.info({ migration: migration.name }, "migration applied");
    }
  }
  return applied;
}

/**
 * Runs `work` under the advisory lock. Processes wait for the lock outside of a transaction, because a concurrent index build would wait
 * for that transaction.
 */
async function inTurn<T>(database: Database, work: (tx: Queryable) => Promise<T>): Promise<T> {
  const endsAt = performance.now() + LIMIT_MS;
  for (;;) {
    const done = await database.slowTransaction(LIMIT_MS, async (tx) => {
      const [lock] = await tx.query<{ ours: boolean }>(`select pg_try_advisory_xact_lock(${LOCK}) as ours`);
      return lock?.ours === true ? { result: await work(tx) } : undefined;
    });
    if (done) return done.result;
    if (performance.now() >= endsAt) throw new Error("another process has migrated for an hour");
    await wait(TURN_MS);
  }
}

interface Applying {
  readonly database: Database;
  /**
   * Session that has the advisory lock. It must not keep a snapshot, because a concurrent index build would wait for that snapshot.
   * Statements with parameters keep a snapshot and are therefore not allowed.
   */
  readonly tx: Queryable;
  readonly log: Logger;
}

async function apply(
  { database, tx, log }: Applying,
  { name, sha256, release, isOutside, text }: Migration,
): Promise<void> {
  if (isOutside) {
    await database.slowSession(LIMIT_MS, async (session) => {
      for (const statement of outsideStatements(name, text)) {
        log.info({ migration: name, statement }, "running a statement outside a transaction");
        await applyOutside(session, statement);
      }
    });
  } else {
    await tx.query("select set_config('lock_timeout', $1, true)", [String(LOCK_WAIT_MS)]);
    await tx.query(text);
  }
  await tx.query("insert into migration (name, sha256, release) values ($1, $2, $3)", [name, sha256, release]);
}

/** Applies one statement outside of a transaction. First drops the invalid index that an interrupted build has left under the same name. */
async function applyOutside(session: Queryable, statement: string): Promise<void> {
  const [, index] = OUTSIDE.create.exec(statement) ?? [];
  if (index !== undefined) {
    const [found] = await session.query<{ is_valid: boolean }>(
      "select indisvalid as is_valid from pg_index where indexrelid = to_regclass($1)",
      [index],
    );
    if (found?.is_valid === true) return;
    if (found) await session.query(`drop index concurrently if exists ${index}`);
  }
  await session.query(statement);
}

/**
 * Splits a file into the statements that run outside a transaction.
 * @throws Error that names the file, if a statement cannot be repeated
 */
function outsideStatements(name: string, text: string): string[] {
  const statements = text
    .replaceAll(/--.*$/gm, "")
    .split(";")
    .map((part) => part.trim())
    .filter((part) => part !== "");
  for (const one of statements) {
    if (OUTSIDE.create.test(one) || OUTSIDE.drop.test(one)) continue;
    throw new Error(
      `migration ${name} is outside a transaction, where it may only make named indexes concurrently and drop them so if they exist`,
    );
  }
  return statements;
}

/** Applies a migration file, and retries it while other sessions lock its tables. */
async function untilLocked<T>(
  {
    database,
    log,
    migration: { name: migration },
    lockTriesMs,
  }: { database: Database; log: Logger; migration: Migration; lockTriesMs: number },
  work: () => Promise<T>,
): Promise<T> {
  const endsAt = performance.now() + lockTriesMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const isLocked = sqlState(error) === SQL.lockTimeout || sqlState(error) === SQL.deadlock;
      if (!isLocked || performance.now() >= endsAt) throw error;
      const oldest = await database.query(
        `select pid, application_name, extract(epoch from clock_timestamp() - xact_start)::int as seconds from pg_stat_activity
         where datname = current_database() and xact_start is not null and pid <> pg_backend_pid() order by xact_start limit 3`,
      );
      log.warn({ migration, oldest }, "a migration waits for a table locked by a transaction; it retries");
      await wait(paced(LOCK_PAUSE_MS));
    }
  }
}

/**
 * Returns the names of migrations that this program contains and the database lacks. A process refuses to start if there are any.
 * @throws the errors of `migrate`
 */
export async function missingMigrations(database: Queryable): Promise<string[]> {
  const all = migrations(FOLDER);
  if (!(await hasMigrations(database))) return all.map((migration) => migration.name);
  return missing(database, all, releaseOf(all));
}

async function hasMigrations(database: Queryable): Promise<boolean> {
  const exists = await database.query<{ table: string | null }>("select to_regclass('migration')::text as table");
  return exists[0]?.table !== null;
}

/**
 * Checks that no release is skipped. A skipped release might have moved rows out of a location that the next release removes.
 * @throws Error that names the releases
 */
async function checkStep(database: Queryable, release: number): Promise<void> {
  const known = (await hasMigrations(database)) ? await appliedMigrations(database) : [];
  const before = releaseOf(known);
  if (known.length === 0 || before >= release - 1) return;
  throw new Error(
    `the database is of release ${before}, and this version of Sluice, of release ${release}, upgrades from ${release - 1} only; upgrade to that one first`,
  );
}

interface Applied {
  readonly name: string;
  readonly sha256: string;
  readonly release: number;
}

/**
 * Returns the applied migrations with their releases. Databases created before the first release have no release column and count as
 * release 1.
 */
function appliedMigrations(database: Queryable): Promise<Applied[]> {
  return database.query<Applied>(
    "select name, sha256, coalesce((to_jsonb(m)->>'release')::int, 1) as release from migration m",
  );
}

function releaseOf(all: readonly Pick<Migration, "release">[]): number {
  return all.reduce((newest, { release }) => Math.max(newest, release), 1);
}

/** Returns the name of the newest applied migration, and the version of the Postgres server. */
export async function databaseVersions(
  target: Queryable,
): Promise<{ readonly schema: string | null; readonly postgres: string }> {
  const [row] = await target.query<{ schema: string | null; postgres: string }>(
    "select (select max(name) from migration) as schema, current_setting('server_version') as postgres",
  );
  return { schema: row?.schema?.replace(/\.sql$/, "") ?? null, postgres: row?.postgres ?? "" };
}

/**
 * Returns the wanted migrations that the database lacks.
 * @param release release of this program
 */
async function missing(database: Queryable, wanted: readonly Migration[], release: number): Promise<string[]> {
  const rows = await appliedMigrations(database);
  const newest = releaseOf(rows);
  if (newest > release + 1) {
    throw new Error(
      `the database is of release ${newest}, and this version of Sluice works on ${release} and ${release + 1}; start a newer one`,
    );
  }
  const known = new Map(rows.map((row) => [row.name, row.sha256]));
  for (const { name, sha256 } of wanted) {
    if (known.has(name) && known.get(name) !== sha256) {
      // Released files never change, so one of the two versions is unreleased and has no upgrade.
      throw new Error(
        `this database was made by a version of Sluice whose migration ${name} differs, and cannot be upgraded; use a new database, ` +
          "or for npm start delete its data directory (.sluice, or that of SLUICE_DATA_DIR) with all local data",
      );
    }
  }
  return wanted.filter(({ name }) => !known.has(name)).map(({ name }) => name);
}

function migrations(folder: URL): Migration[] {
  return readdirSync(folder)
    .filter((name) => FILE.test(name))
    .toSorted()
    .map((name) => {
      const text = readFileSync(new URL(name, folder), "utf8");
      const [, release = 1, outside] = RELEASE.exec(text.slice(0, text.indexOf("\n"))) ?? [];
      return {
        name,
        release: Number(release),
        isOutside: outside !== undefined,
        text,
        sha256: createHash("sha256").update(text).digest("hex"),
      };
    });
}
