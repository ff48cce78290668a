/** Role nats-auth, which decides for NATS whether a batch publisher may log in. Any number of replicas may run, and all decide alike. */
import { findActiveKeys } from "#shared/access/active-keys.ts";
import { openKeys } from "#shared/access/authenticate.ts";
import { ADMIN } from "#shared/base/command-lines.ts";
import { flushed } from "#shared/queue/connection.ts";
import type { Role } from "#shared/process/role.ts";

import { startKeyUse } from "../core/key-use.ts";
import { openCallout } from "./callout.ts";
import { serveLogins } from "./logins.ts";

/** Connections to Postgres in addition to the shared pool. */
export const NATS_AUTH_CONNECTIONS = { reserved: 0, slow: 0 };

/** Starts the role. @throws Error with a one-sentence message when a dependency is missing */
export async function startNatsAuth(role: Role): Promise<void> {
  const { config, log, metrics, lifecycle, database } = role;
  const { issuerSeed: issuer, curveSeed: curve } = config.natsAuth;
  if (issuer === undefined || curve === undefined) {
    throw new Error(
      `SLUICE_NATS_AUTH_SEED and SLUICE_NATS_AUTH_XKEY_SEED are not set; \`${ADMIN} nats keys\` makes them`,
    );
  }
  const callout = openCallout({ issuer, curve });
  const connection = await role.connectQueue("nats-auth", "auth");
  const keys = openKeys({ database, log });
  lifecycle.onStop("key use", startKeyUse({ keys, database, log }));
  const logins = serveLogins({
    connection,
    callout,
    keys,
    activeKeys: (ids) => findActiveKeys(database, ids),
    metrics,
    log,
    connectionsMax: config.natsAuth.connectionsMax,
  });
  lifecycle.onStop("logins", () => logins.stop());
  await flushed(connection, config.startWaitMs);
}
