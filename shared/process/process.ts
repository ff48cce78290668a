/**
 * Opens the resources that all roles of a process share: settings, log, signals, stop order, database, traces and admin port. Each is
 * opened once per process, regardless of the number of roles. A role itself changes no global state.
 */
import type { NatsConnection } from "nats";

import { type AdminPages, type AdminServer, startAdminServer } from "./admin-server.ts";
import { followClock } from "../base/clock.ts";
import { type Config, loadConfig } from "../config/config.ts";
import {
  type Database,
  findLostLimits,
  isDatabaseAway,
  isRefusedByPooler,
  openDatabase,
  SQL,
  sqlState,
} from "../database/client.ts";
import { missingMigrations } from "../database/migrate.ts";
import { awaitServer, type Dependencies, type Dependency, watchDependencies } from "../net/dependencies.ts";
import { armFailpoint } from "../base/failpoint.ts";
import { createLifecycle, type Lifecycle } from "./lifecycle.ts";
import { createLogger, type Logger } from "../base/logger.ts";
import { createProcessMetrics, joinRegistries, type Metrics, type ProcessMetrics } from "../metrics/metrics.ts";
import { paced } from "../config/pace.ts";
import { allowOutbound } from "../net/allowance.ts";
import { openTracing } from "../tracing/open.ts";

/** Postgres connections that a role opens in addition to the pool of its process. */
export interface RoleConnections {
  readonly reserved: number;
  /** Number of connections for slow transactions, such as audits. */
  readonly slow: number;
}

export interface ProcessOptions {
  /** Name of the process in logs, traces and metrics: the name of its role, or `all`. */
  readonly name: string;
  /** True if one of the process' roles serves clients. Some settings are then required, because links to files need them. */
  readonly servesClients: boolean;
  /** Exact number of connections that its roles open, so that the process can check them before the first call. */
  readonly connections: RoleConnections;
}

/** Functions and shared resources that a process offers to its roles. */
export interface ServiceProcess {
  readonly name: string;
  readonly config: Config;
  readonly log: Logger;
  readonly lifecycle: Lifecycle;
  readonly database: Database;
  readonly metrics: ProcessMetrics;
  /** Servers that the process depends on. */
  readonly dependencies: Dependencies;
  /** Adds a server to the readiness checks. If a server with the same name was already added, the first one is used. */
  addDependency(dependency: Dependency): void;
  /** Adds a NATS connection to the readiness checks. */
  addConnection(connection: NatsConnection): void;
  /** Adds the metrics of a role to the metrics page of the process. */
  addMetrics(metrics: Metrics): void;
  /** Adds an action for SIGHUP, which reloads files of operators. If the action fails, the error is logged and nothing changes. */
  onHangup(reload: () => Promise<void>, log: Logger): void;
  /** Adds pages to the admin port, and adds details to its `/readyz` response. */
  addPages(pages: AdminPages, details?: Readonly<Record<string, unknown>>): void;
  /**
   * Starts the roles. Then opens the admin port and writes the `ready` log line for which supervisors wait.
   * @param open starts the roles, and returns details for the `ready` log line
   * @throws the error of `open`. Everything that had started is stopped first, because a started worker may already run jobs
   */
  start(open: () => Promise<Readonly<Record<string, number>> | void>): Promise<void>;
}

/**
 * Opens a process.
 * @throws Error if a setting is wrong, or if Postgres stays unavailable, lacks migrations or has too few free connections
 */
