/** Plain numbered SQL files, one for each area, each applied once, in one transaction, under an advisory lock; never edited once released. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";

import type { Logger } from "#shared/logger.ts";

import type { Database, Queryable } from "./client.ts";

const FOLDER = new URL("migrations/", import.meta.url);
const FILE = /^\d{4}_[a-z0-9_]+\.sql$/;
/** Any fixed number: it keeps two `migrate` processes from interleaving. */
const LOCK = 7_514_200_111n;
/** A migration of a large table takes minutes, not hours. */
const LIMIT_MS = 3_600_000;

/** First line of a file that came after the first release: the one that brought it. */
const RELEASE = /^-- Release (\d+)\b/;

interface Migration {
  readonly name: string;
  readonly release: number;
  readonly text: string;
  readonly sha256: string;
}

/**
 * Applies what is missing and returns the names applied. Safe to run any number of times, also at once. A database of the next
 * release is fine: the older program keeps running on it.
 * @throws Error naming a file that reads otherwise than when the database applied it, or the releases when they are too far apart
 */
export async function migrate(database: Database, log: Logger, folder = FOLDER): Promise<string[]> {
  const applied: string[] = [];
  const all = migrations(folder);
  await checkStep(database, releaseOf(all));
  for (const migration of all) {
    const isNew = await database.slowTransaction(LIMIT_MS, async (tx) => {
      await tx.query("select pg_advisory_xact_lock($1)", [LOCK]);
      await tx.query(
        "create table if not exists migration (name text primary key, sha256 text not null, at timestamptz not null default now(), release int not null default 1)",
      );
      if ((await missing(tx, [migration], releaseOf(all))).length === 0) return false;
      await tx.query(migration.text);
      const { name, sha256, release } = migration;
      await tx.query("insert into migration (name, sha256, release) values ($1, $2, $3)", [name, sha256, release]);
      return true;
    });
    if (isNew) {
      applied.push(migration.name);
      log.info({ migration: migration.name }, "migration applied");
    }
  }
  return applied;
}

/**
 * Names of migrations this program brings and the database lacks; a role refuses to start while there are any.
 * @throws Error as `migrate` does
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

/** A release that is left out may have had to move rows before the next one took their old place away. */
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

/** A table of before the first release has no such column. */
function appliedMigrations(database: Queryable): Promise<Applied[]> {
  return database.query<Applied>(
    "select name, sha256, coalesce((to_jsonb(m)->>'release')::int, 1) as release from migration m",
  );
}

function releaseOf(all: readonly Pick<Migration, "release">[]): number {
  return all.reduce((newest, { release }) => Math.max(newest, release), 1);
}

/** The newest migration that the database has, and the version of its server. */
export async function databaseVersions(
  target: Queryable,
): Promise<{ readonly schema: string | null; readonly postgres: string }> {
  const [row] = await target.query<{ schema: string | null; postgres: string }>(
    "select (select max(name) from migration) as schema, current_setting('server_version') as postgres",
  );
  return { schema: row?.schema?.replace(/\.sql$/, "") ?? null, postgres: row?.postgres ?? "" };
}

/** @param release of this program */
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
      // Released files are never edited, so one of the two versions is unreleased and no release leads from it.
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
      const release = Number(RELEASE.exec(text)?.[1] ?? 1);
      return { name, release, text, sha256: createHash("sha256").update(text).digest("hex") };
    });
}
