/**
 * Service, database, catalogue and settings for commands. Each is opened when a command first uses it. A command therefore runs even if,
 * for example, the database is unavailable and the command does not use it.
 */
import { resolve } from "node:path";

import type { Catalogue } from "#shared/calls/model.ts";
import { listModelsIn, loadCatalogue, loadOurLayers } from "#shared/calls/catalogue/load.ts";
import { HAS_NPM } from "#shared/base/command-lines.ts";
import { type Config, loadConfig } from "#shared/config/config.ts";
import { type Database, isDatabaseAway, openDatabase } from "#shared/database/client.ts";
import { missingMigrations } from "#shared/database/migrate.ts";
import { createLogger } from "#shared/base/logger.ts";

import { runningStack } from "../supervisor/address.mjs";
import { quote, UsageError } from "./command.ts";
import { type Address, openService, type Service } from "./service.ts";

/** Advice in the error for a missing setting; it names `npm start` only in a checkout with npm. */
const START = HAS_NPM ? "start one with npm start, or " : "";

/** Actor of commands in the audit log. */
export { OPERATOR as ACTOR } from "#shared/database/audit-log.ts";

export interface Context {
  /**
   * Returns a client of the running service.
   * @param url value of the option --url
   * @throws Error when a setting is invalid or no operator token is set
   */
  service(url: string | undefined): Service;
  /** Returns the opened database. @throws Error when a setting is invalid, Postgres cannot be reached or migrations are missing */
  database(): Promise<Database>;
  /**
   * Returns our catalogue merged with these files. Default: the files in the settings. @throws Error for an invalid setting; CatalogueError
   */
  catalogue(files?: readonly string[]): Promise<Catalogue>;
  /**
   * Returns the slugs of the models in these files. Default: the files in the settings. @throws Error for an invalid setting;
   * CatalogueError
   */
  modelsIn(files?: readonly string[]): Promise<readonly string[]>;
  /**
   * Returns the address at which browsers reach the service, without a slash at its end. Default: the address of the stack that `npm start`
   * runs, or else the default address. @throws Error when a setting is invalid
   */
  publicUrl(): string;
  /** Returns the settings of the environment. @throws Error when a setting is invalid */
  settings(): Config;
  close(): Promise<void>;
}

/**
 * Creates the context of a command. Opens no connection until the command uses it.
 * @param complain receives each log line of the database client
 * @param environment environment variables; undefined: the environment of the process
 */
export function openContext(
  complain: (line: string) => void,
  environment: Readonly<Record<string, string>> | undefined,
): Context {
  let opened: Promise<Database> | undefined;
  return {
    service: (url) => openService(serviceAddress(loadConfig(environment, { needs: [] }), url)),
    database() {
      opened ??= connect(databaseConfig(environment), complain);
      return opened;
    },
    publicUrl() {
      const config = loadConfig(environment, { needs: [] });
      return config.publicUrl ?? addressOf(config, config.serviceUrl ?? runningStack(config.dataDir)?.baseUrl);
    },
    settings: () => loadConfig(environment, { needs: [] }),
    async catalogue(files) {
      const { catalogueFiles, sandbox, providerKey } = loadConfig(environment, { needs: [] });
      return loadCatalogue(await loadOurLayers(), files ?? catalogueFiles, { sandbox, providerKey });
    },
    modelsIn: (files) => listModelsIn(files ?? loadConfig(environment, { needs: [] }).catalogueFiles),
    async close() {
      const database = await opened?.catch(() => undefined);
      await database?.close();
    },
  };
}

/**
 * Returns the address of the service that `--url` or SLUICE_URL names. If neither is set, returns the address of the stack that `npm start`
 * runs, or else the default address. The token of a stack is sent only to that stack.
 * @throws Error when the address is malformed, no operator token is set, or DATABASE_URL does not belong to the stack
 */
function serviceAddress(config: Config, urlOption: string | undefined): Address {
  const named = urlOption ?? config.serviceUrl;
  const stack = named === undefined ? runningStack(config.dataDir) : null;
  if (stack !== null && config.databaseUrl !== "" && (stack.databaseUrl ?? config.databaseUrl) !== config.databaseUrl) {
    throw new Error(
      `DATABASE_URL is not that of the stack on ${resolve(config.dataDir)}; name the service with SLUICE_URL or --url`,
    );
  }
  const url = addressOf(config, named ?? stack?.baseUrl);
  const token = config.operatorToken ?? stack?.operatorToken;
  if (!URL.canParse(url) || !/^https?:/.test(url))
    throw new UsageError(`expected --url as http://… or https://…, got ${quote(url)}`);
  if (token !== undefined) return { url, token };
  const where = named === undefined ? `, and no stack runs on ${resolve(config.dataDir)}; ${START}set it` : "; set it";
  throw new Error(`SLUICE_OPERATOR_TOKEN is not set${where} to a token of \`operator add\``);
}

/** Returns the address of a service from the address that callers use, which ends in /v1, or else the default address. */
function addressOf({ port }: Pick<Config, "port">, url: string | undefined): string {
  return url?.replace(/\/v1\/?$/, "").replace(/\/+$/, "") ?? `http://127.0.0.1:${port || 8_080}`;
}

/**
 * Returns settings with the configured database, or with the database that `npm start` runs.
 * @throws Error for an invalid setting, or when neither database exists
 */
function databaseConfig(environment: Readonly<Record<string, string>> | undefined): Config {
  const config = loadConfig(environment, { needs: [] });
  if (config.databaseUrl !== "") return config;
  const stack = runningStack(config.dataDir);
  if (stack === null) {
    throw new Error(
      `DATABASE_URL is not set, and no stack runs on ${resolve(config.dataDir)}; ${START}set DATABASE_URL`,
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
      throw isDatabaseAway(error) ? new Error("Postgres cannot be reached at DATABASE_URL", { cause: error }) : error;
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