export async function openProcess({ name, servesClients, connections }: ProcessOptions): Promise<ServiceProcess> {
  const config = loadConfig(undefined, { servesClients });
  const log = createLogger({ level: config.logLevel, role: name, secrets: config.secrets });
  allowOutbound(config.outboundAllow, log);
  armFailpoint(config.failpoint);
  if (config.failpoint) log.warn({ ...config.failpoint }, "this process is set to crash at a failpoint");
  const lifecycle = createLifecycle(log, { graceMs: config.graceMs, supervised: config.supervised });
  const metrics = createProcessMetrics(name, { databaseWaiting: () => database.waiting() });
  // Stopped last: until then it reports that the process is not ready.
  let admin: AdminServer | undefined;
  lifecycle.onStop("admin port", () => admin?.stop());
  lifecycle.onStop("metrics", () => metrics.close());
  const closeTracing = await openTracing(name, config, { metrics, log });
  if (closeTracing) lifecycle.onStop("traces", closeTracing);
  const database = await openCheckedDatabase(config, connections, log);
  lifecycle.onStop("database", () => database.close());

  const queues: NatsConnection[] = [];
  const askQueues = (): Promise<unknown> => Promise.all(queues.map((connection) => connection.rtt()));
  const servers: Dependency[] = [
    { name: "database", check: () => followClock(database), isVital: true },
    { name: "queue", check: askQueues, isVital: true },
  ];
  const dependencies = watchDependencies(servers, {
    stopping: lifecycle.stopping,
    onResult: (result) => metrics.dependencyUp.set(result.ok ? 1 : 0, result.name),
  });
  lifecycle.onStop("dependencies", () => dependencies.close());

  const reloads: (() => void)[] = [];
  // A process with nothing to reload ignores the signal; the default action would end the process.
  process.on("SIGHUP", () => reloads.forEach((reload) => reload()));
  const registries = [metrics.registry];
  const pages: Record<string, AdminPages[string]> = {};
  const details: Record<string, unknown> = {};
  const ready = (facts: Readonly<Record<string, number>>): void => {
    admin = startAdminServer({
      host: config.adminHost,
      port: config.adminPort,
      registry: joinRegistries(registries),
      ready: (required) => dependencies.readiness(required),
      details,
      stopping: lifecycle.stopping,
      pages,
      log,
    });
    // Supervisors and tests wait for this line, so it is logged at every level.
    log.child({}, { level: "info" }).info({ ...facts, admin_port: admin.port }, "ready");
  };
  return {
    name,
    config,
    log,
    lifecycle,
    database,
    metrics,
    dependencies,
    addDependency(dependency) {
      if (!servers.some((server) => server.name === dependency.name)) servers.push(dependency);
    },
    addConnection: (connection) => void queues.push(connection),
    addMetrics: (ofRole) => void registries.push(ofRole.registry),
    onHangup(reload, ofRole) {
      const fail = (error: unknown): void =>
        ofRole.error({ err: error }, "reload rejected; the configuration is unchanged");
      reloads.push(() => void reload().catch(fail));
    },
    addPages(more, facts = {}) {
      Object.assign(pages, more);
      Object.assign(details, facts);
    },
    async start(open) {
      try {
        ready((await open()) ?? {});
      } catch (error) {
        await lifecycle.close("the start failed");
        throw error;
      }
    },
  };
}

/** Opens the database of the process. First checks that it is available, has this version's schema and has enough free connections. */
async function openCheckedDatabase(
  config: Config,
  { reserved, slow }: RoleConnections,
  log: Logger,
): Promise<Database> {
  const { databaseUrl: url, databasePoolMax: poolMax, startWaitMs: waitMs } = config;
  const database = openDatabase({ url, poolMax, reservedMax: reserved, slowMax: slow, log });
  await waitForDatabase(database, waitMs, log);
  await followClock(database);
  await checkLimits(database);
  await checkConnections(database, { wanted: poolMax + reserved + slow, waitMs, log });
  await checkDurability(database, config.production, log);
  return database;
}

/**
 * Checks that the database applies the session timeouts that each connection requests. Isolation between workspaces depends on these
 * timeouts.
 * @throws Error that names the settings that a pooler or proxy drops
 */
async function checkLimits(database: Database): Promise<void> {
  const lost = await findLostLimits(database);
  if (lost.length === 0) return;
  const statements = lost.map((setting) => `alter role current_user set ${setting};`).join(" ");
  throw new Error(
    `a pooler or proxy at DATABASE_URL drops the limits that a connection asks for; run on the database: ${statements} Then let the pooler open its connections again`,
  );
}

