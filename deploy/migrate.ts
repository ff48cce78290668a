/** The migrate role: schema, then the first workspace when a bootstrap key is given. Safe to run any number of times. */
import { loadConfig } from "#shared/config.ts";
import { isDatabaseAway, openDatabase } from "#shared/database/client.ts";
import { migrate } from "#shared/database/migrate.ts";
import { awaitServer } from "#shared/dependencies.ts";
import { createLogger, flushLogs } from "#shared/logger.ts";
import { ensureBucket, openStorage } from "#shared/storage/client.ts";

import { ensureBootstrap } from "./admin/bootstrap.ts";

/** @throws Error when the database cannot be reached or a migration fails */
export async function runMigrate(): Promise<void> {
  const config = loadConfig(undefined, { needs: ["database"] });
  const log = createLogger({ level: config.logLevel, role: "migrate" });
  const database = openDatabase({ url: config.databaseUrl, poolMax: 2, log });
  try {
    const waiting = { waitMs: config.startWaitMs, log };
    const applied = await awaitServer("database", () => migrate(database, log), { ...waiting, isAway: isDatabaseAway });
    const first = config.bootstrapKey === undefined ? undefined : await ensureBootstrap(database, config.bootstrapKey);
    if (first?.isRevoked === true) log.warn("the key of SLUICE_BOOTSTRAP_KEY was revoked and stays so");
    if (config.s3.endpoint !== undefined) {
      const storage = openStorage(config.s3);
      await awaitServer("storage", () => ensureBucket(storage), waiting);
      storage.close();
    }
    log.info({ applied: applied.length, workspace: first?.workspace }, "database is up to date");
  } finally {
    await database.close();
    flushLogs();
  }
}
