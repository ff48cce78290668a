/** One role in its process, with its log, metrics, NATS connections and stop steps. The process opens everything that roles share. */
import type { NatsConnection } from "nats";

import type { AdminPages } from "./admin-server.ts";
import type { Config } from "../config/config.ts";
import type { Database } from "../database/client.ts";
import type { Dependencies } from "../net/dependencies.ts";
import type { Lifecycle } from "./lifecycle.ts";
import { createLogger, type Logger } from "../base/logger.ts";
import { createMetrics, type Metrics } from "../metrics/metrics.ts";
import type { ServiceProcess } from "./process.ts";
import { connectNats, type NatsRole, type NatsUser, onLink } from "../queue/connection.ts";
import { checkBucket, type Storage } from "../storage/client.ts";

export type RoleName = NatsRole;

export interface Role {
  readonly config: Config;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Lifecycle of the process. Roles stop in reverse order of their start. */
  readonly lifecycle: Lifecycle;
  /** Database pool of the process, shared with its other roles. */
  readonly database: Database;
  /** Servers that the process depends on. */
  readonly dependencies: Dependencies;
  /** Adds the object store to the readiness checks. */
  watchStorage(storage: Storage): void;
  /**
   * Opens a NATS connection of this role, which is closed with the role. Readiness checks include it. If it closes permanently, the process
   * stops.
   * @param user user in deploy/nats/server.conf, whose password is used if NATS_URL names no user
   * @throws Error if the server stays unavailable or is too old
   */
  connectQueue(name: string, user: NatsUser): Promise<NatsConnection>;
  /** Adds an action for SIGHUP, which reloads files of operators. If the action fails, the error is logged and nothing changes. */
  onHangup(reload: () => Promise<void>): void;
  /** Adds pages to the admin port, and adds details to its `/readyz` response. */
  addPages(pages: AdminPages, details?: Readonly<Record<string, unknown>>): void;
}

/**
 * Opens a role of a process. A process opens its roles one after the other.
 * @param config settings of the role; default: the settings of the process
 * @throws Error if the process has begun to stop
 */
export function openRole(name: RoleName, host: ServiceProcess, config: Config = host.config): Role {
  if (host.lifecycle.stopping.aborted) throw new Error(`stopped before the role ${name} was started`);
  const isOnly = name === host.name;
  const log = isOnly ? host.log : createLogger({ level: config.logLevel, role: name, secrets: config.secrets });
  const metrics = createMetrics(name, host.metrics);
  host.addMetrics(metrics);
  const lifecycle: Lifecycle = isOnly
    ? host.lifecycle
    : { ...host.lifecycle, onStop: (step, ...rest) => host.lifecycle.onStop(`${name}: ${step}`, ...rest) };
  return {
    config,
    log,
    metrics,
    lifecycle,
    database: host.database,
    dependencies: host.dependencies,
    watchStorage(storage) {
      // Calls without files work during an outage of the store, so no balancer should remove the process.
      host.addDependency({ name: "storage", check: (signal) => checkBucket(storage, signal), isVital: false });
    },
    async connectQueue(purpose, user) {
      const connection = await connectNats({
        url: config.natsUrl,
        name: purpose,
        role: name,
        login: { user, pass: config.natsPasswords[user] },
        waitMs: config.startWaitMs,
        log,
      });
      lifecycle.onStop(`nats ${purpose}`, () => connection.drain());
      host.addConnection(connection);
      onLink(connection, { restored: () => metrics.natsReconnects.inc() });
      void endWith(connection, lifecycle, log);
      return connection;
    },
    onHangup: (reload) => host.onHangup(reload, log),
    addPages: (pages, details) => host.addPages(pages, details),
  };
}

/**
 * Stops the process when the connection closes permanently, because the process is then useless. Otherwise a connection reconnects forever.
 */
async function endWith(connection: NatsConnection, lifecycle: Lifecycle, log: Logger): Promise<void> {
  const error = await connection.closed();
  if (lifecycle.stopping.aborted) return;
  log.fatal({ err: error }, "the nats connection closed permanently");
  await lifecycle.stop("nats closed");
}