/** Maximum wait for free connections, in milliseconds. An earlier process of the role may still be stopping. */
const FREE_CONNECTIONS_WAIT_MS = paced(10_000);

/**
 * Logs the maximum number of connections that the process opens.
 * @throws Error if Postgres has fewer free connections than the process may open. Calls would otherwise fail later. With a pooler, the
 * number is not checked
 */
async function checkConnections(
  database: Database,
  { wanted, waitMs, log }: { readonly wanted: number; readonly waitMs: number; readonly log: Logger },
): Promise<void> {
  const giveUpAt = performance.now() + Math.min(waitMs, FREE_CONNECTIONS_WAIT_MS);
  for (;;) {
    const { all, free, spare, owner, isPooled } = await database.findConnectionCapacity();
    // The connection of this query is ours.
    if (isPooled || free + 1 >= wanted) {
      const capacity = { free, max: all, ...(owner !== null && { limit_of: owner }) };
      log.info({ connections: wanted, pooled: isPooled, ...(!isPooled && capacity) }, "connections to Postgres");
      if (!isPooled && spare < 0) {
        log.warn(
          { max: all, missing: -spare },
          "processes may open more connections than Postgres allows, so statements would fail under full load; raise max_connections, lower SLUICE_DATABASE_POOL_MAX, or use a pooler",
        );
      }
      return;
    }
    if (performance.now() > giveUpAt) {
      const [whose, remedy] =
        owner === null
          ? ["which", "raise max_connections"]
          : [`whose ${owner}`, `raise its limit (alter ${owner} connection limit …)`];
      throw new Error(
        `this process opens up to ${wanted} connections to Postgres, ${whose} has ${Math.max(0, free + 1)} of its ${all} left; ${remedy}, lower SLUICE_DATABASE_POOL_MAX, or use a pooler (see /docs/operate/connections)`,
      );
    }
    await Bun.sleep(FREE_CONNECTIONS_WAIT_MS / 20);
  }
}

/**
 * Checks that Postgres never loses a confirmed commit, because accepted and paid jobs depend on that. Outside production, it only logs a
 * warning.
 * @throws Error in production that names the settings to change
 */
async function checkDurability(database: Database, isProduction: boolean, log: Logger): Promise<void> {
  const rows = await database.query<{ name: string; setting: string }>(
    "select name, setting from pg_settings where name in ('fsync', 'synchronous_commit', 'full_page_writes') and setting = 'off'",
  );
  if (rows.length === 0) return;
  const names = rows.map((row) => row.name).join(", ");
  if (isProduction) throw new Error(`Postgres runs with ${names} off: what is paid could vanish; switch it on`);
  log.warn(
    { settings: names },
    "Postgres may lose committed transactions with these settings; use them for tests only",
  );
}

/** Waits while the database is unavailable. Does not wait for missing migrations. */
async function waitForDatabase(database: Database, waitMs: number, log: Logger): Promise<void> {
  const missing = await awaitServer("database", () => missingMigrations(database), {
    waitMs,
    log,
    isAway: isDatabaseAway,
  }).catch((error: unknown) => {
    if (sqlState(error) === SQL.tooManyConnections) {
      throw new Error(`Postgres at DATABASE_URL has no connection left: ${(error as Error).message}`, { cause: error });
    }
    if (isDatabaseAway(error)) throw new Error("Postgres cannot be reached at DATABASE_URL", { cause: error });
    if (!isRefusedByPooler(error)) throw error;
    const settings = "set ignore_startup_parameters (see /docs/operate/connections#pgbouncer)";
    throw new Error(`the pooler at DATABASE_URL refuses our connections (${String(error)}); ${settings}`);
  });
  if (missing.length > 0) {
    throw new Error(`the database lacks ${missing.length} migrations; run the migrate role first`);
  }
}
