/** Database, catalogue and settings of commands, opened on demand: a command that needs no database runs without one. */
import { resolve } from "node:path";

import type { Catalogue } from "#shared/calls/model.ts";
import { loadCatalogue, loadOurLayers } from "#shared/calls/catalogue/load.ts";
import { type Config, loadConfig } from "#shared/config.ts";
import { type Database, openDatabase } from "#shared/database/client.ts";
import { missingMigrations } from "#shared/database/migrate.ts";
import { createLogger } from "#shared/logger.ts";

import { runningStack } from "../supervisor/address.mjs";

/** Actor in the audit log for everything done by command. */
export { OPERATOR as ACTOR } from "#shared/database/audit-log.ts";

export interface Context {
  /** @throws Error when a setting is wrong, Postgres cannot be reached or lacks migrations */
  database(): Promise<Database>;
  /** Our catalogue with these files over it; those of the settings unless given. @throws Error of a setting; CatalogueError */
  catalogue(files?: readonly string[]): Promise<Catalogue>;
  /** @throws Error when a setting is wrong */
  settings(): Config;
  close(): Promise<void>;
}

/** @param environment the process's when undefined */
export function openContext(
  complain: (line: string) => void,
  environment: Readonly<Record<string, string>> | undefined,
): Context {
  let opened: Promise<Database> | undefined;
  return {
    database() {
      opened ??= connect(databaseConfig(environment), complain);
      return opened;
    },
    settings: () => loadConfig(environment, { needs: [] }),
    async catalogue(files) {
      const { catalogueFiles, sandbox, providerKey } = loadConfig(environment, { needs: [] });
      return loadCatalogue(await loadOurLayers(), files ?? catalogueFiles, { sandbox, providerKey });
    },
    async close() {
      const database = await opened?.catch(() => undefined);
      await database?.close();
    },
  };
}

/** The settings' database, else that of the stack which `npm start` runs. @throws Error when a setting is wrong or there is neither */
function databaseConfig(environment: Readonly<Record<string, string>> | undefined): Config {
  const config = loadConfig(environment, { needs: [] });
  if (config.databaseUrl !== "") return config;
  const stack = runningStack(config.dataDir);
  if (stack === null) {
    throw new Error(
      `DATABASE_URL is not set, and no stack runs on ${resolve(config.dataDir)}; start one with npm start, or set DATABASE_URL`,
    );
  }
  if (stack.databaseUrl === null) {
    throw new Error("DATABASE_URL is not set; set it as for the npm start that runs, which was given its database");
  }
  return loadConfig({ DATABASE_URL: stack.databaseUrl }, { needs: ["database"] });
}

async function connect(config: Config, write: (line: string) => void): Promise<Database> {
  const log = createLogger({ level: "warn", role: "admin", secrets: config.secrets, write });
  const database = openDatabase({ url: config.databaseUrl, poolMax: 2, log });
  try {
    const missing = await missingMigrations(database).catch((error: unknown) => {
      throw new Error("Postgres cannot be reached at DATABASE_URL", { cause: error });
    });
    if (missing.length > 0) {
      throw new Error(`the database lacks ${missing.length} migrations; run the migrate role first`);
    }
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}
