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

interface Migration {
  readonly name: string;
  readonly text: string;
  readonly sha256: string;
}

/**
 * Applies what is missing and returns the names applied. Safe to run any number of times, also at once. A database that
 * knows more migrations than this program is fine: the older program keeps running on it.
 * @throws Error naming a file that reads otherwise than when the database applied it
 */
export async function migrate(database: Database, log: Logger): Promise<string[]> {
  const applied: string[] = [];
  for (const migration of migrations()) {
    const isNew = await database.slowTransaction(LIMIT_MS, async (tx) => {
      await tx.query("select pg_advisory_xact_lock($1)", [LOCK]);
      await tx.query(
        "create table if not exists migration (name text primary key, sha256 text not null, at timestamptz not null default now())",
      );
      if ((await missing(tx, [migration])).length === 0) return false;
      await tx.query(migration.text);
      await tx.query("insert into migration (name, sha256) values ($1, $2)", [migration.name, migration.sha256]);
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
 * @throws Error naming a file that reads otherwise than when the database applied it
 */
export async function missingMigrations(database: Queryable): Promise<string[]> {
  const all = migrations();
  const exists = await database.query<{ table: string | null }>("select to_regclass('migration')::text as table");
  if (exists[0]?.table === null) return all.map((migration) => migration.name);
  return missing(database, all);
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

async function missing(database: Queryable, wanted: readonly Migration[]): Promise<string[]> {
  const rows = await database.query<{ name: string; sha256: string }>("select name, sha256 from migration");
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

function migrations(): Migration[] {
  return readdirSync(FOLDER)
    .filter((name) => FILE.test(name))
    .toSorted()
    .map((name) => {
      const text = readFileSync(new URL(name, FOLDER), "utf8");
      return { name, text, sha256: createHash("sha256").update(text).digest("hex") };
    });
}
