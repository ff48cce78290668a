/** Resources that every long-running role opens first: settings, log, metrics, lifecycle, database, admin port. */
import type { NatsConnection } from "nats";

import { type AdminPages, type AdminServer, startAdminServer } from "./admin-server.ts";
import { followClock } from "./clock.ts";
import { type Config, loadConfig } from "./config.ts";
import {
  type Database,
  findLostLimits,
  isDatabaseAway,
  isRefusedByPooler,
  openDatabase,
  SQL,
  sqlState,
} from "./database/client.ts";
import { missingMigrations } from "./database/migrate.ts";
import { awaitServer, type Dependencies, type Dependency, watchDependencies } from "./dependencies.ts";
import { armFailpoint } from "./failpoint.ts";
import { createLifecycle, type Lifecycle } from "./lifecycle.ts";
import { createLogger, type Logger } from "./logger.ts";
import { createMetrics, type Metrics } from "./metrics.ts";
import { paced } from "./pace.ts";
import { allowOutbound } from "./outbound/allowance.ts";
import { connectNats, type NatsRole, onLink } from "./queue/connection.ts";
import { openTracing } from "./tracing/open.ts";
import { checkBucket, type Storage } from "./storage/client.ts";

export type RoleName = NatsRole;

export interface Role {
  readonly config: Config;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly lifecycle: Lifecycle;
  readonly database: Database;
  /** Watches database, queue and object store, if the role has one. Call it once, when all connections to NATS are there. */
  watchDependencies(storage?: Storage): Dependencies;
  /**
   * A connection to NATS of its own, closed with the role. Readiness asks it, and its final closing ends the process.
   * @throws Error with one sentence when the server stays away for too long or is too old
   */
  connectQueue(name: string): Promise<NatsConnection>;
  /** Sets what SIGHUP does: read operators' files again. A failure is logged and changes nothing. */
  onHangup(reload: () => Promise<void>): void;
  /**
   * Opens the admin port and says so in the log line that supervisors wait for.
   * @param port.details stand in its `/readyz`
   * @param port.pages are served beside those of every role
   */
  ready(
    facts: Readonly<Record<string, number>>,
    dependencies: Dependencies,
    port?: { readonly details?: Readonly<Record<string, unknown>>; readonly pages?: AdminPages },
  ): Promise<void>;
}

/** Connections to Postgres that a role opens beside its pool. */
export interface RoleConnections {
  readonly reserved: number;
  /** For slow transactions, such as audits. */
  readonly slow: number;
}

/**
 * @param beside exactly what the role reserves, so that it knows before its first call how many connections it needs
 * @throws Error when a setting is wrong, Postgres stays away for too long, lacks migrations or has too few connections left
 */
export async function startRole(name: RoleName, beside: RoleConnections): Promise<Role> {
  const config = loadConfig(undefined, { servesClients: name === "ingress" });
  const log = createLogger({ level: config.logLevel, role: name, secrets: config.secrets });
  allowOutbound(config.outboundAllow, log);
  armFailpoint(config.failpoint);
  if (config.failpoint) log.warn({ ...config.failpoint }, "this process dies at a failpoint");
  const lifecycle = createLifecycle(log, { graceMs: config.graceMs, supervised: config.supervised });
  const metrics = createMetrics(name, { databaseWaiting: () => database.waiting() });
  // Stopped last: until then it answers that the process is not ready any more.
  let admin: AdminServer | undefined;
  lifecycle.onStop("admin port", () => admin?.stop());
  lifecycle.onStop("metrics", () => metrics.close());
  const closeTracing = await openTracing(name, config, { metrics, log });
  if (closeTracing) lifecycle.onStop("traces", closeTracing);
  const { databaseUrl: url, databasePoolMax: poolMax } = config;
  const database = openDatabase({ url, poolMax, reservedMax: beside.reserved, slowMax: beside.slow, log });
  lifecycle.onStop("database", () => database.close());
  await waitForDatabase(database, config.startWaitMs, log);
  await followClock(database);
  await checkLimits(database);
  await checkConnections(database, {
    wanted: poolMax + beside.reserved + beside.slow,
    waitMs: config.startWaitMs,
    log,
  });
  await checkDurability(database, config.production, log);
  const connections: NatsConnection[] = [];
  // A role with nothing to reload ignores the signal; by default it would end the process.
  let hangup = (): Promise<void> => Promise.resolve();
  process.on("SIGHUP", () => {
    hangup().catch((error: unknown) => log.error({ err: error }, "reload refused, nothing changed"));
  });
  return {
    config,
    log,
    metrics,
    lifecycle,
    database,
    watchDependencies(storage) {
      const askNats = (): Promise<unknown> => Promise.all(connections.map((connection) => connection.rtt()));
      const watched = watchDependencies(
        [
          { name: "database", check: () => followClock(database), isVital: true },
          { name: "queue", check: askNats, isVital: true },
          ...(storage ? [bucketOf(storage)] : []),
        ],
        {
          stopping: lifecycle.stopping,
          onResult: ({ name, ok }) => metrics.dependencyUp.set(ok ? 1 : 0, name),
        },
      );
      lifecycle.onStop("dependencies", () => watched.close());
      return watched;
    },
    async connectQueue(purpose) {
      const connection = await connectNats({
        url: config.natsUrl,
        name: purpose,
        role: name,
        waitMs: config.startWaitMs,
        log,
      });
      lifecycle.onStop(`nats ${purpose}`, () => connection.drain());
      connections.push(connection);
      onLink(connection, { restored: () => metrics.natsReconnects.inc() });
      void endWith(connection, lifecycle, log);
      return connection;
    },
    onHangup(reload) {
      hangup = reload;
    },
    async ready(facts, dependencies, { details = {}, pages = {} } = {}) {
      admin = startAdminServer({
        host: config.adminHost,
        port: config.adminPort,
        registry: metrics.registry,
        ready: (required) => dependencies.readiness(required),
        details,
        stopping: lifecycle.stopping,
        pages,
        log,
      });
      // Supervisors and tests wait for this line, so it is told at every level.
      log.child({}, { level: "info" }).info({ ...facts, admin_port: admin.port }, "ready");
    },
  };
}

