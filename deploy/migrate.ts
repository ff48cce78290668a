/**
 * The migrate role. Applies migrations, creates the first workspace when a bootstrap key is set, and creates the bucket and the queue's
 * streams when their servers are configured. Can be run again.
 */
import { type Config, loadConfig } from "#shared/config/config.ts";
import { isDatabaseAway, openDatabase } from "#shared/database/client.ts";
import { migrate } from "#shared/database/migrate.ts";
import { awaitServer } from "#shared/net/dependencies.ts";
import { createLogger, flushLogs, type Logger } from "#shared/base/logger.ts";
import { connectNats } from "#shared/queue/connection.ts";
import { makeTopology } from "#shared/queue/topology.ts";
import { ensureBucket, openStorage } from "#shared/storage/client.ts";

import { ensureBootstrap } from "./admin/bootstrap.ts";

/** Runs the migrate role. @throws Error when the database is unreachable or a migration fails */
export async function runMigrate(): Promise<void> {
  const config = loadConfig(undefined, { needs: ["database"] });
  const log = createLogger({ level: config.logLevel, role: "migrate" });
  const database = openDatabase({ url: config.databaseUrl, poolMax: 2, log });
  try {
    const waiting = { waitMs: config.startWaitMs, log };
    const applied = await awaitServer("database", () => migrate(database, log), {
      ...waiting,
      isAway: isDatabaseAway,
    }).catch((error: unknown) => {
      throw isDatabaseAway(error) ? new Error("Postgres cannot be reached at DATABASE_URL", { cause: error }) : error;
    });
    const first = config.bootstrapKey === undefined ? undefined : await ensureBootstrap(database, config.bootstrapKey);
    if (first?.isRevoked === true) log.warn("the key of SLUICE_BOOTSTRAP_KEY is revoked; migrate does not restore it");
    if (config.s3.endpoint !== undefined) {
      const storage = openStorage(config.s3);
      await awaitServer("storage", () => ensureBucket(storage), waiting).catch((error: unknown) => {
        throw new Error("the bucket cannot be created at S3_ENDPOINT", { cause: error });
      });
      storage.close();
    }
    if (config.natsUrl === "") log.warn("NATS_URL is not set; the queue's streams are not updated");
    else await migrateQueue(config, log);
    log.info({ applied: applied.length, workspace: first?.workspace }, "database is up to date");
  } finally {
    await database.close();
    flushLogs();
  }
}

async function migrateQueue(
  { natsUrl: url, natsPasswords, streamReplicas: replicas, startWaitMs: waitMs }: Config,
  log: Logger,
): Promise<void> {
  const connection = await connectNats({
    url,
    name: "migrate",
    role: "janitor",
    login: { user: "janitor", pass: natsPasswords.janitor },
    waitMs,
    log,
  });
  try {
    await makeTopology(connection, { replicas, waitMs, log });
  } finally {
    await connection.close();
  }
}
