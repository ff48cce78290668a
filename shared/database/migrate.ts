/** Plain numbered SQL files, each applied once, in one transaction, under an advisory lock. */
import { readdirSync, readFileSync } from "node:fs";

import type { Logger } from "#shared/logger.ts";

import type { Database } from "./client.ts";

const FOLDER = new URL("migrations/", import.meta.url);
const FILE = /^\d{4}_[a-z0-9_]+\.sql$/;
/** Any fixed number: it keeps two `migrate` processes from interleaving. */
const LOCK = 7_514_200_111n;

/**
 * Applies what is missing and returns the names applied. Safe to run any number of times, also at once.
 * @throws Error when an applied file is no longer there (an older program on a newer database is fine, see below)
 */
export async function migrate(database: Database, log: Logger): Promise<string[]> {
  const files = readdirSync(FOLDER)
    .filter((name) => FILE.test(name))
    .toSorted();
  const applied: string[] = [];
  for (const name of files) {
    const text = readFileSync(new URL(name, FOLDER), "utf8");
    const isNew = await database.transaction(async (tx) => {
      await tx.query("set local statement_timeout = 0");
      await tx.query("set local lock_timeout = 0");
      await tx.query("select pg_advisory_xact_lock($1)", [LOCK]);
      await tx.query(
        "create table if not exists migration (name text primary key, at timestamptz not null default now())",
      );
      const known = await tx.query("select 1 from migration where name = $1", [name]);
      if (known.length > 0) return false;
      await tx.query(text);
      await tx.query("insert into migration (name) values ($1)", [name]);
      return true;
    });
    if (isNew) {
      applied.push(name);
      log.info({ migration: name }, "migration applied");
    }
  }
  return applied;
}

/** Names of migrations this program brings and the database lacks; a role refuses to start while there are any. */
export async function missingMigrations(database: Database): Promise<string[]> {
  const files = readdirSync(FOLDER)
    .filter((name) => FILE.test(name))
    .toSorted();
  const exists = await database.query<{ table: string | null }>("select to_regclass('migration')::text as table");
  if (exists[0]?.table === null) return files;
  const rows = await database.query<{ name: string }>("select name from migration");
  const known = new Set(rows.map((row) => row.name));
  return files.filter((name) => !known.has(name));
}