/** Calls without files are served while it is away, so no balancer should take a process out for it. */
const bucketOf = (storage: Storage): Dependency => ({
  name: "storage",
  check: (signal) => checkBucket(storage, signal),
  isVital: false,
});

/** A connection that closes for good (it reconnects for ever otherwise) leaves the process useless. */
async function endWith(connection: NatsConnection, lifecycle: Lifecycle, log: Logger): Promise<void> {
  const error = await connection.closed();
  if (lifecycle.stopping.aborted) return;
  log.fatal({ err: error }, "the nats connection closed for good");
  await lifecycle.stop("nats closed");
}

/** @throws Error telling what to set, where sessions lack the limits of their waits: isolation between workspaces rests on these */
async function checkLimits(database: Database): Promise<void> {
  const lost = await findLostLimits(database);
  if (lost.length === 0) return;
  const statements = lost.map((setting) => `alter role current_user set ${setting};`).join(" ");
  throw new Error(
    `a pooler or proxy at DATABASE_URL drops the limits that a connection asks for; run on the database: ${statements} Then let the pooler open its connections again`,
  );
}

/** An earlier process of the role may be on its way out: its connections are looked for again for so long. */
const ROOM_WAIT_MS = paced(10_000);

/**
 * Tells how many connections the process opens at most.
 * @throws Error when Postgres cannot hold them: it would refuse some later, in the middle of calls. A pooler holds any number
 */
async function checkConnections(
  database: Database,
  { wanted, waitMs, log }: { readonly wanted: number; readonly waitMs: number; readonly log: Logger },
): Promise<void> {
  const giveUpAt = performance.now() + Math.min(waitMs, ROOM_WAIT_MS);
  for (;;) {
    const { all, free, spare, owner, isPooled } = await database.findRoom();
    // The one that asks is ours.
    if (isPooled || free + 1 >= wanted) {
      const room = { free, all, ...(owner !== null && { limit_of: owner }) };
      log.info({ connections: wanted, pooled: isPooled, ...(!isPooled && room) }, "connections to Postgres");
      if (!isPooled && spare < 0) {
        log.warn(
          { all, missing: -spare },
          "processes may open more connections than Postgres has: under full load some statements would fail; raise max_connections, lower SLUICE_DATABASE_POOL_MAX, or go through a pooler",
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
        `this process opens up to ${wanted} connections to Postgres, ${whose} has ${Math.max(0, free + 1)} of its ${all} left; ${remedy}, lower SLUICE_DATABASE_POOL_MAX, or go through a pooler (runbook, "Connections to Postgres")`,
      );
    }
    await Bun.sleep(ROOM_WAIT_MS / 20);
  }
}

/**
 * Checks that Postgres keeps what it confirms: what we call accepted or paid rests on that.
 * @throws Error in production, naming the setting; elsewhere it is a warning
 */
async function checkDurability(database: Database, isProduction: boolean, log: Logger): Promise<void> {
  const rows = await database.query<{ name: string; setting: string }>(
    "select name, setting from pg_settings where name in ('fsync', 'synchronous_commit', 'full_page_writes') and setting = 'off'",
  );
  if (rows.length === 0) return;
  const names = rows.map((row) => row.name).join(", ");
  if (isProduction) throw new Error(`Postgres runs with ${names} off: what is paid could vanish; switch it on`);
  log.warn({ settings: names }, "Postgres may lose what it has confirmed; fit for tests only");
}

/** A database that is away is waited for; one that lacks migrations is not. */
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
    const settings = 'set ignore_startup_parameters as the runbook says under "Connections to Postgres"';
    throw new Error(`the pooler at DATABASE_URL refuses our connections (${String(error)}); ${settings}`);
  });
  if (missing.length > 0) {
    throw new Error(`the database lacks ${missing.length} migrations; run the migrate role first`);
  }
}
